"""``reelscore challenge``."""

from __future__ import annotations

import click

from reelscore.cli.main import LazyGroup

# name: (module, what it does)
_COMMANDS = {
    "new": ("hosting:new_command", "Make a challenge from its definition, or update it."),
    "check": (
        "participation:check_command",
        "Check captions, a definition, or what is kept of a challenge.",
    ),
    "login": ("participation:login_command", "Store the token of a server of challenges."),
    "submit": ("participation:submit_command", "Hand in a file of captions."),
    "submissions": (
        "participation:submissions_command",
        "List submissions and what became of them.",
    ),
    "worker": ("hosting:worker_command", "Score what waits, without pages."),
    "invite": ("hosting:invite_command", "Invite a team to a phase that is not listed."),
    "rescore": ("hosting:rescore_command", "Score all submissions of a phase again."),
    "leaderboard": ("leaderboard:leaderboard_command", "Show leaderboards, as visitors see them."),
    "human": (
        "hosting:human_command",
        "Let people judge the final entries; publish what they say.",
    ),
    "export": ("files:export_command", "Write everything to one file, or a static site."),
    "import": ("files:import_command", "Make a challenge of an export; import submissions."),
}


@click.command("challenge", cls=LazyGroup, package=__name__, modules=_COMMANDS)
def command() -> None:
    """Host a challenge: blind test sets, submissions, leaderboards.

    DATABASE is a SQLite file, or the URL of a PostgreSQL database.

    \b
    A challenge without a server:
      reelscore challenge check lsmdc.toml
      reelscore challenge new lsmdc.toml lsmdc.db
      reelscore challenge submit run.json --database lsmdc.db --team Ours \\
        --phase public-test --wait
    """
