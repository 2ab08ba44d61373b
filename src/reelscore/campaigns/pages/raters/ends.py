"""The ways a rater's part can end, and the way home from each.

Prolific is told of an end by a code, Mechanical Turk by a form; without a code, or without answers
to submit, raters are asked to return what they accepted. Those who came by a link may go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from fastapi.responses import Response

from reelscore.campaigns.pages.raters.session import Current, Session
from reelscore.campaigns.store.records import REJECTED, Assignment
from reelscore.web.requests import Router

Name = Literal[
    "declined",
    "screened_out",
    "no_work",
    "timed_out",
    "partial",
    "skipped",
    "stopped",
    "review",
    "rejected",
]
router = Router()
PROLIFIC = "https://app.prolific.com/"


@dataclass(frozen=True)
class End:
    """One way to end before a HIT is done."""

    heading: str  # what the page says first
    text: str  # what has happened
    code: str  # the field of the campaign's pages that holds Prolific's code for it
    again: str = ""  # what a rater may do instead of leaving; empty for nothing
    # what participants of Prolific are to do where there is no code
    without: str = (
        "Please return your submission on Prolific: choose Stop without completing there."
    )


ENDS: dict[Name, End] = {
    "declined": End(
        "You are not taking part",
        "You did not agree, so there is nothing to do. Thank you for your time.",
        "no_consent_code",
        "Read the instructions again",
    ),
    "screened_out": End(
        "Thank you for your time",
        "The answers about the instructions were wrong twice, so you cannot take part. "
        "Nothing you did counts against you.",
        "screen_out_code",
    ),
    "no_work": End(
        "No tasks at the moment",
        "There are no tasks for you at the moment.",
        "no_work_code",
        "Try again",
    ),
    "timed_out": End(
        "Your place was taken",
        "Your tasks were left too long: somebody else has them now, and there are no others for "
        "you.",
        "timed_out_code",
        "Try again",
    ),
    "partial": End(
        "Given back",
        "Somebody else will do the rest.",
        "partial_code",
        "Go on with the tasks after all",
    ),
    "skipped": End(
        "Thank you for your reports",
        "You skipped more tasks than you answered, so the organisers look at your reports first.",
        "partial_code",
    ),
    "stopped": End(
        "The work has stopped",
        "The organiser has ended it before you were done. Nothing you did counts against you.",
        "stopped_code",
        "Try again",
    ),
    "review": End(
        "Thank you!",
        "All tasks are answered. The answers came faster than we expected, so the organisers look "
        "at them first, and pay you after that.",
        "review_code",
        "Look again",
        "Leave your submission on Prolific open, and look again here later. If its time runs out, "
        "return it: the organisers can still pay you.",
    ),
    "rejected": End(
        "This work was not accepted",
        "The organisers have looked at your answers and do not accept them. They are not paid, and "
        "there are no more tasks for you here.",
        "rejected_code",
    ),
}

_DONE = ("skipped", "review")  # ends of HITs that are done, and whose answers may be paid


def show_end(
    session: Session, name: Name, text: str = "", status: int = 200, *, more: bool = False
) -> Response:
    """Show an end, with the way home."""
    end, rater, taken = ENDS[name], session.rater, session.assignment()
    answers = 0
    if taken is not None and (taken.state != "done" or name in _DONE):
        answers = len(taken.answered)
    code = getattr(session.pages, end.code) if rater.service == "prolific" else ""
    return session.page(
        "raters/end.html",
        status,
        end=end,
        name=name,
        text=text or end.text,
        answers=answers,
        taken=taken,
        more=more,
        code=code,
        home=completion(code) if code else PROLIFIC,
        submit=external_submit(rater.destination) if rater.service == "mturk" and answers else "",
    )


def completion(code: str) -> str:
    """Return the address that ends a submission on Prolific.

    >>> completion("C1A2")
    'https://app.prolific.com/submissions/complete?cc=C1A2'
    """
    return f"{PROLIFIC}submissions/complete?cc={quote(code, safe='')}"


def external_submit(destination: str) -> str:
    """Return the address that ends an assignment on Mechanical Turk.

    >>> external_submit("https://www.mturk.com")
    'https://www.mturk.com/mturk/externalSubmit'
    """
    return f"{destination}/mturk/externalSubmit"


@router.get("/finish")
def show_finish(session: Current) -> Response:
    """Show the end: a code, and the way back to the crowd service."""
    rater, pages, held = session.rater, session.pages, session.assignment()
    if rater.passed is False:
        return show_end(session, "screened_out")
    if held is None or held.state != "done":
        return session.go("")
    more = session.may_do_more
    if len(held.skipped) > len(held.answered):  # nobody earns the code by reports alone
        return show_end(session, "skipped", more=more)
    if held.status == REJECTED:
        return show_end(session, "rejected")
    if held.needs_review and pages.review:
        return show_end(session, "review", more=more)
    code = completion_code(session, held)
    return session.page(
        "raters/finish.html",
        code=code,
        back=completion(pages.prolific_code) if rater.service == "prolific" else "",
        submit=external_submit(rater.destination) if rater.service == "mturk" else "",
        more=more,
    )


def completion_code(session: Session, assignment: Assignment) -> str:
    """Return the code that proves a finished HIT; organisers see the same."""
    if session.rater.service == "prolific":
        return session.pages.prolific_code
    return session.site.signer.code(session.campaign.id, assignment.rater, str(assignment.id))
