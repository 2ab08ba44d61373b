"""Tasks and answers: kept once, from the right rater, and telling nothing."""

from __future__ import annotations

import time

import pytest

from support.visits import Visitor, app_over


@pytest.fixture
def app(tmp_path, videos):
    return app_over(tmp_path, videos=videos)


def kept(app):
    return app.state.campaigns.get("dogs").judgments()


def test_answers_are_kept_once(app):
    visitor = Visitor(app)
    visitor.begin()
    about = {"assignment": 1, "task": 1}  # what a browser drops its copy for
    first = {**about, "remaining": 2, "done": False, "new": True, "next": "task/2"}
    assert visitor.answer(1, 71).json() == first
    assert visitor.answer(1, 71).json() == {**first, "new": False}
    other = visitor.answer(1, 72)
    assert other.status_code == 409
    assert other.json() == {
        **about,
        "reason": "answered",
        "message": "This task has another answer already; answers are never changed.",
    }
    assert kept(app).score.tolist() == [71]


def test_back_and_ahead(app):
    visitor = Visitor(app)
    assert visitor.begin().url.path == "/c/dogs/task/1"
    visitor.answer(1)
    assert "Task 1 is answered" in visitor.get("/c/dogs/task/1").text
    assert visitor.get("/c/dogs/task/3").url.path == "/c/dogs/task/2"
    assert visitor.get("/c/dogs/task/4").status_code == 404
    assert visitor.get("/c/dogs/task/0").status_code == 422


def test_what_must_be_watched_must_be_said_to_be(app):
    visitor = Visitor(app)
    visitor.begin()
    for seen in (None, 0, 0.5):
        refused = visitor.answer(1, seen=seen)
        assert refused.status_code == 422
        assert "watch it to its end" in refused.json()["message"]
    assert visitor.answer(1, seen=1.5).status_code == 422
    assert len(kept(app)) == 0
    assert visitor.answer(1, seen=0.95).status_code == 200
    assert set(kept(app).client) == {"web 0x0"}
    assert kept(app).watched.tolist() == [0.95]


def test_what_need_not_be_watched_is_told_all_the_same(tmp_path, videos):
    app = app_over(tmp_path, videos=videos, pages={"must_watch": False})
    visitor = Visitor(app)
    visitor.begin()
    assert visitor.answer(1, seen=None).status_code == 200
    assert visitor.answer(2, seen=0.25).status_code == 200
    assert [row.watched for row in kept(app)] == [None, 0.25]


def test_looking_at_a_task_keeps_the_hit(tmp_path):
    now = [1_000_000.0]
    app = app_over(tmp_path, clock=lambda: now[0])
    visitor = Visitor(app)
    visitor.begin()
    campaign = app.state.campaigns.get("dogs")
    for _ in range(3):
        now[0] += campaign.terms.hold - 1
        visitor.get("/c/dogs/task/1")
    now[0] += campaign.terms.hold - 1
    assert campaign.release_abandoned() == 0
    now[0] += 2
    assert campaign.release_abandoned() == 1


def test_of_another_rater(app):
    visitor, other = Visitor(app), Visitor(app)
    visitor.begin()
    other.begin()
    assert visitor.answer(1, assignment=2).status_code == 403
    assert other.answer(1, assignment=1).status_code == 403
    assert visitor.answer(1, assignment=99).status_code == 404
    # with the other's cookie but not the other's browser, the form's token is wrong
    visitor.cookies.set("reelscore_rater", other.cookies["reelscore_rater"], path="/c/dogs")
    assert visitor.answer(1, assignment=2, proof="0" * 32).status_code == 403
    assert len(kept(app)) == 0


def test_forged_cookies_are_nobody(app):
    visitor = Visitor(app)
    visitor.begin()
    good = visitor.cookies["reelscore_rater"]
    for bad in ("", "1", good[:-2] + "xx", good.replace(good[0], "X", 1)):
        stranger = Visitor(app)
        stranger.cookies.set("reelscore_rater", bad, path="/c/dogs")
        assert stranger.get("/c/dogs/work").status_code == 403, bad


IMPOSSIBLE = [
    ({"answer": {"adequacy": [101]}}, 422),
    ({"answer": {"adequacy": [-1]}}, 422),
    ({"answer": {"adequacy": [5, 6]}}, 422),
    ({"answer": {"adequacy": []}}, 422),
    ({"answer": {"adequacy": ["x"]}}, 422),
    ({"answer": {"fluency": [5]}}, 422),
    ({"answer": {}}, 422),
    ({"answer": {"adequacy": [5], "fluency": [5]}}, 422),
    ({"task": 4}, 404),
    ({"task": 0}, 422),
    ({"task": 10**30}, 422),
    ({"assignment": 0}, 422),
    ({"assignment": 2**63}, 422),
    ({"client": "<script>"}, 422),
    ({"started": 1e300}, 422),
    ({"submitted": 1.0}, 422),
    ({"kind": "degraded"}, 422),
]


def test_answers_that_cannot_be(app):
    visitor = Visitor(app)
    visitor.begin()
    for changes, status in IMPOSSIBLE:
        assert visitor.answer(**changes).status_code == status, changes
    assert len(kept(app)) == 0


