"""``reelscore challenge``."""

from __future__ import annotations

import click

from reelscore.cli.main import LazyGroup

# name: (module, what it does)
_COMMANDS = {
    "new": ("new", "Make a challenge from its definition, or update it."),
    "check": ("check", "Check a definition, or captions before they are sent."),
    "serve": ("serve", "Serve pages, and score what is handed in."),
    "login": ("login", "Store the token of a server of challenges."),
    "submit": ("submit", "Hand in a file of captions."),
    "import-zip": ("import_zip", "Import submissions that were made elsewhere."),
    "submissions": ("submissions", "List submissions and what became of them."),
    "worker": ("worker", "Score what waits, without pages."),
    "invite": ("invite", "Invite a team to a phase that is not listed."),
    "rescore": ("rescore", "Score all submissions of a phase again."),
    "leaderboard": ("leaderboard", "Show leaderboards, as visitors see them."),
    "human": ("human", "Let people judge the final entries; publish what they say."),
    "export": ("export", "Write everything of a challenge to one file."),
    "import": ("imports", "Make a challenge of an export."),
    "archive": ("archive", "Write a static site, as a visitor sees the challenge."),
    "demo": ("demo", "Serve a running challenge with four teams."),
    "verify": ("verify", "Compute every score of an export again."),
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
