"""From captions and references to scores: tokenize, prepare, measure, aggregate.

`score` is for one system, `score_systems` for several on the same references, `Scorer` for a
training loop: it prepares the references once and takes candidates batch by batch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore._version import __version__
from reelscore.data.pairing import (
    Empty,
    Missing,
    Paired,
    lone_candidates,
    lone_references,
    pair,
)
from reelscore.data.problems import first_few
from reelscore.data.table import ItemIndex, ItemScores, MetricResult, ScoreTable, Sources
from reelscore.errors import DataError
from reelscore.metrics.base import FloatArray, Metric
from reelscore.metrics.registry import DEFAULT_METRICS, resolve
from reelscore.stats.resampling import bootstrap_scores, percentile_interval
from reelscore.text.packed import pack
from reelscore.text.tokens import Tokenizer, thread_count, tokenize_packed
from reelscore.text.words import CaptionBatch, Captions

Candidates = Mapping[str, str]
References = Mapping[str, Sequence[str]]
Metrics = str | Metric | Iterable[str | Metric]
Progress = Callable[[int, int], None]

_BATCH = 20_000  # candidates measured between two signs of life
_TOGETHER = 200_000  # candidates of several systems that are measured together, for memory's sake


@dataclass(frozen=True)
class Measurement:
    """Statistics of one metric for all items of one system: what tests and intervals work on."""

    metric: Metric
    index: ItemIndex
    statistics: FloatArray
    signature: str

    def results(self) -> Iterator[MetricResult]:
        """Aggregate into one result per output of the metric."""
        corpus = self.metric.aggregate(self.statistics)
        items = self.metric.scores(self.statistics)
        for k, name in enumerate(self.metric.outputs):
            scores = ItemScores(self.index, np.ascontiguousarray(items[:, k]))
            yield MetricResult(name, float(corpus[k]), scores, self.signature)


class Scores(Mapping[str, MetricResult]):
    """All results of one system, by name; keeps the statistics for intervals and tests.

    >>> from reelscore import score
    >>> results = score({"v1": "a man runs"}, {"v1": ["a man is running"]}, metrics="bleu|n:2")
    >>> list(results)
    ['bleu_1', 'bleu_2']
    >>> results["bleu_1"].items["v1"] == results["bleu_1"].score
    True
    """

    def __init__(self, measurements: Iterable[Measurement], notes: Sequence[str] = ()) -> None:
        self.measurements = tuple(measurements)
        self.notes = tuple(notes)
        self.sources = Sources()
        self._results = {
            result.metric: result for each in self.measurements for result in each.results()
        }

    def __getitem__(self, name: str) -> MetricResult:
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __str__(self) -> str:
        return "\n".join(map(str, self.values()))

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Give all results as plain data, ready for JSON."""
        return {name: result.to_dict() for name, result in self.items()}

    def table(self, system: str = "system") -> ScoreTable:
        """Give the results as a score table of one system.

        >>> from reelscore import score
        >>> score({"v1": "a man"}, {"v1": ["a man"]}, metrics="rouge_l").table("mine").systems
        ['mine']
        """
        captions = dict(zip([system], self.sources.captions.values(), strict=False))
        return ScoreTable({system: self}, sources=replace(self.sources, captions=captions))

    def report(self, path: str | Path, system: str = "system", **fields: Any) -> None:
        """Write a report, as `reelscore.ScoreTable.report` does.

        Args:
            path: The HTML file to make.
            system: What to call the system.
            fields: As there.
        """
        self.table(system).report(path, **fields)

    @property
    def plot(self) -> Any:
        """Figures, as of `reelscore.ScoreTable.plot`."""
        return self.table().plot

    def _repr_html_(self) -> str:
        """Show the scores in a notebook."""
        return self.table()._repr_html_()

    def with_intervals(
        self, *, level: float = 0.95, resamples: int = 1000, seed: int = 12345
    ) -> Scores:
        """Add a bootstrap interval over items to every score that allows one.

        >>> from reelscore import score
        >>> results = score({"v1": "a man runs", "v2": "a dog"},
        ...                 {"v1": ["a man runs"], "v2": ["the dog sleeps"]}, metrics="rouge_l")
        >>> low, high = results.with_intervals()["rouge_l"].interval
        >>> low <= results["rouge_l"].score <= high
        True
        """
        if not 0 < level < 1:
            raise DataError(f"The level of an interval is {level}; expected a number in (0, 1).")
        found = Scores(self.measurements, self.notes)
        found.sources = self.sources
        for each in self.measurements:
            if not each.metric.independent:
                continue
            drawn = bootstrap_scores(
                each.statistics, each.metric.scores, resamples=resamples, seed=seed
            )
            low, high = percentile_interval(drawn, level)
            for k, name in enumerate(each.metric.outputs):
                result = found._results[name]
                found._results[name] = replace(
                    result,
                    interval=(float(low[k]), float(high[k])),
                    signature=f"{result.signature}|level:{level:g}|resamples:{resamples}|seed:{seed}",
                )
        return found


