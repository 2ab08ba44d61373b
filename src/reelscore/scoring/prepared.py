"""References tokenized and counted once, and systems measured against them."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore._progress import Progress
from reelscore._version import __version__
from reelscore.data.coverage import Coverage
from reelscore.data.item_ids import rule_part
from reelscore.data.paired_captions import Empty, Missing, Paired
from reelscore.data.table import ItemIndex
from reelscore.metrics.base import FloatArray, Metric, check_tokens
from reelscore.metrics.registry import MetricColumns
from reelscore.metrics.training_data import training_warning
from reelscore.scoring.scores import Measurement, Scores
from reelscore.text.packed import array_fingerprint, pack
from reelscore.text.tokens import (
    Tokenizer,
    in_signature,
    model_of,
    thread_count,
    tokenize_packed,
)
from reelscore.text.words import CaptionBatch, Captions

_BATCH = 20_000  # candidates measured between two signs of life
_TOGETHER = 200_000  # candidates of several systems that are measured together, for memory's sake


class Seen(NamedTuple):
    """Which items a learned metric was trained on.

    Attributes:
        fingerprint: Of its training data.
        groups: Of each group of the training data, whether it has the item.
    """

    fingerprint: str
    groups: Mapping[str, NDArray[np.bool_]]

    def context(self, places: NDArray[np.int64] | None) -> dict[str, object]:
        """What a signature says: the training data, and how many of the scored items were in it."""
        seen = np.any(list(self.groups.values()), axis=0)
        return {
            "trained": self.fingerprint,
            "seen": int((seen if places is None else seen[places]).sum()),
        }


class PreparedReferences:
    """References tokenized and counted once, for any number of systems on the same items.

    >>> from reelscore.data.paired_captions import lone_references
    >>> from reelscore.metrics.registry import table_columns
    >>> references = lone_references({"v1": ["a man runs"]})
    >>> columns = table_columns("rouge_l")
    >>> prepared = PreparedReferences(references, columns, "ptb", 1, "error", "error")
    >>> prepared.scores(prepared.measure(["a man"], np.array([0])))["rouge_l"].items["v1"]
    0.7721518987341772
    """

    def __init__(
        self,
        paired: Paired,
        columns: Sequence[MetricColumns],
        tokenizer: Tokenizer,
        threads: int | None,
        missing: Missing,
        empty: Empty,
        common: Coverage | None = None,
        match_ids: str | None = None,
    ) -> None:
        metrics = [each.metric for each in columns]
        check_tokens(metrics, tokenizer)
        self.index = ItemIndex(paired.items)
        self.metrics = metrics
        self.columns = columns
        self._settings = (tokenizer, threads, missing, empty, common, match_ids)
        self._lock = threading.Lock()
        self._tokenizer = tokenizer
        self._threads = thread_count(threads)
        self._offsets = np.asarray(paired.reference_offsets, dtype=np.int64)
        raw = pack(paired.references)
        self._references = Captions(tokenize_packed(raw, tokenizer, threads=threads), raw=raw)
        self._prepared = [m.prepare(self._references, self._offsets) for m in metrics]
        self._seen = [self._seen_by(metric, paired.references) for metric in metrics]
        self._context = {
            "tok": in_signature(tokenizer),
            "items": len(paired.items),
            "refs": _span(np.diff(self._offsets)),
            "data": array_fingerprint(*raw, self._offsets),
            "missing": missing,
            **rule_part(match_ids),
            **({"common": common} if common else {}),
            "empty": empty,
            "v": __version__,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it was made from: the tables of the core are made again, not sent."""
        references = self._references.original.unpack()
        offsets = array("q", self._offsets.tobytes())
        items = list(self.index.items)
        paired = Paired(items, [""] * len(items), references, offsets)
        return type(self), (paired, self.columns, *self._settings)

    def __deepcopy__(self, memo: object) -> PreparedReferences:
        """Share it: nothing in it changes."""
        return self

    def _seen_by(self, metric: Metric, references: Sequence[str]) -> Seen | None:
        items = metric.training_items()
        if items is None:
            return None
        return Seen(items.fingerprint, items.seen(references, self._offsets))

    def warnings(self) -> list[str]:
        """Say which metrics were trained on how many of the items, and what to do about it."""
        warnings = []
        for metric, seen in zip(self.metrics, self._seen, strict=True):
            if seen is not None:
                counts = {group: int(own.sum()) for group, own in seen.groups.items() if own.any()}
                items = len(self.index.items)
                warnings += training_warning(metric.name, counts, items, metric.unseen_remedy)
        return warnings

    def notes(self) -> list[str]:
        """Say what metrics have to tell about the captions measured, such as what they cost."""
        prepared = zip(self.metrics, self._prepared, strict=True)
        return [note for metric, own in prepared for note in metric.notes(own)]

    @property
    def origin(self) -> str:
        """References, metrics and settings in one text, to tell whether two scorers are alike."""
        return "\n".join(
            metric.signature(**self._files(metric), **self._context) for metric in self.metrics
        )

    def _files(self, metric: Metric) -> dict[str, str]:
        """Fingerprint the files that are read: the same path may hold something else tomorrow."""
        model = model_of(self._tokenizer)
        paths = [*metric.files().values(), *([model] if model else [])]
        digests = [array_fingerprint(np.fromfile(path, np.uint8)) for path in paths]
        return {"files": "+".join(digests)} if digests else {}

    def measure(
        self, candidates: list[str], items: NDArray[np.int64], progress: Progress | None = None
    ) -> list[FloatArray]:
        """Compute each metric's statistics of candidates, given with their items' numbers.

        Several threads may call it; they take turns, since new words enter one vocabulary.
        """
        with self._lock:
            return self._measured(candidates, items, progress)

    def _measured(
        self, candidates: list[str], items: NDArray[np.int64], progress: Progress | None
    ) -> list[FloatArray]:
        raw = pack(candidates)
        text = tokenize_packed(raw, self._tokenizer, threads=self._threads)
        batch = CaptionBatch(
            Captions(text, self._references.vocabulary, raw),
            self._references,
            items,
            self._offsets,
            self._threads,
            self.index.items,
        )
        parts: list[list[FloatArray]] = [[] for _ in self.metrics]
        for metric, prepared, rows in zip(self.metrics, self._prepared, parts, strict=True):
            if not metric.independent:
                rows.append(metric.statistics(batch, prepared))
        for begin in range(0, len(items), _BATCH):
            piece = batch.slice(begin, min(begin + _BATCH, len(items)))
            if progress is not None:
                piece = replace(piece, progress=_within(progress, begin, len(items)))
            for metric, prepared, rows in zip(self.metrics, self._prepared, parts, strict=True):
                if metric.independent:
                    rows.append(metric.statistics(piece, prepared))
            if progress is not None:
                progress(min(begin + _BATCH, len(items)), len(items))
        return [np.concatenate(rows) for rows in parts]

    def measure_systems(
        self, systems: Sequence[list[str]], progress: Progress | None = None
    ) -> list[list[FloatArray]]:
        """Compute the statistics of several systems, each with a candidate for every item.

        Where that can be, item by item for all systems: METEOR then looks at a reference once.
        """
        items = np.arange(len(self.index.items), dtype=np.int64)
        apart = self._tokenizer == "ptb-coco" or not all(m.independent for m in self.metrics)
        if apart or len(systems) == 1 or len(systems) * len(items) > _TOGETHER:
            return [self.measure(candidates, items, progress) for candidates in systems]
        mixed = [candidate for of_item in zip(*systems, strict=True) for candidate in of_item]
        measured = self.measure(mixed, np.repeat(items, len(systems)), progress)
        return [
            [np.ascontiguousarray(rows[k :: len(systems)]) for rows in measured]
            for k in range(len(systems))
        ]

    def scores(
        self,
        statistics: Iterable[FloatArray],
        *,
        index: ItemIndex | None = None,
        notes: Sequence[str] = (),
        missing: Missing | None = None,
    ) -> Scores:
        """Put statistics together into results; of all items unless an index is given."""
        index = index or self.index
        context = {**self._context, "items": len(index.items)}
        if missing is not None:
            context["missing"] = missing
        places = None
        if index is not self.index:
            places = np.array([self.index.position[item] for item in index.items], dtype=np.int64)
        measured = []
        for columns, rows, seen in zip(self.columns, statistics, self._seen, strict=True):
            metric = columns.metric
            trained = {} if seen is None else seen.context(places)
            signature = metric.signature(**self._files(metric), **trained, **context)
            measured.append(Measurement(metric, index, rows, signature, columns=columns))
        return Scores(measured, notes)


def _within(progress: Progress, begin: int, total: int) -> Progress:
    """Report progress in a part of the work as progress in all of it."""
    return lambda done, _: progress(begin + done, total)


def _span(counts: NDArray[np.int64]) -> str:
    if not len(counts):
        return "0"
    low, high = counts.min(), counts.max()
    return str(low) if low == high else f"{low}-{high}"
