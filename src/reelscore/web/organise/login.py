"""The door for organisers: login, the first account, passwords."""

from __future__ import annotations

import hmac
from typing import Annotated

from fastapi import APIRouter, Form, Path, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from reelscore.errors import DataError
from reelscore.web.organise.session import PATH, Organiser, Owner, log_in, log_out
from reelscore.web.site import FromOurForm, Here, NotTooOften, Site, address
from reelscore.web.store import accounts

router = APIRouter(prefix=PATH)
Name = Annotated[str, Form(max_length=60)]
Password = Annotated[str, Form(max_length=1000)]


@router.get("/login")
def show_login(request: Request, site: Here) -> Response:
    """Ask for name and password."""
    return site.page(request, "organise/login.html", error="")


@router.post("/login", dependencies=[NotTooOften, FromOurForm])
def check_login(request: Request, site: Here, name: Name, password: Password) -> Response:
    """Begin a session, if name and password are right."""
    account = accounts.check_account(site.database, name, password)
    if account is None:
        site.failures.note(address(request))
        error = "The name or the password is wrong."
        return site.page(request, "organise/login.html", 401, error=error)
    return log_in(site, account)


@router.post("/logout", dependencies=[FromOurForm])
def end_session(desk: Organiser) -> Response:
    """End all sessions of the organiser."""
    accounts.end_sessions(desk.site.database, desk.account.id)
    return log_out(desk.site)


@router.get("/setup/{token}", dependencies=[NotTooOften])
def show_setup(
    request: Request, site: Here, token: Annotated[str, Path(max_length=100)]
) -> Response:
    """Ask for the first owner's name and password."""
    _check_setup(request, site, token)
    return site.page(request, "organise/setup.html", token=token, error="")


@router.post("/setup/{token}", dependencies=[NotTooOften, FromOurForm])
def set_up(
    request: Request,
    site: Here,
    token: Annotated[str, Path(max_length=100)],
    name: Name,
    password: Password,
) -> Response:
    """Make the first owner."""
    _check_setup(request, site, token)
    try:
        account = accounts.add_account(site.database, name, password, "owner")
    except DataError as error:
        return site.page(request, "organise/setup.html", 422, token=token, error=str(error))
    site.setup.close()
    return log_in(site, account)


def _check_setup(request: Request, site: Site, token: str) -> None:
    is_open = site.setup.is_open or not accounts.has_accounts(site.database)
    if not is_open or not hmac.compare_digest(token.encode(), site.setup.token.encode()):
        site.failures.note(address(request))
        raise HTTPException(404, "This link has been used, or the server was started anew since.")


@router.get("/people")
def show_people(desk: Organiser) -> Response:
    """List the accounts."""
    return desk.page("people.html", accounts=accounts.list_accounts(desk.site.database), error="")


@router.post("/people", dependencies=[FromOurForm])
def add_person(
    desk: Owner, name: Name, password: Password, role: Annotated[str, Form(max_length=20)]
) -> Response:
    """Make an account for somebody else."""
    accounts.add_account(desk.site.database, name, password, role)
    return desk.go("/people", f"{name} has an account now.")


@router.post("/password", dependencies=[NotTooOften, FromOurForm])
def change_password(request: Request, desk: Organiser, old: Password, new: Password) -> Response:
    """Change one's own password; other sessions end."""
    site = desk.site
    if accounts.check_account(site.database, desk.account.name, old) is None:
        site.failures.note(address(request))
        raise HTTPException(403, "The old password is wrong.")
    accounts.set_password(site.database, desk.account.id, new)
    account = accounts.find_account(site.database, desk.account.id)
    assert account is not None
    response = log_in(site, account)
    desk.note(response, "Your password is changed.")
    return response
