"""What raters will see, for organisers: HITs as they are shown, and whether videos play."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Path, Query
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.pages.open_campaigns import Chosen, campaigns_of, is_blind
from reelscore.campaigns.pages.rater_pages import read_pages
from reelscore.campaigns.pages.raters.session import Viewer, allow, task_screen
from reelscore.campaigns.pages.video_checks import CONVERT
from reelscore.campaigns.store.raters import count_rows, list_hits, load_hit
from reelscore.campaigns.store.schema import hit as hit_table
from reelscore.web.requests import Router
from reelscore.web.sessions import PATH, Desk, Organiser
from reelscore.web.site import FromOurForm

router = Router(prefix=PATH + "/c/{campaign}")
PATIENCE = 5.0  # seconds that a page waits for the check to end


@router.get("/videos")
def show_videos(desk: Organiser, campaign: Chosen) -> Response:
    """Show the results of the last check, or how far it is."""
    return desk.page("videos.html", **_findings(desk, campaign))


@router.get("/videos/live")
def show_progress(desk: Organiser, campaign: Chosen) -> Response:
    """Return the part of the page that changes while the check runs."""
    return desk.part("videos_live.html", **_findings(desk, campaign))


@router.post("/videos", dependencies=[FromOurForm])
def check_videos(desk: Organiser, campaign: Chosen) -> Response:
    """Check all videos, those that have changed since the last time."""
    campaigns_of(desk.site).preflight.start(campaign).wait(PATIENCE)
    return desk.go(f"/c/{campaign.id}/videos")


def _findings(desk: Desk, campaign: Campaign) -> dict[str, object]:
    return {
        "campaign": campaign,
        "state": campaign.state,
        "inspection": campaigns_of(desk.site).preflight.last(campaign.id),
        "has_folder": campaigns_of(desk.site).preflight.folder is not None,
        "convert": CONVERT,
    }


Number = Annotated[int, Path(ge=1, le=2**31)]
_PAGE = 100  # HITs on a page
_HIDDEN = "(text that only raters see)"


@dataclass(frozen=True)
class HitPreview(Viewer):
    """An organiser before a campaign's tasks; it stands where a rater's session would."""

    @property
    def home(self) -> str:
        """The path of these pages."""
        return f"{PATH}/c/{self.campaign.id}/hits"


@router.get("/hits")
def show_hits(
    desk: Organiser, campaign: Chosen, page: Annotated[int, Query(ge=1, le=2**31)] = 1
) -> Response:
    """List the HITs, and how far each is."""
    return desk.page(
        "hits.html",
        campaign=campaign,
        hits=list_hits(desk.site.database, campaign.id, (page - 1) * _PAGE, _PAGE),
        number=page,
        pages=-(-count_rows(desk.site.database, hit_table, campaign=campaign.id) // _PAGE),
    )


@router.get("/hits/media/{name}")
def send_video(
    desk: Organiser, campaign: Chosen, name: Annotated[str, Path(max_length=40)]
) -> Response:
    """Send a video, or the part of it that is asked for."""
    return desk.site.videos.send(campaign.id, name)


@router.get("/hits/{hit}/{task}")
def show_task(desk: Organiser, campaign: Chosen, hit: Number, task: Number) -> Response:
    """Show one task of a HIT, as raters see it; without texts, if some may be blind references."""
    preview = preview_of(desk, campaign)
    tasks = load_hit(campaign, hit)
    if task > len(tasks):
        raise HTTPException(404, "There is no such task.")
    allow(desk.request, preview.pages, embedded=False)
    screen, hidden = task_screen(preview, tasks, task - 1), is_blind(campaign)
    if hidden:  # all of them: which are references, the preview does not tell
        screen = replace(screen, captions=tuple(_HIDDEN for _ in screen.captions))
    return desk.page(
        "preview.html",
        session=preview,
        screen=screen,
        hidden=hidden,
        hit=hit,
        number=task,
        total=len(tasks),
    )


def preview_of(desk: Desk, campaign: Campaign) -> HitPreview:
    """Let an organiser look at a campaign."""
    return HitPreview(desk.site, campaign, read_pages(campaign.settings))
