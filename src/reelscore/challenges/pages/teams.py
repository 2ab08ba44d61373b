"""A participant's team: make, join and leave it; tokens for programs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Form, Path
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from reelscore.challenges.pages.accounts import Invitation, Token, may_register
from reelscore.challenges.pages.visits import PATH, AnyVisit, InTeam, LoggedIn, Visit
from reelscore.challenges.people import teams
from reelscore.challenges.people.tokens import list_tokens, make_token, revoke_token
from reelscore.errors import DataError, RefusedError
from reelscore.web.requests import Router
from reelscore.web.site import FromOurForm, NotTooOften, address
from reelscore.web.store.accounts import account_names

router = Router(prefix=PATH + "/{challenge}/team")
Key = Annotated[int, Path(ge=1, le=2**53)]


@router.get("")
def show_team(visit: LoggedIn, invitation: Invitation = "") -> Response:
    """Show the team, or how to get into one."""
    return _team_page(visit, invitation=invitation)


def _team_page(visit: Visit, status: int = 200, /, **more: Any) -> Response:
    assert visit.account is not None
    context: dict[str, Any] = {"error": "", "link": "", "token": "", "invitation": "", **more}
    context["may_make"] = may_register(visit, context["invitation"])
    rows = teams.members(visit.arena, visit.team) if visit.team else []
    active = [row for row in rows if row.state == "active"]
    names = account_names(visit.site.database, [row.account for row in active])
    return visit.page(
        "team.html",
        status,
        members=[(names[row.account], row.role) for row in active if row.account in names],
        captain=is_captain(visit),
        contact=next((row.contact for row in active if row.account == visit.account.id), ""),
        invited=sum(row.state == "invited" for row in rows),
        tokens=list_tokens(visit.arena, visit.account.id),
        **context,
    )


def is_captain(visit: Visit) -> bool:
    """Return whether whoever asks is the captain of their team."""
    if visit.team is None or visit.account is None:
        return False
    rows = teams.members(visit.arena, visit.team)
    return any(row.account == visit.account.id and row.role == "captain" for row in rows)


@router.post("", dependencies=[FromOurForm])
def make_team(
    visit: LoggedIn,
    name: Annotated[str, Form(max_length=300)],
    accept: Annotated[bool, Form()] = False,
    invitation: Annotated[str, Form(max_length=300)] = "",
) -> Response:
    """Make a team; whoever makes it is its captain."""
    assert visit.account is not None
    try:
        if not may_register(visit, invitation):
            raise DataError("Teams of this challenge are invited; ask the organisers for a link.")
        if not accept:
            raise DataError("Accept the rules first.")
        kind = "organisers" if visit.is_organiser else "team"
        approved = visit.known.definition.registration != "approve" or visit.is_organiser
        own = teams.add_team(
            visit.arena,
            visit.known,
            name,
            kind=kind,
            account=visit.account.id,
            approved=approved,
            actor=visit.name,
        )
    except DataError as error:
        return _team_page(visit, 422, error=str(error), invitation=invitation)
    return visit.go("/team", f"The team {own.name} is made.")


@router.post("/invite", dependencies=[FromOurForm])
def invite(visit: InTeam) -> Response:
    """Make a link by which one person can join; it is shown once."""
    assert visit.team is not None
    token = teams.invite(visit.arena, visit.known, visit.team, actor=visit.name)
    link = f"{visit.site.settings.url}{visit.path}/team/join/{token}"
    return _team_page(visit, link=link)


@router.get("/join/{token}")
def show_joining(visit: AnyVisit, token: Token) -> Response:
    """Ask whether to join; who has no account makes one first."""
    if visit.account is None:
        return visit.go(f"/register?to=/team/join/{token}")
    return visit.page("join.html", error="")


@router.post("/join/{token}", dependencies=[NotTooOften, FromOurForm])
def join(visit: LoggedIn, token: Token) -> Response:
    """Join the team that made the link."""
    assert visit.account is not None
    try:
        own = teams.accept(visit.arena, visit.known, token, visit.account.id, actor=visit.name)
    except RefusedError as error:
        if error.reason == "unknown":
            visit.site.failures.note(address(visit.request))
        return visit.page("join.html", 409, error=str(error))
    return visit.go("/team", f"You are in the team {own.name} now.")


@router.post("/members", dependencies=[FromOurForm])
def show_members(visit: InTeam, shown: Annotated[bool, Form()] = False) -> Response:
    """Let everybody read who is in the team, or no longer; the captain decides."""
    assert visit.team is not None
    if not is_captain(visit):
        raise HTTPException(403, "Only the captain of the team decides this.")
    teams.show_members(visit.arena, visit.known, visit.team, shown, actor=visit.name)
    done = "Your names stand below the leaderboard." if shown else "Your names are not shown."
    return visit.go("/team", done)


@router.post("/contact", dependencies=[FromOurForm])
def set_contact(visit: InTeam, contact: Annotated[str, Form(max_length=300)] = "") -> Response:
    """Keep an address by which the organisers can reach somebody, or remove it."""
    assert visit.account is not None
    try:
        teams.set_contact(visit.arena, visit.known, visit.account.id, contact)
    except DataError as error:
        return _team_page(visit, 422, error=str(error))
    return visit.go("/team", "Your address is kept." if contact.strip() else "It is removed.")


@router.post("/leave", dependencies=[FromOurForm])
def leave(visit: InTeam) -> Response:
    """Leave the team; its submissions stay with it."""
    assert visit.account is not None
    teams.leave(visit.arena, visit.known, visit.account.id, actor=visit.name)
    return visit.go("/team", "You have left the team.")


@router.post("/tokens", dependencies=[FromOurForm])
def add_token(
    visit: LoggedIn,
    name: Annotated[str, Form(max_length=60)] = "",
    scope: Annotated[str, Form(max_length=20)] = "submit",
) -> Response:
    """Make a token for programs; it is shown once."""
    assert visit.account is not None
    if scope == "organise" and not visit.is_organiser:
        raise HTTPException(403, "Only organisers may make such a token.")
    scopes = ["read", *({scope} - {"read"})]
    try:
        token = make_token(visit.arena, visit.account.id, name, scopes, actor=visit.name)
    except DataError as error:
        return _team_page(visit, 422, error=str(error))
    return _team_page(visit, token=token)


@router.post("/tokens/{key}/revoke", dependencies=[FromOurForm])
def end_token(visit: LoggedIn, key: Key) -> Response:
    """Revoke a token."""
    assert visit.account is not None
    revoke_token(visit.arena, visit.account.id, key, actor=visit.name)
    return visit.go("/team", "The token is revoked.")
