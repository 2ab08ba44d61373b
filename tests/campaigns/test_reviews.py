"""Work that cannot be used: its rater is stopped, its place offered again, nothing is lost."""

from __future__ import annotations

import pytest

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.evaluate.results import campaign_quality, evaluate_ratings
from reelscore.campaigns.hits.tasks import Hit, Shown, Task
from reelscore.errors import RefusedError
from support.made_hits import answer_all, judge, rating_hits


@pytest.fixture
def where(mostly_sqlite):
    return mostly_sqlite


def refused(reason):
    return pytest.raises(RefusedError, check=lambda error: error.reason == reason)


# Excluded and rejected


@pytest.mark.parametrize("what", ["exclude", "reject"])
def test_who_is_stopped_can_submit_nothing_more(make, what):
    campaign = make(rating_hits(2, 3))
    held = campaign.claim("r1")
    campaign.submit(held.id, "r1", "t0-0", {"adequacy": [5]})
    campaign.decide(what, "r1", actor="me", reason="a program")
    with refused("excluded"):
        campaign.submit(held.id, "r1", "t0-1", {"adequacy": [5]})
    with refused("excluded"):
        campaign.skip(held.id, "r1", "t0-1")
    with refused("excluded"):
        campaign.claim("r1")
    # what was kept is acknowledged as before, and the place is free for others at once
    assert not campaign.submit(held.id, "r1", "t0-0", {"adequacy": [5]}).new
    assert campaign.claim("r2").hit == held.hit
    assert campaign.judgments().score.tolist() == [5]


@pytest.mark.parametrize("what", ["exclude", "reject"])
def test_who_is_readmitted_goes_on(make, what):
    campaign = make(rating_hits(1, 2))
    held = campaign.claim("r1")
    campaign.decide(what, "r1", actor="me")
    campaign.decide("readmit", "r1", actor="me")
    assert campaign.claim("r1").id == held.id
    assert answer_all(campaign, held).done


def paired_hits(raters):
    """A HIT for each rater with ten captions of people and their degraded versions."""
    for h in range(raters):
        captions = [(k, kind) for k in range(10) for kind in ("caption", "degraded")]
        tasks = [
            Task(f"t{h}-{k}-{kind}", f"v{h}-{k}", (Shown("other", f"{h} {k} {kind}", kind),))
            for k, kind in captions
        ]
        yield Hit(f"h{h}", tuple(tasks))


def verdicts(campaign):
    judgments = campaign.judgments(finished=True)
    results = evaluate_ratings(judgments, humans=campaign.humans, excluded=campaign.excluded())
    return {rater.rater: rater.verdict for rater in results.quality.raters}, results.raters


def test_reject_takes_the_rater_out_of_the_results_and_pay_lets_them_in_again(make):
    campaign = make(paired_hits(2), humans=["other"])
    for rater in ("good", "bad"):
        judge(campaign, rater)
    assert verdicts(campaign) == ({"good": "passed", "bad": "passed"}, ("good", "bad"))
    campaign.decide("reject", "bad", actor="me", reason="a program")
    assert verdicts(campaign) == ({"good": "passed", "bad": "rejected"}, ("good",))
    assert {row.status for row in campaign.rows() if row.rater == "bad"} == {"rejected"}
    campaign.decide("pay", "bad", actor="me", reason="it was not")
    assert verdicts(campaign)[1] == ("good", "bad")


@pytest.mark.parametrize("protocol", ["ranking", "preference"])
@pytest.mark.parametrize("what", ["exclude", "reject"])
def test_rankings_and_comparisons_leave_them_out_too(make, protocol, what):
    shown = (Shown("mine", "a dog"), Shown("other", "a cat"))
    campaign = make([Hit("h", (Task("t", "v", shown),))], protocol=protocol, raters_per_hit=2)
    criteria = [criterion.name for criterion in campaign.protocol.criteria]
    scores = [1, 2] if protocol == "ranking" else [1]
    for rater in ("good", "bad"):
        held = campaign.claim(rater)
        campaign.submit(held.id, rater, "t", dict.fromkeys(criteria, scores))
    campaign.decide(what, "bad", actor="me")
    quality = campaign_quality(campaign, campaign.judgments(finished=True))
    assert (quality.used, quality.poor) == (["good"], {"bad"})


# Offered again


