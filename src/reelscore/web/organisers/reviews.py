"""Work that has to be looked at: HITs are approved, rejected, or offered to somebody else."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Form, Path
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from reelscore.human.evaluate.usable import usable
from reelscore.human.hits.top_up import top_up
from reelscore.web.guards import Router
from reelscore.web.organisers.session import PATH, Organiser, Owner
from reelscore.web.site import FromOurForm

router = Router(prefix=PATH + "/c/{campaign}", dependencies=[FromOurForm])
Number = Annotated[int, Path(ge=1, lt=2**53)]
Reason = Annotated[str, Form(max_length=2000)]


@router.post("/review/{assignment}")
def review(
    desk: Organiser,
    campaign: str,
    assignment: Number,
    verdict: Annotated[Literal["approve", "reject"], Form()],
    reason: Reason = "",
) -> Response:
    """Approve or reject one finished HIT; a rejection needs a reason."""
    if verdict == "reject" and not reason.strip():
        raise HTTPException(422, "To reject work needs a reason.")
    found = desk.campaign(campaign)
    found.review(assignment, verdict, actor=desk.account.name, reason=reason)
    done = "approved: its rater sees the code" if verdict == "approve" else "rejected"
    return desk.go(f"/c/{campaign}/raters", f"The HIT is {done}.")


@router.post("/offer")
def offer_all(
    desk: Organiser, campaign: str, rater: Annotated[str, Form(max_length=200)] = ""
) -> Response:
    """Offer again all HITs of one rater, or of all whose work cannot be used."""
    found = desk.campaign(campaign)
    if rater:
        poor, reason = frozenset([rater]), "offered again by hand"
    else:
        poor = usable(found, found.judgments(finished=True)).poor
        reason = "the work cannot be used"
    number = found.offer_all_again(poor, actor=desk.account.name, reason=reason)
    return desk.go(f"/c/{campaign}", f"HITs that are offered again: {number}.")


@router.post("/offer/{assignment}")
def offer_one(desk: Organiser, campaign: str, assignment: Number) -> Response:
    """Offer one finished HIT again."""
    found = desk.campaign(campaign)
    is_new = found.offer_again(assignment, actor=desk.account.name, reason="offered again by hand")
    text = "The HIT is offered again." if is_new else "The HIT was offered again before."
    return desk.go(f"/c/{campaign}/raters", text)


@router.post("/top-up")
def add_hits(
    desk: Owner, campaign: str, judgments: Annotated[int, Form(ge=1, le=1_000_000)]
) -> Response:
    """Add HITs until every system will have so many good judgments."""
    done = top_up(desk.campaign(campaign), judgments, actor=desk.account.name)
    text = f"HITs that are added: {done.hits}." if done.hits else "Nothing is missing."
    return desk.go(f"/c/{campaign}", text)
