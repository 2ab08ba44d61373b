"""Simulated campaigns: raters of all kinds at work on real HITs, with the truth known.

What a campaign will find can be tried before anybody is paid: whether the ranking comes out, and
how many of the raters who do not look are caught. The truth (which caption is how good) and the
crowd have seeds of their own, so that two crowds can judge the same captions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.random import Generator

from reelscore.campaigns.hits.tasks import Hit, Shown, Task
from reelscore.campaigns.judgments import FloatArray, Judgment, Judgments
from reelscore.campaigns.protocols import FLUENCY, PROTOCOLS, Protocol
from reelscore.campaigns.simulate.crowd import (
    LOOKS,
    RATER_TYPES,
    UNRELIABLE,
    Crowd,
    RaterType,
    SimulatedRater,
    draw_rater,
    scores_of,
)
from reelscore.errors import DataError, check_choice

Mix = Mapping[RaterType, float]
HITS_PER_RATER = 1.3  # of 90 workers and 118 HITs, as pass rates and counts of the paper suggest
_OF_ITEM = 0.5  # share of a caption's variance that is the video's: easy or hard for all systems
_NORMAL = NormalDist()
_WELL_PUT = 0.3  # z: captions are better English than they are right
_BETTER = 20.0  # points, from 0 to 100, between a caption and one that is called better
_NOON = 1_767_225_600.0  # 2026-01-01, when simulated raters begin


@dataclass(frozen=True)
class Simulation:
    """Judgments of a simulated crowd.

    Attributes:
        judgments: What the raters said.
        types: How each rater works.
    """

    judgments: Judgments
    types: Mapping[str, RaterType]


class Truth:
    """How good each caption really is, in z: its system, its video, and itself.

    Args:
        systems: The true quality of each system; a missing one is an error.
        crowd: How much captions differ.
        seed: Of everything that is not given.

    >>> truth = Truth({"good": 1.0, "bad": -1.0}, Crowd(), seed=1)
    >>> truth.of("good", "clip1", "caption") == truth.of("good", "clip1", "repeat")
    True
    >>> bool(truth.of("good", "clip1", "degraded") < truth.of("good", "clip1", "caption"))
    True
    """

    def __init__(self, systems: Mapping[str, float], crowd: Crowd, seed: int) -> None:
        self.systems = systems
        self.crowd = crowd
        self.seed = seed
        self._known: dict[tuple[str, str, bool], float] = {}

    def of(self, system: str, item: str, kind: str) -> float:
        """Return how good a caption is; a degraded one is worse than its original by some drop."""
        check_choice("system", system, self.systems)
        is_degraded = kind == "degraded"
        key = (system, item, is_degraded)
        if key not in self._known:
            crowd = self.crowd
            video = crowd.caption * _OF_ITEM**0.5 * _normal(self.seed, "video", item)
            own = crowd.caption * (1 - _OF_ITEM) ** 0.5 * _normal(self.seed, "caption", *key[:2])
            drop = crowd.drop + crowd.drop_spread * _normal(self.seed, "drop", *key[:2])
            self._known[key] = self.systems[system] + video + own - is_degraded * drop
        return self._known[key]


def simulate_campaign(
    hits: Sequence[Hit],
    truth: Truth,
    *,
    seed: int,
    mix: Mix | None = None,
    raters_per_hit: int = 1,
    hits_per_rater: float = HITS_PER_RATER,
    protocol: Protocol = PROTOCOLS["direct-assessment"],
) -> Simulation:
    """Let a simulated crowd do HITs: rate captions, rank them, or compare two of them.

    Args:
        hits: What there is to do.
        truth: How good the captions are.
        seed: Of the crowd.
        mix: The share of each type of rater; all are diligent if not given.
        raters_per_hit: How many raters do each HIT.
        hits_per_rater: How many HITs a rater would do, on average; nobody does one with a
            caption seen before.
        protocol: What raters are asked. Captions are ranked and compared by the scores that the
            rater would give to each, by each criterion.

    Raises:
        DataError: If the shares make no sense, or the HITs do not fit the protocol.
    """
    rng = np.random.default_rng([seed, 0xC0FFEE])
    types, shares = _shares({"diligent": 1.0} if mix is None else mix)
    raters: dict[str, SimulatedRater] = {}
    left: dict[str, int] = {}
    rows: list[Judgment] = []
    seen: dict[str, set[tuple[str, str]]] = {}
    for hit in (hits[k] for _ in range(raters_per_hit) for k in rng.permutation(len(hits))):
        captions = {(shown.system, task.item) for task in hit.tasks for shown in task.shown}
        free = [name for name, n in left.items() if n and not seen[name] & captions]
        if free:
            name = free[int(rng.integers(len(free)))]
        else:
            name = f"r{len(raters) + 1:04}"
            raters[name] = draw_rater(types[rng.choice(len(types), p=shares)], truth.crowd, rng)
            left[name] = 1 + int(rng.poisson(max(0.0, hits_per_rater - 1)))
            seen[name] = set()
        left[name] -= 1
        seen[name] |= captions
        rows += _judge(protocol, hit, name, raters[name], truth, rng)
    return Simulation(Judgments.of(rows), {name: rater.type for name, rater in raters.items()})


def _judge(
    protocol: Protocol, hit: Hit, name: str, rater: SimulatedRater, truth: Truth, rng: Generator
) -> Iterator[Judgment]:
    """One rater does one HIT; captions that come again are liked as much as the first time."""
    for task in hit.tasks:
        if fault := protocol.captions_fault(len(task.shown)):
            raise DataError(f"Task {task.id!r} shows {fault}.")
    shown = [(each, task) for task in hit.tasks for each in task.shown]
    keys = [(each.system, task.item, each.kind == "degraded") for each, task in shown]
    quality = np.array(
        [  # captions of test questions are of no system
            0.0 if task.expected is not None else truth.of(each.system, task.item, each.kind)
            for each, task in shown
        ]
    )
    scores = {}
    for criterion in protocol.criteria:
        tastes: dict[tuple[str, str, bool], float] = {}
        own = rng.normal(0, truth.crowd.taste, len(shown))
        taste = [tastes.setdefault(key, mine) for key, mine in zip(keys, own, strict=True)]
        judged = quality + _WELL_PUT if criterion == FLUENCY else quality
        scores[criterion.name] = scores_of(rater, judged, np.array(taste), truth.crowd, rng)
    seconds = rater.seconds * np.exp(rng.normal(0, 0.5, len(hit.tasks)))
    ends = _NOON + np.cumsum(seconds)
    for place, task in enumerate(hit.tasks):
        first = sum(len(each.shown) for each in hit.tasks[:place])
        for criterion in protocol.criteria:
            given = scores[criterion.name][first : first + len(task.shown)]
            for each, against, score in _answer(protocol, task, given, rater, rng):
                yield Judgment(
                    rater=name,
                    hit=hit.id,
                    task=task.id,
                    position=place,
                    system=each.system,
                    item=task.item,
                    kind=each.kind,
                    score=score,
                    criterion=criterion.name,
                    against=against,
                    started=round(float(ends[place] - seconds[place]), 3),
                    submitted=round(float(ends[place]), 3),
                    client="simulation",
                )


def _answer(
    protocol: Protocol, task: Task, scores: FloatArray, rater: SimulatedRater, rng: Generator
) -> Iterator[tuple[Shown, str, float]]:
    """Rate captions, rank them, or choose between two by the scores that the rater gives them.

    A rater who looks knows the answer to a test question.
    """
    if protocol.form == "comparison":
        apart = float(scores[1] - scores[0]) / _BETTER
        if task.expected is not None and rng.random() < LOOKS.get(rater.type, 0.0):
            apart = task.expected
        choice = min((value for value, _ in protocol.choices), key=lambda value: abs(value - apart))
        yield task.shown[0], task.shown[1].system, choice
        return
    for shown, score in zip(task.shown, scores, strict=True):
        # equal ones share a rank
        rank = 1.0 + float((scores > score).sum())
        yield shown, "", rank if protocol.form == "ranking" else float(score)


def bad_mix(share: float) -> Mix:
    """Spread a share of unreliable raters evenly over their types; the others are diligent.

    >>> bad_mix(0.2)["careless"]
    0.05
    """
    return {"diligent": 1 - share, **dict.fromkeys(UNRELIABLE, share / len(UNRELIABLE))}


def _shares(mix: Mix) -> tuple[list[RaterType], FloatArray]:
    for kind in mix:
        check_choice("type of rater", kind, RATER_TYPES)
    shares = np.array(list(mix.values()), dtype=float)
    if not len(shares) or (shares < 0).any() or not shares.sum() > 0:
        raise DataError("Shares of raters must be numbers from 0, and not all 0.")
    return list(mix), shares / shares.sum()


def _normal(seed: int, *names: str) -> float:
    """Draw from the normal distribution by names alone: the same wherever a caption is shown."""
    digest = hashlib.blake2b("\0".join((str(seed), *names)).encode(), digest_size=8).digest()
    return _NORMAL.inv_cdf((int.from_bytes(digest, "little") + 0.5) / 2**64)
