"""Chapters in the forms of sites and players, and what is wrong with some."""

from __future__ import annotations

import gzip
import json
import re
from math import inf
from pathlib import Path

import pytest

from reelscore import DataError, check, stories
from reelscore.data.captions.caption_files import read_candidates
from reelscore.data.stories import StoryPolicies

DESCRIPTION = """How I bake bread. New videos at 18:00!
https://example.org/watch?t=1:30

► 0:00 Intro
(1:05) – The dough: 70% water
1:02:03 - 1:03:00 Is it done?

Thanks
"""
WEBVTT = """WEBVTT - chapters

NOTE made by hand

first
00:00:00.000 --> 00:01:05.000 align:start
<b>Intro</b>

01:05.000 --> 01:02:03.000
The dough:
70% water &amp; salt
"""
# as FFmpeg writes it: = ; # \ and line ends of a value are behind a backslash
FFMETADATA = r""";FFMETADATA1
title=Bread
[CHAPTER]
TIMEBASE=1/1000
START=0
END=65000
title=Intro
[CHAPTER]
TIMEBASE=1/10
START=650
title=The \=70%\; \#2 \\ dough
[STREAM]
title=sound
[CHAPTER]
TIMEBASE=1/1000
START=3723000
END=3800000
title=Is it \
done?
"""
BREAD = [[0, 65], [65, 3723], [3723, inf]]


def read(folder: Path, name: str, content: str, **options: str) -> tuple[list[list[float]], ...]:
    path = folder / name
    path.write_text(content)
    [(video, story)] = stories.read_stories(path, StoryPolicies(**options)).items()
    return video, story.segments.tolist(), list(story.sentences)


def test_descriptions(tmp_path: Path) -> None:
    expected = "bread", BREAD, ["Intro", "The dough: 70% water", "Is it done?"]
    assert read(tmp_path, "bread.description", DESCRIPTION) == expected
    turned = "Intro 0:00\nThe dough: 70% water - 1:05\r\nIs it done? (1:02:03)"
    assert read(tmp_path, "bread.txt", turned) == expected


def test_webvtt(tmp_path: Path) -> None:
    titles = ["Intro", "The dough: 70% water & salt"]
    for content in (WEBVTT, WEBVTT.replace("\n", "\r\n")):
        assert read(tmp_path, "b.chapters.vtt", content) == ("b", BREAD[:2], titles)


def test_ffmetadata(tmp_path: Path) -> None:
    titles = ["Intro", "The =70%; #2 \\ dough", "Is it \ndone?"]
    expected = "b", [*BREAD[:2], [3723, 3800]], titles
    assert read(tmp_path, "b.ffmeta", FFMETADATA) == expected


def test_json_of_one_video_and_of_several(tmp_path: Path) -> None:
    one = {"chapters": {"00:00:00": "Intro", "01:05": "The dough", "3723": "Is it done?"}}
    titles = list(one["chapters"].values())
    assert read(tmp_path, "bread.json", json.dumps(one)) == ("bread", BREAD, titles)
    several = {"v1": {"duration": 3800.5, "title": "Bread", **one}, "v2": {"chapters": {}}}
    document = stories.stories_of(several)
    assert document["v1"].segments.tolist() == [*BREAD[:2], [3723, 3800.5]]
    assert len(document["v2"]) == 0
    with gzip.open(tmp_path / "all.json.gz", "wt") as file:
        json.dump(several, file)
    assert stories.read_stories(tmp_path / "all.json.gz").fingerprint() == document.fingerprint()


def test_a_folder_is_one_system_and_one_annotator(tmp_path: Path) -> None:
    for folder in ("ours", "ann1", "ann2"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "v1.vtt").write_text(WEBVTT)
    (tmp_path / "ours" / "v2.json").write_text('{"chapters": {"00:00": "Intro"}}')
    (tmp_path / "ann1" / "v2.json").write_text('{"chapters": {"0": "Intro"}, "duration": 60}')
    results = stories.score(tmp_path / "ours", [tmp_path / "ann1", tmp_path / "ann2"], "soda_c")
    assert dict(results["soda_c"].items) == {"v1": 1, "v2": 1}  # v2's last ends with the video
    assert "|refs:2|" in results["soda_c"].signature
    (tmp_path / "ours" / "v1.txt").write_text(DESCRIPTION)
    with pytest.raises(DataError, match="video 'v1' is repeated"):
        stories.read_stories(tmp_path / "ours")


def test_the_end_of_the_video_is_the_references(tmp_path: Path) -> None:
    ours = {"v1": {"chapters": {"0": "a man", "30": "a dog"}}}
    with pytest.raises(DataError, match=r"no end: 1 \(first: 'v1'\).*\"duration\": SECONDS"):
        stories.score(ours, ours)
    half = {"v1": {"duration": 60, "chapters": {"0": "a man", "30": "a dog"}}}
    assert stories.score(ours, half, "soda_c")["soda_c"].score == 1
    late = stories.score({"v1": {"chapters": {"0": "a man", "90": "a dog"}}}, half, "soda_c")
    assert "1 candidate has a segment without length: no overlap." in late.notes


BAD = [
    ("v.vtt", "WEBVTT\n\n0:00 --> 0:10\nIntro", "v.vtt:3: '0:00 --> 0:10' are no times"),
    ("v.vtt", "WEBVTT\n", "has no chapters"),
    ("v.ff", ";FFMETADATA1\n[CHAPTER]\nEND=4\n", "v.ff:2: the chapter has no time"),
    ("v.txt", "0:00 Intro\n2:00 Two\n1:00 One", "caption 2: ends (60.0) before it starts"),
    ("v.txt", "0:00 ...\n1:00 End", "caption 1: the sentence is empty"),
    ("v.json", '{"chapters": {"00:61:00": "a"}}', "the start '00:61:00' is no time"),
    ("v.json", '{"chapters": {"00:00": 4}}', "caption 1: the sentence is a number (4)"),
    ("v.json", '{"v": {"chapters": [4]}}', "expected 'chapters' as an object"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD)
def test_bad_chapters(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=re.escape(message)):
        stories.read_stories(tmp_path / name)


def test_bad_chapters_from_python() -> None:
    with pytest.raises(DataError, match="without its id"):
        stories.stories_of({"chapters": {"0:00": "Intro"}})


@pytest.mark.parametrize("content", [DESCRIPTION, WEBVTT, FFMETADATA])
def test_chapters_are_checked_and_read_like_other_timed_captions(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / "bread.txt"
    path.write_text(content)
    assert check(path).captions > 1
    assert next(iter(read_candidates(path))).startswith("bread@0-65")
