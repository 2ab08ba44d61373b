"""How far BERTHA's figures depend on the seed: the runs of train_bertha.py side by side.

    python tools/compare_seeds.py judged.jsonl SIMILARITIES.npz OUT [OUT …]
    python tools/compare_seeds.py judged.jsonl SIMILARITIES.npz OUT --way small --student

Each OUT is the folder of a run, with years held out. SIMILARITIES.npz is as in pack_bertha.py. Two
tables: agreement with people by year, and of damaged captions the share below the original, lowest
and highest of the years. ``--way`` is a way of the last stage, or a student.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from pack_bertha import by_folder, over, similarities

from reelscore.learned.judged_captions import read_captions
from reelscore.learned.training.recipes import recipe_of
from reelscore_studies.repro.unseen_years import correlations


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("judged", type=Path)
    parser.add_argument("similarities", type=Path)
    parser.add_argument("runs", type=Path, nargs="+", metavar="OUT")
    parser.add_argument("--way", default="bertha")
    parser.add_argument("--student", action="store_true", help="its scores have similarity in them")
    options = parser.parse_args()
    way = options.way
    folders = by_folder(read_captions(options.judged))
    cosines = similarities(options.similarities, folders)
    predictions = {run.name: dict(np.load(run / "predictions.npz")) for run in options.runs}
    share = 0.0 if options.student else recipe_of("careful").similarity
    known = {key for of_run in predictions.values() for key in of_run}
    years = sorted(key[-4:] for key in known if key.startswith(f"{way}|MA-"))
    print("| run |", " | ".join(years), "| mean | systems | SA |")
    print("|---|" + "---:|" * (len(years) + 3))
    means = []
    for run, scores in predictions.items():
        own = {name: rows for name, rows in folders.items() if f"{way}|{name}" in scores}
        fused = {
            f"{way}|{name}": over(scores[f"{way}|{name}"] + share * cosines[name], rows, "blend")
            for name, rows in own.items()
        }
        often, once = (correlations(own, fused, way, kind) for kind in ("MA", "SA"))
        figures = [*often["caption level"], *map(np.mean, (*often.values(), once["caption level"]))]
        means.append(figures[len(years)])
        print(f"| {run} |", " | ".join(map(without_zero, figures)), "|")
    if len(means) > 1:
        spread = f"{min(means):.4f} to {max(means):.4f}"
        print(f"\n{len(means)} runs: mean r {np.mean(means):.4f}, {spread}")
    print()
    below = {run: damages(scores, way) for run, scores in predictions.items()}
    print("| damage |", " | ".join(below), "|")
    print("|---|" + "---:|" * len(below))
    for kind in dict.fromkeys(kind for of_run in below.values() for kind in of_run):
        print(f"| {kind} |", " | ".join(each.get(kind, "") for each in below.values()), "|")


def damages(scores: dict[str, Any], way: str) -> dict[str, str]:
    """By kind, the share below the original: the lowest and the highest of the years.

    That of the metric where it was measured; older runs have that of the network alone.
    """
    by_year = [json.loads(str(v)) for key, v in scores.items() if key.startswith(f"below {way}|")]
    shares = {
        kind: [year[kind][2 if len(year[kind]) > 2 else 0] for year in by_year if kind in year]
        for kind in dict.fromkeys(kind for year in by_year for kind in year)
    }
    return {
        kind: f"{without_zero(min(each), 2)}–{without_zero(max(each), 2)}"
        for kind, each in shares.items()
    }


def without_zero(number: float, digits: int = 3) -> str:
    return f"{number:.{digits}f}".replace("0.", ".", 1) if number < 1 else f"{number:.{digits}f}"


if __name__ == "__main__":
    main()
