"""Who asks for a page of a challenge, and what they may see and do there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Annotated, Any

from anyio import CancelScope, to_thread
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException

from reelscore.challenges.challenge import Challenge, Challenges, Phase
from reelscore.challenges.pages.wing_pages import PATH, ChallengePages
from reelscore.challenges.people.teams import Team, find_team, members, team_of
from reelscore.challenges.permissions import VISITOR, Who
from reelscore.challenges.quota import Left, quota_left
from reelscore.challenges.submissions import check_challenge, check_window
from reelscore.challenges.views import SubmissionRecord, View
from reelscore.errors import DataError, RefusedError, UnknownNameError
from reelscore.store.database import Snapshot
from reelscore.web.requests import Guard, GuardedRoute
from reelscore.web.sessions import find_visitor
from reelscore.web.site import Website, clock
from reelscore.web.store.accounts import Account

_DONE = "reelscore_did"  # what the last form did, for the next page to say
_AGE = 60.0


@dataclass(frozen=True)
class ChallengePage:
    """A page of a challenge that somebody asks for, or an answer to a program."""

    site: Website  # the server
    request: Request  # what the browser asks for
    account: Account | None  # who it is; ``None`` for somebody who is not logged in
    challenge: Challenge  # the challenge, read through the one connection of the request
    team: Team | None  # their team in the challenge; ``None`` without one
    view: View  # the challenge as they may see it

    @property
    def path(self) -> str:
        """Where the challenge's pages are."""
        return f"{PATH}/{self.challenge.id}"

    @property
    def name(self) -> str:
        """Who it is, for the log; empty for visitors."""
        return self.account.name if self.account else ""

    @property
    def is_organiser(self) -> bool:
        """Whether the console is theirs."""
        return is_organiser(self.account)

    @property
    def user(self) -> Account:
        """The account; a page that needs one is for nobody else."""
        if self.account is None:
            raise HTTPException(401, "Log in first.")
        return self.account

    @property
    def own_team(self) -> Team:
        """Their team; a page that needs one is for nobody else."""
        if self.team is None:
            raise HTTPException(403, "Make a team first, or join one, on the page Team.")
        return self.team

    @property
    def is_captain(self) -> bool:
        """Whether they are the captain of their team."""
        if self.team is None:
            return False
        rows = members(self.challenge, self.team)
        return any(row.account == self.user.id and row.role == "captain" for row in rows)

    def check_captain(self, does: str = "decides this") -> None:
        """Refuse other members of a team."""
        if not self.is_captain:
            raise HTTPException(403, f"Only the captain of the team {does}.")

    def check_organiser(self) -> None:
        """Refuse everybody else, as for what does not exist."""
        if not self.is_organiser:
            raise HTTPException(404, "There is no such page.")

    def check_owner(self) -> None:
        """Refuse assistants, too."""
        self.check_organiser()
        if not self.user.is_owner:
            raise HTTPException(403, "Only an owner may do this.")

    @property
    def refusal(self) -> str:
        """Why the whole challenge takes no files from them; empty where it does."""
        try:
            check_challenge(self.challenge.state, self.team.kind if self.team else "team")
        except RefusedError as error:
            return str(error)
        return ""

    @property
    def open_phases(self) -> list[Phase]:
        """The phases that take files now, of those that may be known of."""
        if self.refusal:
            return []
        phases = [self.view.phases[phase.id] for phase in self.view.definition.phases]
        return [phase for phase in phases if _takes_files(phase, self.view.now)]

    @cached_property
    def lefts(self) -> list[tuple[Phase, Left]]:
        """What the team has left in each phase that takes files now."""
        return [(phase, self.left(phase)) for phase in self.open_phases] if self.team else []

    def left(self, phase: Phase) -> Left:
        """Return what the team has left in a phase."""
        return quota_left(self.challenge, phase, self.own_team)

    def release(self) -> None:
        """Release the connection to the database, before something that takes long."""
        self.request.state.snapshot.close()

    def phase(self, id: str) -> Phase:
        """Return a phase that may be known of."""
        if id not in self.view.phases:
            raise missing()
        return self.view.phases[id]

    def submission(self, id: str) -> tuple[str, SubmissionRecord]:
        """Return a submission with its phase; what may be seen of it is to be asked."""
        found = self.view.find(id)
        if found is None:
            raise missing()
        return found

    def named_team(self, id: str) -> Team:
        """Return a team of the challenge by its id."""
        team = find_team(self.challenge, id)
        if team is None or team.id != id:
            raise missing()
        return team

    def render(self, template: str, status: int = 200, /, **context: object) -> HTMLResponse:
        """Render the page; the first one after a form says what the form did."""
        cookie = self.request.cookies.get(_DONE)
        done = self.site.signer.read("did", cookie, age=_AGE) or ""
        page = self.render_part(template, status, done=done, **context)
        if cookie:
            self.site.set_cookie(page, _DONE, "", PATH, 0)
        return page

    def render_part(self, template: str, status: int = 200, /, **context: object) -> HTMLResponse:
        """Render a part of the page, which its script asks for."""
        return self.site.page(
            self.request, f"challenges/{template}", status, page=self, view=self.view, **context
        )

    def go_to(self, path: str = "", done: str = "") -> RedirectResponse:
        """Send the browser to another page of the challenge, which says what was done and when."""
        response = self.site.go(self.path + path)
        if done:
            text = f"{done} ({clock(self.site.settings.clock())} UTC)"
            self.site.set_cookie(response, _DONE, self.site.signer.sign("did", text), PATH, _AGE)
        return response


