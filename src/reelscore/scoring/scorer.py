"""Scoring inside a training loop: references once, candidates as they come."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, SupportsIndex, get_args

import numpy as np
from numpy.typing import NDArray

from reelscore.data.captions.inputs import references_by_item
from reelscore.data.captions.languages import language_notes
from reelscore.data.captions.paired_captions import Empty, Missing, lone_candidates, lone_references
from reelscore.data.captions.python_captions import CaptionsLike, caption_rows
from reelscore.data.checks import first_few
from reelscore.data.lint.defects import reference_notes
from reelscore.data.tables.table import ItemIndex
from reelscore.errors import DataError, check_choice
from reelscore.metrics.base import FloatArray
from reelscore.metrics.registry import DEFAULT_METRICS, table_columns
from reelscore.scoring.captions import Metrics
from reelscore.scoring.prepared import PreparedReferences
from reelscore.scoring.scores import Scores
from reelscore.text.tokens import Tokenizer, divides_words

Id = str | SupportsIndex
Repeated = Literal["equal", "first"]


class Scorer:
    """References prepared once, candidates taken as they come: for a training loop.

    Document frequencies (CIDEr) are those of all references given here, whichever items are
    scored later. A scorer can be pickled, with all that it has taken.

    Args:
        references: The human captions of each item, in any form of `reelscore.score` that has ids.
        metrics: As in `reelscore.score`.
        tokenizer: As in `reelscore.score`, but not ``ptb-coco``.
        missing, empty: As in `reelscore.score`.
        repeated: An item may come twice, since samplers fill their last batch with items of the
            first. With ``equal`` it must have the same caption, and counts once; with ``first``
            another caption is left out.
        threads: As in `reelscore.score`.

    >>> scorer = Scorer({"v1": ["a man is running"], "v2": ["a dog sleeps"]}, "rouge_l")
    >>> scorer.update({"v1": "a man runs"})
    >>> scorer.update({"v2": "a dog sleeps"})
    >>> round(scorer.compute()["rouge_l"].score, 3)
    0.779
    """

    def __init__(
        self,
        references: CaptionsLike,
        metrics: Metrics = DEFAULT_METRICS,
        *,
        tokenizer: Tokenizer = "ptb",
        missing: Missing = "error",
        empty: Empty = "error",
        repeated: Repeated = "equal",
        threads: int | None = None,
    ) -> None:
        check_choice("policy repeated=", repeated, get_args(Repeated))
        self._repeated: Repeated = repeated
        self._missing: Missing = missing
        self._empty: Empty = empty
        self._tokenized = tokenizer == "none"
        columns = table_columns(metrics)
        chosen = [each.metric for each in columns]
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
        paired = lone_references(
            references_by_item(references), empty=empty, tokenized=self._tokenized
        )
        self._prepared = PreparedReferences(paired, columns, tokenizer, threads, missing, empty)
        languages = language_notes(
            chosen, {"references": paired.references}, divided=divides_words(tokenizer)
        )
        self._notes = [*languages, *self._prepared.warnings()]
        if any(metric.reads != "answers" for metric in chosen):
            self._notes += reference_notes(paired.references, len(paired.items))
        self.reset()

    def reset(self) -> None:
        """Forget all candidates; the references stay prepared."""
        self._state = ScorerState()

    def update(
        self, ids: CaptionsLike | Iterable[Id], captions: Iterable[str] | None = None
    ) -> None:
        """Take the captions of some items.

        Args:
            ids: The captions, in any form of `reelscore.score` that has ids; or the ids alone, a
                list, an array or a tensor.
            captions: The caption of each id, where these are given alone.

        Raises:
            DataError: If an item is unknown, or has another caption than before and the policy
                is ``equal``; nothing is taken then.

        >>> scorer = Scorer({"7": ["a man is running"], "8": ["a dog sleeps"]}, "rouge_l")
        >>> scorer.update([7, 8, 7], ["a man runs", "a dog", "a man runs"])  # 7 fills the batch
        >>> len(scorer.compute()["rouge_l"].items)
        2
        """
        candidates = self._by_item(ids, captions)
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
        texts = [caption for _, caption in kept]
        rows = self._prepared.measure(texts, numbers)
        fingerprints = np.array([fingerprint(text) for text in texts], dtype=np.int64)
        self.merge(ScorerState(numbers, rows, self._prepared.origin, fingerprints))

    def _by_item(self, ids: object, captions: Iterable[str] | None) -> dict[str, str]:
        """Return the captions as a mapping; what is there twice goes by the policy."""
        items, texts = caption_rows(ids, captions)
        candidates: dict[str, str] = {}
        changed: dict[str, None] = {}
        for item, text in zip(items, texts, strict=True):
            if candidates.setdefault(item, text) != text:
                changed[item] = None
        if changed and self._repeated == "equal":
            raise _other_captions(list(changed))
        return candidates

    @property
    def origin(self) -> str:
        """References, metrics and settings in one text: the same for scorers that can be merged."""
        return self._prepared.origin

    @cached_property
    def widths(self) -> list[int]:
        """How many numbers each metric's statistics of an item have."""
        rows = self._prepared.measure([""], np.zeros(1, dtype=np.int64))
        return [part.shape[1] for part in rows]

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
        order = np.argsort(joined.items, kind="stable")
        items, texts = joined.items[order], joined.captions[order]
        again = np.concatenate([[False], items[1:] == items[:-1]])[: len(items)]
        if again.any():
            changed = again[1:] & (texts[1:] != texts[:-1])
            if changed.any() and self._repeated == "equal":
                numbers = np.unique(items[1:][changed])
                raise _other_captions([self._prepared.index.items[k] for k in numbers])
            joined = joined.take(np.sort(order[~again]))
        self._state = joined

    def compute(self, missing: Missing | None = None) -> Scores:
        """Score what was taken so far.

        Args:
            missing: The policy for items that were not given; by default the scorer's.

        >>> scorer = Scorer({"v1": ["a man runs"], "v2": ["a dog"]}, "rouge_l")
        >>> scorer.update(["v1"], ["a man runs"])
        >>> scorer.compute(missing="skip")["rouge_l"].score
        1.0
        """
        missing = missing or self._missing
        state = self._state
        absent = np.setdiff1d(np.arange(len(self._prepared.index.items)), state.items)
        if len(absent) and missing == "error":
            names = [self._prepared.index.items[k] for k in absent[:3]]
            raise DataError(
                f"{len(absent)} items have no candidate ({first_few(names)}). "
                'Give them to update() or pass missing="zero" or missing="skip".'
            )
        if len(absent) and missing == "zero":
            rows = self._prepared.measure([""] * len(absent), absent)
            zeros = np.zeros(len(absent), dtype=np.int64)
            state = ScorerState.join([state, ScorerState(absent, rows, state.origin, zeros)])
        if not len(state.items):
            raise DataError("There is nothing to score: give captions to update() first.")
        order = np.argsort(state.items)
        index = ItemIndex([self._prepared.index.items[k] for k in state.items[order]])
        statistics = [rows[order] for rows in state.statistics]
        return self._prepared.scores(statistics, index=index, notes=self._notes, missing=missing)


@dataclass(frozen=True)
class ScorerState:
    """Statistics gathered by a `Scorer`: plain arrays."""

    # numbers of the items
    items: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    statistics: Sequence[FloatArray] = ()  # for each metric, a row for each item
    # the signatures of the scorer's metrics, which tell whether two states fit together
    origin: str = ""
    # a fingerprint of each item's caption, which tells whether two are the same
    captions: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

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
            np.concatenate([state.captions for state in filled]),
        )

    def take(self, places: NDArray[np.int64]) -> ScorerState:
        """Keep the items at some places."""
        rows = [part[places] for part in self.statistics]
        return ScorerState(self.items[places], rows, self.origin, self.captions[places])


def _other_captions(items: list[str]) -> DataError:
    return DataError(
        f"{len(items)} items were given twice with different captions ({first_few(items)}). "
        'Give each once, call reset() between two evaluations, or pass repeated="first" '
        "to keep the caption that came first."
    )


def fingerprint(text: str) -> int:
    """Eight bytes that tell whether two texts are the same.

    >>> fingerprint("a man") == fingerprint("a man"), fingerprint("a man") == fingerprint("a dog")
    (True, False)
    """
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
