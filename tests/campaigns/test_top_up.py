"""More HITs from the same plan: as few as it takes, the same every time, nothing shown in vain."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from reelscore import DataError
from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.hits.design import Design, make_hits
from reelscore.campaigns.hits.top_up import top_up
from support.made_hits import judge

LAYOUT = "systems:12 humans:10 degraded_humans:10 distance:5"
SYSTEMS = {
    name: {f"v{k:02}": f"{name} sees somebody doing thing number {k}" for k in range(30)}
    for name in ("a", "b", "c")
}
PEOPLE = {f"v{k:02}": f"somebody does thing number {k} with care" for k in range(30)}


@pytest.fixture
def where(mostly_sqlite):
    return mostly_sqlite


def begin(make, hits=2, design=None, **terms):
    design = design or Design(layout=LAYOUT, hits=hits, seed=5)
    plan = make_hits(design, SYSTEMS, PEOPLE)
    systems = sorted({shown.system for task in plan.tasks for shown in task.shown})
    terms = {"captions": plan.captions, "layout": design.layout, "seed": design.seed} | terms
    humans = [name for name in systems if name == "human"]
    terms = {"systems": systems, "humans": humans, "protocol": design.protocol} | terms
    return make(plan.hits, **terms)


def captions_of(hits):
    return Counter(
        (shown.system, task.item)
        for hit in hits
        for task in hit.tasks
        for shown in task.shown
        if shown.kind == "caption"
    )


def test_hits_are_added_until_every_system_has_enough(make):
    campaign = begin(make)
    judge(campaign, "good")
    judge(campaign, "bad", looks=False)
    done = top_up(campaign, 16, actor="me")
    # 4 of each system in a HIT: the good rater's 4 are there, 12 are missing
    assert done.good == {"a": 4, "b": 4, "c": 4}
    assert (done.awaited, done.hits) == ({"a": 0, "b": 0, "c": 0}, 3)
    assert campaign.status().open == 3
    for k in range(3):
        judge(campaign, f"new{k}")
    assert campaign.claim("another") is None
    done = top_up(campaign, 16, actor="me")
    assert (min(done.good.values()), done.hits) == (16, 0)
    assert campaign.events()[-1].what == "top up"


def test_what_is_to_come_is_counted(make):
    campaign = begin(make, hits=4, raters_per_hit=2)
    judge(campaign, "r1")
    campaign.claim("r2")
    assert top_up(campaign, 4 * 4 * 2, actor="me").hits == 0
    assert top_up(campaign, 4 * 4 * 2 + 1, actor="me").hits == 1
    assert top_up(campaign, 4 * 4 * 2 + 1, actor="me").hits == 0


def test_places_offered_again_are_counted(make):
    campaign = begin(make)
    judge(campaign, "good")
    judge(campaign, "bad", looks=False)
    campaign.offer_all_again({"bad"}, actor="me")
    assert top_up(campaign, 8, actor="me").hits == 0


def test_captions_without_good_judgments_come_first(make):
    campaign = begin(make, hits=5)
    for k in range(5):
        judge(campaign, f"r{k}")
    there = list(campaign.hits())
    top_up(campaign, 30, actor="me")
    added = list(campaign.hits())[len(there) :]
    first, more = captions_of(there), captions_of(added)
    assert len(added) == 3
    # 20 of 30 captions of each system were judged: the other 10 come before any again
    assert all(
        (name, item) in more for name in "abc" for item in PEOPLE if (name, item) not in first
    )
    times = [first[name, item] + more[name, item] for name in "abc" for item in PEOPLE]
    assert (min(times), max(times), sum(times)) == (1, 2, 8 * 12)


def test_the_same_campaign_is_topped_up_by_the_same_hits(make, tmp_path):
    campaign = begin(make)
    judge(campaign, "good")
    campaign.export(tmp_path / "before.jsonl")
    top_up(campaign, 40, actor="me")
    with Campaign.restore(tmp_path / "copy.db", tmp_path / "before.jsonl") as copy:
        top_up(copy, 40, actor="me")
        assert list(copy.hits()) == list(campaign.hits())
    hits = list(campaign.hits())
    assert len({hit.id for hit in hits}) == len(hits)


def test_hits_are_complete_and_balanced(make):
    campaign = begin(make)
    top_up(campaign, 40, actor="me")
    for hit in campaign.hits():
        kinds = Counter(task.shown[0].kind for task in hit.tasks)
        assert kinds == {"caption": 22, "degraded": 10}
        systems = Counter(s for s, _ in captions_of([hit]).elements())
        assert systems == {"a": 4, "b": 4, "c": 4, "human": 10}


def test_a_campaign_that_kept_no_captions_is_topped_up_by_those_it_shows(make):
    campaign = begin(make, hits=8, captions={})
    assert campaign.captions() == {}
    shown = set(captions_of(campaign.hits()))
    assert top_up(campaign, 40, actor="me").hits == 2
    assert set(captions_of(campaign.hits())) == shown


@pytest.mark.parametrize("protocol", ["ranking", "against-reference", "preference"])
def test_rankings_and_comparisons_are_topped_up(make, protocol):
    design = Design(protocol, per_hit=6, hits=2, seed=3)
    campaign = begin(make, design=design, layout="")
    before = len(list(campaign.hits()))
    done = top_up(campaign, 25, actor="me")
    hits = list(campaign.hits())
    assert len(hits) == before + done.hits > before
    assert {len(hit.tasks) for hit in hits} == {6}
    awaited = Counter()
    for (system, _), number in campaign.awaited().items():
        awaited[system] += number
    assert min(awaited[name] for name in "abc") >= 25
    assert top_up(campaign, 25, actor="me").hits == 0


@pytest.mark.parametrize("mostly_sqlite", ["sqlite", "postgresql"], indirect=True)
def test_two_who_ask_at_once_add_the_same_hits_once(make):
    campaign = begin(make)
    outcomes = []

    def ask():
        try:
            outcomes.append(top_up(campaign, 40, actor="me").hits)
        except DataError:
            outcomes.append(0)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [0, 0, 0, 8]
    assert campaign.status().hits == 10


def test_hits_that_others_add_meanwhile_are_not_added_again(make, monkeypatch):
    campaign = begin(make)
    counted = type(campaign).awaited

    def counted_then_overtaken(self):
        before = counted(self)
        monkeypatch.setattr(type(campaign), "awaited", counted)
        top_up(campaign, 40, actor="she")
        return before

    monkeypatch.setattr(type(campaign), "awaited", counted_then_overtaken)
    with pytest.raises(DataError):
        top_up(campaign, 40, actor="me")
    assert campaign.status().hits == 10


def test_what_cannot_be_topped_up_says_why(make):
    campaign = make(layout=LAYOUT)
    with pytest.raises(DataError, match="captions of campaign 'dogs' are not known"):
        top_up(campaign, 10, actor="me")
    with pytest.raises(DataError, match="expected at least 1"):
        top_up(campaign, 0, actor="me")
    assert campaign.status().hits == 0
