"""Table 7 of the BERTHA paper: metrics fused by linear regression."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reelscore.meta.judged import Judged
from reelscore.meta.repro.metric_names import FUSED, LEARNED, METRICS
from reelscore.metrics.base import FloatArray
from reelscore.stats.correlations import pearson

_TEST_SHARE = 0.2


def fuse(
    folders: Sequence[Judged], *, seed: int = 12345, splits: int = 1
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Fuse metrics by linear regression on four fifths of every folder, and test on the rest.

    As in the paper, metrics run from 0 to 1 (CIDEr is divided by 10), the target is people's
    score scaled to 0–1 in each folder, and all folders train one regression. BERTHA's scores of
    training captions come from models that saw test captions of other years.

    Args:
        folders: The judged captions of each folder.
        seed: Of the splits.
        splits: Over how many random splits to average.

    Returns:
        Correlations on the test captions of each folder, by metric and for the fusion; and the
        regression's coefficients.

    >>> rng = np.random.default_rng(0)
    >>> scores = {METRICS[name]: rng.random(200) for name in FUSED}
    >>> few = Judged(np.repeat(["a", "b"], 100), scores["meteor"] - scores["bleu_4"], scores)
    >>> correlations, coefficients = fuse([few])
    >>> round(correlations["Fusion"][0], 3), coefficients["METEOR"] > 0 > coefficients["BLEU-4"]
    (1.0, True)
    """
    rng = np.random.default_rng(seed)
    learned = ["BERTHA"] if all("bertha" in each.metrics for each in folders) else []
    fused = [*learned, *FUSED]
    inputs = [_inputs(each, fused) for each in folders]
    targets = [_to_unit(each.human) for each in folders]
    names = [*fused, "Fusion"]
    found = np.zeros((splits, len(names), len(folders)))
    weights = np.zeros((splits, len(fused)))
    for split in range(splits):
        orders = [rng.permutation(len(target)) for target in targets]
        cuts = [round(_TEST_SHARE * len(order)) for order in orders]
        train = [order[cut:] for order, cut in zip(orders, cuts, strict=True)]
        x = np.concatenate([rows[k] for rows, k in zip(inputs, train, strict=True)])
        y = np.concatenate([target[k] for target, k in zip(targets, train, strict=True)])
        solution = np.linalg.lstsq(np.column_stack([x, np.ones(len(x))]), y, rcond=None)[0]
        weights[split] = solution[:-1]
        for f, (order, cut) in enumerate(zip(orders, cuts, strict=True)):
            rows, target = inputs[f][order[:cut]], targets[f][order[:cut]]
            columns = np.column_stack([rows, rows @ weights[split]])
            found[split, :, f] = [float(pearson(target, column)) for column in columns.T]
    correlations = dict(zip(names, found.mean(axis=0).tolist(), strict=True))
    return correlations, dict(zip(fused, weights.mean(axis=0).tolist(), strict=True))


def _inputs(each: Judged, names: Sequence[str]) -> FloatArray:
    """Scores from 0 to 1: CIDEr a tenth, BERTHA from its least to its greatest."""
    columns = []
    for name in names:
        scores = each.metrics[{**METRICS, **LEARNED}[name]]
        columns.append(_to_unit(scores) if name == "BERTHA" else scores)
    return np.column_stack(columns) / np.where([n == "CIDEr" for n in names], 10.0, 1.0)


def _to_unit(values: FloatArray) -> FloatArray:
    scaled: FloatArray = (values - values.min()) / np.ptp(values)
    return scaled
