"""The accounts of organisers: who there is, what they may do, and their passwords."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Path, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from reelscore.web.guards import Router
from reelscore.web.organisers.login import Name, Password, proven
from reelscore.web.organisers.session import PATH, Desk, Organiser, Owner, log_in
from reelscore.web.site import FromOurForm, NotTooOften
from reelscore.web.store import accounts
from reelscore.web.store.accounts import Account

router = Router(prefix=PATH)
Role = Annotated[str, Form(max_length=20)]
_LARGEST = 2**53


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
    await site.hashing.run(accounts.add_account, site.database, name, password, role)
    return desk.go("/people", f"{name} has an account now.")


def other(desk: Owner, account: Annotated[int, Path(ge=1, le=_LARGEST)]) -> Account:
    """Give the account that an owner acts on.

    Raises:
        HTTPException: If there is none of that number; status 404.
    """
    known = accounts.find_account(desk.site.database, account)
    if known is None:
        raise HTTPException(404, "There is no such account.")
    return known


Other = Annotated[Account, Depends(other)]


@router.post("/people/{account}/role", dependencies=[FromOurForm])
def set_role(desk: Owner, person: Other, role: Role) -> Response:
    """Make somebody an owner or an assistant."""
    changed = accounts.set_role(desk.site.database, person.id, role)
    return _done(desk, person, f"{person.name} is an {changed.role} now, and logs in anew.")


@router.post("/people/{account}/password", dependencies=[FromOurForm])
async def set_password(desk: Owner, person: Other, password: Password) -> Response:
    """Give somebody a new password."""
    site = desk.site
    await site.hashing.run(accounts.set_password, site.database, person.id, password)
    return _done(desk, person, f"{person.name} has a new password; tell it to them.")


@router.post("/people/{account}/remove", dependencies=[FromOurForm])
def remove(desk: Owner, person: Other) -> Response:
    """Remove an account."""
    accounts.remove_account(desk.site.database, person.id)
    return _done(desk, person, f"{person.name} has no account any more.")


@router.post("/password", dependencies=[NotTooOften, FromOurForm])
async def change_password(
    request: Request, desk: Organiser, old: Password, new: Password
) -> Response:
    """Change one's own password; other sessions end."""
    site = desk.site
    if await proven(request, site, desk.account.name, old) is None:
        raise HTTPException(403, "The old password is wrong.")
    account = await site.hashing.run(accounts.set_password, site.database, desk.account.id, new)
    response = log_in(site, account)
    desk.note(response, "Your password is changed.")
    return response


def _done(desk: Desk, person: Account, said: str) -> Response:
    """Go back to the list; who changed their own account has no session now and logs in."""
    return desk.go("/login") if person.id == desk.account.id else desk.go("/people", said)
