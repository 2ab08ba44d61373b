"""Figures about people: how well metrics agree with them, and the results of a campaign."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from reelscore.campaigns.evaluate.quality import Quality
from reelscore.meta.evaluation import MetaEvaluation
from reelscore.report.plots.figures import file_name
from reelscore.report.plots.matrices import draw_p_matrix
from reelscore.report.plots.style import (
    BLUE,
    COLUMN_WIDTH,
    GREY,
    ORANGE,
    RED,
    figure,
    label_points,
    save,
)
from reelscore.significance.comparison import Comparison
from reelscore.stats.correlations import mean_known

_MANY = 3000  # dots from which on they are drawn as pixels, so that the file stays small
_LOWEST = 1e-6  # p-values below it are drawn there
_LOOKS = {
    "passed": ("o", BLUE),
    "failed": ("X", RED),
    "too few pairs": ("^", ORANGE),
    "rejected": ("s", GREY),
    "excluded": ("D", GREY),
}


def draw_all(evaluation: MetaEvaluation, folder: str | Path, ending: str = "pdf") -> list[Path]:
    """Draw a scatter plot for each metric and a heat map for each test.

    Args:
        evaluation: The meta-evaluation.
        folder: Where to put the files; made if it is not there.
        ending: ``pdf``, ``svg`` or ``png``.

    Returns:
        The files.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    files = []
    for metric in evaluation.cells.metrics:
        files.append(Path(folder, f"scatter-{file_name(metric)}.{ending}"))
        draw_scatter(evaluation, metric, files[-1])
    for test in evaluation.tests:
        files.append(Path(folder, f"p-values-{test.test}.{ending}"))
        draw_p_values(test, files[-1])
    return files


def draw_scatter(evaluation: MetaEvaluation, metric: str, path: str | Path) -> None:
    """Draw the systems' means, each with its name, and beside them the captions.

    At the level of systems there are no captions to be seen.

    Args:
        evaluation: The meta-evaluation.
        metric: The metric.
        path: A .pdf, .svg or .png file.

    >>> import tempfile
    >>> from reelscore.meta.paired_scores import Cells
    >>> cells = Cells(["a", "b"], ["v1"], np.array([[1.0], [2.0]]), {"x": np.array([[1.0], [3.0]])})
    >>> path = Path(tempfile.mkdtemp(), "x.svg")
    >>> draw_scatter(MetaEvaluation("system", cells, [], []), "x", path)
    >>> path.exists()
    True
    """
    human, scores = evaluation.cells.pair(metric)
    axis = f"−{metric}" if metric in evaluation.cells.turned else metric
    x, y = mean_known(scores), mean_known(human)
    shown = ~np.isnan(x)
    systems = [name for name, there in zip(evaluation.cells.systems, shown, strict=True) if there]
    x, y = x[shown], y[shown]
    captions = evaluation.level != "system"
    wide = 2 * COLUMN_WIDTH if captions else COLUMN_WIDTH
    with figure(1, 1 + captions, width=wide, height=2.5) as (drawing, panels):
        if captions:
            panels[0].plot(
                scores.ravel(),
                human.ravel(),
                ".",
                color=BLUE,
                alpha=0.4,
                markersize=2.5,
                markeredgewidth=0,
                rasterized=scores.size > _MANY,
            )
        panels[-1].plot(x, y, "o", color=BLUE)
        panels[-1].margins(0.12)
        for panel, what in zip(panels, ["captions", "systems"][-len(panels) :], strict=True):
            panel.set_xlabel(f"{axis}, {what}" if captions else axis)
            panel.set_ylabel("human score")
        panels[0].set_title(_title(evaluation, metric), loc="left")
        if systems:
            label_points(panels[-1], x.tolist(), y.tolist(), systems)
        save(drawing, path)


def draw_p_values(tests: Comparison, path: str | Path) -> None:
    """Draw p-values as a heat map: does the row agree better with people than the column?

    Args:
        tests: The tests of all pairs of metrics.
        path: A .pdf, .svg or .png file.

    >>> import tempfile
    >>> p = np.array([[np.nan, 0.003], [0.998, np.nan]])
    >>> tests = Comparison.of("pearson", ["meteor", "bleu_4"], [0.9, 0.5], p, sides=1,
    ...                       signature="williams")
    >>> path = Path(tempfile.mkdtemp(), "p.svg")
    >>> draw_p_values(tests, path)
    >>> path.exists()
    True
    """
    title = f"p (row better than column): {tests.test}, {tests.metric}"
    draw_p_matrix(tests.p_corrected, tests.systems, tests.level, title, path)


def _title(evaluation: MetaEvaluation, metric: str) -> str:
    """The first coefficients of the metric: "pearson .97, kendall_b .80"."""
    parts = [
        f"{each.coefficient} {each.value:.3f}"
        for each in evaluation.correlations
        if each.metric == metric and not math.isnan(each.value)
    ]
    return ", ".join(parts[:2])


def draw_wins(ranking: Comparison, path: str | Path) -> None:
    """Draw who is significantly better than whom: Figure 7 of the Direct Assessment paper.

    Args:
        ranking: The systems and their tests.
        path: A .pdf, .svg or .png file.

    >>> import tempfile
    >>> import numpy as np
    >>> p = np.array([[np.nan, 0.01], [0.99, np.nan]])
    >>> ranking = Comparison.of("z", ["a", "b"], [1.0, 0.0], p, sides=1)
    >>> draw_wins(ranking, Path(tempfile.mkdtemp(), "wins.svg"))
    """
    title = f"p (row better than column): rank-sum on {ranking.metric}"
    draw_p_matrix(ranking.p, ranking.systems, ranking.level, title, path)


def draw_quality(quality: Quality, path: str | Path) -> None:
    """Draw each rater's test, and how steady raters are: certainty against repeats.

    Args:
        quality: The verdicts.
        path: A .pdf, .svg or .png file.

    >>> import tempfile
    >>> from reelscore.campaigns.judgments import Judgment, Judgments
    >>> from reelscore.campaigns.evaluate.quality import check_quality
    >>> rows = [Judgment("r1", "h1", f"{kind}{k}", k, "human", f"clip{k}", kind, score + k % 3)
    ...         for k in range(10) for kind, score in (("caption", 80.0), ("degraded", 9.0 * k))]
    >>> draw_quality(check_quality(Judgments.of(rows)), Path(tempfile.mkdtemp(), "quality.png"))
    """
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
