"""Made-up campaigns: fitted to a real crowd, true to what was put in, and useful to plan with."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
import pytest

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.evaluate.agreement import agreement
from reelscore.campaigns.evaluate.preferences import score_preferences
from reelscore.campaigns.evaluate.quality import check_quality, pace, pair_controls
from reelscore.campaigns.evaluate.results import campaign_quality
from reelscore.campaigns.evaluate.scores import score_judgments, standardize
from reelscore.campaigns.hits.design import Design, make_hits
from reelscore.campaigns.hits.ratings import build_hits
from reelscore.campaigns.hits.tasks import Shown, Task
from reelscore.campaigns.judgments import Judgments
from reelscore.campaigns.protocols import PROTOCOLS
from reelscore.campaigns.simulate.crowd import Crowd
from reelscore.campaigns.simulate.power import Costs, Setting, hits_needed, power_of
from reelscore.campaigns.simulate.simulation import Truth, bad_mix, simulate_campaign
from reelscore.errors import DataError, UnknownNameError
from reelscore.significance import rank_systems
from reelscore_studies.published import published
from reelscore_studies.simulated_campaigns import study
from support.campaigns import eacl

SYSTEMS = {"a": 0.13, "b": -0.02, "c": -0.17, "d": -0.32, "e": -0.47}
HUMAN = 0.895  # as in Table 4 of the paper, and so is the mean of the systems


def hits(count=94, systems=SYSTEMS, items=1_873):
    words = [f"one two three four five six seven {k} eight" for k in range(items)]
    captions = {name: {f"v{k}": f"{name} {w}" for k, w in enumerate(words)} for name in systems}
    people = {f"v{k}": f"people {w} say {k} more" for k, w in enumerate(words)}
    return build_hits(captions, people, seed=1, hits=count).hits


@pytest.fixture(scope="module")
def plan():
    return hits()


def truth(seed=1, **more):
    return Truth(SYSTEMS | {"human": HUMAN} | more, Crowd(), seed)


# The crowd


def fit_crowd(judgments: Judgments) -> Crowd:
    """Fit the model to judgments of raters who can be trusted."""
    z = standardize(judgments)
    again, degraded = pair_controls(judgments, "repeat"), pair_controls(judgments, "degraded")
    agreed = agreement(judgments, z).icc
    error = float(np.mean((z[again.captions] - z[again.controls]) ** 2) / 2)
    total = float(np.var(z[judgments.is_kind("caption")]))
    caption = max(0.0, agreed.single) * total
    taste = max(0.0, total - caption - error)
    apart = z[degraded.captions] - z[degraded.controls]
    codes = [judgments.score[judgments.rater[name]] for name in judgments.rater.names]
    levels = np.array([scores.mean() for scores in codes])
    ranges = np.array([scores.std(ddof=1) for scores in codes])
    times = [each.mean for each in pace(judgments).values()]
    return Crowd(
        caption=math.sqrt(caption),
        taste=math.sqrt(taste),
        error=math.sqrt(error),
        drop=float(apart.mean()),
        drop_spread=math.sqrt(max(0.0, float(apart.var()) - 2 * (taste + error))),
        level=float(levels.mean()),
        level_spread=float(levels.std()),
        range=float(ranges.mean()),
        range_spread=float(ranges.std()),
        seconds=float(np.median(times)) if times else Crowd().seconds,
    )


def test_the_default_crowd_is_that_of_a_real_campaign(shared):
    judgments = eacl(shared)
    fitted = asdict(fit_crowd(check_quality(judgments).good(judgments)))
    spread = fitted["range_spread"] / fitted["range"]
    for name, value in asdict(Crowd()).items():
        if name not in ("level", "range", "range_spread"):
            assert value == pytest.approx(fitted[name], rel=0.003), name
    assert Crowd().range_spread == pytest.approx(spread * Crowd().range, rel=0.01)


def test_level_and_range_are_those_of_video_captions():
    rows = published("direct_assessment")["tables"]["4"].values()
    slope, level = np.polyfit([row["z"] for row in rows], [row["raw"] for row in rows], 1)
    assert (Crowd().level, Crowd().range) == (round(level, 1), round(slope, 1))


def test_a_crowd_fitted_to_its_own_judgments_is_the_same():
    crowd = Crowd(level=50, level_spread=3, range=12, range_spread=2)  # nothing is cut off
    made_up = simulate_campaign(
        hits(40), Truth(SYSTEMS | {"human": 0.0}, crowd, 3), seed=3, raters_per_hit=5
    )
    fitted = fit_crowd(made_up.judgments)
    # The spread of systems counts as captions' own here, and z are made with estimated moments.
    for name in ("taste", "error", "drop", "drop_spread"):
        assert getattr(fitted, name) == pytest.approx(getattr(crowd, name), rel=0.12), name
    assert fitted.level == pytest.approx(50, abs=3)
    assert fitted.range == pytest.approx(12, rel=0.1)


def test_no_error_is_below_zero():
    with pytest.raises(DataError, match="error is -1"):
        Crowd(error=-1)


# Simulation


def test_every_hit_is_done_once_by_one_rater(plan):
    made_up = simulate_campaign(plan, truth(), seed=1, mix=bad_mix(0.2))
    judgments = made_up.judgments
    assert len(judgments) == 9_400
    done = {(j.rater, j.hit) for j in judgments}
    assert len(done) == len({hit for _, hit in done}) == 94
    assert {rater for rater, _ in done} == made_up.types.keys()


def test_several_raters_do_a_hit_each_another(plan):
    judgments = simulate_campaign(plan[:10], truth(), seed=1, raters_per_hit=3).judgments
    assert len({(j.rater, j.hit) for j in judgments}) == 30
    assert len(judgments) == 3_000


def test_the_same_seed_is_the_same_crowd(plan):
    one, other = (list(simulate_campaign(plan[:3], truth(), seed=5).judgments) for _ in range(2))
    assert one == other
    assert one != list(simulate_campaign(plan[:3], truth(), seed=6).judgments)


def test_diligent_raters_find_the_differences_that_were_put_in(plan):
    table = score_judgments(simulate_campaign(plan, truth(), seed=2).judgments).table
    scores = [table[name]["z"].score for name in SYSTEMS]
    slope = np.polyfit(list(SYSTEMS.values()), scores, 1)[0]
    assert slope == pytest.approx(1, abs=0.12)
    assert table.systems[0] == "human"


@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [
        ("diligent", 0.5, 0.8),
        ("biased", 0.4, 0.8),
        ("noisy", 0.15, 0.6),
        ("careless", 0.02, 0.3),
        ("gaming", 0.0, 0.12),
        ("random", 0.0, 0.12),
        ("constant", 0.0, 0.0),
    ],
)
def test_who_passes(plan, kind, least, most):
    made_up = simulate_campaign(plan, truth(), seed=4, mix={kind: 1.0}, hits_per_rater=1)
    passed = check_quality(made_up.judgments).passed
    assert least <= len(passed) / len(made_up.types) <= most


def test_the_ranking_is_recovered_and_replicates(plan, full):
    campaigns = 100 if full else 5
    *_, outcome = study(
        plan,
        SYSTEMS | {"human": HUMAN},
        campaigns=campaigns,
        seed=1,
        mix=bad_mix(0.2),
        ranked=list(SYSTEMS),
    )
    assert outcome.recovered >= 0.95 * campaigns
    assert outcome.replication.mean() > 0.985
    bad = [kind for kind in outcome.raters if kind != "diligent"]
    caught = 1 - sum(outcome.passed[kind] for kind in bad) / sum(
        outcome.raters[kind] for kind in bad
    )
    assert caught > 0.85
    assert outcome.passed.get("constant", 0) == 0


def test_mixes_that_make_no_sense(plan):
    with pytest.raises(UnknownNameError, match="Did you mean 'random'"):
        simulate_campaign(plan, truth(), seed=1, mix={"radnom": 1.0})
    with pytest.raises(DataError, match="not all 0"):
        simulate_campaign(plan, truth(), seed=1, mix={"random": 0.0})
    with pytest.raises(UnknownNameError, match="system 'human'"):
        simulate_campaign(plan, Truth(SYSTEMS, Crowd(), 1), seed=1)


# Plans


def test_power_is_what_whole_campaigns_find():
    """The planner's short cut against campaigns simulated task by task, through the same test."""
    difference, count = 0.15, 30
    systems = {"a": difference / 2, "b": -difference / 2, "c": 0.0, "d": 0.0, "e": 0.0}
    plan = hits(count, systems)
    wins = 0
    for seed in range(40):
        judgments = simulate_campaign(
            plan, Truth(systems | {"human": HUMAN}, Crowd(), seed), seed=seed
        )
        table = score_judgments(judgments.judgments).table
        ranking = rank_systems(table, systems=["a", "b"])
        wins += ranking.systems[0] == "a" and ranking.p[0, 1] < 0.05
    planned = power_of(Setting(difference, passing=1.0), count, seed=1)
    # Forty campaigns tell a power of two thirds up to 0.15, twice the standard error.
    assert wins / 40 == pytest.approx(planned.power, abs=0.15)


