"""What all pages of a server share, and what a wing adds to them; one object for each app."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

from fastapi import Depends, Form, Header, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from reelscore.report.pages import template_environment
from reelscore.store.database import Database
from reelscore.store.values import microseconds, to_iso
from reelscore.web.mail import Mail
from reelscore.web.media import Videos
from reelscore.web.requests import self_cookie
from reelscore.web.security import Attempts, Hashing, Signer, new_token
from reelscore.web.settings import Settings, Uptime
from reelscore.wings import assets, offers

if TYPE_CHECKING:
    from reelscore.web.store.accounts import Account

Wing = TypeVar("Wing", bound="WingPages")
HOUR, DAY = 3600.0, 86400.0
_ACCOUNTS = 10  # whose passwords one address may get wrong until it waits
ORGANISE = "/organise"  # where the pages of organisers are


@dataclass
class Setup:
    """The link by which an owner's account is made, at the first start or when one is lost."""

    is_open: bool
    token: str = field(default_factory=new_token, repr=False)


class Website:
    """What one server shares among its pages."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self.settings, self.database = settings, database
        self.uptime = Uptime(settings.clock, settings.ticks)
        # sessions last, whatever the clock does
        self.signer = Signer(settings.secret, self.uptime.time)
        self.videos = Videos(settings.videos, self.signer)
        self.templates = page_templates(settings.prefix)
        self.failures = Attempts(settings.attempts)
        self.passwords = Attempts(settings.attempts * _ACCOUNTS)  # of all accounts, by address
        self.hashing = Hashing()
        self.setup = Setup(settings.new_owner)
        self.mail = Mail(settings) if settings.sender else None
        self.wings: list[WingPages] = [pages(self) for pages in offers("PAGES")]
        self._running: ExitStack | None = None

    def start(self) -> None:
        """Start what runs beside the pages, unless it does; what cannot start is an error."""
        if self._running is None:
            with ExitStack() as running:
                for wing in self.wings:
                    running.enter_context(wing.lifespan())
                self._running = running.pop_all()

    def stop(self) -> None:
        """Stop it, and close the database."""
        if self._running is not None:
            self._running.close()
        self.hashing.close()
        self.database.close()

    def wing(self, pages: type[Wing]) -> Wing:
        """Return what a wing keeps for its pages."""
        return next(wing for wing in self.wings if isinstance(wing, pages))

    @property
    def now(self) -> int:
        """The time in microseconds."""
        return microseconds(self.settings.clock())

    @property
    def home(self) -> str:
        """The first page that an organiser has something to see on."""
        return next(filter(None, (wing.home() for wing in self.wings)), ORGANISE)

    def page(
        self, request: Request, template: str, status: int = 200, /, **context: Any
    ) -> HTMLResponse:
        """Render a page."""
        shown = self.templates.get_template(template).render(proof=self.proof(request), **context)
        return HTMLResponse(shown, status)

    def message(
        self, request: Request, status: int, heading: str, text: str, onward: str = ""
    ) -> HTMLResponse:
        """Render a page that says one thing, perhaps with a link to go on."""
        return self.page(request, "message.html", status, heading=heading, text=text, onward=onward)

    def go(self, path: str) -> RedirectResponse:
        """Send a browser to another page."""
        return RedirectResponse(self.settings.prefix + path, 303)

    def path(self, request: Request) -> str:
        """Return the path that a request asks for, without the server's prefix."""
        return request.url.path.removeprefix(self.settings.prefix)

    def proof(self, request: Request) -> str:
        """Return the token for forms on this page."""
        return self.signer.proof(request.state.browser)

    def set_cookie(self, response: Response, name: str, value: str, path: str, age: float) -> None:
        """Send a browser something to keep."""
        cookie = self_cookie(self.settings, name, value, path=path, age=int(age))
        response.headers.append("set-cookie", cookie)


class WingPages:
    """What a wing adds to a server: it overrides what it has.

    `create_app` makes one for each app, and keeps it as ``app.state.NAME``. Paths are those
    without the server's prefix.
    """

    name: ClassVar[str]  # what the app keeps it as
    routes: Sequence[BaseRoute] = ()  # its pages
    # what its answers pass, inside the checks that all requests pass
    middleware: Sequence[Callable[[ASGIApp], ASGIApp]] = ()
    # pages that take large files: a regular expression of the path, and how many bytes
    uploads: Mapping[str, int] = {}

    def lifespan(self) -> AbstractContextManager[object]:
        """Return what runs while the server does."""
        return nullcontext()

    def health(self) -> dict[str, object]:
        """Return figures for those who watch over the server."""
        return {}

    def home(self) -> str:
        """Return the path of its front page, if there is something to see; otherwise ""."""
        return ""

    def menu(self, account: Account) -> Sequence[tuple[str, str, str]]:
        """Return the pages that organisers find everywhere: a name, the path, and the words."""
        return ()

    def open_pages(self) -> Sequence[tuple[str, str]]:
        """Return what anybody may look at: paths and words."""
        return ()

    def login(self, path: str) -> str:
        """Return the page to log in on for one of its own pages; for others ""."""
        return ""

    def onward(self, path: str) -> str:
        """Return where to go on from one of its own pages that failed; for others ""."""
        return ""


