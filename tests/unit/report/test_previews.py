"""Previews of videos in reports: from files and parts of files, kept, and said when missing."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from reelscore import examples
from reelscore.errors import DataError
from reelscore.examples.drawn_videos import draw_videos
from reelscore.report.html import previews
from reelscore.report.html.previews import Preview, read_previews, write_pictures
from reelscore.video import Clip


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(previews, "cache_directory", lambda: tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("videos")
    draw_videos(folder, ["clip01", "clip02"], seconds=1.0)
    return folder


def test_a_strip_of_frames(videos, monkeypatch):
    preview = Preview.read(str(videos / "clip01.webm"))
    image = Image.open(io.BytesIO(preview.content))
    assert image.format == "WEBP"
    assert image.size == (preview.frames * preview.width, preview.height)
    assert (preview.frames, preview.width) == (6, 160)
    monkeypatch.setattr(previews, "read_frames", None)  # a second time it comes from the cache
    assert Preview.read(str(videos / "clip01.webm")) == preview


def test_a_video_of_two_frames(videos):
    preview = Preview.read(f"{videos / 'clip01.webm'}#0,0.1")
    assert preview.frames == 6
    assert Image.open(io.BytesIO(preview.content)).width == 6 * preview.width


def test_parts_of_films_and_missing_videos(videos, tmp_path):
    (tmp_path / "broken.mp4").write_bytes(b"no video")
    clips = [
        Clip("clip01", str(videos / "clip01.webm")),
        Clip("part", f"{videos / 'clip02.webm'}#0.2,0.8"),
        Clip("broken", str(tmp_path / "broken.mp4")),
        Clip("other", str(videos / "clip02.webm")),
    ]
    seen = []
    made = read_previews(
        clips,
        ["clip01", "part", "broken", "none"],
        videos.parent / "report.html",
        lambda *step: seen.append(step),
    )
    assert list(made.pictures) == ["clip01", "part"]
    assert made.pictures["part"] != made.pictures["clip01"]
    assert made.videos["clip01"] == f"{videos.name}/clip01.webm"
    assert made.videos["part"] == f"{videos.name}/clip02.webm#t=0.2,0.8"
    assert made.notes[0] == "1 of 4 items have no video (first: 'none')."
    assert made.notes[1].startswith("1 videos cannot be shown (first: ")
    assert seen[-1] == (3, 3)


def test_videos_of_other_items(videos):
    with pytest.raises(DataError, match=r"None of the 1 items has a video: items are such as 'x'"):
        read_previews([Clip("clip01", str(videos / "clip01.webm"))], ["x"], "report.html")


def test_a_folder_of_other_files_is_left_alone(tmp_path):
    page = tmp_path / "report.html"
    other = previews.picture_folder(page)
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match="it holds other files"):
        write_pictures(page, ["a"], {"a": Preview(b"", 1, 1, 1)})
    assert (other / "notes.txt").read_text() == "mine"


def test_the_command(videos, tmp_path, monkeypatch):
    from click.testing import CliRunner

    from reelscore.cli.main import cli

    captions = [str(examples.path(f"clips/systems/{name}.json")) for name in ("human", "weak")]
    monkeypatch.chdir(tmp_path)
    words = ["report", "--captions", *captions, "--videos", str(videos), "--html", "gallery.html"]
    assert CliRunner().invoke(cli, words).output == "gallery.html: 2 systems, 2 previews.\n"
    alone = ["report", "--captions", captions[0], "--videos", str(videos), "--html", "alone.html"]
    assert CliRunner().invoke(cli, alone).output == "alone.html: 1 system, 2 previews.\n"
    page = (tmp_path / "gallery.html").read_text()
    assert "img-src" in page
    assert "13 of 15 items have no video" in page
    words = ["score", captions[0], "-r", str(examples.path("clips/references.json"))]
    words += ["-m", "rouge_l", "--html", "scored.html", "--videos", str(videos)]
    assert CliRunner().invoke(cli, words).exit_code == 0
    assert 'id="pictures"' in (tmp_path / "scored.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Missing argument 'TABLE...'"),
        (["--captions", "a.json", "-o", "t.tex"], "Missing argument 'TABLE...'"),
    ],
)
def test_what_needs_scores(tmp_path, monkeypatch, words, message):
    from click.testing import CliRunner

    from reelscore.cli.main import cli

    monkeypatch.chdir(tmp_path)
    made = CliRunner().invoke(cli, ["report", *words, "--html", "page.html"])
    assert message in made.output
    assert made.exit_code == 2
