"""Training of the networks: batches in an order that follows from the seed, stopped on METEOR.

Validation captions are written greedily and scored here, with references prepared once; the weights
with the best METEOR are kept, since the loss goes on falling where the captions get worse. A
training that was interrupted goes on from its last measurement: on a CPU with the same weights, bit
for bit, as if nothing had happened.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from reelscore._progress import Progress
from reelscore.captioners.run_record import Parameters
from reelscore.errors import DataError, check_choice
from reelscore.learned.training.checkpoints import (
    Checkpoint,
    moments,
    named,
    part_of,
    read_checkpoint,
    restore_moments,
    write_checkpoint,
)
from reelscore.scoring.scorer import Scorer
from reelscore_studies.baselines.clip_features import Features
from reelscore_studies.baselines.networks.caption_words import BEGIN, PAD, Vocabulary
from reelscore_studies.baselines.networks.decoding import decode
from reelscore_studies.baselines.networks.lstm import (
    Architecture,
    CaptionNetwork,
    DropMask,
    Dropout,
    NetworkShape,
    check_device,
    need_torch,
)

if TYPE_CHECKING:
    from torch import Tensor

Tensors = dict[str, "Tensor"]
Optimiser = Literal["adam", "paper"]
_LONGEST = 30  # words of a caption, at most
# What the paper leaves open, by optimiser: rate, iterations between two drops of it (a third of
# the budget where it is 0), factor of a drop, and captions in a batch.
_OPEN: dict[str, dict[str, Any]] = {
    "adam": {"rate": 3e-3, "step": 0, "decay": 0.5, "batch": 128},
    "paper": {"rate": 0.01, "step": 4000, "decay": 0.5, "batch": 100},
}
_LARGEST_GRADIENT = 5.0
_MOMENTUM = 0.9


@dataclass(frozen=True)
class NetworkRecipe(Parameters):
    """How a network is made and trained.

    Attributes:
        arch: Its architecture: one layer (``1layer``), or two that see the labels in the first
            (``2layer-unfact``) or in the second (``2layer-fact``).
        drop: Where units are dropped in training: ``none``, words (``lang``), labels (``vis``),
            both (``concat``), or the last layer (``lstm``).
        ratio: The share of them.
        hidden: Units of each layer; the paper has 500.
        embedding: Numbers that stand for a word; the paper does not say.
        opt: ``adam``, or ``paper``: plain gradient descent with momentum 0.9.
        rate: Learning rate at the start.
        step: Iterations after which the rate is multiplied by ``decay``, again and again; 0: a
            third of all.
        decay: See ``step``.
        batch: Captions an iteration.
        iterations: Iterations at most.
        every: Iterations between two measurements on validation.
        patience: Measurements without gain after which training ends.
        min_count: How often a word must occur in training to be in the vocabulary.

    >>> NetworkRecipe.of("paper", hidden=100).signature(seed=0)
    'visual_labels|arch:1layer|drop:lstm|ratio:0.5|hidden:100|embedding:500|opt:paper|rate:0.01|...'
    """

    arch: Architecture = "1layer"
    drop: Dropout = "lstm"
    ratio: float = 0.5
    hidden: int = 500
    embedding: int = 500
    opt: Optimiser = "adam"
    rate: float = 3e-3
    step: int = 0
    decay: float = 0.5
    batch: int = 128
    iterations: int = 25_000
    every: int = 500
    patience: int = 5
    min_count: int = 1
    name: ClassVar[str] = "visual_labels"

    def __post_init__(self) -> None:
        check_choice("architecture", self.arch, get_args(Architecture))
        check_choice("dropout", self.drop, get_args(Dropout))
        check_choice("optimiser", self.opt, get_args(Optimiser))
        counts = ("hidden", "embedding", "batch", "iterations", "every", "patience", "min_count")
        for name in counts:
            if getattr(self, name) < 1:
                raise DataError(f"{name}={getattr(self, name)}; expected 1 or more.")
        if not 0 <= self.ratio < 1:
            raise DataError(f"ratio={self.ratio}; expected 0 up to, but not, 1.")
        if not (0 < self.rate < math.inf and 0 < self.decay <= 1 and self.step >= 0):
            raise DataError(
                f"rate={self.rate}, decay={self.decay}, step={self.step}; expected a rate above "
                "0, a decay above 0 and up to 1, and 0 steps or more."
            )

    @classmethod
    def of(cls, opt: Optimiser = "adam", **changes: Any) -> NetworkRecipe:
        """Return the recipe of an optimiser, with changes; those that are None are none.

        Args:
            opt: The optimiser.
            changes: Other attributes.
        """
        check_choice("optimiser", opt, get_args(Optimiser))
        own = {name: value for name, value in changes.items() if value is not None}
        return replace(cls(), **{"opt": opt, **_OPEN[opt], **own})

    def rate_at(self, iteration: int) -> float:
        """Return the learning rate of an iteration, counted from 0.

        >>> [NetworkRecipe(iterations=9).rate_at(k) for k in (0, 2, 3, 6)]
        [0.003, 0.003, 0.0015, 0.00075]
        """
        step = self.step or max(1, -(-self.iterations // 3))
        return float(self.rate * self.decay ** (iteration // step))


class Measured(NamedTuple):
    """What a training had reached at one moment.

    Attributes:
        iteration: Iterations made.
        loss: Mean training loss since the moment before.
        meteor: METEOR of the validation captions.
    """

    iteration: int
    loss: float
    meteor: float


@dataclass(frozen=True)
class TrainingSettings:
    """A recipe, and how it is carried out.

    Attributes:
        recipe: How the network is made and trained.
        seed: Random seed.
        device: ``cuda`` or ``cpu``.
        threads: Threads that score; all cores where not given.
        progress: Called with how many iterations are made, of how many.
        measured: Called after each measurement on validation.

    >>> TrainingSettings.of(seed=1, dropout="none").recipe.drop
    'none'
    """

    recipe: NetworkRecipe = field(default_factory=NetworkRecipe)
    seed: int = 0
    device: str = "cpu"
    threads: int | None = None
    progress: Progress | None = None
    measured: Callable[[Measured], None] | None = None

    @classmethod
    def of(cls, **attributes: Any) -> TrainingSettings:
        """Make settings of their own attributes and of those of a recipe; ``dropout`` is its drop.

        Args:
            attributes: Any of both.

        Raises:
            UnknownNameError: If there is no such attribute.
        """
        own = {each.name for each in fields(cls)}
        given = {"drop" if name == "dropout" else name: value for name, value in attributes.items()}
        changes = {name: given.pop(name) for name in list(given) if name not in own}
        if changes and "recipe" in given:
            raise DataError(f"Pass a recipe, or {', '.join(changes)}, but not both.")
        for name in changes:
            check_choice(
                "setting of a training", name, [each.name for each in fields(NetworkRecipe)]
            )
        return cls(**{"recipe": NetworkRecipe.of(**changes), **given})


class Examples(NamedTuple):
    """Clips: captions to learn from or to be compared with, and label scores, by item."""

    captions: Mapping[str, Sequence[str]]
    scores: Features


class TrainedNetwork(NamedTuple):
    """What comes out of a training.

    Attributes:
        network: The network, with the best weights.
        last: The last weights.
        vocabulary: Its words.
        longest: The most words it says.
        history: What was reached, measurement by measurement.
    """

    network: CaptionNetwork
    last: Tensors
    vocabulary: Vocabulary
    longest: int
    history: tuple[Measured, ...]

    @property
    def best(self) -> Measured:
        """The best measurement, the first of equal ones."""
        return max(self.history, key=lambda each: each.meteor)


def train(
    training: Examples,
    validation: Examples,
    settings: TrainingSettings,
    *,
    folder: str | Path | None = None,
    origin: str = "",
) -> TrainedNetwork:
    """Train a network, and keep a checkpoint in a folder, if there is one.

    A training resumes from the checkpoint that is there. ``origin`` is what it depends on besides
    its settings, such as a hash of the data.
    """
    if not training.captions or not validation.captions:
        raise DataError("There are no captions to learn from, or none to validate on.")
    check_device(settings.device)
    recipe = settings.recipe
    key = f"{recipe} {settings.seed} {settings.device} {origin}"
    with _deterministic(need_torch(), settings.device):
        run = _Training(training, validation, settings)
        checkpoint = read_checkpoint(folder, key) if folder is not None else None
        if checkpoint is not None:
            run.restore(checkpoint)
        while not run.over():
            run.iterate()
            if settings.progress is not None:
                settings.progress(run.made, recipe.iterations)
            if run.made % recipe.every == 0 or run.made == recipe.iterations:
                run.measure()
                if folder is not None:
                    write_checkpoint(folder, run.checkpoint(key))
                if settings.measured is not None:
                    settings.measured(run.history[-1])
        return run.result()


class _Training:
    """A training under way; everything it needs stays on the device."""

    def __init__(
        self, training: Examples, validation: Examples, settings: TrainingSettings
    ) -> None:
        torch = need_torch()
        recipe, device = settings.recipe, settings.device
        self.recipe, self.seed, self.device = recipe, settings.seed, device
        pairs = sorted((item, text) for item, own in training.captions.items() for text in own)
        self.vocabulary = Vocabulary.of((text for _, text in pairs), recipe.min_count)
        rows = [row[: _LONGEST + 1] for row in self.vocabulary.rows([text for _, text in pairs])]
        self.lengths = np.array([len(row) for row in rows])
        self.longest = int(self.lengths.max())
        table = np.full((len(rows), self.longest + 1), PAD, dtype=np.int64)
        table[:, 0] = BEGIN
        for line, row in zip(table, rows, strict=True):
            line[1 : len(row) + 1] = row
        items = sorted({item for item, _ in pairs})
        places = {item: place for place, item in enumerate(items)}
        self.words = torch.from_numpy(table).to(device)
        self.owners = torch.tensor([places[item] for item, _ in pairs], device=device)
        self.labels = _matrix(training.scores, items, device)
        self.items = sorted(validation.captions)
        self.seen = _matrix(validation.scores, self.items, device)
        references = {item: list(validation.captions[item]) for item in self.items}
        self.scorer = Scorer(references, "meteor", threads=settings.threads)
        shape = NetworkShape(
            words=len(self.vocabulary),
            labels=self.labels.shape[1],
            arch=recipe.arch,
            hidden=recipe.hidden,
            embedding=recipe.embedding,
        )
        self.network = CaptionNetwork(shape, device=device, seed=self.seed)
        self.weights = self.network.weights()
        self.generator = torch.Generator(device=device).manual_seed(self.seed + 1)
        self.drop = DropMask(recipe.drop, recipe.ratio, self.generator)
        values = list(self.weights.values())
        if recipe.opt == "paper":
            self.optimiser = torch.optim.SGD(values, lr=recipe.rate, momentum=_MOMENTUM)
        else:
            self.optimiser = torch.optim.Adam(values, lr=recipe.rate, fused=device == "cuda")
        self.size = min(recipe.batch, len(rows))
        self.per_epoch = len(rows) // self.size
        self.epoch = -1
        self.made, self.since = 0, 0
        self.history: list[Measured] = []
        self.best: Tensors = {}
        self.loss = torch.zeros((), device=device)

    def over(self) -> bool:
        """Return whether all iterations are made, or the last measurements brought no gain."""
        reached = [each.meteor for each in self.history]
        stalled = (
            bool(reached) and len(reached) - 1 - int(np.argmax(reached)) >= self.recipe.patience
        )
        return stalled or self.made >= self.recipe.iterations

    def iterate(self) -> None:
        """Make one iteration; nothing is read back from the device."""
        torch = need_torch()
        epoch, place = divmod(self.made, self.per_epoch)
        if epoch != self.epoch:
            self.epoch = epoch
            order = np.random.default_rng([self.seed, epoch]).permutation(len(self.lengths))
            self.order, self.order_there = order, torch.from_numpy(order).to(self.device)
        part = slice(place * self.size, (place + 1) * self.size)
        longest = int(self.lengths[self.order[part]].max())
        rows = self.order_there[part]
        words = self.words[rows, : longest + 1]
        for group in self.optimiser.param_groups:
            group["lr"] = self.recipe.rate_at(self.made)
        logits, _ = self.network.logits(
            words[:, :-1], self.labels[self.owners[rows]], drop=self.drop
        )
        loss = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), words[:, 1:].flatten(), ignore_index=PAD
        )
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        if self.recipe.opt == "adam":
            torch.nn.utils.clip_grad_norm_(list(self.weights.values()), _LARGEST_GRADIENT)
        self.optimiser.step()
        self.loss += loss.detach()
        self.made += 1
        self.since += 1

    def measure(self) -> None:
        """Write and score the validation captions; keep the weights if they are the best."""
        rows = decode([self.network], [self.seen], longest=self.longest)
        self.scorer.reset()
        self.scorer.update(self.items, [self.vocabulary.text(row) for row in rows])
        meteor = self.scorer.compute()["meteor"].score
        loss = float(self.loss) / self.since
        if all(meteor > each.meteor for each in self.history):
            self.best = {name: value.detach().clone() for name, value in self.weights.items()}
        self.history.append(Measured(self.made, loss, float(meteor)))
        self.loss.zero_()
        self.since = 0

    def checkpoint(self, key: str) -> Checkpoint:
        """Return all that is needed to go on."""
        tensors = {
            **named("weight", self.weights),
            **named("best", self.best),
            **named("moment", moments(self.optimiser, self.weights)),
            "chance": self.generator.get_state(),
        }
        return Checkpoint(self.made, key, tuple(map(tuple, self.history)), tensors)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go back to a checkpoint."""
        tensors = checkpoint.tensors
        self.network.restore(part_of(tensors, "weight"))
        self.best = part_of(tensors, "best", self.device)
        restore_moments(self.optimiser, self.weights, part_of(tensors, "moment"), self.device)
        self.generator.set_state(tensors["chance"])
        self.made = checkpoint.step
        self.history = [Measured(int(row[0]), *row[1:]) for row in checkpoint.validation]

    def result(self) -> TrainedNetwork:
        """Return the network with its best weights."""
        last = {name: value.detach().clone() for name, value in self.weights.items()}
        self.network.restore(self.best)
        return TrainedNetwork(
            self.network, last, self.vocabulary, self.longest, tuple(self.history)
        )


def _matrix(scores: Features, items: Sequence[str], device: str) -> Tensor:
    return need_torch().from_numpy(np.array(scores.take(items).matrix)).to(device)


@contextmanager
def _deterministic(torch: ModuleType, device: str) -> Iterator[None]:
    """Compute the same at every run; on a GPU as far as its kernels can."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    before = torch.are_deterministic_algorithms_enabled()
    fill = torch.utils.deterministic.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True, warn_only=device == "cuda")
    # Nothing here reads memory before it is written; filling it would double a GPU's kernels.
    torch.utils.deterministic.fill_uninitialized_memory = False
    try:
        yield
    finally:
        torch.utils.deterministic.fill_uninitialized_memory = fill
        torch.use_deterministic_algorithms(before)
