"""What organisers see: the campaigns, and how one of them goes."""

from __future__ import annotations

from fastapi.responses import HTMLResponse, Response

from reelscore.web.guards import Router
from reelscore.web.organisers.progress import costs, figures
from reelscore.web.organisers.raters import rater_rows
from reelscore.web.organisers.reports import list_reports
from reelscore.web.organisers.session import PATH, Desk, Organiser
from reelscore.web.pages import read_pages
from reelscore.web.payments import Pay, list_work
from reelscore.web.store.assignments import count_tasks, list_taken
from reelscore.web.store.raters import list_raters

router = Router(prefix=PATH)
_LIVE = "live.html"
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
    return _page(desk, campaign, _LIVE)


@router.get("/c/{campaign}/log")
def show_log(desk: Organiser, campaign: str) -> Response:
    """Show who decided what, the newest first."""
    found = desk.campaign(campaign)
    events = found.events()
    newest = events[::-1][:_NEWEST]
    return desk.page("log.html", campaign=found, events=newest, more=len(events) - len(newest))


def _page(desk: Desk, id: str, template: str) -> HTMLResponse:
    campaign = desk.campaign(id)
    site, status, pages = desk.site, campaign.status(), read_pages(campaign.settings)
    people = list_raters(site.database, id)
    taken = list_taken(site.database, id)
    findings = site.trust.of(campaign, status)
    rows = rater_rows(campaign, findings, taken)
    now = site.settings.clock()
    render = desk.part if template == _LIVE else desk.page
    return render(
        template,
        campaign=campaign,
        status=status,
        rows=rows,
        waiting=sum(each.needs_review for each in taken) if pages.review else 0,
        pages=pages,
        reports=len(list_reports(campaign)),
        now=now,
        figures=figures(
            status,
            costs(Pay.of(campaign), pages.fee, list_work(campaign), taken, status),
            tasks=count_tasks(site.database, id),
            begun=sum(each.answers for each in taken if each.state == "held"),
            answer_times=findings.answer_times,
            agreed=findings.agreed,
            repeated=findings.repeated,
            now=now,
        ),
        people={each.rater: each for each in people},
        invited=sum(each.service == "link" for each in people),
        begun=sum(each.service == "link" and bool(each.browser) for each in people),
        address=site.settings.url.rstrip("/"),
    )
