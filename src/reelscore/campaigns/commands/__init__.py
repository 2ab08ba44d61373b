"""``reelscore campaign``."""

from __future__ import annotations

import click

from reelscore.cli.main import LazyGroup

# name: (module:attribute, what it does)
_COMMANDS = {
    "plan": ("draft:plan", "Estimate how many HITs you need, and their cost."),
    "new": ("draft:new", "Create a campaign and its HITs from captions."),
    "hits": ("transfer:show_hits", "Show the HITs, or export them for another tool."),
    "media": ("upkeep:check_videos", "Check, before opening, that the videos can be played."),
    "status": ("upkeep:show_status", "Show the progress; open, pause or close a campaign."),
    "offer": ("upkeep:offer", "Offer the HITs of unusable raters again."),
    "top-up": ("upkeep:add_hits", "Add HITs until systems have enough good judgments."),
    "simulate": ("simulate:simulate", "Simulate the raters of a campaign, as a rehearsal."),
    "import": ("transfer:import_files", "Import judgments, or a whole campaign, from files."),
    "export": ("transfer:export", "Export everything, or the judgments, to plain files."),
    "backup": ("transfer:back_up", "Copy the whole database while it is in use."),
    "quality": ("reliability:quality", "Show which raters can be trusted."),
    "pay": ("upkeep:pay", "List payments in the formats of crowd services."),
    "results": ("outcome:results", "Score the systems and test which are better."),
    "replicate": ("reliability:compare_campaigns", "Measure how well two campaigns agree."),
}


@click.command("campaign", cls=LazyGroup, package=__name__, modules=_COMMANDS)
def command() -> None:
    """Ask people: plan, run and evaluate human assessments.

    CAMPAIGN is a SQLite file, or the URL of a PostgreSQL database.

    \b
    A campaign from plan to result:
      reelscore campaign plan --systems 5 --difference 0.15
      reelscore campaign new my.db runs/*.json --refs refs.json --hits 94
      reelscore campaign media my.db --videos clips/
      reelscore campaign status my.db --state open
      reelscore campaign quality my.db
      reelscore campaign results my.db --html results.html
    """
