"""Figures about captions: how alike writers are, and scores along the difficulty of the items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from reelscore.meta.difficulty import Difficulties, smooth
from reelscore.meta.similarity import Similarity
from reelscore.report.plots.style import COLUMN_WIDTH, PALETTE, figure, save

_STYLES = ("-", "--", ":", "-.")
_AXES = {"length": "length of the reference, rising", "frequency": "word frequency, falling"}


def draw_similarity(found: Similarity, path: str | Path) -> None:
    """Draw the matrix, and how each writer's likeness to the others is distributed.

    Args:
        found: How alike the writers are.
        path: The file; its ending says the format.

    >>> import tempfile
    >>> from reelscore.examples import clips
    >>> from reelscore.meta.similarity import compare_writers
    >>> found = compare_writers(clips()[0], "rouge_l")
    >>> draw_similarity(found, Path(tempfile.mkdtemp(), "similarity.svg"))
    """
    size = len(found.names)
    with figure(1, 2, width=2.2 * COLUMN_WIDTH, height=2.9) as (drawing, panels):
        panels[0].imshow(found.matrix, cmap="viridis")
        middle = (np.nanmin(found.matrix) + np.nanmax(found.matrix)) / 2
        for row in range(size):
            for column in range(size):
                value = found.matrix[row, column]
                if row != column and size <= 12:
                    panels[0].text(
                        column,
                        row,
                        f"{value:.2f}".lstrip("0"),
                        ha="center",
                        va="center",
                        fontsize=6,
                        color="white" if value < middle else "black",
                    )
        panels[0].set_xticks(range(size), found.names, rotation=60, ha="right")
        panels[0].set_yticks(range(size), found.names)
        panels[0].grid(visible=False)
        panels[0].set_title(f"mean {found.metric}")
        ranks = np.arange(1, len(found.items) + 1)
        by_mean = np.argsort(-found.to_others)
        for k, row in enumerate(by_mean):
            panels[1].plot(
                ranks,
                np.sort(found.by_item[row])[::-1],
                _STYLES[k // len(PALETTE) % len(_STYLES)],
                color=PALETTE[k % len(PALETTE)],
                label=f"{found.names[row]} ({found.to_others[row]:.3f})",
            )
        panels[1].set_xlabel("items, each writer's own order")
        panels[1].set_ylabel(f"{found.metric} to the others")
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

    Args:
        scores: Scores by system and item.
        orders: The difficulties, one panel each.
        metric: The name of the scores.
        path: The file; its ending says the format.
        window: How many neighbouring items are averaged.

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