class PreparedReferences:
    """References tokenized and counted once, for any number of systems on the same items."""

    def __init__(
        self,
        paired: Paired,
        metrics: Sequence[Metric],
        tokenizer: Tokenizer,
        threads: int | None,
        missing: Missing,
        empty: Empty,
    ) -> None:
        self.index = ItemIndex(paired.items)
        self.metrics = metrics
        self._tokenizer = tokenizer
        self._threads = thread_count(threads)
        self._offsets = np.asarray(paired.reference_offsets, dtype=np.int64)
        raw = pack(paired.references)
        self._references = Captions(tokenize_packed(raw, tokenizer, threads=threads), raw=raw)
        self._prepared = [m.prepare(self._references, self._offsets) for m in metrics]
        self._context = {
            "tok": tokenizer,
            "items": len(paired.items),
            "refs": _span(np.diff(self._offsets)),
            "data": _fingerprint(*raw, self._offsets),
            "missing": missing,
            "empty": empty,
            "v": __version__,
        }

    @property
    def origin(self) -> str:
        """References, metrics and settings in one text, to tell whether two scorers are alike."""
        return "\n".join(
            metric.signature(**_files(metric), **self._context) for metric in self.metrics
        )

    def measure(
        self, candidates: list[str], items: NDArray[np.int64], progress: Progress | None = None
    ) -> list[FloatArray]:
        """Compute each metric's statistics of candidates, given with their items' numbers."""
        raw = pack(candidates)
        text = tokenize_packed(raw, self._tokenizer, threads=self._threads)
        batch = CaptionBatch(
            Captions(text, self._references.vocabulary, raw),
            self._references,
            items,
            self._offsets,
            self._threads,
        )
        parts: list[list[FloatArray]] = [[] for _ in self.metrics]
        for metric, prepared, rows in zip(self.metrics, self._prepared, parts, strict=True):
            if not metric.independent:
                rows.append(metric.statistics(batch, prepared))
        for begin in range(0, len(items), _BATCH):
            piece = batch.slice(begin, min(begin + _BATCH, len(items)))
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
    ) -> Scores:
        """Put statistics together into results; of all items unless an index is given."""
        index = index or self.index
        context = {**self._context, "items": len(index.items)}
        return Scores(
            (
                Measurement(metric, index, rows, metric.signature(**_files(metric), **context))
                for metric, rows in zip(self.metrics, statistics, strict=True)
            ),
            notes,
        )


def score(
    candidates: Candidates,
    references: References | None = None,
    metrics: Metrics = DEFAULT_METRICS,
    *,
    tokenizer: Tokenizer = "ptb",
    missing: Missing = "error",
    empty: Empty = "error",
    threads: int | None = None,
) -> Scores:
    """Score one system's captions.

    Args:
        candidates: The system's caption of each item.
        references: The human captions of each item; may be left out for metrics that need none.
        metrics: Names, signatures or metrics.
        tokenizer: ``ptb``, ``ptb-coco`` or ``none``; see `reelscore.text.tokens`.
        missing: Items without a candidate are an ``error``, count as an empty caption (``zero``),
            or are left out (``skip``, also for candidates without references).
        empty: Empty captions are an ``error`` or score as they are (``zero``).
        threads: How many threads to use; ``None`` for all cores. Never changes a number.

    Returns:
        Results by name, each with ``score``, ``items``, ``signature``.

    Raises:
        DataError: If candidates and references do not fit together.

    >>> results = score({"v1": "a man is riding a horse", "v2": "a dog is running"},
    ...                 {"v1": ["a man rides a horse"], "v2": ["a dog runs", "the dog runs"]})
    >>> {name: round(result.score, 3) for name, result in results.items()}
    {'bleu_1': 0.6, 'bleu_2': 0.474, 'bleu_3': 0.0, 'bleu_4': 0.0,
     'meteor': 0.426, 'rouge_l': 0.663, 'cider': 1.972}
    """
    table = score_systems(
        {"": candidates},
        references,
        metrics,
        tokenizer=tokenizer,
        missing=missing,
        empty=empty,
        threads=threads,
    )
    scores = table[""]
    assert isinstance(scores, Scores)
    scores.sources = table.sources
    return scores


