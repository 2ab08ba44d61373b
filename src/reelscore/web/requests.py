"""What every request passes: checks of host, origin and size, guards, a log, strict headers.

Logs are one JSON object a line, with nothing that tells who a person is: requests are logged by the
pattern of their route, such as ``/r/{token}``, never by their address; errors by where they
happened, never by their message, which may quote what was sent.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
import traceback
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from datetime import datetime, timezone
from functools import cache, partial
from types import ModuleType
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import msgspec
from anyio import to_thread
from fastapi import APIRouter, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reelscore.web.security import new_token
from reelscore.web.settings import Settings, logger

BROWSER = "reelscore_browser"
FRAME = "/in/{key}"  # after a rater's path: pages that need no cookies, for frames
_BROWSER = re.compile(r"[\w-]{32}")
_KEY = re.compile(r"/c/[^/]+/in/([^/]+)/")
_SAFE = ("GET", "HEAD", "OPTIONS")
_HERE = ("127.0.0.1", "localhost", "::1")
_SMALL = 1 << 20  # bytes; only uploads may be larger
SILENCE = 30.0  # seconds that a body may pause
SLOWEST = 1000.0  # bytes a second that a body must bring, after the first pause
_TOO_LARGE = "That is more than this server takes at once."
_TOO_SLOW = "The request came too slowly; try again with a better connection."
API = "/api/v1"  # where programs ask
_REASONS = {
    400: "request",
    401: "token",
    403: "forbidden",
    404: "missing",
    405: "method",
    408: "slow",
    409: "conflict",
    413: "large",
    422: "invalid",
    429: "attempts",
    503: "busy",
}
_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "media-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
}
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=()",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


def error_answer(
    status: int,
    message: str,
    reason: str = "",
    problems: Iterable[str] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Return in JSON what is wrong, in one form for all errors.

    >>> error_answer(404, "There is nothing here.").body.decode()
    '{"message":"There is nothing here.","reason":"missing","problems":[]}'
    """
    reason = reason or _REASONS.get(status, "refused" if status < 500 else "defect")
    body = {"message": message, "reason": reason, "problems": list(problems)}
    return JSONResponse(body, status, headers)


