"""What all pages share: the campaigns, the signer, the templates; one object for each app."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Annotated, Any

from anyio import CapacityLimiter
from fastapi import Depends, Form, Header, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.pages.organisers.progress import span
from reelscore.campaigns.pages.organisers.raters import Trust
from reelscore.campaigns.store.campaigns import all_terms
from reelscore.campaigns.store.records import Terms
from reelscore.challenges.challenge import Challenges, Clock, server_clock
from reelscore.challenges.queue.workers import Workers
from reelscore.challenges.uploads.uploads import Readers
from reelscore.report.pages import template_environment
from reelscore.store.database import Database
from reelscore.store.values import microseconds, to_iso
from reelscore.text.tokens import thread_count
from reelscore.web.media import Preflight, video_files
from reelscore.web.requests import Guard, self_cookie
from reelscore.web.security import Attempts, Hashing, Signer, new_token
from reelscore.web.settings import Settings, Uptime


@dataclass(frozen=True)
class Campaigns:
    """The campaigns of the database by id, those included that others make meanwhile."""

    settings: Settings
    database: Database
    uptime: Uptime
    _known: dict[str, Campaign] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def all(self) -> list[Campaign]:
        """Return all campaigns, oldest first."""
        with self._lock:
            with self.database.reading() as connection:
                for terms in all_terms(connection):
                    if terms.id not in self._known:
                        self._known[terms.id] = self._opened(terms)
            return list(self._known.values())

    def get(self, id: str) -> Campaign:
        """Return one campaign.

        Raises:
            HTTPException: If there is none of that id; status 404.
        """
        if id not in self._known:
            self.all()
        try:
            return self._known[id]
        except KeyError:
            raise HTTPException(404, "There is no such campaign.") from None

    def renew(self, campaign: Campaign) -> None:
        """Replace a campaign whose terms have changed."""
        with self._lock:
            self._known[campaign.id] = campaign

    def _opened(self, terms: Terms) -> Campaign:
        clock = self.settings.clock
        return Campaign(terms, self.database, clock, may_release=self.uptime.lasts)


@dataclass(frozen=True)
class Videos:
    """The videos of a folder, under names that tell raters nothing.

    A request names a video by a word derived from its item with the server's secret, and that word
    is looked up among the files that are there: no path is ever made of what a browser sends.

    Attributes:
        folder: Where they lie; None for a server without videos.
        signer: Makes their public names.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "clip1.mp4").write_bytes(b"")
    ...     videos = Videos(Path(folder), Signer("a secret"))
    ...     name = videos.name("dogs", "clip1")
    ...     name, videos.file("dogs", name).name, videos.file("dogs", "clip1.mp4")
    ('9fYKQHkinF8jISlvTu4X', 'clip1.mp4', None)
    """

    folder: Path | None
    signer: Signer
    _files: dict[str, tuple[int, dict[str, Path]]] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def name(self, campaign: str, item: str) -> str | None:
        """Return the public name of an item's video; None where there is no such file."""
        name = self.signer.name("media", campaign, item, length=20)
        return name if self.file(campaign, name) else None

    def file(self, campaign: str, name: str) -> Path | None:
        """Return the file of a public name; None where there is none."""
        if self.folder is None:
            return None
        with self._lock:
            changed = self.folder.stat().st_mtime_ns
            scanned = self._files.get(campaign)
            if scanned is None or scanned[0] != changed:  # files came or went
                scanned = self._files[campaign] = (changed, self._scan(campaign))
            return scanned[1].get(name)

    def _scan(self, campaign: str) -> dict[str, Path]:
        assert self.folder is not None
        files = video_files(self.folder)
        return {
            self.signer.name("media", campaign, item, length=20): file
            for item, file in files.items()
        }


STATIC = Path(__file__).parent / "static"
_HOME = STATIC.parents[1]
STATIC_FOLDERS = (
    STATIC,
    _HOME / "campaigns" / "static",
    _HOME / "challenges" / "static",
    _HOME / "corpus" / "review" / "static",
)
_ARRIVALS = 120  # new raters that one address may send in a minute


@dataclass
class Setup:
    """The link by which an owner's account is made, at the first start or when one is lost."""

    is_open: bool
    token: str = field(default_factory=new_token, repr=False)

    def close(self) -> None:
        """Let the link open nothing any more."""
        self.is_open = False


