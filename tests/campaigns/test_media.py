"""Videos are looked at before a campaign opens, so that no bad one waits for a rater."""

from __future__ import annotations

import threading

import pytest
from click.testing import CliRunner

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.commands.upkeep import check_videos as command
from reelscore.campaigns.pages.video_checks import Preflight
from reelscore.errors import DataError
from reelscore.web.media import check_video
from support.footage import KINDS, bad_folder, film
from support.server import small_campaign
from support.visits import Visitor, app_over


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "videos"
    made.mkdir()
    return made


def opened(app):
    campaign = app.state.campaigns.get("dogs")
    campaign.set_state("paused", actor="test")
    owner = Visitor(app)
    owner.log_in()
    return campaign, owner


def test_the_check_agrees_with_chromium(folder, chromium):
    for name, (codec, container, plays) in KINDS.items():
        film(folder / name, codec, container)
        if plays:
            assert check_video(folder / name) == pytest.approx(0.5, abs=0.1), name
        else:
            with pytest.raises(DataError, match="browsers do not play"):
                check_video(folder / name)
    page = chromium.new_page()
    page.goto(f"file://{folder}/")
    play = """name => new Promise(end => {
      const video = document.createElement("video");
      video.onended = () => end(true);
      video.onerror = () => end(false);
      video.muted = true;
      video.src = name;
      video.play().catch(() => {});
    })"""
    shown = {name: page.evaluate(play, name) for name in KINDS}
    page.close()
    assert shown == {name: plays for name, (_, _, plays) in KINDS.items()}


def test_every_fault_is_named_and_lengths_are_kept(tmp_path, folder):
    wrong = bad_folder(folder)
    practice = [{"captions": ["a"], "expected": {}, "feedback": "", "item": "clip06"}]
    small_campaign(tmp_path / "dogs.db", pages={"practice": practice}, tasks=5, hits=1)
    ran = CliRunner().invoke(command, [str(tmp_path / "dogs.db"), "--videos", str(folder)])
    assert ran.exit_code == 1
    said = " ".join(ran.output.split())
    for item, what in wrong.items():
        line = next(line for line in said.split("clip") if line.startswith(item[4:]))
        assert what in line, (item, line)
    assert "6 videos: 1 can be played (1.0 s), 5 cannot." in said
    with Campaign.open(tmp_path / "dogs.db") as campaign:
        assert campaign.settings["media"] == {"clip01": 1.0}


def test_nothing_is_wrong(tmp_path, videos):
    small_campaign(tmp_path / "dogs.db")
    ran = CliRunner().invoke(command, [str(tmp_path / "dogs.db"), "--videos", str(videos)])
    assert (ran.exit_code, ran.output) == (0, "6 videos: 6 can be played (6.0 s), 0 cannot.\n")


def test_what_cannot_be_checked_is_said(tmp_path, folder):
    pages = {"video_url": "https://lab.example/{item}.mp4"}
    small_campaign(tmp_path / "dogs.db", pages=pages)
    ran = CliRunner().invoke(command, [str(tmp_path / "dogs.db"), "--videos", str(folder)])
    assert ran.exit_code == 0
    assert "6 lie on another site and were not checked" in " ".join(ran.output.split())


def test_a_text_may_stand_for_a_video(tmp_path, folder):
    contexts = {f"clip{k:02}": "A dog." for k in range(1, 7)}
    small_campaign(tmp_path / "dogs.db", pages={"contexts": contexts})
    ran = CliRunner().invoke(command, [str(tmp_path / "dogs.db"), "--videos", str(folder)])
    assert ran.exit_code == 0
    assert "6 items are shown without a video" in ran.output


def test_another_ending_is_named(tmp_path, folder):
    (folder / "clip01.avi").write_bytes(b"RIFF")
    small_campaign(tmp_path / "dogs.db", tasks=1, hits=1)
    ran = CliRunner().invoke(command, [str(tmp_path / "dogs.db"), "--videos", str(folder)])
    assert "clip01.avi is not served" in ran.output


def test_a_campaign_with_bad_videos_opens_only_if_told_so(tmp_path, folder):
    wrong = bad_folder(folder)
    app = app_over(tmp_path, videos=folder)
    campaign, owner = opened(app)
    page = owner.press("/organise/c/dogs/state", state="open")
    assert page.url.path == "/organise/c/dogs/videos"
    assert campaign.state == "paused"
    assert "The campaign is not open" in page.text
    for item, what in wrong.items():
        assert item in page.text
        assert what in page.text
    assert owner.press("/organise/c/dogs/state", state="open", anyway="yes").status_code == 200
    assert campaign.state == "open"
    last = campaign.events()[-1]
    assert (last.actor, last.what) == ("ada", "open")
    assert "clip02, clip03, clip04, clip05, clip06" in last.reason


def test_a_campaign_with_good_videos_opens_at_once(tmp_path, videos):
    app = app_over(tmp_path, videos=videos)
    campaign, owner = opened(app)
    page = owner.press("/organise/c/dogs/state", state="open")
    assert page.url.path == "/organise/c/dogs"
    assert campaign.state == "open"
    assert campaign.settings["media"]["clip06"] == 1.0
    assert campaign.events()[-1].reason == ""


def test_a_large_folder_shows_how_far_it_is(tmp_path, videos, monkeypatch):
    app = app_over(tmp_path, videos=videos)
    campaign, owner = opened(app)
    third, go_on = threading.Event(), threading.Event()
    looked = []

    def slow(file):
        looked.append(file.stem)
        if len(looked) == 3:
            third.set()
            assert go_on.wait(30)
        return 1.0

    app.state.campaigns.preflight = Preflight(videos, slow)
    monkeypatch.setattr("reelscore.campaigns.pages.organisers.campaign_pages.PATIENCE", 0)
    page = owner.press("/organise/c/dogs/state", state="open")
    assert page.url.path == "/organise/c/dogs/videos"
    assert third.wait(30)
    assert "Looking at video 2 of 6" in owner.get("/organise/c/dogs/videos/live").text
    assert campaign.state == "paused"
    go_on.set()
    app.state.campaigns.preflight.last("dogs").wait(30)
    assert "6 can be played" in owner.get("/organise/c/dogs/videos/live").text
    monkeypatch.undo()
    owner.press("/organise/c/dogs/state", state="open")
    assert campaign.state == "open"
    assert len(looked) == 6  # those that have not changed are looked at once


def test_without_pyav_an_organiser_is_told(tmp_path, videos, monkeypatch):
    app = app_over(tmp_path, videos=videos)
    campaign, owner = opened(app)
    monkeypatch.setitem(__import__("sys").modules, "av", None)
    page = owner.press("/organise/c/dogs/state", state="open")
    assert "pip install &#39;reelscore[web]&#39;" in page.text
    assert campaign.state == "paused"


def test_texts_and_lengths_do_not_overwrite_each_other(tmp_path, videos):
    app = app_over(tmp_path, videos=videos)
    campaign, owner = opened(app)
    owner.press("/organise/c/dogs/videos")
    owner.press("/organise/c/dogs/pages/json", text='{"numbers": true}')
    assert set(campaign.settings) == {"pages", "media"}