async def get_site(request: Request) -> Website:
    """Return what the app was made with."""
    site: Website = request.app.state.site
    return site


Here = Annotated[Website, Depends(get_site)]


async def check_form(
    request: Request, site: Here, proof: Annotated[str, Form(max_length=64)] = ""
) -> None:
    """Refuse a form that another site's page has sent."""
    if not site.signer.is_proof(proof, request.state.browser):
        raise HTTPException(403, "This form is out of date. Go back, reload the page, try again.")


async def check_header(
    request: Request, site: Here, x_form_proof: Annotated[str, Header(max_length=64)] = ""
) -> None:
    """Refuse what a script on another site's page has sent."""
    await check_form(request, site, x_form_proof)


FromOurForm = Depends(check_form)
FromOurScript = Depends(check_header)


# The checks above are asynchronous though they wait for nothing: so they cost no change of threads.


def address(request: Request) -> str:
    """Return the address that a request came from."""
    return request.client.host if request.client else "unknown"


def refused_status(reason: str) -> int:
    """Return the status that tells why something is refused.

    >>> refused_status("unknown"), refused_status("excluded"), refused_status("answered")
    (404, 403, 409)
    """
    return _REFUSALS.get(reason, 409)


_REFUSALS = {
    "unknown": 404,
    "excluded": 403,
    "team": 403,
    "invalid": 422,
    "quota": 429,
    "concurrent": 429,
    "often": 429,
    "busy": 503,
}


def guessed(request: Request, refusal: HTTPException) -> HTTPException:
    """Count a wrong link or token, and return its refusal; who guesses on is told to wait.

    Right ones are looked up first: nobody waits for what others do at the same address.
    """
    site: Website = request.app.state.site
    return refusal if site.failures.take(f"from {address(request)}") else too_often()


def too_often() -> HTTPException:
    """Return the message that somebody guesses too much."""
    return HTTPException(429, "Too many attempts; wait a minute.", {"Retry-After": "60"})


STATIC = Path(__file__).parent / "static"


@cache
def static_folders() -> tuple[Path, ...]:
    """Return the folders of the files that pages load: the base's and those of wings."""
    return (STATIC, *(Path(str(files(package))) / "static" for package in assets()))


def static_file(name: str) -> Path:
    """Return a file that pages load."""
    return next(path for folder in static_folders() if (path := folder / name).is_file())


def static_files() -> StaticFiles:
    """Return what serves the files that pages load."""
    served = StaticFiles(directory=STATIC)
    served.all_directories += static_folders()[1:]
    return served


@cache
def page_templates(prefix: str) -> Environment:
    """Return the templates of all pages, for a server below a path."""
    templates = template_environment("reelscore.web", *assets())
    versions: dict[str, str] = {}

    def static(name: str) -> str:
        if name not in versions:
            versions[name] = hashlib.sha256(static_file(name).read_bytes()).hexdigest()[:10]
        return f"{prefix}/static/{name}?{versions[name]}"

    templates.globals |= {"url": lambda path: prefix + path, "static": static}
    templates.filters |= {"clock": clock, "countdown": countdown, "span": span, "iso": to_iso}
    return templates


_YEARS = 2 * 365  # days that are years: such a phase is open without end


def countdown(seconds: float) -> str:
    """Return how long it is until a deadline, in its two largest units.

    >>> [countdown(seconds) for seconds in (20, 600, 7500, 273600, 3e10)]
    ['1 min', '10 min', '2 h 5 min', '3 d 4 h', 'years']
    """
    minutes = max(1, int(seconds // 60))
    days, hours, minutes = minutes // 1440, minutes // 60 % 24, minutes % 60
    if days > _YEARS:
        return "years"
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def clock(seconds: float) -> str:
    """Return a time as pages do, in UTC.

    >>> clock(0)
    '1970-01-01 00:00:00'
    """
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")


def span(seconds: float) -> str:
    """Return how long something takes, roughly.

    >>> [span(seconds) for seconds in (40, 3480, 9000, 400000)]
    ['1 min', '58 min', '2.5 h', '4.6 days']
    """
    if seconds < 1.5 * HOUR:
        return f"{max(1, round(seconds / 60))} min"
    return f"{seconds / HOUR:.1f} h" if seconds < 36 * HOUR else f"{seconds / HOUR / 24:.1f} days"
