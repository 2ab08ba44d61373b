"""Table 5 of the Direct Assessment paper: how well a second crowd agrees with the first.

The paper printed the first crowd's means of six systems (Table 4) and their correlation with a
second collection (Table 5). The single-annotator judgments of 2016 are that second collection.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from reelscore.data.datasets import trecvid_ha
from reelscore.stats.correlations import pearson
from reelscore_studies.published import published


class Replication(NamedTuple):
    """Means of both collections, and how they correlate.

    Attributes:
        means: For each system, the printed and the recomputed mean, raw and z.
        correlations: ``raw`` and ``z``: recomputed, and as the paper prints it.
    """

    means: dict[str, dict[str, tuple[float, float]]]
    correlations: dict[str, tuple[float, float]]


def replicate(path: str | Path) -> Replication:
    """Recompute Table 5 from the single-annotator judgments of 2016."""
    tables = published("direct_assessment")["tables"]
    human = trecvid_ha.load(path, "SA-2016", people=True).human
    means = {
        str(row["name"]): {s: (row[s], human[system][s].score) for s in ("raw", "z")}
        for system, row in tables["4"].items()
    }
    correlations = {
        scale: (
            float(pearson(*zip(*(row[scale] for row in means.values()), strict=True))),
            tables["5"][scale],
        )
        for scale in ("raw", "z")
    }
    return Replication(means, correlations)
