"""Battles: strengths against scipy's optimum, ratings and points by hand, and every source."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import scipy.optimize

from reelscore.campaigns.evaluate.battle_checks import agree, leanings
from reelscore.campaigns.evaluate.battles import Battles, rank_battles
from reelscore.campaigns.hits.tasks import Hit, Shown, Task
from reelscore.campaigns.imports.battles import read_battles
from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
from reelscore.errors import DataError
from reelscore.significance.strengths import (
    PRIOR,
    Outcomes,
    bootstrap_strengths,
    elo_ratings,
    fit_strengths,
)


def drawn(systems, battles, seed, tie=0.6):
    """Battles of known strengths, by Davidson's model."""
    rng = np.random.default_rng(seed)
    strengths = rng.normal(size=systems)
    first = rng.integers(systems, size=battles)
    second = (first + rng.integers(1, systems, size=battles)) % systems
    one, other = np.exp(strengths[first]), np.exp(strengths[second])
    even = tie * np.sqrt(one * other)
    place = rng.random(battles) * (one + other + even)
    points = np.where(place < one, 1.0, np.where(place < one + even, 0.5, 0.0))
    return strengths, Outcomes(systems, first, second, points, np.arange(battles) // 3)


def loss(at, outcomes, davidson, prior):
    """The negative log-likelihood, battle by battle."""
    strengths, tie = (at[:-1], np.exp(at[-1])) if davidson else (at, 0.0)
    one, other = np.exp(strengths[outcomes.first]), np.exp(strengths[outcomes.second])
    even = tie * np.sqrt(one * other)
    whole, points = one + other + even, outcomes.points
    if not davidson:
        own = points * np.log(one / whole) + (1 - points) * np.log(other / whole)
    else:
        own = np.log(np.where(points == 1, one, np.where(points == 0, other, even)) / whole)
    return 0.5 * prior * (at @ at) - own.sum()


@pytest.mark.parametrize("ties", ["davidson", "half"])
@pytest.mark.parametrize("prior", [0.0, PRIOR, 0.5])
def test_strengths_are_the_optimum(ties, prior):
    _, outcomes = drawn(7, 1500, seed=3)
    davidson = ties == "davidson"
    begin = np.zeros(7 + davidson)
    best = scipy.optimize.minimize(
        loss, begin, (outcomes, davidson, prior), method="BFGS", options={"gtol": 1e-7}
    ).x
    fit = fit_strengths(outcomes, ties=ties, prior=prior)
    assert fit.values == pytest.approx(best[:7] - best[:7].mean(), abs=1e-6)
    if davidson:
        assert math.log(fit.tie) == pytest.approx(best[7], abs=1e-6)


def test_resamples_are_fits_of_drawn_items():
    """The quick way to count and to climb, against each resample laid out and fitted anew."""
    _, outcomes = drawn(5, 60, seed=4)
    drawn_strengths = bootstrap_strengths(outcomes, resamples=10, seed=9)
    rng = np.random.default_rng(9)
    for row in drawn_strengths:
        items = rng.integers(20, size=20)
        rows = np.concatenate([np.flatnonzero(outcomes.items == item) for item in items])
        again = Outcomes(
            5,
            *(c[rows] for c in (outcomes.first, outcomes.second, outcomes.points)),
            np.arange(len(rows)),
        )
        assert row == pytest.approx(fit_strengths(again).values, abs=1e-4)


def test_items_alone_spread_as_theory_says():
    """One battle an item: the interval of a share of wins is the binomial one."""
    count = 400
    ones = np.ones(count, dtype=np.int64)
    points = (np.arange(count) < 300).astype(float)
    outcomes = Outcomes(2, 0 * ones, ones, points, np.arange(count))
    odds = np.diff(bootstrap_strengths(outcomes, ties="half", resamples=2000))
    assert odds.std() == pytest.approx(1 / math.sqrt(count * 0.75 * 0.25), rel=0.06)


def test_intervals_hold_the_truth():
    strengths, outcomes = drawn(6, 900, seed=5)
    draws = bootstrap_strengths(outcomes, resamples=300)
    low, high = np.quantile(draws, [0.01, 0.99], axis=0)
    centred = strengths - strengths.mean()
    assert ((low < centred) & (centred < high)).all()


def test_elo_by_hand():
    one = np.array([0, 1, 0])
    outcomes = Outcomes(3, one, np.array([1, 2, 2]), np.array([1.0, 0.5, 0.0]), one)
    # 1: a beats b, even odds: ±2. 2: b (998) ties with c (1000): b gains 4 · (.5 − .49712).
    # 3: a (1002) loses to c.
    second = 4 * (0.5 - 1 / (1 + 10 ** (2 / 400)))
    b, c = 998 + second, 1000 - second
    third = 4 / (1 + 10 ** ((c - 1002) / 400))
    assert elo_ratings(outcomes, np.arange(3)[:, None], 1)[0] == pytest.approx(
        [1002 - third, b, c + third], abs=1e-9
    )


def test_elo_is_the_median_of_battles_drawn_anew():
    battles = Battles.of(["a"] * 9, ["b"] * 9, [*"rstuvwxyz"], [1.0] * 9)
    ranking = rank_battles(battles, "elo", resamples=50)
    rating = [1000.0, 1000.0]
    for _ in range(9):  # whichever are drawn, a wins nine times
        gain = 4 / (1 + 10 ** ((rating[0] - rating[1]) / 400))
        rating = [rating[0] + gain, rating[1] - gain]
    assert ranking.scores == pytest.approx(rating)
    assert ranking.ranks.tolist() == [[1, 1], [2, 2]]


def caparena():
    """Rows as CapArena has them: three baselines, the judge's words, no answer in one."""
    rows = []

    def add(img, judge, ref, ours_first=True):
        pair = [("ours", "a red bus"), (ref, "a bus on a street")]
        (one, caption1), (two, caption2) = pair if ours_first else pair[::-1]
        rows.append(
            {
                "img": img,
                "source1": one,
                "source2": two,
                "caption1": caption1,
                "caption2": caption2,
                "ref_model": ref,
                "judge": judge,
            }
        )

    add("1.png", "Caption 1 is better.", "A")
    add("2.png", "Caption 1 is better", "A", ours_first=False)
    add("3.png", "Caption 1 is better.", "A")
    add("4.png", "Caption 2 is better.", "B", ours_first=False)
    add("5.png", "Tie.", "B")
    add("6.png", "Caption 2 is better.", "C")
    add("7.png", "Caption 2 is better.", "C")
    rows.append({**rows[0], "img": "8.png", "judge": None})
    return rows


def test_caparena_auto_by_hand(tmp_path):
    path = tmp_path / "ours.json"
    path.write_text(json.dumps(caparena()))
    battles = read_battles(path)
    ranking = rank_battles(battles, "caparena-auto", baselines=["A", "B", "C"])
    ours = ranking.systems.index("ours")
    # A: won 2, lost 1; B: won 1, tied 1; C: lost 2. Half of each: .5, .5, −1.
    assert [points[ours] for points in ranking.beside.values()] == [0.5, 0.5, -1.0]
    assert ranking.scores[ours] == 0
    assert ranking.words[ours] == 3
    assert ranking.systems == ("ours",)  # baselines were not to beat one another
    assert any("1 battle without a verdict (judge)" in note for note in ranking.notes)
    assert any("200 items for each baseline; here are 2 or 3" in note for note in ranking.notes)


def test_an_item_asked_in_both_orders_counts_once():
    battles = Battles.of(["ours", "A"], ["A", "ours"], ["v1", "v1"], [1.0, 0.5])
    ranking = rank_battles(battles, "caparena-auto", baselines=["A"])
    assert ranking.scores[ranking.systems.index("ours")] == 0.25  # the mean of 1 and 0, halved


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "jsonl"])
def test_chatbot_arena_in_every_form(tmp_path, ending):
    header = ["question_id", "model_a", "model_b", "winner", "judge"]
    rows = [
        ["q1", "x", "y", "model_a", "u1"],
        ["q1", "y", "z", "tie (bothbad)", "u2"],
        ["q2", "x", "z", "model_b", "u1"],
        ["q3", "z", "y", "tie", "u1"],
    ]
    path = tmp_path / f"arena.{ending}"
    objects = [dict(zip(header, row, strict=True)) for row in rows]
    between = "\t" if ending == "tsv" else ","
    path.write_text(
        {
            "json": json.dumps(objects),
            "jsonl": "\n".join(map(json.dumps, objects)),
        }.get(ending, "\n".join(between.join(row) for row in [header, *rows]))
    )
    battles = read_battles(path)
    assert battles.systems == ("x", "y", "z")
    assert battles.items == ("q1", "q2", "q3")
    assert battles.outcomes.points.tolist() == [1, 0.5, 0, 0.5]
    assert battles.shown.all()


