"""Small HITs made by hand, and a clock that goes when it is told to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.hits.tasks import Hit, Shown, Task
from reelscore.campaigns.store.records import Assignment


@dataclass
class Clock:
    """A clock for campaigns and servers: seconds since 1970, as the test sets them."""

    now: float = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now

    def pass_(self, seconds: float) -> None:
        self.now += seconds


def rating_hits(hits: int, tasks: int, systems=("mine", "other")) -> Iterator[Hit]:
    """HITs for a rating; every caption of every system occurs once in all."""
    for h in range(hits):
        yield Hit(
            f"h{h}",
            tuple(
                Task(
                    f"t{h}-{k}",
                    f"v{h * tasks + k}",
                    (Shown(systems[k % len(systems)], f"caption {h} {k}"),),
                )
                for k in range(tasks)
            ),
        )


def hit_of(id: str, *captions: tuple[str, str, str], kind="caption") -> Hit:
    """A HIT for a rating: (item, system, text) for each task."""
    return Hit(
        id,
        tuple(
            Task(f"{id}-{k}", item, (Shown(system, text, kind),))
            for k, (item, system, text) in enumerate(captions)
        ),
    )


@contextmanager
def begun_campaign(where: str) -> Iterator[tuple[Campaign, Assignment]]:
    """A campaign with one answer stored, and the assignment of its rater."""
    with Campaign.create(where, "Dogs", systems=["mine"], clock=Clock()) as campaign:
        campaign.add_hits(rating_hits(3, 2, ["mine"]))
        campaign.set_state("open", actor="me")
        held = campaign.claim("r1")
        campaign.submit(held.id, "r1", "t0-0", {"adequacy": [71]})
        yield campaign, held


def judge(campaign, rater, *, looks=True):
    """Do a HIT: who looks gives degraded captions less."""
    held = campaign.claim(rater)
    for k, task in enumerate(held.remaining):
        worse = looks and task.shown[0].kind == "degraded"
        score = (20.0 if worse else 80.0) + k * 7 % 13
        campaign.submit(held.id, rater, task.id, {"adequacy": [score]})
    return held


def answer_all(campaign, assignment, score=50.0):
    """Answer what is left of a HIT, and give the last receipt."""
    for task in assignment.remaining:
        receipt = campaign.submit(assignment.id, assignment.rater, task.id, {"adequacy": [score]})
    return receipt
