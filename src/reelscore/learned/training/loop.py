"""The training loop: stages of batches in an order that follows from the seed, with checkpoints."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore._packages import need
from reelscore._progress import Progress
from reelscore.learned.judged_captions import JudgedCaption, check_captions, digest_of
from reelscore.learned.networks.bert import FloatArray
from reelscore.learned.networks.cross_encoder import CrossEncoder, Tensors
from reelscore.learned.networks.encoders import DEFAULT_ENCODER
from reelscore.learned.networks.sentence_vectors import Embedding
from reelscore.learned.training.checkpoints import (
    Checkpoint,
    moments,
    named,
    part_of,
    read_checkpoint,
    restore_moments,
    write_checkpoint,
)
from reelscore.learned.training.damaged_pairs import (
    DamagedPair,
    PairsByLength,
    damaged_pairs,
    with_targets,
)
from reelscore.learned.training.examples import TrainingExamples, campaigns_of, training_examples
from reelscore.learned.training.hold_out import Watch, validation_split
from reelscore.learned.training.recipes import Recipe, Stage

Validated = Callable[[Stage, Sequence[float]], None]
Teacher = Callable[[Sequence[str], Sequence[str]], FloatArray]

_SCORED = ("anchors", "teacher")  # stages whose targets a network gives when they begin
_WARM_UP = 0.1  # share of a stage's steps over which the rate rises; then it falls to 0
_HEAD_FACTOR = 5.0
_SORTED_TOGETHER = 50  # batches among which captions are sorted by length, to pad less


@dataclass(frozen=True)
class TrainedBertha:
    """A trained network."""

    network: CrossEncoder  # the network
    # level and spread of each campaign beside the network's scale
    campaigns: dict[str, tuple[float, float]]
    steps: int  # how many steps were made
    # correlation on the items kept for validation, epoch by epoch; the weights are those of the
    # best epoch of the last stage
    validation: tuple[float, ...] = ()


def train(
    captions: Sequence[JudgedCaption],
    recipe: Recipe,
    *,
    encoder: str = DEFAULT_ENCODER,
    seed: int = 0,
    device: str | None = None,
    embedding: Embedding | None = None,
    elsewhere: Sequence[JudgedCaption] = (),
    start: Tensors | None = None,
    teacher: Teacher | None = None,
    folder: str | Path | None = None,
    every: int = 500,
    progress: Progress | None = None,
    validated: Validated | None = None,
) -> TrainedBertha:
    """Train a cross-encoder; it goes on from the checkpoint in the folder, if there is one.

    ``start`` are weights in place of the encoder's own and a fresh head. ``elsewhere`` are captions
    of another kind, for a stage of anchors; ``embedding`` and ``teacher`` are for stages that learn
    similarity, or from a teacher. ``validated`` is called after each epoch, with the stage and its
    correlations so far on the items kept for validation.
    """
    check_captions(captions)
    torch = need("torch")
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    training, kept = validation_split(captions, recipe, seed)
    origin = f"{recipe} {encoder} {seed} {digest_of(captions)} {digest_of(elsewhere)}"
    checkpoint = read_checkpoint(folder, origin) if folder is not None else None
    rows = []
    for number, stage in enumerate(recipe.stages):
        rng = np.random.default_rng([seed, number])
        rows.append(
            training_examples(stage, training, rng, embedding=embedding, elsewhere=elsewhere)
        )
    damaged: dict[str, list[DamagedPair]] = {}
    if any(stage.damaged for stage in recipe.stages):
        damaged = damaged_pairs(training, seed, recipe.unknown_damages, elsewhere)
    plan = [steps_of(stage, each) for stage, each in zip(recipe.stages, rows, strict=True)]
    campaigns = campaigns_of(training)
    network = CrossEncoder.start(encoder, recipe.max_length, seed).to(device)
    if start is not None:
        network.restore(start)
    if recipe.layers:
        network.keep_layers(recipe.layers)
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
        stored = checkpoint.tensors if checkpoint is not None and made > before else None
        if stage.source in _SCORED and stored:
            each = replace(each, targets=stored["targets"].numpy())
        elif stage.source == "anchors":
            each = with_targets(each, stage, network, embedding)
        elif stage.source == "teacher":
            assert teacher is not None
            each = replace(each, targets=teacher(each.candidates, [r[0] for r in each.references]))
        lessons = damaged if stage.damaged else {}  # other stages need not cut them into tokens
        run = StageTraining(network, scales, recipe, stage, each, steps, (seed, number), lessons)
        watch = Watch(network, kept, recipe.patience, reached[number], weights)
        if stored:  # at a stage's end, the next starts afresh
            restore_moments(run.optimizer, run.named, stored, device)
            watch.best = part_of(stored, "best", device)
        for step in run.steps(made - before):
            made, over = before + step, step == steps
            if step % run.per_epoch == 0 or over:
                over = watch.stalled() or over
                if validated is not None and kept:
                    validated(stage, watch.reached)
            if over:
                watch.return_to_best()
                made = end
            if progress is not None:
                progress(made, sum(plan))
            if folder is not None and (made % every == 0 or over):
                tensors = {
                    **_state(weights, watch.best, device),
                    **moments(run.optimizer, run.named),
                }
                if stage.source in _SCORED:
                    tensors["targets"] = torch.from_numpy(each.targets)
                write_checkpoint(
                    folder, Checkpoint(made, origin, tuple(map(tuple, reached)), tensors)
                )
            if over:
                break
    levels = scales.detach().cpu().double().numpy()
    return TrainedBertha(
        network,
        {
            name: (float(levels[0, k]), float(np.exp(levels[1, k])))
            for k, name in enumerate(campaigns)
        },
        made,
        tuple(r for each in reached for r in each),
    )


def _state(weights: Tensors, best: Tensors, device: str) -> Tensors:
    """Weights, the best ones of the stage, and the state of the random generators."""
    torch = need("torch")
    tensors = {**named("weight", weights), **named("best", best)}
    tensors["chance.cpu"] = torch.get_rng_state()
    if device == "cuda":
        tensors["chance.cuda"] = torch.cuda.get_rng_state()
    return tensors


def _restore(weights: Tensors, tensors: Tensors, device: str) -> None:
    torch = need("torch")
    for name, value in part_of(tensors, "weight", device).items():
        weights[name].data.copy_(value)
    torch.set_rng_state(tensors["chance.cpu"])
    if "chance.cuda" in tensors and device == "cuda":
        torch.cuda.set_rng_state(tensors["chance.cuda"])


class StageTraining:
    """One stage under way: its optimiser, and the order of its rows."""

    def __init__(
        self,
        network: CrossEncoder,
        scales: Any,
        recipe: Recipe,
        stage: Stage,
        rows: TrainingExamples,
        steps: int,
        key: tuple[int, int],
        damaged: Mapping[str, Sequence[DamagedPair]],
    ) -> None:
        torch = need("torch")
        self.network, self.scales, self.recipe, self.stage = network, scales, recipe, stage
        self.rows, self.total, self.key = rows, steps, key
        self.per_epoch = max(1, len(rows) // stage.batch)
        own = dict(network.named_parameters())
        head = [value for name, value in own.items() if name.startswith("head.")]
        body = [value for name, value in own.items() if not name.startswith("head.")]
        self.named = {**own, "scales": scales}
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
        pairs = [pair for of_lesson in damaged.values() for pair in of_lesson]
        network.tokens.learn([*rows.candidates, *(t for texts in rows.references for t in texts)])
        network.tokens.learn([text for pair in pairs for text in pair.texts])
        length = network.tokens.lengths()
        self.lengths = np.array(
            [
                length[c] + length[r[0]]
                for c, r in zip(rows.candidates, rows.references, strict=True)
            ]
        )
        often = dict(stage.often)
        self.damaged = [
            (PairsByLength(of_lesson, length), often.get(lesson, 1))
            for lesson, of_lesson in damaged.items()
        ]

    def steps(self, done: int = 0) -> Iterator[int]:
        """Make the steps from the one given on; yields the number of steps made."""
        for step, (part, picks) in enumerate(self._batches(done), start=done):
            chance = random.Random(f"{self.key} {step}")
            for group in self.optimizer.param_groups:
                group["lr"] = self.stage.rate * group["factor"] * _rate(step, self.total)
            self._step(part, picks, chance)
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

    def _step(self, part: NDArray[np.int64], picks: FloatArray, chance: random.Random) -> None:
        torch = need("torch")
        network, rows, count = self.network, self.rows, self.stage.references
        network.training(True)
        candidates, references = [], []
        for row, pick in zip(part, picks, strict=False):
            texts = rows.references[row]
            first = int(pick * len(texts))
            references += [texts[(first + k) % len(texts)] for k in range(count)]
            candidates += [rows.candidates[row]] * count
        # no longer than the others, or these would be padded to their length
        pairs = self._damaged_pairs(chance, int(self.lengths[part].max()))
        compared_with = [chance.choice(pair.references) for pair in pairs]
        candidates += [pair.better for pair in pairs] + [pair.worse for pair in pairs]
        references += compared_with * 2
        scores = network.forward(network.tokens.pairs(candidates, references).all())
        better, worse = scores[len(part) * count :].view(2, len(pairs))
        scores = scores[: len(part) * count].view(len(part), count).mean(dim=1)
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
        if pairs:
            bounds = [(pair.margin, pair.most) for pair in pairs]
            least, most = self.stage.margin * torch.tensor(bounds, device=device).T
            drop = better - worse
            missing = (torch.relu(least - drop) + torch.relu(drop - most)).mean()
            loss = loss + self.stage.damage_weight * missing
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(self.named.values()), 1.0)
        self.optimizer.step()

    def _damaged_pairs(self, chance: random.Random, longest: int) -> list[DamagedPair]:
        lessons = [(lesson, often) for lesson, often in self.damaged if lesson.count(longest)]
        if not lessons:
            return []
        drawn = chance.choices(
            [lesson for lesson, _ in lessons],
            [often for _, often in lessons],
            k=self.stage.damaged,
        )
        return [lesson.draw(chance, longest) for lesson in drawn]


def steps_of(stage: Stage, rows: TrainingExamples) -> int:
    """Count the steps of a stage."""
    return max(1, round(max(1, len(rows) // stage.batch) * stage.epochs))


def _rate(step: int, total: int) -> float:
    """Rise over the first tenth, then fall to nothing."""
    return min(1.0, (step + 1) / max(1.0, _WARM_UP * total)) * (total - step) / total
