"""Keep the official SPICE tool's counts of the captions in BERTHA's Tables 2 and 4.

    python tools/keep_spice_scores.py TRECvid-VTT_HA SCORES

SCORES is a folder with bertha_as_published.jsonl.gz and bertha_aligned.jsonl.gz: a line for each
judged caption, with image_id (year/system/item) and the counts tp, fp, fn that SPICE 1.0 gave it
against HUMAN-B's caption. Writes studies/reelscore_studies/published/bertha_spice.npz.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

from reelscore_studies.judged import trecvid_ha
from reelscore_studies.repro.bertha import write_counts

TARGET = (
    Path(__file__).resolve().parents[1] / "studies/reelscore_studies/published/bertha_spice.npz"
)


def main(copy: str, scores: str) -> None:
    kept = []
    for name, reading in (("as_published", "as-published"), ("aligned", "aligned")):
        counts = {}
        with gzip.open(Path(scores, f"bertha_{name}.jsonl.gz"), "rt") as file:
            for row in map(json.loads, file):
                tp, fp, fn = row["tp"], row["fp"], row["fn"]
                counts[row["image_id"]] = (tp, tp + fp, tp + fn)
        for year in trecvid_ha.YEARS:
            data = trecvid_ha.load(copy, f"MA-{year}", reading=reading)
            rows = [counts[f"{year}/{system}/{item}"] for system, item in data.rows]
            kept.append((data, rows))
    write_counts(TARGET, kept)


if __name__ == "__main__":
    main(*sys.argv[1:])