def test_no_number(app):
    visitor = Visitor(app)
    visitor.begin()
    body = (
        '{"assignment": 1, "task": 1, "answer": {"adequacy": [NaN]}, '
        f'"started": {time.time()}, "submitted": {time.time()}}}'
    )
    headers = {"x-form-proof": visitor.proof, "content-type": "application/json"}
    assert visitor.post("/c/dogs/answers", content=body, headers=headers).status_code == 422


def test_clocks_of_clients_do_not_lead(app):
    visitor = Visitor(app)
    visitor.begin()
    now = time.time()
    visitor.answer(1, started=now + 3600, submitted=now + 3610)
    judgments = kept(app)
    assert judgments.submitted[0] <= time.time()
    assert judgments.submitted[0] - judgments.started[0] == pytest.approx(10, abs=0.1)


def test_pause_and_close(app):
    visitor, late = Visitor(app), Visitor(app)
    visitor.begin()
    campaign = app.state.campaigns.get("dogs")
    campaign.set_state("paused", actor="me")
    assert visitor.answer(1).status_code == 200  # what is held may be finished
    assert "is paused" in late.begin().text
    campaign.set_state("closed", actor="me")
    assert visitor.answer(1).status_code == 200  # sent again: acknowledged again
    assert visitor.answer(2).status_code == 409
    assert "over" in late.get("/c/dogs/work").text


def test_excluded(app):
    visitor = Visitor(app)
    app.state.campaigns.get("dogs").decide("exclude", "r1", actor="me", reason="test")
    assert visitor.begin(name="r1").status_code == 403


def test_given_back(app):
    visitor = Visitor(app)
    visitor.begin(name="r1")
    campaign = app.state.campaigns.get("dogs")
    visitor.answer(1)
    assert "Given back" in visitor.press("/c/dogs/return").text
    assert campaign.status().held == 0
    assert len(kept(app)) == 1
    assert visitor.get("/c/dogs/work").url.path == "/c/dogs/task/2"  # resumes while it is free


def test_one_hit_after_the_other(tmp_path):
    app = app_over(tmp_path, tasks=1, hits=3, pages={"hits_per_rater": 2})
    visitor = Visitor(app)
    visitor.begin()
    visitor.answer(1)
    finish = visitor.get("/c/dogs/work")
    assert finish.url.path == "/c/dogs/finish"
    assert app.state.campaigns.get("dogs").status().held == 0  # not before it is asked for
    assert visitor.press("/c/dogs/work").url.path == "/c/dogs/task/1"
    visitor.answer(1, assignment=2)
    last = visitor.get("/c/dogs/finish")
    assert "another round" not in last.text
    assert visitor.press("/c/dogs/work").url.path == "/c/dogs/finish"
    assert finish.text != last.text  # each has its own code


def test_videos_come_in_parts(app, videos):
    visitor = Visitor(app)
    page = visitor.begin().text
    source = page.partition('src="/c/dogs/media/')[2].partition('"')[0]
    path = f"/c/dogs/media/{source}"
    whole = visitor.get(path)
    assert whole.content == (videos / "clip01.webm").read_bytes()
    assert whole.headers["content-type"] == "video/webm"
    part = visitor.get(path, headers={"range": "bytes=4-7"})
    assert (part.status_code, part.content) == (206, whole.content[4:8])
    assert part.headers["content-range"] == f"bytes 4-7/{len(whole.content)}"
    beyond = visitor.get(path, headers={"range": f"bytes={len(whole.content)}-"})
    assert beyond.status_code == 416
    assert Visitor(app).get(path).status_code == 403  # for raters only


def test_no_way_out_of_the_folder(app):
    visitor = Visitor(app)
    visitor.begin()
    ways = ["clip01", "clip01.webm", "../dogs.db", "..%2f..%2fdogs.db", "%2e%2e/dogs.db", "....//x"]
    for name in (*ways, "/etc/passwd", "%00", "..\\dogs.db"):
        response = visitor.get(f"/c/dogs/media/{name}")
        assert response.status_code == 404, name
        assert "sqlite" not in response.text.lower()


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    folder = tmp_path / "videos"
    folder.mkdir()
    (tmp_path / "secret.mp4").write_text("secret")
    (folder / "clip01.mp4").symlink_to(tmp_path / "secret.mp4")
    app = app_over(tmp_path, videos=folder)
    page = Visitor(app).begin()
    assert "The video of this task is missing" in page.text


def test_videos_elsewhere(tmp_path):
    app = app_over(tmp_path, pages={"video_url": "https://cdn.example/v/{item}.mp4"})
    page = Visitor(app).begin()
    assert 'src="https://cdn.example/v/clip01.mp4"' in page.text
    assert "media-src 'self' https://cdn.example;" in page.headers["content-security-policy"]


def test_ties_may_be_forbidden(tmp_path):
    app = app_over(tmp_path, protocol="ranking", captions=3, pages={"ties": False})
    visitor = Visitor(app)
    visitor.begin()
    names = ("correctness", "relevance", "grammar", "helpful")
    assert visitor.answer(answer={key: [1, 1, 2] for key in names}).status_code == 422
    assert visitor.answer(answer={key: [3, 1, 2] for key in names}).status_code == 200
