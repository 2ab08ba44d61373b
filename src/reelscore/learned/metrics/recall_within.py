"""R@k/N: is a description nearest to the truth of its own moment (Han et al., 2023: AutoAD II)?

Scale 0–1, higher is better. Audio descriptions of a film come one after the other, and each has
many wordings; so a description is compared with the N references around its own, by any score of a
caption beside a reference, and counts if its own is among the k that it is nearest to. Windows of N
references begin at every N/2, and an incomplete last one is left out; the score is the mean over
windows. Films shorter than N have no window, and their descriptions no score.

References are in the order of their file. A film is what ids have before the last ``/`` or ``#``,
or before a number or times at their end: ``film_0001``, ``film/12``, ``film_00.05.16-00.05.21``.

Of references that are equally near, one's own comes last, so that a score that tells nothing apart
gains nothing; references with the same words as one's own are the same. The papers take BERTScore
with RoBERTa, here it is ``sts`` by default: compare numbers by the same similarity alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from reelscore.data.tables.scales import Scale
from reelscore.errors import DataError, check_choice
from reelscore.metrics.base import FloatArray, Metric, Reads, check_range
from reelscore.metrics.registry import parse_signature
from reelscore.stories.protocol import Protocol
from reelscore.stories.sentence_scores import SentenceScore, TextPool, sentence_metric
from reelscore.text.words import CaptionBatch, Captions

Films = Literal["ids", "one"]
IntArray = NDArray[np.int64]
_NUMBERED = re.compile(r"(.+)[_ ][\d.,:\-–]+")


class _Prepared(NamedTuple):
    """The similarity, and the references of all items."""

    f: SentenceScore
    references: list[str]


@dataclass(frozen=True)
class RecallWithin(Metric):
    """R@k/N by any similarity.

    Attributes:
        f: The score of a caption beside a reference; parameters come behind ``/``, such as
            ``bleu/n:1``.
        n: How many references are in a window.
        k: How many of these may be as near; several with ``/``.
        films: Whether ``ids`` tell films apart, or all items are of ``one``.

    >>> from reelscore import score
    >>> truth = {"v1": "a man sits down", "v2": "a dog barks", "v3": "rain falls", "v4": "he runs"}
    >>> ours = {**truth, "v2": "rain falls"}
    >>> nearest = RecallWithin("meteor", n=4, k="1/2")
    >>> scores = score(ours, {item: [text] for item, text in truth.items()}, nearest)
    >>> scores["recall_1_within_4"].score, scores["recall_2_within_4"].items["v2"]
    (0.75, 0.0)
    """

    f: str = "sts"
    n: int = 16
    k: str = "1/5"
    films: Films = "ids"
    name: ClassVar[str] = "recall_within"
    output_scale: ClassVar[Scale] = Scale("high", 0, 1, mean=False, percent=True)
    slow: ClassVar[bool] = True
    reads: ClassVar[Reads] = "any"

    def __post_init__(self) -> None:
        check_range(self, "n", 2, 1000)
        check_choice("films of recall_within", self.films, get_args(Films))
        if not all(part.isdecimal() and 0 < int(part) <= self.n for part in self.k.split("/")):
            raise DataError(
                f"recall_within: k is {self.k!r}; expected whole numbers from 1 to {self.n}, such "
                "as 1/5."
            )
        sentence_metric(self._similarity)

    @property
    def _similarity(self) -> str:
        return self.f.replace("/", "|")

    @property
    def outputs(self) -> tuple[str, ...]:
        """A share for each k."""
        return tuple(f"recall_{k}_within_{self.n}" for k in self.k.split("/"))

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """Named as papers do: R@5/16."""
        labels = (f"R@{k}/{self.n}" for k in self.k.split("/"))
        return tuple(replace(self.output_scale, label=label) for label in labels)

    @property
    def compares(self) -> bool:
        """One reference alone says nothing."""
        return False

    @property
    def weighs_all_references(self) -> bool:
        """Those around a caption's own count."""
        return True

    @property
    def one_process(self) -> bool:
        """As its similarity."""
        return parse_signature(self._similarity).one_process

    def prepare(self, references: Captions, reference_offsets: IntArray) -> _Prepared:
        """Prepare the similarity, which may weigh all references."""
        texts = references.original.unpack()
        return _Prepared(SentenceScore(Protocol(f=self._similarity), texts), texts)

    def statistics(self, batch: CaptionBatch, prepared: _Prepared) -> FloatArray:
        """Return in how many of its windows a caption is nearest, for each k, and in how many."""
        offsets, items = batch.reference_offsets, batch.items
        windows = list(self._windows(batch.ids, len(offsets) - 1))
        if not windows:
            raise DataError(
                f"recall_within: no film has {self.n} items; take smaller windows: "
                f"recall_within|n:{max(2, (len(offsets) - 1) // 2)}, or films:one."
            )
        around: list[list[IntArray]] = [[] for _ in range(len(offsets) - 1)]
        for window in windows:
            for item in window:
                around[item].append(window)
        pool = TextPool()
        theirs = pool.add(prepared.f.texts(prepared.references))
        ours = pool.add(prepared.f.texts(batch.candidates.original.unpack()))
        pairs: list[tuple[int, IntArray]] = []  # a caption, and the references near it
        for caption, item in enumerate(items.tolist()):
            near = np.unique(np.concatenate([[], *around[item]])).astype(np.int64)
            spans = [np.arange(offsets[other], offsets[other + 1]) for other in near]
            pairs.append((caption, np.concatenate(spans) if spans else near))
        f = prepared.f.of_pairs(
            prepared.f.statistics(pool),
            np.concatenate([np.full(len(near), ours[caption]) for caption, near in pairs]),
            theirs[np.concatenate([near for _, near in pairs])],
        )
        ends = np.cumsum([len(near) for _, near in pairs])
        owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        rows = []
        for (caption, near), end in zip(pairs, ends.tolist(), strict=True):
            item = int(items[caption])
            values = f[end - len(near) : end]
            rows.append(self._row(item, near, owner[near], values, theirs, around[item]))
        return np.array(rows)

    def scores(self, totals: FloatArray) -> FloatArray:
        """Return shares; NaN for items that are in no window."""
        with np.errstate(invalid="ignore"):
            return totals[..., :-1] / totals[..., -1:]

    def _windows(self, ids: Sequence[str], count: int) -> Iterator[IntArray]:
        films: dict[str, list[int]] = {}
        for item in range(count):
            film = film_of(ids[item]) if self.films == "ids" and ids else ""
            films.setdefault(film, []).append(item)
        for items in films.values():
            for begin in range(0, len(items) - self.n + 1, self.n // 2):
                yield np.array(items[begin : begin + self.n])

    def _row(
        self,
        item: int,
        near: IntArray,
        owners: IntArray,
        values: FloatArray,
        texts: IntArray,
        windows: Sequence[IntArray],
    ) -> list[float]:
        """Count the windows in which an item's own references are among the nearest.

        Args:
            item: The item.
            near: The references of all its windows.
            owners: The item of each of these.
            values: How near the caption is to each.
            texts: The numbers of all references' texts; equal ones have one number.
            windows: The items of each window.
        """
        hits = [0.0] * len(self.outputs)
        own = values[owners == item].max(initial=0.0)
        others = (owners != item) & ~np.isin(texts[near], texts[near[owners == item]])
        for window in windows:
            nearer = others & np.isin(owners, window) & (values >= own)
            before = len(set(owners[nearer].tolist()))
            for place, k in enumerate(self.k.split("/")):
                hits[place] += before < int(k)
        return [*hits, float(len(windows))]


def film_of(item: str) -> str:
    """Return the film that an item's id names.

    >>> [film_of(item) for item in ("up/3", "0003_UP_00.03.04-00.03.07", "up 2_0012", "v7")]
    ['up', '0003_UP', 'up 2', '']
    """
    for mark in "/#":
        if mark in item:
            return item.rpartition(mark)[0]
    numbered = _NUMBERED.fullmatch(item)
    return numbered[1] if numbered else ""
