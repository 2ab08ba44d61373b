"""The results of a campaign so far, on a page and as files."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from fastapi.responses import FileResponse, HTMLResponse, Response
from starlette.background import BackgroundTask

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.evaluate.results import Results, evaluate_ratings, usable
from reelscore.campaigns.pages.open_campaigns import Chosen, ChosenToSend
from reelscore.campaigns.report.page import RankedSystems, results_html
from reelscore.campaigns.report.vote_results import vote_results
from reelscore.errors import DataError, NobodyPassedError
from reelscore.report.safe_text import shared_beginning
from reelscore.significance.comparison import Comparison
from reelscore.significance.pair_tests import rank_systems
from reelscore.web.requests import Router
from reelscore.web.sessions import PATH, Organiser, Owner

router = Router(prefix=PATH + "/c/{campaign}")


def evaluated(campaign: Campaign) -> tuple[Results, list[Comparison]]:
    """Evaluate a campaign of ratings by its finished HITs, and rank by each criterion."""
    try:
        results = evaluate_ratings(
            campaign.judgments(finished=True),
            humans=campaign.humans,
            excluded=campaign.excluded(),
        )
    except NobodyPassedError as error:
        raise DataError(
            f"None of the {error.raters} raters passed the quality control. The page Raters shows "
            "why; offer their HITs to other raters there."
        ) from None
    table = results.scores.table
    names = [name for name in table.metrics if name == "z" or name.endswith("_z")]
    return results, [rank_systems(table, name) for name in names]


@router.get("/results")
def show_results(desk: Organiser, campaign: Chosen) -> Response:
    """Show scores, who beats whom, and notes; or why there are none yet."""
    context: dict[str, object] = {"campaign": campaign, "error": "", "table": None, "ranked": []}
    try:
        if campaign.protocol.form == "rating":
            results, rankings = evaluated(campaign)
            context |= {
                "ranked": [RankedSystems.of(results.scores, ranking) for ranking in rankings],
                "beginning": shared_beginning(results.scores.table.systems),
                "notes": results.notes,
                "raters": len(results.raters),
                "all_raters": len(results.quality.raters),
            }
        else:
            judgments = usable(campaign, campaign.judgments(finished=True)).judgments
            reference = next(iter(campaign.humans), "reference")
            votes = vote_results(judgments, campaign.protocol, reference)
            context |= {"table": votes.grid, "notes": votes.notes}
    except DataError as error:
        context["error"] = str(error)
    return desk.page("results.html", **context)


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
