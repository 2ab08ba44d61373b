"""A stress test as one page: tables, and the captions that metrics get most wrong."""

from __future__ import annotations

from reelscore.meta.stress.cases import about
from reelscore.meta.stress.tables import TITLES, detail_grid, drop_grid, share_grid
from reelscore.meta.stress.trials import Stress
from reelscore.report.pages import render, style_sheet

_SHOWN = 3  # captions of each metric and kind


def stress_html(stress: Stress, title: str = "Stress test", command: str = "") -> str:
    """Write a stress test as one HTML page; nothing is loaded from elsewhere.

    Args:
        stress: The trials.
        title: The heading.
        command: The command that made it, to be shown.

    >>> from reelscore.meta import stress_metrics
    >>> "Exploits" in stress_html(stress_metrics("rouge_l", kinds=["generic"]))
    True
    """
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
