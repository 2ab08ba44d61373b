"""The matrices of the BERTHA paper: which metric agrees better with people, by Williams' test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reelscore.meta.judged import Judged
from reelscore.meta.repro_metrics import LEARNED, METRICS
from reelscore.metrics.base import FloatArray
from reelscore.stats.correlation_tests import williams
from reelscore.stats.correlations import pearson


def williams_matrix(folders: Sequence[Judged], level: str) -> list[list[float]]:
    """Test every metric against every other, over all years together, on sizes of r."""

    def column(parts: Sequence[FloatArray]) -> FloatArray:
        if level == "system":
            parts = [each.by_system(part) for each, part in zip(folders, parts, strict=True)]
        return np.concatenate(parts)

    human = column([each.human for each in folders])
    names = [m for m in (*METRICS.values(), *LEARNED.values()) if m in folders[0].metrics]
    scores = [column([each.metrics[m] for each in folders]) for m in names]
    r = [float(pearson(human, values)) for values in scores]
    return [
        [
            float("nan")
            if one == two
            else williams(
                r[one], r[two], float(pearson(scores[one], scores[two])), len(human), absolute=True
            ).p
            for two in range(len(scores))
        ]
        for one in range(len(scores))
    ]
