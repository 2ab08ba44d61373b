"""A callback for Lightning: what validation steps return is scored when the epoch is over."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from reelscore.data.captions.python_captions import CaptionsLike
from reelscore.data.checks import in_words
from reelscore.errors import DataError, MissingExtraError
from reelscore.frameworks import gather
from reelscore.metrics.registry import DEFAULT_METRICS
from reelscore.scoring.captions import Metrics
from reelscore.scoring.scorer import Scorer

try:
    # Lightning is installed under two names: take the one that the program uses.
    if "pytorch_lightning" in sys.modules:
        from pytorch_lightning import Callback
    else:
        try:
            from lightning.pytorch import Callback
        except ImportError:
            from pytorch_lightning import Callback
except ImportError as error:
    raise MissingExtraError.of(
        "reelscore.frameworks.lightning needs Lightning", "lightning"
    ) from error


class CaptionScores(Callback):
    """Scores the captions of each validation epoch, and logs them: ``val_cider``.

    `validation_step` returns a mapping with ``ids`` and ``captions`` of its batch. Checkpoints
    and early stopping can go by the scores (``monitor="val_cider"``). The check before training
    sees a few batches only, and is not scored.

    Args:
        references: The human captions of each item of the validation set.
        metrics: As in `reelscore.score`.
        prefix: What the names of logged scores begin with.
        settings: Arguments of `reelscore.Scorer`, such as ``missing`` and ``repeated``.

    >>> scores = CaptionScores({"v1": ["a man runs"]}, "cider", prefix="val/")
    """

    def __init__(
        self,
        references: CaptionsLike,
        metrics: Metrics = DEFAULT_METRICS,
        *,
        prefix: str = "val_",
        **settings: Any,
    ) -> None:
        super().__init__()
        self._scorer = Scorer(references, metrics, **settings)
        self._prefix = prefix

    def on_validation_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Forget the captions of an epoch that was not finished."""
        self._scorer.reset()

    def on_validation_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, *batch: Any, **options: Any
    ) -> None:
        """Take the captions of a batch."""
        if not isinstance(outputs, Mapping) or not {"ids", "captions"} <= set(outputs):
            raise DataError(
                f"validation_step returned {_described(outputs)}; expected a mapping with 'ids' "
                "and 'captions' of the batch."
            )
        self._scorer.update(outputs["ids"], outputs["captions"])

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Score the captions of all processes, and log the scores."""
        if trainer.sanity_checking:
            return
        gather(self._scorer)
        scores = self._scorer.compute()
        self._scorer.reset()
        values = {f"{self._prefix}{name}": result.score for name, result in scores.items()}
        pl_module.log_dict(values, sync_dist=True)


def _described(outputs: object) -> str:
    if isinstance(outputs, Mapping):
        return f"a mapping with {', '.join(map(repr, outputs)) or 'nothing'}"
    return "nothing" if outputs is None else in_words(outputs)
