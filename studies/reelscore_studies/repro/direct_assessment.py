"""Tables 1, 5 and 6 of the Direct Assessment paper, as far as the public data go.

The paper printed the first crowd's means of six systems (Table 4) and their correlation with a
second collection (Table 5). The single-annotator judgments of 2016 are that second collection.
They come with the systems' captions, so that metrics can be compared with the printed means
(Table 6), and captions with each other (Table 1). The service for semantic similarity that both
tables used is gone; a metric stands in for it. The judgments of the first collection, and the
official scores of the metrics, are not public.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from reelscore._progress import Progress
from reelscore.scoring.captions import score_systems
from reelscore.stats.correlations import pearson
from reelscore_studies.analysis.similarity import compare_writers
from reelscore_studies.judged import trecvid_ha
from reelscore_studies.published import published


class Replication(NamedTuple):
    """What comes out beside what is printed.

    Attributes:
        means: For each system, the printed and the recomputed mean, raw and z (Tables 4 and 5).
        correlations: ``raw`` and ``z``: recomputed, and as Table 5 prints it.
        likeness: For each system, how like its captions are to the others' (Table 1): printed, by
            the service, and recomputed, by `similarity`.
        metrics: For each metric, its correlation with the printed z of the five systems (Table
            6): printed, and recomputed.
        similarity: The metric in place of the service.
    """

    means: dict[str, dict[str, tuple[float, float]]]
    correlations: dict[str, tuple[float, float]]
    likeness: dict[str, tuple[float, float]]
    metrics: dict[str, tuple[float, float]]
    similarity: str


def replicate(
    path: str | Path, similarity: str = "meteor", *, progress: Progress | None = None
) -> Replication:
    """Recompute the tables from the single-annotator data of 2016."""
    tables = published("direct_assessment")["tables"]
    data = trecvid_ha.load(path, "SA-2016", people=True)
    names = {system: str(row["name"]) for system, row in tables["4"].items()}
    means = {
        names[system]: {s: (row[s], data.human[system][s].score) for s in ("raw", "z")}
        for system, row in tables["4"].items()
    }
    correlations = {
        scale: (
            float(pearson(*zip(*(row[scale] for row in means.values()), strict=True))),
            tables["5"][scale],
        )
        for scale in ("raw", "z")
    }
    writers = {system: data.candidates[system] for system in tables["1"]}
    alike = compare_writers(writers, similarity, progress=progress)
    likeness = {
        names[system]: (tables["1"][system], value)
        for system, value in zip(alike.names, alike.to_others.tolist(), strict=True)
    }
    systems = {s: texts for s, texts in writers.items() if not s.startswith("HUMAN-")}
    people = [data.annotators["HUMAN-A"], data.candidates["HUMAN-B"]]
    references = {item: [texts[item] for texts in people] for item in data.items}
    wanted = ",".join(dict.fromkeys(("bleu", "meteor", similarity)))
    scored = score_systems(systems, references, wanted, empty="zero")
    human = [tables["4"][system]["z"] for system in systems]
    columns = {"bleu_4": "bleu_4", "meteor": "meteor", "sts": alike.metric}
    metrics = {
        name: (
            tables["6"][name],
            float(pearson(human, [scored[system][column].score for system in systems])),
        )
        for name, column in columns.items()
    }
    return Replication(means, correlations, likeness, metrics, alike.metric)