def judge_table(answers, against="runs/theirs.json"):
    """A score table as the judge makes it of answers in both orders, by item."""
    rows = {item: ((f + s) / 2, (f + 1 - s) / 2) for item, (f, s) in answers.items()}
    results = {}
    for place, name in enumerate(("judge", "judge_first")):
        items = ItemScores.of({item: row[place] for item, row in rows.items()})
        signature = f"judge|model:m|prompt:preference|against:{against}|v:0.1.0"
        results[name] = MetricResult(name, float(items.array.mean()), items, signature)
    return ScoreTable({"ours": results})


def test_answers_of_the_judge_come_apart(tmp_path):
    # how far ours won when shown first, and when shown second
    answers = {"v1": (1.0, 1.0), "v2": (1.0, 0.0), "v3": (0.5, 0.0), "v4": (0.0, 0.5)}
    judge_table(answers).write(tmp_path / "judge.json")
    battles = read_battles(tmp_path / "judge.json")
    assert battles.systems == ("ours", "theirs")
    rows = zip(battles.outcomes.first, battles.outcomes.items, battles.outcomes.points, strict=True)
    found = {(battles.systems[first], battles.items[item]): won for first, item, won in rows}
    assert found == {
        key: won
        for item, (f, s) in answers.items()
        for key, won in {("ours", item): f, ("theirs", item): 1 - s}.items()
    }


