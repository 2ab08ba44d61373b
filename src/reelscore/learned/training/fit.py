"""From judged captions to a model in a folder: train, with a teacher or without, test, write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reelscore._packages import need
from reelscore._progress import Progress
from reelscore.errors import DataError
from reelscore.learned.judged_captions import (
    JudgedCaption,
    check_captions,
    digest_of,
    training_items,
)
from reelscore.learned.model_files import (
    SHIPPED,
    ModelInfo,
    cached_info,
    read_info,
    read_weights,
    write_model,
)
from reelscore.learned.networks.bert import FloatArray, unpacked
from reelscore.learned.networks.cross_encoder import Tensors
from reelscore.learned.networks.encoders import DEFAULT_ENCODER, encoder_folder
from reelscore.learned.networks.pair_scores import PairScorer, predict_captions
from reelscore.learned.networks.sentence_vectors import Embedding, read_bert
from reelscore.learned.training.checkpoints import claim_folder, released_on_failure
from reelscore.learned.training.examples import check_stages
from reelscore.learned.training.hold_out import hold_out, validation_split
from reelscore.learned.training.loop import TrainedBertha, Validated, train
from reelscore.learned.training.recipes import Recipe


def fit_model(
    captions: Sequence[JudgedCaption],
    recipe: Recipe,
    folder: str | Path,
    *,
    encoder: str = DEFAULT_ENCODER,
    elsewhere: Sequence[JudgedCaption] = (),
    held_out: str | None = None,
    teacher: str = SHIPPED,
    seed: int = 0,
    device: str | None = None,
    every: int = 500,
    progress: Progress | None = None,
    validated: Validated | None = None,
) -> ModelInfo:
    """Train a model and write it to ``folder/model``, next to its checkpoints.

    Args:
        captions: What to learn from.
        recipe: The recipe.
        folder: The folder to write to; an interrupted training in it is resumed.
        encoder: The encoder to start from.
        elsewhere: Captions of another kind that nobody judged, for a stage of anchors.
        held_out: A group to leave out, with all its texts, and to test on.
        teacher: The model that a recipe with a teacher learns from, by name or folder.
        seed: Random seed.
        device: ``cuda`` or ``cpu``.
        every: Steps between two checkpoints.
        progress: Called with how many steps are made, of how many.
        validated: Called after each epoch that is validated, with the stage and its correlations
            so far.

    Returns:
        What is known of the model, with its agreement with people on the group held out.

    Raises:
        DataError: If nothing can be learned from the captions, or another training was begun in
            the folder; before anything is trained or written.
        UnknownNameError: If there is no group to hold out.
    """
    check_captions(captions)
    training, test, overlap = list(captions), list[JudgedCaption](), None
    if held_out is not None:
        split = hold_out(captions, held_out)
        training, test, overlap = split.training, split.held_out, split.overlap
        _check_split(training, test, held_out)
        if recipe.has_teacher:
            check_teacher(teacher, held_out)
    recipe = recipe.for_kinds({c.kind for c in training if c.score is not None})
    check_stages(recipe.stages, training)
    validation_split(training, recipe, seed)
    _most_rated(training)
    claim_folder(
        folder,
        {
            "recipe": str(recipe),
            "encoder": encoder,
            "seed": seed,
            "held out": held_out,
            "captions": digest_of(captions),
            **({"elsewhere": digest_of(elsewhere)} if elsewhere else {}),
            **({"teacher": cached_info(teacher).revision} if recipe.has_teacher else {}),
        },
    )
    with released_on_failure(folder):
        embedding = embedding_for(recipe, device)
        by_teacher: dict[str, Any] = {}
        if recipe.has_teacher:
            model = ModelTeacher(teacher, device, progress)
            by_teacher = {"teacher": model, "start": model.weights()}
        trained = train_by_recipe(
            training,
            recipe,
            seed=seed,
            folder=Path(folder) / "checkpoints",
            progress=progress,
            validated=validated,
            encoder=encoder,
            device=device,
            embedding=embedding,
            elsewhere=elsewhere,
            every=every,
            **by_teacher,
        )
    network = trained.network
    vectors = _vectors(recipe, encoder)
    similarity = recipe.similarity if vectors else 0.0

    def scores_of(these: Sequence[JudgedCaption]) -> FloatArray:
        return predict_captions(
            network, these, several="blend", similarity=similarity, embedding=embedding
        )

    judged = _most_rated(training)
    line = np.polyfit(scores_of(judged), [c.score or 0.0 for c in judged], 1)
    agreement: dict[str, Any] = {}
    tested = [c for c in test if c.score is not None and not c.person]
    if tested:
        scores = scores_of(tested)
        for campaign in sorted({caption.campaign for caption in tested}):
            own = np.array([caption.campaign == campaign for caption in tested])
            human = np.array([caption.score for caption in tested])[own]
            r = float(np.corrcoef(scores[own], human)[0, 1])
            agreement[campaign] = {"caption level": [round(r, 4)]}
        assert overlap is not None
        agreement["overlap"] = overlap._asdict()
    info = ModelInfo(
        name=Path(folder).name,
        encoder=network.encoder.config.to_dict(),
        max_length=network.tokens.max_length,
        to_z=(float(line[1]), float(line[0])),
        to_percent=_percent(judged),
        similarity=similarity,
        training={
            "captions": len(training),
            "judged": sum(caption.score is not None for caption in training),
            "start": encoder,
            "recipe": str(recipe),
            **({"teacher": cached_info(teacher).revision} if recipe.has_teacher else {}),
            "seed": seed,
            "held out": held_out,
            "steps": trained.steps,
            "validation": list(trained.validation),
        },
        agreement=agreement,
    )
    return write_model(
        Path(folder) / "model",
        {**network.state(), **vectors},
        network.tokens.tokenizer,
        info,
        training_items([*training, *elsewhere]),
    )


def embedding_for(recipe: Recipe, device: str | None) -> Embedding | None:
    """Open the sentence encoder, where a recipe learns from its similarity."""
    if not any(stage.source in ("similarity", "anchors") for stage in recipe.stages):
        return None
    from reelscore.learned.networks.sentence_vectors import SentenceEncoder

    return SentenceEncoder(device=device)


def _vectors(recipe: Recipe, encoder: str) -> Tensors:
    """Return the weights of the sentence encoder, where it counts and has the network's shape."""
    if not recipe.similarity or encoder != DEFAULT_ENCODER:
        return {}
    local = read_bert(Path(encoder_folder(encoder)))
    return {f"similarity.{name}": value for name, value in local[0].items()} if local else {}


