"""Writes tests/golden/published.npz: numbers from which published results come out again.

    python tools/make_published_golden.py DATA        (DATA: the folder ../shared/data)

It holds scores alone, no captions, texts or names: of TRECVid's judged captions people's z scores
beside our scores of metrics; of the campaign of EACL 2017 the judgments as numbers; of WMT22 the
mean z scores of segments. Beside them are the numbers that were published. With these a clone
without the data sets can still prove what tests/parity/test_published.py says.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from reelscore.campaigns.evaluate.quality import check_quality
from reelscore.campaigns.imports.judgment_files import read_judgments
from reelscore_studies.judged import trecvid_ha
from reelscore_studies.repro import bertha
from reelscore_studies.repro.direct_assessment import replicate

GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "published.npz"
METRICS = ("bleu_4", "cider", "meteor", "rouge_l", "spice")
KINDS = ("caption", "repeat", "degraded", "reference", "test")
STEP = 10_000  # scores of metrics are whole numbers of this fraction


def main(data: Path) -> None:
    arrays = {**trecvid(data / "trecvid-vtt-ha"), **eacl(data / "da-eacl2017-runA")}
    arrays |= wmt(data / "da-wmt22")
    np.savez_compressed(GOLDEN, **arrays)


def trecvid(data: Path) -> dict[str, np.ndarray]:
    """Return codes of systems, people's scores and the metrics', by setting and year."""
    arrays = {}
    for setting in bertha.SETTINGS:
        for year in trecvid_ha.YEARS:
            folder = f"MA-{year}"
            judged = bertha._score(data, folder, setting)
            judged = bertha._with_spice(data, judged, folder, setting)
            key = f"{setting.replace(' ', '_')}_{year}"
            rows = np.stack([judged.human, *(judged.metrics[name] for name in METRICS)])
            arrays[f"{key}_scores"] = np.round(rows * STEP).astype(np.int32)
            arrays[f"{key}_systems"] = np.unique(judged.systems, return_inverse=True)[1].astype(
                "u1"
            )
    means = replicate(data).means
    arrays["second_crowd"] = np.array([[row["raw"][1], row["z"][1]] for row in means.values()])
    return arrays


def eacl(folder: Path) -> dict[str, np.ndarray]:
    """Return the judgments that count, by number, and the published tests of raters."""
    judgments = read_judgments(sorted((folder / "batches").glob("*.csv"))).judgments
    quality = check_quality(judgments)
    tested = [rater.rater for rater in quality.raters if rater.verdict != "rejected"]
    kinds = np.array([KINDS.index(name) for name in judgments.kind.names])
    raters = np.array(judgments.rater.names)[judgments.rater.codes]
    kept = np.isin(raters, tested)
    codes = {name: getattr(judgments, name).codes[kept] for name in ("rater", "hit", "item")}
    published = {row[0]: row[1:] for row in table(folder / "ad-trk-stats.csv")}
    classes = dict(table(folder / "ad-trk-stats.class"))
    names = [name for name in judgments.rater.names if name in published]
    good = np.array([classes[name] == "good" for name in names])
    segments = {row[3]: row[4:] for row in table(folder / "seg-key-enes")[1:]}
    items = [name for name in judgments.item.names if name in segments]
    return {
        "eacl_codes": np.stack([*codes.values(), judgments.position[kept]]).astype(np.int16),
        "eacl_kinds": kinds[judgments.kind.codes[kept]].astype("u1"),
        "eacl_scores": judgments.score[kept].astype(np.int16),
        "eacl_raters": np.array([judgments.rater.names.index(name) for name in names]),
        "eacl_tests": np.array([[float(number) for number in published[name]] for name in names]),
        "eacl_good": good,
        "eacl_items": np.array([judgments.item.names.index(name) for name in items]),
        "eacl_segments": np.array([[float(x) for x in segments[name]] for name in items]),
    }


def wmt(folder: Path) -> dict[str, np.ndarray]:
    """Return the z scores of each system's segments, and the published p-values and wins."""
    scores: dict[str, list[float]] = {}
    for system, _, _, z, _ in table(folder / "ad-seg-scores-cs-en.csv")[1:]:
        scores.setdefault(system, []).append(float(z))
    first, *rows = table(folder / "adwilcox-csen.csv")
    wins = {row[7]: row[2] for row in table(folder / "clusters.csv") if row[0] == "cs"}
    ends = {row[7]: row[6] == "True" for row in table(folder / "clusters.csv") if row[0] == "cs"}
    return {
        "wmt_scores": np.concatenate([scores[name] for name in first]),
        "wmt_counts": np.array([len(scores[name]) for name in first]),
        "wmt_p": np.array([[float(number) for number in row[1:]] for row in rows]),
        "wmt_wins": np.array([int(wins[name]) for name in first]),
        "wmt_ends": np.array([ends[name] for name in first]),
    }


def table(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines() if line.strip()]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
