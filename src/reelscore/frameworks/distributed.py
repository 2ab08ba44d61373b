"""What the processes of a distributed run have scored, brought together."""

from __future__ import annotations

from reelscore.scoring.scorer import Scorer


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
