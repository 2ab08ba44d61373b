"""Tables of a stress test."""

from __future__ import annotations

import math

from reelscore.meta.stress.cases import Sort
from reelscore.meta.stress.trials import Stress, Trial
from reelscore.report.tables.grid import Cell, Grid

TITLES: dict[Sort, str] = {
    "damage": "Damages: share of damaged captions that score below the original",
    "exploit": "Exploits: share that score at or above the original (fooled)",
}
_MOST = 99  # a drop beyond is printed as this
_TIES = "= some of them tie with the original, which counts as not below"


def share_grid(stress: Stress, sort: Sort) -> Grid:
    """Compare the metrics: a row for each kind, a column for each metric.

    Args:
        stress: The trials.
        sort: Damages, with the share below the original; or exploits, with the share that fools.
    """
    rows = []
    for kind in stress.kinds(sort):
        trials = [stress.trial(metric, kind) for metric in stress.metrics]
        shares = [trial.share if sort == "damage" else trial.fooled for trial in trials]
        known = [share for share in shares if not math.isnan(share)]
        best = (max if sort == "damage" else min)(known, default=math.nan)
        differ = len(set(known)) > 1
        cells = [
            Cell(_share(share), mark="=" if trial.ties else "", best=differ and share == best)
            for share, trial in zip(shares, trials, strict=True)
        ]
        rows.append([Cell(kind), Cell(f"{len(stress.cases[kind]):,}"), *cells])
    ties = any(trial.ties for trial in stress.trials if trial.sort == sort)
    return Grid([sort, "captions", *stress.labels.values()], rows, notes=[_TIES] if ties else [])


def drop_grid(stress: Stress) -> Grid:
    """Compare the metrics by the mean drop, in standard deviations of the originals' scores."""
    rows = [
        [Cell(kind), *(Cell(_drop(stress.trial(metric, kind))) for metric in stress.metrics)]
        for kind in stress.cases
    ]
    return Grid(["kind", *stress.labels.values()], rows)


def detail_grid(stress: Stress, metric: str, sort: Sort) -> Grid:
    """Show all that is known of one metric.

    Args:
        stress: The trials.
        metric: The metric.
        sort: Damages or exploits.
    """
    rows = []
    for kind in stress.kinds(sort):
        trial = stress.trial(metric, kind)
        low, high = trial.interval
        share = trial.share
        if sort == "exploit":
            low, high, share = 1 - high, 1 - low, trial.fooled
        rows.append(
            [
                Cell(kind),
                Cell(f"{trial.captions:,}"),
                Cell(_share(share)),
                Cell(f"{low:.2f}–{high:.2f}" if trial.captions else "–"),
                Cell(f"{trial.ties / trial.captions:.2f}" if trial.captions else "–"),
                Cell(_drop(trial)),
            ]
        )
    share_name = "below" if sort == "damage" else "fooled"
    return Grid([sort, "captions", share_name, "95 %", "ties", "mean drop"], rows)


def _share(share: float) -> str:
    return "–" if math.isnan(share) else f"{share:.2f}"  # of no caption: a judge has no answer


def _drop(trial: Trial) -> str:
    if math.isnan(trial.drop):
        return "–"
    if abs(trial.drop) > _MOST:
        return f"> {_MOST}" if trial.drop > 0 else f"< −{_MOST}"
    return f"{round(trial.drop, 2) + 0:.2f}".replace("-", "−")  # + 0: no minus before 0.00