class RefusedRequest(HTTPException):
    """A request of a program that is refused, with the reason in one word."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        headers = {"www-authenticate": "Bearer"} if status == 401 else None
        super().__init__(status, message, headers)
        self.reason = reason


class Gate:
    """The outermost layer of the app."""

    def __init__(self, app: ASGIApp, settings: Settings, uploads: Mapping[str, int]) -> None:
        self.app, self.settings = app, settings
        self._uploads = [(re.compile(path), most) for path, most in uploads.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and put headers on its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        self._place(scope)
        headers = Headers(scope=scope)
        browser, is_new = self._browser(scope, headers)
        state = scope.setdefault("state", {})
        state |= {"browser": browser, "policy": {}, "embedded": False, "guarded": {}}

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._dress(MutableHeaders(scope=message), state, is_new)
            await send(message)

        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, guarded)
            return
        await self.app(scope, _limited(receive, self._most(scope)), guarded)

    def _place(self, scope: Scope) -> None:
        """Put the proxy's prefix before the path, whether the proxy has cut it off or not."""
        prefix = self.settings.prefix
        scope["root_path"] = prefix
        if prefix and not (scope["path"] + "/").startswith(prefix + "/"):
            scope["path"] = prefix + scope["path"]

    def _path(self, scope: Scope) -> str:
        """Return the path without the prefix."""
        return str(scope["path"]).removeprefix(self.settings.prefix)

    def _browser(self, scope: Scope, headers: Headers) -> tuple[str, bool]:
        """Return what we call the browser, and whether that is new.

        In a frame of another site browsers keep no cookies; the key in the path stands for them.
        """
        if key := _KEY.match(self._path(scope)):
            return f"in {key[1]}", False
        for part in ";".join(headers.getlist("cookie")).split(";"):
            name, _, value = part.strip().partition("=")
            if name == BROWSER and _BROWSER.fullmatch(value):
                return value, False
        return new_token(), True

    def _most(self, scope: Scope) -> int:
        path = self._path(scope)
        return next((most for page, most in self._uploads if page.fullmatch(path)), _SMALL)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        refused = self._refused(scope, headers)
        if refused is None:
            return None
        is_program = self._path(scope).startswith(f"{API}/")
        status, text = refused
        return error_answer(status, text) if is_program else PlainTextResponse(text, status)

    def _refused(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Return with which status a request is refused at once, and why."""
        host = urlsplit(f"//{headers.get('host', '')}").hostname
        if host not in (self.settings.host, *_HERE):
            return 400, "This server has another name."
        if scope["method"] in _SAFE:
            return None
        site = headers.get("sec-fetch-site")
        origin = headers.get("origin")
        if site not in (None, "same-origin", "none") or (
            site is None and origin is not None and urlsplit(origin).hostname != host
        ):
            return 403, "This request came from another site."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._most(scope):
            return 413, _TOO_LARGE
        return None

    def _dress(self, headers: MutableHeaders, state: Mapping[str, Any], is_new: bool) -> None:
        policy = {**_POLICY, **state["policy"]}
        parts = (f"{name} {value}" for name, value in policy.items())
        headers.setdefault("content-security-policy", "; ".join(parts))
        for name, value in _HEADERS.items():
            headers.setdefault(name, value)
        if not state["embedded"]:
            headers.setdefault("x-frame-options", "DENY")
        if self.settings.secure:
            headers.setdefault("strict-transport-security", "max-age=31536000")
        headers.setdefault("cache-control", "no-store")
        is_page = headers.get("content-type", "").startswith("text/html") or "location" in headers
        if is_new and is_page:
            headers.append("set-cookie", self_cookie(self.settings, BROWSER, state["browser"]))


def self_cookie(
    settings: Settings, name: str, value: str, *, path: str = "/", age: int = 400 * 86400
) -> str:
    """Write a cookie that scripts cannot read and other sites cannot send.

    >>> self_cookie(Settings("dogs.db"), "a", "b", age=60)
    'a=b; Path=/; Max-Age=60; HttpOnly; SameSite=Lax'
    """
    parts = [f"{name}={value}", f"Path={settings.prefix}{path}", f"Max-Age={age}", "HttpOnly"]
    return "; ".join([*parts, "SameSite=Lax", *(["Secure"] if settings.secure else [])])


def sources(*origins: str) -> str:
    """Write a list of sources for the content security policy, our own site first.

    >>> sources("https://lab.example", "")
    "'self' https://lab.example"
    """
    return " ".join(("'self'", *filter(None, origins)))


def _limited(receive: Receive, most: int) -> Receive:
    """Watch a body as it comes: its announced length may be missing, or a lie."""
    seen, begun, more = 0, time.monotonic(), True

    async def watched() -> Message:
        nonlocal seen, more
        if not more:  # the body is here; what comes next is that the browser goes
            return await receive()
        late = begun + SILENCE + seen / SLOWEST - time.monotonic()
        try:
            message = await asyncio.wait_for(receive(), max(0.0, min(SILENCE, late)))
        except asyncio.TimeoutError:
            raise HTTPException(408, _TOO_SLOW, {"Connection": "close"}) from None
        seen += len(message.get("body", b""))
        more = bool(message.get("more_body"))
        if seen > most:
            raise HTTPException(413, _TOO_LARGE)
        return message

    return watched


# Logs


class LogLines(logging.Formatter):
    """Writes a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one record."""
        when = datetime.fromtimestamp(record.created, timezone.utc)
        line: dict[str, Any] = {
            "time": when.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "details", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line |= where(record.exc_info[1])
        return msgspec.json.encode(line).decode()


def where(error: BaseException) -> dict[str, Any]:
    """Return what kind of error happened and where, without its message.

    >>> where(ValueError("swordfish"))
    {'error': 'ValueError', 'at': []}
    """
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "error": type(error).__name__,
        "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-8:]],
    }


class RequestLog:
    """Logs each request when it is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and take its time."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin, status = time.perf_counter(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noting)
        finally:
            route = getattr(scope.get("route"), "path", "(none)")
            details = {
                "method": scope["method"],
                "route": route,
                "status": status,
                "ms": round((time.perf_counter() - begin) * 1000, 1),
            }
            logger.info("request", extra={"details": details})


# Guards: who may send something is known before it is read.
#
# FastAPI reads a body of any size before it asks any dependency. Routes of this module let
# guards look at a request first: at its path, its cookies and its address. What they return is
# given to the page by the same name, as a dependency.

T = TypeVar("T")


class Guard(Generic[T]):
    """A dependency that is asked before the body is read; it needs nothing but the request."""

    def __init__(self, check: Callable[[Request], T]) -> None:
        self.check = check

    def value(self, request: Request) -> T:
        """Return the value of the check, which is called the first time only."""
        values: dict[Guard[T], T] = request.state.guarded
        if self not in values:
            values[self] = self.check(request)
        return values[self]

    async def __call__(self, request: Request) -> T:
        """Return a page the value of the check."""
        return self.value(request)


class GuardedRoute(APIRoute):
    """A route whose guards are asked first."""

    @property
    def guards(self) -> list[Guard[Any]]:
        """The guards among the dependencies."""
        return [call for call in _calls(self.dependant) if isinstance(call, Guard)]

    def get_route_handler(self) -> Callable[[Request], Any]:
        """Return what answers a request."""
        answer: Callable[[Request], Awaitable[Response]] = super().get_route_handler()
        guards = self.guards

        def ask(request: Request) -> None:
            for guard in guards:
                guard.value(request)

        async def guarded(request: Request) -> Response:
            await to_thread.run_sync(ask, request)
            return await answer(request)

        return guarded if guards else answer


Router = partial(APIRouter, route_class=GuardedRoute)


@cache
def routes_of(*modules: ModuleType) -> list[BaseRoute]:
    """Return the routes of modules that have a ``router``."""
    everything = APIRouter()
    for module in modules:
        everything.include_router(module.router)
    return everything.routes


def _calls(dependant: Dependant) -> Iterator[object]:
    for dependency in dependant.dependencies:
        yield from _calls(dependency)
        yield dependency.call
