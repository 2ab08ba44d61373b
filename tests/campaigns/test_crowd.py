"""Many raters at once through HTTP, 200 with --full, and a server killed while they work."""

from __future__ import annotations

import asyncio
import random
import signal
import sys

import pytest

from reelscore import examples
from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.evaluate.results import evaluate_ratings
from reelscore.campaigns.hits.design import Design, make_hits
from reelscore.campaigns.store import raters
from reelscore.significance import rank_systems
from reelscore.web.store.schema import open_database
from support.crowd import Heard, rate_all, run, score_by_type
from support.server import free_port, serve_apart

QUALITY = {"human": 85, "strong": 70, "weak": 45, "broken": 15}

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="needs asyncio.TaskGroup")


class Crowd:
    """A campaign with a HIT and a link for each rater, ready to be served."""

    def __init__(self, where, size, layout):
        systems, references = examples.clips()
        systems.pop("human")
        people = {item: texts[0] for item, texts in references.items()}
        self.where, self.port = where, free_port()
        self.plan = make_hits(Design(layout=layout, hits=size), systems, people)
        self.names = [*systems, "human"]
        self.make(where).disconnect()
        with open_database(where) as database:
            who = [f"r{k}" for k in range(size)]
            tokens = raters.invite(database, "crowd", who, 1)
        url = f"http://127.0.0.1:{self.port}"
        self.links = {name: f"{url}/r/{token}" for name, token in zip(who, tokens, strict=True)}
        self.quality = {
            shown.text: QUALITY[shown.system] / (3 if shown.kind == "degraded" else 1)
            for task in self.plan.tasks
            for shown in task.shown
        }

    def make(self, where):
        pages = {"practice": [], "review": False}  # nobody could work so fast
        campaign = Campaign.create(
            where, "Crowd", systems=self.names, id="crowd", settings={"pages": pages}
        )
        campaign.add_hits(self.plan.hits)
        campaign.set_state("open", actor="test")
        return campaign

    def serve(self):
        return serve_apart(self.where, self.port, "--secret-file", self.secret)

    def check(self, heard):
        """Hold what is stored against what the crowd was told, and give it."""
        with Campaign.open(self.where) as campaign:
            judgments = campaign.judgments()
            assert {(row.rater, row.task) for row in judgments} == {
                (name, campaign.assignment(id).tasks[place - 1].id)
                for name, id, place in heard.answers
            }
            assert len(judgments) == len(heard.answers)  # none lost, none doubled
            tasks = {id: campaign.assignment(id).tasks for _, id, _ in heard.answers}
            said = {(n, tasks[i][place - 1].id): s for (n, i, place), s in heard.answers.items()}
            assert {(row.rater, row.task): row.score for row in judgments} == said
            assert all(len(who) == 1 for who in heard.assignments.values())
            assert campaign.status().done == len(self.links)
        assert len(set(heard.codes.values())) == len(self.links)
        return judgments


@pytest.fixture
def crowd(where, tmp_path):
    def make(size, layout):
        made = Crowd(where, size, layout)
        made.secret = str(tmp_path / "secret")
        return made

    return make


def test_many_at_once(crowd, where, tmp_path, full):
    pairs, size = (10, 200) if full else (1, 60)
    layout = f"systems:{pairs} humans:{pairs} degraded_humans:{pairs} distance:1 least_pairs:1"
    made = crowd(size, layout)
    with made.serve():
        heard = run(rate_all(made.links, score_by_type(made.quality), 7 if full else 0.5, Heard()))
    judgments = made.check(heard)
    figures = {share: round(heard.percentile(share), 3) for share in (0.5, 0.95, 0.99)}
    print(f"{len(heard.seconds)} submits, seconds by share: {figures}")
    assert heard.percentile(0.95) < 20 or not full  # bounds a stall

    # the same answers given to the library alone
    with made.make(tmp_path / "alone.db") as alone:
        alone.append(judgments)
        same = alone.judgments(finished=True)
    for controlled in (True, False) if full else (False,):
        ours, theirs = (evaluate_ratings(each, controlled=controlled) for each in (judgments, same))
        ranked, again = (rank_systems(each.scores.table).to_dict() for each in (ours, theirs))
        assert ranked == again
        assert set(ours.raters) == set(theirs.raters)
    if full:
        assert [each["system"] for each in ranked["systems"]] == list(QUALITY)


def test_killed_at_random(crowd, where, full):
    if "://" in where and not full:
        pytest.skip("on PostgreSQL with --full only")
    made = crowd(
        40 if full else 16, "systems:2 humans:2 degraded_humans:2 distance:1 least_pairs:2"
    )
    heard, answers, stops = Heard(), len(made.plan.tasks), 8 if full else 3
    # between which answers the server is killed; there is always work to interrupt
    moments = sorted(random.Random(6).sample(range(answers // 2), stops))

    async def work():
        crowd = asyncio.create_task(rate_all(made.links, scores, 0.7, heard))
        for moment in moments:
            with made.serve() as process:
                while len(heard.answers) <= moment and not crowd.done():
                    await asyncio.sleep(0.005)
                last = moment == moments[-1]
                process.send_signal(signal.SIGTERM if last else signal.SIGKILL)
                await asyncio.to_thread(process.wait, 300)
                assert not crowd.done()
        with made.serve():
            return await crowd

    scores = score_by_type(made.quality)
    made.check(run(work()))
