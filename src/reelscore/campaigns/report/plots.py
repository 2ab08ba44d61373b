"""Figures of the results of a campaign."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from reelscore.campaigns.evaluate.battles import BattleRanking
from reelscore.campaigns.evaluate.quality import Quality
from reelscore.report.plots.matrices import draw_p_matrix
from reelscore.report.plots.style import BLUE, COLUMN_WIDTH, GREY, ORANGE, RED, figure, save
from reelscore.report.safe_text import short_names
from reelscore.significance.comparison import Comparison

_LOWEST = 1e-6  # p-values below it are drawn there
_NAME = 24  # characters of a system's name that a figure shows
_LOOKS = {
    "passed": ("o", BLUE),
    "failed": ("X", RED),
    "too few pairs": ("^", ORANGE),
    "rejected": ("s", GREY),
    "excluded": ("D", GREY),
}


def draw_wins(ranking: Comparison, path: str | Path) -> None:
    """Draw who is significantly better than whom: Figure 7 of the Direct Assessment paper."""
    title = f"p (row better than column): rank-sum on {ranking.metric}"
    draw_p_matrix(ranking.p, ranking.systems, ranking.level, title, path)


def draw_quality(quality: Quality, path: str | Path) -> None:
    """Draw each rater's test, and how steady raters are: certainty against repeats."""
    with figure(1, 2, width=2 * COLUMN_WIDTH, height=2.7) as (drawing, (left, right)):
        for verdict, (marker, colour) in _LOOKS.items():
            raters = [r for r in quality.raters if r.verdict == verdict and not math.isnan(r.p)]
            if not raters:
                continue
            p = [max(r.p, _LOWEST) for r in raters]
            label = f"{verdict} ({len(raters)})"
            look: Any = {"linestyle": "", "marker": marker, "color": colour, "alpha": 0.75}
            left.plot([r.difference for r in raters], p, label=label, **look)
            steady = [(r.repeat_difference, q) for r, q in zip(raters, p, strict=True) if r.repeats]
            if steady:
                right.plot(*zip(*steady, strict=True), **look)
        for panel in (left, right):
            panel.set_yscale("log")
            panel.set_ylim(_LOWEST / 2, 1.5)
            panel.invert_yaxis()
            panel.axhline(quality.control.level, color=GREY, linewidth=0.8, linestyle="--")
        left.set_ylabel("p (upwards: more certain)")
        left.set_xlabel("caption − degraded caption, points")
        right.set_xlabel("difference of repeated scores, points")
        untested = sum(math.isnan(r.p) for r in quality.raters)
        more = f", {untested} without a test" if untested else ""
        left.set_title(f"{len(quality.passed)} of {len(quality.raters)} raters passed{more}")
        right.set_title("how steady they are")
        left.legend(loc="upper left")
        save(drawing, path)


def draw_ranks(ranking: BattleRanking, path: str | Path) -> None:
    """Draw how systems stand by their battles: their points, and their places, with intervals."""
    count = len(ranking.systems)
    height = 0.6 + 0.2 * count
    with figure(1, 2, width=2 * COLUMN_WIDTH, height=height) as (drawing, (left, right)):
        for row in range(count):
            left.plot(ranking.intervals[row], [row, row], "-|", color=GREY, markersize=5)
            left.plot(ranking.scores[row], row, "o", color=BLUE)
            right.plot(ranking.ranks[row], [row, row], "-|", color=GREY, markersize=5)
            right.plot(row + 1, row, "o", color=BLUE)
        for panel, names in ((left, short_names(ranking.systems, _NAME)), (right, [""] * count)):
            panel.set_yticks(range(count), names)
            panel.set_ylim(count - 0.4, -0.6)  # the first above
            panel.grid(visible=False, axis="y")
            panel.tick_params(axis="y", length=0)
        left.set_xlabel("points")
        right.set_xlabel("place")
        right.locator_params(axis="x", integer=True)
        save(drawing, path)
