"""Stories from files: four shapes, one result; every bad caption counted and named."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from reelscore import DataError, UnknownNameError
from reelscore.data.stories import StoryPolicies
from reelscore.data.story_files import read_stories, stories_of

ROWS = [([0.0, 5.5], "a man runs"), ([5.5, 9.0], "he “jumps”")]
SHAPES = {
    "candidates": {
        "version": "VERSION 1.0",
        "results": {"v_1": [{"sentence": s, "timestamp": t} for t, s in ROWS]},
        "external_data": {},
    },
    "truth": {
        "v_1": {
            "duration": 9.0,
            "timestamps": [t for t, _ in ROWS],
            "sentences": [s for _, s in ROWS],
        }
    },
    "timechat": {"v_1.mp4": [{"timestamp": t, "caption": s} for t, s in ROWS]},
    "starts and ends": {"v_1": [{"start": t[0], "end": t[1], "text": s} for t, s in ROWS]},
}
LINES = {
    "a caption a line": [{"video_id": "v_1", "timestamp": t, "sentence": s} for t, s in ROWS],
    "a video a line": [
        {"video": "v_1", "timestamps": [t for t, _ in ROWS], "sentences": [s for _, s in ROWS]}
    ],
    "captions in a line": [
        {"item": "v_1", "captions": [{"timestamp": t, "sentence": s} for t, s in ROWS]}
    ],
}


def check(stories: Any) -> None:
    assert list(stories) == ["v_1"]
    assert stories["v_1"].segments.tolist() == [t for t, _ in ROWS]
    assert stories["v_1"].sentences == tuple(s for _, s in ROWS)


@pytest.mark.parametrize("shape", list(SHAPES))
def test_json(shape: str, tmp_path: Path) -> None:
    path = tmp_path / "stories.json"
    path.write_text(json.dumps(SHAPES[shape]), encoding="utf-8")
    check(read_stories(path))
    check(stories_of(SHAPES[shape]))
    packed = tmp_path / "stories.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    check(read_stories(packed))


@pytest.mark.parametrize("shape", list(LINES))
def test_json_lines(shape: str, tmp_path: Path) -> None:
    path = tmp_path / "stories.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES[shape])) + "\n\n", encoding="utf-8")
    check(read_stories(path))


def test_durations() -> None:
    assert stories_of(SHAPES["truth"])["v_1"].duration == 9.0
    assert stories_of(SHAPES["candidates"])["v_1"].duration is None


BAD = [
    # caption, message
    ({"timestamp": [0, 1]}, "no sentence; expected one of"),
    ({"sentence": "a", "timestamp": None}, "the timestamp is None"),
    ({"sentence": "a"}, "no timestamp"),
    ({"sentence": None, "timestamp": [0, 1]}, "the sentence is null; expected text"),
    ({"sentence": "a", "timestamp": [0, 1, 2]}, "expected [start, end]"),
    ({"sentence": "a", "timestamp": ["0", "1"]}, "expected [start, end]"),
    ({"sentence": "a", "timestamp": [True, 1]}, "expected [start, end]"),
    ({"sentence": "a", "timestamp": [0, float("nan")]}, "expected finite numbers"),
    ({"sentence": "a", "timestamp": [0, float("inf")]}, "expected finite numbers"),
    ({"sentence": "a", "timestamp": [-1, 5]}, "the time -1.0 is negative"),
    ({"sentence": "a", "timestamp": [5, 1]}, "ends (1.0) before it starts (5.0)"),
    ({"sentence": " ", "timestamp": [0, 1]}, "the sentence is empty"),
    ({"sentence": "...", "timestamp": [0, 1]}, "('...' has no words)"),
    ("a man", "is a text; expected an object"),
]


@pytest.mark.parametrize(("caption", "message"), BAD)
def test_bad_captions_are_named(caption: Any, message: str, tmp_path: Path) -> None:
    good = {"sentence": "a man", "timestamp": [0, 1]}
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"results": {"v_1": [good], "v_2": [good, caption]}}))
    with pytest.raises(DataError) as caught:
        read_stories(path)
    assert f"{path}: video 'v_2', caption 2: " in str(caught.value)
    assert message in str(caught.value)


def test_all_bad_captions_are_counted() -> None:
    bad = {"sentence": "a", "timestamp": [5, 1]}
    with pytest.raises(DataError, match=r"(?s)stories: 12 records .* first 5:.*caption 5"):
        stories_of({"v_1": [bad] * 12})


BAD_FILES = [
    ('{"v_1": [], "v_1": []}', "video 'v_1' is repeated"),
    ('{"v_1": 7}', "video 'v_1': is a number (7); expected a list of captions"),
    ('{"v_1": {"timestamps": [[0, 1]], "sentences": []}}', "1 timestamps and 0 sentences"),
    ('{"v_1": {"timestamps": 3, "sentences": []}}', "two lists"),
    ('{"v_1": {"duration": "x", "timestamps": [], "sentences": []}}', "the duration is 'x'"),
    ("[]", "expected an object of video ids"),
    ("{}", "there are no videos"),
    ('{"results": {"v_1": [}', "malformed JSON"),
    ('{"": []}', "the video id is empty"),
    ('{"video_id": "v_1", "timestamp": [0, 1], "sentence": "a"}\n{"x": 1}', "no video id"),
    ("", "the file is empty"),
]


@pytest.mark.parametrize(("content", "message"), BAD_FILES)
def test_bad_files(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(content)
    with pytest.raises(DataError) as caught:
        read_stories(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_policies_and_notes() -> None:
    captions = [
        {"sentence": "a", "timestamp": [5, 1]},
        {"sentence": "b", "timestamp": [-2, 1]},
        {"sentence": "", "timestamp": [0, 1]},
    ]
    kept = stories_of({"v": captions}, policies=StoryPolicies("zero", "keep", "zero"))
    assert kept["v"].segments.tolist() == [[5, 1], [-2, 1], [0, 1]]
    assert kept.notes == [
        "1 caption has the end before the start: no overlap.",
        "1 caption has a negative time: kept.",
        "1 caption has no text: kept.",
    ]
    mended = stories_of({"v": captions}, policies=StoryPolicies("swap", "clip", "zero"))
    assert mended["v"].segments.tolist() == [[1, 5], [0, 1], [0, 1]]
    assert mended.notes[:2] == [
        "1 caption has the end before the start: swapped.",
        "1 caption has a negative time: set to 0.",
    ]
    with pytest.raises(UnknownNameError, match="reversed_segments="):
        StoryPolicies("drop")  # type: ignore[arg-type]


def test_fingerprints_ignore_the_order() -> None:
    one = {"v_1": SHAPES["timechat"]["v_1.mp4"], "v_2": [{"sentence": "x", "timestamp": [0, 1]}]}
    other = {video: list(reversed(rows)) for video, rows in reversed(one.items())}
    assert stories_of(one).fingerprint() == stories_of(other).fingerprint()
    assert stories_of(one).fingerprint() != stories_of(SHAPES["timechat"]).fingerprint()
