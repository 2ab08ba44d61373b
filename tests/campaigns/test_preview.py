"""Organisers look at any HIT as raters see it, without using it up."""

from __future__ import annotations

import re

import pytest

from reelscore.campaigns.pages.organisers import preview
from support.browser import is_within, log_in, watch
from support.server import serve, small_campaign
from support.visits import Visitor, app_over


@pytest.fixture
def app(tmp_path, videos):
    return app_over(tmp_path, videos=videos)


def organiser(app, role="owner"):
    visitor = Visitor(app)
    visitor.log_in(role, role)
    return visitor


def test_a_preview_uses_nothing_up(app):
    owner, campaign = organiser(app), app.state.campaigns.get("dogs")
    before = (campaign.status(), campaign.events())
    listed = owner.get("/organise/c/dogs/hits").text
    assert 'href="/organise/c/dogs/hits/2/1"' in listed
    for hit in (1, 2):
        for task in (1, 2, 3):
            page = owner.get(f"/organise/c/dogs/hits/{hit}/{task}").text
            assert f"text {hit - 1}.{task - 1}.0 of a dog" in page
            assert f"Task {task} of 3" in page
    assert (campaign.status(), campaign.events()) == before


def test_it_shows_what_raters_see(app):
    def part(page):  # from the video to the questions
        text = page.text.partition('<section class="scene"')[2].partition("</fieldset>\n<p")[0]
        return re.sub(r"(/organise)?/c/dogs/(hits/)?media/", "", text)

    task = Visitor(app).begin()
    shown = organiser(app).get("/organise/c/dogs/hits/1/1")
    assert 'data-form="slider"' in part(task)
    assert part(shown)[:600] == part(task)[:600]


def test_an_assistant_learns_no_system(app):
    assistant = organiser(app, "assistant")
    for path in ("/hits", "/hits/1/1", "/hits/1/2", "/hits/1/3"):
        page = assistant.get(f"/organise/c/dogs{path}").text
        for hidden in ("alpha-net", "beta-net", "human", "degraded", "repeat"):
            assert hidden not in page, (path, hidden)


def test_videos_of_a_preview(app, videos):
    owner = organiser(app)
    page = owner.get("/organise/c/dogs/hits/1/1").text
    source = re.search(r'<video[^>]* src="([^"]+)"', page)[1]
    assert owner.get(source).content == (videos / "clip01.webm").read_bytes()
    stranger = Visitor(app).get(source, headers={"accept": "*/*"})
    assert stranger.status_code == 401
    assert owner.get("/organise/c/dogs/hits/media/clip01").status_code == 404


@pytest.mark.parametrize(
    ("path", "status"), [("3/1", 404), ("1/4", 404), ("0/1", 422), ("x/1", 422), ("?page=0", 422)]
)
def test_what_is_not_there(app, path, status):
    separator = "" if path.startswith("?") else "/"
    got = organiser(app).get(f"/organise/c/dogs/hits{separator}{path}")
    assert got.status_code == status


def test_many_hits_have_pages(tmp_path, monkeypatch):
    monkeypatch.setattr(preview, "_PAGE", 2)
    owner = organiser(app_over(tmp_path, hits=5, tasks=1))
    assert "Page 1 of 3" in owner.get("/organise/c/dogs/hits").text
    last = owner.get("/organise/c/dogs/hits?page=3").text
    assert 'href="/organise/c/dogs/hits/5/1"' in last
    assert "text 4.0.0 of a dog" in owner.get("/organise/c/dogs/hits/5/1").text


def test_in_a_browser(tmp_path, videos, page, shoot):
    small_campaign(tmp_path / "dogs.db", tasks=2)
    with serve(str(tmp_path / "dogs.db"), videos=videos) as served:
        log_in(page, served)
        page.goto(f"{served.url}/organise/c/dogs/hits")
        shoot(page, "hits")
        page.get_by_role("link", name="Preview of h1").click()
        watch(page)
        shoot(page, "preview")
        page.locator("input[type=range]").press("End")
        page.click("#next")
        page.wait_for_url(re.compile(r"/hits/2/2\??$"))
        page.set_viewport_size({"width": 390, "height": 800})
        assert is_within(page)
        shoot(page, "preview_390")
        assert len(served.campaign("dogs").judgments()) == 0
