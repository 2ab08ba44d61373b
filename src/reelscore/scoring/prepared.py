"""References tokenized and counted once, and systems measured against them."""

from __future__ import annotations

import copy
import threading
from array import array
from collections.abc import Iterable, Mapping, Sequence
from operator import sub
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec.structs import replace

from reelscore import _native
from reelscore._lazy import np
from reelscore._native import Rows
from reelscore._progress import Progress
from reelscore._version import __version__
from reelscore.data.captions.item_ids import rule_part
from reelscore.data.captions.paired_captions import Empty, Missing, Paired
from reelscore.data.tables.table import Coverage, ItemIndex
from reelscore.metrics.base import (
    FloatArray,
    Metric,
    check_processes,
    check_tokens,
    measured_rows,
)
from reelscore.metrics.registry import MetricColumns
from reelscore.scoring.scores import Measurement, Scores
from reelscore.text.tokens import (
    Tokenizer,
    in_signature,
    model_of,
    thread_count,
    tokenize_packed,
)
from reelscore.text.words import (
    CaptionBatch,
    Captions,
    Integers,
    Packed,
    Pairing,
    array_fingerprint,
    pack,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reelscore.engines.engine import Engine

_BATCH = 20_000  # candidates measured between two signs of life
_SENT = 5_000  # candidates that a worker on another machine gets at once
_SENT_SLOWLY = 200  # the same where they take long, such as with learned metrics
_TOGETHER = 200_000  # candidates of several systems that are measured together, for memory's sake


class Seen(msgspec.Struct, frozen=True):
    """Which items a learned metric was trained on."""

    fingerprint: str  # of its training data
    # of each group of the training data, whether it has the item
    groups: Mapping[str, NDArray[np.bool_]]

    def context(self, places: NDArray[np.int64] | None) -> dict[str, object]:
        """What a signature says: the training data, and how many of the scored items were in it."""
        seen = np.any(list(self.groups.values()), axis=0)
        return {
            "trained": self.fingerprint,
            "seen": int((seen if places is None else seen[places]).sum()),
        }

    def counts(self, places: NDArray[np.int64]) -> dict[str, int]:
        """How many of some items are in each group, and under no name how many in any."""
        seen = np.any(list(self.groups.values()), axis=0)
        groups = {group: int(own[places].sum()) for group, own in self.groups.items()}
        return {"": int(seen[places].sum()), **groups}


class ItemReferences(Protocol):
    """The references of items: `Paired`, or a part of them as columns."""

    @property
    def items(self) -> list[str]:
        """The item ids."""

    @property
    def references(self) -> list[str] | Packed:
        """The references of all items in one list, item after item."""

    @property
    def reference_offsets(self) -> Sequence[int] | NDArray[np.int64]:
        """Where those of each item begin, and the end of the last."""


class Gathered(msgspec.Struct, frozen=True):
    """What metrics found out from the references of all items, to prepare a part of them."""

    # the words of all references; those of a part get their numbers from it
    vocabulary: _native.Vocabulary
    results: Sequence[Any]  # for each metric what `Metric.gather` gave, or ``None``


class PreparedReferences:
    """References tokenized and counted once, for any number of systems on the same items."""

    def __init__(
        self,
        paired: ItemReferences,
        columns: Sequence[MetricColumns],
        tokenizer: Tokenizer,
        threads: int | None,
        missing: Missing,
        empty: Empty,
        common: Coverage | None = None,
        match_ids: str | None = None,
        gathered: Gathered | None = None,
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
        self._offsets = array("q", paired.reference_offsets)
        raw = pack(paired.references)
        tokens = tokenize_packed(raw, tokenizer, threads=threads)
        if gathered is None:
            self._references = Captions(tokens, raw=raw, tokenizer=tokenizer)
            self._prepared = [
                metric.prepare(self._references, self._offsets_for(metric)) for metric in metrics
            ]
        else:
            self._references = Captions(tokens, gathered.vocabulary, raw, None, tokenizer)
            self._prepared = [
                metric.prepare(self._references, self._offsets_for(metric))
                if result is None
                else result.prepare(self._references)
                for metric, result in zip(metrics, gathered.results, strict=True)
            ]
        self.seen = [self._seen_by(metric) for metric in metrics]
        counts = {*map(sub, self._offsets[1:], self._offsets)}
        self._context = {
            "tok": in_signature(tokenizer),
            "items": len(self._offsets) - 1,
            "refs": span(min(counts), max(counts)) if counts else "0",
            "data": array_fingerprint(raw, self._offsets),
            "missing": missing,
            **(rule_part(match_ids) if match_ids else {}),
            **({"common": common} if common else {}),
            "empty": empty,
            "v": __version__,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it was made from: the tables of the core are made again, not sent."""
        references = self._references.original.unpack()
        items = list(self.index.items)
        paired = Paired(items, [""] * len(items), references, self._offsets)
        return type(self), (paired, self.columns, *self._settings)

    def __deepcopy__(self, memo: object) -> PreparedReferences:
        """Share it: nothing in it changes."""
        return self

    def _offsets_for(self, metric: Metric) -> Any:
        """Where references begin, as a metric takes it: most compute with arrays."""
        return self._offsets if metric.core else np.asarray(self._offsets)

    def _seen_by(self, metric: Metric) -> Seen | None:
        items = metric.training_items()
        if items is None:
            return None
        references = self._references.original.unpack()
        return Seen(items.fingerprint, items.seen(references, np.asarray(self._offsets)))

    def warnings(self) -> list[str]:
        """Return which metrics were trained on how many of the items, and what to do about it."""
        warnings = []
        for metric, seen in zip(self.metrics, self.seen, strict=True):
            if seen is not None:
                from reelscore.metrics.training_data import training_warning

                counts = {group: int(own.sum()) for group, own in seen.groups.items() if own.any()}
                items = len(self.index.items)
                warnings += training_warning(metric.name, counts, items, metric.unseen_remedy)
        return warnings

    def notes(self) -> list[str]:
        """Return what metrics have to tell about the captions measured, such as what they cost."""
        prepared = zip(self.metrics, self._prepared, strict=True)
        return [note for metric, own in prepared for note in metric.notes(own)]

    @property
    def origin(self) -> str:
        """References, metrics and settings in one text, to tell whether two scorers are alike."""
        return "\n".join(
            metric.signature(**files_part(metric, self._tokenizer), **self._context)
            for metric in self.metrics
        )

    def measure(
        self,
        candidates: list[str] | Packed,
        items: Integers,
        progress: Progress | None = None,
    ) -> list[FloatArray]:
        """Compute each metric's statistics of candidates, given with their items' numbers.

        Several threads may call it; they take turns, since new words enter one vocabulary.
        """
        pairing = Pairing(items, self._offsets)
        return [np.asarray(rows) for rows in self._measured(candidates, pairing, progress)]

    def _measured(
        self, candidates: list[str] | Packed, pairing: Pairing, progress: Progress | None = None
    ) -> list[Rows]:
        with self._lock:
            return self._in_batches(candidates, pairing, progress)

    def _in_batches(
        self, candidates: list[str] | Packed, pairing: Pairing, progress: Progress | None
    ) -> list[Rows]:
        raw = pack(candidates)
        text = tokenize_packed(raw, self._tokenizer, threads=self._threads)
        batch = CaptionBatch(
            Captions(text, self._references.vocabulary, raw),
            self._references,
            pairing,
            self._threads,
            self.index.items,
        )
        size = len(pairing)
        parts: list[list[Rows]] = [[] for _ in self.metrics]
        for metric, prepared, rows in zip(self.metrics, self._prepared, parts, strict=True):
            if not metric.independent:
                rows.append(measured_rows(metric, batch, prepared))
        for begin in range(0, max(1, size), _BATCH):  # of nothing, no rows
            piece = batch.slice(begin, min(begin + _BATCH, size))
            if progress is not None:
                piece = replace(piece, progress=_within(progress, begin, size))
            for metric, prepared, rows in zip(self.metrics, self._prepared, parts, strict=True):
                if metric.independent:
                    rows.append(measured_rows(metric, piece, prepared))
            if progress is not None:
                progress(min(begin + _BATCH, size), size)
        return [Rows.joined(rows) for rows in parts]

    def measure_systems(
        self,
        systems: Sequence[list[str]],
        progress: Progress | None = None,
        engine: Engine | None = None,
    ) -> list[list[Rows]]:
        """Compute the statistics of several systems, each with a candidate for every item.

        Where that can be, item by item for all systems: METEOR then looks at a reference once.
        """
        items, count = len(self.index.items), len(systems)
        if progress is not None:
            progress(0, count * items)
        apart = self._tokenizer == "ptb-coco" or not all(m.independent for m in self.metrics)
        if engine is not None and not engine.is_local:
            check_processes(self.metrics)
            size = _SENT_SLOWLY if any(m.slow for m in self.metrics) else _SENT
            return self._measured_by(engine, systems, items if apart else size, progress)
        if apart or count == 1 or count * items > _TOGETHER:
            pairing = Pairing.in_order(self._offsets)
            return [
                self._measured(
                    candidates, pairing, progress and _within(progress, k * items, count * items)
                )
                for k, candidates in enumerate(systems)
            ]
        mixed = [candidate for of_item in zip(*systems, strict=True) for candidate in of_item]
        measured = self._measured(mixed, Pairing.in_order(self._offsets, count), progress)
        return [[rows.every(k, count) for rows in measured] for k in range(count)]

    def _measured_by(
        self,
        engine: Engine,
        systems: Sequence[list[str]],
        size: int,
        progress: Progress | None,
    ) -> list[list[Rows]]:
        """Let an engine measure batches of a fixed size, whatever the number of its workers."""
        items = len(self.index.items)
        spans = [
            (k, begin, min(begin + size, items))
            for k in range(len(systems))
            for begin in range(0, items, size)
        ]
        batches = ((systems[k][begin:end], begin) for k, begin, end in spans)
        parts: list[list[list[Rows]]] = [[] for _ in systems]
        measured = engine.map(_measure_batch, batches, engine.broadcast(self._for_one_thread()))
        for (k, _, end), rows in zip(spans, measured, strict=True):
            parts[k].append(rows)
            if progress is not None:
                progress(k * items + end, len(systems) * items)
        return [[Rows.joined(rows) for rows in zip(*own, strict=True)] for own in parts]

    def _for_one_thread(self) -> PreparedReferences:
        """The same, for a worker that has one processor."""
        alone = copy.copy(self)
        alone._settings = (self._settings[0], 1, *self._settings[2:])
        alone._threads = 1
        return alone

    def signature(self, metric: Metric, **more: object) -> str:
        """Return how a metric's numbers are made."""
        context = {key: value for key, value in self._context.items() if key not in more}
        return metric.signature(**files_part(metric, self._tokenizer), **more, **context)

    def scores(
        self,
        statistics: Iterable[Rows | FloatArray],
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
        found = [m.found(own) for m, own in zip(self.metrics, self._prepared, strict=True)]
        parts = zip(self.columns, statistics, self.seen, found, strict=True)
        for columns, rows, seen, more in parts:
            metric = columns.metric
            trained = {} if seen is None else seen.context(places)
            signature = self.signature(metric, **trained, **more, **context)
            own = rows if isinstance(rows, Rows) else Rows(np.ascontiguousarray(rows))
            measured.append(Measurement(metric, index, own, signature, columns=columns))
        return Scores(measured, notes)


def _measure_batch(batch: tuple[list[str], int], prepared: PreparedReferences) -> list[Rows]:
    """Measure the candidates of some items, given with the first item's number, on a worker."""
    candidates, begin = batch
    items = array("q", range(begin, begin + len(candidates)))
    return prepared._measured(candidates, Pairing(items, prepared._offsets))


def _within(progress: Progress, begin: int, total: int) -> Progress:
    """Report progress in a part of the work as progress in all of it."""
    return lambda done, _: progress(begin + done, total)


def span(low: int, high: int) -> str:
    """Spell from how many to how many.

    >>> span(1, 1), span(1, 5)
    ('1', '1-5')
    """
    return str(low) if low == high else f"{low}-{high}"


def files_part(metric: Metric, tokenizer: Tokenizer) -> dict[str, str]:
    """Fingerprint the files that are read: the same path may hold something else tomorrow."""
    model = model_of(tokenizer)
    paths = [*metric.files().values(), *([model] if model else [])]
    if not paths:
        return {}
    from pathlib import Path  # only here: few metrics read files

    digests = [array_fingerprint(Path(path).read_bytes()) for path in paths]
    return {"files": "+".join(digests)}
