"""How far BERTHA's figures depend on the seed: the runs of train_bertha.py side by side.

    python tools/compare_seeds.py judged.jsonl SIMILARITIES.npz OUT [OUT …]

Each OUT is the folder of a run, with years held out. SIMILARITIES.npz is as in pack_bertha.py. Two
tables: agreement with people by year, and of damaged captions the share below the original, lowest
and highest of the years.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from pack_bertha import by_folder, over, similarities

from reelscore.learned.judged_captions import read_captions
from reelscore.learned.training.recipes import recipe_of
from reelscore.meta.held_out import correlations

WAY = "bertha"


def main() -> None:
    judged, similar, *runs = sys.argv[1:]
    folders = by_folder(read_captions(judged))
    cosines = similarities(Path(similar), folders)
    predictions = {Path(run).name: dict(np.load(Path(run) / "predictions.npz")) for run in runs}
    share = recipe_of("careful").similarity
    years = sorted({key[-4:] for of_run in predictions.values() for key in of_run if "|MA-" in key})
    print("| run |", " | ".join(years), "| mean | systems | SA |")
    print("|---|" + "---:|" * (len(years) + 3))
    means = []
    for run, scores in predictions.items():
        own = {name: rows for name, rows in folders.items() if f"{WAY}|{name}" in scores}
        fused = {
            f"{WAY}|{name}": over(scores[f"{WAY}|{name}"] + share * cosines[name], rows, "blend")
            for name, rows in own.items()
        }
        often, once = (correlations(own, fused, WAY, kind) for kind in ("MA", "SA"))
        figures = [*often["caption level"], *map(np.mean, (*often.values(), once["caption level"]))]
        means.append(figures[len(years)])
        print(f"| {run} |", " | ".join(map(without_zero, figures)), "|")
    print(
        f"\n{len(means)} runs: mean r {np.mean(means):.4f}, {min(means):.4f} to {max(means):.4f}\n"
    )
    below = {run: damages(scores) for run, scores in predictions.items()}
    print("| damage |", " | ".join(below), "|")
    print("|---|" + "---:|" * len(below))
    for kind in next(iter(below.values())):
        print(f"| {kind} |", " | ".join(each.get(kind, "") for each in below.values()), "|")


def damages(scores: dict[str, Any]) -> dict[str, str]:
    """By kind, the share below the original: the lowest and the highest of the years."""
    by_year = [json.loads(str(v)) for key, v in scores.items() if key.startswith(f"below {WAY}|")]
    shares = {kind: [year[kind][0] for year in by_year if kind in year] for kind in by_year[0]}
    return {
        kind: f"{without_zero(min(each), 2)}–{without_zero(max(each), 2)}"
        for kind, each in shares.items()
    }


def without_zero(number: float, digits: int = 3) -> str:
    return f"{number:.{digits}f}".replace("0.", ".", 1) if number < 1 else f"{number:.{digits}f}"


if __name__ == "__main__":
    main()
