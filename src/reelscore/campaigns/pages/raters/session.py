"""A rater at work: whose browser it is, what comes next, and what a task puts on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Connection
from starlette.exceptions import HTTPException

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.hits.tasks import Task
from reelscore.campaigns.pages.open_campaigns import campaigns_of
from reelscore.campaigns.pages.rater_pages import Pages, read_pages
from reelscore.campaigns.protocols import Criterion, Practice, Protocol
from reelscore.campaigns.store import raters
from reelscore.campaigns.store.campaigns import read_settings
from reelscore.campaigns.store.raters import Rater, count_rows
from reelscore.campaigns.store.records import Assignment
from reelscore.campaigns.store.schema import assignment
from reelscore.web.requests import FRAME, Guard, sources
from reelscore.web.security import digest
from reelscore.web.sessions import known_accounts
from reelscore.web.site import Website
from reelscore.wings import offers

COOKIE = "reelscore_rater"
_AGE = 30 * 86400.0
MTURK_PAGES = "https://*.mturk.com"


@dataclass(frozen=True)
class Viewer:
    """Somebody who looks at tasks: a rater's session, or an organiser's preview."""

    site: Website
    campaign: Campaign
    pages: Pages

    @property
    def home(self) -> str:
        """The path of the viewer's pages; videos lie under it."""
        raise NotImplementedError


@dataclass(frozen=True)
class Session(Viewer):
    """A rater at work in one campaign, and what their browser asks for."""

    request: Request
    rater: Rater
    key: str = ""

    @property
    def home(self) -> str:
        """The path of the rater's pages; in a frame, the key in it stands for a cookie."""
        return _home(self.campaign.id, self.key)

    def page(self, template: str, status: int = 200, /, **context: object) -> HTMLResponse:
        """Render a page."""
        return self.site.page(self.request, template, status, session=self, **context)

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
    def may_do_more(self) -> bool:
        """Whether the rater may do another HIT."""
        if self.rater.is_sent:
            return False  # one HIT for each submission
        mine = {"campaign": self.campaign.id, "rater": self.rater.rater, "state": "done"}
        most = self.pages.hits_per_rater
        return not most or count_rows(self.site.database, assignment, **mine) < most

    def assignment(self) -> Assignment | None:
        """Return the assignment the rater took last."""
        if self.rater.assignment is None:
            return None
        return self.campaign.assignment(self.rater.assignment)


def begin(site: Website, rater: Rater) -> RedirectResponse:
    """Let a browser be a rater's from now on: by a cookie, or by a key where it is a frame."""
    page = "instructions" if rater.consented is None else "work"
    if rater.service == "mturk":
        key = site.signer.sign("frame", [rater.id, rater.session])
        return site.go(f"{_home(rater.campaign, key)}/{page}")
    response = site.go(f"{_home(rater.campaign)}/{page}")
    value = site.signer.sign("rater", rater.id)
    site.set_cookie(response, COOKIE, value, _home(rater.campaign), _AGE)
    return response


def session_in(connection: Connection, request: Request) -> Session:
    """Return the rater whose browser asks, as a transaction sees them."""
    site: Website = request.app.state.site
    opened = campaigns_of(site).get(request.path_params["campaign"])
    key = str(request.path_params.get("key", ""))
    pages = read_pages(read_settings(connection, opened.terms))
    allow(request, pages, embedded=bool(key and pages.mturk))
    id, submission = _signed(site, request)
    rater = None if id is None else raters.find(connection, id=id)
    if rater is None or rater.campaign != opened.id:
        raise _stranger()
    refuse_members(connection, request, opened.id)
    # a link may have moved to another browser, a service may have begun another submission
    if (rater.session != submission) if key else (rater.browser != digest(request.state.browser)):
        raise _stranger()
    return Session(site, opened, pages, request, rater, key)


def refuse_members(connection: Connection, request: Request, campaign: str) -> None:
    """Refuse whoever takes part in the challenge whose entries are judged."""
    accounts = known_accounts(request)
    if not all(may_rate(connection, campaign, accounts) for may_rate in offers("RATER_RULE")):
        raise HTTPException(
            403, "You take part in the challenge whose entries are judged here; others judge them."
        )


@Guard
def current(request: Request) -> Session:
    """Return the rater whose browser asks."""
    site: Website = request.app.state.site
    with site.database.reading() as connection:
        return session_in(connection, request)


@Guard
def signed(request: Request) -> None:
    """Refuse a browser that shows nothing we have signed, before anything is looked up."""
    site: Website = request.app.state.site
    campaigns_of(site).get(request.path_params["campaign"])
    if _signed(site, request)[0] is None:
        raise _stranger()


def _signed(site: Website, request: Request) -> tuple[int | None, str]:
    """Read the number of a rater, and in a frame the submission, off a cookie or the key."""
    key = str(request.path_params.get("key", ""))
    if key:
        framed = site.signer.read("frame", key, age=_AGE)
        return (framed[0], framed[1]) if isinstance(framed, list) else (None, "")
    id = site.signer.read("rater", request.cookies.get(COOKIE), age=_AGE)
    return (id if isinstance(id, int) else None), ""


def _stranger() -> HTTPException:
    return HTTPException(403, "Open the link you were given once more, in this browser.")


def _home(campaign: str, key: str = "") -> str:
    return f"/c/{campaign}" + (FRAME.format(key=key) if key else "")


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
Signed = Depends(signed)


@dataclass(frozen=True)
class Screen:
    """One task as a template shows it."""

    captions: tuple[str, ...]  # the texts, in order
    video: str  # the address of the video; empty for none
    context: str  # a text instead of a video
    protocol: Protocol  # what is asked
    missing: bool = False  # whether there should be a video and is none
    next_video: str = ""  # what may be loaded ahead

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """What is judged."""
        return self.protocol.criteria

    @property
    def labels(self) -> tuple[str, ...]:
        """What the texts are called where there are several."""
        if len(self.captions) == 2:
            return ("First text", "Second text")
        return tuple(f"Text {chr(ord('A') + k)}" for k in range(len(self.captions)))


def task_screen(viewer: Viewer, tasks: Sequence[Task], place: int) -> Screen:
    """Show one of the tasks of a HIT."""
    task = tasks[place]
    video = video_of(viewer, task.item)
    context = viewer.pages.contexts.get(task.item, "")
    ahead = ""
    if place + 1 < len(tasks):
        ahead = video_of(viewer, tasks[place + 1].item)
    return Screen(
        tuple(shown.text for shown in task.shown),
        video,
        context,
        viewer.campaign.protocol,
        missing=not video and viewer.site.settings.videos is not None and not context,
        next_video="" if ahead == video else ahead,
    )


def practice_screen(viewer: Viewer, practice: Practice) -> Screen:
    """Show one task of the practice."""
    video = video_of(viewer, practice.item) if practice.item else ""
    return Screen(practice.captions, video, practice.context, viewer.campaign.protocol)


def video_of(viewer: Viewer, item: str) -> str:
    """Return the address of an item's video; empty where there is none."""
    name = viewer.site.videos.name(viewer.campaign.id, item)
    if name:
        return f"{viewer.site.settings.prefix}{viewer.home}/media/{name}"
    return viewer.pages.address_of(item)
