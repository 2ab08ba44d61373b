"""How raters come in, and what they do before the first task: instructions, practice, a check."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import Depends, Form, Path, Query, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from reelscore.campaigns.pages.open_campaigns import campaigns_of
from reelscore.campaigns.pages.rater_pages import ATTEMPTS, Pages, read_pages
from reelscore.campaigns.pages.raters.ends import show_end
from reelscore.campaigns.pages.raters.session import (
    MTURK_HOSTS,
    Current,
    Session,
    allow,
    begin,
    practice_screen,
    refuse_members,
)
from reelscore.campaigns.pages.raters.task_pages import go_on
from reelscore.campaigns.store import raters
from reelscore.campaigns.store.raters import Arrival, Rater
from reelscore.errors import RefusedError
from reelscore.web.requests import Guard, Router
from reelscore.web.security import digest
from reelscore.web.site import FromOurForm, Here, Website, address, guessed

router = Router()  # how they come in
preparation = Router()  # of a rater who has come in
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
Token = Annotated[str, Path(max_length=100)]
Id = Annotated[str, Query(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


@Guard
def invited(request: Request) -> Rater:
    """Return the rater whose link it is."""
    site: Website = request.app.state.site
    rater = raters.find_link(site.database, str(request.path_params["token"]))
    if rater is None:
        raise guessed(request, HTTPException(404, "There is no such link. Is it complete?"))
    with site.database.reading() as connection:
        refuse_members(connection, request, rater.campaign)
    return rater


Invited = Annotated[Rater, Depends(invited)]


@router.get("/r/{token}")
def show_link(request: Request, site: Here, rater: Invited, token: Token) -> Response:
    """Greet a rater; those whose browser has opened the link before go straight on."""
    if rater.browser == digest(request.state.browser):
        return begin(site, rater)
    if rater.browser:
        raise HTTPException(403, raters.ELSEWHERE)
    # Programs that look links up before people do must not use them up: a person presses a button.
    pages = read_pages(campaigns_of(site).get(rater.campaign).settings)
    return _greet(request, site, pages, f"/r/{token}")


@router.post("/r/{token}", dependencies=[FromOurForm])
def use_link(request: Request, site: Here, rater: Invited) -> Response:
    """Bind a link to the browser and begin."""
    try:
        return begin(site, raters.bind(site.database, rater.id, request.state.browser))
    except RefusedError as error:
        raise HTTPException(403, str(error)) from None


@router.get("/join/{campaign}")
def show_join(request: Request, site: Here, campaign: str) -> Response:
    """Greet anybody, where the campaign is open to all."""
    pages = _enterable(request, site, campaign, "open")
    return _greet(request, site, pages, f"/join/{campaign}")


@router.post("/join/{campaign}", dependencies=[FromOurForm])
def join(request: Request, site: Here, campaign: str) -> Response:
    """Make a new rater of this browser."""
    _enterable(request, site, campaign, "open")
    worker = digest(request.state.browser)
    return _arrive(request, site, campaign, Arrival("open", worker))


@router.get("/prolific/{campaign}")
def enter_from_prolific(
    request: Request, site: Here, campaign: str, PROLIFIC_PID: Id, STUDY_ID: Id, SESSION_ID: Id
) -> Response:
    """Let a participant of Prolific in."""
    _enterable(request, site, campaign, "prolific_code")
    visit = Arrival("prolific", PROLIFIC_PID, STUDY_ID, SESSION_ID)
    return _arrive(request, site, campaign, visit)


@router.get("/mturk/{campaign}")
def enter_from_mturk(
    request: Request,
    site: Here,
    campaign: str,
    assignmentId: Id = PREVIEW,
    hitId: Annotated[str, Query(max_length=64)] = "",
    workerId: Annotated[str, Query(max_length=64)] = "",
    turkSubmitTo: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Let a worker of Mechanical Turk in, or show a preview to one who has not accepted yet."""
    pages = _enterable(request, site, campaign, "mturk")
    allow(request, pages, embedded=True)
    if assignmentId == PREVIEW:
        protocol = campaigns_of(site).get(campaign).protocol
        return site.page(
            request, "raters/preview.html", pages=pages, parts=pages.instructions_for(protocol)
        )
    destination = turkSubmitTo.rstrip("/")  # it comes with a slash or without
    if destination not in MTURK_HOSTS or not workerId.isalnum():
        raise HTTPException(400, "This address is not one that Mechanical Turk has made.")
    visit = Arrival("mturk", workerId, hitId, assignmentId, destination)
    return _arrive(request, site, campaign, visit)


