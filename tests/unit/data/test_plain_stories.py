"""Files about which nothing is unusual are read all at once, and give the same stories."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import numpy as np
import pytest

from reelscore.data import story_files
from reelscore.data.json_documents import RepeatedKeys, decode_document
from reelscore.data.stories import Story, StoryPolicies, plain_stories
from reelscore.errors import DataError

WORDS = ["a", "man", "runs,", "then", "(he)", "jumps", "…", "3", "dogs", "bark"]


def made_up(rng: random.Random, videos: int) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for k in range(videos):
        starts = [rng.choice([0, 2.5, 7]) + j for j in range(rng.randint(0, 4))]
        times = [[start, start + rng.choice([0, 1, 4.25])] for start in starts]
        texts = [" ".join(rng.choices(WORDS, k=4)) + " end" for _ in times]
        data[f"v_{k}.mp4"] = rng.choice(
            [
                [{"timestamp": t, "sentence": s} for t, s in zip(times, texts, strict=True)],
                {"duration": 9, "subset": "val", "timestamps": times, "sentences": texts},
            ]
        )
    return data


def plain(story: Story) -> tuple[Any, ...]:
    return story.segments.tolist(), story.sentences, story.duration


@pytest.mark.parametrize("with_reversed", [False, True])
def test_the_same_stories_as_caption_by_caption(
    with_reversed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = made_up(random.Random(7), 50)
    if with_reversed:
        data["v_reversed"] = [{**CAPTION, "timestamp": [5, 4]}]
    read = partial(story_files.stories_of, data, policies=StoryPolicies(reversed_segments="zero"))
    values = data.values()
    assert plain_stories(list(data), values, keep_reversed=with_reversed) is not None
    together = read()
    monkeypatch.setattr(story_files, "plain_stories", lambda *_, **__: None)
    one_by_one = read()
    assert together.notes == one_by_one.notes
    assert bool(together.notes) == with_reversed
    assert list(together) == list(one_by_one)
    assert [*map(plain, together.values())] == [*map(plain, one_by_one.values())]
    assert together.splits == one_by_one.splits
    assert together.fingerprint() == one_by_one.fingerprint()
    assert all(story.segments.dtype == np.float64 for story in together.values())


CAPTION = {"timestamp": [0, 4.5], "sentence": "a man runs"}
UNUSUAL: list[Any] = [
    *({**CAPTION, "timestamp": times} for times in ([5, 4], [-1, 4], [0], [0, "4"], [True, 4])),
    *(
        {**CAPTION, "timestamp": times}
        for times in ([0, None], [0, float("inf")], "04", [0, 10**400])
    ),
    *({**CAPTION, "sentence": text} for text in ("...", "", None, "a\0b", "a \ud800")),
    {"segment": [0, 4], "sentence": "a man runs"},
    {"timestamp": [0, 4], "caption": "a man runs"},
    "a man runs",
]


@pytest.mark.parametrize("caption", UNUSUAL, ids=repr)
def test_what_is_unusual_is_looked_at(caption: Any) -> None:
    assert plain_stories(["v1", "v2"], [[CAPTION], [CAPTION, caption]]) is None


VALUES: list[Any] = [
    {"timestamps": [[0, 1]], "sentences": "a"},
    {"timestamps": [[0, 1]], "sentences": []},
    {"timestamps": [[0, 1]], "sentences": ["a man"], "annotations": []},
    {"timestamps": [[0, 1]], "sentences": ["a man"], "duration": -1},
    {"timestamps": [[0, 1]], "sentences": ["a man"], "duration": True},
    None,
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_unusual_videos_are_looked_at(value: Any) -> None:
    assert plain_stories(["v1", "v2"], [[CAPTION], value]) is None
    assert plain_stories(["v1", " "], [[CAPTION], [CAPTION]]) is None
    assert plain_stories(["v1", "v1"], [[CAPTION], [CAPTION]]) is None


def test_repeated_videos_are_errors() -> None:
    policies = StoryPolicies()
    twice = decode_document(b'{"v1": [], "v1" : []}', "run.json")
    entries = list(story_files._entries_of_document(twice, "run.json"))
    with pytest.raises(DataError, match="repeated"):
        story_files._collect(entries, "run.json", policies, None)


@pytest.mark.parametrize(
    ("document", "repeated"),
    [
        (b'{"v1": 1, "v2": {"a": [{"b": 2}]}}', False),
        (b'{"v1": 1, "v1": 2}', True),
        (b'{"v1": 1, "v1" \n : 2}', True),
        (b'{"v1": "he says \\":\\" twice", "v1": "\\":"}', True),
        (b'{"v1": "he says \\":\\" once"}', False),
        (b'{"v1": NaN, "v1": 1e999}', True),
    ],
)
def test_documents_keep_keys_that_come_twice(document: bytes, repeated: bool) -> None:
    assert isinstance(decode_document(document, "run.json"), RepeatedKeys) == repeated
