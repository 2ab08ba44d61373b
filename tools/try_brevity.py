"""What it would cost BERTHA to mark down captions that are shorter than the references.

    python tools/try_brevity.py judged.jsonl SIMILARITIES.npz OUT [OUT …]

Truncation is what BERTHA sees least often of the damages that references can tell. Here the log of
the length's ratio to each reference, where the caption is the shorter one, is added to the scores.
One line for each weight of that term: agreement with people by each OUT, a run of train_bertha.py
with years held out, and the share of halves that score below the whole caption, by the shipped
weights on people's captions of TRECVid 2020. SIMILARITIES.npz is as in pack_bertha.py.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from pack_bertha import by_folder, over, similarities

from reelscore.learned.judged_captions import read_captions
from reelscore.learned.training.recipes import recipe_of
from reelscore.meta import stress_metrics
from reelscore_studies.repro.unseen_years import correlations

WEIGHTS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("judged", type=Path)
    parser.add_argument("similarities", type=Path)
    parser.add_argument("runs", type=Path, nargs="+", metavar="OUT")
    options = parser.parse_args()
    folders = by_folder(read_captions(options.judged))
    cosines = similarities(options.similarities, folders)
    share = recipe_of("careful").similarity
    shorter = {
        folder: np.array([brevity(c.candidate, text) for c in rows for text in c.references])
        for folder, rows in folders.items()
    }
    runs = [dict(np.load(run / "predictions.npz")) for run in options.runs]
    seen = truncation_seen({c.item: list(c.references) for c in folders["MA-2020"]})
    print("| weight | mean r | systems | SA | truncation |")
    print("|---:|---:|---:|---:|---:|")
    for weight in WEIGHTS:
        figures = []
        for run in runs:
            scores = {
                f"bertha|{folder}": over(
                    run[f"bertha|{folder}"] + share * cosines[folder] + weight * shorter[folder],
                    rows,
                    "blend",
                )
                for folder, rows in folders.items()
            }
            often, once = (correlations(folders, scores, "bertha", k) for k in ("MA", "SA"))
            figures.append([*map(np.mean, (*often.values(), once["caption level"]))])
        columns = (
            " ".join(f"{figure:.3f}" for figure in column) for column in zip(*figures, strict=True)
        )
        print(f"| {weight:g} |", " | ".join(columns), f"| {seen[weight]:.3f} |")


def brevity(caption: str, reference: str) -> float:
    """The log of the lengths' ratio in words, 0 where the caption is not the shorter one."""
    words, there = (max(len(text.split()), 1) for text in (caption, reference))
    return min(float(np.log(words / there)), 0.0)


def truncation_seen(references: dict[str, list[str]]) -> dict[float, float]:
    """By the weight of the term: the share of halves that score below the whole caption."""
    stress = stress_metrics("bertha", references, kinds=["truncation"])
    drops = []
    for case, whole, half in stress.worst("bertha", "truncation", len(references)):
        others = [text for text in references[case.item] if text != case.original]
        terms = [
            np.mean([brevity(text, reference) for reference in others])
            for text in (case.original, case.changed)
        ]
        drops.append([whole - half, terms[0] - terms[1]])
    score, term = np.array(drops).T
    return {weight: float(np.mean(score + weight * term > 0)) for weight in WEIGHTS}


if __name__ == "__main__":
    main()
