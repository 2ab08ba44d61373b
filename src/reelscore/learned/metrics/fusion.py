"""Fusion: linear regression over other metrics, fitted to human judgments (Lebron et al., 2022).

Scale: people's standardised score, higher is better. ``classical`` combines BLEU-4, ROUGE-L, METEOR
and CIDEr and needs no torch; ``learned`` adds BERTHA and sentence similarity. The coefficients come
with reelscore, with what they were fitted on; ``reelscore ensemble`` fits others, of any metrics,
and ``ensemble`` is another name of this metric. CIDEr
depends on the set that is scored, and so does the fusion: do not use it for a handful of captions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from reelscore._records import resolved
from reelscore.data.atomic_files import write_atomically
from reelscore.data.tables.scales import Scale
from reelscore.errors import DataError
from reelscore.metrics.base import FloatArray, Metric, Reads, with_count
from reelscore.metrics.registry import MetricColumns, table_columns
from reelscore.metrics.training_data import TrainingItems
from reelscore.text.tokens import PENN_TREEBANK
from reelscore.text.words import CaptionBatch, Captions

SHIPPED = ("classical", "learned")


class Coefficients(msgspec.Struct, frozen=True):
    """A fitted regression, as stored in JSON."""

    metrics: list[str]  # names or signatures of the metrics to compute
    weights: dict[str, float]  # by score, such as ``bleu_4``; of the score as the metric gives it
    intercept: float  # what is added
    provenance: dict[str, Any] = {}  # what it was fitted on, and how well it fits
    # hashes of the references of the items it was fitted on, by group, as
    # `reelscore.metrics.training_data.TrainingItems.encoded` gives them
    training_items: dict[str, str] = {}


@dataclass(frozen=True)
class Fusion(Metric):
    """A weighted sum of other metrics' scores.

    Attributes:
        weights: ``classical``, ``learned``, or a file of coefficients.

    >>> from reelscore import score
    >>> results = score({"v1": "a man rides a horse", "v2": "a dog sleeps"},
    ...                 {"v1": ["a man is riding a horse"], "v2": ["two women are cooking"]},
    ...                 metrics="fusion")
    >>> results["fusion"].items["v1"] > results["fusion"].items["v2"]
    True
    """

    weights: str = "classical"
    name: ClassVar[str] = "fusion"
    reads: ClassVar[Reads] = "english"
    tokenizers: ClassVar[tuple[str, ...]] = PENN_TREEBANK
    output_scale: ClassVar[Scale] = Scale("high", mean=True, label="Fusion")

    def files(self) -> dict[str, str]:
        """Return the file of coefficients, where it is not a shipped one."""
        return {} if self.weights in SHIPPED else {"weights": self.weights}

    def training_items(self) -> TrainingItems | None:
        """Return the items it was fitted on, and those its metrics were trained on."""
        stored = read_coefficients(self.weights).training_items
        own = TrainingItems.decoded(stored) if stored else None
        parts = [columns.metric.training_items() for columns in _columns(self.weights)]
        return TrainingItems.together([own, *parts])

    def unseen_remedy(self, groups: Sequence[str]) -> str:
        """Fit it again without these items."""
        return "Fit it without them: 'reelscore ensemble'."

    @property
    def weighs_all_references(self) -> bool:
        """Where one of its metrics does."""
        return any(columns.metric.weighs_all_references for columns in _columns(self.weights))

    @property
    def one_process(self) -> bool:
        """Where one of its metrics needs it."""
        return any(columns.metric.one_process for columns in _columns(self.weights))

    def prepare(self, references: Captions, reference_offsets: NDArray[np.int64]) -> list[object]:
        """Prepare every metric of the fusion."""
        metrics = [columns.metric for columns in _columns(self.weights)]
        return [metric.prepare(references, reference_offsets) for metric in metrics]

    def statistics(self, batch: CaptionBatch, prepared: list[object]) -> FloatArray:
        """Return the weighted sum, and 1."""
        stored = read_coefficients(self.weights)
        total = np.full(len(batch.items), stored.intercept)
        for columns, its_own in zip(_columns(self.weights), prepared, strict=True):
            metric = columns.metric
            scores = metric.scores(np.asarray(metric.statistics(batch, its_own)))
            for k, name in enumerate(columns.names):
                if name in stored.weights:
                    total += stored.weights[name] * scores[:, k]
        rows = with_count(total)
        rows[np.isnan(total)] = 0  # a caption that one of the metrics has no score for
        return rows

    def notes(self, prepared: list[object]) -> list[str]:
        """Return what its metrics have to say."""
        own = zip(_columns(self.weights), prepared, strict=True)
        return [note for columns, part in own for note in columns.metric.notes(part)]


def write_coefficients(path: str | Path, coefficients: Coefficients) -> None:
    """Write a fusion as JSON, to be named in ``fusion|weights:FILE``."""
    write_atomically(path, msgspec.json.format(msgspec.json.encode(coefficients)) + b"\n")


def read_coefficients(weights: str) -> Coefficients:
    """Read a shipped fusion by name, or a file.

    >>> sorted(read_coefficients("classical").weights)
    ['bleu_4', 'cider', 'meteor', 'rouge_l']
    """
    return _stored(weights, _state(weights))


def _state(weights: str) -> tuple[int, ...]:
    """Distinguish a file of coefficients from another that is written in its place."""
    try:
        state = Path(weights).stat()
    except OSError:
        return ()
    return (state.st_ino, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=8)
def _stored(weights: str, state: tuple[int, ...]) -> Coefficients:
    if weights in SHIPPED:
        data = files("reelscore.learned.metrics").joinpath(f"fusions/{weights}.json").read_bytes()
    else:
        try:
            data = Path(weights).read_bytes()
        except OSError as error:
            raise DataError(
                f"fusion: {weights}: cannot be read ({error.strerror}); expected "
                f"{' or '.join(SHIPPED)}, or a file that 'reelscore ensemble' wrote."
            ) from error
    try:
        stored = msgspec.json.decode(data, type=resolved(Coefficients))
    except msgspec.DecodeError as error:
        raise DataError(f"{weights}: not the coefficients of a fusion: {error}.") from error
    return stored


def _columns(weights: str) -> tuple[MetricColumns, ...]:
    return _made(weights, _state(weights))


@lru_cache(maxsize=8)
def _made(weights: str, state: tuple[int, ...]) -> tuple[MetricColumns, ...]:
    stored = _stored(weights, state)
    columns = tuple(table_columns(stored.metrics))
    for own in columns:
        if isinstance(own.metric, Fusion):
            inner = own.metric.signature()
            raise DataError(f"{weights}: a fusion cannot contain another one ({inner}); remove it.")
        check_independent(own.metric)
    given = {name for own in columns for name in own.names}
    if unknown := [name for name in stored.weights if name not in given]:
        raise DataError(f"{weights}: no metric of it gives {unknown[0]!r}, which has a weight.")
    return columns


def check_independent(metric: Metric) -> None:
    """Refuse a metric whose scores of captions depend on what else is scored with them."""
    if not metric.independent:
        raise DataError(
            f"{metric.name} scores all captions of a system together, and cannot be part of an "
            "ensemble, which scores each by itself; leave it out."
        )
