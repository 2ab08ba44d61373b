"""The alignment audit finds what is shifted and stays silent on what is not."""

from __future__ import annotations

import numpy as np
import pytest

from reelscore import DataError
from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
from reelscore.meta.audit import audit_captions, audit_tables, quick_audit
from reelscore.meta.shifts import critical, decide, scan_shifts


def noise(rng, *shape):
    return rng.normal(size=shape)


def table(scores, name="score", prefix="v"):
    """A score table from systems × items; NaN is no score."""
    return ScoreTable(
        {
            f"s{k}": {
                name: MetricResult(
                    name,
                    0.0,
                    ItemScores.of({f"{prefix}{p}": x for p, x in enumerate(row) if x == x}),
                    "",
                )
            }
            for k, row in enumerate(scores)
        }
    )


def case(seed=0, systems=6, items=500, noisy=2.0, judged=0.7):
    """A metric, and people who agree with it, on some of the captions."""
    rng = np.random.default_rng(seed)
    metric = noise(rng, systems, items) + 3 * noise(rng, systems, 1)
    human = metric + noisy * noise(rng, systems, items)
    human[rng.random(human.shape) > judged] = np.nan
    return human, metric


# Score tables ------------------------------------------------------------------------------------


def test_aligned():
    human, metric = case()
    verdict = quick_audit(table(metric), table(human))
    assert verdict.kind == "aligned"
    assert verdict.shift == 0
    assert verdict.z > 10
    assert not verdict.misaligned
    assert str(verdict).startswith("aligned (z = ")


@pytest.mark.parametrize("shift", [-1, 1, 3, -7, 60])
def test_shifted(shift):
    human, metric = case()
    verdict = quick_audit(table(metric), table(np.roll(human, -shift, axis=1)))
    assert verdict.kind == "shifted"
    assert verdict.shift == shift
    assert verdict.misaligned
    assert f"shifted by {shift:+d} ".replace("-", "−") in str(verdict)


def test_less_is_better():
    human, metric = case()
    assert quick_audit(table(-metric), table(human)).kind == "aligned"
    assert quick_audit(table(-metric), table(np.roll(human, 1, axis=1))).shift == -1


def test_of_several_metrics_the_best_decides():
    human, metric = case()
    useless = np.random.default_rng(1).normal(size=metric.shape)
    rows = {
        s: {**table(useless, "useless")[s], **table(metric, "good")[s]}
        for s in table(metric).systems
    }
    assert quick_audit(ScoreTable(rows), table(human)).kind == "aligned"


def test_a_metric_that_does_not_work():
    human, metric = case()
    useless = np.random.default_rng(1).normal(size=metric.shape)
    assert quick_audit(table(useless), table(human)).kind == "cannot tell"


def test_good_and_bad_systems_alone_prove_nothing():
    rng = np.random.default_rng(2)
    level = 5 * noise(rng, 8, 1)
    human, metric = level + noise(rng, 8, 300), level + noise(rng, 8, 300)
    assert np.corrcoef(human.ravel(), metric.ravel())[0, 1] > 0.9
    assert quick_audit(table(metric), table(human)).kind == "cannot tell"


def test_shuffled_scores():
    human, metric = case()
    shuffled = np.random.default_rng(1).permuted(human, axis=1)
    assert quick_audit(table(metric), table(shuffled)).kind == "cannot tell"


def test_a_line_lost_in_the_middle():
    human, metric = case(systems=10, items=1000)
    human[:, 400:] = np.roll(human, 1, axis=1)[:, 400:]
    verdict = quick_audit(table(metric), table(human))
    assert verdict.kind == "mixed"
    assert list(verdict.blocks) == [0] * 4 + [-1] * 6
    assert "by −1 from there on" in str(verdict)
    assert "up to about item 'v400'" in str(verdict)


def test_half_of_the_systems_shifted():
    human, metric = case(items=1500)
    human[:3] = np.roll(human, 2, axis=1)[:3]
    verdict = quick_audit(table(metric), table(human))
    assert verdict.kind == "mixed"
    assert "s0, s1, s2" in str(verdict) or "s3, s4, s5" in str(verdict)


def test_one_system_shifted():
    human, metric = case(items=1500)
    human[4] = np.roll(human[4], -1)
    assert "shifted by +1 in s4" in str(quick_audit(table(metric), table(human)))


