"""Before the first task: instructions and consent, practice, comprehension check."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import Form, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from reelscore.human.protocols import Protocol
from reelscore.web.guards import Router
from reelscore.web.pages import ATTEMPTS
from reelscore.web.raters.ends import show_end
from reelscore.web.raters.screen import practice_screen
from reelscore.web.raters.session import Current, Session
from reelscore.web.raters.tasks import go_on
from reelscore.web.site import FromOurForm

router = Router()
_decoder = msgspec.json.Decoder(dict[str, list[float]])


@router.get("/instructions")
def show_instructions(request: Request, session: Current) -> Response:
    """Show the instructions and ask for consent; they can be read again at any time."""
    return session.site.page(
        request,
        "raters/instructions.html",
        session=session,
        parts=session.pages.instructions_for(session.campaign.protocol),
    )


@router.post("/instructions", dependencies=[FromOurForm])
def consent(request: Request, session: Current) -> Response:
    """Note that a rater agrees."""
    if session.rater.consented is None:
        session = session.noting(consented=session.site.now)
    return go_on(request, session)


@router.post("/decline", dependencies=[FromOurForm])
def decline(request: Request, session: Current) -> Response:
    """Let a rater go who does not agree; nothing is noted."""
    if session.rater.consented is not None:
        return session.go("work")
    return show_end(request, session, "declined")


@router.get("/practice")
def show_practice(request: Request, session: Current) -> Response:
    """Show the next practice task."""
    if session.step != "practice":
        return session.go("")
    return _practice(request, session)


@router.post("/practice", dependencies=[FromOurForm])
def practise(
    request: Request,
    session: Current,
    answer: Annotated[str, Form(max_length=4000)],
    number: Annotated[int, Form(ge=0, le=1000)],
) -> Response:
    """Say how an answer compares with what most people would say."""
    if session.step != "practice" or number != session.rater.practised:
        return session.go("")  # sent twice, or the back button
    practice = session.pages.practice_for(session.campaign.protocol)[number]
    try:
        given = _decoder.decode(answer)
    except msgspec.MsgspecError:
        raise HTTPException(422, "The answer cannot be read.") from None
    session.campaign.protocol.check(given, len(practice.captions))
    page = _practice(request, session, given)
    session.noting(practised=number + 1)
    return page


def _practice(
    request: Request, session: Session, given: dict[str, list[float]] | None = None
) -> Response:
    number = session.rater.practised
    tasks = session.pages.practice_for(session.campaign.protocol)
    return session.site.page(
        request,
        "raters/practice.html",
        session=session,
        screen=practice_screen(session, tasks[number]),
        number=number,
        total=len(tasks),
        feedback=tasks[number].feedback if given is not None else "",
        fine=given is not None and tasks[number].is_fine(given),
        given=_words(session.campaign.protocol, given or {}),
    )


def _words(protocol: Protocol, given: dict[str, list[float]]) -> str:
    """Say an answer in words, to stand beside the feedback."""
    words = {value: text.lower() for value, text in protocol.choices}
    said = [
        ", ".join(words.get(score, f"{score:g}") for score in scores) for scores in given.values()
    ]
    return "; ".join(said)


@router.get("/check")
def show_check(request: Request, session: Current) -> Response:
    """Show the comprehension check."""
    if session.step != "check":
        return session.go("")
    return session.site.page(
        request,
        "raters/check.html",
        session=session,
        left=ATTEMPTS - session.rater.attempts,
        again=session.rater.attempts > 0,
    )


@router.post("/check", dependencies=[FromOurForm])
def answer_check(
    request: Request,
    session: Current,
    choice: Annotated[list[int] | None, Form(max_length=100)] = None,
) -> Response:
    """Look at the answers; who fails twice takes no part."""
    if session.step != "check":
        return session.go("")
    right = [question.right for question in session.pages.check]
    attempts = session.rater.attempts + 1
    passed = True if choice == right else (False if attempts >= ATTEMPTS else None)
    return go_on(request, session.noting(attempts=attempts, passed=passed))
