"""Scores of captions and systems: the published ones, and cases worked by hand."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from reelscore.campaigns.evaluate.quality import check_quality
from reelscore.campaigns.evaluate.scores import group_means, score_judgments, standardize
from reelscore.campaigns.imports.judgment_files import read_judgments
from reelscore.campaigns.judgments import Judgments
from reelscore.data.tables.table import ScoreTable
from reelscore.errors import DataError
from reelscore.significance import rank_systems
from support.campaigns import eacl, published, rating

NOT_SIGNIFICANT = 0.12  # what the published files write for p of 0.05 and more


# EACL 2017, run A, from the raw batches


@pytest.fixture(scope="module")
def run_a(shared):
    judgments = eacl(shared)
    return shared / "da-eacl2017-runA", check_quality(judgments).good(judgments)


def test_every_published_z_score(run_a):
    folder, good = run_a
    rows = published(folder / "ad-enes-good-stnd.csv")[1:]
    z = {(row[0], row[1], int(row[7])): float(row[10]) for row in rows}
    computed = {
        (j.hit, j.rater, j.position): score
        for j, score in zip(good, standardize(good), strict=True)
    }
    assert computed.keys() == z.keys()
    assert max(abs(computed[key] - z[key]) for key in z) < 1e-6


def test_every_published_segment_and_document(run_a):
    folder, good = run_a
    scores = score_judgments(good)
    segments = published(folder / "seg-key-enes")[1:]
    table = scores.table["all"]
    assert len(segments) == len(table["z"].items) == 1051
    for _, _, _, item, z, raw, n in segments:
        assert table["z"].items[item] == pytest.approx(float(z), abs=1e-6)
        assert table["raw"].items[item] == pytest.approx(float(raw), abs=1e-6)
        assert scores.counts["all"][item] == int(n)
    documents = group_means(scores, {row[3]: row[1] for row in segments})
    rows = published(folder / "doc-key-enes.csv")[1:]
    assert len(rows) == len(documents.counts["all"]) == 62
    for _, document, z, raw, n in rows:
        assert documents.table["all"]["z"].items[document] == pytest.approx(float(z), abs=1e-6)
        assert documents.table["all"]["raw"].items[document] == pytest.approx(float(raw), abs=1e-6)
        assert documents.counts["all"][document] == int(n)


# WMT22


@pytest.fixture(scope="module", params=["cs-en", "zh-en"])
def wmt(request, shared):
    folder, pair = shared / "da-wmt22", request.param
    name = folder / f"ad-{pair.replace('-', '')}-good-stnd.csv"
    return folder, pair, read_judgments([name]).judgments


def test_published_system_scores(wmt):
    folder, pair, judgments = wmt
    scores = score_judgments(judgments)
    for raw, z, items, system, count in published(folder / f"ad-sys-scores-{pair}.csv")[1:]:
        assert scores.table[system]["raw"].score == pytest.approx(float(raw), abs=1e-6)
        assert scores.table[system]["z"].score == pytest.approx(float(z), abs=1e-6)
        assert len(scores.counts[system]) == int(items)
        assert scores.judgments(system) == int(count)


def test_z_scores_computed_anew_agree_with_the_given(wmt):
    _, _, judgments = wmt
    # The given ones were made with means and deviations of seven digits.
    assert np.abs(standardize(judgments, "all") - judgments.z).max() < 1e-4


def test_published_p_values_wins_and_clusters(wmt):
    folder, pair, judgments = wmt
    ranking = rank_systems(score_judgments(judgments).table)
    rows = published(folder / f"adwilcox-{pair.replace('-', '')}.csv", " ")
    assert list(ranking.systems) == rows[0][1:]
    for k, row in enumerate(rows[1:]):
        for other, text in enumerate(row[1:]):
            if k == other:
                continue
            p = ranking.p[k, other]
            if float(text) == NOT_SIGNIFICANT:
                assert p >= 0.05
            else:
                assert math.log10(p) == pytest.approx(math.log10(float(text)), abs=1e-9)
    clusters = [row for row in published(folder / "clusters.csv") if row[0] == pair[:2]]
    assert [row[7] for row in clusters] == list(ranking.systems)
    assert [int(row[2]) for row in clusters] == ranking.wins.sum(axis=1).tolist()
    ends = [row[6] == "True" for row in clusters]
    numbers = [*ranking.clusters.values(), 0]
    assert ends == [a != b for a, b in pairwise(numbers)]


# By hand


def scored(rows, **options):
    return score_judgments(Judgments.of(rows), **options)


ROWS = [
    rating("r1", 40.0, "a", "v1"),
    rating("r1", 60.0, "a", "v1", "repeat", position=1),
    rating("r1", 90.0, "a", "v2", position=2),
    rating("r2", 20.0, "a", "v1"),
    rating("r2", 30.0, "a", "v3", position=1),
    rating("r2", 0.0, "a", "v3", "degraded", position=2),
]


def test_a_caption_is_the_mean_of_its_judgments_and_a_system_of_its_captions():
    raw = scored(ROWS).table["a"]["raw"]
    assert raw.items.to_dict() == {"v1": 40.0, "v2": 90.0, "v3": 30.0}
    assert raw.score == pytest.approx(160 / 3)


def test_each_rater_may_count_once():
    assert scored(ROWS, average="raters").table["a"]["raw"].items["v1"] == 35.0


def test_z_over_all_or_over_genuine_judgments():
    mean, deviation = np.mean([20, 30, 0]), np.std([20, 30, 0], ddof=1)
    judgments = Judgments.of(ROWS)
    assert standardize(judgments)[4] == pytest.approx((30 - mean) / deviation)
    assert standardize(judgments, "genuine")[4] == pytest.approx(5 / np.std([20, 30], ddof=1))


def test_raters_who_always_say_the_same_are_left_out_and_named():
    flat = [rating("r9", 70.0, "a", f"v{k}", position=k) for k in range(3)]
    scores = scored(ROWS + flat)
    assert (
        scores.table["a"]["raw"].items.to_dict() == scored(ROWS).table["a"]["raw"].items.to_dict()
    )
    assert scores.notes == ("1 rater who always gave the same score: left out (r9).",)
    with pytest.raises(DataError, match="No judgment is left to score"):
        scored(flat)


def test_controls_are_no_judgments_of_a_system():
    rows = [*ROWS, rating("r1", 100.0, "a", "v9", "reference", position=3)]
    assert "v9" not in scored(rows).table["a"]["raw"].items


def test_criteria_have_columns_of_their_own():
    rows = [
        rating(score=score, item=item, criterion=criterion)
        for criterion, scores in (("adequacy", [10.0, 20]), ("fluency", [80.0, 90]))
        for item, score in zip(("v1", "v2"), scores, strict=True)
    ]
    scores = scored(rows)
    assert scores.table.metrics == ["adequacy_raw", "adequacy_z", "fluency_raw", "fluency_z"]
    assert scores.table["mine"]["fluency_raw"].score == 85.0
    assert scores.table["mine"]["fluency_z"].items["v1"] == pytest.approx(-(0.5**0.5))


def test_gold_needs_enough_judgments():
    rows = [rating(f"r{k}", 10.0 * k, "a", "v1") for k in range(15)]
    rows += [rating(f"r{k}", 50.0 + k, "a", "v2", position=1) for k in range(14)]
    rows += [rating(f"r{k}", 33.0, "a", "v3", position=2) for k in range(15)]
    scores = scored(rows)
    gold = scores.at_least(15).table
    assert list(gold["a"]["raw"].items) == ["v1", "v3"]
    assert gold["a"]["raw"].signature.endswith("|minimum:15")
    with pytest.raises(DataError, match="No caption has 16 judgments \\(the most is 15\\)"):
        scores.at_least(16)


def test_the_result_is_a_score_table_like_any_other(tmp_path):
    scores = scored(ROWS)
    counts = {item: int(count) for item, count in scores.counts["a"].to_dict().items()}
    assert max(counts.values()) > 1
    for name in ("human.csv", "human.json"):
        scores.table.write(tmp_path / name)
        again = ScoreTable.read(tmp_path / name)["a"]["z"]
        assert again.items.to_dict() == scores.table["a"]["z"].items.to_dict()
        assert again.ratings == counts  # of which BERTHA learns how sure a score is


def test_the_order_of_judgments_changes_no_score():
    one = scored(ROWS)
    other = scored([*ROWS[3:], *ROWS[:3]])
    for name in ("raw", "z"):
        assert one.table["a"][name].items.to_dict() == other.table["a"][name].items.to_dict()


def test_groups_must_cover_all_items():
    with pytest.raises(DataError, match="1 items of 'a' have no group \\(first: 'v3'\\)"):
        group_means(scored(ROWS), {"v1": "one", "v2": "one"})


# Ranking


def test_matched_items_only():
    rows = [
        rating("r1", s, system, f"v{k}")
        for system, k, s in (
            ("a", 1, 90.0),
            ("a", 2, 80.0),
            ("a", 3, 70.0),
            ("a", 4, 1.0),
            ("b", 1, 40.0),
            ("b", 2, 30.0),
            ("b", 3, 20.0),
            ("b", 5, 99.0),
            ("c", 9, 50.0),
        )
    ]
    table = scored(rows).table
    ranking = rank_systems(table, matched=True, systems=["a", "b"])
    assert ranking.p[0, 1] == pytest.approx(0.0404, abs=1e-4)
    assert rank_systems(table, systems=["a", "b"]).p[0, 1] > 0.2
    with pytest.raises(DataError, match="have no item in common"):
        rank_systems(table, matched=True)


def test_unknown_scores():
    with pytest.raises(DataError, match="No system has 'speed'"):
        rank_systems(scored(ROWS).table, "speed")
