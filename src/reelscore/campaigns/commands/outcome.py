"""``reelscore campaign results``: scores, rankings and votes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import click

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.commands.options import (
    AskedOfRaters,
    control_option,
    judged,
    opened_campaign,
)
from reelscore.campaigns.evaluate.results import Results, campaign_quality, evaluate_campaign
from reelscore.campaigns.evaluate.scores import HumanScores, group_means
from reelscore.campaigns.hits.tasks import counted
from reelscore.campaigns.imports.plain_tables import read_groups
from reelscore.campaigns.report.plots import draw_wins
from reelscore.campaigns.report.tables import results_csv, results_grid, vote_results, wins_grid
from reelscore.cli.messages import say
from reelscore.cli.options import (
    Command,
    choice_option,
    file_option,
    gathered,
    json_option,
    number_option,
)
from reelscore.cli.report_options import (
    ResultFiles,
    command_line,
    output_option,
    table_option,
)
from reelscore.cli.terminal import check_targets, show_grid, show_signature
from reelscore.errors import DataError
from reelscore.significance import Comparison, rank_systems


class _Files(ResultFiles, frozen=True):
    """Where the results go."""

    html_file: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_targets(self.html_file)


_FILES = {
    "paths": output_option(".csv", ".tex", figure="with which systems are better"),
    "json_file": json_option,
    "table_file": table_option,
    "html_file": file_option("--html", "Write everything as one HTML page."),
}


@click.command("results", cls=Command)
@opened_campaign
@control_option
@click.option(
    "--control/--no-control",
    "controlled",
    default=None,
    help="Leave out raters who did not pass, or keep all. Judgments imported as z "
    "scores are from raters who passed elsewhere: all are kept.",
)
@click.option(
    "--over",
    type=click.Choice(["all", "genuine", "given"]),
    help="Compute z from a rater's mean over all tasks, or without the control tasks; or use the "
    "z scores of the imported files.",
)
@choice_option(
    "--average",
    choices=["judgments", "raters"],
    default="judgments",
    help="A caption's score is the mean of its judgments, or of its raters (each counts once).",
)
@click.option(
    "--metric",
    default="z",
    show_default=True,
    metavar="NAME",
    help="The score to rank systems by.",
)
@click.option("--matched", is_flag=True, help="Compare two systems on the items that both have.")
@number_option(
    "--minimum",
    least=1,
    metavar="N",
    help="Keep only captions with at least this many judgments; 15 for a gold standard of single "
    "captions.",
)
@click.option(
    "--groups",
    metavar="FILE:ITEM:GROUP",
    help="Average captions by group, such as documents: a table and its two columns.",
)
@click.option(
    "--reference",
    default="reference",
    metavar="NAME",
    help="The system that others are compared with.",
)
@gathered("outputs", _Files, _FILES)
def results(
    campaign: Campaign,
    asked: AskedOfRaters,
    metric: str,
    matched: bool,
    minimum: int | None,
    groups: str | None,
    reference: str,
    outputs: _Files,
    **choices: Any,
) -> None:
    """Score the systems and test which are better.

    Raters who did not pass are left out, and each rater's scores are standardized. A caption's
    score is the mean of its judgments, a system's score the mean of its captions. Not all systems
    within a cluster differ significantly; ranks are the range of places a system could have.

    \b
    Examples:
      reelscore campaign results my.db
      reelscore campaign results my.db --table human.csv --html results.html
      reelscore campaign results my.db --minimum 15 --table gold.csv
    """
    if campaign.protocol.form != "rating":
        _show_votes(campaign, asked, reference, outputs)
        return
    results = evaluate_campaign(campaign, judged(campaign), asked.of(campaign), **choices)
    scores = results.scores
    if groups:
        scores = group_means(scores, read_groups(groups))
    if minimum:
        scores = scores.at_least(minimum)
    if metric not in scores.table.metrics:
        metric = _only_z(scores, metric)
    level = results.quality.control.level
    ranking = rank_systems(scores.table, metric, level=level, matched=matched)
    results = replace(results, scores=scores)
    _write(outputs, campaign, results, ranking)
    if outputs.shows:
        _show(results, ranking)


def _only_z(scores: HumanScores, metric: str) -> str:
    """With several criteria there is no plain z: take the first criterion's."""
    names = [name for name in scores.table.metrics if name.endswith(f"_{metric}")]
    if not names:
        raise DataError(f"There is no {metric!r}; there are {', '.join(scores.table.metrics)}.")
    others = " or ".join(names[1:])
    say(f"Systems are ranked by {names[0]}; --metric {others} ranks by another.")
    return names[0]


def _write(outputs: _Files, campaign: Campaign, results: Results, ranking: Comparison) -> None:
    scores = results.scores
    if outputs.table_file:
        scores.table.write(outputs.table_file)
    outputs.write(
        [results_grid(scores, ranking)],
        draw=partial(draw_wins, ranking),
        csv=partial(results_csv, scores, ranking),
        json=partial(_everything, results, ranking),
        private=["json"],  # it names raters
    )
    if outputs.html_file:
        from reelscore.campaigns.report.page import campaign_report
        from reelscore.report.html.page import write_report

        hits, command = list(campaign.hits()), command_line()
        made = campaign_report(campaign.name, results, ranking, hits=hits, command=command)
        write_report(outputs.html_file, made)


def _everything(results: Results, ranking: Comparison) -> dict[str, object]:
    counts, agreement = results.scores.counts, results.agreement.items()
    return {
        **results.scores.table.to_dict(),
        "judgments": {system: counts[system].to_dict() for system in ranking.systems},
        "ranking": ranking.to_dict(),
        "quality": results.quality.to_dict(),
        "raters": list(results.raters),
        "agreement": {k: {"alpha": each.alpha, **each.icc._asdict()} for k, each in agreement},
        "repeats": results.repeats._asdict(),
        "notes": list(results.notes),
    }


def _show(results: Results, ranking: Comparison) -> None:
    scores = results.scores
    show_grid(results_grid(scores, ranking))
    if len(ranking.systems) > 1:
        show_grid(wins_grid(ranking))
        click.echo(f"* the row's system is better, p < {ranking.level:g} (one-sided rank-sum test)")
    click.echo(f"by {len(results.raters)} of {counted(len(results.quality.raters), 'rater')}")
    for remark in results.remarks:
        say(remark, err=False)
    show_signature(scores.table[ranking.systems[0]][ranking.metric].signature)


def _show_votes(campaign: Campaign, asked: AskedOfRaters, reference: str, outputs: _Files) -> None:
    """Print what rankings or votes on two captions say, by the judgments that count."""
    judgments = judged(campaign)
    quality = campaign_quality(campaign, judgments, asked.of(campaign))
    say(quality.summary)
    votes = vote_results(quality.good(judgments), campaign.protocol, reference)
    if outputs.table_file and votes.table:
        votes.table.write(outputs.table_file)
    elif outputs.table_file:
        say(votes.why)
    scores = votes.table.to_dict() if votes.table else {}
    outputs.write([votes.grid], json=lambda: {"results": votes.plain, **scores})
    if outputs.shows:
        show_grid(votes.grid)
        how, *notes = votes.notes
        click.echo(how)
        for note in notes:
            say(note, err=False)