def _enterable(request: Request, site: Website, campaign: str, way: str) -> Pages:
    settings = campaigns_of(site).get(campaign).settings
    pages = read_pages(settings)
    # a campaign of a blind test set shows its references: not to anybody who comes along
    is_secret = way == "open" and settings.get("blind")
    if is_secret or not getattr(pages, way):
        raise HTTPException(404, "This campaign cannot be entered that way.")
    with site.database.reading() as connection:
        refuse_members(connection, request, campaign)
    return pages


def _greet(request: Request, site: Website, pages: Pages, action: str) -> Response:
    return site.page(request, "raters/welcome.html", pages=pages, action=action)


def _arrive(request: Request, site: Website, campaign: str, visit: Arrival) -> Response:
    if campaigns_of(site).arrivals.exhausted(address(request)):
        raise HTTPException(429, "Too many people at once; wait a minute.", {"Retry-After": "60"})
    browser = request.state.browser
    try:
        rater = raters.welcome(site.database, campaign, visit, browser, site.now)
    except RefusedError as error:
        raise HTTPException(403, str(error)) from None
    if rater.consented is None:
        campaigns_of(site).arrivals.take(address(request))
    return begin(site, rater)


_decoder = msgspec.json.Decoder(dict[str, list[float]])


@preparation.get("/instructions")
def show_instructions(session: Current) -> Response:
    """Show the instructions and ask for consent; they can be read again at any time."""
    return session.page(
        "raters/instructions.html",
        parts=session.pages.instructions_for(session.campaign.protocol),
    )


@preparation.post("/instructions", dependencies=[FromOurForm])
def consent(session: Current) -> Response:
    """Note that a rater agrees."""
    if session.rater.consented is None:
        session = session.noting(consented=session.site.now)
    return go_on(session)


@preparation.post("/decline", dependencies=[FromOurForm])
def decline(session: Current) -> Response:
    """Let a rater go who does not agree; nothing is noted."""
    if session.rater.consented is not None:
        return session.go("work")
    return show_end(session, "declined")


@preparation.get("/practice")
def show_practice(session: Current) -> Response:
    """Show the next practice task."""
    if session.step != "practice":
        return session.go("")
    return _practice(session)


@preparation.post("/practice", dependencies=[FromOurForm])
def practise(
    session: Current,
    answer: Annotated[str, Form(max_length=4000)],
    number: Annotated[int, Form(ge=0, le=1000)],
) -> Response:
    """Return how an answer compares with what most people would say."""
    if session.step != "practice" or number != session.rater.practised:
        return session.go("")  # sent twice, or the back button
    practice = session.pages.practice_for(session.campaign.protocol)[number]
    try:
        given = _decoder.decode(answer)
    except msgspec.MsgspecError:
        raise HTTPException(422, "The answer cannot be read.") from None
    session.campaign.protocol.check(given, len(practice.captions))
    page = _practice(session, given)
    session.noting(practised=number + 1)
    return page


def _practice(session: Session, given: dict[str, list[float]] | None = None) -> Response:
    number = session.rater.practised
    tasks = session.pages.practice_for(session.campaign.protocol)
    words = {value: text.lower() for value, text in session.campaign.protocol.choices}
    said = [
        ", ".join(words.get(score, f"{score:g}") for score in scores)
        for scores in (given or {}).values()
    ]
    return session.page(
        "raters/practice.html",
        screen=practice_screen(session, tasks[number]),
        number=number,
        total=len(tasks),
        feedback=tasks[number].feedback if given is not None else "",
        fine=given is not None and tasks[number].is_fine(given),
        given="; ".join(said),  # the answer in words, to stand beside the feedback
    )


@preparation.get("/check")
def show_check(session: Current) -> Response:
    """Show the comprehension check."""
    if session.step != "check":
        return session.go("")
    return session.page(
        "raters/check.html",
        left=ATTEMPTS - session.rater.attempts,
        again=session.rater.attempts > 0,
    )


@preparation.post("/check", dependencies=[FromOurForm])
def answer_check(
    session: Current, choice: Annotated[list[int] | None, Form(max_length=100)] = None
) -> Response:
    """Look at the answers; who fails twice takes no part."""
    if session.step != "check":
        return session.go("")
    right = [question.right for question in session.pages.check]
    attempts = session.rater.attempts + 1
    passed = True if choice == right else (False if attempts >= ATTEMPTS else None)
    return go_on(session.noting(attempts=attempts, passed=passed))
