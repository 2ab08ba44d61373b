"""Several trainings from one start, averaged: nearly as good as their ensemble, at no cost.

All share the first stage, which learns to compare texts and knows nothing of judgments. From there
each goes its own way by its own seed. They stay near enough to each other for the mean of their
weights to be a network that judges like the mean of them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reelscore.learned.cross_encoder import Tensors
from reelscore.learned.judged_captions import JudgedCaption
from reelscore.learned.training.loop import Progress, Trained, train
from reelscore.learned.training.recipes import Recipe


def shared_part(recipe: Recipe) -> Recipe:
    """Give the stages that all members share.

    >>> from reelscore.learned.training.recipes import recipe_of
    >>> [stage.source for stage in shared_part(recipe_of("averaged")).stages]
    ['similarity']
    """
    return replace(recipe, stages=tuple(s for s in recipe.stages if s.source == "similarity"))


def own_part(recipe: Recipe) -> Recipe:
    """Give the stages that each member has by itself.

    >>> from reelscore.learned.training.recipes import recipe_of
    >>> [stage.source for stage in own_part(recipe_of("averaged")).stages]
    ['people', 'judgments', 'judgments']
    """
    return replace(recipe, stages=tuple(s for s in recipe.stages if s.source != "similarity"))


def average(states: Sequence[Tensors]) -> Tensors:
    """Average weights, name by name."""
    return {name: sum(state[name] for state in states) / len(states) for name in states[0]}


def train_by_recipe(
    captions: Sequence[JudgedCaption],
    recipe: Recipe,
    *,
    seed: int = 0,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Trained:
    """Train by any recipe; several members are averaged.

    Args:
        captions: What to learn from.
        recipe: The recipe.
        seed: The members have the seeds that follow it.
        folder: Where to keep checkpoints, in a folder for each training.
        progress: As in `reelscore.learned.training.loop.train`, of each training by itself.
        options: As in `reelscore.learned.training.loop.train`.
    """
    if recipe.members == 1:
        return train(captions, recipe, seed=seed, folder=folder, progress=progress, **options)

    def part(name: str, what: Recipe, its_seed: int, start: Tensors | None = None) -> Trained:
        place = None if folder is None else Path(folder) / name
        return train(
            captions, what, seed=its_seed, start=start, folder=place, progress=progress, **options
        )

    first = part("shared", shared_part(recipe), seed).network.state()
    members = [
        part(f"member_{k}", own_part(recipe), seed + k, first) for k in range(1, recipe.members + 1)
    ]
    last = members[-1]
    last.network.restore(average([member.network.state() for member in members]))
    return last
