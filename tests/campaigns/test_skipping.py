"""A bad video costs a rater one task, not the HIT, and organisers hear of it."""

from __future__ import annotations

import pytest

from support.visits import Visitor, app_over

PROLIFIC = "/prolific/dogs?PROLIFIC_PID={0}&STUDY_ID=s&SESSION_ID=x{0}"


@pytest.fixture
def app(tmp_path, videos):
    pages = {"prolific_code": "CDONE", "partial_code": "CPARTIAL"}
    return app_over(tmp_path, videos=videos, pages=pages)


def begin(app):
    visitor = Visitor(app)
    visitor.get(PROLIFIC.format("p1"))
    visitor.press("/c/dogs/instructions")
    return visitor


def skip(visitor, task, **more):
    return visitor.press("/c/dogs/skip", assignment=1, task=task, **more)


def test_one_task_is_skipped_and_the_rest_goes_on(app):
    visitor, campaign = begin(app), app.state.campaigns.get("dogs")
    assert skip(visitor, 1, reason="It is all black.").url.path == "/c/dogs/task/2"
    (report,) = campaign.skips()
    assert (report.item, report.hit, report.reason) == ("clip01", "h0", "It is all black.")
    visitor.answer(2)
    visitor.answer(3)
    assert "cc=CDONE" in visitor.get("/c/dogs/work").text
    assert len(campaign.judgments(finished=True)) == 2


def test_skipping_twice_or_too_late_does_nothing(app):
    visitor, campaign = begin(app), app.state.campaigns.get("dogs")
    visitor.answer(1)
    assert skip(visitor, 1).url.path == "/c/dogs/task/2"  # it has an answer
    skip(visitor, 2)
    assert skip(visitor, 2).url.path == "/c/dogs/task/3"
    assert visitor.answer(2).status_code == 409
    assert skip(visitor, 9).url.path == "/c/dogs/task/3"
    assert visitor.press("/c/dogs/skip", assignment=2, task=3).url.path == "/c/dogs/task/3"
    assert [each.item for each in campaign.skips()] == ["clip02"]
    assert "Task 2 was skipped" in visitor.get("/c/dogs/task/2").text
    assert "Task 1 is answered" in visitor.get("/c/dogs/task/1").text


def test_the_last_task_may_be_skipped(app):
    visitor = begin(app)
    visitor.answer(1)
    visitor.answer(2)
    assert skip(visitor, 3).url.path == "/c/dogs/finish"
    assert "Task 3 was skipped" in visitor.get("/c/dogs/task/3").text


def test_nobody_earns_the_code_by_reports_alone(app):
    visitor = begin(app)
    skip(visitor, 1)
    skip(visitor, 2)
    visitor.answer(3)
    page = visitor.get("/c/dogs/work").text
    assert "CDONE" not in page
    assert "cc=CPARTIAL" in page
    assert "Your answer is kept" in page


def test_a_missing_video_offers_the_way_on(tmp_path):
    (tmp_path / "videos").mkdir()
    app = app_over(tmp_path, videos=tmp_path / "videos")
    page = Visitor(app).begin().text
    assert "The video of this task is missing" in page
    assert '<button form="skip">Report and skip this task</button>' in page


def test_a_practice_video_that_does_not_play(tmp_path, videos):
    practice = [{"captions": ["a"], "expected": {}, "feedback": "", "item": "clip09"}]
    app = app_over(tmp_path, videos=videos, pages={"practice": practice})
    visitor = Visitor(app)
    assert "go on without it" in visitor.begin(name="r1").text
    page = visitor.press("/c/dogs/practice/skip", number=0)
    assert page.url.path == "/c/dogs/task/1"
    assert visitor.press("/c/dogs/practice/skip", number=0).url.path == "/c/dogs/task/1"
    events = app.state.campaigns.get("dogs").events()
    assert [(event.actor, event.about) for event in events if event.what == "report"] == [
        ("r1", "clip09")
    ]


def test_organisers_see_the_reports(app, videos):
    visitor, owner = begin(app), Visitor(app)
    owner.log_in()
    assert "<dt>Reports</dt><dd>0</dd>" in owner.get("/organise/c/dogs/live").text
    assert "There are none" in owner.get("/organise/c/dogs/reports").text
    skip(visitor, 1, reason="<b>no sound</b>")
    skip(visitor, 2)
    live = owner.get("/organise/c/dogs/live").text
    assert '<dt>Reports</dt><dd><a href="/organise/c/dogs/reports">2<' in live
    page = owner.get("/organise/c/dogs/reports").text
    assert page.index("clip02") < page.index("clip01")  # the newest first
    assert "&lt;b&gt;no sound" in page
    assert app.state.campaigns.get("dogs").skips()[0].rater in page
    name = app.state.site.videos.name("dogs", "clip01")
    assert f'href="/organise/c/dogs/hits/media/{name}"' in page
    media = owner.get(f"/organise/c/dogs/hits/media/{name}")
    assert media.content == (videos / "clip01.webm").read_bytes()
