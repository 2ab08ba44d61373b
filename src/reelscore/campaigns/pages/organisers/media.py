"""The videos of a campaign: whether all can be played, before it opens."""

from __future__ import annotations

from fastapi.responses import Response

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.pages.open_campaigns import Chosen, campaigns_of
from reelscore.campaigns.pages.video_checks import CONVERT
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
