"""How a campaign goes, in a few figures: what it costs, how fast it is, how far raters agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reelscore.campaigns.evaluate.agreement import agreement
from reelscore.campaigns.evaluate.quality import pair_controls
from reelscore.campaigns.evaluate.votes import Votes, count_votes, pairs_agreed
from reelscore.campaigns.judgments import FloatArray, Judgments
from reelscore.campaigns.pages.payments import Pay, Work
from reelscore.campaigns.protocols import Protocol
from reelscore.campaigns.store.rater_work import Taken
from reelscore.campaigns.store.records import Status
from reelscore.stats.correlations import pearson

HOUR = 3600.0
_ENOUGH_ANSWERS = 5  # in the last hour, to speak of a pace
_ENOUGH_TIME = 60.0  # seconds since the first of them
_ENOUGH_CAPTIONS = 10  # judged by several raters, to speak of agreement


@dataclass(frozen=True)
class Agreed:
    """How far raters agree by one criterion.

    Attributes:
        criterion: What was judged.
        value: Krippendorff's alpha, or for comparisons the share of pairs of raters who voted
            alike; NaN where there is too little to tell.
        captions: How many captions, or pairs of captions, several raters judged.
    """

    criterion: str
    value: float
    captions: int

    @property
    def is_enough(self) -> bool:
        """Whether the value says something."""
        return self.captions >= _ENOUGH_CAPTIONS and not math.isnan(self.value)


@dataclass(frozen=True)
class Figures:
    """What the page of a campaign tells at a glance.

    Attributes:
        so_far: What the work up to now costs, with the fee.
        expected: What it costs when all places are done.
        answers: Tasks answered in an hour, at the pace of the last one; NaN where it is too
            early to tell.
        hits: HITs done in an hour, at the same pace.
        left: Seconds until all is answered at this pace; 0 where all is, NaN where nobody knows.
        agreed: How far raters agree, by criterion.
        repeated: How far each agrees with themselves, where captions are shown twice.
    """

    so_far: float
    expected: float
    answers: float
    hits: float
    left: float
    agreed: Sequence[Agreed]
    repeated: Agreed


def figures(
    status: Status,
    costs: tuple[float, float],
    *,
    tasks: int,
    begun: int,
    answer_times: FloatArray,
    agreed: Sequence[Agreed],
    repeated: Agreed,
    now: float,
) -> Figures:
    """Put the figures of a campaign together.

    Args:
        status: Where it stands.
        costs: So far and expected, see `costs`.
        tasks: Tasks in all HITs, each counted once.
        begun: Tasks answered in HITs that raters are at.
        answer_times: When tasks were answered, in order.
        agreed: How far raters agree.
        repeated: How far they agree with themselves.
        now: The time; all times are seconds since 1970.

    >>> status = Status(state="open", hits=10, finished=4, open=5, held=1, done=4, abandoned=0,
    ...                 judgments=84, skipped=0, raters=5, by_system={})
    >>> times = np.arange(0.0, 84 * 30, 30)  # an answer every half minute
    >>> shown = figures(
    ...     status, (4.0, 10.0), tasks=200, begun=4, answer_times=times, now=2490,
    ...     agreed=(), repeated=Agreed("repeats", 0.9, 40))
    >>> shown.answers, shown.hits, shown.left
    (120.0, 6.0, 3480.0)
    """
    waiting = status.open + status.held
    per_hit = tasks / status.hits if status.hits else math.nan
    answers = _pace(answer_times, now)
    remaining = max(0.0, waiting * per_hit - begun) if waiting else 0.0
    return Figures(
        *costs,
        answers=answers,
        hits=answers / per_hit,
        left=0.0 if not remaining else remaining / answers * HOUR,
        agreed=agreed,
        repeated=repeated,
    )


def costs(
    pay: Pay, fee: float, work: Sequence[Work], taken: Sequence[Taken], status: Status
) -> tuple[float, float]:
    """Add up what a campaign costs so far, and what it is expected to cost in the end.

    Args:
        pay: What raters get.
        fee: The service's share on top.
        work: What they did.
        taken: The HITs they took.
        status: Where the campaign stands.
    """
    held = {(one.rater, one.hit) for one in taken if one.state == "held"}
    settled = [one for one in work if (one.rater, one.hit) not in held]
    waiting = (status.open + status.held) * pay.price
    return pay.amount(work) * (1 + fee), (pay.amount(settled) + waiting) * (1 + fee)


def _pace(times: FloatArray, now: float) -> float:
    """Count answers in an hour, by those of the last one."""
    recent = times[np.searchsorted(times, now - HOUR) :]
    if len(recent) < _ENOUGH_ANSWERS or now - recent[0] < _ENOUGH_TIME:
        return math.nan
    return float((len(recent) - 1) / (now - recent[0]) * HOUR)


def answer_times(judgments: Judgments) -> FloatArray:
    """Return when each task was answered, in order; a task with several scores counts once.

    The server's time counts, and what the page says only of judgments that were made elsewhere.
    """
    columns = (judgments.rater, judgments.hit, judgments.task)
    key = np.zeros(len(judgments), dtype=np.int64)
    for column in columns:
        key = key * max(1, len(column.names)) + column.codes
    _, first = np.unique(key, return_index=True)
    received = judgments.received[first]
    times = np.sort(np.where(np.isnan(received), judgments.submitted[first], received))
    known: FloatArray = times[~np.isnan(times)]
    return known


def agreed(judgments: Judgments, protocol: Protocol) -> Sequence[Agreed]:
    """Measure how far raters agree on captions that several of them judged.

    Args:
        judgments: Of the raters who count.
        protocol: What they were asked.
    """
    names = [criterion.name for criterion in protocol.criteria]
    if protocol.form != "comparison":
        measured = {name: agreement(judgments.only(name)) for name in names}
        return [Agreed(name, one.alpha, one.icc.captions) for name, one in measured.items()]
    votes: dict[str, list[Votes]] = {name: [] for name in names}
    for (criterion, system, other), by_item in count_votes(judgments).items():
        if system < other:  # each pair is counted both ways
            votes[criterion] += by_item.values()
    return [
        Agreed(name, pairs_agreed(pairs), sum(pair.all > 1 for pair in pairs))
        for name, pairs in votes.items()
    ]


def repeated(judgments: Judgments) -> Agreed:
    """Correlate two scores of one caption by the same rater, over all raters.

    Args:
        judgments: Of the raters who count.
    """
    rows = pair_controls(judgments, "repeat")
    first, second = judgments.score[rows.captions], judgments.score[rows.controls]
    r = float(pearson(first, second)) if len(first) > 2 else math.nan
    return Agreed("repeats", r, len(first))
