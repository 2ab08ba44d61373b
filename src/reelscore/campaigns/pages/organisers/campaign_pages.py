"""What organisers see: the campaigns, the progress of one, its raters and links, its reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Form, Path
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.pages.open_campaigns import Chosen, campaigns_of
from reelscore.campaigns.pages.organisers.preview import preview_of
from reelscore.campaigns.pages.organisers.progress import costs, figures, rater_rows
from reelscore.campaigns.pages.rater_pages import read_pages
from reelscore.campaigns.pages.raters.session import video_of
from reelscore.campaigns.pages.raters.task_pages import REPORT
from reelscore.campaigns.payments import PAY_LISTS, Pay, pay_list
from reelscore.campaigns.store import raters
from reelscore.campaigns.store.raters import count_tasks, list_taken
from reelscore.campaigns.store.records import REJECTED
from reelscore.store.values import check_name
from reelscore.web.requests import Router
from reelscore.web.sessions import PATH, Desk, Organiser, Owner
from reelscore.web.site import FromOurForm

router = Router(prefix=PATH)
_LIVE = "live.html"
_NEWEST = 1000  # of the log on a page
_MOST_LINKS = 1000


@router.get("")
def show_campaigns(desk: Organiser) -> Response:
    """List the campaigns, the newest first."""
    campaigns = [(each, each.status()) for each in reversed(campaigns_of(desk.site).all())]
    return desk.page("campaigns.html", campaigns=campaigns)


@router.get("/c/{campaign}")
def show_campaign(desk: Organiser, campaign: Chosen) -> Response:
    """Show one campaign: where it stands, and its raters."""
    return _page(desk, campaign, "campaign.html")


@router.get("/c/{campaign}/live")
def show_live(desk: Organiser, campaign: Chosen) -> Response:
    """Return the part of the page that changes while raters work."""
    return _page(desk, campaign, _LIVE)


@router.get("/c/{campaign}/log")
def show_log(desk: Organiser, campaign: Chosen) -> Response:
    """Show who decided what, the newest first."""
    events = campaign.events()
    newest = events[::-1][:_NEWEST]
    return desk.page("log.html", campaign=campaign, events=newest, more=len(events) - len(newest))


def _page(desk: Desk, campaign: Campaign, template: str) -> HTMLResponse:
    id = campaign.id
    site, status, pages = desk.site, campaign.status(), read_pages(campaign.settings)
    people = raters.list_raters(site.database, id)
    taken = list_taken(campaign)
    findings = campaigns_of(site).trust.of(campaign, status)
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
            costs(Pay.of(campaign), pages.fee, taken, status),
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
class TaskReport:
    """One report: about which item, by whom, when and why; of which HIT, if it was in one."""

    item: str
    rater: str
    time: float
    reason: str
    hit: str


def list_reports(campaign: Campaign) -> Sequence[TaskReport]:
    """Return all reports, the newest first: of skipped tasks, and of others."""
    skipped = [
        TaskReport(each.item, each.rater, each.time, each.reason, each.hit)
        for each in campaign.skips()
    ]
    others = [
        TaskReport(event.about, event.actor, event.time, event.reason, "")
        for event in campaign.events()
        if event.what == REPORT
    ]
    return sorted(skipped + others, key=lambda report: report.time, reverse=True)


@router.get("/c/{campaign}/reports")
def show_reports(desk: Organiser, campaign: Chosen) -> Response:
    """List the reports, with each video to look at."""
    preview = preview_of(desk, campaign)
    reports = list_reports(campaign)
    items = {report.item for report in reports}
    return desk.page(
        "reports.html",
        campaign=campaign,
        reports=reports,
        videos={item: video_of(preview, item) for item in items},
    )


@router.get("/c/{campaign}/raters")
def show_raters(desk: Organiser, campaign: Chosen) -> Response:
    """Show who was invited, who came, and the codes of finished HITs."""
    taken = list_taken(campaign)
    codes = {
        each.id: desk.site.signer.code(campaign.id, each.rater, str(each.id))
        for each in taken
        if each.state == "done" and not each.needs_review and each.status != REJECTED
    }
    return desk.page(
        "raters.html",
        campaign=campaign,
        people=raters.list_raters(desk.site.database, campaign.id),
        taken=taken,
        codes=codes,
        pay_lists=PAY_LISTS,
    )


@router.post("/c/{campaign}/raters", dependencies=[FromOurForm])
def invite(
    desk: Organiser,
    campaign: Chosen,
    number: Annotated[int, Form(ge=0, le=_MOST_LINKS)] = 0,
    names: Annotated[str, Form(max_length=50_000)] = "",
) -> Response:
    """Make links, shown this once: what is stored of them opens nothing."""
    given = [check_name(name.strip(), "A rater") for name in names.splitlines() if name.strip()]
    wanted = given + [raters.new_name() for _ in range(number - len(given))]
    if not 0 < len(wanted) <= _MOST_LINKS:
        raise HTTPException(422, f"Between 1 and {_MOST_LINKS} links can be made at once.")
    tokens = raters.invite(desk.site.database, campaign.id, wanted, desk.site.now)
    address = desk.site.settings.url.rstrip("/")
    links = [(name, f"{address}/r/{token}") for name, token in zip(wanted, tokens, strict=True)]
    return desk.page("links.html", campaign=campaign, links=links)


@router.get("/c/{campaign}/pay/{form}")
def give_pay_list(
    desk: Owner, campaign: Chosen, form: Annotated[str, Path(max_length=40)]
) -> Response:
    """Return whom to pay how much, in one of the forms that crowd services take."""
    if form not in PAY_LISTS:
        raise HTTPException(404, "There is no such list.")
    text = pay_list(form, list_taken(campaign), Pay.of(campaign))
    headers = {"content-disposition": f'attachment; filename="{campaign.id}-{form}.csv"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


@router.post("/c/{campaign}/raters/unbind", dependencies=[FromOurForm])
def unbind(
    desk: Organiser, campaign: Chosen, rater: Annotated[str, Form(max_length=200)]
) -> Response:
    """Let a link work in another browser."""
    if not raters.unbind(desk.site.database, campaign.id, rater):
        raise HTTPException(404, "There is no such link.")
    campaign.decide("unbind", rater, actor=desk.account.name, reason="the link may move")
    return desk.go(f"/c/{campaign.id}/raters", f"The link of {rater} may move to another browser.")
