"""Many simulated campaigns whose truth is known: how often it comes out, and again.

Each is judged by a second crowd on the same captions, as the paper's campaign was repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from reelscore.campaigns.evaluate.agreement import replicate
from reelscore.campaigns.evaluate.quality import Control, check_quality
from reelscore.campaigns.evaluate.scores import score_judgments
from reelscore.campaigns.hits.tasks import Hit
from reelscore.campaigns.judgments import FloatArray
from reelscore.campaigns.simulate.crowd import RATER_TYPES, Crowd, RaterType
from reelscore.campaigns.simulate.simulation import Mix, Truth, simulate_campaign


@dataclass(frozen=True)
class Study:
    """What many simulated campaigns found."""

    campaigns: int  # how many were made up
    recovered: int  # in how many the systems came out in their true order
    # in how many each neighbouring pair of the true order came out in that order
    pairs: Mapping[tuple[str, str], int]
    raters: Mapping[RaterType, int]  # for each type, how many raters there were
    passed: Mapping[RaterType, int]  # how many of these passed the control
    # correlation of the systems' z scores between two crowds, for each campaign
    replication: FloatArray
    judgments: float  # genuine judgments that were left for scoring, on average


def study(
    hits: Sequence[Hit],
    systems: Mapping[str, float],
    *,
    campaigns: int,
    seed: int,
    crowd: Crowd | None = None,
    mix: Mix | None = None,
    control: Control | None = None,
    ranked: Sequence[str] | None = None,
) -> Iterator[Study]:
    """Make up campaigns, each with a replication, and report after each what all so far found."""
    crowd = crowd or Crowd()
    order = sorted(ranked or systems, key=lambda name: -systems[name])
    recovered, kept = 0, 0.0
    in_order = dict.fromkeys(pairwise(order), 0)
    raters, passed = dict.fromkeys(RATER_TYPES, 0), dict.fromkeys(RATER_TYPES, 0)
    replications: list[float] = []
    for k in range(campaigns):
        truth = Truth(systems, crowd, seed=seed + k)
        tables = []
        for again in range(2):
            made_up = simulate_campaign(hits, truth, seed=2 * (seed + k) + again, mix=mix)
            quality = check_quality(made_up.judgments, control)
            for rater, kind in made_up.types.items():
                raters[kind] += 1
                passed[kind] += rater in quality.passed
            good = quality.good(made_up.judgments)
            tables.append(score_judgments(good).table)
            kept += int(good.genuine.sum()) / 2
        scores = [tables[0][name]["z"].score for name in order]
        right = [a > b for a, b in pairwise(scores)]
        recovered += all(right)
        for pair, correct in zip(in_order, right, strict=True):
            in_order[pair] += correct
        replications.append(replicate(tables[0], tables[1], ["z"])[0].pearson)
        yield Study(
            k + 1,
            recovered,
            dict(in_order),
            {kind: n for kind, n in raters.items() if n},
            {kind: passed[kind] for kind, n in raters.items() if n},
            np.array(replications),
            kept / (k + 1),
        )
