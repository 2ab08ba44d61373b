"""What organisers see: the campaigns, the progress of one of them, and what raters reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi.responses import HTMLResponse, Response

from reelscore.human.campaign import Campaign
from reelscore.web.organisers.preview import preview_of
from reelscore.web.organisers.progress import costs, figures
from reelscore.web.organisers.raters import rater_rows
from reelscore.web.organisers.session import PATH, CampaignId, Desk, Organiser
from reelscore.web.pages import read_pages
from reelscore.web.payments import Pay, list_work
from reelscore.web.raters.session import video_of
from reelscore.web.raters.tasks import REPORT
from reelscore.web.requests import Router
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
def show_campaign(desk: Organiser, id: CampaignId) -> Response:
    """Show one campaign: where it stands, and its raters."""
    return _page(desk, id, "campaign.html")


@router.get("/c/{campaign}/live")
def show_live(desk: Organiser, id: CampaignId) -> Response:
    """Give the part of the page that changes while raters work."""
    return _page(desk, id, _LIVE)


@router.get("/c/{campaign}/log")
def show_log(desk: Organiser, id: CampaignId) -> Response:
    """Show who decided what, the newest first."""
    campaign = desk.campaign(id)
    events = campaign.events()
    newest = events[::-1][:_NEWEST]
    return desk.page("log.html", campaign=campaign, events=newest, more=len(events) - len(newest))


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


@dataclass(frozen=True)
class Report:
    """One report: about which item, by whom, when and why; of which HIT, if it was in one."""

    item: str
    rater: str
    time: float
    reason: str
    hit: str


def list_reports(campaign: Campaign) -> Sequence[Report]:
    """Give all reports, the newest first: of skipped tasks, and of others."""
    skipped = [
        Report(each.item, each.rater, each.time, each.reason, each.hit) for each in campaign.skips()
    ]
    others = [
        Report(event.about, event.actor, event.time, event.reason, "")
        for event in campaign.events()
        if event.what == REPORT
    ]
    return sorted(skipped + others, key=lambda report: report.time, reverse=True)


@router.get("/c/{campaign}/reports")
def show_reports(desk: Organiser, id: CampaignId) -> Response:
    """List the reports, with each video to look at."""
    preview = preview_of(desk, id)
    reports = list_reports(preview.campaign)
    items = {report.item for report in reports}
    return desk.page(
        "reports.html",
        campaign=preview.campaign,
        reports=reports,
        videos={item: video_of(preview, item) for item in items},
    )
