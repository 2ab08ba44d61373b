"""Captions kept from learning: a group to test on, and items for validation.

Captioners repeat themselves: "a man is playing a guitar" stands in every year's files. A caption
of the group held out must not be learned from under another year's name, so texts are compared
without case and punctuation, and captions that share one are left out of training. On items kept
for validation, a stage that no longer improves is stopped, and gets its best weights back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from reelscore.errors import DataError, check_choice
from reelscore.learned.judged_captions import JudgedCaption
from reelscore.learned.networks.cross_encoder import CrossEncoder, Tensors
from reelscore.learned.networks.pair_scores import predict_captions
from reelscore.learned.training.recipes import Recipe
from reelscore.metrics.training_data import plain_form


class Overlap(NamedTuple):
    """How many captions of other groups were left out, and what is left of the overlap."""

    captions: int  # captions in training
    judged: int  # how many of them are judged
    dropped: int  # captions left out because their text is one of the group held out
    references: int  # references left out for the same reason
    remaining: int  # texts in both after that; always 0


@dataclass(frozen=True)
class HeldOutSplit:
    """Captions to learn from and captions to test on."""

    # captions of the other groups, none with a text of the group held out
    training: list[JudgedCaption]
    held_out: list[JudgedCaption]  # the captions of the group
    overlap: Overlap  # the check


def hold_out(captions: Sequence[JudgedCaption], group: str) -> HeldOutSplit:
    """Split captions into the group held out and the rest, without any text in both."""
    groups = sorted({caption.group for caption in captions})
    check_choice("group", group, groups)
    held_out = [caption for caption in captions if caption.group == group]
    return keep_apart([caption for caption in captions if caption.group != group], held_out)


def keep_apart(
    captions: Sequence[JudgedCaption], held_out: Sequence[JudgedCaption]
) -> HeldOutSplit:
    """Leave out of captions, and of their references, every text of those held out."""
    theirs = {plain_form(text) for caption in held_out for text in _texts(caption)}
    training, dropped, lost = [], 0, 0
    for caption in captions:
        kept = tuple(text for text in caption.references if plain_form(text) not in theirs)
        lost += len(caption.references) - len(kept)
        if plain_form(caption.candidate) in theirs or not kept:
            dropped += 1
            continue
        training.append(replace(caption, references=kept))
    ours = {plain_form(text) for caption in training for text in _texts(caption)}
    judged = sum(caption.score is not None for caption in training)
    overlap = Overlap(len(training), judged, dropped, lost, len(ours & theirs))
    return HeldOutSplit(training, list(held_out), overlap)


def _texts(caption: JudgedCaption) -> tuple[str, ...]:
    return (caption.candidate, *caption.references)


_LEAST = 3  # judged captions below which a correlation says nothing


def validation_split(
    captions: Sequence[JudgedCaption], recipe: Recipe, seed: int
) -> tuple[list[JudgedCaption], list[JudgedCaption]]:
    """Keep a share of the items, drawn by the seed, and give the rest to learn from first."""
    if not recipe.validation:
        return list(captions), []
    items = sorted({caption.item for caption in captions})
    rng = np.random.default_rng([seed, len(items)])
    chosen = {
        items[k] for k in rng.permutation(len(items))[: round(recipe.validation * len(items))]
    }
    kept = [c for c in captions if c.item in chosen and c.score is not None]
    if len(kept) < _LEAST or len({c.score for c in kept}) == 1:
        raise DataError(
            f"{len(kept)} judged captions are kept for validation, a share of {recipe.validation} "
            f"of {len(items)} items; expected {_LEAST} or more whose scores differ. Keep a larger "
            "share, or none."
        )
    return [c for c in captions if c.item not in chosen], kept


class Watch:
    """What a stage reached on the captions kept, epoch by epoch, and the best weights."""

    def __init__(
        self,
        network: CrossEncoder,
        kept: Sequence[JudgedCaption],
        patience: int,
        reached: list[float],
        weights: Tensors,
    ) -> None:
        self.network, self.kept, self.patience = network, kept, patience
        self.reached, self.weights = reached, weights
        self.best: Tensors = {}

    def stalled(self) -> bool:
        """Measure an epoch; keep its weights if it is the best, and say whether to stop."""
        if not self.kept:
            return False
        scores = predict_captions(self.network, self.kept)
        human = [caption.score or 0.0 for caption in self.kept]
        self.reached.append(float(np.corrcoef(scores, human)[0, 1]))
        place = int(np.argmax(self.reached))
        if place == len(self.reached) - 1:
            self.best = {name: value.detach().clone() for name, value in self.weights.items()}
        return len(self.reached) - 1 - place >= self.patience

    def return_to_best(self) -> None:
        """Put the weights of the best epoch back, where one was measured."""
        for name, value in self.best.items():
            self.weights[name].data.copy_(value)
