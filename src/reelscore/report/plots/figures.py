"""Figures of a score table: intervals, distributions, who beats whom, scores beside scores."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from reelscore.data.captions.coverage import PARTIAL, Partial, partial_scores
from reelscore.data.tables.table import ScoreTable
from reelscore.data.tables.table_forms import table_items
from reelscore.errors import DataError
from reelscore.report.plots.matrices import (
    correlation_matrix,
    draw_p_matrix,
    draw_square,
    pairs_with,
    win_shares,
)
from reelscore.report.plots.style import BLUE, GREY, RED, figure, save
from reelscore.report.safe_text import short_names
from reelscore.significance.comparison import Comparison, untested_notes
from reelscore.significance.pair_tests import with_tests
from reelscore.stats.correlations import pearson
from reelscore.stats.resampling import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MANY = 3000  # dots from which on they are drawn as pixels, so that the file stays small
_FEW = 5  # captions of one length whose mean says something
_MOST = 0.998  # a few endless captions would press all others together
_NAME = 24  # characters of a system's name that a figure shows
_BINS = 120


@dataclass(frozen=True)
class TablePlots:
    """Figures of one table; each method returns a matplotlib figure.

    A method that is given a path writes the figure there, as .pdf, .svg or .png.
    """

    table: ScoreTable  # the scores
    # tests of the systems' differences; made where they are needed and not given
    tests: Sequence[Comparison] = ()
    people: Collection[str] = ()  # scores that people gave, of other items of each system

    def intervals(self, metric: str, path: str | Path | None = None) -> Figure:
        """Draw the systems' scores with their intervals, best above.

        Systems scored on fewer items than others come below, marked by a dagger.
        """
        metric = self.table.one_named(metric)
        systems = self._ranked(metric)
        height = 0.55 + 0.2 * len(systems)
        with figure(height=height) as (drawing, (panel,)):
            for row, system in enumerate(systems):
                result = self.table[system][metric]
                if result.interval is not None:
                    panel.plot(result.interval, [row, row], "-|", color=GREY, markersize=5)
                panel.plot(result.score, row, "o", color=BLUE)
            _names_beside(panel, self._names(systems, metric))
            panel.set_xlabel(self.table.headings[metric])
            return _finished(drawing, path)

    def distributions(self, metric: str, path: str | Path | None = None) -> Figure:
        """Draw how each system's scores are spread over the items: violins with quartiles."""
        metric = self.table.one_named(metric)
        systems = [name for name in self._ranked(metric) if len(self._scores(name, metric)) > 1]
        with figure(height=0.55 + 0.36 * len(systems)) as (drawing, (panel,)):
            for row, system in enumerate(systems):
                draw_violin(panel, row, self._scores(system, metric))
            _names_beside(panel, self._names(systems, metric))
            panel.set_xlabel(f"{self.table.headings[metric]} of the items")
            return _finished(drawing, path)

    def wins(self, metric: str, path: str | Path | None = None) -> Figure:
        """Draw the share of items on which one system scores better than another.

        What is significant is bold and starred, and the figure says by which test. Scores of
        people, who as a rule judge other items of each system, have p-values instead.
        """
        metric = self.table.one_named(metric)
        systems = self._ranked(metric)
        tests = self._tests(metric)
        if tests is not None and tests.sides == 1:
            title = f"p (row better than column): rank-sum on {self.table.labels[metric]}"
            return draw_p_matrix(tests.p, tests.systems, tests.level, title, path)
        sure = pairs_with("better", tests, systems)
        drawing = draw_square(
            100 * win_shares(self.table, metric, systems),
            systems,
            title=f"items won by the row, {self.table.labels[metric]} (%)",
            form="{:.0f}",
            limits=(0, 100),
            sure=sure,
            untested=pairs_with("untested", tests, systems),
            note=_about_tests(tests, bool(sure.any())),
        )
        return _finished(drawing, path)

    def correlations(self, path: str | Path | None = None) -> Figure:
        """Draw Pearson's correlations of all scores over the items of all systems."""
        names = self.table.metrics
        values = correlation_matrix([self._matrix(name) for name in names])
        title = "Pearson over the items of all systems"
        labels = list(self.table.labels.values())
        drawing = draw_square(values, labels, title=title, form="{:.2f}", limits=(-1, 1))
        return _finished(drawing, path)

    def scatter(self, metric: str, other: str, path: str | Path | None = None) -> Figure:
        """Draw one score of the captions against another."""
        metric, other = map(self.table.one_named, (metric, other))
        x, y = self._matrix(metric), self._matrix(other)
        both = ~np.isnan(x) & ~np.isnan(y)
        with figure() as (drawing, (panel,)):
            _dots(panel, x[both], y[both])
            panel.set_xlabel(self.table.labels[metric])
            panel.set_ylabel(self.table.labels[other])
            if both.sum() > 2:
                panel.set_title(f"pearson {pearson(x[both], y[both]):.3f}", loc="left")
            return _finished(drawing, path)

    def lengths(self, metric: str, path: str | Path | None = None) -> Figure:
        """Draw scores against the captions' lengths, with the mean at each length."""
        metric = self.table.one_named(metric)
        captions = self.table.sources.captions
        if not any(captions.values()):
            raise DataError("The table has no captions, and so no lengths to draw.")
        pairs = [
            (len(captions[system][item].split()), score)
            for system in self.table.systems
            if metric in self.table[system] and system in captions
            for item, score in self.table[system][metric].items.items()
            if item in captions[system]
        ]
        lengths, scores = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
        with figure() as (drawing, (panel,)):
            _dots(panel, lengths, scores)
            known = [n for n in np.unique(lengths) if (lengths == n).sum() >= _FEW]
            panel.plot(known, [scores[lengths == n].mean() for n in known], color=RED)
            panel.set_xlim(0, 1.05 * np.quantile(lengths, _MOST))
            panel.set_xlabel("words")
            panel.set_ylabel(self.table.labels[metric])
            return _finished(drawing, path)

    def _ranked(self, metric: str) -> list[str]:
        systems = [name for name in self.table.systems if metric in self.table[name]]
        sign = self.table.scale(metric).sign

        def place(name: str) -> tuple[bool, float]:
            return (name, metric) in self._partial, -sign * self.table[name][metric].score

        return sorted(systems, key=place)

    @cached_property
    def _partial(self) -> Partial:
        return partial_scores(self.table, self.people)

    def _names(self, systems: Sequence[str], metric: str) -> list[str]:
        return [f"{s}{PARTIAL}" if (s, metric) in self._partial else s for s in systems]

    def _tests(self, metric: str) -> Comparison | None:
        tests = self.tests
        if not tests and self.table.scale(metric).ranks:
            tests = with_tests(self.table)[1]
        return next((each for each in tests if each.metric == metric), None)

    def _scores(self, system: str, metric: str) -> FloatArray:
        scores = self.table[system][metric].items.array
        return scores[np.isfinite(scores)]

    def _matrix(self, metric: str) -> FloatArray:
        return self.table.matrix(metric, self.table.systems, table_items(self.table)).ravel()


