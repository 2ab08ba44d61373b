"""How a campaign goes: what it costs, how fast it is, and which raters to trust."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from reelscore.campaigns.campaign import HOUR, Campaign
from reelscore.campaigns.evaluate.agreement import agreement
from reelscore.campaigns.evaluate.quality import (
    KEY,
    POOR,
    Pace,
    RaterQuality,
    Repeats,
    pace,
    repeated,
)
from reelscore.campaigns.evaluate.results import campaign_quality
from reelscore.campaigns.evaluate.votes import Votes, count_votes, pairs_agreed
from reelscore.campaigns.judgments import FloatArray, Judgments
from reelscore.campaigns.payments import Pay
from reelscore.campaigns.protocols import Protocol
from reelscore.campaigns.report.tables import number_text
from reelscore.campaigns.store.records import Status, TakenHit
from reelscore.report.tables.grid import p_value

_ENOUGH_ANSWERS = 5  # in the last hour, to speak of a pace
_ENOUGH_TIME = 60.0  # seconds since the first of them
_ENOUGH_CAPTIONS = 10  # judged by several raters, to speak of agreement


@dataclass(frozen=True)
class Agreed:
    """How far raters agree by one criterion."""

    criterion: str  # what was judged
    # Krippendorff's alpha, or for comparisons the share of pairs of raters who voted alike; NaN
    # where there is too little to tell
    value: float
    captions: int  # how many captions, or pairs of captions, several raters judged

    @property
    def is_enough(self) -> bool:
        """Whether the value says something."""
        return self.captions >= _ENOUGH_CAPTIONS and not math.isnan(self.value)


@dataclass(frozen=True)
class Figures:
    """What the page of a campaign tells at a glance."""

    so_far: float  # what the work up to now costs, with the fee
    expected: float  # what it costs when all places are done
    # tasks answered in an hour, at the pace of the last one; NaN where it is too early to tell
    answers: float
    hits: float  # HITs done in an hour, at the same pace
    # seconds until all is answered at this pace; 0 where all is, NaN where nobody knows
    left: float


def figures(
    status: Status,
    costs: tuple[float, float],
    *,
    tasks: int,
    begun: int,
    answer_times: FloatArray,
    now: float,
) -> Figures:
    """Put the figures of a campaign together.

    >>> status = Status(state="open", hits=10, finished=4, open=5, held=1, done=4, abandoned=0,
    ...                 judgments=84, skipped=0, raters=5, by_system={})
    >>> times = np.arange(0.0, 84 * 30, 30)  # an answer every half minute
    >>> shown = figures(status, (4.0, 10.0), tasks=200, begun=4, answer_times=times, now=2490)
    >>> shown.answers, shown.hits, shown.left
    (120.0, 6.0, 3480.0)
    """
    waiting = status.open + status.held
    per_hit = tasks / status.hits if status.hits else math.nan
    answers = _pace(answer_times, now)
    remaining = max(0.0, waiting * per_hit - begun) if waiting else 0.0
    left = 0.0 if not remaining else remaining / answers * HOUR
    return Figures(*costs, answers=answers, hits=answers / per_hit, left=left)


def costs(pay: Pay, fee: float, taken: Sequence[TakenHit], status: Status) -> tuple[float, float]:
    """Add up what a campaign costs so far, and what it is expected to cost in the end."""
    settled = pay.amount(one for one in taken if one.state != "held")
    waiting = (status.open + status.held) * pay.price
    return pay.amount(taken) * (1 + fee), (settled + waiting) * (1 + fee)


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
    key = np.zeros(len(judgments), dtype=np.int64)
    for column in (judgments.rater, judgments.hit, judgments.task):
        key = key * max(1, len(column.names)) + column.codes
    _, first = np.unique(key, return_index=True)
    received = judgments.received[first]
    times = np.sort(np.where(np.isnan(received), judgments.submitted[first], received))
    known: FloatArray = times[~np.isnan(times)]
    return known


def agreed(judgments: Judgments, protocol: Protocol) -> Sequence[Agreed]:
    """Measure how far raters agree on captions that several of them judged."""
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


_STEPS = 200  # a campaign at work is looked at anew when it has grown by this part


@dataclass(frozen=True)
class RaterRow:
    """One rater, as the table shows them."""

    rater: str
    done: int
    held: TakenHit | None
    answers: int
    seconds: str
    flags: str
    decision: str
    seen: float
    verdict: str = ""
    pairs: str = ""
    difference: str = ""
    p: str = ""
    again: str = ""
    tests: str = ""

    @property
    def mood(self) -> str:
        """How the verdict looks: good, poor, or not known yet."""
        if self.verdict in POOR:
            return "poor"
        return "good" if self.verdict == "passed" else "wait"


@dataclass(frozen=True)
class CampaignFindings:
    """What the judgments so far say."""

    verdicts: Mapping[str, RaterQuality]  # on each rater
    paces: Mapping[str, Pace]  # how fast each rater works
    answer_times: FloatArray  # when tasks were answered, in order
    agreed: Sequence[Agreed]  # how far the raters agree who are not left out
    repeated: Repeats  # how far they agree with themselves

    @classmethod
    def of(
        cls, campaign: Campaign, judgments: Judgments, excluded: Collection[str]
    ) -> CampaignFindings:
        """Look at all judgments of a campaign."""
        quality = campaign_quality(campaign, judgments)
        left_out = {*quality.poor, *excluded, *campaign.rejected()}
        counting = judgments.by(set(judgments.rater.names) - left_out)
        return cls(
            {rater.rater: rater for rater in quality.raters},
            pace(judgments),
            answer_times(judgments),
            agreed(counting, campaign.protocol),
            repeated(counting.only(quality.criterion)),
        )


@dataclass(frozen=True)
class Trust:
    """What the judgments of each campaign say, kept until there are new ones.

    Looking at all of a large campaign takes a while, and pages ask every few seconds: while a HIT
    is under way, only so many new judgments that they could change something are a reason to.
    """

    _known: dict[str, tuple[object, CampaignFindings]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def of(self, campaign: Campaign, status: Status) -> CampaignFindings:
        """Return what the judgments say."""
        excluded = campaign.excluded()
        step = max(1, status.judgments // _STEPS)
        left_out = excluded | campaign.rejected()
        control = str(campaign.settings.get(KEY))
        version = (status.judgments // step, step, status.done, left_out, control)
        with self._lock:  # several organisers may look at once; one computes
            known = self._known.get(campaign.id)
            if known is None or known[0] != version:
                known = (version, CampaignFindings.of(campaign, campaign.judgments(), excluded))
                self._known[campaign.id] = known
            return known[1]


def rater_rows(
    campaign: Campaign, findings: CampaignFindings, taken: Sequence[TakenHit]
) -> Sequence[RaterRow]:
    """Return a row for each rater who has taken a HIT, those seen last first."""
    done = Counter(each.rater for each in taken if each.state == "done")
    held = {each.rater: each for each in taken if each.state == "held"}
    answers: Counter[str] = Counter()
    looks: dict[str, set[str]] = {}
    seen: dict[str, float] = {}
    for each in taken:  # the newest come first
        answers[each.rater] += each.answers
        looks.setdefault(each.rater, set()).update(each.flags)
        seen.setdefault(each.rater, each.active)
    decisions = {
        event.about: event.what
        for event in campaign.events()
        if event.what in ("pay", "approve", "reject", "exclude", "readmit")
    }
    rows = []
    for rater in seen:
        quality, speed = findings.verdicts.get(rater), findings.paces.get(rater)
        flags = [*(quality.flags if quality else ()), *sorted(looks[rater])]
        rows.append(
            RaterRow(
                rater,
                done[rater],
                held.get(rater),
                answers[rater],
                seconds=number_text(speed.mean if speed else math.nan, 1),
                flags=" ".join(flags),
                decision=decisions.get(rater, ""),
                seen=seen[rater],
                **(_tested(quality) if quality else {}),
            )
        )
    return rows


def _tested(quality: RaterQuality) -> dict[str, str]:
    """Write what quality control found about a rater."""
    return {
        "verdict": quality.verdict,
        "pairs": f"{quality.pairs}",
        "difference": number_text(quality.difference, 1),
        "p": "–" if math.isnan(quality.p) else p_value(quality.p),
        "again": number_text(quality.repeat_difference, 1),
        "tests": f"{quality.right} of {quality.asked}" if quality.asked else "",
    }
