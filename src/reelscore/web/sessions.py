"""Who an organiser's browser belongs to, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from reelscore.store.database import Database
from reelscore.web.requests import Guard
from reelscore.web.security import new_token
from reelscore.web.site import ORGANISE, Website, clock
from reelscore.web.store.accounts import (
    Account,
    Deed,
    end_session,
    end_sessions,
    find_account,
    is_ended,
)

COOKIE = "reelscore_session"
_DONE = "reelscore_done"  # what the last form did, for the next page to say
_AGE = 60.0
_WAS_HERE = "reelscore_account"  # whose the browser was, also after logging out
_ACCOUNT = "account"
_REMEMBERED = 400 * 86400.0
PATH = ORGANISE
_EVERYWHERE = "/"  # challenges have pages of their own
_FULL = (
    "The disk of the database is full: no answer can be stored. Make room on it. Raters' browsers "
    "keep their answers and send them again by themselves."
)


@dataclass(frozen=True)
class Desk:
    """An organiser at work."""

    site: Website
    account: Account
    request: Request

    @property
    def alert(self) -> str:
        """What all pages say while the disk of the database is full; empty otherwise."""
        return _FULL if self.site.database.is_full else ""

    def page(self, template: str, **context: Any) -> HTMLResponse:
        """Render a page; the first one after a form says what the form did."""
        cookie = self.request.cookies.get(_DONE)
        done = self.site.signer.read("done", cookie, age=_AGE) or ""
        page = self.part(template, done=done, **context)
        if cookie:
            self.site.set_cookie(page, _DONE, "", PATH, 0)
        return page

    def part(self, template: str, **context: Any) -> HTMLResponse:
        """Render a part of a page, which its script asks for."""
        return self.site.page(self.request, f"organisers/{template}", desk=self, **context)

    def go(self, path: str = "", done: str = "") -> RedirectResponse:
        """Send the browser to another of these pages, which says what was done and when."""
        response = self.site.go(PATH + path)
        if done:
            self.note(response, done)
        return response

    def note(self, response: Response, done: str) -> None:
        """Let the next page say what was done, with the time."""
        text = f"{done} ({clock(self.site.settings.clock())} UTC)"
        self.site.set_cookie(response, _DONE, self.site.signer.sign("done", text), PATH, _AGE)

    @property
    def menu(self) -> list[tuple[str, str, str]]:
        """The pages that all pages lead to: a name, the path, and the words."""
        pages = [page for wing in self.site.wings for page in wing.menu(self.account)]
        return [*pages, ("people", f"{PATH}/people", "People")]

    @property
    def deed(self) -> Deed:
        """Who changes an account, and when, for the log."""
        return Deed(self.account.name, self.site.now)


def log_in(site: Website, account: Account, to: str = PATH) -> Response:
    """Begin a session, and go on to a page."""
    response = site.go(to)
    value = site.signer.sign("session", [account.id, account.sessions, new_token()])
    site.set_cookie(response, COOKIE, value, _EVERYWHERE, site.settings.session)
    # logging out does not make a rater of somebody who takes part in a challenge
    value = site.signer.sign(_ACCOUNT, account.id)
    site.set_cookie(response, _WAS_HERE, value, _EVERYWHERE, _REMEMBERED)
    return response


def log_out(request: Request, *, everywhere: bool, to: str = f"{PATH}/login") -> Response:
    """End the session of a browser, or all sessions of its account, and go on to a page."""
    site: Website = request.app.state.site
    account, cookie = find_visitor(request), request.cookies.get(COOKIE, "")
    if account is not None and everywhere:
        end_sessions(site.database, account.id)
    elif account is not None:
        end_session(site.database, cookie, site.now, site.settings.session)
    response = site.go(to)
    site.set_cookie(response, COOKIE, "", _EVERYWHERE, 0)
    return response


def find_visitor(request: Request, database: Database | None = None) -> Account | None:
    """Return the account whose session the browser holds; ``None`` where there is none."""
    site: Website = request.app.state.site
    age = site.settings.session
    cookie, database = request.cookies.get(COOKIE, ""), database or site.database
    value = site.signer.read("session", cookie, age=age)
    if not isinstance(value, list) or len(value) != 3 or is_ended(database, cookie):
        return None
    account = find_account(database, value[0])
    return account if account is not None and account.sessions == value[1] else None


def known_accounts(request: Request) -> set[int]:
    """Return the accounts that the browser is or was logged in to."""
    site: Website = request.app.state.site
    account = find_visitor(request)
    before = site.signer.read(_ACCOUNT, request.cookies.get(_WAS_HERE), age=_REMEMBERED)
    now = {account.id} if account is not None else set()
    return now | {before} if isinstance(before, int) else now


@Guard
def current(request: Request) -> Desk:
    """Return the organiser who asks."""
    account = find_visitor(request)
    if account is None:
        raise HTTPException(401, "Log in first.")
    if not account.is_organiser:
        raise HTTPException(403, "Only organisers may do this.")
    return Desk(request.app.state.site, account, request)


@Guard
def owner_only(request: Request) -> Desk:
    """Return the organiser who asks, if it is an owner."""
    desk = current.value(request)
    if not desk.account.is_owner:
        raise HTTPException(403, "Only an owner may do this.")
    return desk


Organiser = Annotated[Desk, Depends(current)]
Owner = Annotated[Desk, Depends(owner_only)]
