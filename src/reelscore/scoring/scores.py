"""The scores of one system, with the statistics that intervals and tests work on."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from reelscore._lazy import np
from reelscore._native import Rows
from reelscore.data.checks import counted
from reelscore.data.tables.table import (
    ItemIndex,
    ItemScores,
    MetricResult,
    ScoreTable,
    Sources,
    Statistics,
    only_score,
    system_notes,
)
from reelscore.metrics.base import FloatArray, Metric, scores_of_rows
from reelscore.metrics.registry import MetricColumns

if TYPE_CHECKING:
    from pathlib import Path


class Measurement(msgspec.Struct, frozen=True):
    """Statistics of one metric for all items of one system: what tests and intervals work on."""

    metric: Metric
    index: ItemIndex  # the items
    rows: Rows  # the statistics, a row for each item; `statistics` has them as an array
    signature: str  # how they were made
    # as of `reelscore.MetricResult`, by score
    by_tiou: Mapping[str, Mapping[str, float]] = msgspec.field(default_factory=dict)
    # what the scores are called in the table; as the metric calls them
    columns: MetricColumns | None = None

    @property
    def statistics(self) -> FloatArray:
        """The statistics, a row for each item."""
        return np.asarray(self.rows)

    def results(self) -> Iterator[MetricResult]:
        """Aggregate into one result per output of the metric.

        Items without the score (NaN: a sub-score that is not defined for them) are left out, and
        so is a score that no item has.
        """
        metric = self.metric
        names = metric.outputs if self.columns is None else self.columns.names
        wanted = names if self.columns is None else self.columns.wanted
        corpus, items = scores_of_rows(metric, self.rows)
        gaps = items.has_gaps
        shared = self._shared(names, gaps)
        for k, (name, output) in enumerate(zip(names, metric.outputs, strict=True)):
            if name not in wanted:
                continue
            column = array("d")
            column.frombytes(items.column(k).cast("B"))
            scores = ItemScores(self.index, column)
            if gaps:
                scores = _without_gaps(scores)
                if not scores and len(items):
                    continue
            yield MetricResult(
                name,
                corpus[k],
                scores,
                self.signature,
                scale=metric.scale_of(output),
                statistics=shared,
                by_tiou=self.by_tiou.get(output, {}),
            )

    def _shared(self, names: Sequence[str], gaps: bool) -> Statistics | None:
        """What tests need, where scores are not plain means over all items."""
        metric = self.metric
        means = all(metric.scale_of(name).mean for name in metric.outputs)
        if not metric.independent or (means and not gaps):
            return None
        return Statistics(names, self.index.items, self.rows, metric.scores)


def _without_gaps(scores: ItemScores) -> ItemScores:
    """Leave out items whose score is NaN."""
    there = ~np.isnan(scores.array)
    if there.all():
        return scores
    return ItemScores(ItemIndex(list(compress(scores.index.items, there))), scores.array[there])


def only_row(table: ScoreTable) -> Scores:
    """Return the scores of a table's only system, with the table's notes and captions."""
    [scores] = table.results.values()
    assert isinstance(scores, Scores)
    scores.sources = replace(table.sources, timelines={})
    scores.notes = tuple(table.notes)
    return scores


class Scores(Mapping[str, MetricResult]):
    """All results of one system, by name; keeps the statistics for intervals and tests.

    >>> from reelscore import score
    >>> results = score({"v1": "a man runs"}, {"v1": ["a man is running"]}, metrics="bleu|n:2")
    >>> list(results)
    ['bleu_1', 'bleu_2']
    >>> results["bleu_1"].items["v1"] == results["bleu_1"].score
    True
    >>> results
    <Scores of 1 item: BLEU-1 0.4777, BLEU-2 0.4137>
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

    def __repr__(self) -> str:
        scores = ", ".join(
            f"{result.scale.label or name} {result.score:.4f}" for name, result in self.items()
        )
        items = max((len(result.items) for result in self.values()), default=0)
        return f"<Scores of {counted(items, 'item')}: {scores}>"

    def __float__(self) -> float:
        """The score, where there is one alone."""
        return only_score(list(self.values()))

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return all results as plain data, ready for JSON."""
        return {name: result.to_dict() for name, result in self.items()}

    def table(self, system: str = "system") -> ScoreTable:
        """Return the results as a score table of one system.

        >>> from reelscore import score
        >>> score({"v1": "a man"}, {"v1": ["a man"]}, metrics="rouge_l").table("mine").systems
        ['mine']
        """
        captions = dict(zip([system], self.sources.captions.values(), strict=False))
        return ScoreTable(
            {system: self},
            system_notes({system: self.notes}),
            replace(self.sources, captions=captions),
        )

    def to_latex(self, system: str = "system", **layout: Any) -> str:
        """Return the scores as a LaTeX table of one row; layout as of `reelscore.ScoreTable`."""
        return self.table(system).to_latex(**layout)

    def to_markdown(self, system: str = "system", **layout: Any) -> str:
        """Return the scores as a Markdown table of one row; arguments as in `to_latex`.

        >>> from reelscore import score
        >>> results = score({"v1": "a man"}, {"v1": ["a man"]}, metrics="rouge_l")
        >>> print(results.to_markdown("ours", scale=100, digits=1))
        | system | ROUGE-L |
        |---|---:|
        | ours | 100.0 |
        <BLANKLINE>
        Scores × 100.
        """
        return self.table(system).to_markdown(**layout)

    def to_pandas(self, system: str = "system") -> Any:
        """Return the scores as a pandas table, as `reelscore.ScoreTable.to_pandas` does."""
        return self.table(system).to_pandas()

    def report(self, path: str | Path, system: str = "system", **fields: Any) -> None:
        """Write a report of the scores under a system's name, as `reelscore.ScoreTable.report`."""
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
        from reelscore.scoring.intervals import with_intervals

        bare = Scores(self.measurements, self.notes)
        bare.sources = self.sources
        rows = with_intervals(ScoreTable({"": bare}), level=level, resamples=resamples, seed=seed)
        bare._results = dict(rows[""])
        return bare
