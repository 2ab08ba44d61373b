"""One stage of a training: batches in an order that follows from the seed, loss and steps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore.learned.cross_encoder import CrossEncoder, Tensors
from reelscore.learned.encoders import need
from reelscore.learned.lessons import Lessons
from reelscore.learned.recipes import Recipe, Stage

FloatArray = NDArray[np.float64]

_WARM_UP = 0.1  # share of a stage's steps over which the rate rises; then it falls to 0
_HEAD_FACTOR = 5.0
_SORTED_TOGETHER = 50  # batches among which captions are sorted by length, to pad less


class StageTraining:
    """One stage under way: its optimiser, and the order of its rows.

    Args:
        network: What is trained.
        scales: Level and logarithm of the spread of each campaign.
        recipe: The recipe.
        stage: The stage of it.
        rows: What is learned.
        steps: How many steps the stage has.
        key: Seed and number of the stage, from which the order of the rows follows.
    """

    def __init__(
        self,
        network: CrossEncoder,
        scales: Any,
        recipe: Recipe,
        stage: Stage,
        rows: Lessons,
        steps: int,
        key: tuple[int, int],
    ) -> None:
        torch = need("torch")
        self.network, self.scales, self.recipe, self.stage = network, scales, recipe, stage
        self.rows, self.total, self.key = rows, steps, key
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

    def moments(self) -> Tensors:
        """What the optimiser remembers, by name."""
        return {
            f"{key}.{name}": moment
            for name, value in self.named.items()
            for key, moment in self.optimizer.state.get(value, {}).items()
        }

    def restore_moments(self, tensors: Tensors) -> None:
        """Take over what the optimiser remembered within this stage."""
        device = self.network.device
        for name, value in self.named.items():
            state = {
                key: tensors[f"{key}.{name}"].to(device)
                for key in ("step", "exp_avg", "exp_avg_sq")
                if f"{key}.{name}" in tensors
            }
            if state:
                self.optimizer.state[value] = state


def steps_of(stage: Stage, rows: Lessons) -> int:
    """Count the steps of a stage."""
    return max(1, round(max(1, len(rows) // stage.batch) * stage.epochs))


def _rate(step: int, total: int) -> float:
    """Rise over the first tenth, then fall to nothing."""
    return min(1.0, (step + 1) / max(1.0, _WARM_UP * total)) * (total - step) / total
