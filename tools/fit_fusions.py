"""Fit the fusions that come with reelscore.

python tools/fit_fusions.py TRECvid-VTT_HA
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from reelscore.learned.judged_captions import training_items
from reelscore.learned.metrics.fusion import write_coefficients
from reelscore.learned.model_files import SHIPPED, read_info
from reelscore_studies.judged.trecvid_ha import load_captions
from reelscore_studies.repro.regression import fit_fusion
from reelscore_studies.repro.unseen_years import FITTED, FUSIONS, agreement, features, with_fusion

FOLDER = Path(__file__).parents[1] / "src/reelscore/learned/metrics/fusions"


def main() -> None:
    years = features(sys.argv[1], "MA")
    agreed = agreement(with_fusion(years))
    items = training_items(
        each
        for each in load_captions(sys.argv[1], unjudged=False)
        if each.kind == "MA" and not each.person
    )
    human = np.concatenate([each.human for each in years.values()])
    # scores held out are kept on the scale they have before they become standard scores
    to_z = {"bertha": read_info(SHIPPED).to_z}
    for name, inputs in FUSIONS.items():
        columns = {}
        for metric in inputs:
            low, slope = to_z.get(metric, (0.0, 1.0))
            joined = np.concatenate([each.metrics[metric] for each in years.values()])
            columns[metric] = low + slope * joined
        metrics = ["bleu", "rouge_l", "meteor", "cider"]
        if "bertha" in inputs:
            metrics += ["sts", "bertha"]
        fitted = fit_fusion(
            columns,
            human,
            metrics,
            provenance={
                "data": "TRECVid video-to-text 2016-2020, captions of automatic systems judged by "
                "many (MA), all references of a year, https://github.com/LLebronC/TRECvid-VTT_HA",
                "target": "mean standardised score",
                "bertha": "each year's scores by a model that has not seen the year"
                if "bertha" in inputs
                else "not used",
                # with BERTHA, models that saw the year tested would take part in the fit
                "r on the year left out, 2016-2020": "not measured"
                if "bertha" in inputs
                else [round(r, 4) for r in agreed.captions[FITTED]],
            },
            items=items,
        )
        write_coefficients(FOLDER / f"{name}.json", fitted)
        print(name, fitted.weights, fitted.intercept)


if __name__ == "__main__":
    main()
