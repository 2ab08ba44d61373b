"""Gather captions of other kinds that nobody judged, for the last stage of BERTHA's training.

    python tools/elsewhere_captions.py DATA elsewhere.jsonl

DATA has the folders `dense` (ActivityNet Captions and YouCook2, with captions of systems) and
`spice` (COCO captions). A caption stands beside sentences of the same moment by other people, or,
where a picture's other captions are not known, beside the most similar one of another picture.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from reelscore.learned.judged_captions import JudgedCaption, write_captions
from reelscore.learned.networks.sentence_vectors import SentenceEncoder

Sentences = list[tuple[float, float, str]]
_MOST = 14_000  # captions of a kind; more teach nothing new
_LONGEST = 300  # characters


def main() -> None:
    data, out = Path(sys.argv[1]), sys.argv[2]
    captions: list[JudgedCaption] = []
    for group in (activitynet(data / "dense"), youcook(data / "dense"), coco(data / "spice")):
        own = [c for c in group if len(c.candidate) <= _LONGEST]
        own = random.Random(1).sample(own, min(len(own), _MOST))
        print(own[0].group, len(own), "captions,", sum(c.person for c in own), "by people")
        captions += own
    write_captions(out, captions)


def activitynet(folder: Path) -> Iterator[JudgedCaption]:
    """Two people's stories of a video, and a system's."""
    one, two = (told(read(folder / f"anet_val_{k}.json.gz")) for k in (1, 2))
    systems = [read(folder / f"bmt_gtprop_val_{k}.json.gz")["results"] for k in (1, 2)]
    for video in sorted(one.keys() & two.keys()):
        yield from beside("activitynet", video, "person", one[video], two[video])
        yield from beside("activitynet", video, "person", two[video], one[video])
        for k, system in enumerate(systems):
            made = [(*c["timestamp"], c["sentence"].strip()) for c in system.get(video, [])]
            yield from beside("activitynet", video, f"BMT {k + 1}", made, one[video] + two[video])


def youcook(folder: Path) -> Iterator[JudgedCaption]:
    """A person's story of a video, and a system's."""
    truth = told(read(folder / "yc2_val.json.gz"))
    made = read(folder / "timechat_yc2_pred_anet_format.json.gz")["results"]
    for video in sorted(truth.keys() & made.keys()):
        system = [(*c["timestamp"], c["sentence"].strip()) for c in made[video]]
        yield from beside("youcook2", video, "TimeChat", system, truth[video])


def coco(folder: Path) -> Iterator[JudgedCaption]:
    """Captions of pictures, each beside the one most like it."""
    texts = []
    for path in sorted((folder / "trees").glob("coco*")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            words: list[str] = []
            for line in file:
                fields = line.split("\t")
                if len(fields) > 1 and fields[0].isdigit():
                    words.append(fields[1])
                elif words and not line.strip():
                    texts.append(" ".join(words))
                    words = []
    texts = sorted(set(texts))
    texts = random.Random(1).sample(texts, _MOST)
    vectors = SentenceEncoder()(texts, threads=1).astype(np.float32)
    for begin in range(0, len(texts), 1000):
        near = vectors[begin : begin + 1000] @ vectors.T
        near[np.arange(len(near)), begin + np.arange(len(near))] = -1
        for row, place in enumerate(near.argmax(axis=1)):
            item = f"coco/{begin + row}"
            yield caption("coco", item, "person", texts[begin + row], [texts[place]])


def read(path: Path) -> Any:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def told(stories: Any) -> dict[str, Sentences]:
    stories = stories.get("database", stories)
    return {
        video: [
            (start, end, text.strip())
            for (start, end), text in zip(story["timestamps"], story["sentences"], strict=True)
        ]
        for video, story in stories.items()
    }


def beside(
    group: str, video: str, who: str, own: Sentences, others: Sentences
) -> Iterator[JudgedCaption]:
    """Each sentence beside those of the same moment."""
    for number, (start, end, text) in enumerate(own):
        same = [other for a, b, other in others if other and overlap(start, end, a, b) >= 0.5]
        if text and same:
            yield caption(group, f"{group}/{video}/{who}/{number}", who, text, same)


def overlap(start: float, end: float, a: float, b: float) -> float:
    whole = max(end, b) - min(start, a)
    return max(0.0, min(end, b) - max(start, a)) / whole if whole > 0 else 0.0


def caption(group: str, item: str, who: str, text: str, references: list[str]) -> JudgedCaption:
    return JudgedCaption(
        group, "", who, item, text, tuple(dict.fromkeys(references)), person=who == "person"
    )


if __name__ == "__main__":
    main()
