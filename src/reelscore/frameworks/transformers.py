"""A callback for the Trainer of Transformers: captions are made and scored at each evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from reelscore.data.captions.python_captions import CaptionsLike
from reelscore.errors import MissingExtraError
from reelscore.frameworks import gather
from reelscore.metrics.registry import DEFAULT_METRICS
from reelscore.scoring.captions import Metrics
from reelscore.scoring.scorer import Id, Scorer

try:
    import torch
    from transformers import TrainerCallback
except ImportError as error:
    raise MissingExtraError.of(
        "reelscore.frameworks.transformers needs transformers and torch",
        *("transformers", "torch", "accelerate"),
    ) from error

CaptionBatch = Callable[[Any, Any], tuple[Iterable[Id], Iterable[str]]]


class CaptionScores(TrainerCallback):
    """Scores the captions of the evaluation set, and adds them to the trainer's metrics.

    They are named as its own are, ``eval_cider``, so ``metric_for_best_model="cider"`` and early
    stopping can go by them. Every process captions its share of the batches.

    Args:
        references: The human captions of each item of the evaluation set.
        caption: Gets the model and a batch of the evaluation set; gives the ids of the batch's
            items, and their captions. Ids reach it with ``remove_unused_columns=False``.
        metrics: As in `reelscore.score`.
        log: Where scores are logged, such as the trainer's ``log``; without, they are added to
            the log's history alone.
        settings: Arguments of `reelscore.Scorer`, such as ``missing`` and ``repeated``.

    >>> references = {"v1": ["a man runs"]}
    >>> scores = CaptionScores(references, lambda model, batch: (["v1"], ["a man"]), "rouge_l")
    """

    def __init__(
        self,
        references: CaptionsLike,
        caption: CaptionBatch,
        metrics: Metrics = DEFAULT_METRICS,
        *,
        log: Callable[[dict[str, float]], None] | None = None,
        **settings: Any,
    ) -> None:
        self._scorer = Scorer(references, metrics, **settings)
        self._caption = caption
        self._log = log

    def on_evaluate(self, args: Any, state: Any, control: Any, **context: Any) -> None:
        """Caption and score the evaluation set."""
        model, metrics = context["model"], context["metrics"]
        self._scorer.reset()
        was_training = model.training
        model.eval()
        with torch.no_grad():
            for batch in context["eval_dataloader"]:
                ids, captions = self._caption(model, batch)
                self._scorer.update(ids, captions)
        model.train(was_training)
        gather(self._scorer)
        prefix = next(
            (key.removesuffix("runtime") for key in metrics if key.endswith("_runtime")), "eval_"
        )
        scores = {
            f"{prefix}{name}": result.score for name, result in self._scorer.compute().items()
        }
        self._scorer.reset()
        metrics.update(scores)
        if self._log is None:
            state.log_history.append({**scores, "step": state.global_step})
        else:
            self._log(scores)