def _about_tests(tests: Comparison | None, won: bool) -> str:
    parts = [f"* p < {tests.level:g}: {tests.about}."] if tests and won else []
    return " ".join([*parts, *untested_notes([tests] if tests else [])])


def _finished(drawing: Figure, path: str | Path | None) -> Figure:
    if path is not None:
        save(drawing, path)
    return drawing


def _names_beside(panel: Axes, names: Sequence[str]) -> None:
    panel.set_yticks(range(len(names)), short_names(names, _NAME))
    panel.set_ylim(len(names) - 0.4, -0.6)  # the first above
    panel.grid(visible=False, axis="y")
    panel.tick_params(axis="y", length=0)


def _dots(panel: Axes, x: FloatArray, y: FloatArray) -> None:
    panel.plot(
        x,
        y,
        ".",
        color=BLUE,
        alpha=0.4 if len(x) > _MANY else 0.7,
        markersize=2.5 if len(x) > _MANY else 4,
        markeredgewidth=0,
        rasterized=len(x) > _MANY,
    )


def density(scores: FloatArray, low: float, high: float, bins: int = _BINS) -> FloatArray:
    """Estimate how densely scores lie in each part of a range, the densest being 1.

    A bell of Silverman's width is put on each score. At the ends it is folded back, so that
    many scores of 0 stay a hill at 0.

    >>> density(np.array([0.0, 0.0, 0.0, 1.0]), 0.0, 1.0, bins=5).round(2).tolist()
    [1.0, 0.46, 0.12, 0.16, 0.33]
    """
    counts, _ = np.histogram(scores, bins=bins, range=(low, high))
    first, third = np.quantile(scores, [0.25, 0.75])
    spreads = [each for each in (scores.std(), (third - first) / 1.34) if each > 0]
    step = (high - low) / bins
    width = max(1.0, 0.9 * min(spreads, default=0.0) * len(scores) ** -0.2 / step)
    away = np.arange(-bins, bins + 1)
    bell = np.exp(-0.5 * (away / width) ** 2)
    mirrored = np.concatenate([counts[::-1], counts, counts[::-1]])
    smooth = np.convolve(mirrored, bell, mode="same")[bins : 2 * bins]
    shape: FloatArray = smooth / max(smooth.max(), 1e-300)
    return shape