def test_neighbours_that_are_the_same_video():
    """Every item twice: no shift and a shift of 1 fit nearly alike, and nothing is claimed."""
    human, metric = case(items=400)
    human, metric = np.repeat(human, 2, axis=1), np.repeat(metric, 2, axis=1)
    assert not quick_audit(table(metric), table(human)).misaligned


def test_few_distinct_scores():
    human, metric = case()
    human, metric = np.round(human / 3), np.round(metric)
    assert quick_audit(table(metric), table(human)).kind == "aligned"
    assert quick_audit(table(metric), table(np.roll(human, 1, axis=1))).shift == -1


@pytest.mark.parametrize("items", [1, 2, 5, 9])
def test_too_few_items_to_tell(items):
    human, metric = case(items=items, noisy=0.1, judged=1.0)
    assert quick_audit(table(metric), table(human)).kind == "cannot tell"


def test_constant_scores():
    human, metric = case()
    flat = np.ones_like(metric)
    assert quick_audit(table(flat), table(human)).kind == "cannot tell"
    assert quick_audit(table(metric), table(flat)).kind == "cannot tell"


def test_nothing_in_common():
    human, metric = case(items=30)
    assert quick_audit(table(metric, prefix="w"), table(human)).kind == "cannot tell"
    with pytest.raises(DataError, match="in common"):
        audit_tables(ScoreTable({}), table(human))


def test_items_are_taken_by_their_numbers():
    human, metric = case()
    order = np.random.default_rng(3).permutation(metric.shape[1])
    mixed = ScoreTable(
        {
            s: {"score": MetricResult("score", 0.0, ItemScores.of(_reordered(row, order)), "")}
            for s, row in table(metric).results.items()
        }
    )
    assert quick_audit(mixed, table(np.roll(human, 1, axis=1))).shift == -1


def _reordered(row, order):
    items = list(row["score"].items.to_dict().items())
    return dict(items[k] for k in order)


def test_large_tables_are_quick():
    human, metric = case(systems=20, items=20_000)
    assert quick_audit(table(metric), table(human)).kind == "aligned"


def test_the_spread_by_chance_is_that_of_random_assignments():
    human, metric = case(systems=4, items=60)
    scan = scan_shifts(human, metric)
    rng = np.random.default_rng(0)
    one = np.nan_to_num(human - np.nanmean(human, axis=1, keepdims=True))
    two = metric - metric.mean(axis=1, keepdims=True)
    sums = [(one * two[:, rng.permutation(60)]).sum() for _ in range(4000)]
    assert abs(np.mean(sums)) < 0.1 * np.std(sums)
    assert scan.scale >= np.std(sums) * 0.95
    exact = np.sqrt(((one @ one.T) * (two @ two.T)).sum() / 59)
    assert exact == pytest.approx(np.std(sums), rel=0.05)


@pytest.mark.parametrize("likeness", [0.0, 0.5, 0.95])
@pytest.mark.parametrize(("systems", "items"), [(1, 40), (4, 12), (3, 60), (5, 300)])
def test_false_alarms(systems, items, likeness, full):
    """Unrelated scores, neighbours alike or not, with heavy tails: next to no alarms.

    The rate over all twelve cases together must be under 1 %.
    """
    rng = np.random.default_rng([systems, items, round(100 * likeness)])
    names = [str(p) for p in range(items)]
    trials = 400 if full else 50

    def walk(rows):
        values = noise(rng, rows, items)
        for p in range(1, items):
            values[:, p] = likeness * values[:, p - 1] + (1 - likeness**2) ** 0.5 * values[:, p]
        return values

    alarms = 0
    for trial in range(trials):
        human, metric = walk(systems) + walk(1), walk(systems) + walk(1)
        metric = np.exp(metric) if trial % 2 else metric
        human[rng.random(human.shape) < 0.4] = np.nan
        each = {n: scan_shifts(human[[k]], metric[[k]]) for k, n in enumerate(names[:systems])}
        alarms += decide(scan_shifts(human, metric), names, each).misaligned
    assert alarms <= max(1, 0.01 * trials)


def test_the_limit_grows_with_the_number_of_tests():
    assert 3 < critical(1) < critical(100) < critical(10_000) < 6


# Captions ----------------------------------------------------------------------------------------


