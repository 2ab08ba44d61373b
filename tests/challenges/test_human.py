"""The final entries before people: campaigns made of them, and their verdict on the board."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.simulate.crowd import Crowd
from reelscore.campaigns.simulate.simulation import Truth, simulate_campaign
from reelscore.challenges import updates
from reelscore.challenges.challenge import Challenges
from reelscore.challenges.exchange.imports import import_challenge
from reelscore.challenges.people.human import make_campaign, publish
from reelscore.challenges.people.teams import add_team
from reelscore.challenges.permissions import VISITOR, Who
from reelscore.challenges.queue.workers import Workers
from reelscore.challenges.store import tables
from reelscore.challenges.store.events import broken_link, read_events
from reelscore.challenges.store.tables import open_challenges
from reelscore.challenges.submissions import Upload, hand_in
from reelscore.challenges.uploads.uploads import Readers
from reelscore.errors import DataError, UnknownNameError
from reelscore.examples import clips
from support.challenge_data import challenge_text, export, open_view
from support.challenges import (
    CLOSES,
    OPENS,
    REVEALS,
    definition_text,
    made_with,
    make_challenge,
)
from support.results import scores_by_team

TEAMS = ("strong", "weak", "human", "broken")


@pytest.fixture
def made(tmp_path):
    made = made_with(tmp_path)
    with made.database:
        yield made


@pytest.fixture
def where(tmp_path):
    return tmp_path / "c.db"


def make(made, where, human, now=CLOSES):
    return make_campaign(
        open_view(made.database, "clips", Who("owner"), now=now), where, human, actor="ada"
    )


def ids_by_team(made):
    board = open_view(made.database, "clips", Who("owner"), now=CLOSES).board("main")
    return {row.team: row.id for row in board.rows}


def test_a_campaign_on_a_blind_split_waits_for_the_close(made, where):
    with pytest.raises(DataError, match="after the phase 'main' has closed"):
        make(made, where, "da", now=CLOSES - 1)
    with pytest.raises(UnknownNameError):
        make(made, where, "none")


def test_raters_see_submissions_without_teams_and_the_sample_is_logged(made, where):
    result = make(made, where, "da")
    assert sorted(result.entries) == sorted(ids_by_team(made).values())
    with Campaign.open(where, result.campaign) as campaign:
        assert set(campaign.systems) == {*result.entries, "human"}
        assert campaign.humans == ("human",)
        assert len(campaign.items()) == 12
        shown = {shown.system for hit in campaign.hits() for t in hit.tasks for shown in t.shown}
        assert not shown & set(TEAMS) - {"human"}
        assert campaign.name.startswith("Video descriptions ")
        assert not {"clips", "da"} & set(campaign.name.split())
        assert campaign.settings["blind"] is True
        items = set(campaign.items())
    with made.database.reading() as connection:
        row = connection.execute(select(tables.human)).one()
        events = read_events(connection, made.keys["challenge"])
        assert broken_link(connection, made.keys["challenge"]) is None
    assert set(json.loads(row.disclosed)) == items
    assert [event.what for event in events] == ["human", "disclosed"]
    assert set(json.loads(events[1].after)) == items
    with pytest.raises(DataError, match="already"):
        make(made, where, "da")


def closed(where, id, judgments=None):
    with Campaign.open(where, id) as campaign:
        if judgments is not None:
            campaign.append(judgments)
        campaign.set_state("open", actor="ada")
        campaign.set_state("closed", actor="ada")


def people_of(made, now, who=VISITOR):
    board = open_view(made.database, "clips", who, now=now).board("main")
    return board, [column.score for column in board.columns if column.score.startswith("human")]


def judged(board):
    """Return what people gave each entry, whatever its column is called."""
    scores = {row.id: board.table[row.id]["human:da"] for row in board.rows}
    clusters = [row.people_clusters["human:da"] for row in board.rows]
    return {id: (own.score, own.interval, own.signature) for id, own in scores.items()}, clusters


def test_the_verdict_becomes_a_column_when_it_is_published(made, where):
    result = make(made, where, "da")
    quality = dict.fromkeys(result.entries, -0.3) | {"human": 1.0}
    ids = ids_by_team(made)
    quality[ids["weak"]] = 0.8  # people like best what the metrics do not
    with pytest.raises(DataError, match="close it"):
        publish(
            open_view(made.database, "clips", Who("owner"), now=CLOSES), where, "da", actor="ada"
        )
    with Campaign.open(where, result.campaign) as campaign:
        hits = list(campaign.hits())
    simulated = simulate_campaign(
        hits, Truth(quality, Crowd(), 1), seed=5, mix={"diligent": 1.0}, raters_per_hit=6
    )
    assert people_of(made, REVEALS, Who("owner"))[1] == []
    closed(where, result.campaign, simulated.judgments)
    board, people = people_of(made, REVEALS)
    assert people == []
    for role in ("assistant", "owner"):  # organisers see it before
        board, people = people_of(made, REVEALS, Who(role))
        assert people == ["human:da"]
        assert {c.label for c in board.columns if c.score == "human:da"} == {"da (not published)"}
    early = judged(board)
    assert (
        publish(
            open_view(made.database, "clips", Who("owner"), now=REVEALS), where, "da", actor="ada"
        )
        == 1
    )
    board, people = people_of(made, REVEALS)
    assert people == ["human:da"]
    assert judged(board) == early
    board, people = people_of(made, REVEALS, Who("owner"))
    assert {c.label for c in board.columns if c.score == "human:da"} == {"da"}
    ids = {row.team: row.id for row in board.rows}
    scores = {team: board.table[id]["human:da"] for team, id in ids.items()}
    clusters = {row.id: row.people_clusters["human:da"] for row in board.rows}
    assert max(scores, key=lambda team: scores[team].score) == "weak"
    assert clusters[ids["weak"]] == 1
    assert clusters[ids["broken"]] > 1
    low, high = scores["weak"].interval
    assert low < scores["weak"].score < high
    assert "campaign:" in scores["weak"].signature
    hidden, people = people_of(made, OPENS + 1)
    assert hidden.rows == []


def test_an_unpublished_verdict_follows_the_campaign(made, where):
    def first(task):
        order = [shown.system for shown in task.shown]
        return {"helpful": [1.0 if order[0] == "reference" else -1.0]}

    def columns():
        return people_of(made, REVEALS, Who("owner"))[1]

    campaign = make(made, where, "points").campaign
    answers(where, campaign, first, ["r1", "r2", "r3"])
    assert columns() == ["human:points"]
    with Campaign.open(where, campaign) as opened:
        for rater in ("r1", "r2", "r3"):
            opened.decide("exclude", rater, actor="ada", reason="in haste")
        assert columns() == []
        opened.decide("readmit", "r1", actor="ada", reason="not so fast")
        assert columns() == ["human:points"]
        opened.set_state("open", actor="ada", reason="two more raters")
        assert columns() == []


def answers(where, id, answer, raters):
    """Let raters do everything there is, by a rule."""
    with Campaign.open(where, id) as campaign:
        campaign.set_state("open", actor="ada")
        hits = {hit.id: hit for hit in campaign.hits()}
        for rater in raters:
            while (held := campaign.claim(rater)) is not None:
                for task in hits[held.hit].tasks:
                    campaign.submit(held.id, rater, task.id, answer(task))
        campaign.set_state("closed", actor="ada")


def test_points_by_quorum_and_ranks_with_the_reference(made, where):
    ids = ids_by_team(made)
    order = [ids["human"], "reference", ids["strong"], ids["weak"], ids["broken"]]

    def compare(task):
        one, other = (order.index(shown.system) for shown in task.shown)
        return {"helpful": [float((one > other) - (one < other))]}

    def rank(task):
        places = sorted(order.index(shown.system) for shown in task.shown)
        own = [float(places.index(order.index(shown.system)) + 1) for shown in task.shown]
        criteria = ("correctness", "relevance", "grammar", "helpful")
        return dict.fromkeys(criteria, own)

    points = make(made, where, "points")
    answers(where, points.campaign, compare, ["r1", "r2", "r3"])
    ranks = make(made, where, "ranks")
    answers(where, ranks.campaign, rank, ["r1"])
    for human, columns in (("points", 1), ("ranks", 4)):
        assert (
            publish(
                open_view(made.database, "clips", Who("owner"), now=REVEALS),
                where,
                human,
                actor="a",
            )
            == columns
        )
    board, people = people_of(made, REVEALS)
    assert people[0] == "human:points"
    assert "human:ranks:grammar" in people
    rows = scores_by_team(board)
    assert [rows[team]["human:points"].score for team in ("human", "strong")] == [1.0, 0.0]
    ranked = {team: scores["human:ranks:grammar"].score for team, scores in rows.items()}
    assert ranked == {"human": 1.0, "strong": 3.0, "weak": 4.0, "broken": 5.0}
    [column] = [column for column in board.columns if column.score == "human:ranks:grammar"]
    assert column.scale.better == "low"


def test_forced_choices_have_a_column_for_each_criterion(tmp_path):
    systems, references = clips()
    text = definition_text().replace("against-reference", "forced-choice")
    text = text.replace("quorum = [2, 3]\n", "")
    made = make_challenge(tmp_path / "c.db", references, text)
    for name in ("strong", "weak"):
        made.team(name)
        made.submit(name, systems[name])
    ids = ids_by_team(made)
    order = [ids["strong"], ids["weak"]]

    def choose(task):
        one, other = (order.index(shown.system) for shown in task.shown)
        first = float((one > other) - (one < other))
        return {"correctness": [first], "relevance": [-first]}  # they differ

    campaign = make(made, tmp_path / "c.db", "points").campaign
    answers(tmp_path / "c.db", campaign, choose, ["r1", "r2", "r3"])
    assert (
        publish(
            open_view(made.database, "clips", Who("owner"), now=REVEALS),
            tmp_path / "c.db",
            "points",
            actor="a",
        )
        == 2
    )
    board, people = people_of(made, REVEALS)
    assert people == ["human:points:correctness", "human:points:relevance"]
    rows = scores_by_team(board)
    best = [max(rows, key=lambda team: rows[team][name].score) for name in people]
    assert best == ["strong", "weak"]
    made.database.close()


STORIES = challenge_text(
    "stories",
    "Stories",
    visibility="public",
    references='kind = "stories"\nreferences = ["first.json", "second.json"]',
    scoring="""scores = ["soda_c"]
