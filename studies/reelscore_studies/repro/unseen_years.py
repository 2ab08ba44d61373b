"""How well metrics agree with people on years they have not seen: TRECVid, year by year.

Learned and fitted metrics are scored with the year held out: BERTHA by scores that were kept when
it was trained and are next to the shipped weights, the classical fusion by fitting it on the other
years. Every metric gets all references of a year, whichever folder they lie in, and is tested on
the captions of automatic systems. The fusion with BERTHA is not among them: its coefficients would
be fitted on scores of models that have seen the year tested.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, ValuesView
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore._progress import Progress
from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
from reelscore.engines.engine import Engine
from reelscore.errors import MissingExtraError
from reelscore.learned.judged_captions import JudgedCaption
from reelscore.metrics.base import FloatArray
from reelscore.report.html.contents import Report, Section
from reelscore.report.tables.grid import Cell, Grid, p_value
from reelscore.scoring.captions import score_systems
from reelscore.significance.comparison import Comparison
from reelscore.stats.correlations import pearson
from reelscore_studies.judged.trecvid_ha import YEARS, load_captions
from reelscore_studies.repro.judged_scores import Judged, williams_matrix
from reelscore_studies.repro.regression import fit_fusion

CLASSICAL = ("bleu_4", "rouge_l", "meteor", "cider")
FUSIONS = {"classical": CLASSICAL, "learned": (*CLASSICAL, "sts", "bertha")}
FITTED = "fusion|weights:classical"
_LEVEL = 0.05
_TEST = "Williams' test, captions of all years, each year standardised"
_PACKAGE = "reelscore_bertha"


@dataclass(frozen=True)
class YearlyAgreement:
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
    """Correlate scores with people's, by year: of captions and of systems, automatic ones only."""
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
    """Score the judged captions of automatic systems by all metrics, year by year."""
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


def agreement(years: Mapping[int, Judged]) -> YearlyAgreement:
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
    return YearlyAgreement(
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


def held_out_grids(agreement: YearlyAgreement, kind: str) -> list[Grid]:
    """Lay out correlations by year, of captions with intervals and of systems, and the p-values.

    >>> agreement = YearlyAgreement({"meteor": [0.1, 0.2, 0.3, 0.4, 0.5]},
    ...                       {"meteor": [0.9, 0.9, 0.9, 0.9, 0.9]}, [[math.nan]])
    >>> print(held_out_grids(agreement, "MA")[0].to_text())
    MA, captions   2016   2017   2018   2019   2020   mean  2017–20
    meteor        0.100  0.200  0.300  0.400  0.500  0.300    0.350
    """
    grids = []
    for level, rows in (("captions", agreement.captions), ("systems", agreement.systems)):
        cells = [
            [Cell(name), *(Cell(f"{r:.3f}") for r in [*rs, np.mean(rs), np.mean(rs[1:])])]
            for name, rs in rows.items()
        ]
        columns = [f"{kind}, {level}", *map(str, YEARS), "mean", "2017–20"]
        grids.append(Grid(columns, cells))
        if level == "captions" and agreement.intervals:
            grids.append(_interval_grid(agreement.intervals, kind))
    names = list(agreement.captions)
    rows_p = [
        [
            Cell(name),
            *(Cell("" if math.isnan(p) else p_value(p), "*" if p < _LEVEL else "") for p in row),
        ]
        for name, row in zip(names, agreement.p, strict=True)
    ]
    return [*grids, Grid(["Williams, captions", *names], rows_p)]


def _interval_grid(intervals: Mapping[str, Sequence[tuple[float, float]]], kind: str) -> Grid:
    cells = [
        # without zeros, so that six of them fit on a line
        [Cell(name), *(Cell(f"{low:.2f}–{high:.2f}".replace("0.", ".")) for low, high in of_years)]
        for name, of_years in intervals.items()
    ]
    return Grid([f"{kind}, 95 %", *map(str, YEARS), "mean"], cells)


def held_out_report(agreement: YearlyAgreement, kind: str, *, command: str = "") -> Report:
    """Make the report: a row for each metric, its correlations as scores, the years as items.

    >>> rs = {"meteor": [0.1, 0.2, 0.3, 0.4, 0.5], "cider": [0.2, 0.2, 0.2, 0.2, 0.2]}
    >>> agreement = YearlyAgreement(rs, rs, [[math.nan, 0.01], [0.99, math.nan]])
    >>> report = held_out_report(agreement, "MA")
    >>> report.table.systems, report.items
    (['meteor', 'cider'], ['2016', '2017', '2018', '2019', '2020'])
    """
    p = np.array(agreement.p, dtype=float)
    means = [float(np.mean(agreement.captions[name])) for name in agreement.captions]
    tests = Comparison.of(
        "r of captions",
        list(agreement.captions),
        means,
        p,
        sides=1,
        level=_LEVEL,
        method=_TEST,
        signature="williams|side:one",
    )
    *by_year, williams = held_out_grids(agreement, kind)
    rows = {
        name: {
            **_result("r of captions", agreement.captions, name, kind),
            **_result("r of systems", agreement.systems, name, kind),
        }
        for name in agreement.captions
    }
    about = (
        "Pearson's r with people; no year was seen by what was learned or fitted. Intervals of "
        "95 % are those of videos drawn anew."
    )
    better = f"p that the row agrees better with people than the column; * p < {_LEVEL:g}; {_TEST}."
    return Report(
        ScoreTable(rows),
        title=f"Agreement with people on TRECVid, {kind}",
        tests=[tests],
        sections=[
            Section("Year by year", [about], by_year, lead=True),
            Section("Which metric agrees better", [better], [williams], lead=True),
        ],
        command=command,
        notes=["The systems of this page are metrics, its items years, its scores correlations."],
    )


def _result(
    score: str, rows: Mapping[str, Sequence[float]], metric: str, kind: str
) -> dict[str, MetricResult]:
    by_year = ItemScores.of(dict(zip(map(str, YEARS), rows[metric], strict=True)))
    mean = float(np.mean(rows[metric]))
    return {score: MetricResult(score, mean, by_year, f"{score}|trecvid:{kind}|years:held-out")}
