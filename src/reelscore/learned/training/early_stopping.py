"""Early stopping: items kept for validation, and the best weights a stage had on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reelscore.errors import DataError
from reelscore.learned.judged_captions import JudgedCaption
from reelscore.learned.networks.cross_encoder import CrossEncoder, Tensors
from reelscore.learned.networks.pair_scores import predict_captions
from reelscore.learned.training.recipes import Recipe

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
