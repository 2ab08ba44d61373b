"""Who looks at a challenge, and what they may see and do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException

from reelscore.challenges.arena import Arena
from reelscore.challenges.challenge import Known, KnownPhase, find_challenge
from reelscore.challenges.pages.quotas import open_lefts, whole_refusal
from reelscore.challenges.pages.wing_pages import PATH as PATH
from reelscore.challenges.pages.wing_pages import arena_of
from reelscore.challenges.people.teams import Team, team_of
from reelscore.challenges.quota import Left
from reelscore.challenges.showing import VISITOR, Who
from reelscore.challenges.views import View
from reelscore.errors import DataError, UnknownNameError
from reelscore.web.requests import Guard
from reelscore.web.sessions import find_visitor
from reelscore.web.site import Site, clock
from reelscore.web.store.accounts import Account

_DONE = "reelscore_did"  # what the last form did, for the next page to say
_AGE = 60.0


@dataclass(frozen=True)
class Visit:
    """Somebody at a challenge.

    Attributes:
        site: The server.
        request: What the browser asks for.
        account: Who it is; ``None`` for somebody who is not logged in.
        known: The challenge.
        team: Their team in the challenge; ``None`` without one.
        view: The challenge as they may see it.
    """

    site: Site
    request: Request
    account: Account | None
    known: Known
    team: Team | None
    view: View

    @property
    def arena(self) -> Arena:
        """The database and its clock."""
        return arena_of(self.site)

    @property
    def path(self) -> str:
        """Where the challenge's pages are."""
        return f"{PATH}/{self.known.id}"

    @property
    def name(self) -> str:
        """Who it is, for the log; empty for visitors."""
        return self.account.name if self.account else ""

    @property
    def is_organiser(self) -> bool:
        """Whether the console is theirs."""
        return self.account is not None and self.account.is_organiser

    @cached_property
    def lefts(self) -> list[tuple[KnownPhase, Left]]:
        """What the team has left in each phase that takes files now."""
        return open_lefts(self)

    @property
    def refusal(self) -> str:
        """Why the whole challenge takes no files from them; empty where it does."""
        return whole_refusal(self)

    def is_about(self, phase: str) -> None:
        """Note the phase that a request is about: its answer tells what is left in it."""
        self.request.state.phase = phase

    def page(self, template: str, status: int = 200, /, **context: Any) -> HTMLResponse:
        """Render a page; the first one after a form says what the form did."""
        cookie = self.request.cookies.get(_DONE)
        done = self.site.signer.read("did", cookie, age=_AGE) or ""
        page = self.part(template, status, done=done, **context)
        if cookie:
            self.site.set_cookie(page, _DONE, "", PATH, 0)
        return page

    def part(self, template: str, status: int = 200, /, **context: Any) -> HTMLResponse:
        """Render a part of a page, which its script asks for."""
        return self.site.page(
            self.request, f"arena/{template}", status, visit=self, view=self.view, **context
        )

    def go(self, path: str = "", done: str = "") -> RedirectResponse:
        """Send the browser to another page of the challenge, which says what was done and when."""
        response = self.site.go(self.path + path)
        if done:
            text = f"{done} ({clock(self.site.settings.clock())} UTC)"
            self.site.set_cookie(response, _DONE, self.site.signer.sign("did", text), PATH, _AGE)
        return response


def visit_of(site: Site, request: Request, id: str, account: Account | None) -> Visit:
    """Let somebody look at a challenge.

    Raises:
        HTTPException: If there is none of that id that they may know of; status 404.
    """
    try:
        known = find_challenge(arena_of(site), id)
        team = team_of(arena_of(site), known, account.id) if account else None
        view = View(site.database, known.id, _who(account, team), now=arena_of(site).now())
    except (DataError, UnknownNameError):
        raise HTTPException(404, "There is no such challenge.") from None
    return Visit(site, request, account, known, team, view)


def noted(visit: Visit) -> Visit:
    """Note who asks, and about which phase, so that the answer tells what is left."""
    phase = str(visit.request.path_params.get("phase", ""))
    visit.request.state.visit = visit
    if phase in visit.view.phases:
        visit.is_about(phase)
    return visit


def _who(account: Account | None, team: Team | None) -> Who:
    """Return who somebody is to a challenge; whoever makes or joins a team accepts its rules."""
    if account is None:
        return VISITOR
    if account.is_organiser:
        role = "owner" if account.is_owner else "assistant"
        return Who(role, team.id if team else "", terms_accepted=True)  # type: ignore[arg-type]
    return VISITOR if team is None else Who("participant", team.id, terms_accepted=True)


@Guard
def visiting(request: Request) -> Visit:
    """Return whoever looks at the challenge.

    Raises:
        HTTPException: If there is no such challenge; status 404.
    """
    site: Site = request.app.state.site
    id = str(request.path_params["challenge"])
    return noted(visit_of(site, request, id, find_visitor(request)))


@Guard
def logged_in(request: Request) -> Visit:
    """Return whoever looks at the challenge, with an account.

    Raises:
        HTTPException: If nobody is logged in; status 401.
    """
    visit = visiting.value(request)
    if visit.account is None:
        raise HTTPException(401, "Log in first.")
    return visit


@Guard
def in_team(request: Request) -> Visit:
    """Return whoever looks at the challenge, as the member of a team.

    Raises:
        HTTPException: If nobody is logged in, status 401; without a team, status 403.
    """
    visit = logged_in.value(request)
    if visit.team is None:
        raise HTTPException(403, "Make a team first, or join one, on the page Team.")
    return visit


@Guard
def organising(request: Request) -> Visit:
    """Return whoever looks at the challenge, as one of its organisers.

    Raises:
        HTTPException: If they are not; status 404, as for what does not exist.
    """
    visit = visiting.value(request)
    if not visit.is_organiser:
        raise HTTPException(404, "There is no such page.")
    return visit


@Guard
def owning(request: Request) -> Visit:
    """Return whoever looks at the challenge, as an owner.

    Raises:
        HTTPException: If it is an assistant, status 403; if it is nobody of them, status 404.
    """
    visit = organising.value(request)
    if visit.account is None or not visit.account.is_owner:
        raise HTTPException(403, "Only an owner may do this.")
    return visit


@Guard
def arrival(request: Request) -> int:
    """Return the time at which a request came, before its body is read."""
    site: Site = request.app.state.site
    return arena_of(site).now()


AnyVisit = Annotated[Visit, Depends(visiting)]
LoggedIn = Annotated[Visit, Depends(logged_in)]
InTeam = Annotated[Visit, Depends(in_team)]
AsOrganiser = Annotated[Visit, Depends(organising)]
AsOwner = Annotated[Visit, Depends(owning)]
Arrived = Annotated[int, Depends(arrival)]


def missing() -> HTTPException:
    """Return the message that there is no such thing, or that it may not be seen."""
    return HTTPException(404, "There is nothing here, or not yet.")
