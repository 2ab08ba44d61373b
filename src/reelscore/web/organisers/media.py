"""The videos of a campaign: whether all can be played, before it opens."""

from __future__ import annotations

from fastapi.responses import Response

from reelscore.web.media import CONVERT
from reelscore.web.organisers.session import PATH, Desk, Organiser
from reelscore.web.requests import Router
from reelscore.web.site import FromOurForm

router = Router(prefix=PATH + "/c/{campaign}")
PATIENCE = 5.0  # seconds that a page waits for the check to end


@router.get("/videos")
def show_videos(desk: Organiser, campaign: str) -> Response:
    """Show what the last check has found, or how far it is."""
    return desk.page("videos.html", **_findings(desk, campaign))


@router.get("/videos/live")
def show_progress(desk: Organiser, campaign: str) -> Response:
    """Give the part of the page that changes while the check runs."""
    return desk.part("videos_live.html", **_findings(desk, campaign))


@router.post("/videos", dependencies=[FromOurForm])
def check_videos(desk: Organiser, campaign: str) -> Response:
    """Check all videos, those that have changed since the last time."""
    desk.site.preflight.start(desk.campaign(campaign)).wait(PATIENCE)
    return desk.go(f"/c/{campaign}/videos")


def _findings(desk: Desk, campaign: str) -> dict[str, object]:
    found = desk.campaign(campaign)
    return {
        "campaign": found,
        "state": found.state,
        "inspection": desk.site.preflight.last(found.id),
        "has_folder": desk.site.preflight.folder is not None,
        "convert": CONVERT,
    }
