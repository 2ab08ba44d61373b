"""How raters come in: by their own link, an open one, from Prolific or Mechanical Turk."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Query, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from reelscore.errors import RefusedError
from reelscore.web.guards import Guard, Router
from reelscore.web.pages import Pages, read_pages
from reelscore.web.raters.session import MTURK_HOSTS, allow, begin
from reelscore.web.security import digest
from reelscore.web.site import FromOurForm, Here, NotTooOften, Site, address
from reelscore.web.store import raters
from reelscore.web.store.raters import Rater, Visit

router = Router()
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
Token = Annotated[str, Path(max_length=100)]
Id = Annotated[str, Query(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


@Guard
def invited(request: Request) -> Rater:
    """Give the rater whose link it is.

    Raises:
        HTTPException: If there is no such link; status 404.
    """
    site: Site = request.app.state.site
    rater = raters.find_link(site.database, str(request.path_params["token"]))
    if rater is None:
        site.failures.note(address(request))
        raise HTTPException(404, "There is no such link. Is it complete?")
    return rater


Invited = Annotated[Rater, Depends(invited)]


@router.get("/r/{token}", dependencies=[NotTooOften])
def show_link(request: Request, site: Here, rater: Invited, token: Token) -> Response:
    """Greet a rater; those whose browser has opened the link before go straight on."""
    if rater.browser == digest(request.state.browser):
        return begin(site, rater)
    if rater.browser:
        raise HTTPException(
            403,
            "This link was opened in another browser before and works only there. Go back to that "
            "browser, or ask the organiser for a new link.",
        )
    # Programs that look links up before people do must not use them up: a person presses a button.
    return _greet(request, site, rater.campaign, f"/r/{token}")


@router.post("/r/{token}", dependencies=[NotTooOften, FromOurForm])
def use_link(request: Request, site: Here, rater: Invited) -> Response:
    """Bind a link to the browser and begin."""
    try:
        return begin(site, raters.bind(site.database, rater.id, request.state.browser))
    except RefusedError as error:
        raise HTTPException(403, str(error)) from None


@router.get("/join/{campaign}")
def show_join(request: Request, site: Here, campaign: str) -> Response:
    """Greet anybody, where the campaign is open to all."""
    _enterable(site, campaign, "open")
    return _greet(request, site, campaign, f"/join/{campaign}")


@router.post("/join/{campaign}", dependencies=[FromOurForm])
def join(request: Request, site: Here, campaign: str) -> Response:
    """Make a new rater of this browser."""
    _enterable(site, campaign, "open")
    worker = digest(request.state.browser)
    return _arrive(request, site, campaign, Visit("open", worker))


@router.get("/prolific/{campaign}")
def enter_from_prolific(
    request: Request,
    site: Here,
    campaign: str,
    PROLIFIC_PID: Id,
    STUDY_ID: Id,
    SESSION_ID: Id,
) -> Response:
    """Let a participant of Prolific in."""
    _enterable(site, campaign, "prolific_code")
    visit = Visit("prolific", PROLIFIC_PID, STUDY_ID, SESSION_ID)
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
    pages = _enterable(site, campaign, "mturk")
    allow(request, pages, embedded=True)
    if assignmentId == PREVIEW:
        protocol = site.campaigns.get(campaign).protocol
        return site.page(
            request, "raters/preview.html", pages=pages, parts=pages.instructions_for(protocol)
        )
    destination = turkSubmitTo.rstrip("/")  # it comes with a slash or without
    if destination not in MTURK_HOSTS or not workerId.isalnum():
        raise HTTPException(400, "This address is not one that Mechanical Turk has made.")
    visit = Visit("mturk", workerId, hitId, assignmentId, destination)
    return _arrive(request, site, campaign, visit)


def _enterable(site: Site, campaign: str, way: str) -> Pages:
    pages = read_pages(site.campaigns.get(campaign).settings)
    if not getattr(pages, way):
        raise HTTPException(404, "This campaign cannot be entered that way.")
    return pages


def _greet(request: Request, site: Site, campaign: str, action: str) -> Response:
    pages = read_pages(site.campaigns.get(campaign).settings)
    return site.page(request, "raters/welcome.html", pages=pages, action=action)


def _arrive(request: Request, site: Site, campaign: str, visit: Visit) -> Response:
    if site.arrivals.exhausted(address(request)):
        raise HTTPException(429, "Too many people at once; wait a minute.", {"Retry-After": "60"})
    browser = request.state.browser
    try:
        rater = raters.welcome(site.database, campaign, visit, browser, site.now)
    except RefusedError as error:
        raise HTTPException(403, str(error)) from None
    if rater.consented is None:
        site.arrivals.note(address(request))
    return begin(site, rater)