def texts(seed=0, systems=3, items=200):
    """Captions with some of their video's words; people's score is how many."""
    rng = np.random.default_rng(seed)
    common = ["a", "man", "woman", "dog", "is", "on", "the", "in", "with"]
    words = [[f"w{p}x{k}" for k in range(6)] for p in range(items)]
    references = {
        str(p + 1): [" ".join([*own, *rng.choice(common, 3)])] for p, own in enumerate(words)
    }
    counts = rng.integers(0, 6, size=(systems, items))
    candidates = {
        f"s{s}": {
            str(p + 1): " ".join(
                [*rng.permutation(words[p])[: counts[s, p]], *rng.choice(common, 4)]
            )
            for p in range(items)
        }
        for s in range(systems)
    }
    human = counts + rng.normal(0, 2, counts.shape)
    return candidates, references, human


def scores(human):
    return ScoreTable(
        {
            f"s{s}": {
                "z": MetricResult(
                    "z", 0.0, ItemScores.of({str(p + 1): x for p, x in enumerate(row)}), ""
                )
            }
            for s, row in enumerate(human)
        }
    )


def moved(captions, by):
    """Give every item the caption of the item ``by`` places on."""
    items = list(captions)
    return {item: captions[items[(k + by) % len(items)]] for k, item in enumerate(items)}


def test_everything_in_place():
    candidates, references, human = texts()
    audit = audit_captions(candidates, references, scores(human))
    assert audit.references[0].kind == audit.judgments[0].kind == "aligned"
    assert audit.verdict.kind == "aligned"
    assert audit.notes == []
    assert np.unravel_index(audit.grid.argmax(), audit.grid.shape) == (3, 3)


def test_judgments_of_the_line_before():
    candidates, references, human = texts()
    audit = audit_captions(candidates, references, scores(np.roll(human, 1, axis=1)))
    assert audit.references[0].kind == "aligned"
    assert audit.verdict.kind == "shifted"
    assert audit.verdict.shift == -1
    assert np.unravel_index(audit.grid.argmax(), audit.grid.shape) == (2, 2)
    assert audit.to_dict()["misaligned"] is True


def test_references_out_of_step():
    candidates, references, human = texts()
    audit = audit_captions(candidates, moved(references, 3), scores(human))
    assert audit.references[0].kind == "shifted"
    assert audit.verdict.shift == -3
    assert audit.judgments[0].kind == "aligned"  # with the right references


def test_one_system_out_of_step():
    candidates, references, _ = texts()
    candidates["s1"] = moved(candidates["s1"], 1)
    verdict = audit_captions(candidates, references).verdict
    assert verdict.kind == "mixed"
    assert "shifted by +1 in s1" in str(verdict)


def test_another_set_of_lines():
    """References of more videos than there are captions of, both numbered by line."""
    candidates, references, human = texts(items=300)
    gone = {100, 101, 102, 250}
    short = {
        name: {str(k): c for k, c in enumerate((c for i, c in v.items() if int(i) not in gone), 1)}
        for name, v in candidates.items()
    }
    judged = np.array([[x for p, x in enumerate(row, 1) if p not in gone] for row in human])
    audit = audit_captions(short, references, scores(judged))
    assert audit.verdict.kind == "mixed"
    assert "from there on" in str(audit.verdict)
    assert "s0 has 296 captions, the references 300 items" in audit.notes[0]


def test_scores_shuffled():
    candidates, references, human = texts()
    shuffled = np.random.default_rng(0).permuted(human, axis=1)
    audit = audit_captions(candidates, references, scores(shuffled))
    assert audit.references[0].kind == "aligned"
    assert audit.verdict.kind == "cannot tell"


def test_what_is_not_there_is_noted():
    candidates, references, human = texts()
    people = scores(human)
    del candidates["s2"]
    del candidates["s0"]["7"]
    notes = audit_captions(candidates, references, people).notes
    assert any("s0 has 199 captions" in note for note in notes)
    assert any("1 judged items of s0 have no caption (first: '7')" in note for note in notes)
    assert any("s2 is judged, but there are no captions" in note for note in notes)


def test_few_captions():
    candidates, references, human = texts(items=4)
    assert audit_captions(candidates, references, scores(human)).verdict.kind == "cannot tell"


def test_no_item_in_common():
    with pytest.raises(DataError, match="no item in common"):
        audit_captions({"a": {"v1": "a man"}}, {"w1": ["a man"]})
