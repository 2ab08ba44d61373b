"""More HITs from the same plan, until every system has as many good judgments as are wanted.

Good are judgments of finished HITs by raters who count (`reelscore.campaigns.evaluate.results`).
What open and held places will bring is counted too, so that to ask twice adds nothing. New HITs
show first what has the fewest good judgments; they are the same for the same campaign at the same
point.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reelscore.campaigns.evaluate.quality import Control
from reelscore.campaigns.evaluate.results import campaign_quality
from reelscore.campaigns.hits.design import REFERENCE, Design, more_hits
from reelscore.campaigns.hits.tasks import Hit, HitPlan, Task, captions_shown
from reelscore.campaigns.judgments import Judgments
from reelscore.errors import DataError

if TYPE_CHECKING:
    from reelscore.campaigns.campaign import Campaign

_MOST = 100_000  # HITs


@dataclass(frozen=True)
class TopUp:
    """What was there, and what was added."""

    good: dict[str, int]  # good judgments of each system's captions, repeats not counted
    # judgments that open and held places will bring, before anything was added
    awaited: dict[str, int]
    hits: int  # how many HITs were added


def top_up(campaign: Campaign, wanted: int, *, actor: str, control: Control | None = None) -> TopUp:
    """Add as many HITs as it takes, all or none, and log it.

    Args:
        campaign: The campaign.
        wanted: Good judgments for each system; people's captions are not counted.
        actor: Who asks for it.
        control: What raters of ratings must show.

    Raises:
        DataError: If the captions are not known, or too few for a HIT.
    """
    if wanted < 1:
        raise DataError(f"{wanted} judgments for each system; expected at least 1.")
    # Before the counting: whoever counts before others add HITs makes the same ones as they do,
    # and the database takes them once.
    there = list(campaign.hits())
    first = campaign.protocol.criteria[0].name
    judgments = campaign.judgments(finished=True)
    quality = campaign_quality(campaign, judgments, control)
    good = _captions_judged(quality.good(judgments).only(first))
    awaited = Counter(campaign.awaited())
    apart = {*campaign.humans, REFERENCE}
    systems = [name for name in campaign.systems if name not in apart]
    missing = {name: wanted - _of(good, name) - _of(awaited, name) for name in systems}
    plan = None
    if max(missing.values(), default=0) > 0:
        plan = _plan(campaign, there, missing, good + awaited)
        campaign.add_hits(plan.hits)
        reason = f"{len(plan.hits)} HITs for {wanted} good judgments of each system"
        campaign.decide("top up", "", actor=actor, reason=reason)
    return TopUp(
        {name: _of(good, name) for name in systems},
        {name: _of(awaited, name) for name in systems},
        len(plan.hits) if plan else 0,
    )


def _captions_judged(judgments: Judgments) -> Counter[tuple[str, str]]:
    """Count judgments by system and item; a comparison is about both its captions."""
    captions = judgments.select(judgments.is_kind("caption"))
    pairs = Counter(zip(captions.system, captions.item, strict=True))
    against = zip(captions.against, captions.item, strict=True)
    return pairs + Counter(pair for pair in against if pair[0])


def _of(counts: Counter[tuple[str, str]], system: str) -> int:
    return sum(number for (name, _), number in counts.items() if name == system)


def _plan(
    campaign: Campaign, there: list[Hit], missing: dict[str, int], shown: Counter[tuple[str, str]]
) -> HitPlan:
    """Build the fewest HITs that bring every system what it lacks."""
    captions, human = _captions(campaign, there)
    number = 1
    while number <= _MOST:
        design = Design(
            campaign.protocol.name,
            campaign.terms.layout,
            number,
            len([task for task in there[0].tasks if task.expected is None]),
            human,
            _seed(campaign.terms.seed, len(there)),
        )
        plan = more_hits(design, captions, shown, _tests(there))
        brought = plan.coverage().systems
        lacks = {
            name: lack - brought.get(name, 0) * campaign.terms.raters_per_hit
            for name, lack in missing.items()
        }
        if max(lacks.values()) <= 0:
            return plan
        name = max(lacks, key=lambda each: lacks[each])
        each = max(1, brought.get(name, 0) * campaign.terms.raters_per_hit // number)
        number += max(1, lacks[name] // (each + 1))
    raise DataError(f"It would take more than {_MOST:,} HITs; ask for fewer judgments.")


def _captions(campaign: Campaign, hits: list[Hit]) -> tuple[dict[str, dict[str, str]], str]:
    """Return what HITs are made of, and the name of the people among it."""
    captions = campaign.captions()
    if not captions:  # of a campaign that keeps none, those that its HITs show
        captions = captions_shown(hits)
        for references in captions_shown(hits, "reference").values():
            captions.setdefault(REFERENCE, {}).update(references)
    if not captions:
        raise DataError(
            f"The captions of campaign {campaign.id!r} are not known, so no more HITs can be made; "
            "was it imported?"
        )
    if campaign.protocol.form != "rating":
        return captions, ""
    others = [name for name in captions if name not in campaign.systems]
    human = next(iter((*campaign.humans, *others)), "human")
    captions.setdefault(human, {})
    return captions, human


def _tests(hits: list[Hit]) -> list[Task]:
    """Return the test questions of a campaign, each once."""
    questions: dict[tuple[str, frozenset[str]], Task] = {}
    for task in (task for hit in hits for task in hit.tasks if task.expected is not None):
        key = (task.item, frozenset(caption.text for caption in task.shown))
        questions.setdefault(key, task)
    return list(questions.values())


def _seed(seed: int, hits: int) -> int:
    """Derive the random seed of HITs that are added to a number of others."""
    digest = hashlib.sha256(f"top up {seed} after {hits}".encode()).digest()
    return int.from_bytes(digest[:6], "big")
