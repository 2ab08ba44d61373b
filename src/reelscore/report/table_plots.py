"""Figures of a score table: intervals, distributions, who beats whom, scores beside scores."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from reelscore.data.table import ScoreTable
from reelscore.errors import DataError, UnknownNameError
from reelscore.report.leaderboard import LOWER_IS_BETTER, NEITHER_IS_BETTER
from reelscore.report.lettering import shortened
from reelscore.report.plots import BLUE, COLUMN_WIDTH, GREY, RED, figure, save
from reelscore.stats.correlations import pearson
from reelscore.stats.resampling import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MANY = 3000  # dots from which on they are drawn as pixels, so that the file stays small
_FEW = 5  # captions of one length whose mean says something
_MOST = 0.998  # a few endless captions would press all others together
_NAME = 24  # characters of a system's name that a figure shows


@dataclass(frozen=True)
class TablePlots:
    """Figures of one table; each method returns a matplotlib figure and writes it where asked.

    >>> import tempfile
    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips
    >>> plots = score_systems(*clips(), "meteor,cider").plot
    >>> drawing = plots.distributions("meteor", Path(tempfile.mkdtemp(), "meteor.svg"))
    """

    table: ScoreTable

    def intervals(self, metric: str, path: str | Path | None = None) -> Figure:
        """Draw the systems' scores with their intervals, best above.

        Args:
            metric: The score.
            path: A .pdf, .svg or .png file to write.
        """
        systems = self._ranked(metric)
        height = 0.55 + 0.2 * len(systems)
        with figure(height=height) as (drawing, (panel,)):
            for row, system in enumerate(systems):
                result = self.table[system][metric]
                if result.interval is not None:
                    panel.plot(result.interval, [row, row], "-|", color=GREY, markersize=5)
                panel.plot(result.score, row, "o", color=BLUE)
            _names_beside(panel, systems)
            panel.set_xlabel(metric)
            return _finished(drawing, path)

    def distributions(self, metric: str, path: str | Path | None = None) -> Figure:
        """Draw how each system's scores are spread over the items: violins with quartiles.

        Args:
            metric: The score.
            path: A .pdf, .svg or .png file to write.
        """
        systems = [name for name in self._ranked(metric) if len(self._scores(name, metric)) > 1]
        with figure(height=0.55 + 0.36 * len(systems)) as (drawing, (panel,)):
            for row, system in enumerate(systems):
                scores = self._scores(system, metric)
                _violin(panel, row, scores)
            _names_beside(panel, systems)
            panel.set_xlabel(f"{metric} of the items")
            return _finished(drawing, path)

    def wins(self, metric: str, path: str | Path | None = None) -> Figure:
        """Draw the share of items on which one system scores better than another.

        Args:
            metric: The score.
            path: A .pdf, .svg or .png file to write.
        """
        systems = self._ranked(metric)
        shares = win_shares(self.table, metric, systems)
        title = f"items won by the row, {metric} (%)"
        return _square(100 * shares, systems, title, "{:.0f}", (0, 100), path)

    def correlations(self, path: str | Path | None = None) -> Figure:
        """Draw Pearson's correlations of all scores over all captions.

        Args:
            path: A .pdf, .svg or .png file to write.
        """
        names = self.table.metrics
        columns = {name: self._matrix(name) for name in names}
        values = np.full((len(names), len(names)), np.nan)
        for i, one in enumerate(names):
            for j, other in enumerate(names):
                both = ~np.isnan(columns[one]) & ~np.isnan(columns[other])
                if i != j and both.sum() > 2:
                    values[i, j] = pearson(columns[one][both], columns[other][both])
        return _square(values, names, "Pearson over captions", "{:.2f}", (-1, 1), path)

    def scatter(self, metric: str, other: str, path: str | Path | None = None) -> Figure:
        """Draw one score of the captions against another.

        Args:
            metric: The score along the axis.
            other: The score upwards.
            path: A .pdf, .svg or .png file to write.
        """
        x, y = self._matrix(metric), self._matrix(other)
        both = ~np.isnan(x) & ~np.isnan(y)
        with figure() as (drawing, (panel,)):
            _dots(panel, x[both], y[both])
            panel.set_xlabel(metric)
            panel.set_ylabel(other)
            if both.sum() > 2:
                panel.set_title(f"pearson {pearson(x[both], y[both]):.3f}", loc="left")
            return _finished(drawing, path)

    def lengths(self, metric: str, path: str | Path | None = None) -> Figure:
        """Draw scores against the captions' lengths, with the mean at each length.

        Args:
            metric: The score.
            path: A .pdf, .svg or .png file to write.

        Raises:
            DataError: The table does not know its captions, as one read from a file.
        """
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
            panel.set_ylabel(metric)
            return _finished(drawing, path)

    def _ranked(self, metric: str) -> list[str]:
        if metric not in self.table.metrics:
            raise UnknownNameError.of("score", metric, self.table.metrics)
        systems = [name for name in self.table.systems if metric in self.table[name]]
        sign = 1 if metric in LOWER_IS_BETTER else -1
        return sorted(systems, key=lambda name: sign * self.table[name][metric].score)

    def _scores(self, system: str, metric: str) -> FloatArray:
        scores = self.table[system][metric].items.array
        return scores[np.isfinite(scores)]

    def _matrix(self, metric: str) -> FloatArray:
        items = list(
            dict.fromkeys(
                item
                for row in self.table.results.values()
                for result in row.values()
                for item in result.items
            )
        )
        return self.table.matrix(metric, self.table.systems, items).ravel()


def win_shares(table: ScoreTable, metric: str, systems: Sequence[str]) -> FloatArray:
    """Find the share of items on which the row's system is better than the column's.

    Ties count half; items that one of them lacks do not count.

    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips
    >>> table = score_systems(*clips(), "meteor")
    >>> win_shares(table, "meteor", ["human", "weak"]).round(2).tolist()
    [[nan, 1.0], [0.0, nan]]
    """
    items = list(dict.fromkeys(item for name in systems for item in table[name][metric].items))
    scores = table.matrix(metric, systems, items)
    if metric in LOWER_IS_BETTER:
        scores = -scores
    shares = np.full((len(systems), len(systems)), np.nan)
    for i in range(len(systems)):
        for j in range(len(systems)):
            apart = (scores[i] - scores[j])[~np.isnan(scores[i] - scores[j])]
            if i != j and len(apart):
                shares[i, j] = (apart > 0).mean() + (apart == 0).mean() / 2
    return shares


def draw_table(table: ScoreTable, folder: str | Path, ending: str = "pdf") -> list[Path]:
    """Draw all figures of a table into a folder.

    Args:
        table: The scores.
        folder: Where to put the files; made if it is not there.
        ending: ``pdf``, ``svg`` or ``png``.

    Returns:
        The files.

    >>> import tempfile
    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips
    >>> [path.name for path in draw_table(score_systems(*clips(), "meteor"), tempfile.mkdtemp())]
    ['intervals-meteor.pdf', 'distributions-meteor.pdf', 'wins-meteor.pdf', 'lengths-meteor.pdf']
    """
    plots = TablePlots(table)
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
        if metric in NEITHER_IS_BETTER:
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
                made.append(Path(folder, f"{kind}-{_file_name(metric)}.{ending}"))
                draw(metric, made[-1])
    if len(table.metrics) > 1:
        made.append(Path(folder, f"correlations.{ending}"))
        plots.correlations(made[-1])
    return made


def _finished(drawing: Figure, path: str | Path | None) -> Figure:
    if path is not None:
        save(drawing, path)
    return drawing


def _names_beside(panel: Axes, names: Sequence[str]) -> None:
    panel.set_yticks(range(len(names)), [shortened(name, _NAME) for name in names])
    panel.set_ylim(len(names) - 0.4, -0.6)  # the first above
    panel.grid(visible=False, axis="y")
    panel.tick_params(axis="y", length=0)


def _violin(panel: Axes, row: int, scores: FloatArray) -> None:
    counts, edges = np.histogram(scores, bins=40)
    middle = (edges[1:] + edges[:-1]) / 2
    half = 0.36 * counts / max(1, counts.max())
    panel.fill_between(middle, row - half, row + half, color=BLUE, alpha=0.35, linewidth=0)
    first, median, third = np.quantile(scores, [0.25, 0.5, 0.75])
    panel.plot([first, third], [row, row], color=BLUE, linewidth=2.5, solid_capstyle="butt")
    panel.plot(median, row, "|", color="black", markersize=7)
    panel.plot(scores.mean(), row, "o", color="white", markeredgecolor="black", markersize=3)


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


def _square(
    values: FloatArray,
    names: Sequence[str],
    title: str,
    form: str,
    limits: tuple[float, float],
    path: str | Path | None,
) -> Figure:
    """Draw a matrix with the same names on both sides: blue high, orange low, each written."""
    size = max(COLUMN_WIDTH, 0.4 * len(names) + 1.1)
    with figure(width=size, height=0.9 * size) as (drawing, (panel,)):
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("", ["#F2B98A", "#FFFFFF", "#8FC1E0"])
        panel.imshow(np.ma.masked_invalid(values), cmap=shades, vmin=limits[0], vmax=limits[1])
        for i, j in np.argwhere(~np.isnan(values)):
            small = 7 if len(names) <= 9 else 5.5
            panel.text(j, i, form.format(values[i, j]), ha="center", va="center", fontsize=small)
        short = [shortened(name, _NAME) for name in names]
        panel.set_xticks(range(len(names)), short, rotation=45, ha="right")
        panel.set_yticks(range(len(names)), short)
        panel.tick_params(length=0)
        panel.grid(visible=False)
        panel.spines[:].set_visible(False)
        panel.set_title(title)
        return _finished(drawing, path)


def _file_name(metric: str) -> str:
    return re.sub(r"[^\w.-]+", "_", metric)
