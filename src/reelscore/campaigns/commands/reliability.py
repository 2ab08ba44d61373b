"""Commands that tell whom to trust: ``quality`` of raters, ``replicate`` of campaigns."""

from __future__ import annotations

from functools import partial

import click

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.commands.options import (
    AskedOfRaters,
    control_option,
    judged,
    opened_campaign,
)
from reelscore.campaigns.evaluate.agreement import Replication, replicate
from reelscore.campaigns.evaluate.results import campaign_quality, evaluate_campaign
from reelscore.campaigns.report.plots import draw_quality
from reelscore.campaigns.report.tables import number_text, quality_csv, quality_grid, text_grid
from reelscore.cli.messages import say
from reelscore.cli.options import Command
from reelscore.cli.report_options import Outputs, outputs
from reelscore.cli.terminal import show_grid
from reelscore.data.tables.table import ScoreTable
from reelscore.report.tables.grid import Grid


@click.command("quality", cls=Command)
@opened_campaign
@control_option
@click.option("--unfinished", is_flag=True, help="Also count judgments of unfinished HITs.")
@outputs(".csv", figure="with the raters")
def quality(campaign: Campaign, asked: AskedOfRaters, unfinished: bool, outputs: Outputs) -> None:
    """Show which raters can be trusted.

    An attentive rater scores a degraded caption lower than the original caption; in comparisons,
    one who answers all test questions passes. The columns are the mean difference, its p-value,
    the mean difference between two scores of the same caption, and the seconds per task. Flags are
    hints and exclude no one: repeats (the second score of a caption differs), run (the same score
    many times in a row), speed, order (degraded captions above originals, or captions of systems
    above human ones).

    \b
    Examples:
      reelscore campaign quality my.db
      reelscore campaign quality my.db --quality signed-rank -o raters.pdf
    """
    judgments = campaign.judgments() if unfinished else judged(campaign)
    quality = campaign_quality(campaign, judgments, asked.of(campaign))
    outputs.write(
        draw=partial(draw_quality, quality),
        csv=partial(quality_csv, quality),
        json=quality.to_dict,
        private=["csv", "json"],
    )
    if outputs.shows:
        show_grid(quality_grid(quality))
        say(quality.summary, err=False)


@click.command("replicate", cls=Command)
@click.argument("first", metavar="FIRST")
@click.argument("second", metavar="SECOND")
@control_option
@outputs()
def compare_campaigns(first: str, second: str, asked: AskedOfRaters, outputs: Outputs) -> None:
    """Measure how well two campaigns agree: correlations over what they have in common.

    FIRST and SECOND are campaigns, or score tables (.csv, .json) with raw and z.

    \b
    Examples:
      reelscore campaign replicate monday.db friday.db
    """
    tables = [_table(each, asked) for each in (first, second)]
    metrics = [name for name in tables[0].metrics if name in tables[1].metrics]
    replications = replicate(tables[0], tables[1], metrics)
    outputs.write(json=lambda: [each._asdict() for each in replications])
    if outputs.shows:
        click.echo(_agreement(replications).to_text())


def _table(where: str, asked: AskedOfRaters) -> ScoreTable:
    if where.endswith((".csv", ".json")):
        return ScoreTable.read(where)
    with Campaign.open(where) as campaign:
        results = evaluate_campaign(campaign, judged(campaign), asked.of(campaign))
        say(f"{where}: by {len(results.raters)} of {len(results.quality.raters)} raters.")
        return results.scores.table


def _agreement(replications: list[Replication]) -> Grid:
    columns = ["", "systems", "pearson", "spearman", "kendall", "captions", "captions' pearson"]
    rows = []
    for each in replications:
        r = [number_text(value, 3) for value in (each.pearson, each.spearman, each.kendall)]
        last = number_text(each.caption_pearson, 3)
        rows.append([each.metric, f"{each.systems}", *r, f"{each.captions:,}", last])
    return text_grid(columns, rows)
