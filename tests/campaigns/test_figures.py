"""What Progress tells at a glance: cost, pace, time left, last seen, agreement."""

from __future__ import annotations

import re
from html import unescape

import pytest

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.hits.tasks import Hit, Shown, Task
from reelscore.campaigns.pages.organisers import progress as rater_table
from reelscore.web.app import create_app
from reelscore.web.settings import Settings
from support.server import SECRET
from support.visits import URL, Visitor

TASKS = 12


@pytest.fixture
def site(tmp_path, clock):
    """A server with one paid campaign: two HITs of twelve tasks, each for two raters."""
    database = str(tmp_path / "dogs.db")
    with Campaign.create(
        database,
        "Dogs",
        systems=["alpha", "beta"],
        raters_per_hit=2,
        settings={"pages": {"price": 0.5, "fee": 0.2, "currency": "EUR"}},
        clock=clock,
    ) as campaign:
        campaign.add_hits(
            Hit(
                f"h{h}",
                tuple(
                    Task(f"t{h}-{k}", f"clip{h}-{k}", (Shown(("alpha", "beta")[k % 2], "a dog"),))
                    for k in range(TASKS)
                ),
            )
            for h in range(2)
        )
        campaign.set_state("open", actor="test")
    app = create_app(Settings(database, secret=SECRET, url=URL, clock=clock))
    owner = Visitor(app)
    owner.log_in()
    return app, owner


def rate(campaign, clock, rater, answers=TASKS, score=lambda k: 8.0 * k):
    """Answer one task a minute."""
    held = campaign.claim(rater)
    for k, task in enumerate(held.tasks[:answers]):
        clock.now += 60
        campaign.submit(
            held.id,
            rater,
            task.id,
            {"adequacy": [score(k)]},
            started=clock.now - 50,
            submitted=clock.now,
        )


def shown(owner):
    """Give the words of each figure, and of the table."""
    text = owner.get("/organise/c/dogs/live").text
    parts = re.findall(r"<dt>(.*?)</dt>(.*?)</div>", text, re.S)
    words = {
        name: " ".join(unescape(re.sub(r"<[^>]+>", " ", value)).split()) for name, value in parts
    }
    seen = re.findall(r'data-label="last seen" class="whole"><time[^>]*>([^<]+)<', text)
    return words, seen


def test_before_anybody_came(site):
    words, seen = shown(site[1])
    assert words["Cost so far"] == "0.00 EUR 2.40 expected in the end; 0.50 a HIT and 20% fee"
    assert words["Pace"] == "– too little in the last hour to tell"
    assert words["Time left"] == "– not known without a pace"
    assert words["Agreement among raters"] == "– not enough yet: 0 captions judged by several"
    assert seen == []


def test_while_raters_work(site, clock):
    app, owner = site
    campaign = app.state.campaigns.get("dogs")
    for rater in ("r1", "r2", "r3"):
        rate(campaign, clock, rater)
    rate(campaign, clock, "r4", answers=3)
    words, seen = shown(owner)
    # three HITs, and a quarter of one as the pay list has it: 3 × 0.50 + 0.12, and the fee
    assert words["Cost so far"] == "1.94 EUR 2.40 expected in the end; 0.50 a HIT and 20% fee"
    assert words["Pace"] == "60 answers an hour 5.0 HITs an hour"
    assert words["Time left"] == "9 min at this pace"  # 12 tasks, 3 of them answered
    assert (
        words["Agreement among raters"]
        == "1.00 Krippendorff's alpha: 15 captions judged by several"
    )
    assert seen == ["1 min ago", "3 min ago", "15 min ago", "27 min ago"]
    # a break of a night is no pace, and says nothing of the time left
    clock.now += 10 * 3600
    words, seen = shown(owner)
    assert words["Pace"] == "– too little in the last hour to tell"
    assert words["Time left"] == "– not known without a pace"
    assert seen[0] == "10.0 h ago"


def test_rejected_work_is_not_paid(site, clock):
    app, owner = site
    campaign = app.state.campaigns.get("dogs")
    rate(campaign, clock, "r1")
    campaign.decide("reject", "r1", actor="ada", reason="made up")
    assert shown(owner)[0]["Cost so far"].startswith("0.00 EUR")
    campaign.decide("pay", "r1", actor="ada", reason="a mistake")
    assert shown(owner)[0]["Cost so far"].startswith("0.60 EUR")


def test_no_price_and_nothing_left(site, clock):
    app, owner = site
    campaign = app.state.campaigns.get("dogs")
    for rater in ("r1", "r2", "r3", "r4"):
        rate(campaign, clock, rater)
    campaign.change_settings({"pages": {}})
    words, _ = shown(owner)
    assert words["Cost so far"] == "– no price of a HIT is set under Texts"
    assert words["Time left"] == "– nothing is left to do"


