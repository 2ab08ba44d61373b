"""Permutation tests and bootstrap of ten metrics, beside nlpstats on the same work, in one run."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from reelscore.stats.correlation_bootstrap import bootstrap_correlations
from reelscore.stats.correlations import pearson, spearman
from reelscore.stats.pairs import kendall_b
from reelscore.stats.permutation import permutation_test

METRICS, SYSTEMS, ITEMS, DRAWS = 10, 13, 1880, 1000
PAIRS = METRICS * (METRICS - 1) // 2

# level, coefficient, draws, draws of nlpstats: its time grows with them, so that a few tell it
JOBS = [
    ("system", "pearson", DRAWS, 20),
    ("pooled", "pearson", DRAWS, 20),
    ("item", "pearson", DRAWS, 2),
    ("system", "kendall", DRAWS, 20),
    ("item", "kendall", DRAWS, 2),
    ("pooled", "spearman", DRAWS // 50, 10),  # no short cut here: a few draws, for the rate
]
OURS = {"pearson": pearson, "spearman": spearman, "kendall": kendall_b}
THEIRS = {"system": "system", "pooled": "global", "item": "input"}


def main() -> None:
    from nlpstats import correlations as nlpstats

    rng = np.random.default_rng(0)
    human = rng.normal(size=(SYSTEMS, ITEMS))
    noise = rng.normal(size=(METRICS, SYSTEMS, ITEMS))
    metrics = np.stack([human / 2 + each * (1 + k / 10) for k, each in enumerate(noise)])
    print(f"{METRICS} metrics × {SYSTEMS} systems × {ITEMS:,} items, systems and items drawn anew")
    for level, name, draws, few in JOBS:
        how: dict[str, Any] = {"level": level, "coefficient": OURS[name]}
        theirs: tuple[Any, ...] = (human, THEIRS[level], name, "both")
        test = _seconds(partial(permutation_test, human, metrics, trials=draws, **how))
        peer = _seconds(
            partial(nlpstats.permutation_test, metrics[0], metrics[1], *theirs, n_resamples=few)
        )
        _report(f"{PAIRS} tests", level, name, draws, test, peer * PAIRS * draws / few)
        drawn = _seconds(partial(bootstrap_correlations, human, metrics, resamples=draws, **how))
        peer = _seconds(partial(nlpstats.bootstrap, metrics[0], *theirs, n_resamples=few))
        _report(f"{METRICS} intervals", level, name, draws, drawn, peer * METRICS * draws / few)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {peak:.0f} MB peak")


def _seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _report(what: str, level: str, name: str, draws: int, ours: float, theirs: float) -> None:
    print(
        f"  {what:12} {level:6} {name:8} {draws:5,} draws {ours:7.2f} s CPU, "
        f"nlpstats {theirs:8.0f} s, {theirs / ours:6.0f} times as long"
    )
