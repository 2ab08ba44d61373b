"""The training loop: stages, progress, early stopping, checkpoints that can be taken up again.

Everything that chance decides follows from the seed: the order of the captions from seed, stage
and epoch, dropout from torch's own generator, whose state is kept in the checkpoint. So a training
that was interrupted and resumed ends as if it had not been.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reelscore.learned.captions import JudgedCaption, check_captions, digest_of
from reelscore.learned.checkpoints import Checkpoint, read_checkpoint, write_checkpoint
from reelscore.learned.cross_encoder import CrossEncoder, Tensors
from reelscore.learned.early_stopping import Watch, validation_split
from reelscore.learned.encoders import DEFAULT_ENCODER, need
from reelscore.learned.lessons import Embedding, campaigns_of, lessons
from reelscore.learned.recipes import Recipe
from reelscore.learned.stage_training import StageTraining, steps_of

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Trained:
    """A trained network.

    Attributes:
        network: The network.
        campaigns: Level and spread of each campaign beside the network's scale.
        steps: How many steps were made.
        validation: Correlation on the items kept for validation, epoch by epoch; the weights are
            those of the best epoch of the last stage.
    """

    network: CrossEncoder
    campaigns: dict[str, tuple[float, float]]
    steps: int
    validation: tuple[float, ...] = ()


def train(
    captions: Sequence[JudgedCaption],
    recipe: Recipe,
    *,
    encoder: str = DEFAULT_ENCODER,
    seed: int = 0,
    device: str | None = None,
    embedding: Embedding | None = None,
    start: Tensors | None = None,
    folder: str | Path | None = None,
    every: int = 500,
    progress: Progress | None = None,
) -> Trained:
    """Train a cross-encoder.

    Args:
        captions: What to learn from.
        recipe: The stages.
        encoder: The encoder to start from, by name or path.
        seed: Of all that chance decides.
        device: ``cuda`` or ``cpu``; the first of these that is there.
        embedding: A sentence encoder, for a stage that learns similarity.
        start: Weights to start from, in place of the encoder's own and a fresh head.
        folder: Where to keep a checkpoint; one that lies there is taken up.
        every: Steps between two checkpoints.
        progress: Called with how many steps are made, of how many.

    Raises:
        DataError: If nothing can be learned from the captions, or the checkpoint is of another
            training.
    """
    check_captions(captions)
    torch = need("torch")
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    training, kept = validation_split(captions, recipe, seed)
    origin = f"{recipe} {encoder} {seed} {digest_of(captions)}"
    checkpoint = read_checkpoint(folder, origin) if folder is not None else None
    rows = []
    for number, stage in enumerate(recipe.stages):
        rng = np.random.default_rng([seed, number])
        rows.append(lessons(stage, training, rng, embedding=embedding))
    plan = [steps_of(stage, each) for stage, each in zip(recipe.stages, rows, strict=True)]
    campaigns = campaigns_of(training)
    network = CrossEncoder.start(encoder, recipe.max_length, seed).to(device)
    if start is not None:
        network.restore(start)
    scales = torch.nn.Parameter(torch.zeros(2, len(campaigns), device=device))
    weights = {**dict(network.named_parameters()), "scales": scales}
    made, reached = 0, [list[float]() for _ in plan]
    if checkpoint is not None:
        made, reached = checkpoint.step, [list(each) for each in checkpoint.validation]
        _restore(weights, checkpoint.tensors, device)
    for number, (stage, each, steps) in enumerate(zip(recipe.stages, rows, plan, strict=True)):
        before, end = sum(plan[:number]), sum(plan[: number + 1])
        if made >= end:
            continue
        run = StageTraining(network, scales, recipe, stage, each, steps, (seed, number))
        watch = Watch(network, kept, recipe.patience, reached[number], weights)
        if checkpoint is not None and made > before:  # at a stage's end, the next starts afresh
            run.restore_moments(checkpoint.tensors)
            watch.best = _named(checkpoint.tensors, "best", device)
        for step in run.steps(made - before):
            made, over = before + step, step == steps
            if step % run.per_epoch == 0 or over:
                over = watch.stalled() or over
            if over:
                watch.return_to_best()
                made = end
            if progress is not None:
                progress(made, sum(plan))
            if folder is not None and (made % every == 0 or over):
                tensors = {**_state(weights, watch.best, device), **run.moments()}
                write_checkpoint(
                    folder, Checkpoint(made, origin, tuple(map(tuple, reached)), tensors)
                )
            if over:
                break
    levels = scales.detach().cpu().double().numpy()
    return Trained(
        network,
        {
            name: (float(levels[0, k]), float(np.exp(levels[1, k])))
            for k, name in enumerate(campaigns)
        },
        made,
        tuple(r for each in reached for r in each),
    )


def _state(weights: Tensors, best: Tensors, device: str) -> Tensors:
    """Weights, the best ones of the stage, and the state of chance."""
    torch = need("torch")
    tensors = {f"weight.{name}": value for name, value in weights.items()}
    tensors |= {f"best.{name}": value for name, value in best.items()}
    tensors["chance.cpu"] = torch.get_rng_state()
    if device == "cuda":
        tensors["chance.cuda"] = torch.cuda.get_rng_state()
    return tensors


def _restore(weights: Tensors, tensors: Tensors, device: str) -> None:
    torch = need("torch")
    for name, value in _named(tensors, "weight", device).items():
        weights[name].data.copy_(value)
    torch.set_rng_state(tensors["chance.cpu"])
    if "chance.cuda" in tensors and device == "cuda":
        torch.cuda.set_rng_state(tensors["chance.cuda"])


def _named(tensors: Tensors, part: str, device: str) -> Tensors:
    beginning = part + "."
    return {
        name.removeprefix(beginning): value.to(device)
        for name, value in tensors.items()
        if name.startswith(beginning)
    }
