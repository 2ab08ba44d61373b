"""Figures of alignment audits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from reelscore.meta.audit import Audit
from reelscore.meta.shifts import Scan, critical, signed
from reelscore.report.plots.style import BLUE, COLUMN_WIDTH, GREY, RED, figure, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_SHOWN = 10  # shifts either way


def draw_audit(audit: Audit, path: str | Path) -> None:
    """Draw the results of an audit: references, judgments, and judgments along the items."""
    parts = {
        ("captions and references", "mean similarity"): audit.references,
        ("judgments and captions", "correlation within systems"): audit.judgments,
    }
    scans = {names: part[1] for names, part in parts.items() if part is not None}
    with figure(1, len(scans) + 1, width=2.3 * (len(scans) + 1), height=2.3) as (drawing, panels):
        for panel, ((title, what), scan) in zip(panels, scans.items(), strict=False):
            _lines(panel, scan)
            panel.set_title(title)
            panel.set_ylabel(what)
            panel.set_xlabel("shift (items)")
            panel.margins(y=0.15)
        _map(panels[-1], list(scans.values())[-1])
        save(drawing, path)


def draw_shifts(scans: Mapping[str, Scan], path: str | Path, columns: int = 5) -> None:
    """Draw the correlation against the shift, a panel for each data set, on one scale."""
    columns = min(columns, len(scans))
    rows = -(-len(scans) // columns)
    top = max(float(scan.strengths.max()) for scan in scans.values())
    with figure(rows, columns, width=2 * COLUMN_WIDTH, height=1.25 * rows + 0.3) as (
        drawing,
        panels,
    ):
        for k, panel in enumerate(panels):
            if k >= len(scans):
                panel.set_visible(False)
                continue
            name, scan = list(scans.items())[k]
            _lines(panel, scan)
            panel.set_title(name)
            panel.set_ylim(min(-0.1, -0.2 * top), 1.3 * top)
            panel.tick_params(labelleft=k % columns == 0)
            if k + columns >= len(scans):
                panel.set_xlabel("shift (lines)")
            if k % columns == 0:
                panel.set_ylabel("r within systems")
        save(drawing, path)


def _lines(panel: Axes, scan: Scan) -> None:
    """Draw a stem for each shift, the best in colour, and a band of what chance gives."""
    near = np.abs(scan.shifts) <= _SHOWN
    shifts, strengths = scan.shifts[near], scan.strengths[near]
    best = scan.best()
    colour = BLUE if best == 0 else RED
    panel.vlines(shifts, 0, strengths, color=GREY, linewidth=0.8)
    panel.plot(shifts, strengths, "o", color=GREY, markersize=2)
    if best in shifts:
        height = float(strengths[shifts == best][0])
        z = float(scan.z()[scan.at(best)])
        panel.vlines([best], 0, [height], color=colour, linewidth=1.6)
        panel.plot([best], [height], "o", color=colour)
        panel.annotate(
            f"{signed(best)}: z = {z:.1f}",
            (best, height),
            xytext=(0, 4),
            textcoords="offset points",
            ha="center",
            fontsize=7,
            color=colour,
        )
        if abs(z) > 1 and strengths.min() < 0:  # a correlation, for which chance gives about 0
            chance = abs(height / z) * critical(scan.tests)
            panel.axhspan(-chance, chance, color=GREY, alpha=0.12, linewidth=0)
    panel.axhline(0, color=GREY, linewidth=0.6)


def _map(panel: Axes, scan: Scan) -> None:
    """Draw z by shift and tenth of the items."""
    near = np.abs(scan.shifts) <= _SHOWN
    rows = [scan.z(block)[near] for block in scan.blocks] or [scan.z()[near]]
    values = np.array(rows)
    size = max(3.0, float(np.abs(values).max()))
    low, high = int(scan.shifts[near].min()), int(scan.shifts[near].max())
    image = panel.imshow(
        values,
        aspect="auto",
        cmap="RdBu_r",
        vmin=-size,
        vmax=size,
        extent=(low - 0.5, high + 0.5, len(rows) + 0.5, 0.5),
    )
    panel.set_title("along the items")
    panel.set_xlabel("shift (items)")
    panel.set_ylabel("tenth of the items")
    panel.grid(visible=False)
    panel.figure.colorbar(image, ax=panel, label="z")
