"""What organisers decide while a campaign runs, logged with name and reason; review of HITs."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Form, Path
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from reelscore.campaigns.evaluate.results import campaign_quality
from reelscore.campaigns.hits.top_up import top_up
from reelscore.campaigns.pages.open_campaigns import Chosen, campaigns_of
from reelscore.campaigns.pages.organisers.preview import PATIENCE
from reelscore.web.requests import Router
from reelscore.web.sessions import PATH, Organiser, Owner
from reelscore.web.site import FromOurForm

router = Router(prefix=PATH + "/c/{campaign}", dependencies=[FromOurForm])
Reason = Annotated[str, Form(max_length=2000)]
_LARGEST = 2**53
Number = Annotated[int, Path(ge=1, lt=_LARGEST)]


@router.post("/state")
def set_state(
    desk: Organiser,
    campaign: Chosen,
    state: Annotated[Literal["open", "paused", "closed"], Form()],
    reason: Reason = "",
    anyway: Annotated[bool, Form()] = False,
) -> Response:
    """Open, pause or close a campaign; an assistant may not close it, nor open it again then.

    It opens when all its videos can be played, or an organiser opens it anyway.
    """
    if not desk.account.is_owner and "closed" in (state, campaign.state):
        raise HTTPException(403, "Only an owner may close a campaign or open it again.")
    if state == "open":
        inspection = campaigns_of(desk.site).preflight.start(campaign)
        inspection.wait(PATIENCE)
        if not inspection.is_fine and not anyway:
            return desk.go(f"/c/{campaign.id}/videos")
        reason = reason or inspection.warning
    campaign.set_state(state, actor=desk.account.name, reason=reason)
    return desk.go(f"/c/{campaign.id}", f"The campaign is {state}.")


@router.post("/release")
def release_abandoned(desk: Organiser, campaign: Chosen) -> Response:
    """Offer again the HITs of raters who have not been seen for the hold time."""
    number = campaign.release_abandoned()
    return desk.go(f"/c/{campaign.id}", f"HITs that are offered again: {number}.")


@router.post("/release/{assignment}")
def release_one(
    desk: Organiser, campaign: Chosen, assignment: int, reason: Reason = "released by hand"
) -> Response:
    """Offer one HIT again at once."""
    if not 0 < assignment < _LARGEST:
        raise HTTPException(404, "There is no such assignment.")
    campaign.release(assignment, actor=desk.account.name, reason=reason)
    return desk.go(f"/c/{campaign.id}", "The HIT is offered again.")


@router.post("/decide")
def decide(
    desk: Organiser,
    campaign: Chosen,
    rater: Annotated[str, Form(max_length=200)],
    what: Annotated[Literal["pay", "reject", "exclude", "readmit"], Form()],
    reason: Reason,
) -> Response:
    """Pay, reject, exclude or readmit a rater, and say why."""
    if not reason.strip():
        raise HTTPException(422, "A decision about a person needs a reason.")
    campaign.decide(what, rater, actor=desk.account.name, reason=reason)
    return desk.go(f"/c/{campaign.id}", f"The decision about {rater} is kept: {what}.")


@router.post("/review/{assignment}")
def review(
    desk: Organiser,
    campaign: Chosen,
    assignment: Number,
    verdict: Annotated[Literal["approve", "reject"], Form()],
    reason: Reason = "",
) -> Response:
    """Approve or reject one finished HIT; a rejection needs a reason."""
    if verdict == "reject" and not reason.strip():
        raise HTTPException(422, "To reject work needs a reason.")
    campaign.review(assignment, verdict, actor=desk.account.name, reason=reason)
    done = "approved: its rater sees the code" if verdict == "approve" else "rejected"
    return desk.go(f"/c/{campaign.id}/raters", f"The HIT is {done}.")


@router.post("/offer")
def offer_all(
    desk: Organiser, campaign: Chosen, rater: Annotated[str, Form(max_length=200)] = ""
) -> Response:
    """Offer again all HITs of one rater, or of all whose work cannot be used."""
    if rater:
        poor, reason = frozenset([rater]), "offered again by hand"
    else:
        poor = campaign_quality(campaign, campaign.judgments(finished=True)).poor
        reason = "the work cannot be used"
    number = campaign.offer_all_again(poor, actor=desk.account.name, reason=reason)
    return desk.go(f"/c/{campaign.id}", f"HITs that are offered again: {number}.")


@router.post("/offer/{assignment}")
def offer_one(desk: Organiser, campaign: Chosen, assignment: Number) -> Response:
    """Offer one finished HIT again."""
    is_new = campaign.offer_again(
        assignment, actor=desk.account.name, reason="offered again by hand"
    )
    text = "The HIT is offered again." if is_new else "The HIT was offered again before."
    return desk.go(f"/c/{campaign.id}/raters", text)


@router.post("/top-up")
def add_hits(
    desk: Owner, campaign: Chosen, judgments: Annotated[int, Form(ge=1, le=1_000_000)]
) -> Response:
    """Add HITs until every system will have this many good judgments."""
    done = top_up(campaign, judgments, actor=desk.account.name)
    text = f"HITs that are added: {done.hits}." if done.hits else "Nothing is missing."
    return desk.go(f"/c/{campaign.id}", text)
