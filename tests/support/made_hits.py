"""Small HITs made by hand, and a clock that goes when it is told to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reelscore.human.hits.tasks import Hit, Shown, Task


@dataclass
class Clock:
    """A clock for campaigns: seconds since 1970, as the test sets them."""

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


def answer_all(campaign, assignment, score=50.0):
    """Answer what is left of a HIT, and give the last receipt."""
    for task in assignment.remaining:
        receipt = campaign.submit(assignment.id, assignment.rater, task.id, {"adequacy": [score]})
    return receipt
