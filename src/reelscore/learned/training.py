"""The training loop: stages, progress, checkpoints that can be taken up again.

Everything that chance decides follows from the seed: the order of the captions from seed, stage
and epoch, dropout from torch's own generator, whose state is kept in the checkpoint. So a training
that was interrupted and resumed ends as if it had not been.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore.learned.captions import JudgedCaption, check_captions
from reelscore.learned.checkpoints import Checkpoint, read_checkpoint, write_checkpoint
from reelscore.learned.cross_encoder import CrossEncoder, Tensors
from reelscore.learned.encoders import DEFAULT_ENCODER, need
from reelscore.learned.lessons import Embedding, Lessons, campaigns_of, lessons
from reelscore.learned.recipes import Recipe, Stage

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]

_WARM_UP = 0.1  # share of a stage's steps over which the rate rises; then it falls to 0
_HEAD_FACTOR = 5.0
_SORTED_TOGETHER = 50  # batches among which captions are sorted by length, to pad less


@dataclass(frozen=True)
class Trained:
    """A trained network.

    Attributes:
        network: The network.
        campaigns: Level and spread of each campaign beside the network's scale.
        steps: How many steps were made.
        validation: Correlation on the items kept for validation, epoch by epoch.
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
    training, kept = _validation_split(captions, recipe, seed)
    campaigns = campaigns_of(training)
    network = CrossEncoder.start(encoder, recipe.max_length, seed).to(device)
    if start is not None:
        network.restore(start)
    scales = torch.nn.Parameter(torch.zeros(2, len(campaigns), device=device))
    rows = []
    for number, stage in enumerate(recipe.stages):
        rng = np.random.default_rng([seed, number])
        rows.append(lessons(stage, training, rng, embedding=embedding))
    plan = [_steps(stage, each) for stage, each in zip(recipe.stages, rows, strict=True)]
    origin = f"{recipe} {encoder} {seed} {len(captions)}"
    checkpoint = read_checkpoint(folder, origin) if folder is not None else None
    made = 0 if checkpoint is None else checkpoint.step
    validation = [] if checkpoint is None else list(checkpoint.validation)
    for number, (stage, each, steps) in enumerate(zip(recipe.stages, rows, plan, strict=True)):
        before = sum(plan[:number])
        if made >= before + steps:
            continue
        run = _Stage(network, scales, recipe, stage, each, steps, seed, number)
        if checkpoint is not None and made >= before:
            run.restore(checkpoint)
            checkpoint = None
        for step in run.steps(made - before):
            made = before + step
            if progress is not None:
                progress(made, sum(plan))
            if folder is not None and (made % every == 0 or made == sum(plan)):
                write_checkpoint(folder, run.checkpoint(made, origin, validation))
            if kept and step % run.per_epoch == 0:
                validation.append(_agreement(network, kept))
                if _stalled(validation, recipe.patience):
                    made = before + steps
                    break
    levels = scales.detach().cpu().double().numpy()
    return Trained(
        network,
        {
            name: (float(levels[0, k]), float(np.exp(levels[1, k])))
            for k, name in enumerate(campaigns)
        },
        made,
        tuple(validation),
    )