protocol = { f = "meteor", annotators = "mean", missing = "zero" }""",
    closes="2026-07-01",
    primary="soda_c",
    more="""[[human]]
id = "better"
phase = "main"
protocol = "preference"
[[human]]
id = "ranks"
phase = "main"
protocol = "ranking"
include_reference = true""",
)


def told(sentence, *videos):
    return {"results": {v: [{"timestamp": [0, 5], "sentence": sentence}] for v in videos}}


def test_stories_that_leave_videos_out_are_judged_too(tmp_path):
    for name, videos in (("first", "vw"), ("second", "vwx")):  # an annotator may lack a video
        (tmp_path / f"{name}.json").write_text(json.dumps(told(f"the {name} says", *videos)))
    (tmp_path / "stories.toml").write_text(STORIES)
    place = tmp_path / "c.db"
    with open_challenges(place, create=True) as database:
        challenges, readers = Challenges(database, lambda _: OPENS), Readers(1)
        updates.make_challenge(challenges, tmp_path / "stories.toml")
        challenge = challenges.find()
        # of v, both say the same; of x, one says nothing
        for team, story in (("A", told("a man", *"vwx")), ("B", told("a man", "v"))):
            upload = Upload("run.json", json.dumps(story).encode())
            hand_in(challenge, readers, "main", add_team(challenge, team), upload)
        readers.close()
        Workers(challenges, 1).run_until_idle()
        texts = {}
        for human in ("better", "ranks"):
            made = make_campaign(
                open_view(database, "stories", Who("owner"), now=CLOSES), place, human, actor="ada"
            )
            with Campaign.open(place, made.campaign) as campaign:
                texts[human] = {
                    task.item: {shown.text for shown in task.shown}
                    for hit in campaign.hits()
                    for task in hit.tasks
                }
    man, nothing = "0:00–0:05 a man", "(no description)"
    assert texts["better"] == {"w": {man, nothing}, "x": {man, nothing}}
    assert texts["ranks"] == {
        "v": {man, "0:00–0:05 the first says"},
        "w": {man, nothing, "0:00–0:05 the first says"},
        "x": {man, nothing, "0:00–0:05 the second says"},
    }


def test_campaigns_of_blind_splits_leave_with_the_references_alone(made, where, tmp_path):
    campaign = make(made, where, "points").campaign
    with made.database as database:
        bare = export(database, "clips", tmp_path / "bare.zip", now=REVEALS)
        whole = export(database, "clips", tmp_path / "whole.zip", now=REVEALS, references=True)
    assert bare.campaigns == []
    assert whole.campaigns == [campaign]
    other = tmp_path / "other.db"
    with open_challenges(other, create=True) as database:
        import_challenge(database, tmp_path / "whole.zip")
        again = tmp_path / "again.zip"
        export(database, "clips", again, now=REVEALS, references=True)
    assert again.read_bytes() == (tmp_path / "whole.zip").read_bytes()
    with Campaign.open(where, campaign) as one, Campaign.open(other, campaign) as two:
        assert list(one.hits()) == list(two.hits())
