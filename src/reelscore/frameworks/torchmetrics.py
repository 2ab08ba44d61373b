"""A metric for torchmetrics: states are gathered across processes as it does with its own."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore.data.captions.paired_captions import Empty, Missing
from reelscore.data.captions.python_captions import CaptionsLike
from reelscore.errors import MissingExtraError
from reelscore.metrics.registry import DEFAULT_METRICS
from reelscore.scoring.captions import Metrics
from reelscore.scoring.scorer import Id, Repeated, Scorer, ScorerState, fingerprint
from reelscore.text.tokens import Tokenizer

try:
    import torch
    import torchmetrics
    from torchmetrics.utilities import dim_zero_cat
except ImportError as error:
    raise MissingExtraError.of(
        "reelscore.frameworks.torchmetrics needs torchmetrics", "torchmetrics"
    ) from error

_HEAD = 3  # columns before the statistics: item, caption, and references with settings


class CaptionMetric(torchmetrics.Metric):
    """Scores of captions that come in batches, in one process or several.

    Its state is one tensor of integers: a row for each item, with the bits of its statistics.
    So moving it between devices, or to half precision, changes no score.

    Args:
        references: The human captions of each item; the same in every process.
        metrics: As in `reelscore.score`.
        tokenizer: As in `reelscore.Scorer`.
        missing: As in `reelscore.Scorer`, for `compute`.
        empty: As in `reelscore.Scorer`.
        repeated: As in `reelscore.Scorer`: items that a sampler gave twice.
        threads: As in `reelscore.Scorer`.
        settings: Arguments of `torchmetrics.Metric`, such as ``process_group``.

    >>> metric = CaptionMetric({"v1": ["a man runs"], "v2": ["a dog"]}, "rouge_l")
    >>> metric.update(["v1"], ["a man"])
    >>> metric.update(["v2", "v1"], ["a dog", "a man"])  # the last batch is filled up
    >>> metric.compute()
    {'rouge_l': tensor(0.8861, dtype=torch.float64)}
    """

    full_state_update = False
    is_differentiable = False
    higher_is_better = None
    rows: Any

    def __init__(
        self,
        references: CaptionsLike,
        metrics: Metrics = DEFAULT_METRICS,
        *,
        tokenizer: Tokenizer = "ptb",
        missing: Missing = "error",
        empty: Empty = "error",
        repeated: Repeated = "equal",
        threads: int | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self._scorer = Scorer(
            references,
            metrics,
            tokenizer=tokenizer,
            missing=missing,
            empty=empty,
            repeated=repeated,
            threads=threads,
        )
        self.add_state("rows", default=[], dist_reduce_fx="cat")

    def update(self, ids: Iterable[Id], captions: Iterable[str]) -> None:
        """Take the captions of a batch."""
        self._scorer.reset()
        self._scorer.update(ids, captions)
        state = self._scorer.state()
        if len(state.items):
            self.rows.append(torch.from_numpy(self._packed(state)).to(self.device))

    def compute(self) -> dict[str, torch.Tensor]:
        """Return each score of all captions taken, of all processes."""
        return self._scores(self.rows)

    def forward(self, ids: Iterable[Id], captions: Iterable[str]) -> dict[str, torch.Tensor]:
        """Take the captions of a batch, and give the scores of these alone."""
        taken = len(self.rows)
        self.update(ids, captions)
        return self._scores(self.rows[taken:], "skip") if len(self.rows) > taken else {}

    def sync(self, *arguments: Any, **options: Any) -> None:
        """Gather the states of all processes, also of those that had no caption."""
        if isinstance(self.rows, list) and not self.rows:
            columns = _HEAD + sum(self._scorer.widths)
            self.rows.append(torch.empty((0, columns), dtype=torch.int64, device=self.device))
        super().sync(*arguments, **options)

    def set_dtype(self, dst_type: Any) -> CaptionMetric:
        """Keep the state as it is: bits have no precision that could be changed."""
        return self

    def _scores(self, rows: Any, missing: Missing | None = None) -> dict[str, torch.Tensor]:
        self._scorer.reset()
        if len(rows):
            self._scorer.merge(self._unpacked(dim_zero_cat(rows).cpu().numpy()))
        scores = self._scorer.compute(missing=missing)
        self._scorer.reset()
        kind = torch.float32 if self.device.type == "mps" else torch.float64
        return {
            name: torch.tensor(result.score, dtype=kind, device=self.device)
            for name, result in scores.items()
        }

    def _packed(self, state: ScorerState) -> NDArray[np.int64]:
        origin = np.full(len(state.items), fingerprint(state.origin), dtype=np.int64)
        bits = [np.ascontiguousarray(rows).view(np.int64) for rows in state.statistics]
        return np.column_stack([state.items, state.captions, origin, *bits])

    def _unpacked(self, rows: NDArray[np.int64]) -> ScorerState:
        items, captions, origins = np.ascontiguousarray(rows[:, :_HEAD].T)
        bounds = np.cumsum([_HEAD, *self._scorer.widths])
        statistics = [
            np.ascontiguousarray(rows[:, begin:end]).view(np.float64)
            for begin, end in pairwise(bounds)
        ]
        own = self._scorer.origin
        same = bool((origins == fingerprint(own)).all())
        return ScorerState(items, statistics, own if same else "another", captions)
