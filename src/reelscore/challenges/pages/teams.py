"""A participant's team: make, join and leave it; tokens for programs."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Form, Path
from fastapi.responses import Response
from pydantic import Field
from starlette.exceptions import HTTPException

from reelscore.challenges import submissions
from reelscore.challenges.pages.accounts import Invitation, Token, registration_refusal
from reelscore.challenges.pages.context import AccountPage, AnyPage, ChallengePage, Router, TeamPage
from reelscore.challenges.pages.programs import Link, Submitter, deeds
from reelscore.challenges.pages.wing_pages import PATH, ChallengePages
from reelscore.challenges.people import teams
from reelscore.challenges.people.tokens import list_tokens, make_token, revoke_token
from reelscore.data.checks import counted
from reelscore.errors import DataError, RefusedError
from reelscore.web.mail import Letter, is_address
from reelscore.web.site import DAY, FromOurForm, guessed, too_often
from reelscore.web.store.accounts import account_names

router = Router(prefix=PATH + "/{challenge}/team")
Key = Annotated[int, Path(ge=1, le=2**53)]
Contact = Annotated[str, Field(max_length=300)]
_NO_LINK = Link("", "")


@router.get("")
def show_team(page: AccountPage, invitation: Invitation = "") -> Response:
    """Show the team, or how to get into one."""
    return _team_page(200, page, invitation=invitation)


def _team_page(
    status: int,
    page: ChallengePage,
    made: Link = _NO_LINK,
    *,
    error: str = "",
    token: str = "",
    invitation: str = "",
) -> Response:
    rows = teams.members(page.challenge, page.team) if page.team else []
    active = [row for row in rows if row.state == "active"]
    names = account_names(page.challenge.database, [row.account for row in active])
    return page.render(
        "team.html",
        status,
        members=[(names[row.account], row.role) for row in active if row.account in names],
        captain=page.is_captain,
        contact=next((row.contact for row in active if row.account == page.user.id), ""),
        invited=sum(row.state == "invited" for row in rows),
        tokens=list_tokens(page.challenge.store, page.user.id),
        error=error,
        link=made.link,
        token=token,
        invitation=invitation,
        refused=registration_refusal(page, invitation),
    )


@router.post("", dependencies=[FromOurForm])
def make_team(
    page: AccountPage,
    name: Annotated[str, Form(max_length=300)],
    accept: Annotated[bool, Form()] = False,
    invitation: Annotated[str, Form(max_length=300)] = "",
) -> Response:
    """Make a team; whoever makes it is its captain."""
    try:
        if refused := registration_refusal(page, invitation):
            raise DataError(refused)
        if not accept:
            raise DataError("Accept the rules first.")
        kind = "organisers" if page.is_organiser else "team"
        approved = page.challenge.definition.registration != "approve" or page.is_organiser
        own = teams.add_team(
            page.challenge,
            name,
            kind=kind,
            account=page.user.id,
            approved=approved,
            actor=page.name,
        )
    except DataError as error:
        return _team_page(422, page, error=str(error), invitation=invitation)
    return page.go_to("/team", f"The team {own.name} is made.")


@router.get("/join/{token}")
def show_joining(page: AnyPage, token: Token) -> Response:
    """Ask whether to join; who has no account makes one first."""
    if page.account is None:
        return page.go_to(f"/register?to=/team/join/{token}")
    return page.render("join.html", error="")


@router.post("/join/{token}", dependencies=[FromOurForm])
def join(page: AccountPage, token: Token) -> Response:
    """Join the team that made the link."""
    try:
        own = teams.accept(page.challenge, token, page.user.id, actor=page.name)
    except RefusedError as error:
        if error.reason == "unknown":
            raise guessed(page.request, HTTPException(409, str(error))) from None
        return page.render("join.html", 409, error=str(error))
    return page.go_to("/team", f"You are in the team {own.name} now.")


# What members do, and programs for them

own_deeds, deed = deeds(TeamPage, Submitter, "/team", partial(_team_page, 200))


@deed("/team/invite", "/team/invite")
def invite(page: ChallengePage) -> Link:
    """Make a link by which one person can join; it is shown once."""
    token = teams.invite(page.challenge, page.own_team, actor=page.name)
    link = f"{page.site.settings.url}{page.path}/team/join/{token}"
    return Link("Send this link to one person; it is good for one.", link)


@deed("/team/members", "/team/members")
def show_members(page: ChallengePage, shown: bool = False) -> str:
    """Let everybody read who is in the team, or no longer; the captain decides."""
    page.check_captain()
    teams.show_members(page.challenge, page.own_team, shown, actor=page.name)
    return "Your names are below the leaderboard now." if shown else "Your names are not shown."


@deed("/team/contact", "/team/contact")
def set_contact(page: ChallengePage, contact: Contact = "") -> str:
    """Keep an address by which the organisers can reach somebody, or remove it.

    One that letters can go to is kept once somebody has opened a link that is sent there: else
    who mistypes theirs would let another person set their password.
    """
    site, contact = page.site, contact.strip()
    if site.mail is not None and is_address(contact):
        if not site.wing(ChallengePages).letters.take(str(page.user.id)):
            raise too_often()
        token = site.signer.sign("contact", [page.user.id, page.challenge.id, contact])
        link = f"{site.settings.url}{page.path}/team/contact/{token}"
        context = {"challenge": page.challenge.definition, "name": page.name, "link": link}
        text = site.templates.get_template("challenges/contact.txt").render(context)
        site.mail.send_or_log(Letter(contact, text))
        return f"A letter goes to {contact}; the address is kept when you open the link in it."
    teams.set_contact(page.challenge, page.user.id, contact)
    return "Your address is kept." if contact.strip() else "It is removed."


@deed("/team/withdraw", "/team/withdraw")
def withdraw(page: ChallengePage) -> str:
    """Take all entries of the team off the boards; the captain decides."""
    page.check_captain()
    count = submissions.withdraw_team(page.challenge, page.own_team, actor=page.name)
    return f"{counted(count, 'entry', 'entries')} withdrawn."


@deed("/team/leave", "/team/leave")
def leave(page: ChallengePage) -> str:
    """Leave the team; its submissions stay with it."""
    teams.leave(page.challenge, page.user.id, actor=page.name)
    return "You have left the team."


@router.get("/contact/{token}")
def confirm_contact(page: AccountPage, token: Annotated[str, Path(max_length=1000)]) -> Response:
    """Keep the address that a link was sent to."""
    said = page.site.signer.read("contact", token, age=DAY)
    if not said or said[:2] != [page.user.id, page.challenge.id]:
        refusal = HTTPException(404, "This link is too old, or is for another account.")
        raise guessed(page.request, refusal)
    teams.set_contact(page.challenge, page.user.id, said[2])
    return page.go_to("/team", "Your address is kept.")


@router.post("/tokens", dependencies=[FromOurForm])
def add_token(
    page: AccountPage,
    name: Annotated[str, Form(max_length=60)] = "",
    scope: Annotated[str, Form(max_length=20)] = "submit",
) -> Response:
    """Make a token for programs; it is shown once."""
    if scope == "organise" and not page.is_organiser:
        raise HTTPException(403, "Only organisers may make such a token.")
    scopes = ["read", *({scope} - {"read"})]
    try:
        token = make_token(page.challenge.store, page.user.id, name, scopes, actor=page.name)
    except DataError as error:
        return _team_page(422, page, error=str(error))
    return _team_page(200, page, token=token)


@router.post("/tokens/{key}/revoke", dependencies=[FromOurForm])
def end_token(page: AccountPage, key: Key) -> Response:
    """Revoke a token."""
    revoke_token(page.challenge.store, page.user.id, key, actor=page.name)
    return page.go_to("/team", "The token is revoked.")
