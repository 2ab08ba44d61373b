"""Which video shows which item: folders and lists."""

from __future__ import annotations

import pytest

from reelscore.errors import DataError
from reelscore.video import Clip
from reelscore.video.clips import find_clips


def test_the_videos_of_a_folder(tmp_path):
    for name in ("b.mp4", "a.webm", "notes.txt"):
        (tmp_path / name).touch()
    assert [clip.item for clip in find_clips(tmp_path)] == ["a", "b"]


def test_parts_of_films_in_a_list(tmp_path):
    listed = tmp_path / "clips.txt"
    listed.write_text("# clips\n\nscene 1\tfilms/a.mkv#0,2.5\nother.mp4\n")
    first, second = find_clips(listed)
    assert first == Clip("scene 1", str(tmp_path / "films" / "a.mkv#0,2.5"))
    assert first.is_part
    assert first.file == tmp_path / "films" / "a.mkv"
    assert (second.item, second.is_part) == ("other", False)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "there are no videos"),
        ("a.mp4\nb/a.mp4\n", "item 'a' has several videos"),
        ("film.mp4#1,2\n", "clips.txt:1: a part of a film needs an item"),
        ("x\tfilm.mp4#2,1\n", "ends before it begins"),
    ],
)
def test_lists_that_cannot_be_read(tmp_path, content, message):
    listed = tmp_path / "clips.txt"
    listed.write_text(content)
    with pytest.raises(DataError, match=message):
        find_clips(listed)


def test_a_list_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="neither a folder of videos nor a list"):
        find_clips(tmp_path / "none")
