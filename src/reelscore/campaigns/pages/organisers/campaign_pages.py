"""The campaigns of organisers: the progress of each, its raters, links and reports; decisions.

Decisions while a campaign runs are logged with name and reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import Form, Path
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.evaluate.results import campaign_quality
from reelscore.campaigns.hits.top_up import top_up
from reelscore.campaigns.pages.open_campaigns import Chosen, campaigns_of
from reelscore.campaigns.pages.organisers.preview import PATIENCE, preview_of
from reelscore.campaigns.pages.organisers.progress import costs, figures, rater_rows
from reelscore.campaigns.pages.rater_pages import read_pages
from reelscore.campaigns.pages.raters.session import video_of
from reelscore.campaigns.pages.raters.task_pages import REPORT
from reelscore.campaigns.payments import PAY_LISTS, Pay, pay_list
from reelscore.campaigns.store import raters
from reelscore.campaigns.store.raters import count_rows, list_taken
from reelscore.campaigns.store.records import REJECTED, Skip
from reelscore.campaigns.store.schema import task
from reelscore.store.values import check_name
from reelscore.web.requests import Router
from reelscore.web.sessions import PATH, Desk, Organiser, Owner
from reelscore.web.site import FromOurForm

router = Router(prefix=PATH)
decisions = Router(prefix=PATH + "/c/{campaign}", dependencies=[FromOurForm])
Reason = Annotated[str, Form(max_length=2000)]
_LARGEST = 2**53
Number = Annotated[int, Path(ge=1, lt=_LARGEST)]
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
            tasks=count_rows(site.database, task, campaign=id),
            begun=sum(each.answers for each in taken if each.state == "held"),
            answer_times=findings.answer_times,
            now=now,
        ),
        findings=findings,
        people={each.rater: each for each in people},
        invited=sum(each.service == "link" for each in people),
        begun=sum(each.service == "link" and bool(each.browser) for each in people),
        address=site.settings.url.rstrip("/"),
    )


def list_reports(campaign: Campaign) -> Sequence[Skip]:
    """Return all reports, the newest first: of skipped tasks, and of the practice, of no HIT."""
    practice = [
        Skip(0, "", event.actor, "", event.about, event.time, event.reason)
        for event in campaign.events()
        if event.what == REPORT
    ]
    return sorted([*campaign.skips(), *practice], key=lambda report: report.time, reverse=True)


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


@decisions.post("/state")
def set_state(
    desk: Organiser,
    campaign: Chosen,
    state: Annotated[Literal["open", "paused", "closed"], Form()],
    reason: Reason = "",
    anyway: Annotated[bool, Form()] = False,
) -> Response:
    """Open, pause or close a campaign; an assistant may not close it, nor open it again then.

    It opens when all its videos can be played, or an organiser opens it anyway.
    """
    if not desk.account.is_owner and "closed" in (state, campaign.state):
        raise HTTPException(403, "Only an owner may close a campaign or open it again.")
    if state == "open":
        inspection = campaigns_of(desk.site).preflight.start(campaign)
        inspection.wait(PATIENCE)
        if not inspection.is_fine and not anyway:
            return desk.go(f"/c/{campaign.id}/videos")
        reason = reason or inspection.warning
    campaign.set_state(state, actor=desk.account.name, reason=reason)
    return desk.go(f"/c/{campaign.id}", f"The campaign is {state}.")


@decisions.post("/release")
def release_abandoned(desk: Organiser, campaign: Chosen) -> Response:
    """Offer again the HITs of raters who have not been seen for the hold time."""
    number = campaign.release_abandoned()
    return desk.go(f"/c/{campaign.id}", f"HITs that are offered again: {number}.")


@decisions.post("/release/{assignment}")
def release_one(
    desk: Organiser, campaign: Chosen, assignment: int, reason: Reason = "released by hand"
) -> Response:
    """Offer one HIT again at once."""
    if not 0 < assignment < _LARGEST:
        raise HTTPException(404, "There is no such assignment.")
    campaign.release(assignment, actor=desk.account.name, reason=reason)
    return desk.go(f"/c/{campaign.id}", "The HIT is offered again.")


@decisions.post("/decide")
def decide(
    desk: Organiser,
    campaign: Chosen,
    rater: Annotated[str, Form(max_length=200)],
    what: Annotated[Literal["pay", "reject", "exclude", "readmit"], Form()],
    reason: Reason,
) -> Response:
    """Pay, reject, exclude or readmit a rater, and say why."""
    if not reason.strip():
        raise HTTPException(422, "A decision about a person needs a reason.")
    campaign.decide(what, rater, actor=desk.account.name, reason=reason)
    return desk.go(f"/c/{campaign.id}", f"The decision about {rater} is kept: {what}.")


@decisions.post("/review/{assignment}")
def review(
    desk: Organiser,
    campaign: Chosen,
    assignment: Number,
    verdict: Annotated[Literal["approve", "reject"], Form()],
    reason: Reason = "",
) -> Response:
    """Approve or reject one finished HIT; a rejection needs a reason."""
    if verdict == "reject" and not reason.strip():
        raise HTTPException(422, "To reject work needs a reason.")
    campaign.review(assignment, verdict, actor=desk.account.name, reason=reason)
    done = "approved: its rater sees the code" if verdict == "approve" else "rejected"
    return desk.go(f"/c/{campaign.id}/raters", f"The HIT is {done}.")


@decisions.post("/offer")
def offer_all(
    desk: Organiser, campaign: Chosen, rater: Annotated[str, Form(max_length=200)] = ""
) -> Response:
    """Offer again all HITs of one rater, or of all whose work cannot be used."""
    if rater:
        poor, reason = frozenset([rater]), "offered again by hand"
    else:
        poor = campaign_quality(campaign, campaign.judgments(finished=True)).poor
        reason = "the work cannot be used"
    number = campaign.offer_all_again(poor, actor=desk.account.name, reason=reason)
    return desk.go(f"/c/{campaign.id}", f"HITs that are offered again: {number}.")


@decisions.post("/offer/{assignment}")
def offer_one(desk: Organiser, campaign: Chosen, assignment: Number) -> Response:
    """Offer one finished HIT again."""
    is_new = campaign.offer_again(
        assignment, actor=desk.account.name, reason="offered again by hand"
    )
    text = "The HIT is offered again." if is_new else "The HIT was offered again before."
    return desk.go(f"/c/{campaign.id}/raters", text)


@decisions.post("/top-up")
def add_hits(
    desk: Owner, campaign: Chosen, judgments: Annotated[int, Form(ge=1, le=1_000_000)]
) -> Response:
    """Add HITs until every system will have this many good judgments."""
    done = top_up(campaign, judgments, actor=desk.account.name)
    text = f"HITs that are added: {done.hits}." if done.hits else "Nothing is missing."
    return desk.go(f"/c/{campaign.id}", text)
