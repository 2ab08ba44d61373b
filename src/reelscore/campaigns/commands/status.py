"""``reelscore campaign status``."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timezone

import click

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.commands.options import campaign_argument, id_option, opened
from reelscore.campaigns.store.records import Status
from reelscore.cli.options import json_option
from reelscore.cli.terminal import STDOUT, check_targets, terminal_width, write_json
from reelscore.report.tables.grid import Cell, Grid

_BAR = 40


@click.command("status")
@campaign_argument
@id_option
@click.option(
    "--set",
    "state",
    type=click.Choice(["open", "paused", "closed"]),
    help="Open the campaign for raters, pause it, or close it.",
)
@click.option("--release", is_flag=True, help="First offer again the HITs whose raters have left.")
@click.option("--list", "lists", is_flag=True, help="List the campaigns of the database.")
@json_option
def command(
    campaign: str,
    campaign_id: str | None,
    state: str | None,
    release: bool,
    lists: bool,
    json_file: str | None,
) -> None:
    """Show the progress of a campaign; open, pause or close it.

    \b
    Examples:
      reelscore campaign status my.db
      reelscore campaign status my.db --set open
    """
    check_targets(json_file)
    if lists:
        for terms in Campaign.list(campaign):
            click.echo(f"{terms.id}  {terms.name}  ({terms.protocol.name})")
        return
    with opened(campaign, campaign_id) as opened_campaign:
        if release:
            opened_campaign.release_abandoned()
        if state:
            opened_campaign.set_state(state, actor="command line")  # type: ignore[arg-type]
        status = opened_campaign.status()
        if json_file:
            named = {
                "id": opened_campaign.id,
                "name": opened_campaign.name,
                "protocol": opened_campaign.protocol.name,
            }
            write_json(json_file, {**named, **asdict(status)})
        if json_file != STDOUT:
            _show(opened_campaign, status)


def _show(campaign: Campaign, status: Status) -> None:
    made = datetime.fromtimestamp(campaign.created, timezone.utc)
    click.echo(f"{campaign.name} ({campaign.id}): {campaign.protocol.name}, {status.state}")
    layout = f", layout {campaign.layout}" if campaign.layout else ""
    click.echo(f"made {made:%Y-%m-%d %H:%M} UTC, seed {campaign.seed}{layout}\n")
    wanted = status.open + status.held + status.done
    share = status.done / wanted if wanted else 0.0
    bar = "█" * round(share * _BAR)
    click.echo(f"{bar:░<{_BAR}} {share:.0%}")
    times = f", {campaign.raters_per_hit} raters each" if campaign.raters_per_hit > 1 else ""
    click.echo(
        f"{status.hits:,} HITs{times}: {status.done:,} done, {status.held:,} held, "
        f"{status.open:,} open, {status.abandoned:,} given up"
    )
    click.echo(f"{status.judgments:,} judgments by {status.raters:,} raters\n")
    rows = [[Cell(system), Cell(f"{count:,}")] for system, count in status.by_system.items()]
    click.echo(Grid(["system", "judgments"], rows).to_text(terminal_width()))
