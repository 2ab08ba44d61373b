"""The app: everything put together from the settings."""

from __future__ import annotations

import errno
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from anyio import to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartParser

from reelscore._version import __version__
from reelscore.errors import FullError, ReelscoreError, RefusedError
from reelscore.web import accounts
from reelscore.web.requests import (
    API,
    Gate,
    RefusedRequest,
    RequestLog,
    error_answer,
    routes_of,
    where,
)
from reelscore.web.settings import Settings, logger
from reelscore.web.site import ORGANISE, Website, refused_status, static_files
from reelscore.web.store.schema import open_database

_THREADS = 16  # more only get in each other's way: Python runs one at a time


MultiPartParser.spool_max_size = 1 << 16  # larger files wait on the disk: many come at once


def create_app(settings: Settings) -> FastAPI:
    """Make the app; its database is made or brought up to date first.

    Args:
        settings: What the server is told.

    Raises:
        DataError: If the database cannot be used.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     app = create_app(Settings(f"{folder}/dogs.db"))
    ...     app.state.site.database.close()
    """
    database = open_database(settings.database)
    site = Website(settings, database)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = _THREADS
        site.start()
        try:
            yield
        finally:
            site.stop()

    app = FastAPI(
        title="reelscore",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # its page would load scripts from elsewhere
        redoc_url=None,
    )
    app.state.site = site
    app.router.routes.extend(routes_of(accounts))
    for wing in site.wings:
        setattr(app.state, wing.name, wing)
        app.router.routes.extend(wing.routes)
    app.mount("/static", static_files(), name="static")
    app.add_api_route("/health", _health, methods=["GET"])
    app.add_api_route("/", _welcome, methods=["GET"], include_in_schema=False)
    app.add_exception_handler(HTTPException, _explain)
    app.add_exception_handler(RequestValidationError, _explain)
    app.add_exception_handler(ReelscoreError, _explain)
    app.add_exception_handler(Exception, _explain)
    # the last added is the outermost
    for wing in site.wings:
        for layer in wing.middleware:
            app.add_middleware(layer)
    app.add_middleware(RequestLog)
    uploads = {path: most for wing in site.wings for path, most in wing.uploads.items()}
    app.add_middleware(Gate, settings=settings, uploads=uploads)
    return app


def _health(request: Request) -> JSONResponse:
    """Return whether the server works, its database included."""
    site: Website = request.app.state.site
    with site.database.reading() as connection:
        connection.exec_driver_sql("SELECT 1")
    if site.database.is_full and not site.database.has_room_again():
        return JSONResponse({"status": "disk full", "version": __version__}, 503)
    figures = {name: figure for wing in site.wings for name, figure in wing.health().items()}
    return JSONResponse({"status": "ok", "version": __version__, **figures})


def _welcome(request: Request) -> Response:
    """Show those who come without a link where to go."""
    site: Website = request.app.state.site
    home = site.home
    if home != ORGANISE:
        return site.go(home)
    sections = {
        wing.name.capitalize(): pages for wing in site.wings if (pages := wing.open_pages())
    }
    return site.page(request, "welcome.html", sections=sections)


def _explain(request: Request, error: Exception) -> Response:
    """Return what went wrong: a page for people, JSON for scripts."""
    site: Website = request.app.state.site
    status, text = _status(site, error)
    is_program = request.url.path.startswith(f"{site.settings.prefix}{API}/")
    wants_page = not is_program and "text/html" in request.headers.get("accept", "")
    if status == 401 and wants_page and request.method == "GET":
        logins = (wing.login(site.path(request)) for wing in site.wings)
        return site.go(next(filter(None, logins), f"{ORGANISE}/login"))
    headers = dict(getattr(error, "headers", None) or {})
    if isinstance(error, RefusedError) and status == 503:
        headers["Retry-After"] = "60"
    if not wants_page:
        reason = error.reason if isinstance(error, RefusedError | RefusedRequest) else ""
        return error_answer(status, text, reason, _problems(error), headers)
    heading = _HEADINGS.get(status, "That did not work")
    heading = "No room left" if is_full(error) else heading
    onward = next(filter(None, (wing.onward(site.path(request)) for wing in site.wings)), "")
    page = site.message(request, status, heading, text, onward)
    page.headers.update(headers)
    return page


def _problems(error: Exception) -> list[str]:
    """Return what is wrong with what was sent, each by itself."""
    if isinstance(error, RefusedError):
        return list(error.problems) or [str(error)]
    if isinstance(error, RequestValidationError):
        return [f"{_field(each)}: {each['msg']}" for each in error.errors()]
    return []


def _field(wrong: Mapping[str, Any]) -> str:
    return ".".join(map(str, wrong["loc"][1:]))


def _status(site: Website, error: Exception) -> tuple[int, str]:
    if isinstance(error, HTTPException):
        text = str(error.detail)
        return error.status_code, "There is no such page." if text == "Not Found" else text
    if isinstance(error, RequestValidationError):
        fields = sorted({_field(each) for each in error.errors()})
        return 422, f"Missing or not valid: {', '.join(fields)}."
    if is_full(error):
        logger.error("disk full", extra={"details": where(error)})
        return 503, _FULL
    if isinstance(error, ReelscoreError) and not str(error).startswith(site.database.place):
        if isinstance(error, RefusedError):
            return refused_status(error.reason), str(error)
        return 422, str(error)
    # what the database says is for the log, not for strangers
    logger.error("failed", extra={"details": where(error)})
    if isinstance(error, ReelscoreError):
        return 503, "The server is busy. Try again in a moment."
    return 500, "Something is wrong with this server. Your last answer may not be kept."


def is_full(error: Exception) -> bool:
    """Return whether the disk is to blame: that of the database, or of uploads.

    >>> is_full(OSError(errno.ENOSPC, "No space left on device")), is_full(OSError("other"))
    (True, False)
    """
    codes = (errno.ENOSPC, errno.EDQUOT)
    return isinstance(error, FullError) or (isinstance(error, OSError) and error.errno in codes)


_FULL = (
    "The server's disk is full, and nothing can be stored until its organisers make room. "
    "Everything that was acknowledged before is kept."
)
_HEADINGS = {
    403: "Not allowed",
    404: "Not found",
    413: "Too large",
    429: "Too often",
    503: "One moment",
}
