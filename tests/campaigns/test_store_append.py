"""Judgments made elsewhere come into a campaign whole, or not at all."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from reelscore import DataError
from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.imports.judgment_files import read_judgments
from reelscore.campaigns.judgments import Judgment
from support.campaigns import eacl, rating
from support.made_hits import Clock, rating_hits


@pytest.fixture
def planned(where):
    with Campaign.create(
        where, "Dogs", systems=["mine", "other"], raters_per_hit=2, clock=Clock()
    ) as campaign:
        campaign.add_hits(rating_hits(3, 2))
        yield campaign


def judged(campaign, hit, rater, score=50.0, tasks=None, **more):
    """A rater's judgments of a HIT."""
    (chosen,) = [each for each in campaign.hits() if each.id == hit]
    return [
        Judgment(rater, hit, task.id, k, task.shown[0].system, task.item, "caption", score, **more)
        for k, task in enumerate(chosen.tasks[:tasks])
    ]


def test_judgments_take_places_in_order(planned):
    rows = [
        *judged(planned, "h1", "r1", 1.0, started=5.0, submitted=9.5, client="mturk", z=-1.25),
        *judged(planned, "h1", "r2", 2.0, seconds=300.5, status="approved"),
        *judged(planned, "h0", "r1", 3.0),
    ]
    assert planned.append(rows) == 6
    assert list(planned.rows()) == rows
    status = planned.status()
    assert (status.done, status.open, status.finished, status.raters) == (3, 3, 1, 2)
    assert (status.fewest, status.most) == (3, 3)
    planned.set_state("open", actor="me")
    assert planned.claim("r1").hit == "h2"  # the others it has had


def test_part_of_a_hit_counts_as_abandoned(planned):
    assert planned.append(judged(planned, "h0", "r1", tasks=1)) == 1
    status = planned.status()
    assert (status.abandoned, status.open, status.done) == (1, 6, 0)
    rest = judged(planned, "h0", "r1")[1:]
    assert planned.append(rest) == 1  # the rest comes while the place is free
    status = planned.status()
    assert (status.abandoned, status.open, status.done) == (0, 5, 1)


def test_the_rest_of_a_hit_whose_place_is_taken_stays_abandoned(planned):
    planned.append(judged(planned, "h0", "r1", tasks=1))
    planned.append([*judged(planned, "h0", "r2"), *judged(planned, "h0", "r3")])
    planned.append(judged(planned, "h0", "r1")[1:])
    status = planned.status()
    assert (status.abandoned, status.done, status.judgments) == (1, 2, 6)


def test_a_hit_that_is_held_is_done_when_the_rest_comes(planned):
    planned.set_state("open", actor="me")
    held = planned.claim("r1")
    planned.submit(held.id, "r1", "t0-0", {"adequacy": [9]})
    planned.append(judged(planned, "h0", "r1")[1:])
    assert planned.assignment(held.id).state == "done"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"score": 100.5}, "adequacy: the score is 100.5; expected a number from 0 to 100"),
        ({"score": float("nan")}, "the score is nan"),
        ({"criterion": "beauty"}, "direct-assessment asks for adequacy"),
        ({"hit": "h9"}, "the campaign has no such HIT"),
        ({"task": "t1-0"}, "the HIT has no such task"),
        ({"system": "other"}, "the task shows something else than a caption of 'other'"),
        ({"item": "v9"}, "for item 'v9'"),
        ({"kind": "degraded"}, "a degraded of 'mine'"),
        ({"kind": "spoilt"}, "the kind is 'spoilt'"),
        ({"against": "other"}, "judges one system"),
        ({"rater": ""}, "the rater has no name"),
        ({"rater": "x\0"}, "NUL"),
        ({"position": -1}, "the position is -1"),
        ({"started": float("inf")}, "the time is inf"),
        ({"seconds": float("nan")}, "a number is nan"),
    ],
)
def test_a_row_that_does_not_fit_is_named_and_nothing_is_added(planned, change, said):
    good = judged(planned, "h1", "r1")
    bad = msgspec.structs.replace(judged(planned, "h0", "r1")[0], **change)
    with pytest.raises(DataError) as refused:
        planned.append([*good, bad])
    assert said in str(refused.value)
    assert str(refused.value).startswith("Judgment 3 (rater ")
    status = planned.status()
    assert (status.judgments, status.raters, status.open) == (0, 0, 6)


def test_rows_that_are_there_twice(planned):
    rows = judged(planned, "h0", "r1")
    with pytest.raises(DataError, match=r"Judgment 3 .*: the same as judgment 1"):
        planned.append([*rows, rows[0]])
    planned.append(rows)
    with pytest.raises(DataError, match="2 records cannot be used") as refused:
        planned.append(rows)
    assert str(refused.value).count("exists already; judgments are never changed") == 2
    assert list(planned.rows()) == rows


def test_more_raters_than_the_hit_needs(planned):
    rows = [row for rater in ("r1", "r2", "r3") for row in judged(planned, "h0", rater)]
    with pytest.raises(DataError, match="no place left; each needs 2 raters") as refused:
        planned.append(rows)
    assert "rater 'r3'" in str(refused.value)
    assert planned.status().judgments == 0


def test_only_the_first_few_of_many_are_named(planned):
    rows = [rating(hit=f"x{k}") for k in range(2000)]
    with pytest.raises(DataError, match=r"2,000 records cannot be used; the first 5:") as refused:
        planned.append(rows)
    assert len(str(refused.value).splitlines()) == 6


def test_a_generator_that_fails_changes_nothing(planned):
    def rows():
        yield from judged(planned, "h0", "r1")
        raise RuntimeError("the file is torn")

    with pytest.raises(RuntimeError, match="torn"):
        planned.append(rows())
    assert planned.status().judgments == 0


