"""Cross-validation: how well a recipe agrees with people on videos that it has not seen.

The judged videos are dealt into folds. A network is trained without each fold, and without any
text of it, and tested on the fold's captions of systems (Lebron et al., 2022, Table 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from reelscore._packages import need
from reelscore._progress import Progress
from reelscore.errors import DataError
from reelscore.learned.judged_captions import JudgedCaption, check_captions
from reelscore.learned.networks.encoders import DEFAULT_ENCODER, encoder_folder
from reelscore.learned.networks.pair_scores import predict_captions
from reelscore.learned.training.examples import check_stages
from reelscore.learned.training.fit import embedding_for, train_by_recipe
from reelscore.learned.training.hold_out import keep_apart
from reelscore.learned.training.recipes import Recipe
from reelscore.report.tables.grid import Cell, Grid
from reelscore.stats.correlations import pearson


class Fold(NamedTuple):
    """One fold."""

    trained: int  # judged captions that were learned from
    tested: int  # judged captions of systems that it was tested on
    captions: float  # Pearson's r with people, caption by caption
    systems: float  # that of the systems' means


def cross_validate(
    captions: Sequence[JudgedCaption],
    recipe: Recipe,
    folds: int,
    *,
    seed: int = 0,
    encoder: str = DEFAULT_ENCODER,
    device: str | None = None,
    progress: Progress | None = None,
) -> list[Fold]:
    """Train a recipe once without each fold of the videos, and test it on the fold.

    Captions without a score are learned from where the recipe does so.

    Raises:
        DataError: If there are fewer judged videos than folds, or a recipe wants other judgments.
    """
    need("torch", who="Training in folds needs")
    check_captions(captions)
    encoder_folder(encoder)
    judged = [caption for caption in captions if caption.score is not None]
    recipe = recipe.for_kinds({caption.kind for caption in judged})
    check_stages(recipe.stages, judged)
    items = sorted({caption.item for caption in judged if not caption.person})
    if len(items) < 2 * folds:
        raise DataError(
            f"{len(items)} videos are judged, too few for {folds} folds of two or more; take fewer "
            "folds."
        )
    order = np.random.default_rng(seed).permutation(len(items)).tolist()
    fold_of = {item: place % folds for item, place in zip(items, order, strict=True)}
    embedding = embedding_for(recipe, device)
    done: list[Fold] = []
    for fold in range(folds):
        tested = [c for c in captions if fold_of.get(c.item) == fold]
        split = keep_apart([c for c in captions if fold_of.get(c.item) != fold], tested)
        options: dict[str, Any] = {"encoder": encoder, "device": device, "embedding": embedding}
        network = train_by_recipe(split.training, recipe, seed=seed, **options).network
        own = [c for c in tested if c.score is not None and not c.person]
        scores = predict_captions(
            network, own, several="blend", similarity=recipe.similarity, embedding=embedding
        )
        human = np.array([c.score for c in own], dtype=float)
        _, systems = np.unique(np.array([c.system for c in own]), return_inverse=True)
        means = [np.bincount(systems, each) / np.bincount(systems) for each in (human, scores)]
        reached = float(pearson(human, scores)), float(pearson(*means))
        done.append(Fold(split.overlap.judged, len(own), *reached))
        if progress is not None:
            progress(fold + 1, folds)
    return done


def fold_grid(folds: Sequence[Fold]) -> Grid:
    """Lay out the folds, and their mean."""
    rows = [
        [
            *(Cell(str(number)), Cell(f"{fold.trained:,}"), Cell(f"{fold.tested:,}")),
            *(Cell(f"{fold.captions:.3f}"), Cell(f"{fold.systems:.3f}")),
        ]
        for number, fold in enumerate(folds, start=1)
    ]
    means = np.mean([(fold.captions, fold.systems) for fold in folds], axis=0)
    rows.append([Cell("mean"), Cell(""), Cell(""), *(Cell(f"{mean:.3f}") for mean in means)])
    return Grid(["fold", "learned from", "tested on", "r, captions", "r, systems"], rows)