def _takes_files(phase: Phase, now: int) -> bool:
    try:
        check_window(phase, now, now)
    except RefusedError:
        return False
    return True


class PageRoute(GuardedRoute):
    """A route that gives its connection to the database back when the answer is made."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        """Return what answers a request."""
        answer = super().get_route_handler()

        async def closing(request: Request) -> Response:
            try:
                response: Response = await answer(request)
                return response
            finally:
                opened: Snapshot | None = getattr(request.state, "snapshot", None)
                if opened is not None:
                    with CancelScope(shield=True):
                        await to_thread.run_sync(opened.close)

        return closing


Router = partial(APIRouter, route_class=PageRoute)


def challenges_of(request: Request) -> Challenges:
    """Return the challenges of the server, read through one connection for the whole request."""
    site: Website = request.app.state.site
    if not hasattr(request.state, "snapshot"):
        request.state.snapshot = Snapshot(site.database)
    return replace(site.wing(ChallengePages).challenges, database=request.state.snapshot)


def open_page(request: Request, challenge: Challenge, account: Account | None) -> ChallengePage:
    """Let somebody look at a challenge."""
    site: Website = request.app.state.site
    team = team_of(challenge, account.id) if account else None
    try:
        view = View(challenge, _who(account, team))
    except UnknownNameError:
        raise HTTPException(404, "There is no such challenge.") from None
    return ChallengePage(site, request, account, challenge, team, view)


def find_page(request: Request, account: Account | None) -> ChallengePage:
    """Let somebody look at the challenge that the path names."""
    try:
        challenge = challenges_of(request).find(str(request.path_params["challenge"]))
    except (DataError, UnknownNameError):
        raise HTTPException(404, "There is no such challenge.") from None
    return open_page(request, challenge, account)


def is_organiser(account: Account | None) -> bool:
    """Return whether somebody may see what is a draft."""
    return account is not None and account.is_organiser


def listed_challenges(request: Request, account: Account | None) -> list[Challenge]:
    """Return the challenges of the server that somebody may know of."""
    challenges = challenges_of(request).all()
    return [each for each in challenges if is_organiser(account) or each.state != "draft"]


def _who(account: Account | None, team: Team | None) -> Who:
    """Return who somebody is to a challenge; whoever makes or joins a team accepts its rules."""
    if account is None:
        return VISITOR
    if account.is_organiser:
        role = "owner" if account.is_owner else "assistant"
        return Who(role, team.id if team else "", terms_accepted=True)  # type: ignore[arg-type]
    return VISITOR if team is None else Who("participant", team.id, terms_accepted=True)


@Guard
def visiting(request: Request) -> ChallengePage:
    """Return whoever looks at the challenge."""
    database = challenges_of(request).database
    return find_page(request, find_visitor(request, database))


def _guard(check: Callable[[ChallengePage], object]) -> Guard[ChallengePage]:
    """Make a guard that lets somebody look at a challenge if a check lets them."""

    def checked(request: Request) -> ChallengePage:
        page = visiting.value(request)
        check(page)
        return page

    return Guard(checked)


AnyPage = Annotated[ChallengePage, Depends(visiting)]
AccountPage = Annotated[ChallengePage, Depends(_guard(lambda page: page.user))]
TeamPage = Annotated[ChallengePage, Depends(_guard(lambda page: (page.user, page.own_team)))]
OrganiserPage = Annotated[ChallengePage, Depends(_guard(ChallengePage.check_organiser))]
OwnerPage = Annotated[ChallengePage, Depends(_guard(ChallengePage.check_owner))]


def missing() -> HTTPException:
    """Return the message that there is no such thing, or that it may not be seen."""
    return HTTPException(404, "There is nothing here, or not yet.")
