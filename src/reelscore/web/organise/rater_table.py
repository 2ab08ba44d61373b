"""The raters of a campaign at this moment: how far they are, and whether they can be trusted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

from reelscore.human.campaign import Campaign
from reelscore.human.pace import Pace, pace
from reelscore.human.quality import Quality, RaterQuality, check_quality
from reelscore.report.agreement import p_value
from reelscore.web.store.assignments import Taken, list_taken


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

    @property
    def mood(self) -> str:
        """How the verdict looks: good, poor, or not known yet."""
        if self.verdict in ("failed", "constant", "rejected", "excluded"):
            return "poor"
        return "good" if self.verdict == "passed" else "wait"


@dataclass(frozen=True)
class Trust:
    """What the judgments so far say of the raters; computed anew when there are new ones."""

    _known: dict[str, tuple[object, Quality | None, Mapping[str, Pace]]] = field(
        default_factory=dict
    )
    _lock: Lock = field(default_factory=Lock)

    def of(self, campaign: Campaign) -> tuple[Quality | None, Mapping[str, Pace]]:
        """Give the verdicts, for ratings only, and the pace."""
        excluded = campaign.excluded()
        version = (campaign.status().judgments, excluded)
        with self._lock:  # several organisers may look at once; one computes
            known = self._known.get(campaign.id)
            if known is None or known[0] != version:
                judgments = campaign.judgments()
                quality = None
                if campaign.protocol.form == "rating":
                    humans = campaign.settings.get("humans", [])
                    quality = check_quality(judgments, humans=humans, excluded=excluded)
                known = (version, quality, pace(judgments))
                self._known[campaign.id] = known
            return known[1], known[2]


def rater_rows(campaign: Campaign, trust: Trust) -> Sequence[RaterRow]:
    """Set out a row for each rater who has taken a HIT, those at work first."""
    quality, speeds = trust.of(campaign)
    verdicts = {each.rater: each for each in quality.raters} if quality else {}
    taken = list_taken(campaign.database, campaign.id)
    done = Counter(each.rater for each in taken if each.state == "done")
    held = {each.rater: each for each in taken if each.state == "held"}
    answers: Counter[str] = Counter()
    for each in taken:
        answers[each.rater] += each.answers
    decisions = {
        event.about: event.what
        for event in campaign.events()
        if event.what in ("pay", "reject", "exclude", "readmit")
    }
    return [
        _row(
            rater,
            done[rater],
            held.get(rater),
            answers[rater],
            verdicts.get(rater),
            speeds.get(rater),
            decisions.get(rater, ""),
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
) -> RaterRow:
    seconds = _number(speed.mean if speed else math.nan)
    if quality is None:
        return RaterRow(rater, done, held, answers, "", "", "", "", "", seconds, "", decision)
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
        " ".join(quality.flags),
        decision,
    )


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1f}"
