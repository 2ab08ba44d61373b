"""How scores are spread, as a shape: a violin with its quartiles, median and mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reelscore.report.plots import BLUE
from reelscore.stats.resampling import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 120


def density(scores: FloatArray, low: float, high: float, bins: int = _BINS) -> FloatArray:
    """Estimate how densely scores lie in each part of a range, the densest being 1.

    A bell of Silverman's width is put on each score. At the ends it is folded back, so that
    many scores of 0 stay a hill at 0.

    Args:
        scores: The scores.
        low: Where the range begins.
        high: Where it ends.
        bins: In how many equal parts it is seen.

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
    """Draw a violin along a row: a bar for the middle half, line at the median, dot at the mean.

    >>> from reelscore.report.plots import figure
    >>> with figure() as (drawing, (panel,)):
    ...     draw_violin(panel, 0, np.array([0.1, 0.2, 0.4]))
    >>> len(panel.lines)
    3
    """
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
