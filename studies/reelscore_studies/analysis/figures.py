"""Figures: similar writers, difficult items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from reelscore.report.plots.style import COLUMN_WIDTH, PALETTE, SKY, figure, rule_squares, save
from reelscore.report.safe_text import short_names
from reelscore_studies.analysis.difficulty import Difficulties, smooth
from reelscore_studies.analysis.similarity import Similarity

_WRITTEN = 8  # writers whose numbers fit into the squares
_NAME = 20  # characters of a name
_STYLES = ("-", "--", ":", "-.")
_AXES = {"length": "length of the reference, rising", "frequency": "word frequency, falling"}


def draw_similarity(similarity: Similarity, path: str | Path) -> None:
    """Draw the matrix, and how each writer's likeness to the others is distributed.

    >>> import tempfile
    >>> from reelscore.examples import clips
    >>> from reelscore_studies.analysis.similarity import compare_writers
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
    >>> from reelscore_studies.analysis.difficulty import difficulties
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