def draw_violin(panel: Axes, row: int, scores: FloatArray) -> None:
    """Draw a violin along a row: a bar for the middle half, line at the median, dot at the mean."""
    low, high = float(scores.min()), float(scores.max())
    first, median, third = np.quantile(scores, [0.25, 0.5, 0.75])
    if high > low:
        half = 0.38 * density(scores, low, high)
        edges = np.linspace(low, high, _BINS + 1)
        x = np.concatenate([[low], (edges[1:] + edges[:-1]) / 2, [high]])
        half = np.concatenate([half[:1], half, half[-1:]])
        panel.fill_between(x, row - half, row + half, color=BLUE, alpha=0.35, linewidth=0)
    panel.plot([first, third], [row, row], color=BLUE, linewidth=2.5, solid_capstyle="butt")
    panel.plot(median, row, "|", color="black", markersize=7)
    panel.plot(scores.mean(), row, "o", color="white", markeredgecolor="black", markersize=3)


def draw_table(
    table: ScoreTable,
    folder: str | Path,
    ending: str = "pdf",
    tests: Sequence[Comparison] | None = None,
    people: Collection[str] = (),
) -> list[Path]:
    """Draw all figures of a table into a folder.

    Args:
        table: The scores.
        folder: Where to put the files; made if it is not there.
        ending: ``pdf``, ``svg`` or ``png``.
        tests: Tests of the systems' differences; made if not given.
        people: Scores that people gave, of other items of each system.

    Returns:
        The files.

    >>> import tempfile
    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips
    >>> [path.name for path in draw_table(score_systems(*clips(), "meteor"), tempfile.mkdtemp())]
    ['intervals-meteor.pdf', 'distributions-meteor.pdf', 'wins-meteor.pdf', 'lengths-meteor.pdf']
    """
    plots = TablePlots(table, with_tests(table)[1] if tests is None else tests, people)
    kinds: Mapping[str, Callable[[str, Path], Figure]] = {
        "intervals": plots.intervals,
        "distributions": plots.distributions,
        "wins": plots.wins,
        "lengths": plots.lengths,
    }
    several = len(table.systems) > 1
    made = []
    Path(folder).mkdir(parents=True, exist_ok=True)
    for metric in table.metrics:
        if not table.scale(metric).ranks:
            continue
        has_items = any(len(row[metric].items) for row in table.results.values() if metric in row)
        for kind, draw in kinds.items():
            wanted = {
                "intervals": several,
                "distributions": has_items,
                "wins": several and has_items,
                "lengths": has_items and any(table.sources.captions.values()),
            }[kind]
            if wanted:
                made.append(Path(folder, f"{kind}-{file_name(metric)}.{ending}"))
                draw(metric, made[-1])
    if len(table.metrics) > 1:
        made.append(Path(folder, f"correlations.{ending}"))
        plots.correlations(made[-1])
    return made


def file_name(score: str) -> str:
    """Make a score's name fit for a file.

    >>> file_name("bertha|references:blend")
    'bertha_references_blend'
    """
    return re.sub(r"[^\w.-]+", "_", score)
