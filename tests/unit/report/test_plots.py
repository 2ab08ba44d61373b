"""Figures: every format, the same bytes each time, labels that do not overlap."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
from reelscore.data.tables.table_forms import table_of
from reelscore.errors import DataError
from reelscore.meta.evaluation import MetaEvaluation, compare_metrics, evaluate_metrics
from reelscore.meta.paired_scores import Cells
from reelscore.meta.report.agreement_tables import draw_agreement
from reelscore.report.html import report_of
from reelscore.report.plots.figures import TablePlots
from reelscore.report.plots.style import FORMATS, figure, label_points, save
from reelscore.significance import rank_systems
from reelscore_studies.analysis.figures import draw_similarity
from reelscore_studies.analysis.similarity import compare_writers

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


def texts_of(path):
    """The texts of a figure in SVG, where they stay texts."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text())


def test_many_systems_are_numbered(tmp_path):
    names = [f"vtt20.en-en.TEAM_{k}.primary_run" for k in range(42)]
    scores = {name: {f"v{i}": k + i % 3 for i in range(6)} for k, name in enumerate(names)}
    evaluation = evaluate_metrics(scores, scores, level="system")
    [path] = draw_agreement(evaluation, tmp_path, "svg")
    texts = texts_of(path)
    assert {str(number) for number in range(1, 43)} <= {*texts}
    assert " 1 …41.primary_run" in " ".join(texts).replace("\xa0", " ")


def test_names_keep_what_tells_them_apart(tmp_path):
    names = [f"a_captioner_with_a_very_long_name_of_run_{k}" for k in range(3)]
    scores = {name: {"v1": k, "v2": k + 1} for k, name in enumerate(names)}
    table_of(scores, name="x").plot.intervals("x", tmp_path / "intervals.svg")
    shown = [text for text in texts_of(tmp_path / "intervals.svg") if "…" in text]
    assert len({*shown}) == 3


def test_two_annotators_are_black_on_light(tmp_path):
    captions = {"a": {"v1": "a man runs", "v2": "a dog"}, "b": {"v1": "a man sits", "v2": "a dog"}}
    draw_similarity(compare_writers(captions, "rouge_l"), tmp_path / "two.svg")
    svg = (tmp_path / "two.svg").read_text()
    assert "mean (median)" in svg
    assert "a and b: mean" in svg
    assert "#440154" not in svg


def test_scores_of_people_on_other_items_are_ranked(tmp_path):
    """A campaign's table: Figure 7 of the Direct Assessment paper, not a matrix of dashes."""
    rng = np.random.default_rng(1)
    scores = {
        system: ItemScores.of(
            {f"v{k}": float(rng.normal(mean)) for k in rng.choice(900, 100, replace=False)}
        )
        for system, mean in (("a", 0.6), ("b", 0.0), ("c", -0.1))
    }
    table = ScoreTable(
        {
            name: {"z": MetricResult("z", float(items.array.mean()), items, "")}
            for name, items in scores.items()
        }
    )
    report = report_of(table)
    ranking = rank_systems(table)
    assert report.human == ["z"]
    assert report.tests[0].p.tolist()[0][1:] == ranking.p.tolist()[0][1:]
    assert not report.notes
    figures = TablePlots(report.table, report.tests)
    drawing = figures.wins("z", tmp_path / "wins.svg")
    assert "rank-sum on z" in drawing.axes[0].get_title()
