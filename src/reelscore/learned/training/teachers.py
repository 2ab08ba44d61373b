"""A teacher: a trained model that scores the pairs of texts a smaller network learns from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reelscore._packages import need
from reelscore._progress import Progress
from reelscore.errors import DataError
from reelscore.learned.model_files import read_info, read_weights
from reelscore.learned.networks.bert import unpacked
from reelscore.learned.networks.cross_encoder import Tensors
from reelscore.learned.networks.pair_scores import PairScorer
from reelscore.learned.networks.sentence_vectors import FloatArray

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
