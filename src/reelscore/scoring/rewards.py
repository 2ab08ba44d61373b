"""Rewards for training: one number for each sampled caption."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore.data.captions.inputs import references_by_item
from reelscore.data.captions.paired_captions import lone_references
from reelscore.data.captions.python_captions import CaptionsLike, caption_rows
from reelscore.data.checks import first_few
from reelscore.errors import DataError
from reelscore.metrics.base import FloatArray, Metric
from reelscore.metrics.registry import parse_score, table_columns
from reelscore.scoring.prepared import PreparedReferences
from reelscore.scoring.scorer import Id
from reelscore.text.tokens import Tokenizer


class Part(NamedTuple):
    """One score of a mixed reward."""

    name: str  # what it was called when the reward was made
    metric: int  # the place of its metric
    output: int  # the place of the score among the metric's
    weight: float  # what it is multiplied by


class Reward:
    """Scores of sampled captions, for self-critical training and other policy gradients.

    References are prepared once. A call takes any number of captions of any items, in any order,
    and returns a number for each: the score that `reelscore.score` gives the item, for these
    references. (Of learned metrics up to rounding, since their networks round by batch.) A caption
    without a word has the score of an empty caption. A reward can be pickled, and called from
    several threads.

    Args:
        metrics: A metric, or several with the weights of their sum. A metric with several scores
            is named by one of these, such as ``bleu_4``.
        references: The human captions of each item, in any form of `reelscore.score` that has ids.
            CIDEr takes its document frequencies from
            all of them.
        tokenizer: ``ptb``, or ``none`` for captions that are tokenized already.
        threads: How many threads to use; ``None`` for all cores. Never changes a number.

    >>> references = {"v1": ["a man rides a horse"], "v2": ["a dog sleeps", "the dog is asleep"]}
    >>> reward = Reward("cider|variant:d", references)
    >>> reward(["v2", "v1", "v1"], ["a dog sleeps", "a man rides", "a dog"]).round(3).tolist()
    [4.186, 4.969, 0.0]
    >>> mixed = Reward({"cider|variant:d": 1.0, "bleu4": 0.5}, references)
    >>> mixed(["v1", "v2"], ["a man rides a horse", "a cat"]).round(3).tolist()
    [10.5, 0.0]
    """

    def __init__(
        self,
        metrics: str | Metric | Mapping[str, float] | Mapping[Metric, float],
        references: CaptionsLike,
        *,
        tokenizer: Tokenizer = "ptb",
        threads: int | None = None,
    ) -> None:
        weights: list[tuple[str | Metric, float]]
        weights = [*metrics.items()] if isinstance(metrics, Mapping) else [(metrics, 1.0)]
        if any(isinstance(weight, (list, tuple)) for _, weight in weights):
            raise DataError(
                "The metrics seem to be the references; give the metric first: "
                'Reward("cider", references).'
            )
        if not weights:
            raise DataError("No metric given. See 'reelscore metrics' for the list.")
        if tokenizer == "ptb-coco":
            raise DataError(
                "With ptb-coco a caption's tokens depend on the caption after it, and so would "
                "its reward; use the tokenizer ptb."
            )
        chosen: list[Metric] = []
        parts = []
        for name, weight in weights:
            metric, output = _named_score(name)
            if metric not in chosen:
                chosen.append(metric)
            text = name if isinstance(name, str) else name.signature()
            parts.append(Part(text, chosen.index(metric), output, _checked_weight(text, weight)))
        paired = lone_references(
            references_by_item(references), empty="zero", tokenized=tokenizer == "none"
        )
        self._parts = parts
        self._prepared = PreparedReferences(
            paired, table_columns(chosen), tokenizer, threads, "skip", "zero"
        )

    def __repr__(self) -> str:
        weights = {part.name: part.weight for part in self._parts}
        return f"<Reward {weights}, {len(self._prepared.index.items):,} items>"

    @property
    def notes(self) -> list[str]:
        """Warnings: of learned metrics that were trained on these items."""
        return self._prepared.warnings()

    def __call__(
        self, ids: CaptionsLike | Iterable[Id], captions: Iterable[str] | None = None
    ) -> FloatArray:
        """Return the reward of each caption.

        Args:
            ids: The item of each caption, a list, an array or a tensor; an item may come often.
                Or the captions in any form of `reelscore.score` that has ids.
            captions: As many captions.

        Raises:
            DataError: If an item is unknown, or the lengths differ.
        """
        scores = self.parts(ids, captions)
        total = np.zeros(len(scores[self._parts[0].name]))
        for part in self._parts:
            total += part.weight * scores[part.name]
        return total

    def parts(
        self, ids: CaptionsLike | Iterable[Id], captions: Iterable[str] | None = None
    ) -> dict[str, FloatArray]:
        """Return the scores that a mixed reward consists of, before they are weighted.

        >>> reward = Reward({"rouge_l": 1, "bleu_1": 2}, {"v1": ["a man runs"]})
        >>> {name: scores.round(3) for name, scores in reward.parts(["v1"], ["a man runs"]).items()}
        {'rouge_l': array([1.]), 'bleu_1': array([1.])}
        """
        items, texts = caption_rows(ids, captions)
        numbers = self._numbers(items)
        if not texts:
            return {part.name: np.zeros(0) for part in self._parts}
        measured = self._prepared.measure(texts, numbers)
        scores = [
            metric.scores(rows)
            for metric, rows in zip(self._prepared.metrics, measured, strict=True)
        ]
        return {
            # a part of SPICE that a caption does not have is worth nothing
            part.name: np.nan_to_num(scores[part.metric][:, part.output], nan=0.0)
            for part in self._parts
        }

    def _numbers(self, items: list[str]) -> NDArray[np.int64]:
        """Return the number of each caption's item."""
        position = self._prepared.index.position
        unknown = [item for item in items if item not in position]
        if unknown:
            raise DataError(
                f"{len(unknown)} captions are of items without references "
                f"({first_few(unknown)}); a reward needs the references of every item."
            )
        return np.array([position[item] for item in items], dtype=np.int64)


def _checked_weight(name: str, weight: object) -> float:
    if isinstance(weight, (int, float)) and math.isfinite(weight):
        return float(weight)
    raise DataError(f"The weight of {name!r} is {weight!r}; expected a number.")


def _named_score(name: str | Metric) -> tuple[Metric, int]:
    """Find the metric and the score that a name means: ``cider|n:3``, ``bleu_4``, ``BLEU-4``."""
    metric, wanted = (name, "") if isinstance(name, Metric) else parse_score(name)
    if not metric.independent or not metric.needs_references:
        raise DataError(
            f"{metric.name} is no score of one caption against its references, "
            "and so there is no reward by it."
        )
    wanted = wanted or metric.name
    if wanted not in metric.outputs:
        raise DataError(
            f"{metric.name} gives several scores; name one of them as the reward: "
            f"{', '.join(metric.outputs)}."
        )
    return metric, metric.outputs.index(wanted)