def test_a_finished_hit_is_offered_again_once(make):
    campaign = make(rating_hits(1, 2))
    first = campaign.claim("bad")
    answer_all(campaign, first)
    assert campaign.claim("r2") is None
    assert campaign.offer_again(first.id, actor="me", reason="a program")
    assert not campaign.offer_again(first.id, actor="me")
    assert campaign.status().open == 1
    assert campaign.claim("bad") is None  # not to the same rater
    second = campaign.claim("r2")
    assert second.hit == first.hit
    answer_all(campaign, second)
    # whose work may turn out no better
    assert campaign.offer_again(second.id, actor="me")
    assert not campaign.offer_again(first.id, actor="me")
    answer_all(campaign, campaign.claim("r3"))
    assert campaign.claim("r4") is None
    assert (campaign.status().done, campaign.status().judgments) == (3, 6)
    logged = [(e.what, e.about, e.reason) for e in campaign.events()][1:]
    assert logged == [
        ("offer again", "bad", "HIT h0: a program"),
        ("offer again", "r2", "HIT h0: "),
    ]


def test_only_finished_hits_are_offered_again(make):
    campaign = make(rating_hits(2, 2))
    held = campaign.claim("r1")
    for id in (held.id, held.id + 1, 99):
        with refused("unknown"):
            campaign.offer_again(id, actor="me")
    assert campaign.offer_all_again({"r1"}, actor="me") == 0
    assert campaign.status().open == 1


def test_a_place_offered_again_may_be_given_up_and_taken_back(make, clock):
    campaign = make(rating_hits(1, 2))
    first = campaign.claim("bad")
    answer_all(campaign, first)
    campaign.offer_again(first.id, actor="me")
    second = campaign.claim("r2")
    clock.pass_(101)
    assert campaign.release_abandoned() == 1
    assert campaign.claim("r2").id == second.id
    clock.pass_(101)
    assert campaign.claim("r3").hit == first.hit
    assert not campaign.offer_again(first.id, actor="me")
    assert (campaign.status().open, campaign.status().held) == (0, 1)


def test_all_that_cannot_be_used_is_offered_again(make):
    campaign = make(paired_hits(4), humans=["other"])
    for rater in ("good", "failed", "excluded", "rejected"):
        judge(campaign, rater, looks=rater != "failed")
    campaign.decide("exclude", "excluded", actor="me")
    campaign.decide("reject", "rejected", actor="me")
    poor = campaign_quality(campaign, campaign.judgments(finished=True)).poor
    assert poor == {"failed", "excluded", "rejected"}
    assert campaign.offer_all_again(poor, actor="me", reason="poor") == 3
    assert campaign.offer_all_again(poor, actor="me", reason="poor") == 0
    assert campaign.status().open == 3
    for k in range(3):
        judge(campaign, f"new{k}")
    assert campaign.claim("another") is None
    judgments = campaign.judgments(finished=True)
    counting = campaign_quality(campaign, judgments).good(judgments)
    assert set(counting.hit.names) == {"h0", "h1", "h2", "h3"}
    assert len(counting) == 4 * 20


def test_a_place_offered_again_survives_export_and_restore(make, tmp_path):
    campaign = make(rating_hits(1, 2))
    first = campaign.claim("bad")
    answer_all(campaign, first)
    campaign.offer_again(first.id, actor="me")
    campaign.export(tmp_path / "a.jsonl")
    with Campaign.restore(tmp_path / "copy.db", tmp_path / "a.jsonl") as copy:
        copy.export(tmp_path / "b.jsonl")
        assert copy.offer_all_again({"bad"}, actor="me") == 0
        assert copy.claim("r2").hit == "h0"
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


# Times that cannot be


def do_hit(campaign, clock, seconds, *, opens=True, early=0.0, rater="r1"):
    """Do a HIT as pages do, so many seconds for each task."""
    held = campaign.claim(rater)
    for task in held.remaining:
        if opens:
            campaign.open_task(held.id, rater, task.id)
        clock.pass_(seconds)
        times = {"started": clock.now - 30 - early, "submitted": clock.now - early}
        answer = {"adequacy": [5]}
        campaign.submit(held.id, rater, task.id, answer, **times, is_served=True)
    return campaign.assignment(held.id)


def test_a_hit_at_an_honest_pace_has_no_flags(make, clock):
    campaign = make(rating_hits(1, 4), settings={"media": {f"v{k}": 4.0 for k in range(4)}})
    clock.pass_(60)
    done = do_hit(campaign, clock, 4.0)
    assert (done.flags, done.needs_review) == ((), False)


