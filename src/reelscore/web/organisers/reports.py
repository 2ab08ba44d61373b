"""What raters have reported: videos that do not play, texts that cannot be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi.responses import Response

from reelscore.human.campaign import Campaign
from reelscore.web.guards import Router
from reelscore.web.organisers.preview import preview_of
from reelscore.web.organisers.session import PATH, Organiser
from reelscore.web.raters.screen import video_of
from reelscore.web.raters.videos import REPORT

router = Router(prefix=PATH + "/c/{campaign}")


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


@router.get("/reports")
def show_reports(desk: Organiser, campaign: str) -> Response:
    """List the reports, with each video to look at."""
    preview = preview_of(desk, campaign)
    reports = list_reports(preview.campaign)
    items = {report.item for report in reports}
    return desk.page(
        "reports.html",
        campaign=preview.campaign,
        reports=reports,
        videos={item: video_of(preview, item) for item in items},
    )
