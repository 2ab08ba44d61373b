"""The end: a code, and the way back to the crowd service."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.responses import Response

from reelscore.human.store.records import REJECTED, Assignment
from reelscore.web.guards import Router
from reelscore.web.raters.ends import completion, external_submit, show_end
from reelscore.web.raters.session import Current, Session
from reelscore.web.raters.tasks import may_go_on

router = Router()


@router.get("/finish")
def show_finish(request: Request, session: Current) -> Response:
    """Show the end: a code, and the way back to the crowd service."""
    rater, pages, held = session.rater, session.pages, session.assignment()
    if rater.passed is False:
        return show_end(request, session, "screened_out")
    if held is None or held.state != "done":
        return session.go("")
    more = rater.service in ("link", "open") and may_go_on(session)
    if len(held.skipped) > len(held.answered):  # nobody earns the code by reports alone
        return show_end(request, session, "skipped", more=more)
    if held.status == REJECTED:
        return show_end(request, session, "rejected")
    if held.needs_review and pages.review:
        return show_end(request, session, "review", more=more)
    code = completion_code(session, held)
    context: dict[str, Any] = {
        "session": session,
        "code": code,
        "back": completion(pages.prolific_code) if rater.service == "prolific" else "",
        "submit": external_submit(rater.destination) if rater.service == "mturk" else "",
        "more": more,
    }
    return session.site.page(request, "raters/finish.html", **context)


def completion_code(session: Session, assignment: Assignment) -> str:
    """Give the code that proves a finished HIT; organisers see the same."""
    if session.rater.service == "prolific":
        return session.pages.prolific_code
    return session.site.signer.code(session.campaign.id, assignment.rater, str(assignment.id))
