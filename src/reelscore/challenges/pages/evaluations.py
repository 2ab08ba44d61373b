"""Evaluations by people, in the organisers' console: made, watched and published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Form, Path
from fastapi.responses import Response

from reelscore.campaigns.pages.open_campaigns import campaigns_of
from reelscore.campaigns.store.records import Status
from reelscore.challenges.pages.visits import PATH, AsOwner, Visit, missing
from reelscore.challenges.people.human import Evaluation, list_evaluations, make_campaign, publish
from reelscore.errors import DataError
from reelscore.web.requests import Router
from reelscore.web.site import FromOurForm

router = Router(prefix=PATH + "/{challenge}/console/human")
HumanId = Annotated[str, Path(alias="human", max_length=100)]
Reason = Annotated[str, Form(max_length=2000)]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Watched:
    """An evaluation with the figures of its campaign; ``None`` before that is made."""

    evaluation: Evaluation
    status: Status | None


def watched(visit: Visit) -> list[Watched]:
    """Return the evaluations of a challenge as the console shows them."""
    known = {campaign.id: campaign for campaign in campaigns_of(visit.site).all()}
    return [
        Watched(each, known[each.campaign].status() if each.campaign in known else None)
        for each in list_evaluations(visit.view)
    ]


@router.post("/{human}/make", dependencies=[FromOurForm])
def make(visit: AsOwner, id: HumanId, reason: Reason) -> Response:
    """Freeze the final entries and make a campaign of them, as a draft."""
    made = _decided(make_campaign, visit, id, reason)
    done = f"The campaign of {id} is made of {len(made.entries)} entries and {made.items} items."
    return visit.go("/console", done)


@router.post("/{human}/publish", dependencies=[FromOurForm])
def publish_column(visit: AsOwner, id: HumanId, reason: Reason) -> Response:
    """Make the verdict of the closed campaign a column that everybody sees."""
    _decided(publish, visit, id, reason)
    return visit.go("/console", f"The column of {id} is published.")


def _decided(decide: Callable[..., Result], visit: Visit, id: str, reason: str) -> Result:
    """Make or publish an evaluation that exists, with a reason for the log."""
    if id not in {human.id for human in visit.view.definition.humans}:
        raise missing()
    if not reason.strip():
        raise DataError("Say why; it stands in the log.")
    return decide(
        visit.site.settings.database,
        visit.site.database,
        visit.known.id,
        id,
        now=visit.view.now,
        actor=visit.name,
        reason=reason,
    )
