"""How well metrics agree with people on years they have not seen: TRECVid, year by year.

Learned and fitted metrics are scored with the year held out: BERTHA by scores that were kept when
it was trained and are next to the shipped weights, the classical fusion by fitting it on the other
years. Every metric gets all references of a year, whichever folder they lie in, and is tested on
the captions of automatic systems. The fusion with BERTHA is not among them: its coefficients would
be fitted on scores of models that have seen the year tested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, ValuesView
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore._progress import Progress
from reelscore.data.datasets.trecvid_ha import YEARS
from reelscore.engines.engine import Engine
from reelscore.errors import MissingExtraError
from reelscore.learned.fusion import fit_fusion
from reelscore.learned.judged_captions import JudgedCaption
from reelscore.learned.trecvid import load_captions
from reelscore.meta.judged import Judged, williams_matrix
from reelscore.metrics.base import FloatArray
from reelscore.scoring.captions import score_systems
from reelscore.stats.correlations import pearson

CLASSICAL = ("bleu_4", "rouge_l", "meteor", "cider")
FUSIONS = {"classical": CLASSICAL, "learned": (*CLASSICAL, "sts", "bertha")}
FITTED = "fusion|weights:classical"
_PACKAGE = "reelscore_bertha"


@dataclass(frozen=True)
class Agreement:
    """Correlations with people of metrics that have not seen the year.

    Attributes:
        captions: By metric, Pearson's r of captions for each year.
        systems: By metric, of the systems' means.
        p: p-values of Williams' test that the metric in the row agrees better with people than
            that in the column, on the captions of all years together, each year standardised.
        intervals: By metric, of captions: what 95 % of the correlations are between if the videos
            are drawn anew, for each year, and last for the mean of the years.
    """

    captions: Mapping[str, Sequence[float]]
    systems: Mapping[str, Sequence[float]]
    p: Sequence[Sequence[float]]
    intervals: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)


def held_out_scores() -> dict[str, FloatArray] | None:
    """Load the scores by ``model|folder``, one for each judged caption; None if not installed."""
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "held_out.npz"
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name].astype(np.float64) for name in stored.files}


def write_held_out(path: str | Path, scores: Mapping[str, NDArray[Any]]) -> None:
    """Write scores, in half precision.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_held_out(Path(folder, "held_out.npz"), {"bertha|MA-2020": np.array([0.5])})
    ...     np.load(Path(folder, "held_out.npz"))["bertha|MA-2020"].tolist()
    [0.5]
    """
    halves: dict[str, Any] = {name: each.astype(np.float16) for name, each in scores.items()}
    np.savez_compressed(path, **halves)


def correlations(
    folders: Mapping[str, Sequence[Any]], scores: Mapping[str, FloatArray], model: str, kind: str
) -> dict[str, list[float]]:
    """Correlate scores with people's, by year: of captions and of systems, automatic ones only.

    Args:
        folders: Judged captions by folder, with ``system``, ``person`` and ``score``.
        scores: By model and folder.
        model: Whose scores.
        kind: ``SA`` or ``MA``.
    """
    correlations: dict[str, list[float]] = {"caption level": [], "system level": []}
    for folder, rows in folders.items():
        if folder[:2] != kind:
            continue
        kept = np.array([not row.person for row in rows])
        human = np.array([row.score for row in rows])[kept]
        own = np.asarray(scores[f"{model}|{folder}"])[kept]
        _, numbers = np.unique(np.array([row.system for row in rows])[kept], return_inverse=True)
        means = [np.bincount(numbers, each) / np.bincount(numbers) for each in (human, own)]
        correlations["caption level"].append(round(float(pearson(human, own)), 4))
        correlations["system level"].append(round(float(pearson(*means)), 4))
    return correlations


def features(
    path: str | Path,
    kind: str,
    *,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> dict[int, Judged]:
    """Score the judged captions of automatic systems by all metrics, year by year.

    Args:
        path: A copy of the data set.
        kind: ``MA`` or ``SA``.
        progress: Called with how many captions are done, of how many.
        engine: As in `reelscore.score`.

    Raises:
        MissingExtraError: If the shipped model is not installed.
    """
    kept = held_out_scores()
    if kept is None:
        raise MissingExtraError.of(
            "The scores of captions held out come with the model", "reelscore-bertha"
        )
    captions = [row for row in load_captions(path, unjudged=False) if row.kind == kind]
    total, done = sum(not row.person for row in captions), 0
    by_year = {}
    for year in YEARS:
        rows = [row for row in captions if row.group == str(year)]
        automatic = np.array([not row.person for row in rows])
        own = {
            name: kept[f"{key}|{kind}-{year}"][automatic]
            for name, key in (("bertha", "bertha"), ("bertha|references:mean", "bertha-mean"))
        }
        before = done
        done += int(automatic.sum())
        by_year[year] = _scored(
            [row for row in rows if not row.person], own, engine, _after(before, total, progress)
        )
        if progress is not None:
            progress(done, total)
    return by_year


def _after(before: int, total: int, progress: Progress | None) -> Progress | None:
    """Count what is done on top of what was done before."""
    if progress is None:
        return None
    return lambda done, _: progress(before + done, total)


def _scored(
    rows: Sequence[JudgedCaption],
    own: Mapping[str, FloatArray],
    engine: Engine | None,
    progress: Progress | None = None,
) -> Judged:
    numbers = [str(k) for k in range(len(rows))]
    scores = score_systems(
        {"": dict(zip(numbers, (row.candidate for row in rows), strict=True))},
        dict(zip(numbers, (row.references for row in rows), strict=True)),
        "bleu,rouge_l,meteor,cider,sts",
        engine=engine,
        progress=progress,
    )[""]
    wanted = {name: scores[name].items.array for name in (*CLASSICAL, "sts")}
    return Judged(
        np.array([row.system for row in rows]),
        np.array([row.score for row in rows], dtype=float),
        {**wanted, **own},
        np.array([row.item for row in rows]),
    )


def with_fusion(years: Mapping[int, Judged]) -> dict[int, Judged]:
    """Add the classical fusion, fitted on the other years.

    >>> rng = np.random.default_rng(0)
    >>> def year():
    ...     scores = {name: rng.random(50) for name in CLASSICAL}
    ...     return Judged(np.repeat("a", 50), scores["meteor"] - scores["cider"], scores)
    >>> fused = with_fusion({2016: year(), 2017: year()})
    >>> float(np.abs(fused[2016].metrics[FITTED] - fused[2016].human).max()) < 1e-9
    True
    """
    with_scores = {}
    for year, judged in years.items():
        others = [other for key, other in years.items() if key != year]
        columns = {m: np.concatenate([other.metrics[m] for other in others]) for m in CLASSICAL}
        human = np.concatenate([other.human for other in others])
        fitted = fit_fusion(columns, human, ["bleu", "rouge_l", "meteor", "cider"])
        parts = [weight * judged.metrics[m] for m, weight in fitted.weights.items()]
        fused: FloatArray = fitted.intercept + np.sum(parts, axis=0)
        with_scores[year] = replace(judged, metrics={**judged.metrics, FITTED: fused})
    return with_scores


def agreement(years: Mapping[int, Judged]) -> Agreement:
    """Correlate every metric with people, and test which agree better.

    >>> rng = np.random.default_rng(0)
    >>> human = rng.normal(size=80)
    >>> scores = {"good": human + rng.normal(size=80) / 4, "bad": rng.normal(size=80)}
    >>> measured = agreement({2016: Judged(np.repeat(["a", "b", "c", "d"], 20), human, scores)})
    >>> measured.captions["good"][0] > 0.9, measured.p[0][1] < 0.001
    (True, True)
    """
    names = list(next(iter(years.values())).metrics)
    columns = {
        name: np.concatenate([_standard(judged.metrics[name]) for judged in years.values()])
        for name in names
    }
    human = np.concatenate([_standard(judged.human) for judged in years.values()])
    return Agreement(
        {name: [judged.caption_level(name) for judged in years.values()] for name in names},
        {name: [judged.system_level(name) for judged in years.values()] for name in names},
        williams_matrix(human, list(columns.values())),
        _intervals(years.values()) if all(j.items is not None for j in years.values()) else {},
    )


def _intervals(years: ValuesView[Judged]) -> dict[str, list[tuple[float, float]]]:
    """By metric, an interval for each year, and for their mean."""
    names = list(next(iter(years)).metrics)
    drawn = np.stack([judged.redrawn() for judged in years])  # years × metrics × resamples
    drawn = np.concatenate([drawn, drawn.mean(axis=0, keepdims=True)])
    low, high = np.nanquantile(drawn, [0.025, 0.975], axis=2)
    return {
        name: [(float(a), float(b)) for a, b in zip(low[:, k], high[:, k], strict=True)]
        for k, name in enumerate(names)
    }


def _standard(values: FloatArray) -> FloatArray:
    result: FloatArray = (values - values.mean()) / values.std()
    return result
