"""The resampled scores of one submission, kept so that any two can be compared by subtraction.

All submissions of a split are resampled with the same draws: these depend on the seed and on the
number of items alone, and the items stand in the split's order.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from reelscore.data.tables.table import ScoreTable
from reelscore.errors import DataError
from reelscore.scoring.intervals import groups_of, resampled
from reelscore.stats.resampling import FloatArray, percentile_interval


@dataclass(frozen=True, eq=False)
class Resamples:
    """The scores of one submission in every resample of a split."""

    samples: Mapping[str, FloatArray]  # the score in each resample, by score

    @property
    def names(self) -> list[str]:
        """The scores, in the order of the columns that `to_bytes` writes."""
        return list(self.samples)

    def to_bytes(self) -> bytes:
        """Write resamples × scores as a NumPy file."""
        columns = list(self.samples.values())
        out = io.BytesIO()
        np.save(out, np.column_stack(columns) if columns else np.zeros((0, 0)), allow_pickle=False)
        return out.getvalue()

    @classmethod
    def from_bytes(cls, names: Sequence[str], data: bytes) -> Resamples:
        """Read what `to_bytes` wrote; nothing in the file is run."""
        array = np.load(io.BytesIO(data), allow_pickle=False)
        return cls({name: np.ascontiguousarray(array[:, k]) for k, name in enumerate(names)})

    def interval(self, score: str, level: float = 0.95) -> tuple[float, float] | None:
        """The interval that holds the middle share of the resamples; ``None`` without draws.

        >>> Resamples({"cider": np.arange(101.0)}).interval("cider", 0.5)
        (25.0, 75.0)
        """
        if score not in self.samples or np.isnan(self.samples[score]).any():
            return None
        low, high = percentile_interval(self.samples[score][:, None], level)[:, 0]
        return float(low), float(high)


NO_RESAMPLES = Resamples({})


@dataclass(frozen=True)
class ScoredSplit:
    """The scores of one split, as a scorer gives them."""

    scores: Sequence[tuple[str, float, str]]  # name, value and signature of each score
    draws: Resamples  # the resampled scores
    # names of the columns and NumPy file of ``items`` and ``statistics``
    arrays: Mapping[str, tuple[Sequence[str], bytes]] = field(default_factory=dict)


def draw_scores(table: ScoreTable, items: Sequence[str], resamples: int, seed: int) -> Resamples:
    """Resample the scores of one submission."""
    if len(table.systems) != 1:
        raise DataError(f"A submission is one system; the table has {len(table.systems)}.")
    [system] = table.systems
    groups = groups_of(table)[0]
    whole = [group for group in groups if len(group.rows[0]) == len(items)]
    for group in whole:
        result = next(table[system][name] for name in group.outputs if name in table[system])
        order = result.statistics.items if result.statistics else result.items.index.items
        if list(order) != list(items):
            raise DataError(
                f"The items of {system!r} are in another order than those of the split; score "
                "them in the split's order, so that resamples are of the same items."
            )
    samples: dict[str, FloatArray] = {}
    for group, drawn in resampled(whole, resamples, seed):
        for k, name in enumerate(group.outputs):
            if name in table[system]:
                samples[name] = np.ascontiguousarray(drawn[:, 0, k])
    return Resamples({name: samples[name] for name in table.metrics if name in samples})