def test_scores_of_a_metric_are_battles(tmp_path):
    scores = {"a": [1.0, 2.0], "b": [2.0, 2.0]}
    results = {
        system: {
            "cider": MetricResult(
                "cider", 0.0, ItemScores.of(dict(zip("vw", own, strict=True))), "cider"
            )
        }
        for system, own in scores.items()
    }
    ScoreTable(results).write(tmp_path / "scores.json")
    assert read_battles(tmp_path / "scores.json", metric="CIDEr").outcomes.points.tolist() == [
        0,
        0.5,
    ]
    with pytest.raises(DataError, match=r"--metric cider"):
        read_battles(tmp_path / "scores.json")


def test_a_campaign_of_rankings(make, run, tmp_path):
    shown = (Shown("mine", "a dog"), Shown("other", "a cat"), Shown("third", "a fox"))
    hit = Hit("h1", tuple(Task(f"t{k}", f"v{k}", shown) for k in range(3)))
    campaign = make([hit], protocol="ranking", systems=["mine", "other", "third"])
    held = campaign.claim("r1")
    criteria = [each.name for each in campaign.protocol.criteria]
    for k, ranks in enumerate([[1, 2, 3], [1, 3, 2], [2, 1, 2]]):
        campaign.submit(held.id, "r1", f"t{k}", dict.fromkeys(criteria, ranks))
    battles = Battles.of_judgments(campaign.judgments(), "ranking", criteria[0])
    points = {}
    for one, two, won in zip(
        battles.outcomes.first, battles.outcomes.second, battles.outcomes.points, strict=True
    ):
        points.setdefault((battles.systems[one], battles.systems[two]), []).append(won)
    assert points == {
        ("mine", "other"): [1, 1, 0],
        ("mine", "third"): [1, 1, 0.5],
        ("other", "third"): [1, 0, 1],
    }
    assert not battles.shown.any()
    assert battles.with_captions(campaign.captions()).systems == battles.systems
    with pytest.raises(DataError, match="choose one: --criterion"):
        Battles.of_judgments(campaign.judgments(), "ranking")


def test_the_command_reads_exported_comparisons(run, tmp_path):
    (tmp_path / "votes.csv").write_text(
        "rater,system,item,kind,score,against\n"
        "r1,a,v1,caption,-1,b\nr1,b,v2,caption,2,a\nr1,a,v3,caption,1,b\nr1,a,v4,caption,0,b\n"
        "r1,a,v4,test,1,b\n"
    )
    status, out, _ = run("battles", tmp_path / "votes.csv", "--json", "-")
    assert status == 0
    rows = json.loads(out)["systems"]
    assert (rows["a"]["battles"], rows["a"]["won"], rows["a"]["tied"]) == (4, 0.5, 0.25)
    assert rows["a"]["scores"] + rows["b"]["scores"] == pytest.approx(2000)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question_id,model_a,model_b\nq1,x,y\n", "no field winner"),
        ("model_a,model_b,winner\nx,y,perhaps\n", r":2: 'x' against 'y', and winner is 'perhaps'"),
        ("model_a,model_b,winner\nx,x,tie\n", "expected two systems"),
        ("model_a,model_b,winner\nx,y\n", ":2: malformed table: 2 fields"),
        ("model_a,model_b,winner\nx,y,\n", "no battles; expected at least one"),
        ('[{"model_a": 3]', "expected a JSON list of objects"),
    ],
)
def test_unusable_files(tmp_path, text, message):
    path = tmp_path / "arena.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_battles(path)


def test_systems_that_nothing_connects():
    battles = Battles.of(["a", "c"], ["b", "d"], ["v1", "v2"], [1.0, 1.0])
    with pytest.raises(DataError, match=r"No battles connect 'c' with 'a'|connect 'b'"):
        rank_battles(battles)


def test_who_won_every_battle_is_told():
    battles = Battles.of(["a", "a", "b"], ["b", "c", "c"], ["v1", "v2", "v3"], [1.0, 1.0, 0.0])
    [won, lost, *_] = rank_battles(battles, resamples=10).notes
    assert won.startswith("a won every battle")
    assert lost.startswith("b lost every battle")


