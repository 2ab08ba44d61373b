"""Tasks that are reported and skipped, and the times that the server itself has seen."""

from __future__ import annotations

import pytest

from reelscore.campaigns.evaluate.quality import pace
from reelscore.errors import RefusedError
from support.made_hits import answer_all, rating_hits


@pytest.fixture
def where(mostly_sqlite):
    return mostly_sqlite


def refused(reason):
    return pytest.raises(RefusedError, check=lambda error: error.reason == reason)


def test_a_skipped_task_is_settled_without_a_judgment(make, clock):
    campaign = make(rating_hits(1, 3))
    held = campaign.claim("r1")
    first, second, third = (task.id for task in held.tasks)
    campaign.submit(held.id, "r1", first, {"adequacy": [5]})
    receipt = campaign.skip(held.id, "r1", second, "the video does not play")
    assert (receipt.new, receipt.remaining, receipt.done) == (True, 1, False)
    again = campaign.assignment(held.id)
    assert (again.answered, again.skipped) == ({first}, {second})
    assert [task.id for task in again.remaining] == [third]
    assert campaign.submit(held.id, "r1", third, {"adequacy": [6]}).done
    assert campaign.judgments(finished=True).score.tolist() == [5, 6]
    (skip,) = campaign.skips()
    assert (skip.rater, skip.task, skip.item, skip.time) == ("r1", second, "v1", clock.now)
    assert skip.reason == "the video does not play"
    assert (campaign.status().skipped, campaign.status().done) == (1, 1)


def test_a_hit_whose_last_task_is_skipped_is_done(make):
    campaign = make(rating_hits(1, 2))
    held = campaign.claim("r1")
    campaign.skip(held.id, "r1", held.tasks[0].id)
    assert campaign.skip(held.id, "r1", held.tasks[1].id).done
    assert campaign.status().done == 1
    assert campaign.claim("r1") is None


def test_a_report_is_kept_once_however_often_it_comes(make):
    campaign = make(rating_hits(1, 2))
    held = campaign.claim("r1")
    assert campaign.skip(held.id, "r1", held.tasks[0].id, "dark").new
    assert not campaign.skip(held.id, "r1", held.tasks[0].id, "dark").new
    campaign.skip(held.id, "r1", held.tasks[1].id)
    campaign.set_state("closed", actor="me")
    assert campaign.skip(held.id, "r1", held.tasks[0].id).done
    assert [each.reason for each in campaign.skips()] == ["dark", ""]


def test_a_task_is_either_answered_or_skipped(make):
    campaign = make(rating_hits(1, 2))
    held = campaign.claim("r1")
    first, second = (task.id for task in held.tasks)
    campaign.submit(held.id, "r1", first, {"adequacy": [5]})
    with refused("answered"):
        campaign.skip(held.id, "r1", first)
    campaign.skip(held.id, "r1", second)
    with refused("answered"):
        campaign.submit(held.id, "r1", second, {"adequacy": [5]})
    assert campaign.judgments().score.tolist() == [5]
    assert len(campaign.skips()) == 1


def test_only_the_holder_may_skip(make, clock):
    campaign = make(rating_hits(2, 2))
    held = campaign.claim("r1")
    for id, rater, task in ((held.id, "r2", "t0-0"), (99, "r1", "t0-0"), (held.id, "r1", "t1-0")):
        with refused("unknown"):
            campaign.skip(id, rater, task)
    clock.pass_(101)
    assert campaign.claim("r2").hit == held.hit
    with refused("taken"):
        campaign.skip(held.id, "r1", "t0-0")
    campaign.set_state("closed", actor="me")
    with refused("closed"):
        campaign.skip(campaign.claim("r2").id, "r2", "t0-0")
    assert campaign.skips() == []


# Times


def test_seconds_are_the_servers_and_the_first_sending_counts(make, clock):
    campaign = make(rating_hits(1, 2))
    held = campaign.claim("r1")
    first, second = (task.id for task in held.tasks)
    begun = clock.now
    for _ in range(3):  # a page may be loaded again
        assert campaign.open_task(held.id, "r1", first)
        clock.pass_(10)
    claimed = {"started": clock.now - 1000, "submitted": clock.now - 999.5}
    campaign.submit(held.id, "r1", first, {"adequacy": [5]}, **claimed, watched=0.9)
    assert campaign.open_task(held.id, "r1", second)
    clock.pass_(20)
    campaign.submit(held.id, "r1", second, {"adequacy": [6]}, **claimed)
    rows = list(campaign.rows())
    assert [(row.opened, row.received) for row in rows] == [
        (begun, begun + 30),
        (begun + 30, begun + 50),
    ]
    assert [row.watched for row in rows] == [0.9, None]
    assert [(row.started, row.submitted) for row in rows] == [tuple(claimed.values())] * 2
    assert pace(campaign.judgments())["r1"].mean == 25


def test_what_was_never_sent_has_no_time_of_the_server(make, clock):
    campaign = make(rating_hits(1, 2))
    held = campaign.claim("r1")
    campaign.open_task(held.id, "r1", held.tasks[0].id)
    clock.pass_(5)
    claimed = {"started": clock.now - 3, "submitted": clock.now}
    campaign.submit(held.id, "r1", held.tasks[1].id, {"adequacy": [5]}, **claimed)
    (row,) = campaign.rows()
    assert (row.opened, row.received) == (None, None)
    assert pace(campaign.judgments())["r1"].mean == 3


def test_a_task_is_opened_by_its_holder_alone(make, clock):
    campaign = make(rating_hits(2, 1))
    held = campaign.claim("r1")
    assert not campaign.open_task(held.id, "r2", "t0-0")
    assert not campaign.open_task(held.id, "r1", "t1-0")
    assert not campaign.open_task(held.id + 1, "r1", "t1-0")
    answer_all(campaign, held)
    assert not campaign.open_task(held.id, "r1", "t0-0")


def test_opening_a_task_keeps_the_hit(make, clock):
    campaign = make(rating_hits(1, 2))
    held = campaign.claim("r1")
    for task in held.tasks:
        clock.pass_(90)
        campaign.open_task(held.id, "r1", task.id)
    clock.pass_(90)
    assert campaign.release_abandoned() == 0


def test_who_is_people_is_said_of_each_system(make):
    campaign = make(rating_hits(1, 2), humans=["other"])
    assert (campaign.systems, campaign.humans) == (("mine", "other"), ("other",))
    assert campaign.settings == {}
