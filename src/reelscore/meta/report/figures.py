"""Figures: alignment audits, similar writers, difficult items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from reelscore.meta.audit import Audit
from reelscore.meta.difficulty import Difficulties, smooth
from reelscore.meta.shifts import Scan, critical, signed
from reelscore.meta.similarity import Similarity
from reelscore.report.plots.style import (
    BLUE,
    COLUMN_WIDTH,
    GREY,
    PALETTE,
    RED,
    SKY,
    figure,
    rule_squares,
    save,
)
from reelscore.report.safe_text import short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_SHOWN = 10  # shifts either way
_WRITTEN = 8  # writers whose numbers fit into the squares
_NAME = 20  # characters of a name
_STYLES = ("-", "--", ":", "-.")
_AXES = {"length": "length of the reference, rising", "frequency": "word frequency, falling"}


def draw_audit(audit: Audit, path: str | Path) -> None:
    """Draw the results of an audit: references, judgments, and judgments along the items.

    >>> import tempfile
    >>> from reelscore.examples import clips
    >>> from reelscore.meta.audit import audit_captions
    >>> draw_audit(audit_captions(*clips()), Path(tempfile.mkdtemp(), "audit.svg"))
    """
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
    """Draw the correlation against the shift, a panel for each data set, on one scale.

    >>> import tempfile
    >>> from reelscore.meta.shifts import scan_shifts
    >>> rng = np.random.default_rng(0)
    >>> scan = scan_shifts(rng.normal(size=(2, 99)), rng.normal(size=(2, 99)))
    >>> draw_shifts({"noise": scan}, Path(tempfile.mkdtemp(), "shifts.svg"))
    """
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


def draw_similarity(similarity: Similarity, path: str | Path) -> None:
    """Draw the matrix, and how each writer's likeness to the others is distributed.

    >>> import tempfile
    >>> from reelscore.examples import clips
    >>> from reelscore.meta.similarity import compare_writers
    >>> similarity = compare_writers(clips()[0], "rouge_l")
    >>> draw_similarity(similarity, Path(tempfile.mkdtemp(), "similarity.svg"))
    """
    size = len(similarity.names)
    names = short_names(similarity.names, _NAME)
    with figure(1, 2, width=2.2 * COLUMN_WIDTH, height=2.9) as (drawing, panels):
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("", ["#FFFFFF", SKY])  # black is read on all
        panels[0].set_facecolor("#EDEDED")
        least = min(0.0, float(np.nanmin(similarity.matrix)))
        panels[0].imshow(np.ma.masked_invalid(similarity.matrix), cmap=shades, vmin=least)
        for row, column in np.argwhere(~np.eye(size, dtype=bool) & (size <= _WRITTEN)):
            texts = [f"{m[row, column]:.2f}" for m in (similarity.matrix, similarity.medians)]
            texts = [text.removeprefix("0") for text in texts]
            panels[0].text(
                column, row, f"{texts[0]}\n({texts[1]})", ha="center", va="center", fontsize=5.5
            )
        panels[0].set_xticks(range(size), names, rotation=45, ha="right", rotation_mode="anchor")
        panels[0].set_yticks(range(size), names)
        rule_squares(panels[0], size, "#D0D0D0", 0.5)
        panels[0].set_title(f"{similarity.metric}: mean (median)", loc="left")
        ranks = np.arange(1, len(similarity.items) + 1)
        by_mean = np.argsort(-similarity.to_others)
        for k, row in enumerate(by_mean[:1] if size == 2 else by_mean):  # two are alike
            own = np.sort(similarity.by_item[row])[::-1]
            said = f"mean {similarity.to_others[row]:.3f}, median {np.median(own):.3f}"
            panels[1].plot(
                ranks,
                own,
                _STYLES[k // len(PALETTE) % len(_STYLES)],
                color=PALETTE[k % len(PALETTE)],
                label=f"{' and '.join(names) if size == 2 else names[row]}: {said}",
            )
        panels[1].set_xlabel("items, each writer's own order")
        panels[1].set_ylabel(f"{similarity.metric} to the others")
        panels[1].legend(fontsize=6)
        save(drawing, path)


def draw_difficulty(
    scores: Mapping[str, Mapping[str, float]],
    orders: Sequence[Difficulties],
    metric: str,
    path: str | Path,
    window: int = 500,
) -> None:
    """Draw smoothed scores of each system along each difficulty.

    >>> import tempfile
    >>> from reelscore.meta.difficulty import difficulties
    >>> order = difficulties({"v1": ["a man runs"], "v2": ["a dog"]})
    >>> draw_difficulty({"me": {"v1": 0.5, "v2": 0.7}}, [order], "meteor",
    ...                 Path(tempfile.mkdtemp(), "difficulty.svg"), window=1)
    """
    with figure(1, len(orders), width=COLUMN_WIDTH * len(orders), height=2.4) as (drawing, panels):
        for panel, order in zip(panels, orders, strict=True):
            for k, (name, items) in enumerate(scores.items()):
                panel.plot(
                    *smooth(order.along(items), window),
                    _STYLES[k // len(PALETTE) % len(_STYLES)],
                    color=PALETTE[k % len(PALETTE)],
                    label=name,
                )
            panel.set_xlabel(f"items by {_AXES[order.kind]}")
            panel.set_ylabel(metric)
        panels[-1].legend(fontsize=6)
        save(drawing, path)
