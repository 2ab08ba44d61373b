"""Scores inside training frameworks: torchmetrics, Lightning, Transformers, evaluate.

Each module needs its framework, and is imported by its own name: `torchmetrics.CaptionMetric`,
`transformers.CaptionScores`, `lightning.CaptionScores`.
"""

from __future__ import annotations

from pathlib import Path

from reelscore.scoring.scorer import Scorer

__all__ = ["evaluate_module", "gather"]


def evaluate_module() -> str:
    """Return the path of the module for Hugging Face's evaluate: ``evaluate.load`` takes it.

    >>> Path(evaluate_module()).name
    'hf_evaluate.py'
    """
    return str(Path(__file__).with_name("hf_evaluate.py"))


def gather(scorer: Scorer) -> None:
    """Add to the scorer what those of all processes have taken; nothing happens in one process.

    Every process must call it. States are merged in the order of the processes, so all have the
    same scores afterwards. Items that several processes had go by the scorer's policy.

    >>> scorer = Scorer({"v1": ["a man runs"]}, "rouge_l")
    >>> scorer.update({"v1": "a man"})
    >>> gather(scorer)
    >>> len(scorer.compute()["rouge_l"].items)
    1
    """
    from torch import distributed

    if not distributed.is_available() or not distributed.is_initialized():
        return
    states = [scorer.state()] * distributed.get_world_size()
    distributed.all_gather_object(states, scorer.state())
    scorer.reset()
    scorer.merge(*states)
