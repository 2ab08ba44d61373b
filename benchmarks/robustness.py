"""What metrics do with captions changed on purpose, and with strings that are no captions.

People's captions of TRECVid 2020 (HUMAN-B) against those of four others; the shipped model has seen
these videos.
"""

from __future__ import annotations

import os

import numpy as np

from benchmarks.data import TRECVID, read_lines, trecvid_2020
from reelscore import score
from reelscore.learned.robustness import try_changes
from reelscore.report.tables.grid import Cell, Grid

CHANGED, ODD = 200, 60
METRICS = ("bertha", "sts", "meteor")
GERMAN = (
    ("ein mann reitet auf einem pferd am strand", "a man rides a horse on the beach"),
    ("eine frau schneidet gemüse in der küche", "a woman cuts vegetables in the kitchen"),
    ("ein hund rennt über die wiese", "a dog runs across the meadow"),
)
JAPANESE = ("男の人が馬に乗っている", "犬が走っている", "女の人が台所で料理をしている")

Captions = dict[str, str]
References = dict[str, list[str]]


def main() -> None:
    system, files = trecvid_2020()
    people = {path.name.rpartition(".")[2]: read_lines(path) for path in files}
    if not any(name.endswith("B") for name in people):
        raise SystemExit(f"No captions of HUMAN-B in {TRECVID}.")
    own = next(lines for name, lines in people.items() if name.endswith("B"))
    others = [lines for name, lines in people.items() if not name.endswith("B")]
    captions = {str(k): text for k, text in enumerate(own[:CHANGED])}
    references = {item: [lines[int(item)] for lines in others] for item in captions}
    threads = len(os.sched_getaffinity(0))
    print(f"{len(captions)} captions of people, {len(others)} references each, {threads} threads")
    print(changes(captions, references).to_text(120), end="\n\n")
    print(strings(captions, references, read_lines(system)).to_text(120))


def changes(captions: Captions, references: References) -> Grid:
    """Shares scored below the original, and the means before and after."""
    trials = {metric: try_changes(captions, references, metric) for metric in METRICS}
    rows = []
    for each in zip(*trials.values(), strict=True):
        learned = each[0]
        means = f"{learned.before:.2f} → {learned.after:.2f}"
        shares = [Cell(f"{trial.below:.2f}") for trial in each]
        rows.append([Cell(learned.name), Cell(str(learned.captions)), *shares, Cell(means)])
    return Grid(["scored below the original", "captions", *METRICS, "bertha's mean"], rows)


def strings(captions: Captions, references: References, systems: list[str]) -> Grid:
    """Mean scores of BERTHA for strings by rule."""
    items = list(captions)[:ODD]
    all_references = {item: references[item] for item in items}
    first = {item: references[item][:1] for item in items}
    copied = {item: references[item][0] for item in items}
    far = {item: str((int(item) + 50) % len(captions)) for item in items}
    rows: dict[str, tuple[Captions, References]] = {
        "a reference copied, against itself": (copied, first),
        "… with a word in the middle replaced by 'banana'": (
            {item: _spoilt(text) for item, text in copied.items()},
            first,
        ),
        "all references in one string": (
            {item: " ".join(references[item]) for item in items},
            all_references,
        ),
        "people's own captions": ({item: captions[item] for item in items}, all_references),
        "500 words: its own caption, then other videos'": (
            {item: _long(captions, int(item), own=True) for item in items},
            all_references,
        ),
        "500 words: other videos' captions": (
            {item: _long(captions, int(item), own=False) for item in items},
            all_references,
        ),
        "a person's caption of another video": (
            {item: captions[far[item]] for item in items},
            all_references,
        ),
        "a system's caption of another video": (
            {item: systems[int(far[item])] for item in items},
            all_references,
        ),
    }
    for text in ("a man is talking", "man man man man man man", "a a a a a a a a", ""):
        name = f"'{text}', for every video" if text else "no word at all (by rule)"
        rows[name] = (dict.fromkeys(items, text), all_references)
    numbers = [str(k) for k in range(3)]
    english = {k: pair[1] for k, pair in zip(numbers, GERMAN, strict=True)}
    german = {k: pair[0] for k, pair in zip(numbers, GERMAN, strict=True)}
    japanese = dict(zip(numbers, JAPANESE, strict=True))
    for name, texts, against in (
        ("German against the same in English", german, english),
        ("German against itself", german, german),
        ("German against other German", german, _turned(german)),
        ("Japanese against itself", japanese, japanese),
        ("Japanese against other Japanese", japanese, _turned(japanese)),
    ):
        rows[name] = (texts, {k: [text] for k, text in against.items()})
    return Grid(
        ["caption", "mean z", "least", "most"],
        [[Cell(name), *_scored(*each)] for name, each in rows.items()],
    )


def _scored(texts: Captions, references: References) -> list[Cell]:
    scores = score(texts, references, "bertha", empty="zero")["bertha"].items.array
    return [Cell(f"{value:.2f}") for value in (np.mean(scores), np.min(scores), np.max(scores))]


def _spoilt(text: str) -> str:
    words = text.split()
    words[len(words) // 2] = "banana"
    return " ".join(words)


def _long(captions: Captions, number: int, own: bool) -> str:
    texts = list(captions.values())
    following = [texts[(number + k) % len(texts)] for k in range(0 if own else 1, 80)]
    return " ".join(" ".join(following).split()[:500])


def _turned(texts: Captions) -> Captions:
    """Each text gives way to the next."""
    values = list(texts.values())
    return dict(zip(texts, values[1:] + values[:1], strict=True))


if __name__ == "__main__":
    main()
