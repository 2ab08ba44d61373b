"""A figure of a stress test."""

from __future__ import annotations

from pathlib import Path

from reelscore.meta.stress.trials import Stress
from reelscore.report.plots.style import COLUMN_WIDTH, GREY, PALETTE, figure, save

_MARKS = "osD^v<>P"


def draw_stress(stress: Stress, path: str | Path) -> None:
    """Draw the share below the original by kind and metric, with intervals; exploits below.

    Args:
        stress: The trials.
        path: A .pdf, .svg or .png file.

    >>> import tempfile
    >>> from reelscore.meta import stress_metrics
    >>> draw_stress(stress_metrics("rouge_l"), Path(tempfile.mkdtemp(), "stress.svg"))
    """
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
