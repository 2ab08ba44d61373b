"""Correlations and tests of metrics, from tables; published tables of the field."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest

from reelscore import DataError, ScoreTable, UnknownNameError, score_systems
from reelscore.examples import clips, path
from reelscore.meta.correlation import COEFFICIENTS, correlate_metrics, with_intervals
from reelscore.meta.evaluation import TESTS, compare_metrics, evaluate_metrics
from reelscore.meta.paired_scores import Cells
from reelscore.stats.correlation_tests import williams
from reelscore.stats.correlations import LEVELS, pearson

NAN = float("nan")


def made_up(metrics=3, systems=6, items=30, seed=0):
    rng = np.random.default_rng(seed)
    human = 50 + 20 * rng.normal(size=(systems, items))
    noise = rng.normal(size=(metrics, systems, items)) * 20
    scores = {f"m{k}": human + (k + 1) * noise[k] for k in range(metrics)}
    return Cells([f"s{k}" for k in range(systems)], [str(k) for k in range(items)], human, scores)


@pytest.fixture(scope="module")
def tables():
    human = ScoreTable.read(path("clips/judgments.csv"), repeats="mean")
    return score_systems(*clips(), "meteor,cider,rouge_l"), human


@pytest.mark.parametrize("level", LEVELS)
def test_every_coefficient(level):
    names = [name for name in COEFFICIENTS if level == "system" or name != "soft_accuracy"]
    correlations = correlate_metrics(made_up(), level, names)
    assert [(each.metric, each.coefficient) for each in correlations] == [
        (metric, name) for metric in ("m0", "m1", "m2") for name in names
    ]
    for each in correlations:
        if (each.coefficient, level) != ("kendall_like", "system"):  # means are nearer than 25
            assert -1 <= each.value <= 1, each
        assert each.n == (6 if level == "system" else 180)
        assert each.groups == {"system": 1, "pooled": 1, "item": 30, "per-system": 6}[level]
        json.dumps(each.to_dict(), allow_nan=False)


def test_undefined_values_say_why():
    cells = made_up(1)
    cells.metrics["m0"][:] = 0.25
    correlations = correlate_metrics(cells, "pooled", ["pearson", "accuracy"])
    assert math.isnan(correlations[0].value)
    assert correlations[0].reason == "the metric is constant"
    assert correlations[0].to_dict()["value"] is None
    assert correlations[1].value == 0
    (like,) = correlate_metrics(made_up(1), "system", ["kendall_like"])
    assert like.reason == "no human scores within a group differ by 25 or more"


def test_undefined_groups_are_counted():
    cells = made_up(1)
    cells.metrics["m0"][:, :4] = 0.25
    (correlation,) = correlate_metrics(cells, "item", ["pearson"])
    assert (correlation.groups, correlation.undefined) == (30, 4)
    cells.metrics["m0"][:] = np.arange(30)  # differs between items, not between systems
    (correlation,) = correlate_metrics(cells, "item", ["pearson"])
    assert correlation.reason == "no group has two different scores on both sides"


@pytest.mark.parametrize("method", ["fisher", "boot-systems", "boot-items", "boot-both"])
def test_intervals(method):
    cells = made_up(1)
    correlations = correlate_metrics(cells, "pooled", ["pearson", "kendall_b", "pdp"])
    first, tau, pdp = with_intervals(correlations, cells, method, resamples=50)
    for each in (first, tau):
        low, high = each.interval
        assert -1 <= low < each.value < high <= 1
    assert pdp.interval is None


@pytest.mark.parametrize("test", TESTS)
def test_every_test_finds_the_better_metric(test):
    comparison = compare_metrics(made_up(), "pooled", test=test, trials=200)
    assert list(comparison.systems) == ["m0", "m1", "m2"]
    assert comparison.scores.tolist() == sorted(comparison.scores, reverse=True)
    assert comparison.p[0, 2] < 0.01
    assert comparison.p[0, 2] + comparison.p[2, 0] == pytest.approx(1, abs=0.02)
    assert np.isnan(np.diag(comparison.p)).all()
    assert comparison.ranks["m0"] == 1 < comparison.ranks["m2"]
    json.dumps(comparison.to_dict(), allow_nan=False)


def test_williams_matrix_is_made_of_single_tests():
    cells = made_up()
    h, x, y = (scores.ravel() for scores in (cells.human, *list(cells.metrics.values())[:2]))
    r = [float(pearson(a, b)) for a, b in ((h, x), (h, y), (x, y))]
    comparison = compare_metrics(cells, "pooled")
    assert comparison.p[0, 1] == pytest.approx(williams(*r, 180).p)


def test_gaps_are_left_out_pair_by_pair():
    cells = made_up()
    cells.metrics["m1"][0, :10] = NAN
    cells.metrics["m2"][1, :10] = NAN
    for test in ("williams", "perm-both"):
        comparison = compare_metrics(cells, "pooled", test=test, trials=100)
        assert np.isfinite(comparison.p[~np.eye(3, dtype=bool)]).all()
    only = Cells(
        cells.systems,
        cells.items,
        np.where(np.isnan(cells.metrics["m1"]), NAN, cells.human),
        {name: cells.metrics[name] for name in ("m0", "m1")},
    )
    p = compare_metrics(cells, "pooled", test="perm-items", trials=100)
    place = [list(p.systems).index(name) for name in ("m0", "m1")]
    alone = compare_metrics(only, "pooled", test="perm-items", trials=100)
    assert p.p[place[0], place[1]] == alone.p[0, 1]


def test_metrics_without_a_caption_in_common():
    cells = made_up(2)
    cells.metrics["m0"][:, :15] = NAN
    cells.metrics["m1"][:, 15:] = NAN
    for test in ("williams", "perm-both"):
        comparison = compare_metrics(cells, "pooled", test=test, trials=20)
        assert np.isnan(comparison.p).all()
        assert comparison.ranks == {}


def test_correction():
    plain = compare_metrics(made_up(), "pooled")
    holm = compare_metrics(made_up(), "pooled", correction="holm")
    upper = np.triu_indices(3, 1)
    assert (holm.p_corrected[upper] >= plain.p_corrected[upper]).all()
    assert (holm.p_corrected[upper] > holm.p[upper]).any()
    assert holm.p_corrected[2, 0] == plain.p[2, 0]


def test_sizes_of_correlations():
    cells = made_up(2)
    cells.metrics["m0"][:] *= -1  # the better one, turned round
    assert list(compare_metrics(cells, "pooled").systems) == ["m1", "m0"]
    comparison = compare_metrics(cells, "pooled", test="williams-abs")
    assert list(comparison.systems) == ["m0", "m1"]
    assert comparison.p[0, 1] < 0.01


def test_one_system():
    cells = made_up(2, systems=1)
    correlations = correlate_metrics(cells, "system", ["pearson", "soft_accuracy"])
    assert {each.reason for each in correlations} == {"fewer than 2 pairs"}
    assert np.isnan(compare_metrics(cells, "system").p).all()
    assert correlate_metrics(cells, "per-system", ["pearson"])[0].value > 0.3


def test_evaluate(tables):
    evaluation = evaluate_metrics(*tables, draws=50)
    assert [test.test for test in evaluation.tests] == ["williams", "perm-both"]
    assert len(evaluation.correlations) == 3 * 4
    assert evaluation.to_dict()["items"] == 15
    by_item = evaluate_metrics(*tables, level="item", draws=50, intervals="boot-items")
    assert [test.test for test in by_item.tests] == ["perm-both"]
    assert by_item.correlations[0].interval
    assert not evaluate_metrics(*tables, tests=[]).tests
    assert not evaluate_metrics(*tables, coefficients=["pdp"]).tests


def test_errors(tables):
    with pytest.raises(UnknownNameError, match="Did you mean 'pearson'"):
        evaluate_metrics(*tables, coefficients=["pearsn"])
    with pytest.raises(UnknownNameError, match="Did you mean 'williams'"):
        evaluate_metrics(*tables, tests=["wiliams"])
    with pytest.raises(UnknownNameError, match="pooled"):
        evaluate_metrics(*tables, level="pool")
    with pytest.raises(UnknownNameError, match="fisher"):
        evaluate_metrics(*tables, intervals="fischer")
    with pytest.raises(DataError, match="perm-both"):
        evaluate_metrics(*tables, level="item", tests=["williams"])
    with pytest.raises(DataError, match="compares systems"):
        evaluate_metrics(*tables, level="item", coefficients=["soft_accuracy"])
    with pytest.raises(DataError, match="cannot be tested"):
        compare_metrics(made_up(), coefficient="pdp")


# Published tables ---------------------------------------------------------------------------------


@pytest.mark.shared
def test_direct_assessment_replicates(shared):
    """Graham, Awad and Smeaton (2018), Table 5: r .995 of raw and .997 of standardized scores.

    Table 4 is the first run; the second run was published as TRECVid 2016, one annotator.
    """
    first = {
        "HUMAN": (88.2, 0.895),
        "SHEF": (66.2, 0.303),
        "MEDIA": (49.0, -0.129),
        "INF": (42.9, -0.278),
        "DCU": (41.3, -0.314),
        "NII": (37.7, -0.423),
    }
    folder = shared / "trecvid-vtt-ha/single-annotator/2016"
    (file,) = folder.rglob("ad-seg-scores*.csv")
    second: dict[str, list[tuple[float, float]]] = {}
    for row in csv.DictReader(file.read_text().splitlines()):
        name = next((name for name in first if row["SYS"].startswith(name)), None)
        if name is not None:
            second.setdefault(name, []).append((float(row["RAW.SCR"]), float(row["Z.SCR"])))
    assert set(second) == set(first)
    means = {name: np.mean(rows, axis=0) for name, rows in second.items()}
    for k, expected in enumerate((0.995, 0.997)):
        r = pearson([first[name][k] for name in first], [means[name][k] for name in first])
        assert round(float(r), 3) == expected


# BERTHA (Lebron et al., 2022), Tables 4 and 2: caption and system level, as printed
PRINTED = {
    2016: {
        "meteor": (0.017, -0.449),
        "cider": (0.049, -0.001),
        "bleu_4": (0.017, 0.119),
        "rouge_l": (0.064, -0.650),
    },
    2017: {"meteor": (0.083, 0.792), "cider": (0.083, 0.848), "bleu_4": (0.045, 0.607)},
    2019: {
        "meteor": (0.222, 0.880),
        "cider": (0.155, 0.892),
        "bleu_4": (0.049, 0.753),
        "rouge_l": (0.158, 0.811),
    },
    2020: {"meteor": (0.235, 0.988), "cider": (0.208, 0.967), "rouge_l": (0.209, 0.914)},
}


@pytest.mark.shared
@pytest.mark.parametrize("year", PRINTED)
def test_bertha_tables(shared, year):
    """As the paper has it: captions one line off, one reference, raw text, sizes of r."""
    folder = shared / f"trecvid-vtt-ha/multiple-annotator/{year}"
    (reference,) = [f for f in (folder / "references").iterdir() if f.name.endswith("HUMAN-B")]
    references = {str(k): [line] for k, line in enumerate(lines(reference))}
    captions = {f.name.rpartition(".")[2]: lines(f) for f in (folder / "systems").iterdir()}
    (judged,) = folder.glob("ad-seg-scores*.csv")
    rows = [
        (row["SYS"], row["SID"], float(row["Z.SCR"]))
        for row in csv.DictReader(judged.read_text().splitlines())
        if not row["SYS"].startswith("HUMAN")
    ]
    items = {f"{system} {item}": (system, item) for system, item, _ in rows}
    scores = score_systems(
        {"all": {key: captions[system][int(item)] for key, (system, item) in items.items()}},
        {key: references[item] for key, (_, item) in items.items()},
        "bleu,meteor,cider,rouge_l",
        tokenizer="none",
        empty="zero",
    )["all"]
    systems, numbers = (list(dict.fromkeys(row[k] for row in rows)) for k in (0, 1))
    shape = len(systems), len(numbers)
    human, metrics = np.full(shape, NAN), {name: np.full(shape, NAN) for name in scores}
    for system, item, score in rows:
        place = systems.index(system), numbers.index(item)
        human[place] = score
        for name, values in metrics.items():
            values[place] = scores[name].items[f"{system} {item}"]
    cells = Cells(systems, numbers, human, metrics)
    for name, (caption, system) in PRINTED[year].items():
        measured = {
            level: next(
                each.value
                for each in correlate_metrics(cells, level, ["pearson"])
                if each.metric == name
            )
            for level in ("pooled", "system")
        }
        assert abs(measured["pooled"]) == pytest.approx(caption, abs=0.002), name
        assert measured["system"] == pytest.approx(system, abs=0.002), name


def lines(file):
    text = file.read_bytes().decode()
    return [line.strip() for line in text.removesuffix("\n").split("\n")]