def test_more_hits_for_smaller_differences():
    needed = {}
    for difference in (0.3, 0.15):
        tried = hits_needed(Setting(difference), seed=1, campaigns=100)
        needed[difference] = next(each.hits for each in tried if each.power >= 0.8)
        assert [each.hits for each in tried] == sorted(each.hits for each in tried)
    # Half the difference takes four times the judgments.
    assert 2.8 < needed[0.15] / needed[0.3] < 5.5


@pytest.mark.parametrize(
    "wrong", [{"difference": 0}, {"difference": 0.1, "systems": 1}, {"difference": 1, "passing": 0}]
)
def test_settings_that_make_no_sense(wrong):
    with pytest.raises(DataError):
        Setting(**wrong)


def test_the_papers_costs():
    costs = Costs(94, 0.99, 0.2, systems=5)
    assert round(costs.total, 2) == 111.67
    assert (round(costs.per_system), 5 * round(costs.per_system)) == (22, 110)
    with pytest.raises(DataError, match="at least one system"):
        Costs(94, systems=0)


# Rankings and comparisons


@pytest.mark.parametrize("name", ["ranking", "against-reference", "preference"])
def test_captions_are_ranked_and_compared_by_their_quality(name):
    protocol = PROTOCOLS[name]
    captions = {
        system: {f"v{k}": f"{system} {k}" for k in range(40)}
        for system in ("good", "bad", "reference")
    }
    people = captions.pop("reference")
    made = make_hits(Design(name, per_hit=10, seed=1), captions, people)
    quality = Truth({"good": 0.9, "bad": -0.9, "reference": 0.9}, Crowd(), 1)
    options = {"seed": 3, "raters_per_hit": 3, "protocol": protocol}
    judgments = simulate_campaign(made.hits, quality, **options).judgments
    for row in judgments:
        protocol.check_score(row.criterion, row.score)
    assert {row.criterion for row in judgments} == {each.name for each in protocol.criteria}
    scores = {system: [] for system in (*captions, "reference")}
    for row in judgments:  # low is better: a rank, or a vote for the first of two
        scores[row.system].append(row.score)
        if row.against:
            scores[row.against].append(-row.score)
    assert np.mean(scores["good"]) < np.mean(scores["bad"])
    assert list(judgments) == list(simulate_campaign(made.hits, quality, **options).judgments)


