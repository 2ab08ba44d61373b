"""Scores of a model while it trains, logged to TensorBoard and Weights & Biases.

Neither is needed: what is given as a writer need only have the methods of TensorBoard's
``SummaryWriter`` or of a run of ``wandb``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from reelscore._packages import need
from reelscore.errors import DataError, MissingExtraError
from reelscore.metrics.registry import DEFAULT_METRICS
from reelscore.report.safe_text import legible
from reelscore.scoring.captions import Metrics
from reelscore.scoring.scorer import Scorer
from reelscore.scoring.scores import Scores


class TensorBoardWriter(Protocol):
    """What is used of TensorBoard's ``SummaryWriter``."""

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> object:
        """Log a number."""

    def add_text(self, tag: str, text_string: str, global_step: int) -> object:
        """Log a text."""


class WandbRun(Protocol):
    """What is used of a run of Weights & Biases."""

    def log(self, data: dict[str, object], step: int) -> object:
        """Log numbers and tables."""


class TrainingLog:
    """A callback for training loops: give it the captions of a step, and it scores and logs them.

    References are prepared once. Scores appear as ``captions/meteor`` and so on, and the captions
    of a few items beside their references as text.

    Args:
        references: The references of each item.
        metrics: What to score; as in `reelscore.score`.
        tensorboard: A ``SummaryWriter``, or the folder for one.
        wandb: A run of Weights & Biases, or ``True`` for the one that is active.
        examples: Items whose captions are logged: their ids, or how many of the first.
        prefix: What stands before the names.
        options: Further options of `reelscore.Scorer`, such as ``missing="skip"``.

    Raises:
        MissingExtraError: A folder is given but no package that writes for TensorBoard is
            installed, or ``wandb=True`` without the package wandb.

    >>> class Writer:
    ...     def add_scalar(self, tag, scalar_value, global_step):
    ...         print(global_step, tag, round(scalar_value, 2))
    ...     def add_text(self, tag, text_string, global_step):
    ...         print(text_string.splitlines()[-1])
    >>> log = TrainingLog({"v1": ["a man is running"]}, "rouge_l", tensorboard=Writer(), examples=1)
    >>> scores = log(100, {"v1": "a man runs"})
    100 captions/rouge_l 0.56
    | v1 | a man runs | a man is running |
    """

    def __init__(
        self,
        references: Mapping[str, Sequence[str]],
        metrics: Metrics = DEFAULT_METRICS,
        *,
        tensorboard: TensorBoardWriter | str | Path | None = None,
        wandb: WandbRun | bool | None = None,
        examples: int | Sequence[str] = 8,
        prefix: str = "captions",
        **options: Any,
    ) -> None:
        self._scorer = Scorer(references, metrics, **options)
        self._references = references
        chosen = list(references)[:examples] if isinstance(examples, int) else list(examples)
        for item in chosen:
            if item not in references:
                raise DataError(f"The example {item!r} has no references; choose another item.")
        self._examples = chosen
        self._prefix = prefix
        self._tensorboard = tensorboard_writer(tensorboard)
        self._wandb = _wandb(wandb)

    def __call__(self, step: int, captions: Mapping[str, str]) -> Scores:
        """Score the captions of a step or an epoch and log them; all, or as ``missing`` allows."""
        self._scorer.reset()
        self._scorer.update(captions)
        scores = self._scorer.compute()
        named = {f"{self._prefix}/{name}": result.score for name, result in scores.items()}
        rows = [
            (item, captions[item], " / ".join(self._references[item]))
            for item in self._examples
            if item in captions
        ]
        if self._tensorboard is not None:
            for name, value in named.items():
                self._tensorboard.add_scalar(name, value, global_step=step)
            if rows:
                text = _markdown(rows)
                self._tensorboard.add_text(f"{self._prefix}/examples", text, global_step=step)
        if self._wandb is not None:
            table = {f"{self._prefix}/examples": _wandb_table(rows)} if rows else {}
            self._wandb.log({**named, **table}, step=step)
        return scores


def tensorboard_writer(given: TensorBoardWriter | str | Path | None) -> TensorBoardWriter | None:
    """Return a writer for TensorBoard, in the folder that is given, or the one that is given."""
    if given is None or not isinstance(given, str | Path):
        return given
    writer: TensorBoardWriter = summary_writer()(str(given))
    return writer


def summary_writer() -> Any:
    """Return the class of writers for TensorBoard, from a package that has one."""
    for module in ("torch.utils.tensorboard", "tensorboardX"):
        try:
            return import_module(module).SummaryWriter
        except ImportError:
            continue
    raise MissingExtraError.of(
        "Writing for TensorBoard needs torch and tensorboard, or tensorboardX", "tensorboardX"
    )


def _wandb(given: WandbRun | bool | None) -> WandbRun | None:
    if given is None or given is False:
        return None
    if given is not True:
        return given
    package = need("wandb", "wandb", "Logging to Weights & Biases needs")
    if package.run is None:
        raise DataError("No run of Weights & Biases is active; call wandb.init() first.")
    run: WandbRun = package.run
    return run


def _markdown(rows: Sequence[tuple[str, str, str]]) -> str:
    def cell(text: str) -> str:
        return legible(text).replace("|", "\\|").replace("<", "&lt;")

    lines = ["| item | caption | references |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(map(cell, row))} |" for row in rows)])


def _wandb_table(rows: Sequence[tuple[str, str, str]]) -> object:
    """Return a table where wandb is there to make one, plain rows for any other logger."""
    try:
        package = import_module("wandb")
    except ImportError:
        return [list(row) for row in rows]
    return package.Table(columns=["item", "caption", "references"], data=[list(r) for r in rows])
