"""``reelscore campaign``."""

from __future__ import annotations

import click

from reelscore.cli.groups import LazyGroup

# name: (module, what it does)
_COMMANDS = {
    "plan": ("campaign.plan", "How many HITs it takes, and what they cost."),
    "new": ("campaign.new", "Make a campaign: its HITs from captions."),
    "hits": ("campaign.hits", "Show the HITs, or write them for another page."),
    "media": ("campaign.media", "Whether the videos can be played; before it opens."),
    "status": ("campaign.status", "Where a campaign stands; open, pause or close it."),
    "offer": ("campaign.offer", "Offer HITs again whose raters cannot be used."),
    "top-up": ("campaign.top_up", "Add HITs until systems have enough good judgments."),
    "simulate": ("campaign.simulate", "Let a made-up crowd do it, or try many crowds."),
    "import": ("campaign.imports", "Take in judgments, or a whole campaign, from files."),
    "export": ("campaign.export", "Write everything, or the judgments, to plain files."),
    "backup": ("campaign.backup", "Copy the whole database while it is in use."),
    "quality": ("campaign.quality", "Which raters can be trusted."),
    "pay": ("campaign.pay", "Whom to pay how much, as crowd services take it."),
    "results": ("campaign.results", "Scores of systems, and who is better than whom."),
    "replicate": ("campaign.replicate", "How well two campaigns agree."),
}


@click.command("campaign", cls=LazyGroup, modules=_COMMANDS)
def command() -> None:
    """Ask people: plan, run and evaluate human assessments.

    CAMPAIGN is a SQLite file, or the URL of a PostgreSQL database.

    \b
    A campaign from plan to result:
      reelscore campaign plan --systems 5 --difference 0.15
      reelscore campaign new my.db runs/*.json --refs refs.json --hits 94
      reelscore campaign media my.db --videos clips/
      reelscore campaign status my.db --set open
      reelscore campaign quality my.db
      reelscore campaign results my.db --html results.html
    """