def test_forty_answers_in_a_third_of_a_second_are_a_burst(make, clock):
    campaign = make(rating_hits(1, 40))
    clock.pass_(60)
    done = do_hit(campaign, clock, 0.3 / 40)
    assert (done.flags, done.needs_review) == (("burst",), True)


def test_a_few_quick_answers_are_none(make, clock):
    campaign = make(rating_hits(1, 40))
    clock.pass_(60)
    held = campaign.claim("r1")
    for k, task in enumerate(held.tasks):
        campaign.open_task(held.id, "r1", task.id)
        clock.pass_(0.5 if k < 4 else 5)
        campaign.submit(held.id, "r1", task.id, {"adequacy": [5]}, is_served=True)
    assert campaign.assignment(held.id).flags == ()


def test_answers_to_tasks_never_opened_are_flagged(make, clock):
    campaign = make(rating_hits(1, 3))
    clock.pass_(60)
    held = campaign.claim("r1")
    campaign.open_task(held.id, "r1", "t0-0")
    clock.pass_(5)
    campaign.submit(held.id, "r1", "t0-0", {"adequacy": [5]}, is_served=True)
    assert campaign.assignment(held.id).flags == ()
    campaign.submit(held.id, "r1", "t0-1", {"adequacy": [5]}, is_served=True)
    assert campaign.assignment(held.id).flags == ("unopened",)


def test_times_before_the_campaign_are_flagged(make, clock):
    campaign = make(rating_hits(1, 2))
    clock.pass_(60)
    assert do_hit(campaign, clock, 5.0, early=86_400.0).flags == ("early",)


def test_a_hit_done_faster_than_its_videos_play_is_flagged(make, clock):
    campaign = make(rating_hits(2, 4), settings={"media": {f"v{k}": 10.0 for k in range(8)}})
    clock.pass_(60)
    # twice the speed, and nine tenths of the video: that much is allowed
    assert do_hit(campaign, clock, 4.6).flags == ()
    assert do_hit(campaign, clock, 4.4, rater="r2").flags == ("too-fast",)


def test_a_video_that_comes_again_counts_once(make, clock):
    tasks = [Task(f"t{k}", "v", (Shown("mine", f"{k}"),)) for k in range(4)]
    campaign = make([Hit("h", tuple(tasks))], settings={"media": {"v": 10.0}})
    clock.pass_(60)
    assert do_hit(campaign, clock, 2.5).flags == ()


def test_a_hit_whose_last_task_is_skipped_is_looked_at_too(make, clock):
    campaign = make(rating_hits(1, 5))
    clock.pass_(60)
    held = campaign.claim("r1")
    for task in held.tasks[:-1]:
        campaign.open_task(held.id, "r1", task.id)
        campaign.submit(held.id, "r1", task.id, {"adequacy": [5]}, is_served=True)
    campaign.open_task(held.id, "r1", held.tasks[-1].id)
    assert campaign.skip(held.id, "r1", held.tasks[-1].id).done
    assert campaign.assignment(held.id).flags == ("burst",)


def test_answers_that_no_page_sends_are_not_timed(make):
    campaign = make(rating_hits(1, 40), settings={"media": {"v0": 100.0}})
    held = campaign.claim("r1")
    answer_all(campaign, held)
    assert campaign.assignment(held.id).flags == ()


def test_a_reviewed_hit_is_approved_or_rejected(make, clock):
    campaign = make(rating_hits(2, 4))
    clock.pass_(60)
    first, second = do_hit(campaign, clock, 0.0), do_hit(campaign, clock, 0.0, rater="r2")
    campaign.review(first.id, "approve", actor="me", reason="they rang me")
    campaign.review(second.id, "reject", actor="me", reason="a program")
    first, second = campaign.assignment(first.id), campaign.assignment(second.id)
    assert (first.needs_review, first.status) == (False, "approved")
    assert (second.needs_review, second.status) == (False, "rejected")
    assert [(e.what, e.about, e.reason) for e in campaign.events()][1:] == [
        ("approve", "r1", "HIT h0: they rang me"),
        ("reject", "r2", "HIT h1: a program"),
    ]
    with refused("excluded"):
        campaign.claim("r2")
    with refused("unknown"):
        campaign.review(99, "approve", actor="me")