def test_leanings_by_hand():
    """Two systems that win as often: five of six for what is shown first, one of two for length."""
    battles = Battles.of(
        [*"aaabbba"], [*"bbbaaab"], [*"stuvwxy"], [1, 1, 0, 1, 1, 1, 0.5],
        words=[[5, 4], [3, 6], [np.nan, 4], [2, 2], [np.nan, np.nan], [4, np.nan], [9, 1]],
    )  # fmt: skip
    first, longer = leanings(battles)
    assert (first.kind, first.battles, first.won) == ("shown first", 6, pytest.approx(5 / 6))
    # a won 2 of 6, so shown first a would win a third, b two thirds: half of each
    assert first.expected == pytest.approx(1 / 2, abs=1e-3)
    spread = 1.959964 * math.sqrt(5 * (1 / 6) ** 2 + (5 / 6) ** 2) / 6
    assert first.interval == pytest.approx((5 / 6 - spread, 1.0))
    assert (longer.battles, longer.won) == (2, 0.5)


def test_a_longer_system_that_is_better_does_not_lean():
    """The longer captions win 3 of 4, as the strengths of their system say."""
    wins = [1.0, 1.0, 1.0, 0.0] * 50
    battles = Battles.of(
        ["a"] * 200, ["b"] * 200, [str(k) for k in range(200)], wins, words=[[9, 4]] * 200
    )
    _, longer = leanings(battles)
    assert longer.won == 0.75
    assert longer.expected == pytest.approx(0.75, abs=1e-3)


def test_agreement_of_two_sources_by_hand():
    people = Battles.of([*"abcab"], [*"bcaca"], [*"vvvww"], [1, 1, 0, 0.5, 1])
    # the judge shows each pair of v twice: a–b once each way, so a tie
    judge = Battles.of([*"abbcca"], [*"bacbac"], [*"vvvvvw"], [1, 1, 1, 0, 0, 0.5])
    ranked = rank_battles(people, resamples=20), rank_battles(judge, resamples=20)
    both = agree((people, judge), ranked)
    # a–b, b–c, a–c of v and a–c of w: people say a, b, a, tie; the judge tie, b, a, tie
    assert (both.cells, both.same, both.decided, both.same_winner) == (4, 0.75, 2, 1.0)
    chance = 3 / 4 * 2 / 4 + 1 / 4 * 2 / 4
    assert both.kappa == pytest.approx((0.75 - chance) / (1 - chance))
    order = [ranking.scores[[*map(ranking.systems.index, "abc")]] for ranking in ranked]
    assert both.coefficients["pearson"][0] == pytest.approx(np.corrcoef(*order)[0, 1])
    other = Battles.of(["x"], ["y"], ["v"], [1.0])
    theirs = rank_battles(other, resamples=10)
    with pytest.raises(DataError, match="0 pairs of captions and 0 systems in common"):
        agree((people, other), (ranked[0], theirs))


def test_the_command_compares_sources_and_draws(run, tmp_path):
    header = "question_id,model_a,model_b,winner\n"
    rows = ["q1,x,y,model_a", "q2,y,z,model_b", "q3,z,x,tie", "q4,x,z,model_a"]
    for name in ("people", "judge"):
        (tmp_path / f"{name}.csv").write_text(header + "\n".join(rows))
    plot = tmp_path / "ranks.svg"
    people, judge = tmp_path / "people.csv", tmp_path / "judge.csv"
    status, out, _ = run("battles", judge, "--against", people, "-o", plot, "--json", "-")
    assert status == 0
    told = json.loads(out)
    assert told["agreement"]["same"] == 1
    assert told["leanings"][0]["won"] == pytest.approx(2 / 3)
    assert "place" in plot.read_text()


def test_a_file_with_the_verdicts_of_people_and_judge(run, tmp_path):
    """CapArena's: ``winner`` is what people say, ``judge`` what the model does."""
    rows = [
        {"img": f"{k}.png", "source1": one, "source2": other, "winner": one, "judge": judge}
        for k, (one, other, judge) in enumerate(
            [("a", "b", "Caption 1 is better."), ("b", "c", "Tie."), ("c", "a", "Caption 2")] * 2
        )
    ]
    path = tmp_path / "annots.json"
    path.write_text(json.dumps(rows))
    status, out, _ = run("battles", path, "--verdict", "judge", "--against", path, "--json", "-")
    assert status == 0
    agreement = json.loads(out)["agreement"]
    assert (agreement["cells"], agreement["decided"]) == (6, 4)
    assert agreement["same"] == pytest.approx(2 / 6)
    assert agreement["same_winner"] == 0.5
