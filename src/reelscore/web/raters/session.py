"""Who a rater's browser belongs to, and what comes next for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from reelscore.human.campaign import Campaign
from reelscore.human.store.records import Assignment
from reelscore.web.guards import Guard
from reelscore.web.middleware import FRAME, sources
from reelscore.web.pages import Pages, read_pages
from reelscore.web.security import digest
from reelscore.web.site import Site
from reelscore.web.store import raters
from reelscore.web.store.assignments import count_done
from reelscore.web.store.raters import Rater

COOKIE = "reelscore_rater"
_AGE = 30 * 86400.0
MTURK_PAGES = "https://*.mturk.com"


@dataclass(frozen=True)
class Session:
    """A rater at work in one campaign."""

    site: Site
    rater: Rater
    campaign: Campaign
    pages: Pages
    key: str = ""

    @property
    def home(self) -> str:
        """The path of the rater's pages; in a frame, the key in it stands for a cookie."""
        return _home(self.campaign.id, self.key)

    def go(self, page: str) -> RedirectResponse:
        """Send the browser to another of these pages."""
        return self.site.go(f"{self.home}/{page}")

    @property
    def step(self) -> str:
        """The page a rater belongs on before any task: empty when all is done."""
        if self.rater.consented is None:
            return "instructions"
        if self.rater.passed is False:
            return "finish"
        if self.rater.practised < len(self.pages.practice_for(self.campaign.protocol)):
            return "practice"
        if self.pages.check and self.rater.passed is None:
            return "check"
        return ""

    def noting(self, **values: Any) -> Session:
        """Write down how far the rater has come, and give the session as it is then."""
        raters.note(self.site.database, self.rater.id, **values)
        return replace(self, rater=replace(self.rater, **values))

    @property
    def finished(self) -> int:
        """How many HITs the rater has done."""
        return count_done(self.site.database, self.campaign.id, self.rater.rater)

    def assignment(self) -> Assignment | None:
        """Give the assignment the rater took last."""
        if self.rater.assignment is None:
            return None
        return self.campaign.assignment(self.rater.assignment)


def begin(site: Site, rater: Rater) -> RedirectResponse:
    """Let a browser be a rater's from now on: by a cookie, or by a key where it is a frame."""
    page = "instructions" if rater.consented is None else "work"
    if rater.service == "mturk":
        key = site.signer.sign("frame", [rater.id, rater.session])
        return site.go(f"{_home(rater.campaign, key)}/{page}")
    response = site.go(f"{_home(rater.campaign)}/{page}")
    value = site.signer.sign("rater", rater.id)
    site.set_cookie(response, COOKIE, value, _home(rater.campaign), _AGE)
    return response


@Guard
def current(request: Request) -> Session:
    """Give the rater whose browser asks.

    Raises:
        HTTPException: If the browser is no rater's in this campaign; status 403.
    """
    site: Site = request.app.state.site
    opened = site.campaigns.get(request.path_params["campaign"])
    key = str(request.path_params.get("key", ""))
    pages = read_pages(opened.settings)
    allow(request, pages, embedded=bool(key and pages.mturk))
    rater = _framed(site, key) if key else _remembered(site, request)
    if rater is None or rater.campaign != opened.id:
        raise HTTPException(403, "Open the link you were given once more, in this browser.")
    return Session(site, rater, opened, pages, key)


def _home(campaign: str, key: str = "") -> str:
    return f"/c/{campaign}" + (FRAME.format(key=key) if key else "")


def _remembered(site: Site, request: Request) -> Rater | None:
    """Give the rater of a cookie, as long as the link has not moved to another browser."""
    id = site.signer.read("rater", request.cookies.get(COOKIE), age=_AGE)
    rater = raters.find(site.database, id) if isinstance(id, int) else None
    mine = digest(request.state.browser)
    return rater if rater is not None and rater.browser == mine else None


def _framed(site: Site, key: str) -> Rater | None:
    """Give the rater of a key, as long as the service has not begun another submission."""
    known = site.signer.read("frame", key, age=_AGE)
    rater = raters.find(site.database, known[0]) if isinstance(known, list) else None
    return rater if rater is not None and rater.session == known[1] else None


def allow(request: Request, pages: Pages, embedded: bool) -> None:
    """Relax the content security policy by what this campaign needs, and no more."""
    policy = request.state.policy
    if pages.origin:
        policy["media-src"] = sources(pages.origin)
    if embedded:
        request.state.embedded = True
        policy["frame-ancestors"] = sources(MTURK_PAGES)
        policy["form-action"] = sources(*MTURK_HOSTS)


MTURK_HOSTS = ("https://www.mturk.com", "https://workersandbox.mturk.com")
Current = Annotated[Session, Depends(current)]
