"""How raters come in, and how they do not."""

from __future__ import annotations

import pytest

from support.visits import Visitor, app_over

PROLIFIC = "/prolific/dogs?PROLIFIC_PID={}&STUDY_ID=study1&SESSION_ID={}"


@pytest.fixture
def app(tmp_path):
    pages = {"open": True, "prolific_code": "CDONE", "screen_out_code": "COUT"}
    return app_over(tmp_path, pages=pages)


def test_a_link_belongs_to_the_browser_that_begins(app):
    first, second = Visitor(app), Visitor(app)
    link = first.invited()
    assert "Begin" in first.get(link).text
    assert "Begin" in second.get(link).text  # looking uses nothing up
    assert first.press(link).url.path == "/c/dogs/instructions"
    assert second.get(link).status_code == 403
    assert second.press(link).status_code == 403
    assert second.get("/c/dogs/").status_code == 403
    assert first.get(link).url.path == "/c/dogs/instructions"  # resumes


def test_a_link_may_move_when_an_organiser_says_so(app):
    first, second, organiser = Visitor(app), Visitor(app), Visitor(app)
    link = first.invited(name="r1")
    first.press(link)
    organiser.log_in()
    organiser.press("/organise/c/dogs/raters/unbind", rater="r1")
    assert second.press(link).url.path == "/c/dogs/instructions"
    for page in ("", "work", "instructions", "task/1"):
        assert first.get(f"/c/dogs/{page}").status_code == 403, page
    assert first.press("/c/dogs/instructions").status_code == 403
    assert first.answer(1).status_code == 403
    assert second.press("/c/dogs/instructions").url.path == "/c/dogs/task/1"


def test_guessing_links_is_slow(app):
    visitor = Visitor(app)
    link = visitor.invited()
    codes = [visitor.get(f"/r/guess{k}").status_code for k in range(12)]
    assert codes == [404] * 10 + [429] * 2
    assert visitor.get(link).status_code == 200  # a right one waits for nobody


def test_what_is_stored_opens_nothing(app):
    visitor = Visitor(app)
    visitor.invited()
    with app.state.site.database.reading() as connection:
        stored = connection.exec_driver_sql("SELECT token FROM web_rater").scalar_one()
    assert visitor.get(f"/r/{stored}").status_code == 404


def test_open_door(app):
    visitor = Visitor(app)
    assert "Begin" in visitor.get("/join/dogs").text
    assert visitor.press("/join/dogs").url.path == "/c/dogs/instructions"


def test_doors_are_closed_unless_opened(tmp_path):
    visitor = Visitor(app_over(tmp_path))
    assert visitor.get("/join/dogs").status_code == 404
    assert visitor.get(PROLIFIC.format("p1", "s1")).status_code == 404
    assert visitor.get("/mturk/dogs?assignmentId=a1").status_code == 404


def test_a_campaign_of_a_blind_test_set_is_not_open_to_anybody(app):
    visitor = Visitor(app)
    app.state.campaigns.get("dogs").change_settings({"blind": True})
    assert visitor.get("/join/dogs").status_code == 404
    assert visitor.press("/join/dogs").status_code == 404
    assert "Begin" in visitor.get(visitor.invited()).text


def test_prolific(app):
    visitor = Visitor(app)
    page = visitor.get(PROLIFIC.format("5f1e", "s1"))
    assert page.url.path == "/c/dogs/instructions"
    visitor.press("/c/dogs/instructions")
    for task in (1, 2, 3):
        assert visitor.answer(task).json()["new"]
    finish = visitor.get("/c/dogs/work")
    assert 'href="https://app.prolific.com/submissions/complete?cc=CDONE"' in finish.text
    assert "Do another" not in finish.text
    # judgments are under a name that is not Prolific's
    assert "5f1e" not in "".join(app.state.campaigns.get("dogs").judgments().rater.names)


def test_prolific_is_known_by_the_browser_too(app):
    visitor = Visitor(app)
    visitor.get(PROLIFIC.format("5f1e", "s1"))
    again = visitor.get(PROLIFIC.format("5f1e", "s2"))  # another submission
    assert again.url.path == "/c/dogs/instructions"


def test_prolific_comes_back_by_session_only(app):
    visitor, phone, stranger = Visitor(app), Visitor(app), Visitor(app)
    visitor.get(PROLIFIC.format("5f1e", "s1"))
    visitor.press("/c/dogs/instructions")
    assert stranger.get(PROLIFIC.format("5f1e", "other")).status_code == 403
    assert phone.get(PROLIFIC.format("5f1e", "s1")).url.path == "/c/dogs/task/1"


@pytest.mark.parametrize("bad", ["", "a b", "x" * 65, "<script>"])
def test_prolific_parameters_are_checked(app, bad):
    assert Visitor(app).get(PROLIFIC.format(bad, "s1")).status_code == 422
