"""Figures of square matrices: p-values, who beats whom, which scores correlate."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reelscore.data.tables.table import ScoreTable
from reelscore.report.plots.style import COLUMN_WIDTH, figure, rule_squares, save
from reelscore.report.safe_text import cells, short_names
from reelscore.report.tables.grid import p_value
from reelscore.significance.comparison import UNTESTED, Comparison, Verdict
from reelscore.stats.correlations import pearson
from reelscore.stats.resampling import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_SHADES = ["#08306B", "#2171B5", "#4292C6", "#DEEBF7", "#F3F8FD", "#FFFFFF"]
_NAME = 20  # characters of a name that are shown
_IN_COLUMN = 9  # names that fit into a column; more take the width of the page
_CHARACTER = 0.056  # inches


def draw_p_matrix(
    p: FloatArray, names: Sequence[str], significant: float, title: str, path: str | Path | None
) -> Figure:
    """Draw p-values of the row against the column; significant ones are dark, bold and white."""
    count = len(names)
    size = max(COLUMN_WIDTH, 0.42 * count + 1.0)
    with figure(width=size, height=0.8 * size) as (drawing, (panel,)):
        from matplotlib.colors import BoundaryNorm, ListedColormap

        steps = sorted({0, 0.001, 0.01, significant, 0.1, 0.5, 1})
        norm = BoundaryNorm(steps, len(_SHADES))
        panel.set_facecolor("#E8E8E8")
        image = panel.imshow(np.ma.masked_invalid(p), cmap=ListedColormap(_SHADES), norm=norm)
        small = 7 if count <= 8 else 5.5
        for i, j in np.argwhere(~np.isnan(p)):
            value = float(p[i, j])
            wins = value < significant
            panel.text(
                j,
                i,
                p_value(value),
                ha="center",
                va="center",
                fontsize=small,
                color="white" if wins else "black",
                fontweight="bold" if wins else "normal",
            )
        panel.set_xticks(range(count), names, rotation=45, ha="right")
        panel.set_yticks(range(count), names)
        rule_squares(panel, count, "white", 0.6)
        bar = drawing.colorbar(image, ax=panel, spacing="uniform", shrink=0.9)
        bar.set_ticks(steps[1:-1], labels=[f"{step:g}".removeprefix("0") for step in steps[1:-1]])
        panel.set_title(title)
        if path is not None:
            save(drawing, path)
        return drawing


def win_shares(table: ScoreTable, metric: str, systems: Sequence[str]) -> FloatArray:
    """Find the share of items on which the row's system is better than the column's.

    Ties count half; items that one of them lacks do not count.
    """
    items = list(dict.fromkeys(item for name in systems for item in table[name][metric].items))
    scores = table.scale(metric).sign * table.matrix(metric, systems, items)
    shares = np.full((len(systems), len(systems)), np.nan)
    for i in range(len(systems)):
        for j in range(len(systems)):
            apart = (scores[i] - scores[j])[~np.isnan(scores[i] - scores[j])]
            if i != j and len(apart):
                shares[i, j] = (apart > 0).mean() + (apart == 0).mean() / 2
    return shares


def pairs_with(
    verdict: Verdict, tests: Comparison | None, systems: Sequence[str]
) -> NDArray[np.bool_]:
    """Return of which pairs of row and column the tests found this, such as "better"."""
    pairs = np.zeros((len(systems), len(systems)), dtype=bool)
    for i, one in enumerate(systems):
        for j, other in enumerate(systems):
            pairs[i, j] = tests is not None and i != j and tests.verdict(one, other) == verdict
    return pairs


def correlation_matrix(columns: Sequence[FloatArray]) -> FloatArray:
    """Correlate columns with each other by Pearson, where both have a number."""
    values = np.full((len(columns), len(columns)), np.nan)
    for i, one in enumerate(columns):
        for j, other in enumerate(columns[:i]):
            both = ~np.isnan(one) & ~np.isnan(other)
            if both.sum() > 2:
                values[i, j] = values[j, i] = pearson(one[both], other[both])
    return values


def draw_square(
    values: FloatArray,
    names: Sequence[str],
    *,
    title: str,
    form: str,
    limits: tuple[float, float],
    sure: NDArray[np.bool_] | None = None,
    untested: NDArray[np.bool_] | None = None,
    note: str = "",
) -> Figure:
    """Draw a matrix, each number written: blue high, orange low; what is sure bold and starred."""
    count = len(names)
    short = short_names(names, _NAME)
    turned = 0.75 * _CHARACTER * max(map(cells, short))  # height of the slanted names below
    width = COLUMN_WIDTH if count <= _IN_COLUMN else 2 * COLUMN_WIDTH
    lines = textwrap.wrap(note, int(width / 0.047))
    height = 0.26 * count + turned + 0.35 + 0.11 * len(lines)
    with figure(width=width, height=height) as (drawing, (panel,)):
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("", ["#F2B98A", "#FFFFFF", "#8FC1E0"])
        panel.set_facecolor("#EDEDED")
        low, high = limits
        panel.imshow(np.ma.masked_invalid(values), cmap=shades, vmin=low, vmax=high, aspect="auto")
        for i, j in np.argwhere(~np.isnan(values)):
            won = sure is not None and bool(sure[i, j])
            mark = UNTESTED if untested is not None and untested[i, j] else ""
            panel.text(
                j,
                i,
                form.format(values[i, j]) + ("*" if won else mark),
                ha="center",
                va="center",
                fontsize=7 if count <= 2 * _IN_COLUMN else 5.5,
                fontweight="bold" if won else "normal",
            )
        panel.set_xticks(range(count), short, rotation=45, ha="right", rotation_mode="anchor")
        panel.set_yticks(range(count), short)
        rule_squares(panel, count, "#D0D0D0", 0.5)
        panel.set_title(title, loc="left")
        if lines:
            drawing.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=6.5)
    return drawing
