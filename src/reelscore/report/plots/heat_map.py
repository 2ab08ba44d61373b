"""A matrix of p-values as a picture: who is significantly better than whom."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from reelscore.report.plots.style import COLUMN_WIDTH, figure, rule_squares, save
from reelscore.report.tables.agreement import p_value
from reelscore.stats.resampling import FloatArray

_SHADES = ["#08306B", "#2171B5", "#4292C6", "#DEEBF7", "#F3F8FD", "#FFFFFF"]


def draw_p_matrix(
    p: FloatArray, names: Sequence[str], significant: float, title: str, path: str | Path
) -> None:
    """Draw p-values of the row against the column; significant ones are dark, bold and white.

    Args:
        p: One for each pair; NaN where there is none.
        names: Of rows and columns.
        significant: The level.
        title: Stands above.
        path: A .pdf, .svg or .png file.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "p.svg")
    >>> draw_p_matrix(np.array([[np.nan, 0.01], [0.99, np.nan]]), ["a", "b"], 0.05, "p", path)
    >>> path.exists()
    True
    """
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
        save(drawing, path)
