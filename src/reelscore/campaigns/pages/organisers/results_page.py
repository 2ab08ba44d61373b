"""The results of a campaign so far, on a page and as files."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, get_args

import msgspec
from fastapi import Form
from fastapi.responses import FileResponse, HTMLResponse, Response
from starlette.background import BackgroundTask

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.evaluate.quality import KEY, Rejected, Test, control_of
from reelscore.campaigns.evaluate.results import Results, campaign_quality, evaluate_campaign
from reelscore.campaigns.pages.open_campaigns import Chosen, ChosenToSend
from reelscore.campaigns.report.page import RankedSystems, results_html
from reelscore.campaigns.report.tables import vote_results
from reelscore.errors import DataError, NobodyPassedError, check_choice
from reelscore.report.safe_text import shared_beginning
from reelscore.significance.comparison import Comparison
from reelscore.significance.pair_tests import rank_systems
from reelscore.web.requests import Router
from reelscore.web.sessions import PATH, Organiser, Owner
from reelscore.web.site import FromOurForm

router = Router(prefix=PATH + "/c/{campaign}")


def evaluated(campaign: Campaign) -> tuple[Results, list[Comparison]]:
    """Evaluate a campaign of ratings by its finished HITs, and rank by each criterion."""
    try:
        results = evaluate_campaign(campaign, campaign.judgments(finished=True))
    except NobodyPassedError as error:
        raise DataError(
            f"{error.said} The page Raters shows why; offer their HITs to other raters there, or "
            "change the quality control below."
        ) from None
    table = results.scores.table
    names = [name for name in table.metrics if name == "z" or name.endswith("_z")]
    return results, [rank_systems(table, name) for name in names]


@router.get("/results")
def show_results(desk: Organiser, campaign: Chosen) -> Response:
    """Show scores, who beats whom, and notes; or why there are none yet."""
    context: dict[str, object] = {"campaign": campaign, "error": "", "table": None, "ranked": []}
    context |= {"control": control_of(campaign.settings, {}), "tests": get_args(Test)}
    context["rejected"] = get_args(Rejected)
    try:
        if campaign.protocol.form == "rating":
            results, rankings = evaluated(campaign)
            context |= {
                "ranked": [RankedSystems.of(results.scores, ranking) for ranking in rankings],
                "beginning": shared_beginning(results.scores.table.systems),
                "notes": results.remarks,
                "raters": len(results.raters),
                "quality": results.quality,
            }
        else:
            judgments = campaign.judgments(finished=True)
            quality = campaign_quality(campaign, judgments)
            reference = next(iter(campaign.humans), "reference")
            votes = vote_results(quality.good(judgments), campaign.protocol, reference)
            context |= {"table": votes.grid, "notes": [quality.summary, *votes.notes]}
    except DataError as error:
        context["error"] = str(error)
    return desk.page("results.html", **context)


@router.post("/quality", dependencies=[FromOurForm])
def set_control(
    desk: Owner,
    campaign: Chosen,
    test: Annotated[Test, Form()],
    level: Annotated[float, Form()],
    pairs: Annotated[int, Form()],
    rejected: Annotated[Rejected, Form()],
    criterion: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    """Change what raters must show, here and in the commands."""
    wanted = {"test": test, "level": level, "pairs": pairs, "rejected": rejected}
    control = control_of({}, {**wanted, "criterion": criterion})
    if criterion:
        check_choice("criterion", criterion, [each.name for each in campaign.protocol.criteria])
    campaign.change_settings({KEY: {**wanted, "criterion": criterion}})
    campaign.decide(KEY, "", actor=desk.account.name, reason=control.signature)
    return desk.go(f"/c/{campaign.id}/results", "The quality control is changed.")


@router.get("/results.json")
def give_results(desk: Organiser, campaign: Chosen) -> Response:
    """Return the results of ratings as JSON."""
    results, rankings = evaluated(campaign)
    everything = {
        **results.scores.table.to_dict(),
        "rankings": [each.to_dict() for each in rankings],
        "quality": results.quality.to_dict(),
        "raters": list(results.raters),
        "notes": list(results.notes),
    }
    return Response(msgspec.json.encode(everything), media_type="application/json")


@router.get("/results.html")
def give_page(desk: Organiser, campaign: Chosen) -> Response:
    """Return the results of ratings as one page to keep; it has styles of its own, no scripts."""
    results, rankings = evaluated(campaign)
    desk.request.state.policy |= {"script-src": "'none'", "style-src": "'unsafe-inline'"}
    return HTMLResponse(results_html(campaign.name, results, rankings))


@router.get("/export")
def export(desk: Owner, campaign: ChosenToSend) -> Response:
    """Return the whole campaign as one file, which ``reelscore campaign import`` reads."""
    folder = TemporaryDirectory()
    file = Path(folder.name, f"{campaign.id}.jsonl")
    try:
        campaign.export(file)
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(
        file,
        filename=file.name,
        media_type="application/jsonl",
        background=BackgroundTask(folder.cleanup),
    )