class _Stage:
    """One stage under way: its optimiser, and the order of its rows."""

    def __init__(
        self,
        network: CrossEncoder,
        scales: Any,
        recipe: Recipe,
        stage: Stage,
        rows: Lessons,
        steps: int,
        seed: int,
        number: int,
    ) -> None:
        torch = need("torch")
        self.network, self.scales, self.recipe, self.stage = network, scales, recipe, stage
        self.rows, self.total, self.key = rows, steps, (seed, number)
        self.per_epoch = max(1, len(rows) // stage.batch)
        named = dict(network.named_parameters())
        head = [value for name, value in named.items() if name.startswith("head.")]
        body = [value for name, value in named.items() if not name.startswith("head.")]
        self.named = {**named, "scales": scales}
        decay = recipe.weight_decay
        self.optimizer = torch.optim.AdamW(
            [
                {"params": body, "weight_decay": decay, "factor": 1.0},
                {"params": head, "weight_decay": decay, "factor": _HEAD_FACTOR},
                {"params": [scales], "weight_decay": 0.0, "factor": _HEAD_FACTOR},
            ],
            lr=stage.rate,
            betas=(0.9, 0.98),
            eps=1e-6,
            fused=network.device == "cuda",
        )
        network.tokens.learn([*rows.candidates, *(t for texts in rows.references for t in texts)])
        length = {text: len(each.ids) for text, each in network.tokens._known.items()}
        self.lengths = np.array(
            [
                length[c] + length[r[0]]
                for c, r in zip(rows.candidates, rows.references, strict=True)
            ]
        )

    def steps(self, done: int = 0) -> Iterator[int]:
        """Make the steps from the one given on; yields the number of steps made."""
        for step, (part, picks) in enumerate(self._batches(done), start=done):
            for group in self.optimizer.param_groups:
                group["lr"] = self.stage.rate * group["factor"] * _rate(step, self.total)
            self._step(part, picks)
            yield step + 1

    def _batches(self, done: int) -> Iterator[tuple[NDArray[np.int64], FloatArray]]:
        size = self.stage.batch
        for epoch in range(math.ceil(self.total / self.per_epoch)):
            rng = np.random.default_rng([*self.key, epoch])
            order = rng.permutation(len(self.rows))
            pool = size * _SORTED_TOGETHER
            parts = []
            for begin in range(0, len(order), pool):
                near = order[begin : begin + pool]
                near = near[np.argsort(self.lengths[near], kind="stable")]
                parts += [near[k : k + size] for k in range(0, len(near), size)]
            parts = [
                parts[k]
                for k in rng.permutation(len(parts))
                if len(parts[k]) == size or len(parts) == 1
            ]
            picks = rng.random((len(parts), size))
            for k, part in enumerate(parts[: self.per_epoch]):
                number = epoch * self.per_epoch + k
                if done <= number < self.total:
                    yield part, picks[k]

    def _step(self, part: NDArray[np.int64], picks: FloatArray) -> None:
        torch = need("torch")
        network, rows, count = self.network, self.rows, self.stage.references
        network.training(True)
        candidates, references = [], []
        for row, pick in zip(part, picks, strict=False):
            texts = rows.references[row]
            first = int(pick * len(texts))
            references += [texts[(first + k) % len(texts)] for k in range(count)]
            candidates += [rows.candidates[row]] * count
        scores = network.forward(network.tokens.pairs(candidates, references))
        scores = scores.view(len(part), count).mean(dim=1)
        device = network.device
        target = torch.tensor(rows.targets[part], dtype=torch.float32, device=device)
        weight = torch.tensor(rows.weights[part], dtype=torch.float32, device=device)
        campaign = torch.tensor(rows.campaigns[part], device=device)
        weight = weight / weight.sum()
        scaled = scores
        if self.recipe.campaign_scales and rows.campaigns[part].min() >= 0:
            level, spread = self.scales[:, campaign]
            scaled = scores * spread.exp() + level
        loss = (weight * (scaled - target) ** 2).sum()
        if self.stage.correlation:
            x = scores - (weight * scores).sum()
            y = target - (weight * target).sum()
            r = (weight * x * y).sum() / (
                (weight * x * x).sum() * (weight * y * y).sum() + 1e-6
            ).sqrt()
            loss = loss + self.stage.correlation * (1 - r)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(self.named.values()), 1.0)
        self.optimizer.step()

    def checkpoint(self, made: int, origin: str, validation: Sequence[float]) -> Checkpoint:
        """Everything needed to go on from here."""
        torch = need("torch")
        tensors = {f"weight.{name}": value for name, value in self.named.items()}
        for name, value in self.named.items():
            for key, moment in self.optimizer.state.get(value, {}).items():
                tensors[f"{key}.{name}"] = moment
        tensors["chance.cpu"] = torch.get_rng_state()
        if self.network.device == "cuda":
            tensors["chance.cuda"] = torch.cuda.get_rng_state()
        return Checkpoint(made, origin, tuple(validation), tensors)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go back to a checkpoint; the optimiser's state is that of the stage it was made in."""
        torch = need("torch")
        tensors = checkpoint.tensors
        with torch.no_grad():
            for name, value in self.named.items():
                value.copy_(tensors[f"weight.{name}"])
        for name, value in self.named.items():
            state = {
                key: tensors[f"{key}.{name}"].to(
                    "cpu" if key == "step" and self.network.device == "cpu" else self.network.device
                )
                for key in ("step", "exp_avg", "exp_avg_sq")
                if f"{key}.{name}" in tensors
            }
            if state:
                self.optimizer.state[value] = state
        torch.set_rng_state(tensors["chance.cpu"])
        if "chance.cuda" in tensors and self.network.device == "cuda":
            torch.cuda.set_rng_state(tensors["chance.cuda"])


def _steps(stage: Stage, rows: Lessons) -> int:
    return max(1, round(max(1, len(rows) // stage.batch) * stage.epochs))


def _rate(step: int, total: int) -> float:
    """Rise over the first tenth, then fall to nothing."""
    return min(1.0, (step + 1) / max(1.0, _WARM_UP * total)) * (total - step) / total


def _validation_split(
    captions: Sequence[JudgedCaption], recipe: Recipe, seed: int
) -> tuple[list[JudgedCaption], list[JudgedCaption]]:
    if not recipe.validation:
        return list(captions), []
    items = sorted({caption.item for caption in captions})
    rng = np.random.default_rng([seed, len(items)])
    chosen = {
        items[k] for k in rng.permutation(len(items))[: round(recipe.validation * len(items))]
    }
    kept = [c for c in captions if c.item in chosen and c.score is not None]
    return [c for c in captions if c.item not in chosen], kept


def _agreement(network: CrossEncoder, kept: Sequence[JudgedCaption]) -> float:
    scores = predict_captions(network, kept)
    return float(np.corrcoef(scores, [caption.score or 0.0 for caption in kept])[0, 1])


def _stalled(validation: Sequence[float], patience: int) -> bool:
    best = int(np.argmax(validation))
    return len(validation) - 1 - best >= patience


def predict_captions(
    network: CrossEncoder, captions: Sequence[JudgedCaption], *, best: float = 0.0
) -> FloatArray:
    """Score captions against all their references: the mean, or somewhat of the best.

    Args:
        network: A trained network.
        captions: The captions.
        best: Weight of the best reference beside the mean: 0 is the mean alone, 1 the best alone.
    """
    counts = [len(caption.references) for caption in captions]
    pairs = [(caption.candidate, text) for caption in captions for text in caption.references]
    once = {pair: k for k, pair in enumerate(dict.fromkeys(pairs))}
    scores = network.predict([a for a, _ in once], [b for _, b in once])
    rows = scores[[once[pair] for pair in pairs]]
    begins = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    means = np.add.reduceat(rows, begins) / np.array(counts)
    result: FloatArray = (1 - best) * means + best * np.maximum.reduceat(rows, begins)
    return result