def test_excluded_raters_do_not_count_in_the_agreement(site, clock):
    app, owner = site
    campaign = app.state.campaigns.get("dogs")
    for rater in ("r1", "r2"):
        rate(campaign, clock, rater)
    rate(campaign, clock, "r3", score=lambda k: 100 - 8.0 * k)
    assert shown(owner)[0]["Agreement among raters"].startswith("-0")
    campaign.decide("exclude", "r3", actor="ada", reason="the other way round")
    assert shown(owner)[0]["Agreement among raters"].startswith("– not enough yet")


@pytest.mark.parametrize(
    ("protocol", "answer", "words"),
    [
        ("ranking", {}, "1.00 helpful Krippendorff's alpha: 24 captions judged by several"),
        (
            "preference",
            {"story": [1]},
            "1.00 share of pairs of raters who voted alike: 12 pairs of texts judged by several",
        ),
    ],
)
def test_agreement_of_votes(tmp_path, clock, protocol, answer, words):
    database = str(tmp_path / "dogs.db")
    names = ("correctness", "relevance", "grammar", "helpful")
    answer = answer or {name: [1, 2] for name in names}
    with Campaign.create(
        database, "Dogs", systems=["a", "b"], protocol=protocol, raters_per_hit=2, clock=clock
    ) as campaign:
        shown_both = tuple(Shown(system, f"a dog of {system}") for system in "ab")
        tasks = tuple(Task(f"t{k}", f"clip{k}", shown_both) for k in range(TASKS))
        campaign.add_hits([Hit("h", tasks)])
        campaign.set_state("open", actor="test")
        for rater in ("r1", "r2"):
            held = campaign.claim(rater)
            for task in held.tasks:
                campaign.submit(held.id, rater, task.id, answer)
    owner = Visitor(create_app(Settings(database, secret=SECRET, url=URL, clock=clock)))
    owner.log_in()
    assert words in shown(owner)[0]["Agreement among raters"]
    dogs = owner.app.state.campaigns.get("dogs")
    dogs.decide("reject", "r2", actor="ada", reason="copied")
    assert "not enough yet" in shown(owner)[0]["Agreement among raters"]


def test_repeats_where_each_caption_has_one_rater(tmp_path, clock):
    """The usual layout shows some captions twice to the same rater, and no caption to two."""
    database = str(tmp_path / "dogs.db")
    with Campaign.create(database, "Dogs", systems=["a"], clock=clock) as campaign:
        captions = [(f"clip{k}", kind) for kind in ("caption", "repeat") for k in range(TASKS)]
        tasks = tuple(
            Task(f"{kind} {item}", item, (Shown("a", "a dog", kind),)) for item, kind in captions
        )
        campaign.add_hits([Hit("h", tasks)])
        campaign.set_state("open", actor="test")
        rate(campaign, clock, "r1", answers=2 * TASKS - 3, score=lambda k: 5.0 * (k % TASKS))
        owner = Visitor(create_app(Settings(database, secret=SECRET, url=URL, clock=clock)))
        owner.log_in()
        few = "– not enough yet: 0 captions judged by several"
        assert shown(owner)[0]["Agreement among raters"] == few
        held = campaign.claim("r1")
        for k, task in enumerate(held.remaining):
            campaign.submit(held.id, "r1", task.id, {"adequacy": [45.0 + 5 * k]})
        assert shown(owner)[0]["Agreement among raters"] == (
            f"{few} each with themselves: r 1.00, 12 repeats"
        )


def test_a_look_costs_little_while_nothing_is_new(site, clock, monkeypatch):
    """Pages ask every three seconds: judgments are read when they could change something."""
    app, owner = site
    campaign = app.state.campaigns.get("dogs")
    read = []
    original = type(campaign).judgments
    monkeypatch.setattr(
        type(campaign),
        "judgments",
        lambda self, **more: read.append(1) or original(self, **more),
    )
    rate(campaign, clock, "r1")
    for _ in range(5):
        shown(owner)
    assert len(read) == 1
    rate(campaign, clock, "r2", answers=1)
    shown(owner)
    assert len(read) == 2
    # of a large campaign, one answer changes nothing; a finished HIT may
    monkeypatch.setattr(rater_table, "_STEPS", 4)
    shown(owner)
    rate(campaign, clock, "r3", answers=1)
    looked = len(read)
    shown(owner)
    assert len(read) == looked
    rate(campaign, clock, "r4")
    shown(owner)
    assert len(read) == looked + 1
