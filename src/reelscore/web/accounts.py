"""Accounts of organisers: log in and out, add and change people."""

from __future__ import annotations

import hmac
from typing import Annotated

from anyio import to_thread
from fastapi import Depends, Form, Path, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from reelscore.errors import DataError
from reelscore.web.requests import Guard, Router
from reelscore.web.sessions import PATH, Desk, Organiser, Owner, known_accounts, log_in, log_out
from reelscore.web.site import FromOurForm, Here, Website, address, guessed, too_often
from reelscore.web.store import accounts
from reelscore.web.store.accounts import Account, Deed, account_key

router = Router(prefix=PATH)
Name = Annotated[str, Form(max_length=60)]
Password = Annotated[str, Form(max_length=1000)]
Role = Annotated[str, Form(max_length=20)]
_LARGEST = 2**53


@Guard
def may_try(request: Request) -> None:
    """Refuse before the body is read whoever had too many passwords wrong, of whatever account."""
    site: Website = request.app.state.site
    if site.passwords.exhausted(address(request)):
        raise too_often()


@router.get("/login")
def show_login(request: Request, site: Here) -> Response:
    """Ask for name and password."""
    return site.page(request, "organisers/login.html", error="")


@router.post("/login", dependencies=[Depends(may_try), FromOurForm])
async def check_login(request: Request, site: Here, name: Name, password: Password) -> Response:
    """Begin a session, if name and password are right."""
    account = await proven(request, site, name, password)
    if account is None:
        error = "The name or the password is wrong."
        return site.page(request, "organisers/login.html", 401, error=error)
    return log_in(site, account)


async def proven(request: Request, site: Website, name: str, password: str) -> Account | None:
    """Return the account of a password; the attempt counts as a failure until it is none.

    Failures are counted by account, and of all accounts by address. A browser that was logged in
    to the account before has a count of its own: others cannot lock its owner out.
    """
    here, own = address(request), f"account {account_key(name)}"
    known = await to_thread.run_sync(accounts.account_names, site.database, known_accounts(request))
    if account_key(name) in map(account_key, known.values()):
        own += " where it was used before"
    if not site.failures.take(own):
        raise too_often()
    if not site.passwords.take(here):
        site.failures.forgive(own)
        raise too_often()
    account, is_tried = None, False
    try:
        account = await site.hashing.run(accounts.check_account, site.database, name, password)
        is_tried = True
    finally:
        if account is not None or not is_tried:  # not tried: too many wait
            site.failures.forgive(own)
            site.passwords.forgive(here)
    return account


@router.post("/logout", dependencies=[FromOurForm])
def end_session(desk: Organiser, everywhere: Annotated[bool, Form()] = False) -> Response:
    """End the session of this browser, or all sessions of the organiser."""
    return log_out(desk.request, everywhere=everywhere)


@Guard
def check_setup(request: Request) -> None:
    """Refuse a link for the first owner that is none, or has been used."""
    site: Website = request.app.state.site
    token = str(request.path_params["token"])
    is_open = site.setup.is_open or not accounts.has_accounts(site.database)
    if not is_open or not hmac.compare_digest(token.encode(), site.setup.token.encode()):
        refusal = HTTPException(404, "This link has been used, or the server was restarted since.")
        raise guessed(request, refusal)


ByTheSetupLink = [Depends(check_setup)]


@router.get("/setup/{token}", dependencies=ByTheSetupLink)
def show_setup(
    request: Request, site: Here, token: Annotated[str, Path(max_length=100)]
) -> Response:
    """Ask for the first owner's name and password."""
    return site.page(request, "organisers/setup.html", token=token, error="")


@router.post("/setup/{token}", dependencies=[*ByTheSetupLink, FromOurForm])
async def set_up(
    request: Request,
    site: Here,
    token: Annotated[str, Path(max_length=100)],
    name: Name,
    password: Password,
) -> Response:
    """Make the first owner."""
    try:
        account = await site.hashing.run(
            accounts.add_account, site.database, name, password, "owner", Deed(name, site.now)
        )
    except DataError as error:
        return site.page(request, "organisers/setup.html", 422, token=token, error=str(error))
    site.setup.is_open = False
    return log_in(site, account, site.home)


@router.get("/people")
def show_people(desk: Organiser) -> Response:
    """List the accounts."""
    everybody = accounts.list_accounts(desk.site.database)
    owners = sum(account.is_owner for account in everybody)
    return desk.page("people.html", accounts=everybody, owners=owners)


@router.post("/people", dependencies=[FromOurForm])
async def add_person(desk: Owner, name: Name, password: Password, role: Role) -> Response:
    """Make an account for somebody else."""
    site = desk.site
    await site.hashing.run(accounts.add_account, site.database, name, password, role, desk.deed)
    return desk.go("/people", f"{name} has an account now.")


def other(desk: Owner, account: Annotated[int, Path(ge=1, le=_LARGEST)]) -> Account:
    """Return the account that an owner acts on."""
    known = accounts.find_account(desk.site.database, account)
    if known is None:
        raise HTTPException(404, "There is no such account.")
    return known


Other = Annotated[Account, Depends(other)]


@router.post("/people/{account}/role", dependencies=[FromOurForm])
def set_role(desk: Owner, person: Other, role: Role) -> Response:
    """Make somebody an owner or an assistant."""
    changed = accounts.set_role(desk.site.database, person.id, role, desk.deed)
    return _done(desk, person, f"{person.name} is an {changed.role} now, and has to log in again.")


@router.post("/people/{account}/password", dependencies=[FromOurForm])
async def set_password(desk: Owner, person: Other, password: Password) -> Response:
    """Return somebody a new password."""
    site = desk.site
    await site.hashing.run(accounts.set_password, site.database, person.id, password, desk.deed)
    return _done(desk, person, f"{person.name} has a new password; tell it to them.")


@router.post("/people/{account}/remove", dependencies=[FromOurForm])
def remove(desk: Owner, person: Other) -> Response:
    """Remove an account."""
    accounts.remove_account(desk.site.database, person.id, desk.deed)
    return _done(desk, person, f"{person.name} has no account any more.")


@router.post("/password", dependencies=[FromOurForm])
async def change_password(
    request: Request, desk: Organiser, old: Password, new: Password
) -> Response:
    """Change one's own password; other sessions end."""
    site = desk.site
    if await proven(request, site, desk.account.name, old) is None:
        raise HTTPException(403, "The old password is wrong.")
    account = await site.hashing.run(
        accounts.set_password, site.database, desk.account.id, new, desk.deed
    )
    response = log_in(site, account)
    desk.note(response, "Your password is changed.")
    return response


def _done(desk: Desk, person: Account, said: str) -> Response:
    """Go back to the list; who changed their own account has no session now and logs in."""
    return desk.go("/login") if person.id == desk.account.id else desk.go("/people", said)
