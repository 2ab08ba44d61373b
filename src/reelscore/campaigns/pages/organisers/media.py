"""The videos of a campaign: whether all can be played, before it opens."""

from __future__ import annotations

from fastapi.responses import Response

from reelscore.web.media import CONVERT
from reelscore.web.requests import Router
from reelscore.web.sessions import PATH, CampaignId, Desk, Organiser
from reelscore.web.site import FromOurForm

router = Router(prefix=PATH + "/c/{campaign}")
PATIENCE = 5.0  # seconds that a page waits for the check to end


@router.get("/videos")
def show_videos(desk: Organiser, id: CampaignId) -> Response:
    """Show the results of the last check, or how far it is."""
    return desk.page("videos.html", **_findings(desk, id))


@router.get("/videos/live")
def show_progress(desk: Organiser, id: CampaignId) -> Response:
    """Return the part of the page that changes while the check runs."""
    return desk.part("videos_live.html", **_findings(desk, id))


@router.post("/videos", dependencies=[FromOurForm])
def check_videos(desk: Organiser, id: CampaignId) -> Response:
    """Check all videos, those that have changed since the last time."""
    desk.site.preflight.start(desk.campaign(id)).wait(PATIENCE)
    return desk.go(f"/c/{id}/videos")


def _findings(desk: Desk, id: str) -> dict[str, object]:
    campaign = desk.campaign(id)
    return {
        "campaign": campaign,
        "state": campaign.state,
        "inspection": desk.site.preflight.last(campaign.id),
        "has_folder": desk.site.preflight.folder is not None,
        "convert": CONVERT,
    }
