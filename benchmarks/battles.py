"""Systems ranked by a million battles, intervals included: read from a table, and by the model."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from reelscore.campaigns.evaluate.battle_checks import leanings
from reelscore.campaigns.evaluate.battles import rank_battles
from reelscore.campaigns.imports.battles import read_battles
from reelscore.stats.correlations import spearman

Result = TypeVar("Result")
BATTLES, SYSTEMS, ITEMS = 1_000_000, 200, 300_000


def main() -> None:
    rng = np.random.default_rng(0)
    strengths = rng.normal(size=SYSTEMS)
    first = rng.integers(SYSTEMS, size=BATTLES)
    second = (first + rng.integers(1, SYSTEMS, size=BATTLES)) % SYSTEMS
    chance = 1 / (1 + np.exp(strengths[second] - strengths[first]))
    tied, won = rng.random(BATTLES) < 0.15, rng.random(BATTLES) < chance
    verdicts = np.where(tied, "tie", np.where(won, "model_a", "model_b")).tolist()
    items = rng.integers(ITEMS, size=BATTLES)
    columns = zip(items.tolist(), first.tolist(), second.tolist(), verdicts, strict=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "arena.csv")
        rows = [f"q{item},m{one},m{two},{won}" for item, one, two, won in columns]
        path.write_text("\n".join(["question_id,model_a,model_b,winner", *rows]))
        print(f"{BATTLES:,} battles of {SYSTEMS} systems about {ITEMS:,} items")
        battles = _timed("read from a table", lambda: read_battles(path))
    ranking = _timed("ranked, 1,000 resamples", lambda: rank_battles(battles))
    _timed("what won beside the captions", lambda: leanings(battles))
    truth = [strengths[int(name[1:])] for name in ranking.systems]
    print(f"  Spearman with the true strengths: {spearman(truth, ranking.scores):.4f}")


def _timed(what: str, work: Callable[[], Result]) -> Result:
    begin, processor = time.perf_counter(), time.process_time()
    result = work()
    wall, spent = time.perf_counter() - begin, time.process_time() - processor
    print(f"  {what:32} {wall:6.1f} s, {spent:6.1f} s of the processor")
    return result
