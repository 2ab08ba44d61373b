"""Who may send something is known before it is read.

FastAPI reads a body, be it a gigabyte, before it asks any dependency. Routes of this module let
guards look at a request first: at its path, its cookies and its address. What they find is given to
the page by the same name, as a dependency.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any, Generic, TypeVar

from anyio import to_thread
from fastapi import APIRouter, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

T = TypeVar("T")


class Guard(Generic[T]):
    """A dependency that is asked before the body is read; it needs nothing but the request.

    Args:
        check: Gives what it finds, or raises; called once for each request, on a thread.
    """

    def __init__(self, check: Callable[[Request], T]) -> None:
        self.check = check

    def found(self, request: Request) -> T:
        """Give what the check finds; it is asked the first time only."""
        known: dict[Guard[Any], Any] = request.state.found
        if self not in known:
            known[self] = self.check(request)
        found: T = known[self]
        return found

    async def __call__(self, request: Request) -> T:
        """Give a page what was found before."""
        return self.found(request)


class GuardedRoute(APIRoute):
    """A route whose guards are asked first."""

    @property
    def guards(self) -> list[Guard[Any]]:
        """The guards among the dependencies."""
        return [call for call in _calls(self.dependant) if isinstance(call, Guard)]

    def get_route_handler(self) -> Callable[[Request], Any]:
        """Give what answers a request."""
        answer: Callable[[Request], Awaitable[Response]] = super().get_route_handler()
        guards = self.guards
        if not guards:
            return answer

        async def guarded(request: Request) -> Response:
            await to_thread.run_sync(_ask, guards, request)
            return await answer(request)

        return guarded


Router = partial(APIRouter, route_class=GuardedRoute)


def _ask(guards: list[Guard[Any]], request: Request) -> None:
    for guard in guards:
        guard.found(request)


def _calls(dependant: Dependant) -> Iterator[object]:
    for each in dependant.dependencies:
        yield from _calls(each)
        yield each.call
