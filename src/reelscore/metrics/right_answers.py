"""Right answers: captions that are answers to a question, and are right or wrong.

Scale 0–1, but for the median rank. Three tasks of the LSMDC challenges, each with its scores:

- ``exact``: ``accuracy``, the share of answers equal to a reference. Multiple choice (the number of
  the sentence) and fill-in-the-blank (the missing word); case and punctuation do not count.
- ``ranking``: an answer is a list of clips, best first, the reference is the right one.
  ``recall_1``, ``recall_5`` and ``recall_10`` are the shares of items whose clip is among the first
  ones, ``median_rank`` is the median of its places (low is better). Movie retrieval.
- ``identities``: an answer names who fills each blank of a set of clips, with labels of any kind;
  of each pair of blanks only counts whether it is the same person, as in the reference.
  ``instance_accuracy`` is the mean over sets of the share of pairs that are right,
  ``same_accuracy`` and ``different_accuracy`` that over pairs of one person and of two, where a set
  has such pairs, ``class_accuracy`` their harmonic mean. Fill-in of characters, as
  jamespark3922/lsmdc-fillin scores it: equal to its published result (tests/studies).

`reelscore_studies.movie_tasks` makes answers of the challenges' own files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from msgspec.structs import replace

from reelscore.data.tables.scales import Scale
from reelscore.errors import check_choice
from reelscore.metrics.base import FloatArray, Metric, Reads, check_range, with_count
from reelscore.text.words import CaptionBatch

Task = Literal["exact", "ranking", "identities"]
_SHARE = Scale("high", 0, 1, mean=True, headline=True, percent=True)
_OUTPUTS = {
    "exact": {"accuracy": replace(_SHARE, label="Accuracy")},
    "ranking": {
        **{f"recall_{k}": replace(_SHARE, label=f"R@{k}") for k in (1, 5, 10)},
        "median_rank": Scale("low", 1, mean=False, label="MedR"),
    },
    "identities": {
        "instance_accuracy": replace(_SHARE, label="Instance"),
        "same_accuracy": replace(_SHARE, mean=False, label="Same"),
        "different_accuracy": replace(_SHARE, mean=False, label="Diff"),
        "class_accuracy": replace(_SHARE, mean=False, label="Class"),
    },
}


@dataclass(frozen=True)
class RightAnswers(Metric):
    """How many answers are right.

    Attributes:
        task: What an answer is: ``exact``, ``ranking`` or ``identities``.
        clips: Of rankings, how many clips there are to choose from; a right one that is not in the
            list has the last place.

    >>> from reelscore import score
    >>> chosen = score({"q1": "2", "q2": "4"}, {"q1": ["2"], "q2": ["5"]}, [RightAnswers()])
    >>> chosen["accuracy"].score
    0.5
    >>> ranked = score({"q1": "a c b"}, {"q1": ["c"]}, [RightAnswers("ranking", clips=3)])
    >>> ranked["recall_1"].score, ranked["recall_5"].score, ranked["median_rank"].score
    (0.0, 1.0, 2.0)
    >>> people = score({"s1": "0 0 1"}, {"s1": ["ann ann bob"]}, [RightAnswers("identities")])
    >>> people["instance_accuracy"].score
    1.0
    """

    task: Task = "exact"
    clips: int = 1000
    name: ClassVar[str] = "right_answers"
    reads: ClassVar[Reads] = "answers"

    def __post_init__(self) -> None:
        check_choice("task of right_answers", self.task, get_args(Task))
        check_range(self, "clips", 1, 100_000)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The scores of the task."""
        return tuple(_OUTPUTS[self.task])

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """Shares, and places."""
        return tuple(_OUTPUTS[self.task].values())

    def statistics(self, batch: CaptionBatch, prepared: Any) -> FloatArray:
        """Whether it is right, and 1; or how often each place; or sums and counts over pairs."""
        if self.task == "exact":
            tokens = batch.candidates.text.unpack(), batch.references.text.unpack()
            right = [float(answer in wanted) for answer, wanted in _pairs(batch, *tokens)]
            return with_count(np.array(right))
        written = batch.candidates.original.unpack(), batch.references.original.unpack()
        if self.task == "identities":
            people = [_identities(answer, wanted[0]) for answer, wanted in _pairs(batch, *written)]
            return np.array(people).reshape(-1, 6)
        rows = np.zeros((batch.candidates.size, self.clips))
        for row, (answer, wanted) in zip(rows, _pairs(batch, *written), strict=True):
            listed = answer.split()
            places = [listed.index(clip) for clip in wanted if clip in listed]
            row[min([*places, self.clips - 1])] = 1.0
        return rows

    def scores(self, totals: FloatArray) -> FloatArray:
        """Means; of places also the median."""
        if self.task == "exact":
            means: FloatArray = super().scores(totals)
            return means
        if self.task == "identities":
            sums, counts = totals[..., ::2], totals[..., 1::2]
            means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
            same, different = means[..., 1:2], means[..., 2:3]
            both = same + different
            harmonic = 2 * same * different / np.where(both > 0, both, 1.0)
            return np.concatenate([means, harmonic], axis=-1)
        counts = np.cumsum(totals, axis=-1)
        count = counts[..., -1:]
        first = [counts[..., min(k, self.clips) - 1, None] / count for k in (1, 5, 10)]
        # the places of the two entries in the middle, which is one where their number is odd
        middle = [(counts < np.floor(half)).sum(-1, keepdims=True) + 1 for half in
                  ((count + 1) / 2, count / 2 + 1)]  # fmt: skip
        return np.concatenate([*first, (middle[0] + middle[1]) / 2], axis=-1)


def _pairs(
    batch: CaptionBatch, answers: list[str], references: list[str]
) -> Iterator[tuple[str, list[str]]]:
    """Yield each answer with the references of its item."""
    offsets = batch.reference_offsets
    for answer, item in zip(answers, batch.items.tolist(), strict=True):
        yield answer, references[offsets[item] : offsets[item + 1]]


def _identities(answer: str, wanted: str) -> list[float]:
    """Return sum and count of the shares right: of all pairs, of one person's, of two people's.

    A blank without an answer is wrong in all its pairs.

    >>> _identities("0 1 0", "ann ann bob")
    [0.3333333333333333, 1.0, 0.0, 1.0, 0.5, 1.0]
    """
    true, told = np.array(wanted.split()), np.array(answer.split())
    told = np.concatenate([told[: len(true)], np.full(max(0, len(true) - len(told)), "")])
    one, other = np.triu_indices(len(true), 1)
    same = true[one] == true[other]
    there = (told[one] != "") & (told[other] != "")
    right = there & (same == (told[one] == told[other]))
    row: list[float] = []
    for pairs in (np.full(len(same), True), same, ~same):
        row += [float(right[pairs].mean()), 1.0] if pairs.any() else [0.0, 0.0]
    return row