def _check_split(
    training: Sequence[JudgedCaption], test: Sequence[JudgedCaption], held_out: str
) -> None:
    """Refuse to hold out a group that leaves nothing to learn from, or nothing to test on."""
    if not any(caption.score is not None for caption in training):
        raise DataError(
            f"Without {held_out!r} and its texts no judged caption is left to learn from; hold "
            "out another group."
        )
    check_captions(training)
    items = {c.item for c in test if c.score is not None and not c.person}
    if len(items) < 2:
        raise DataError(
            f"{held_out!r} has judged captions of {len(items)} items by systems; expected two "
            "items or more to test on. Hold out another group."
        )


def _most_rated(captions: Sequence[JudgedCaption]) -> list[JudgedCaption]:
    """Return the automatic captions of the kind with the most ratings each: the surest scores."""
    judged = [c for c in captions if c.score is not None and not c.person]
    if not judged:
        raise DataError("Only people's captions are judged; expected captions of systems too.")
    kinds = {c.kind for c in judged}
    best = max(kinds, key=lambda kind: np.mean([c.ratings for c in judged if c.kind == kind]))
    return [c for c in judged if c.kind == best]


def _percent(judged: Sequence[JudgedCaption]) -> tuple[float, float]:
    """Return the line from standardised to raw scores, where raw scores are known."""
    known = [(c.score, c.raw) for c in judged if c.score is not None and c.raw is not None]
    if len(known) < 2:
        return 50.0, 40.0
    slope, low = np.polyfit([z for z, _ in known], [raw for _, raw in known], 1)
    return float(low), float(slope)


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
) -> TrainedBertha:
    """Train by any recipe; several members are averaged.

    That is nearly as good as their ensemble, at no cost. All share the first stage, which learns to
    compare texts and knows nothing of judgments. From there each goes its own way by its own seed.
    They stay near enough to each other for the mean of their weights to be a network that judges
    like the mean of them all.
    """
    if recipe.members == 1:
        return train(captions, recipe, seed=seed, folder=folder, progress=progress, **options)

    def part(name: str, what: Recipe, its_seed: int, start: Tensors | None = None) -> TrainedBertha:
        place = None if folder is None else Path(folder) / name
        return train(
            captions, what, seed=its_seed, start=start, folder=place, progress=progress, **options
        )

    first = part("shared", recipe.shared, seed).network.state()
    members = [
        part(f"member_{k}", recipe.own, seed + k, first) for k in range(1, recipe.members + 1)
    ]
    last = members[-1]
    last.network.restore(average([member.network.state() for member in members]))
    if recipe.last.stages:
        return part("last", recipe.last, seed, last.network.state())
    return last


_PAIRS = 4096  # scored between two reports of progress


class ModelTeacher:
    """A model as a teacher."""

    def __init__(
        self, model: str, device: str | None = None, progress: Progress | None = None
    ) -> None:
        self.model, self.progress = model, progress
        self._scorer = PairScorer(model, "float32", device)

    def __call__(self, candidates: Sequence[str], references: Sequence[str]) -> FloatArray:
        """Score pairs on people's standardised scale."""
        parts = []
        for begin in range(0, len(candidates), _PAIRS):
            end = min(begin + _PAIRS, len(candidates))
            parts.append(self._scorer.score(candidates[begin:end], references[begin:end]))
            if self.progress is not None:
                self.progress(end, len(candidates))
        return np.concatenate(parts)

    def weights(self) -> Tensors:
        """Its network's weights, for a student to start from."""
        torch = need("torch")
        tensors = read_weights(self.model)[1]
        return {
            name: torch.tensor(unpacked(tensors, name))
            for name in tensors
            if not name.endswith(".scale") and not name.startswith("similarity.")
        }


def check_teacher(model: str, held_out: str) -> None:
    """Refuse a teacher that has seen a group which its student is to be tested on."""
    without = read_info(model).training.get("held out")
    if without != held_out:
        raise DataError(
            f"The teacher {model} was trained "
            f"{'on all groups' if without is None else f'without {without!r}'}, so its student "
            f"cannot be tested on {held_out!r}. Train a teacher with --hold-out {held_out} first, "
            "and name its folder: --teacher FOLDER/model."
        )
