"""Rewards of sampled captions: 64 items × 5 samples a step, beside the usual Python CIDEr-D."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.data import read_lines, trecvid_2020
from benchmarks.rewards_peer import PeerReward
from reelscore import Reward, tokenize

ITEMS, SAMPLES = 64, 5


def main() -> None:
    candidates, references = trecvid_2020()
    systems = [path for path in sorted(candidates.parent.iterdir()) if "HUMAN" not in path.name]
    columns = [tokenize(read_lines(path)) for path in references]
    truth = {str(k): list(row) for k, row in enumerate(zip(*columns, strict=True))}
    captions = [tokenize(read_lines(path)) for path in systems[:SAMPLES]]
    items = np.random.default_rng(1).choice(len(truth), ITEMS, replace=False)
    ids = [str(k) for k in items for _ in range(SAMPLES)]
    samples = [system[k] for k in items for system in captions]
    print(f"A training step: {ITEMS} items × {SAMPLES} samples, {len(truth):,} items in training")

    peer = PeerReward(truth)
    cider = Reward("cider|variant:d", truth, tokenizer="none", threads=1)
    expected = peer(ids, samples)
    assert np.abs(cider(ids, samples) - expected).max() < 1e-9, "the rewards differ"
    slow = _cpu(lambda: peer(ids, samples), 3)
    print(f"  CIDEr-D of pycocoevalcap, its frequencies kept  {_spelled(slow)}")
    for metrics, tokenizer in [
        ("cider|variant:d", "none"),
        ("cider|variant:d", "ptb"),
        ({"cider|variant:d": 1.0, "bleu_4": 0.5}, "ptb"),
        ("meteor", "ptb"),
        ("bertha", "ptb"),
    ]:
        reward = Reward(metrics, truth, tokenizer=tokenizer, threads=1)
        cost = _cpu(lambda reward=reward: reward(ids, samples), 3 if metrics == "bertha" else 30)
        label = metrics if isinstance(metrics, str) else " + ".join(metrics)
        of_cider = f"{slow / cost:8.1f} times less" if "cider" in label else ""
        print(f"  {label:36} tok:{tokenizer:5}  {_spelled(cost)}{of_cider}")


def _cpu(step: Callable[[], object], times: int) -> float:
    """Lowest CPU seconds of a step, the first apart."""
    step()
    seconds = []
    for _ in range(times):
        begin = time.process_time()
        step()
        seconds.append(time.process_time() - begin)
    return min(seconds)


def _spelled(seconds: float) -> str:
    return f"{1000 * seconds:8.2f} ms CPU"
