"""A stress test as tables, as a page and as a figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from reelscore.meta.stress.cases import SENTENCE, Sort, about
from reelscore.meta.stress.trials import Stress, Trial
from reelscore.report.pages import render, style_sheet
from reelscore.report.plots.style import COLUMN_WIDTH, GREY, PALETTE, figure, save
from reelscore.report.tables.grid import Cell, Grid

TITLES: dict[Sort, str] = {
    "damage": "Damages: share of damaged captions that score below the original",
    "exploit": "Exploits: share that score at or above the original (fooled)",
}
_MOST = 99  # a drop beyond is printed as this
_SHOWN = 3  # captions of each metric and kind
_MARKS = "osD^v<>P"
_INSIDE = "¶ inside one sentence of several; invented, exchanged, left out: a whole one"
_TIES = "= some of them tie with the original, which counts as not below"


def share_grid(stress: Stress, sort: Sort) -> Grid:
    """Compare the metrics: a row for each kind, a column for each metric."""
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
        rows.append([_named(kind), Cell(f"{len(stress.cases[kind]):,}"), *cells])
    ties = any(trial.ties for trial in stress.trials if trial.sort == sort)
    notes = [*_inside(stress.kinds(sort)), *([_TIES] if ties else [])]
    return Grid([sort, "captions", *stress.labels.values()], rows, notes=notes)


def drop_grid(stress: Stress) -> Grid:
    """Compare the metrics by the mean drop, in standard deviations of the originals' scores."""
    rows = [
        [_named(kind), *(Cell(_drop(stress.trial(metric, kind))) for metric in stress.metrics)]
        for kind in stress.cases
    ]
    return Grid(["kind", *stress.labels.values()], rows)


def detail_grid(stress: Stress, metric: str, sort: Sort) -> Grid:
    """Show all that is known of one metric."""
    rows = []
    for kind in stress.kinds(sort):
        trial = stress.trial(metric, kind)
        low, high = trial.interval
        share = trial.share
        if sort == "exploit":
            low, high, share = 1 - high, 1 - low, trial.fooled
        rows.append(
            [
                _named(kind),
                Cell(f"{trial.captions:,}"),
                Cell(_share(share)),
                Cell(f"{low:.2f}–{high:.2f}" if trial.captions else "–"),
                Cell(f"{trial.ties / trial.captions:.2f}" if trial.captions else "–"),
                Cell(_drop(trial)),
            ]
        )
    share_name = "below" if sort == "damage" else "fooled"
    heads = [sort, "captions", share_name, "95 %", "ties", "mean drop"]
    return Grid(heads, rows, notes=_inside(stress.kinds(sort)))


def stress_html(stress: Stress, title: str = "Stress test", command: str = "") -> str:
    """Write a stress test as one HTML page; nothing is loaded from elsewhere."""
    sorts = [sort for sort in TITLES if stress.kinds(sort)]
    return render(
        "stress.html",
        title=title,
        command=command,
        stress=stress,
        style=style_sheet("results.css"),
        shares=[(sort, TITLES[sort], share_grid(stress, sort)) for sort in sorts],
        drops=drop_grid(stress),
        details=[
            (stress.labels[metric], [detail_grid(stress, metric, sort) for sort in sorts])
            for metric in stress.metrics
        ],
        kinds=[
            {
                "name": kind,
                "about": about(kind),
                "worst": [
                    (stress.labels[metric], stress.worst(metric, kind, _SHOWN))
                    for metric in stress.metrics
                ],
            }
            for kind in stress.cases
        ],
    )


def draw_stress(stress: Stress, path: str | Path) -> None:
    """Draw the share below the original by kind and metric, with intervals; exploits below."""
    damages, exploits = stress.kinds("damage"), stress.kinds("exploit")
    kinds = [*damages, *exploits]
    gap = 0.6 if damages and exploits else 0.0
    places = {kind: k + (gap if kind in exploits else 0.0) for k, kind in enumerate(kinds)}
    height = 0.7 + len(kinds) * max(0.2, 0.07 * len(stress.metrics) + 0.08)
    with figure(1, 1, width=1.6 * COLUMN_WIDTH, height=height) as (drawing, panels):
        panel = panels[0]
        count = len(stress.metrics)
        for k, metric in enumerate(stress.metrics):
            shift = (k - (count - 1) / 2) * 0.7 / count
            trials = [stress.trial(metric, kind) for kind in kinds]
            shares = [trial.share for trial in trials]
            below = [trial.share - trial.interval[0] for trial in trials]
            above = [trial.interval[1] - trial.share for trial in trials]
            panel.errorbar(
                shares,
                [places[kind] + shift for kind in kinds],
                xerr=[[max(0.0, v) for v in below], [max(0.0, v) for v in above]],
                fmt=_MARKS[k % len(_MARKS)],
                markersize=3,
                linewidth=0.7,
                color=PALETTE[k % len(PALETTE)],
                label=stress.labels[metric],
            )
        if gap:
            panel.axhline(len(damages) - 0.5 + gap / 2, color=GREY, linewidth=0.6)
        panel.set_yticks(list(places.values()), kinds)
        panel.invert_yaxis()
        panel.set_xlim(-0.03, 1.03)
        panel.set_xlabel("share that scores below the original, 95 % interval")
        panel.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        save(drawing, path)


def _named(kind: str) -> Cell:
    """Return a kind as a row's name, short enough for many metrics."""
    return Cell(kind.replace(f"{SENTENCE}/", "¶ "))


def _inside(kinds: Sequence[str]) -> list[str]:
    return [_INSIDE] if any(kind.startswith(f"{SENTENCE}/") for kind in kinds) else []


def _share(share: float) -> str:
    return "–" if math.isnan(share) else f"{share:.2f}"  # of no caption: a judge has no answer


def _drop(trial: Trial) -> str:
    if math.isnan(trial.drop):
        return "–"
    if abs(trial.drop) > _MOST:
        return f"> {_MOST}" if trial.drop > 0 else f"< −{_MOST}"
    return f"{round(trial.drop, 2) + 0:.2f}".replace("-", "−")  # + 0: no minus before 0.00
