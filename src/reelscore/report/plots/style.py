"""One look for all figures: readable at the width of a column, safe for colour-blind readers.

matplotlib is loaded when the first figure is made. A figure knows nothing of files; `save` writes
it as PDF, SVG or PNG by the file's ending, the same bytes each time.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelscore._packages import need
from reelscore.data.atomic_files import write_atomically
from reelscore.errors import DataError
from reelscore.report.plots import FORMATS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

COLUMN_WIDTH = 3.35  # inches, a column of a two-column paper
_BESIDE = 6  # points: how near a label must be to need no line

# Okabe and Ito (2008): told apart with any kind of colour vision, and in print.
BLUE, ORANGE, GREEN, RED, PURPLE, SKY, YELLOW, GREY = PALETTE = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#F0E442",
    "#666666",
)

_STYLE: Any = {
    "font.size": 8,
    "font.family": "sans-serif",
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "figure.dpi": 150,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,  # text stays text
    "svg.fonttype": "none",
    "svg.hashsalt": "reelscore",
}


def need_matplotlib() -> None:
    """Refuse to draw without matplotlib: before the work whose result is drawn."""
    need("matplotlib", "reelscore[plots]", "Plots need")


def check_figure(path: str | Path) -> None:
    """Refuse a figure that cannot be written: before the work whose result is drawn."""
    checked_ending(path, FORMATS, "a figure")
    need_matplotlib()


def checked_ending(path: str | Path, formats: Sequence[str], what: str) -> str:
    """Find the format that a file's ending names.

    >>> checked_ending("story.SVG", FORMATS, "a figure")
    'svg'
    """
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in formats:
        raise DataError(
            f"{path}: {what} is written as .{', .'.join(formats)}; give the file one of these "
            "endings."
        )
    return ending


@contextmanager
def figure(
    rows: int = 1, columns: int = 1, *, width: float = COLUMN_WIDTH, height: float = 2.6
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Open a figure in the common style; it is drawn on inside the block."""
    need_matplotlib()
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        made = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(made)
        yield made, list(made.subplots(rows, columns, squeeze=False).flat)


def save(drawing: Figure, path: str | Path) -> None:
    """Write a figure, all or nothing, in the format its ending names."""
    check_figure(path)
    import matplotlib

    ending = checked_ending(path, FORMATS, "a figure")
    dated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
    out = io.BytesIO()
    with matplotlib.rc_context(_STYLE):
        drawing.savefig(out, format=ending, metadata=dated[ending])
    write_atomically(path, out.getvalue())


def rule_squares(panel: Axes, count: int, colour: str, width: float) -> None:
    """Draw lines between the cells of a square matrix, and nothing around it."""
    between = [k - 0.5 for k in range(1, count)]
    panel.set_xticks(between, minor=True)
    panel.set_yticks(between, minor=True)
    panel.tick_params(which="both", length=0)
    panel.grid(visible=False)
    panel.grid(visible=True, which="minor", color=colour, linewidth=width)
    panel.set_axisbelow(False)
    panel.spines[:].set_visible(False)


def label_points(
    panel: Axes, x: Sequence[float], y: Sequence[float], labels: Sequence[str]
) -> None:
    """Write a label beside each point, so that no label covers another, or a point.

    Each label takes the nearest free place around its point; a thin line leads to it where that
    is farther off. Call it last: the limits of the panel must not change afterwards.
    """
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

    drawing = panel.figure
    assert isinstance(drawing, Figure)
    drawing.draw_without_rendering()  # fixes the layout, so that places can be measured
    frame = panel.get_window_extent()
    dots = panel.transData.transform(list(zip(x, y, strict=True)))
    unit = drawing.dpi / 72  # one point, in pixels
    taken = [Bbox.from_bounds(px - 3 * unit, py - 3 * unit, 6 * unit, 6 * unit) for px, py in dots]
    for k in sorted(range(len(labels)), key=lambda k: -dots[k][1]):
        text = panel.annotate(
            labels[k],
            (x[k], y[k]),
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=6.5,
            annotation_clip=False,
        )
        box = text.get_window_extent()
        place = _free_place(box, dots[k][0], dots[k][1], unit, frame, taken)
        shift = ((place.x0 - dots[k][0]) / unit, (place.y0 - dots[k][1]) / unit)
        text.set_position(shift)
        # A line from the point to the nearest spot of the label, unless they are side by side
        (px, py), (x0, y0), (x1, y1) = dots[k], place.min, place.max
        away = ((min(max(px, x0), x1) - px) / unit, (min(max(py, y0), y1) - py) / unit)
        if math.hypot(*away) > _BESIDE:
            panel.annotate(
                "",
                (x[k], y[k]),
                xytext=away,
                textcoords="offset points",
                arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.5, "shrinkA": 0},
                annotation_clip=False,
            )
        taken.append(place)


def _free_place(
    label: Bbox, px: float, py: float, unit: float, frame: Bbox, taken: Sequence[Bbox]
) -> Bbox:
    """Find the nearest box around a point that is inside the frame and overlaps nothing."""
    from matplotlib.transforms import Bbox

    width, height = label.width, label.height
    sides = [(1, 0), (0, 1), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)]
    best, least = None, float("inf")
    for distance, (right, up) in product((4, 8, 14, 22, 32, 44), sides):
        left = px + right * distance * unit - width * (1 - right) / 2
        low = py + up * distance * unit - height * (1 - up) / 2
        box = Bbox.from_bounds(left, low, width, height)
        overlaps = sum(_overlap(box, other) for other in taken)
        outside = width * height - _overlap(box, frame)
        cost = overlaps + outside
        if cost < 1e-6:
            return box
        if cost < least:
            best, least = box, cost
    assert best is not None
    return best


def _overlap(one: Bbox, other: Bbox) -> float:
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    high = min(one.y1, other.y1) - max(one.y0, other.y0)
    return max(0.0, float(wide)) * max(0.0, float(high))
