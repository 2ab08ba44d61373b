"""Figures of how well metrics agree with people: scatter plots and p-value heat maps."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np

from reelscore.meta.evaluation import MetaEvaluation
from reelscore.meta.significance import Significance
from reelscore.report.agreement import p_value
from reelscore.report.plots import BLUE, COLUMN_WIDTH, figure, label_points, save
from reelscore.stats.correlations import mean_known

_MANY = 3000  # dots from which on they are drawn as pixels, so that the file stays small


def draw_all(found: MetaEvaluation, folder: str | Path, ending: str = "pdf") -> list[Path]:
    """Draw a scatter plot for each metric and a heat map for each test.

    Args:
        found: The meta-evaluation.
        folder: Where to put the files; made if it is not there.
        ending: ``pdf``, ``svg`` or ``png``.

    Returns:
        The files.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    files = []
    for metric in found.cells.metrics:
        files.append(Path(folder, f"scatter-{_file_name(metric)}.{ending}"))
        draw_scatter(found, metric, files[-1])
    for test in found.tests:
        files.append(Path(folder, f"p-values-{test.test}.{ending}"))
        draw_p_values(test, files[-1])
    return files


def draw_scatter(found: MetaEvaluation, metric: str, path: str | Path) -> None:
    """Draw the systems' means, each with its name, and beside them the captions.

    At the level of systems there are no captions to be seen.

    Args:
        found: The meta-evaluation.
        metric: The metric.
        path: A .pdf, .svg or .png file.

    >>> import tempfile
    >>> from reelscore.meta.cells import Cells
    >>> cells = Cells(["a", "b"], ["v1"], np.array([[1.0], [2.0]]), {"x": np.array([[1.0], [3.0]])})
    >>> path = Path(tempfile.mkdtemp(), "x.svg")
    >>> draw_scatter(MetaEvaluation("system", cells, [], []), "x", path)
    >>> path.exists()
    True
    """
    human, scores = found.cells.pair(metric)
    x, y = mean_known(scores), mean_known(human)
    shown = ~np.isnan(x)
    systems = [name for name, there in zip(found.cells.systems, shown, strict=True) if there]
    x, y = x[shown], y[shown]
    captions = found.level != "system"
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
            panel.set_xlabel(f"{metric}, {what}" if captions else metric)
            panel.set_ylabel("human score")
        panels[0].set_title(_title(found, metric), loc="left")
        if systems:
            label_points(panels[-1], x.tolist(), y.tolist(), systems)
        save(drawing, path)


def draw_p_values(found: Significance, path: str | Path) -> None:
    """Draw p-values as a heat map: does the row agree better with people than the column?

    Args:
        found: The tests of all pairs of metrics.
        path: A .pdf, .svg or .png file.

    >>> import tempfile
    >>> p = np.array([[np.nan, 0.003], [0.998, np.nan]])
    >>> found = Significance("williams", "pearson", "system", ["meteor", "bleu_4"],
    ...                      np.array([0.9, 0.5]), p, [1, 2], [1, 2], 0.05, "williams")
    >>> path = Path(tempfile.mkdtemp(), "p.svg")
    >>> draw_p_values(found, path)
    >>> path.exists()
    True
    """
    count = len(found.metrics)
    size = max(COLUMN_WIDTH, 0.36 * count + 1.0)
    with figure(width=size, height=0.8 * size) as (drawing, (panel,)):
        from matplotlib.colors import BoundaryNorm, ListedColormap

        steps = sorted({0, 0.001, 0.01, found.significant, 0.1, 0.5, 1})
        shades = ["#08306B", "#2171B5", "#4292C6", "#DEEBF7", "#F3F8FD", "#FFFFFF"]
        norm = BoundaryNorm(steps, len(shades))
        shown = np.ma.masked_invalid(found.p)
        panel.set_facecolor("#E8E8E8")
        image = panel.imshow(shown, cmap=ListedColormap(shades), norm=norm)
        small = 7 if count <= 8 else 5.5
        for i, j in np.argwhere(~np.isnan(found.p)):
            p = float(found.p[i, j])
            wins = p < found.significant
            panel.text(
                j,
                i,
                p_value(p),
                ha="center",
                va="center",
                fontsize=small,
                color="white" if wins else "black",
                fontweight="bold" if wins else "normal",
            )
        panel.set_xticks(range(count), found.metrics, rotation=45, ha="right")
        panel.set_yticks(range(count), found.metrics)
        panel.set_xticks(np.arange(1, count) - 0.5, minor=True)
        panel.set_yticks(np.arange(1, count) - 0.5, minor=True)
        panel.tick_params(which="both", length=0)
        panel.grid(visible=False)
        panel.grid(visible=True, which="minor", color="white", linewidth=0.6)
        panel.set_axisbelow(False)
        panel.spines[:].set_visible(False)
        bar = drawing.colorbar(image, ax=panel, spacing="uniform", shrink=0.9)
        bar.set_ticks(steps[1:-1], labels=[f"{step:g}".removeprefix("0") for step in steps[1:-1]])
        panel.set_title(f"p (row better than column): {found.test}, {found.coefficient}")
        save(drawing, path)


def _title(found: MetaEvaluation, metric: str) -> str:
    """The first coefficients of the metric: "pearson .97, kendall_b .80"."""
    parts = [
        f"{each.coefficient} {each.value:.3f}"
        for each in found.correlations
        if each.metric == metric and not math.isnan(each.value)
    ]
    return ", ".join(parts[:2])


def _file_name(metric: str) -> str:
    return re.sub(r"[^\w.-]+", "_", metric)