def test_hits_of_another_protocol_are_refused(plan):
    with pytest.raises(DataError, match="1 captions; preference shows 2"):
        simulate_campaign(plan[:1], truth(), seed=1, protocol=PROTOCOLS["preference"])


def test_simulated_raters_know_the_answers_to_test_questions_where_they_look(tmp_path):
    """And `quality` counts the raters whose judgments results keep."""
    captions = {name: {f"v{k}": f"{name} {k}" for k in range(10)} for name in ("good", "bad")}
    tests = [
        Task(f"q{k}", f"test{k}", (Shown("yes", f"yes {k}"), Shown("no", f"no {k}")), expected)
        for k, expected in enumerate([-2.0, 1.0, 0.0])
    ]
    design = Design("preference", per_hit=5, seed=1)
    plan = make_hits(design, captions, {}, tests)
    options = {"raters_per_hit": 20}
    with Campaign.from_plan(tmp_path / "p.db", "P", design, plan, **options) as campaign:
        assert campaign.systems == ("bad", "good")
        quality = Truth({"good": 0.9, "bad": -0.9}, Crowd(), 1)
        mix = {"diligent": 0.6, "constant": 0.2, "random": 0.2}
        made_up = simulate_campaign(
            list(campaign.hits()), quality, seed=3, mix=mix, raters_per_hit=20,
            protocol=campaign.protocol,
        )  # fmt: skip
        campaign.append(made_up.judgments)
        judgments = campaign.judgments(finished=True)
        checked = campaign_quality(campaign, judgments)
    kinds = {rater: kind for rater, kind in made_up.types.items() if kind == "diligent"}
    assert kinds.keys() <= set(checked.used)
    assert len(checked.used) < len(made_up.types)
    kept = checked.good(judgments)
    assert set(kept.rater.names) == set(checked.used)
    assert score_preferences(kept, "good", "bad").won > 0.8


def test_simulated_raters_judge_every_criterion(plan):
    asked = PROTOCOLS["adequacy-fluency"]
    judgments = simulate_campaign(plan[:2], truth(), seed=1, protocol=asked).judgments
    scores = [judgments.only(name).score for name in ("adequacy", "fluency")]
    assert len(scores[0]) == len(scores[1]) == 200
    assert 0.3 < np.corrcoef(*scores)[0, 1] < 1
