"""How raters worked: how fast, and how often the same score in a row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reelscore.human.judgments import FloatArray, Judgments


class Pace(NamedTuple):
    """Seconds for a task: on average, and in the HIT that was done fastest."""

    mean: float
    fastest: float


def pace(judgments: Judgments) -> dict[str, Pace]:
    """Measure how long tasks took, for each rater whose times are known.

    Of a HIT whose whole time is known, that is divided by its tasks, and by the HITs the rater
    had open at the same time; otherwise the times between showing a task and its answer count: the
    server's own where it has them, else those that the rater's page says.

    >>> from reelscore.human.judgments import Judgment
    >>> rows = [Judgment("r1", "h1", f"t{k}", k, "mine", f"v{k}", "caption", 50.0, seconds=60.0)
    ...         for k in range(20)]
    >>> pace(Judgments.of(rows))
    {'r1': Pace(mean=3.0, fastest=3.0)}
    """
    raters, hits = judgments.rater, judgments.hit
    keys, first, group, tasks = np.unique(
        raters.codes * len(hits.names) + hits.codes,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    whole = judgments.seconds[first]
    start, end = np.full(len(keys), np.inf), np.full(len(keys), -np.inf)
    is_timed = ~np.isnan(judgments.opened)
    shown = np.where(is_timed, judgments.opened, judgments.started)
    answered = np.where(is_timed, judgments.received, judgments.submitted)
    np.fmin.at(start, group, shown)
    np.fmax.at(end, group, answered)
    summed = np.bincount(group, answered - shown, minlength=len(keys))
    seconds = np.where(np.isnan(whole), summed, whole) / tasks
    owner = keys // len(hits.names)
    found = {}
    for k, rater in enumerate(raters.names):
        mine = (owner == k) & ~np.isnan(seconds)
        if mine.any():
            apart = np.where(np.isnan(whole[mine]), 1, _at_once(start[mine], end[mine]))
            times = seconds[mine] / apart
            found[rater] = Pace(float(times.mean()), float(times.min()))
    return found


def _at_once(start: FloatArray, end: FloatArray) -> FloatArray:
    """Count, for each stretch of time, how many it shares time with, itself among them."""
    overlaps = (start[:, None] < end) & (start < end[:, None])
    counts: FloatArray = np.maximum(1, overlaps.sum(axis=1)).astype(float)
    return counts


def longest_run(judgments: Judgments) -> dict[str, int]:
    """Count, for each rater, the longest run of one score, in the order of a HIT.

    >>> from reelscore.human.judgments import Judgment
    >>> rows = [Judgment("r1", "h1", f"t{k}", k, "mine", f"v{k}", "caption", score)
    ...         for k, score in enumerate([50.0, 7.0, 7.0, 7.0, 50.0])]
    >>> longest_run(Judgments.of(rows))
    {'r1': 3}
    """
    order = np.lexsort(
        (judgments.position, judgments.criterion.codes, judgments.hit.codes, judgments.rater.codes)
    )
    raters = judgments.rater.codes[order]
    others = judgments.hit.codes, judgments.criterion.codes, judgments.score
    columns = [raters, *(column[order] for column in others)]
    changes = np.ones(len(order), dtype=bool)
    if len(order):
        changes[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    starts = np.flatnonzero(changes)
    lengths = np.diff(np.append(starts, len(order)))
    longest = np.zeros(len(judgments.rater.names), dtype=np.int64)
    np.maximum.at(longest, raters[starts], lengths)
    return dict(zip(judgments.rater.names, longest.tolist(), strict=True))