# Campaigns made of judgments


def test_a_campaign_of_judgments_gives_them_back(where):
    rows = [
        rating("r1", 1 / 3, "b", "v1", hit="h1", task="t1", position=4, z=0.1),
        rating("r2", 2.0, "b", "v1", hit="h1", task="t1", position=0, seconds=9.0),
        rating("r1", 3.0, "a", "v2", "repeat", hit="h2", task="t1", status="rejected"),
        rating("r1", 4.0, "human", "v2", "degraded", hit="h1", task="t2", started=1.0),
    ]
    with Campaign.from_judgments(where, "Old", rows, settings={"x": 1}) as campaign:
        assert list(campaign.rows()) == rows
        assert (campaign.state, campaign.terms.layout, campaign.settings) == (
            "closed",
            "imported",
            {"x": 1},
        )
        assert campaign.systems == ("b", "a")
        assert [hit.id for hit in campaign.hits()] == ["h1", "h2"]
        status = campaign.status()
        assert (status.done, status.open, status.raters, status.finished) == (3, 0, 2, 2)
        more = [
            rating("r3", 5.0, "b", "v1", hit="h1", task="t1"),
            rating("r3", 6.0, "c", "v3", hit="h3", task="t1"),
        ]
        campaign.append(more, new_hits=True)
        assert list(campaign.rows()) == rows + more
        assert campaign.systems == ("b", "a", "c")
        with pytest.raises(DataError, match="no such HIT"):
            campaign.append([rating(hit="h4")])


def test_rankings_and_comparisons_are_taken_too(where):
    ranked = [
        rating(rater, score, system, criterion=criterion, task="t1")
        for rater in ("r1", "r2")
        for criterion in ("grammar", "helpful")
        for system, score in (("b", 2.0), ("a", 1.0), ("c", 3.0))
    ]
    with Campaign.from_judgments(where, "Ranks", ranked, protocol="ranking") as campaign:
        assert list(campaign.rows()) == ranked
        (hit,) = campaign.hits()
        assert [shown.system for shown in hit.tasks[0].shown] == ["b", "a", "c"]
        too_high = rating("r3", 4.0, "a", criterion="grammar", task="t1")
        with pytest.raises(DataError, match="the rank is 4 among 3 captions"):
            campaign.append([too_high], new_hits=True)
    pairs = [
        rating("r1", 2.0, "a", against="b", criterion="story", task="t1"),
        rating("r2", -1.0, "a", against="b", criterion="story", task="t1"),
        rating("r1", 0.0, "b", "v2", "test", against="a", criterion="story", task="t2"),
    ]
    with Campaign.from_judgments(where, "Pairs", pairs, protocol="preference") as campaign:
        assert list(campaign.rows()) == pairs
        assert campaign.systems == ("a", "b")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"item": "v2"}, "a task shows the same to every rater"),
        ({"system": "z"}, "a task shows the same to every rater"),
        ({"kind": "repeat"}, "a task shows the same to every rater"),
        ({"rater": "r1", "task": "t2", "status": "rejected"}, "several states for rater 'r1'"),
        ({"rater": "r1", "task": "t2", "seconds": 7.0}, "several times for rater 'r1'"),
    ],
)
def test_rows_that_contradict_each_other_make_no_campaign(tmp_path, change, said):
    first = rating("r1", task="t1", status="approved", seconds=5.0)
    second = msgspec.structs.replace(first, rater="r2")
    rows = [first, msgspec.structs.replace(second, **change)]
    with pytest.raises(DataError, match=said):
        Campaign.from_judgments(tmp_path / "c.db", "Old", rows)
    assert not list(tmp_path.iterdir())


# Published campaigns


@pytest.mark.shared
def test_published_campaigns_are_kept_to_the_last_digit(shared, where):
    published = {
        "EACL": eacl(shared),
        "WMT": read_judgments([shared / "da-wmt22" / "ad-csen-good-stnd.csv"]).judgments,
    }
    for name, judgments in published.items():
        with Campaign.from_judgments(where, name, judgments) as campaign:
            assert list(campaign.rows()) == list(judgments)
            status = campaign.status()
            assert status.judgments == len(judgments)
            assert status.raters == len(judgments.rater.names)
            assert status.hits == len(judgments.hit.names)


# Size

SIZES = r"""
import re, sys, time
from pathlib import Path
from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.judgments import Judgment

def rows(count):
    for k in range(count):
        hit, task = divmod(k, 100)
        yield Judgment(f"r{hit % 97}", f"h{hit}", f"t{task}", task, f"s{task % 5}",
                       f"v{hit % 19}-{task}", "caption", float(k % 101),
                       started=1.7e9 + k, submitted=1.7e9 + k + 5)

def peak():
    return int(re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())[1]) / 1024

where, count = sys.argv[1], int(sys.argv[2])
before = peak()
start = time.process_time()
with Campaign.from_judgments(where, "Large", rows(count)) as campaign:
    seconds = time.process_time() - start
    assert campaign.status().judgments == count
    assert sum(1 for row in campaign.rows()) == count
print(seconds, before, peak())
"""


def test_many_judgments_come_in_seconds_and_little_memory(where, full):
    count = 1_000_000 if full else 20_000 if "://" in where else 100_000
    command = [sys.executable, "-c", SIZES, where, str(count)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    seconds, before, after = map(float, said.split())
    print(
        f"{count:,} judgments: {seconds:.1f} CPU s, {before:.0f} MiB before, {after:.0f} MiB peak"
    )
    assert seconds < count / 1000  # many times what a machine with nothing else to do needs
    assert after < 200
