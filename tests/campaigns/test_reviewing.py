"""Work that cannot be used: no code without review, offered again, and its rater told plainly."""

from __future__ import annotations

import re

import pytest

from support.visits import Visitor, app_over


@pytest.fixture
def app(tmp_path, clock):
    app = app_over(tmp_path, pages={"review": True}, tasks=5, clock=clock)
    campaign = app.state.campaigns.get("dogs")
    campaign.change_settings(
        campaign.settings | {"media": {f"clip{k:02}": 8.0 for k in range(1, 6)}}
    )
    return app


def campaign_of(app):
    return app.state.campaigns.get("dogs")


def do_hit(app, clock, seconds, *, opens=True, name="r1"):
    """Do the first HIT, so many seconds for each task, and give the visitor at the end."""
    visitor = Visitor(app)
    visitor.begin(name=name)
    number = campaign_of(app).claim(name).id
    for task in range(1, 6):
        if opens:
            visitor.get(f"/c/dogs/task/{task}")
        clock.now += seconds
        times = {"started": clock.now - 5, "submitted": clock.now}
        got = visitor.answer(task, 50 + task, assignment=number, **times)
        assert got.status_code == 200, got.text
    return visitor


def code_of(page):
    match = re.search(r'class="code">([^<]+)<', page.text)
    return match and match[1]


def test_a_hit_at_an_honest_pace_gets_its_code(app, clock):
    begun = clock.now
    visitor = do_hit(app, clock, 9.0)
    assert code_of(visitor.get("/c/dogs/finish"))
    assert {row.opened for row in campaign_of(app).rows()} == {begun + 9.0 * k for k in range(5)}
    owner = Visitor(app)
    owner.log_in()
    assert "review" not in owner.get("/organise/c/dogs/live").text


@pytest.mark.parametrize(
    ("seconds", "opens", "flags"),
    [(3.0, True, "too-fast"), (0.0075, True, "burst too-fast"), (9.0, False, "unopened")],
)
def test_times_that_cannot_be_get_no_code_without_review(app, clock, seconds, opens, flags):
    visitor = do_hit(app, clock, seconds, opens=opens)
    page = visitor.get("/c/dogs/finish")
    assert code_of(page) is None
    assert "organisers look at them" in " ".join(page.text.split())
    owner = Visitor(app)
    owner.log_in()
    table = owner.get("/organise/c/dogs/raters").text
    shown = re.search(r"<td[^>]*>([^<]*unopened|[^<]*too-fast)[^<]*</td>", table)[1]
    assert set(flags.split()) <= set(shown.split())
    assert "<code></code>" in table
    assert "1 HIT waits for your review" in " ".join(
        owner.get("/organise/c/dogs/live").text.split()
    )
    owner.press("/organise/c/dogs/review/1", verdict="approve", reason="a fast reader")
    assert code_of(visitor.get("/c/dogs/finish"))
    event = campaign_of(app).events()[-1]
    assert (event.actor, event.what, event.about) == ("ada", "approve", "r1")
    assert "a fast reader" in event.reason


def test_rejected_work_gets_no_code_and_its_rater_is_told(app, clock):
    visitor = do_hit(app, clock, 0.01)
    owner = Visitor(app)
    owner.log_in()
    assert owner.press("/organise/c/dogs/review/1", verdict="reject").status_code == 422
    owner.press("/organise/c/dogs/review/1", verdict="reject", reason="a program")
    page = visitor.get("/c/dogs/finish")
    assert code_of(page) is None
    assert "not accepted" in page.text
    assert visitor.press("/c/dogs/work").status_code == 403
    assert campaign_of(app).rejected() == {"r1"}


def test_review_can_be_switched_off(tmp_path, clock):
    app = app_over(tmp_path, pages={"review": False}, tasks=5, clock=clock)
    assert code_of(do_hit(app, clock, 0.01).get("/c/dogs/finish"))


def test_an_excluded_rater_is_told_and_submits_nothing_more(app, clock):
    visitor = Visitor(app)
    visitor.begin(name="r1")
    visitor.answer(1)
    campaign_of(app).decide("exclude", "r1", actor="ada", reason="a program")
    refused = visitor.answer(2)
    assert (refused.status_code, refused.json()["reason"]) == (403, "excluded")
    assert len(campaign_of(app).judgments()) == 1
    page = visitor.get("/c/dogs/task/2")
    assert page.status_code == 403
    assert "organiser" in page.text


def test_hits_are_offered_again_one_and_all(app, clock):
    for name in ("r1", "r2"):
        do_hit(app, clock, 9.0, name=name)
    owner = Visitor(app)
    owner.log_in()
    campaign = campaign_of(app)
    assert campaign.status().open == 0
    page = owner.press("/organise/c/dogs/offer/1")
    assert "The HIT is offered again." in page.text
    assert "was offered again before" in owner.press("/organise/c/dogs/offer/1").text
    assert campaign.status().open == 1
    assert owner.press("/organise/c/dogs/offer/99").status_code == 404
    owner.press("/organise/c/dogs/decide", rater="r2", what="reject", reason="a program")
    page = owner.press("/organise/c/dogs/offer")
    assert "offered again: 1." in page.text
    assert "offered again: 0." in owner.press("/organise/c/dogs/offer").text
    assert campaign.status().open == 2
    do_hit(app, clock, 9.0, name="r3")
    do_hit(app, clock, 9.0, name="r4")
    assert (campaign.status().done, campaign.status().open) == (4, 0)


def test_a_rejection_shows_at_once_among_the_raters(app, clock):
    do_hit(app, clock, 9.0)
    owner = Visitor(app)
    owner.log_in()
    assert "rejected" not in owner.get("/organise/c/dogs/live").text.replace("were rejected", "")
    owner.press("/organise/c/dogs/decide", rater="r1", what="reject", reason="a program")
    assert '<span class="chip poor">rejected</span>' in owner.get("/organise/c/dogs/live").text


def test_an_owner_tops_up(tmp_path):
    app = app_over(
        tmp_path, systems=("alpha-net", "beta-net", "human"), protocol="preference", captions=2
    )
    campaign = campaign_of(app)
    owner = Visitor(app)
    owner.log_in()
    page = owner.press("/organise/c/dogs/top-up", judgments="9")
    added = campaign.status().hits - 2
    assert f"HITs that are added: {added}." in page.text
    assert added > 0
    assert "Nothing is missing." in owner.press("/organise/c/dogs/top-up", judgments="9").text
    assert owner.press("/organise/c/dogs/top-up", judgments="0").status_code == 422
    helper = Visitor(app)
    helper.log_in("helper", "assistant")
    assert helper.press("/organise/c/dogs/top-up", judgments="99").status_code == 403
    assert campaign.status().hits == 2 + added


def test_strangers_review_and_offer_nothing(app, clock):
    visitor = do_hit(app, clock, 0.01)
    for path in ("review/1", "offer/1", "offer"):
        got = visitor.press(f"/organise/c/dogs/{path}", verdict="approve")
        assert "/organise/login" in str(got.url) or got.status_code in (401, 403)
    assert campaign_of(app).assignment(1).status == ""
    assert campaign_of(app).status().open == 1