@dataclass(frozen=True)
class Site:
    """What one server shares among its pages."""

    settings: Settings
    database: Database
    campaigns: Campaigns
    signer: Signer
    videos: Videos
    templates: Environment
    failures: Attempts
    hashing: Hashing
    arrivals: Attempts
    registrations: Attempts
    setup: Setup
    trust: Trust
    preflight: Preflight
    challenges: Challenges
    readers: Readers
    uploads: CapacityLimiter
    workers: list[Workers] = field(default_factory=list)

    @classmethod
    def of(cls, settings: Settings, database: Database) -> Site:
        """Put the parts together."""
        uptime = Uptime(settings.clock, settings.ticks)
        readers = thread_count(None)
        signer = Signer(settings.secret, uptime.time)  # sessions last, whatever the clock does
        return cls(
            settings,
            database,
            Campaigns(settings, database, uptime),
            signer,
            Videos(settings.videos, signer),
            page_templates(settings.prefix),
            Attempts(settings.attempts),
            Hashing(),
            Attempts(_ARRIVALS),
            Attempts(settings.attempts),
            Setup(settings.new_owner),
            Trust(),
            Preflight(settings.videos),
            Challenges(database, _challenge_clock(settings)),
            Readers(readers),
            CapacityLimiter(readers),
        )

    @property
    def now(self) -> int:
        """The time in microseconds."""
        return microseconds(self.settings.clock())

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

    @property
    def has_challenges(self) -> bool:
        """Whether the database holds any challenge."""
        return bool(self.challenges.all())

    @property
    def only_challenges(self) -> bool:
        """Whether it holds challenges and no campaign, so that most people come for those."""
        return self.has_challenges and not self.campaigns.all()

    def go(self, path: str) -> RedirectResponse:
        """Send a browser to another page."""
        return RedirectResponse(self.settings.prefix + path, 303)

    def proof(self, request: Request) -> str:
        """Return the token for forms on this page."""
        return self.signer.proof(request.state.browser)

    def set_cookie(self, response: Response, name: str, value: str, path: str, age: float) -> None:
        """Give a browser something to keep."""
        cookie = self_cookie(self.settings, name, value, path=path, age=int(age))
        response.headers.append("set-cookie", cookie)


def _challenge_clock(settings: Settings) -> Clock:
    """Return the clock of challenges: the database's, unless somebody has set another."""
    if settings.clock is time.time:
        return server_clock
    return lambda _: microseconds(settings.clock())


async def get_site(request: Request) -> Site:
    """Return what the app was made with."""
    site: Site = request.app.state.site
    return site


Here = Annotated[Site, Depends(get_site)]


async def check_form(
    request: Request, site: Here, proof: Annotated[str, Form(max_length=64)] = ""
) -> None:
    """Refuse a form that another site's page has sent.

    Raises:
        HTTPException: If it has not the token of this browser; status 403.
    """
    if not site.signer.is_proof(proof, request.state.browser):
        raise HTTPException(403, "This form is out of date. Go back, reload the page, try again.")


async def check_header(
    request: Request, site: Here, x_form_proof: Annotated[str, Header(max_length=64)] = ""
) -> None:
    """Refuse what a script on another site's page has sent.

    Raises:
        HTTPException: If it has not the token of this browser; status 403.
    """
    await check_form(request, site, x_form_proof)


FromOurForm = Depends(check_form)
FromOurScript = Depends(check_header)


# The checks above are asynchronous though they wait for nothing: so they cost no change of threads.


def address(request: Request) -> str:
    """Return the address that a request came from."""
    return request.client.host if request.client else "unknown"


def refused_status(reason: str) -> int:
    """Return the status that tells why a campaign or a challenge refuses something.

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


@Guard
def check_failures(request: Request) -> None:
    """Let an address that guesses wait.

    Raises:
        HTTPException: If it was wrong too often; status 429.
    """
    site: Site = request.app.state.site
    if site.failures.exhausted(address(request)):
        raise too_often()


def too_often() -> HTTPException:
    """Return the message that an address guesses too much."""
    return HTTPException(429, "Too many attempts; wait a minute.", {"Retry-After": "60"})


NotTooOften = Depends(check_failures)


def static_files() -> StaticFiles:
    """Return what serves the files that pages load."""
    files = StaticFiles(directory=STATIC)
    files.all_directories += STATIC_FOLDERS[1:]
    return files


@cache
def page_templates(prefix: str) -> Environment:
    """Return the templates of all pages, for a server below a path.

    Args:
        prefix: The path; empty for the top.
    """
    templates = template_environment(
        "reelscore.web", "reelscore.campaigns", "reelscore.challenges", "reelscore.corpus.review"
    )
    versions: dict[str, str] = {}

    def static(name: str) -> str:
        if name not in versions:
            file = next(path for folder in STATIC_FOLDERS if (path := folder / name).is_file())
            versions[name] = hashlib.sha256(file.read_bytes()).hexdigest()[:10]
        return f"{prefix}/static/{name}?{versions[name]}"

    templates.globals |= {"url": lambda path: prefix + path, "static": static}
    templates.filters |= {"clock": clock, "countdown": countdown, "span": span, "iso": to_iso}
    return templates


def countdown(seconds: float) -> str:
    """Return how long it is until a deadline, in its two largest units.

    >>> [countdown(seconds) for seconds in (20, 600, 7500, 273600)]
    ['1 min', '10 min', '2 h 5 min', '3 d 4 h']
    """
    minutes = max(1, int(seconds // 60))
    days, hours, minutes = minutes // 1440, minutes // 60 % 24, minutes % 60
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def clock(seconds: float) -> str:
    """Return a time as pages do, in UTC.

    >>> clock(0)
    '1970-01-01 00:00:00'
    """
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
