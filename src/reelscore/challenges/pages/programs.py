"""Programs: who asks with a token, and what is offered to them as well as on a page.

Cookies count for nothing with programs, so that no other site can use a browser's session.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, NamedTuple, TypeVar

from fastapi import APIRouter, Body, Depends, Form, Path, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from reelscore.challenges.pages.context import (
    ChallengePage,
    Router,
    challenges_of,
    find_page,
    is_organiser,
    missing,
    open_page,
)
from reelscore.challenges.pages.wing_pages import PATH
from reelscore.challenges.people.teams import Team
from reelscore.challenges.people.tokens import find_token
from reelscore.errors import RefusedError
from reelscore.web.requests import API, Guard, RefusedRequest
from reelscore.web.sessions import Desk
from reelscore.web.site import FromOurForm, guessed
from reelscore.web.store.accounts import Account, find_account


class Refusal(BaseModel):
    """What every error of this interface looks like; see `reelscore.web.requests.error_answer`."""

    message: str
    reason: str
    problems: list[str]


REFUSALS: dict[int | str, dict[str, Any]] = {422: {"model": Refusal}, "4XX": {"model": Refusal}}
Id = Annotated[str, Field(max_length=100)]
Reason = Annotated[str, Field(max_length=2000)]
Answer = dict[str, object]  # what is sent as JSON


def bearer(request: Request, scope: str = "") -> tuple[Account | None, tuple[str, ...]]:
    """Return the account whose token a request bears, and what the token is good for."""
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    if not kind and not scope:
        return None, ()
    if kind.lower() != "bearer" or not secret:
        raise RefusedRequest(401, "token", "Send a token: 'Authorization: Bearer …'.")
    try:
        token = find_token(challenges_of(request), secret.strip())
    except RefusedError as error:
        raise guessed(request, RefusedRequest(401, error.reason, str(error))) from None
    account = find_account(challenges_of(request).database, token.account)
    if account is None:
        raise RefusedRequest(401, "unknown", "The account of this token was removed.")
    return account, tuple(token.scopes.split())


def _check_scope(account: Account | None, scope: str, scopes: tuple[str, ...]) -> None:
    if scope and scope not in scopes:
        raise RefusedRequest(403, "scope", f"This token may not {scope}; make one that may.")
    if scope == "organise" and not (account and account.is_owner):
        raise RefusedRequest(403, "scope", "Only an owner may do this.")


def _guard(scope: str) -> Guard[ChallengePage]:
    def check(request: Request) -> ChallengePage:
        account, scopes = bearer(request, scope)
        if "challenge" in request.path_params:
            page = find_page(request, account)
        else:
            page = _page_of_submission(request, account)
        _check_scope(page.account, scope, scopes)
        return page

    return Guard(check)


def _page_of_submission(request: Request, account: Account | None) -> ChallengePage:
    id = str(request.path_params["submission"])
    challenge = challenges_of(request).of_submission(id)
    if challenge is None or (challenge.state == "draft" and not is_organiser(account)):
        raise missing()
    page = open_page(request, challenge, account)
    page.submission(id)  # it may be of a phase that they may not know of
    return page


@Guard
def _owner_of_server(request: Request) -> Desk:
    account, scopes = bearer(request, "organise")
    _check_scope(account, "organise", scopes)
    assert account is not None
    return Desk(request.app.state.site, account, request)


Anybody = Annotated[ChallengePage, Depends(_guard(""))]
Reader = Annotated[ChallengePage, Depends(_guard("read"))]
Submitter = Annotated[ChallengePage, Depends(_guard("submit"))]
Owner = Annotated[ChallengePage, Depends(_guard("organise"))]
ServerOwner = Annotated[Desk, Depends(_owner_of_server)]


def team_of_program(page: ChallengePage) -> Team:
    """Return the team of whoever asks."""
    if page.team is None:
        raise RefusedRequest(403, "team", "You are in no team of this challenge; make one first.")
    return page.team


# What is done on a page and by programs


class Link(NamedTuple):
    """What was made, and its address; a page shows it once."""

    message: str
    link: str


T = TypeVar("T")
Deed = TypeVar("Deed", bound=Callable[..., str | Link])
Shown = Callable[[ChallengePage, Link], Response]


def deeds(
    page: object, program: object, back: str, shown: Shown | None = None
) -> tuple[APIRouter, Callable[..., Callable[[Deed], Deed]]]:
    """Return a router, and what offers a deed there twice: as a form, and to programs.

    A deed is a function of the page and of what is filled in; it returns what was done, in a
    sentence. Its arguments are parts of the path, or else fields of the form and of the JSON.

    Args:
        page: Who may fill in the forms.
        program: Who may ask by a program.
        back: The page to go back to, below that of the challenge.
        shown: Shows a link that was made.
    """
    router = Router()

    def offer(form: str, request: str) -> Callable[[Deed], Deed]:
        """Offer a deed as the form at one path, and as the request at another."""

        def offered(deed: Deed) -> Deed:
            def fill_in(page: ChallengePage, **values: object) -> Response:
                done = deed(page, **values)
                if isinstance(done, Link):
                    assert shown is not None
                    return shown(page, done)
                return page.go_to(back, done)

            def ask(page: ChallengePage, **values: object) -> Answer:
                done = deed(page, **values)
                return done._asdict() if isinstance(done, Link) else {"message": done}

            at = PATH + "/{challenge}" + form
            post = partial(router.post, name=deed.__name__, description=deed.__doc__)
            post(at, dependencies=[FromOurForm])(_signed(fill_in, deed, at, page, Form()))
            at = API + ("" if request.startswith("/submissions/") else "/challenges/{challenge}")
            at += request
            post(at, responses=REFUSALS)(_signed(ask, deed, at, program, Body(embed=True)))
            return deed

        return offered

    return router, offer


def _signed(
    answer: Callable[..., T], deed: Deed, path: str, who: object, body: object
) -> Callable[..., T]:
    """Set the signature of an answer by which FastAPI finds the arguments of a deed."""
    arguments = []
    for name, each in inspect.signature(deed, eval_str=True).parameters.items():
        place = Path() if f"{{{name}}}" in path else body
        kind = who if name == "page" else Annotated[each.annotation, place]
        arguments.append(each.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY))
    answer.__signature__ = inspect.Signature(arguments)  # type: ignore[attr-defined]
    return answer
