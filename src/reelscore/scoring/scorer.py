"""Scoring inside a training loop: references once, candidates as they come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reelscore.data.caption_files import Candidates, References
from reelscore.data.checks import first_few
from reelscore.data.paired_captions import Empty, Missing, lone_candidates, lone_references
from reelscore.data.table import ItemIndex
from reelscore.errors import DataError
from reelscore.metrics.base import FloatArray
from reelscore.metrics.registry import DEFAULT_METRICS, resolve
from reelscore.scoring.captions import Metrics
from reelscore.scoring.languages import language_notes
from reelscore.scoring.prepared import PreparedReferences
from reelscore.scoring.scores import Scores
from reelscore.text.tokens import Tokenizer


class Scorer:
    """References prepared once, candidates taken as they come: for a training loop.

    Document frequencies (CIDEr) are those of all references given here, whichever items are
    scored later.

    >>> scorer = Scorer({"v1": ["a man is running"], "v2": ["a dog sleeps"]}, "rouge_l")
    >>> scorer.update({"v1": "a man runs"})
    >>> scorer.update({"v2": "a dog sleeps"})
    >>> round(scorer.compute()["rouge_l"].score, 3)
    0.779
    """

    def __init__(
        self,
        references: References,
        metrics: Metrics = DEFAULT_METRICS,
        *,
        tokenizer: Tokenizer = "ptb",
        missing: Missing = "error",
        empty: Empty = "error",
        threads: int | None = None,
    ) -> None:
        self._missing: Missing = missing
        self._empty: Empty = empty
        self._tokenized = tokenizer == "none"
        chosen = resolve(metrics)
        dependent = [metric.name for metric in chosen if not metric.independent]
        if dependent:
            raise DataError(
                f"{dependent[0]} depends on all captions together and cannot be accumulated; "
                "use reelscore.score."
            )
        if tokenizer == "ptb-coco":
            raise DataError(
                "With ptb-coco a caption's tokens depend on the caption after it, so captions "
                "cannot come in batches; use reelscore.score, or the tokenizer ptb."
            )
        paired = lone_references(references, empty=empty, tokenized=self._tokenized)
        self._prepared = PreparedReferences(paired, chosen, tokenizer, threads, missing, empty)
        languages = language_notes(chosen, {"references": paired.references})
        self._notes = [*languages, *self._prepared.warnings()]
        self.reset()

    def reset(self) -> None:
        """Forget all candidates; the references stay prepared."""
        self._state = ScorerState()

    def update(self, candidates: Candidates) -> None:
        """Take the captions of some items; each item may come once.

        Raises:
            DataError: If an item is unknown or was given before; nothing is taken then.
        """
        paired = lone_candidates(candidates, empty=self._empty, tokenized=self._tokenized)
        position = self._prepared.index.position
        unknown = [item for item in paired.items if item not in position]
        if unknown and self._missing != "skip":
            raise DataError(
                f"{len(unknown)} candidates have no references ({first_few(unknown)}). "
                'Remove them or pass missing="skip".'
            )
        kept = [
            (position[i], c)
            for i, c in zip(paired.items, paired.candidates, strict=True)
            if i in position
        ]
        if not kept:
            return
        numbers = np.array([number for number, _ in kept], dtype=np.int64)
        rows = self._prepared.measure([caption for _, caption in kept], numbers)
        self.merge(ScorerState(numbers, rows, self._prepared.origin))

    def state(self) -> ScorerState:
        """Everything taken so far, to be sent to another process (it can be pickled)."""
        return self._state

    def merge(self, *states: ScorerState) -> None:
        """Add what scorers with the same references and metrics have accumulated elsewhere.

        >>> references = {"v1": ["a man is running"], "v2": ["a dog sleeps"]}
        >>> here, there = Scorer(references, "rouge_l"), Scorer(references, "rouge_l")
        >>> here.update({"v1": "a man runs"})
        >>> there.update({"v2": "a dog sleeps"})
        >>> here.merge(there.state())
        >>> len(here.compute()["rouge_l"].items)
        2
        """
        if any(state.origin not in ("", self._prepared.origin) for state in states):
            raise DataError(
                "A state comes from a scorer with other references, metrics or settings; "
                "only scorers with the same settings can be merged."
            )
        joined = ScorerState.join([self._state, *states])
        numbers, counts = np.unique(joined.items, return_counts=True)
        if (counts > 1).any():
            twice = [self._prepared.index.items[k] for k in numbers[counts > 1]]
            raise DataError(
                f"{len(twice)} items were given twice ({first_few(twice)}). "
                "Give each once, or call reset() between two evaluations."
            )
        self._state = joined

    def compute(self) -> Scores:
        """Score what was taken so far; items not yet given follow the ``missing`` policy."""
        state = self._state
        absent = np.setdiff1d(np.arange(len(self._prepared.index.items)), state.items)
        if len(absent) and self._missing == "error":
            names = [self._prepared.index.items[k] for k in absent[:3]]
            raise DataError(
                f"{len(absent)} items have no candidate ({first_few(names)}). "
                'Give them to update() or pass missing="zero" or missing="skip".'
            )
        if len(absent) and self._missing == "zero":
            rows = self._prepared.measure([""] * len(absent), absent)
            state = ScorerState.join([state, ScorerState(absent, rows, state.origin)])
        if not len(state.items):
            raise DataError("There is nothing to score: give captions to update() first.")
        order = np.argsort(state.items)
        index = ItemIndex([self._prepared.index.items[k] for k in state.items[order]])
        return self._prepared.scores(
            [rows[order] for rows in state.statistics], index=index, notes=self._notes
        )


@dataclass(frozen=True)
class ScorerState:
    """Statistics gathered by a `Scorer`: plain arrays.

    Attributes:
        items: Numbers of the items.
        statistics: For each metric, a row for each item.
        origin: The signatures of the scorer's metrics, which tell whether two states fit together.
    """

    items: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    statistics: Sequence[FloatArray] = ()
    origin: str = ""

    @classmethod
    def join(cls, states: Sequence[ScorerState]) -> ScorerState:
        """Put several states together."""
        filled = [state for state in states if len(state.items)]
        if not filled:
            return cls()
        columns = zip(*(state.statistics for state in filled), strict=True)
        return cls(
            np.concatenate([state.items for state in filled]),
            [np.concatenate(rows) for rows in columns],
            filled[0].origin,
        )