def score_systems(
    systems: Mapping[str, Candidates],
    references: References | None = None,
    metrics: Metrics = DEFAULT_METRICS,
    *,
    tokenizer: Tokenizer = "ptb",
    missing: Missing = "error",
    empty: Empty = "error",
    threads: int | None = None,
    progress: Progress | None = None,
) -> ScoreTable:
    """Score several systems against the same references; arguments as in `score`.

    Args:
        systems: Candidates by system name.
        references: As in `score`.
        metrics: As in `score`.
        tokenizer: As in `score`.
        missing: As in `score`.
        empty: As in `score`.
        threads: As in `score`.
        progress: Called now and then with how many captions of a system are done, of how many.

    Returns:
        A table whose rows are `Scores`.

    >>> table = score_systems({"one": {"v1": "a man runs"}, "two": {"v1": "a dog"}},
    ...                       {"v1": ["a man is running"]}, metrics="rouge_l")
    >>> table.systems
    ['one', 'two']
    """
    chosen = resolve(metrics)
    if references is None:
        needing = [metric.name for metric in chosen if metric.needs_references]
        if needing:
            raise DataError(f"{needing[0]} needs references; none were given.")
    paired: dict[str, Paired] = {}
    for name, candidates in systems.items():
        with _named(name):
            if references is None:
                paired[name] = lone_candidates(candidates, empty=empty)
            else:
                paired[name] = pair(candidates, references, missing=missing, empty=empty)
    rows: dict[str, Scores] = {}
    for names in _on_the_same_items(paired):
        prepared = PreparedReferences(paired[names[0]], chosen, tokenizer, threads, missing, empty)
        measured = prepared.measure_systems([paired[name].candidates for name in names], progress)
        for name, statistics in zip(names, measured, strict=True):
            rows[name] = prepared.scores(statistics, notes=paired[name].notes())
    return ScoreTable(
        {name: rows[name] for name in systems}, sources=Sources(systems, references or {})
    )


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
        chosen = resolve(metrics)
        dependent = [metric.name for metric in chosen if not metric.independent]
        if dependent:
            raise DataError(
                f"{dependent[0]} looks at all captions together and cannot be accumulated; "
                "use reelscore.score."
            )
        if tokenizer == "ptb-coco":
            raise DataError(
                "With ptb-coco a caption's tokens depend on the caption after it, so captions "
                "cannot come in batches; use reelscore.score, or the tokenizer ptb."
            )
        paired = lone_references(references, empty=empty)
        self._prepared = PreparedReferences(paired, chosen, tokenizer, threads, missing, empty)
        self.reset()

    def reset(self) -> None:
        """Forget all candidates; the references stay prepared."""
        self._state = ScorerState()

    def update(self, candidates: Candidates) -> None:
        """Take the captions of some items; each item may come once.

        Raises:
            DataError: If an item is unknown or was given before; nothing is taken then.
        """
        paired = lone_candidates(candidates, empty=self._empty)
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
        """Take over what scorers with the same references and metrics have taken elsewhere.

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
                "only scorers made alike can be merged."
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
        given = self._state
        absent = np.setdiff1d(np.arange(len(self._prepared.index.items)), given.items)
        if len(absent) and self._missing == "error":
            names = [self._prepared.index.items[k] for k in absent[:3]]
            raise DataError(
                f"{len(absent)} items have no candidate ({first_few(names)}). "
                'Give them to update() or pass missing="zero" or missing="skip".'
            )
        if len(absent) and self._missing == "zero":
            rows = self._prepared.measure([""] * len(absent), absent)
            given = ScorerState.join([given, ScorerState(absent, rows, given.origin)])
        if not len(given.items):
            raise DataError("There is nothing to score: give captions to update() first.")
        order = np.argsort(given.items)
        index = ItemIndex([self._prepared.index.items[k] for k in given.items[order]])
        return self._prepared.scores([rows[order] for rows in given.statistics], index=index)


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


def _on_the_same_items(paired: Mapping[str, Paired]) -> list[list[str]]:
    """Group systems that were paired with the references of the same items."""
    groups: list[list[str]] = []
    for name, each in paired.items():
        for group in groups:
            if paired[group[0]].items == each.items:
                group.append(name)
                break
        else:
            groups.append([name])
    return groups


@contextmanager
def _named(system: str) -> Iterator[None]:
    """Say which system an error is about, where there are several."""
    try:
        yield
    except DataError as error:
        if not system:
            raise
        raise DataError(f"{system}: {error}") from error


def _files(metric: Metric) -> dict[str, str]:
    """Fingerprint the files a metric reads: the same path may hold something else tomorrow."""
    digests = [_fingerprint(np.fromfile(path, np.uint8)) for path in metric.files().values()]
    return {"files": "+".join(digests)} if digests else {}


def _span(counts: NDArray[np.int64]) -> str:
    if not len(counts):
        return "0"
    low, high = counts.min(), counts.max()
    return str(low) if low == high else f"{low}-{high}"


def _fingerprint(*arrays: NDArray[Any]) -> str:
    """Eight hex digits that tell whether two scores were made with the same references."""
    digest = hashlib.blake2b(digest_size=4)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
