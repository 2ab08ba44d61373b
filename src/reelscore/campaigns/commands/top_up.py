"""``reelscore campaign top-up``."""

from __future__ import annotations

import click

from reelscore.campaigns.commands.options import (
    campaign_argument,
    control_options,
    id_option,
    opened,
    say,
)
from reelscore.campaigns.evaluate.quality import Control
from reelscore.campaigns.hits.top_up import top_up
from reelscore.cli.terminal import terminal_width
from reelscore.report.tables.grid import Cell, Grid


@click.command("top-up")
@campaign_argument
@id_option
@click.option(
    "--judgments",
    "wanted",
    type=click.IntRange(min=1),
    required=True,
    help="Number of good judgments that each system should have.",
)
@control_options
def command(campaign: str, campaign_id: str | None, wanted: int, control: Control) -> None:
    """Add HITs until every system will have enough good judgments.

    Judgments are good if their HIT is finished and their rater is neither excluded nor rejected
    and passes the quality control. Judgments expected from open and held HITs are counted too. New
    HITs use the same captions as the first ones, starting with those that have the fewest good
    judgments.

    \b
    Example:
      reelscore campaign top-up my.db --judgments 150
    """
    with opened(campaign, campaign_id) as opened_campaign:
        done = top_up(opened_campaign, wanted, actor="command line", control=control)
        awaited = opened_campaign.awaited()
        status = opened_campaign.status()
    to_come = {
        name: sum(number for (system, _), number in awaited.items() if system == name)
        for name in done.good
    }
    rows = [
        [Cell(name), Cell(f"{good:,}"), Cell(f"{to_come[name]:,}")]
        for name, good in done.good.items()
    ]
    click.echo(Grid(["system", "good judgments", "to come"], rows).to_text(terminal_width()))
    added = (
        f"{done.hits:,} HITs are added" if done.hits else ("Nothing is missing, no HITs are added")
    )
    say(f"{added}; {status.open:,} places are open.")
