"""Accounts of participants: register, log in and out, a new password by a link."""

from __future__ import annotations

from typing import Annotated

from fastapi import BackgroundTasks, Depends, Form, Path, Query, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from reelscore.challenges.notices import own_addresses
from reelscore.challenges.pages.context import AnyPage, ChallengePage, Router
from reelscore.challenges.pages.wing_pages import PATH, ChallengePages, own_page
from reelscore.errors import DataError
from reelscore.web.accounts import Name, Password, may_try, proven
from reelscore.web.mail import Letter
from reelscore.web.requests import Guard
from reelscore.web.sessions import find_visitor, log_in, log_out
from reelscore.web.site import DAY, FromOurForm, Here, Website, address, guessed, too_often
from reelscore.web.store import accounts
from reelscore.web.store.accounts import Account

router = Router()
Next = Annotated[str, Query(alias="to", max_length=300)]
Token = Annotated[str, Path(max_length=300)]
Invitation = Annotated[str, Query(max_length=300)]
Leaving = Annotated[Account | None, Depends(Guard(find_visitor))]
INVITED = 30 * 86400.0  # seconds for which a link to register is good


@router.get("/account/login")
def show_login(request: Request, site: Here, to: Next = PATH) -> Response:
    """Ask for name and password."""
    return _login_page(request, site, to)


def _login_page(
    request: Request, site: Website, to: str, status: int = 200, error: str = ""
) -> Response:
    context = {"error": error, "to": own_page(to), "mails": site.mail is not None}
    return site.page(request, "challenges/login.html", status, **context)


@router.post("/account/login", dependencies=[Depends(may_try), FromOurForm])
async def check_login(
    request: Request, site: Here, name: Name, password: Password, to: Next = PATH
) -> Response:
    """Begin a session, if name and password are right, and go on to the page asked for."""
    account = await proven(request, site, name, password)
    if account is None:
        return _login_page(request, site, to, 401, "The name or the password is wrong.")
    return log_in(site, account, own_page(to))


@router.post("/account/logout", dependencies=[FromOurForm])
def end_session(
    request: Request, account: Leaving, everywhere: Annotated[bool, Form()] = False
) -> Response:
    """End the session of this browser, or all sessions of whoever asks."""
    return log_out(request, everywhere=everywhere, to=PATH)


@router.get(PATH + "/{challenge}/register")
def show_registration(page: AnyPage, invitation: Invitation = "", to: Next = "/team") -> Response:
    """Ask for the name and password of a new account; who has one goes on to the team."""
    onward = _onward(page, invitation, to)
    if page.account is not None:
        return page.go_to(onward)
    return _registration(page, invitation, to)


def _registration(
    page: ChallengePage, invitation: str, to: str, status: int = 200, error: str = ""
) -> Response:
    return page.render(
        "register.html",
        status,
        error=error,
        refused=registration_refusal(page, invitation, to),
        invitation=invitation,
        to=to,
        onward=_onward(page, invitation, to),
    )


def registration_refusal(page: ChallengePage, invitation: str, to: str = "") -> str:
    """Return why somebody cannot make a team; empty where they can.

    Where an invitation is needed, the link of a team is one, too.
    """
    definition, state = page.challenge.definition, page.challenge.state
    if page.is_organiser:
        return ""
    if state in ("closed", "archived"):
        return f"The challenge is {state}; nobody can register any more."
    if definition.registration != "invite" or to.startswith("/team/join/"):
        return ""
    if page.site.signer.read("invitation", invitation, age=INVITED) == page.challenge.id:
        return ""
    contact = f" ({definition.contact})" if definition.contact else ""
    return f"Teams of this challenge are invited: ask the organisers for a link{contact}."


def _onward(page: ChallengePage, invitation: str, to: str) -> str:
    onward = to if own_page(f"{page.path}{to}") != PATH else "/team"
    return f"{onward}?invitation={invitation}" if invitation else onward


@router.post(PATH + "/{challenge}/register", dependencies=[FromOurForm])
async def register(
    request: Request,
    page: AnyPage,
    name: Name,
    password: Password,
    invitation: Invitation = "",
    to: Next = "/team",
) -> Response:
    """Make a participant's account, and begin a session."""
    site = page.site
    if registration_refusal(page, invitation, to):
        return _registration(page, invitation, to, 403)
    if not site.wing(ChallengePages).registrations.take(address(request)):
        raise too_often()
    try:
        account = await site.hashing.run(
            accounts.add_account, site.database, name, password, "participant"
        )
    except DataError as error:
        return _registration(page, invitation, to, 422, str(error))
    return log_in(site, account, page.path + _onward(page, invitation, to))


def reset_link(site: Website, account: Account) -> str:
    """Return the address at which somebody can set a new password, once, within a day."""
    token = site.signer.sign("reset", [account.id, account.sessions])
    return f"{site.settings.url}/account/reset/{token}"


@router.get("/account/forgotten")
def show_forgotten(request: Request, site: Here) -> Response:
    """Ask who has forgotten the password."""
    return site.page(request, "challenges/forgotten.html", name="")


@router.post("/account/forgotten", dependencies=[Depends(may_try), FromOurForm])
def send_link(request: Request, site: Here, name: Name) -> Response:
    """Send a link to a new password to the addresses of an account; the page tells of none."""
    page = site.page(request, "challenges/forgotten.html", name=name)
    account = accounts.find_named(site.database, name)
    if not site.passwords.take(address(request)):
        raise too_often()
    if site.mail is None or account is None or account.is_organiser:
        return page
    if site.wing(ChallengePages).letters.take(str(account.id)):
        context = {"account": account, "link": reset_link(site, account)}
        text = site.templates.get_template("challenges/reset.txt").render(context)
        tasks = BackgroundTasks()  # after the answer, whose time tells nothing
        for to in own_addresses(site.database, account.id):
            tasks.add_task(site.mail.send_or_log, Letter(to, text))
        page.background = tasks
    return page


@Guard
def resetting(request: Request) -> Account:
    """Return the account of a link to a new password."""
    site: Website = request.app.state.site
    value = site.signer.read("reset", str(request.path_params["token"]), age=DAY)
    account = accounts.find_account(site.database, value[0]) if value else None
    if account is None or account.sessions != value[1]:
        refusal = HTTPException(404, "This link is too old, or was used; ask for a new one.")
        raise guessed(request, refusal)
    return account


Resetting = Annotated[Account, Depends(resetting)]


@router.get("/account/reset/{token}")
def show_reset(request: Request, site: Here, account: Resetting, token: Token) -> Response:
    """Ask for a new password."""
    return site.page(request, "challenges/reset.html", account=account, error="")


@router.post("/account/reset/{token}", dependencies=[FromOurForm])
async def reset(
    request: Request,
    site: Here,
    account: Resetting,
    token: Token,
    password: Annotated[str, Form(max_length=1000)],
) -> Response:
    """Set a new password; the link is good for nothing then."""
    try:
        changed = await site.hashing.run(accounts.set_password, site.database, account.id, password)
    except DataError as error:
        return site.page(request, "challenges/reset.html", 422, account=account, error=str(error))
    return log_in(site, changed, PATH)
