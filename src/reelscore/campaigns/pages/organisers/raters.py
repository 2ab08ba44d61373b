"""The raters of a campaign at this moment: how far they are, and whether they can be trusted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.evaluate.quality import (
    Control,
    Pace,
    Quality,
    RaterQuality,
    check_quality,
    pace,
)
from reelscore.campaigns.judgments import FloatArray, Judgments
from reelscore.campaigns.pages.organisers.progress import Agreed, agreed, answer_times, repeated
from reelscore.campaigns.store.rater_work import Taken
from reelscore.campaigns.store.records import Status
from reelscore.report.tables.grid import p_value

_STEPS = 200  # a campaign at work is looked at anew when it has grown by this part
_POOR = ("failed", "constant", "rejected", "excluded")


@dataclass(frozen=True)
class RaterRow:
    """One rater, as the table shows them."""

    rater: str
    done: int
    held: Taken | None
    answers: int
    verdict: str
    pairs: str
    difference: str
    p: str
    again: str
    seconds: str
    flags: str
    decision: str
    seen: float

    @property
    def mood(self) -> str:
        """How the verdict looks: good, poor, or not known yet."""
        if self.verdict in _POOR:
            return "poor"
        return "good" if self.verdict == "passed" else "wait"


@dataclass(frozen=True)
class Findings:
    """What the judgments so far say.

    Attributes:
        verdicts: On each rater; for ratings only.
        paces: How fast each rater works.
        answer_times: When tasks were answered, in order.
        agreed: How far the raters agree who are not left out.
        repeated: How far they agree with themselves.
    """

    verdicts: Mapping[str, RaterQuality]
    paces: Mapping[str, Pace]
    answer_times: FloatArray
    agreed: Sequence[Agreed]
    repeated: Agreed

    @classmethod
    def of(cls, campaign: Campaign, judgments: Judgments, excluded: Collection[str]) -> Findings:
        """Look at all judgments of a campaign."""
        quality = Quality(Control(), ())
        if campaign.protocol.form == "rating":
            humans = campaign.humans
            quality = check_quality(judgments, humans=humans, excluded=excluded)
        verdicts = {rater.rater: rater for rater in quality.raters}
        left_out = {name for name, rater in verdicts.items() if rater.verdict in _POOR}
        left_out |= {*excluded, *campaign.rejected()}
        counting = judgments.by(set(judgments.rater.names) - left_out)
        return cls(
            verdicts,
            pace(judgments),
            answer_times(judgments),
            agreed(counting, campaign.protocol),
            repeated(counting),
        )


@dataclass(frozen=True)
class Trust:
    """What the judgments of each campaign say, kept until there are new ones.

    Looking at all of a large campaign takes a while, and pages ask every few seconds: while a HIT
    is under way, only so many new judgments that they could change something are a reason to.
    """

    _known: dict[str, tuple[object, Findings]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def of(self, campaign: Campaign, status: Status) -> Findings:
        """Return what the judgments say.

        Args:
            campaign: The campaign.
            status: Where it stands.
        """
        excluded = campaign.excluded()
        step = max(1, status.judgments // _STEPS)
        left_out = excluded | campaign.rejected()
        version = (status.judgments // step, step, status.done, left_out)
        with self._lock:  # several organisers may look at once; one computes
            known = self._known.get(campaign.id)
            if known is None or known[0] != version:
                known = (version, Findings.of(campaign, campaign.judgments(), excluded))
                self._known[campaign.id] = known
            return known[1]


def rater_rows(
    campaign: Campaign, findings: Findings, taken: Sequence[Taken]
) -> Sequence[RaterRow]:
    """Return a row for each rater who has taken a HIT, those seen last first."""
    done = Counter(each.rater for each in taken if each.state == "done")
    held = {each.rater: each for each in taken if each.state == "held"}
    answers: Counter[str] = Counter()
    for each in taken:
        answers[each.rater] += each.answers
    decisions = {
        event.about: event.what
        for event in campaign.events()
        if event.what in ("pay", "approve", "reject", "exclude", "readmit")
    }
    looks: dict[str, set[str]] = {}
    for each in taken:
        looks.setdefault(each.rater, set()).update(each.flags)
    seen = {each.rater: each.active for each in reversed(taken)}  # the newest come first
    return [
        _row(
            rater,
            done[rater],
            held.get(rater),
            answers[rater],
            findings.verdicts.get(rater),
            findings.paces.get(rater),
            decisions.get(rater, ""),
            seen[rater],
            sorted(looks[rater]),
        )
        for rater in dict.fromkeys(each.rater for each in taken)
    ]


def _row(
    rater: str,
    done: int,
    held: Taken | None,
    answers: int,
    quality: RaterQuality | None,
    speed: Pace | None,
    decision: str,
    seen: float,
    looks: Sequence[str],
) -> RaterRow:
    seconds = _number(speed.mean if speed else math.nan)
    if quality is None:
        flags = " ".join(looks)
        return RaterRow(
            rater, done, held, answers, "", "", "", "", "", seconds, flags, decision, seen
        )
    return RaterRow(
        rater,
        done,
        held,
        answers,
        quality.verdict,
        f"{quality.pairs}",
        _number(quality.difference),
        "–" if math.isnan(quality.p) else p_value(quality.p),
        _number(quality.repeat_difference),
        seconds,
        " ".join([*quality.flags, *looks]),
        decision,
        seen,
    )


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1f}"
