"""What organisers see: the campaigns, and how one of them goes."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from reelscore.web.organise.rater_table import rater_rows
from reelscore.web.organise.session import PATH, Desk, Organiser
from reelscore.web.pages import read_pages
from reelscore.web.store.raters import list_raters

router = APIRouter(prefix=PATH)
_NEWEST = 1000  # of the log on a page


@router.get("")
def show_campaigns(desk: Organiser) -> Response:
    """List the campaigns, the newest first."""
    campaigns = [(each, each.status()) for each in reversed(desk.site.campaigns.all())]
    return desk.page("campaigns.html", campaigns=campaigns)


@router.get("/c/{campaign}")
def show_campaign(desk: Organiser, campaign: str) -> Response:
    """Show one campaign: where it stands, and its raters."""
    return _page(desk, campaign, "campaign.html")


@router.get("/c/{campaign}/live")
def show_live(desk: Organiser, campaign: str) -> Response:
    """Give the part of the page that changes while raters work."""
    return _page(desk, campaign, "live.html")


@router.get("/c/{campaign}/log")
def show_log(desk: Organiser, campaign: str) -> Response:
    """Show who decided what, the newest first."""
    found = desk.campaign(campaign)
    events = found.events()
    newest = events[::-1][:_NEWEST]
    return desk.page("log.html", campaign=found, events=newest, more=len(events) - len(newest))


def _page(desk: Desk, id: str, template: str) -> HTMLResponse:
    campaign = desk.campaign(id)
    people = list_raters(desk.site.database, id)
    return desk.page(
        template,
        campaign=campaign,
        status=campaign.status(),
        rows=rater_rows(campaign, desk.site.trust),
        pages=read_pages(campaign.settings),
        people={each.rater: each for each in people},
        invited=sum(each.service == "link" for each in people),
        begun=sum(each.service == "link" and bool(each.browser) for each in people),
        address=desk.site.settings.url.rstrip("/"),
    )
