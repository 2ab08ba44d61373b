"""Figures: every format, the same bytes each time, labels that do not overlap."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from reelscore.errors import DataError
from reelscore.meta.evaluation import MetaEvaluation, compare_metrics
from reelscore.meta.paired_scores import Cells
from reelscore.meta.report.agreement_tables import draw_agreement
from reelscore.report.plots.style import FORMATS, figure, label_points, save

MAGIC = {"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}


@pytest.mark.parametrize("ending", FORMATS)
def test_formats(tmp_path, ending):
    contents = []
    for name in ("one", "two"):
        with figure() as (drawing, panels):
            panels[0].plot([0, 1], [1, 0])
            save(drawing, tmp_path / f"{name}.{ending}")
        contents.append((tmp_path / f"{name}.{ending}").read_bytes())
    assert contents[0].startswith(MAGIC[ending])
    assert contents[0] == contents[1]


def test_unknown_format(tmp_path):
    with figure() as (drawing, _), pytest.raises(DataError, match=r"\.pdf, \.svg, \.png"):
        save(drawing, tmp_path / "figure.gif")


@pytest.mark.parametrize("spread", [1.0, 0.1])
def test_labels_do_not_overlap(spread):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 13)) * spread
    with figure() as (drawing, (panel,)):
        panel.plot([*x, -1, 1], [*y, -1, 1], "o")
        label_points(panel, x.tolist(), y.tolist(), [f"system-{k}" for k in range(13)])
        drawing.draw_without_rendering()
        boxes = [text.get_window_extent() for text in panel.texts if text.get_text()]
        dots = panel.transData.transform(np.column_stack([x, y]))
    assert len(boxes) == 13
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert not any(box.contains(*dot) for box in boxes for dot in dots)


@pytest.mark.parametrize("level", ["system", "item"])
def test_all_figures(tmp_path, level):
    rng = np.random.default_rng(0)
    human = rng.normal(size=(4, 9))
    metrics = {"a/b": human + rng.normal(size=(4, 9)), "constant": np.ones((4, 9))}
    cells = Cells(["one", "two", "three", "$x_1$"], list("123456789"), human, metrics)
    tests = [compare_metrics(cells, level, test="perm-both", trials=20)]
    files = draw_agreement(
        MetaEvaluation(level, cells, [], tests), tmp_path / "new" / "folder", "svg"
    )
    assert [file.name for file in files] == [
        "scatter-a_b.svg",
        "scatter-constant.svg",
        "p-values-perm-both.svg",
    ]
    assert all(file.exists() for file in files)
