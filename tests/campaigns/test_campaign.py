"""A campaign at work, in both databases: HITs go out, answers come in, nothing is lost or mixed."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from reelscore import DataError, UnknownNameError
from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.hits.tasks import Hit, Shown, Task
from reelscore.campaigns.store.assignments import release
from reelscore.errors import MissingExtraError, RefusedError
from reelscore.store.values import microseconds
from support.made_hits import answer_all, hit_of, rating_hits

# Making and finding campaigns


def test_a_campaign_is_one_class():
    assert Campaign.__mro__ == (Campaign, object)


def test_what_is_settled_is_found_again(where, clock):
    settings = {"instructions": "Watch — then judge.", "watch": True, "deep": {"n": [1, None]}}
    Campaign.create(
        where,
        "TRECVid 2017!",
        systems=["a", "ü"],
        protocol="ranking",
        layout="trecvid",
        seed=-7,
        raters_per_hit=3,
        hold=60.5,
        settings=settings,
        clock=clock,
    ).disconnect()
    with Campaign.open(where) as campaign:
        assert (campaign.id, campaign.name) == ("trecvid-2017", "TRECVid 2017!")
        assert (campaign.protocol.name, campaign.terms.layout, campaign.terms.seed) == (
            "ranking",
            "trecvid",
            -7,
        )
        assert (campaign.terms.raters_per_hit, campaign.terms.hold) == (3, 60.5)
        assert campaign.terms.created == clock.now
        assert (campaign.state, campaign.systems) == ("draft", ("a", "ü"))
        assert campaign.settings == settings
        campaign.change_settings({"watch": False})
        assert campaign.settings == {**settings, "watch": False}


def test_a_database_may_hold_several(where, clock):
    for name in ("One", "Two"):
        Campaign.create(where, name, systems=["mine"], clock=clock).disconnect()
        clock.pass_(1)
    assert [terms.name for terms in Campaign.list(where)] == ["One", "Two"]
    with pytest.raises(DataError, match=r"holds 2 campaigns \(one, two\); name one by its id"):
        Campaign.open(where)
    with Campaign.open(where, "two") as campaign:
        assert campaign.name == "Two"
    with pytest.raises(UnknownNameError, match="Unknown campaign 'tow'"):
        Campaign.open(where, "tow")
    with pytest.raises(DataError, match="already a campaign 'one'; choose another id"):
        Campaign.create(where, "One", systems=["mine"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"systems": ["a", "a"]}, "Two systems have the same name"),
        ({"systems": [""]}, "the system has no name"),
        ({"raters_per_hit": 0}, "0 raters for each HIT"),
        ({"hold": 0}, "hold time is 0 seconds"),
        ({"hold": float("nan")}, "hold time is nan"),
        ({"seed": 2**63}, "at most 64 bits"),
        ({"settings": {"x": object()}}, "settings cannot be written as JSON"),
        ({"settings": {"x": "\ud800"}}, "settings cannot be written as JSON"),
        ({"name": "x\0"}, "NUL"),
        ({"id": "dogs/2017"}, "used in addresses and file names"),
        ({"id": ".."}, "used in addresses and file names"),
        ({"id": "two words"}, "used in addresses and file names"),
        ({"id": "x" * 101}, "up to 100 letters"),
    ],
)
def test_a_campaign_that_cannot_be_is_not_made(tmp_path, change, said):
    arguments = {"name": "Dogs", "systems": ["mine"]} | change
    with pytest.raises(DataError, match=said):
        Campaign.create(tmp_path / "c.db", **arguments)
    assert not (tmp_path / "c.db").exists()


def test_an_unknown_protocol_is_named(tmp_path):
    with pytest.raises(UnknownNameError, match="Did you mean 'ranking'"):
        Campaign.create(tmp_path / "c.db", "Dogs", systems=["mine"], protocol="rankin")


def test_without_sqlalchemy_the_remedy_is_named():
    script = (
        "import sys; sys.modules['sqlalchemy'] = None\n"
        "from reelscore.campaigns.campaign import Campaign\n"
        "try: Campaign.list('c.db')\n"
        "except ImportError as error: print(type(error).__name__, error)"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout
    assert said.startswith(MissingExtraError.__name__)
    assert "pip install 'reelscore[web]'" in said


# HITs


def test_hits_come_back_as_they_went_in(make):
    hits = [
        *rating_hits(3, 4),
        Hit("ü", (Task("t", "v99", (Shown("mine", 'a "dog",\nü'),), expected=71.5),)),
    ]
    campaign = make(hits)
    assert list(campaign.hits()) == hits
    assert campaign.add_hits([]) == 0


@pytest.mark.parametrize(
    ("hit", "said"),
    [
        (Hit("h0", (Task("t", "v", (Shown("mine", ""),)),)), "has a HIT 'h0' already"),
        (Hit("h", ()), "no tasks"),
        (Hit("", (Task("t", "v", (Shown("mine", ""),)),)), "the HIT has no name"),
        (Hit("h", (Task("t", "", (Shown("mine", ""),)),)), "the item has no name"),
        (Hit("h", (Task("t", "v", (Shown("mine", ""),)),) * 2), "another task of this id"),
        (Hit("h", (Task("t", "v", ()),)), "0 captions; direct-assessment shows 1"),
        (Hit("h", (Task("t", "v", (Shown("mine", ""), Shown("other", ""))),)), "2 captions"),
        (Hit("h", (Task("t", "v", (Shown("theirs", ""),)),)), "'theirs', which is not a system"),
        (Hit("h", (Task("t", "v", (Shown("mine", "", "spoilt"),)),)), "kind is 'spoilt'"),
        (Hit("h", (Task("t", "v", (Shown("mine", "a\0"),)),)), "NUL"),
        (Hit("h", (Task("t", "v", (Shown("mine", "\ud800"),)),)), "lone surrogate"),
        (Hit("h", (Task("t", "v", (Shown("mine", "x" * 100_001),)),)), "100,001 characters"),
        (Hit("h", (Task("t", "v", (Shown("mine", ""),), float("nan")),)), "expected score is nan"),
    ],
)
def test_a_hit_that_cannot_be_asked_is_refused_and_none_is_added(make, hit, said):
    campaign = make(rating_hits(1, 2))
    with pytest.raises(DataError, match=said):
        campaign.add_hits([*list(rating_hits(5, 1, ("mine",)))[1:], hit])
    assert [each.id for each in campaign.hits()] == ["h0"]


def test_two_hits_of_one_id_are_refused(make):
    campaign = make()
    twice = list(rating_hits(1, 1)) * 2
    with pytest.raises(DataError, match="HIT number 2: the same HIT as HIT number 1"):
        campaign.add_hits(twice)


# Claiming


def test_hits_go_out_in_order_and_everyone_before_anyone_twice(make):
    campaign = make(rating_hits(2, 1), raters_per_hit=2)
    assert [campaign.claim(f"r{k}").hit for k in range(4)] == ["h0", "h1", "h0", "h1"]
    assert campaign.claim("r5") is None
    status = campaign.status()
    assert (status.open, status.held, status.raters, status.finished) == (0, 4, 4, 0)


def test_a_rater_resumes_the_hit_held_and_gets_each_once(make):
    campaign = make(rating_hits(2, 2), raters_per_hit=2)
    first = campaign.claim("r1", client="phone")
    assert campaign.claim("r1") == first
    campaign.submit(first.id, "r1", "t0-0", {"adequacy": [3]})
    again = campaign.claim("r1")
    assert (again.id, [task.id for task in again.remaining]) == (first.id, ["t0-1"])
    answer_all(campaign, again)
    assert campaign.assignment(first.id).state == "done"
    second = campaign.claim("r1")
    assert second.hit == "h1"
    answer_all(campaign, second)
    assert campaign.claim("r1") is None  # though each HIT has another place


@pytest.mark.parametrize(
    ("second", "is_given"),
    [
        (("v1", "mine", "other words"), False),  # the same system's caption
        (("v1", "other", "a dog runs"), False),  # the same words
        (("v1", "other", "a cat runs"), True),
        (("v2", "mine", "a dog runs"), True),  # of another video
    ],
)
def test_no_rater_sees_a_caption_twice(make, second, is_given):
    campaign = make([hit_of("one", ("v1", "mine", "a dog runs")), hit_of("two", second)])
    answer_all(campaign, campaign.claim("r1"))
    assert (campaign.claim("r1") is not None) == is_given
    assert (campaign.claim("r2") is not None) != is_given


def test_captions_of_a_hit_given_up_count_as_seen(make, clock):
    hits = [hit_of("one", ("v1", "mine", "x")), hit_of("two", ("v1", "mine", "x"))]
    campaign = make(hits)
    campaign.claim("r1")
    clock.pass_(101)
    assert campaign.claim("r2").hit == "one"
    assert campaign.claim("r1") is None


def test_test_questions_may_come_again(make):
    question = ("v1", "mine", "a dog runs")
    campaign = make([hit_of("one", question, kind="test"), hit_of("two", question, kind="test")])
    answer_all(campaign, campaign.claim("r1"))
    assert campaign.claim("r1").hit == "two"


@pytest.mark.parametrize(
    ("pair", "is_given"),
    [(("other", "truth"), True), (("truth", "mine"), False), (("mine", "truth"), False)],
)
def test_comparisons_show_a_reference_again_but_no_pair(make, pair, is_given):
    def hit(id, systems):
        return Hit(id, (Task(f"{id}-t", "v1", tuple(Shown(s, s) for s in systems)),))

    campaign = make(
        [hit("one", ("mine", "truth")), hit("two", pair)],
        protocol="against-reference",
        systems=["mine", "other", "truth"],
    )
    held = campaign.claim("r1")
    campaign.submit(held.id, "r1", "one-t", {"helpful": [1]})
    assert (campaign.claim("r1") is not None) == is_given


def test_only_open_campaigns_hand_out(make):
    campaign = make(rating_hits(3, 2))
    held = campaign.claim("r1")
    campaign.set_state("paused", actor="me", reason="lunch")
    assert campaign.claim("r2") is None
    assert campaign.claim("r1").id == held.id
    assert campaign.submit(held.id, "r1", "t0-0", {"adequacy": [1]}).new
    campaign.set_state("closed", actor="me")
    with pytest.raises(RefusedError, match="closed") as refused:
        campaign.submit(held.id, "r1", "t0-1", {"adequacy": [1]})
    assert refused.value.reason == "closed"
    with pytest.raises(DataError, match="cannot become a draft again"):
        campaign.set_state("draft", actor="me")
    with pytest.raises(UnknownNameError, match="Did you mean 'open'"):
        campaign.set_state("opne", actor="me")
    campaign.set_state("open", actor="me")
    assert campaign.claim("r2").hit == "h1"
    decided = [(event.what, event.reason) for event in campaign.events()]
    assert decided == [("open", ""), ("paused", "lunch"), ("closed", ""), ("open", "")]


def test_an_excluded_rater_gets_nothing_until_readmitted(make):
    campaign = make(rating_hits(1, 1))
    campaign.decide("pay", "r1", actor="me")
    campaign.decide("exclude", "r1", actor="me", reason="constant scores")
    assert campaign.excluded() == {"r1"}
    with pytest.raises(RefusedError) as refused:
        campaign.claim("r1")
    assert refused.value.reason == "excluded"
    campaign.decide("readmit", "r1", actor="you", reason="a mistake")
    assert campaign.excluded() == frozenset()
    assert campaign.claim("r1").hit == "h0"
    assert [event.what for event in campaign.events()] == ["open", "pay", "exclude", "readmit"]


# Answers


def test_an_answer_is_kept_once_however_often_it_comes(make, clock):
    campaign = make(rating_hits(1, 2))
    held = campaign.claim("r1")
    sent = {"started": clock.now - 9.25, "submitted": clock.now - 0.000001, "client": "phone"}
    clock.pass_(5)
    receipt = campaign.submit(held.id, "r1", "t0-1", {"adequacy": [71]}, **sent)
    assert (receipt.new, receipt.remaining, receipt.done) == (True, 1, False)
    again = campaign.submit(held.id, "r1", "t0-1", {"adequacy": [71]})
    assert (again.new, again.remaining) == (False, 1)
    with pytest.raises(RefusedError, match="another answer already") as refused:
        campaign.submit(held.id, "r1", "t0-1", {"adequacy": [72]})
    assert refused.value.reason == "answered"
    (row,) = campaign.rows()
    assert (row.rater, row.hit, row.task, row.position) == ("r1", "h0", "t0-1", 1)
    assert (row.system, row.item, row.kind, row.score) == ("other", "v1", "caption", 71.0)
    assert (row.criterion, row.against, row.client) == ("adequacy", "", "phone")
    assert (row.started, row.submitted) == (sent["started"], sent["submitted"])


def test_the_same_answer_is_acknowledged_after_the_end(make):
    campaign = make(rating_hits(1, 1))
    held = campaign.claim("r1")
    assert campaign.submit(held.id, "r1", "t0-0", {"adequacy": [5]}).done
    campaign.set_state("closed", actor="me")
    again = campaign.submit(held.id, "r1", "t0-0", {"adequacy": [5]})
    assert (again.new, again.done) == (False, True)


@pytest.mark.parametrize(
    "answer",
    [
        {"adequacy": [101]},
        {"adequacy": [-0.1]},
        {"adequacy": [float("nan")]},
        {"adequacy": [float("inf")]},
        {"adequacy": []},
        {"adequacy": [1, 2]},
        {"adequacy": ["71"]},
        {"fluency": [50]},
        {"adequacy": [50], "fluency": [50]},
        {},
    ],
)
def test_an_answer_off_the_protocol_is_refused(make, answer):
    campaign = make(rating_hits(1, 1))
    held = campaign.claim("r1")
    with pytest.raises(DataError):
        campaign.submit(held.id, "r1", "t0-0", answer)
    assert campaign.status().judgments == 0


@pytest.mark.parametrize("time", [float("nan"), float("inf"), -1.0, 1e12])
def test_a_time_that_is_none_is_refused(make, time):
    campaign = make(rating_hits(1, 1))
    held = campaign.claim("r1")
    with pytest.raises(DataError, match="seconds since 1970"):
        campaign.submit(held.id, "r1", "t0-0", {"adequacy": [5]}, started=time)


def test_only_the_holder_may_answer(make):
    campaign = make(rating_hits(2, 1))
    held = campaign.claim("r1")
    for assignment, rater, task in [
        (held.id, "r2", "t0-0"),
        (held.id, "", "t0-0"),
        (held.id + 99, "r1", "t0-0"),
        (held.id, "r1", "t1-0"),  # of another HIT
        (held.id + 1, "", "t1-0"),  # a place nobody has
    ]:
        with pytest.raises(RefusedError) as refused:
            campaign.submit(assignment, rater, task, {"adequacy": [5]})
        assert refused.value.reason == "unknown"
    assert campaign.status().judgments == 0


def test_another_campaign_of_the_database_knows_nothing_of_it(make):
    one = make(rating_hits(1, 1))
    two = make(rating_hits(1, 1), name="Cats")
    held = one.claim("r1")
    with pytest.raises(RefusedError):
        two.submit(held.id, "r1", "t0-0", {"adequacy": [5]})
    assert two.assignment(held.id) is None
    answer_all(one, held)
    assert (one.status().judgments, two.status().judgments) == (1, 0)
    assert two.claim("r1").hit == "h0"
    assert list(two.rows()) == []


def test_rankings_and_comparisons_give_rows(make):
    captions = tuple(Shown(system, f"by {system}") for system in ("b", "a", "c"))
    ranking = make([Hit("h", (Task("t", "v", captions),))], protocol="ranking", systems="abc")
    held = ranking.claim("r1")
    answer = {name: [2, 1, 3] for name in ("correctness", "relevance", "grammar", "helpful")}
    assert ranking.submit(held.id, "r1", "t", answer).done
    rows = list(ranking.rows())
    assert len(rows) == 12
    assert {row.system: row.score for row in rows if row.criterion == "grammar"} == {
        "b": 2,
        "a": 1,
        "c": 3,
    }
    pairs = [
        Task("t1", "v", (Shown("a", "x"), Shown("b", "y"))),
        Task("t2", "w", (Shown("truth", "x", "reference"), Shown("a", "y"))),
        Task("t3", "u", (Shown("a", "x", "test"), Shown("b", "y", "test")), expected=2.0),
    ]
    comparing = make([Hit("h", tuple(pairs))], name="Pairs", protocol="preference", systems="ab")
    held = comparing.claim("r1")
    for task, score in (("t1", -2), ("t2", 1), ("t3", 2)):
        comparing.submit(held.id, "r1", task, {"story": [score]})
    rows = [(row.system, row.against, row.kind, row.score) for row in comparing.rows()]
    assert rows == [
        ("a", "b", "caption", -2),
        ("truth", "a", "caption", 1),
        ("a", "b", "test", 2),
    ]
    assert comparing.status().by_system == {"a": 2, "b": 1}


# Abandoned HITs


def test_only_who_holds_a_hit_can_keep_it(make, clock):
    campaign = make(rating_hits(1, 1))
    held = campaign.claim("r1")
    clock.pass_(99)
    assert not campaign.touch(held.id, "r2")
    assert not campaign.touch(held.id + 1, "r1")
    clock.pass_(2)
    assert campaign.release_abandoned() == 1
    assert not campaign.touch(held.id, "r1")  # too late
    assert campaign.assignment(held.id).state == "abandoned"


def test_an_abandoned_hit_returns_and_its_judgments_stay(make, clock):
    campaign = make(rating_hits(1, 2))
    gone = campaign.claim("r1")
    campaign.submit(gone.id, "r1", "t0-0", {"adequacy": [11]})
    clock.pass_(100)
    assert campaign.release_abandoned() == 0
    clock.pass_(0.001)
    assert campaign.release_abandoned() == 1
    assert campaign.assignment(gone.id).state == "abandoned"
    taken = campaign.claim("r2")
    assert (taken.hit, len(taken.remaining)) == ("h0", 2)
    assert taken.id != gone.id
    with pytest.raises(RefusedError, match="ask for another HIT") as refused:
        campaign.submit(gone.id, "r1", "t0-1", {"adequacy": [12]})
    assert refused.value.reason == "taken"
    assert campaign.submit(gone.id, "r1", "t0-0", {"adequacy": [11]}).new is False
    answer_all(campaign, taken)
    assert [row.score for row in campaign.rows()] == [11, 50, 50]
    assert [row.score for row in campaign.rows(finished=True)] == [50, 50]
    assert len(campaign.judgments(finished=True)) == 2
    status = campaign.status()
    assert (status.done, status.abandoned, status.open, status.finished) == (1, 1, 0, 1)
    assert [event.what for event in campaign.events()] == ["open", "release"]


def test_each_sign_of_the_rater_counts(make, clock):
    campaign = make(rating_hits(1, 3))
    held = campaign.claim("r1")
    for task in ("t0-0", "t0-1"):
        clock.pass_(99)
        campaign.submit(held.id, "r1", task, {"adequacy": [1]})
    clock.pass_(99)
    campaign.claim("r1")
    clock.pass_(99)
    assert campaign.touch(held.id, "r1")
    clock.pass_(99)
    assert campaign.release_abandoned() == 0
    assert campaign.release_abandoned(now=clock.now + 2) == 1


def test_a_rater_returns_while_another_offers_the_place_again(make, clock):
    campaign = make(rating_hits(1, 2))
    held = campaign.claim("r1")
    clock.pass_(101)
    database = campaign.database
    with ThreadPoolExecutor(1) as pool, database.writing() as connection:
        assert release(connection, campaign.terms, microseconds(clock())) == 1
        returning = pool.submit(campaign.claim, "r1")
        while not database.is_sqlite and not _waits_for_a_lock(database):
            assert not returning.done()
    assert returning.result().id == held.id
    assert (campaign.status().held, campaign.status().open) == (1, 0)


def _waits_for_a_lock(database):
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with database.reading() as connection:
        return connection.exec_driver_sql(waiting).scalar() > 0


def test_whoever_claims_releases(make, clock):
    campaign = make(rating_hits(1, 1))
    campaign.claim("r1")
    assert campaign.claim("r2") is None
    clock.pass_(101)
    assert campaign.claim("r2").hit == "h0"


@pytest.mark.parametrize("comes_back_by", ["claim", "submit"])
def test_a_rater_may_come_back_while_the_place_is_free(make, clock, comes_back_by):
    campaign = make(rating_hits(1, 2))
    held = campaign.claim("r1")
    campaign.submit(held.id, "r1", "t0-0", {"adequacy": [1]})
    clock.pass_(101)
    campaign.release_abandoned()
    if comes_back_by == "claim":
        back = campaign.claim("r1")
        assert (back.id, len(back.remaining)) == (held.id, 1)
    else:
        assert campaign.submit(held.id, "r1", "t0-1", {"adequacy": [1]}).done
    assert campaign.claim("r2") is None
    answer_all(campaign, held, score=1)
    status = campaign.status()
    assert (status.done, status.abandoned, status.open, status.judgments) == (1, 0, 0, 2)
    clock.pass_(101)
    assert campaign.release_abandoned() == 0  # what is done stays done


def test_a_place_may_change_hands_and_come_back(make, clock):
    campaign = make(rating_hits(1, 1))
    for rater in ("r1", "r2", "r1", "r2", "r3", "r1"):
        assert campaign.claim(rater).hit == "h0"
        clock.pass_(101)
        assert campaign.release_abandoned() == 1
    status = campaign.status()
    assert (status.abandoned, status.open, status.held) == (3, 1, 0)


def test_a_late_answer_does_not_make_two_hits_held(make, clock):
    campaign = make(rating_hits(2, 2))
    first = campaign.claim("r1")
    clock.pass_(101)
    assert campaign.claim("r2").hit == "h0"
    second = campaign.claim("r1")
    assert second.hit == "h1"
    clock.pass_(101)
    campaign.release_abandoned()  # now both are free again
    campaign.claim("r1")
    with pytest.raises(RefusedError) as refused:
        campaign.submit(first.id, "r1", "t0-0", {"adequacy": [1]})
    assert refused.value.reason == "taken"
    assert campaign.status().held == 1


def test_an_organiser_may_release_at_once(make):
    campaign = make(rating_hits(1, 1))
    held = campaign.claim("r1")
    campaign.release(held.id, actor="me", reason="asked to stop")
    assert campaign.claim("r2").hit == "h0"
    with pytest.raises(RefusedError, match="No rater holds"):
        campaign.release(held.id, actor="me")
    event = campaign.events()[-1]
    assert (event.actor, event.what, event.about, event.reason) == (
        "me",
        "release",
        "r1",
        "asked to stop",
    )
