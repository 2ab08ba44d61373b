"""Wilcoxon's tests and clusters: R's values, and the clusters that WMT published."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from reelscore.errors import DataError
from reelscore.significance.comparison import rank_ranges
from reelscore.stats.corrections import cluster, rank
from reelscore.stats.rank_tests import rank_sum, signed_rank

NAN = float("nan")


def test_signed_rank_as_r():
    # R's help page of wilcox.test: depression scores, Hollander & Wolfe (1973), p. 29
    x = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    y = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    assert signed_rank(x, y, alternative="greater").p == pytest.approx(0.01953, abs=5e-6)


def test_rank_sum_as_r():
    # wilcox.test(x, y, alternative = "g", exact = FALSE, correct = TRUE) of the same page
    x = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    y = [1.15, 0.88, 0.90, 0.74, 1.21]
    tested = rank_sum(x, y, alternative="greater")
    assert tested.statistic == 35
    assert tested.p == pytest.approx(0.1223, abs=5e-5)


def test_many_and_tied_differences():
    rng = np.random.default_rng(0)
    one, other = rng.integers(5, size=(2, 80)).astype(float)
    assert 0 < signed_rank(one, other).p <= 1
    assert signed_rank(one + 1, other).p < 1e-4
    assert signed_rank(other, one + 1, alternative="less").p < 1e-4


def test_nothing_differs():
    assert signed_rank([1, 2, NAN], [1, 2, 3]) == (0, 1)
    assert rank_sum([1, 1], [1, 1, NAN]) == (2, 1)
    with pytest.raises(DataError, match="both sides"):
        rank_sum([1], [NAN])


@pytest.mark.shared
@pytest.mark.parametrize("pair", ["cs-en", "zh-en"])
def test_wmt22_tests_and_clusters(shared, pair):
    """Every significant p-value of the organisers, and wins and clusters made from the scores."""
    folder = shared / "da-wmt22"
    scores: dict[str, list[float]] = {}
    for row in rows(folder / f"ad-seg-scores-{pair}.csv"):
        scores.setdefault(row["SYS"], []).append(float(row["Z.SCR"]))
    order = sorted(scores, key=lambda system: -np.mean(scores[system]))
    p = np.array(
        [[rank_sum(scores[a], scores[b], alternative="greater").p for b in order] for a in order]
    )
    lines = (folder / f"adwilcox-{pair.replace('-', '')}.csv").read_text().strip("\n").splitlines()
    columns = lines[0].split()
    published = {
        (row.split()[0], column): float(value)
        for row in lines[1:]
        for column, value in zip(columns, row.split()[1:], strict=True)
    }
    for i, a in enumerate(order):
        for j, b in enumerate(order):
            if published[a, b] != 0.12:  # stands there for all that are not significant
                assert np.log10(p[i, j]) == pytest.approx(np.log10(published[a, b]), abs=1e-9)
    wins = p < 0.05
    boundaries, won = published_clusters(folder)[tuple(pair.split("-"))]
    assert wins.sum(axis=1).tolist() == [won[system] for system in order]
    clusters = cluster(wins)
    assert [
        k + 1 for k in range(len(clusters)) if clusters[k + 1 : k + 2] != [clusters[k]]
    ] == boundaries


def rows(path):
    return csv.DictReader(path.read_text().splitlines(), delimiter=" ")


def published_clusters(folder):
    """Where clusters end, and each system's wins, by language pair."""
    tables: dict[tuple[str, str], tuple[list[int], dict[str, int]]] = {}
    for row in rows(folder / "clusters.csv"):
        ends, wins = tables.setdefault((row["SRC"], row["TRG"]), ([], {}))
        wins[row["SYSTEM"]] = int(row["WINS"])
        if row["END_OF_CLUSTER"] == "True":
            ends.append(len(wins))
    return tables


def test_clusters():
    wins = np.array([[0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]])
    assert cluster(wins) == [1, 1, 1, 2]
    assert rank(wins) == [1, 1, 2, 3]
    assert rank_ranges(wins.astype(bool)) == [(1, 2), (1, 3), (2, 3), (4, 4)]
    assert cluster([[0]]) == rank([[0]]) == [1]
    assert cluster(np.zeros((0, 0))) == []


@pytest.mark.parametrize(
    ("p", "level", "expected"),
    [  # mt-metrics-eval 68a481a, data_test.py, testAssignRanks
        ([[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]], 0.5, [1, 1, 1, 1]),
        ([[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]], 1.0, [1, 2, 3, 4]),
    ],
)
def test_ranks_as_mt_metrics_eval(p, level, expected):
    table = np.array(p)
    assert rank((table <= level) & np.triu(np.ones_like(table), 1).astype(bool)) == expected
