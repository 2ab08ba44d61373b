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

from reelscore.data.tables.scales import Scale
from reelscore.errors import DataError, check_choice
from reelscore.metrics.base import FloatArray, Metric, Reads, check_range
from reelscore.metrics.registry import parse_signature
from reelscore.metrics.sentences import IntArray
from reelscore.stories.protocol import Protocol
from reelscore.stories.sentence_scores import SentenceScore, TextPool, sentence_metric
from reelscore.text.words import CaptionBatch, Captions

Films = Literal["ids", "one"]
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

    def signature(self, **context: object) -> str:
        """As of every metric; with the weights of the similarity, and the text as that reads it."""
        if context:
            spelled = parse_signature(self._similarity).signature(tok="ptb").split("|")
            parts = dict(part.split(":", 1) for part in spelled[1:])
            own: dict[str, object] = {
                key: parts[key] for key in ("revision", "tok") if key in parts
            }
            context = {**own, **context, **own}
        return super().signature(**context)

    def prepare(self, references: Captions, reference_offsets: IntArray) -> _Prepared:
        """Prepare the similarity, which may weigh all references."""
        texts = references.original.unpack()
        return _Prepared(SentenceScore(Protocol(f=self._similarity), texts), texts)

    def statistics(self, batch: CaptionBatch, prepared: _Prepared) -> FloatArray:
        """Return in how many of its windows a caption is nearest, for each k, and in how many."""
        offsets, count = batch.reference_offsets, len(batch.reference_offsets) - 1
        windows = list(self._windows(batch.ids, count))
        if not windows:
            raise DataError(
                f"recall_within: no film has {self.n} items; take smaller windows: "
                f"recall_within|n:{max(2, count // 2)}, or films:one."
            )
        around: dict[int, list[IntArray]] = {}  # by item the references of its windows
        for window in windows:
            there = np.concatenate([np.arange(*offsets[item : item + 2]) for item in window])
            for item in window:
                around.setdefault(item, []).append(there)
        captions = [
            (caption, item, there)
            for caption, item in enumerate(batch.items.tolist())
            for there in around.get(item, ())
        ]
        f, pool = prepared.f, TextPool()
        theirs = pool.add(f.texts(prepared.references))
        ours = pool.add(f.texts(batch.candidates.original.unpack()))
        sizes = [len(there) for *_, there in captions]
        values = f.of_pairs(
            f.statistics(pool),
            np.repeat(ours[[caption for caption, *_ in captions]], sizes),
            np.concatenate([theirs[there] for *_, there in captions]),
        )
        owner = np.repeat(np.arange(count), np.diff(offsets))
        rows = np.zeros((batch.candidates.size, len(self.outputs) + 1))
        near = [int(k) for k in self.k.split("/")]
        for (caption, item, there), of_window in zip(
            captions, np.split(values, np.cumsum(sizes)[:-1]), strict=True
        ):
            own = owner[there] == item
            same = np.isin(theirs[there], theirs[there][own])  # words as its own
            nearer = ~own & ~same & (of_window >= of_window[own].max())
            before = len(set(owner[there][nearer].tolist()))
            rows[caption] += [*(before < k for k in near), 1.0]
        return rows

    def _windows(self, ids: Sequence[str], count: int) -> Iterator[list[int]]:
        films: dict[str, list[int]] = {}
        for item in range(count):
            film = film_of(ids[item]) if self.films == "ids" and ids else ""
            films.setdefault(film, []).append(item)
        for items in films.values():
            for begin in range(0, len(items) - self.n + 1, self.n // 2):
                yield items[begin : begin + self.n]


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
