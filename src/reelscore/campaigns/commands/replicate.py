"""``reelscore campaign replicate``."""

from __future__ import annotations

import math

import click

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.commands.options import control_options, say
from reelscore.campaigns.commands.results import evaluated
from reelscore.campaigns.evaluate.agreement import Replication, replicate
from reelscore.campaigns.evaluate.quality import Control, known
from reelscore.cli.options import json_option
from reelscore.cli.terminal import STDOUT, check_targets, write_json
from reelscore.data.table import ScoreTable
from reelscore.report.tables.grid import Cell, Grid


@click.command("replicate")
@click.argument("first", metavar="FIRST")
@click.argument("second", metavar="SECOND")
@control_options
@json_option
def command(first: str, second: str, control: Control, json_file: str | None) -> None:
    """Measure how well two campaigns agree: correlations over what they have in common.

    FIRST and SECOND are campaigns, or score tables (.csv, .json) with raw and z.

    \b
    Examples:
      reelscore campaign replicate monday.db friday.db
    """
    check_targets(json_file)
    tables = [_table(each, control) for each in (first, second)]
    metrics = [name for name in tables[0].metrics if name in tables[1].metrics]
    replications = replicate(tables[0], tables[1], metrics)
    if json_file:
        rows = [
            {key: known(value) for key, value in each._asdict().items()} for each in replications
        ]
        write_json(json_file, rows)
    if json_file != STDOUT:
        click.echo(_grid(replications).to_text())


def _table(where: str, control: Control) -> ScoreTable:
    if where.endswith((".csv", ".json")):
        return ScoreTable.read(where)
    with Campaign.open(where) as campaign:
        results = evaluated(campaign, control)
        say(f"{where}: by {len(results.raters)} of {len(results.quality.raters)} raters.")
        return results.scores.table


def _grid(replications: list[Replication]) -> Grid:
    columns = ["", "systems", "pearson", "spearman", "kendall", "captions", "captions' pearson"]
    rows = [
        [
            Cell(each.metric),
            Cell(f"{each.systems}"),
            *(Cell(_r(value)) for value in (each.pearson, each.spearman, each.kendall)),
            Cell(f"{each.captions:,}"),
            Cell(_r(each.caption_pearson)),
        ]
        for each in replications
    ]
    return Grid(columns, rows)


def _r(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"
