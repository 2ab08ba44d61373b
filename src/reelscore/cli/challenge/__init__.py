"""``reelscore challenge``."""

from __future__ import annotations

import click

from reelscore.cli.main import LazyGroup

# name: (module, what it does)
_COMMANDS = {
    "new": ("challenge.new", "Make a challenge from its definition, or update it."),
    "check": ("challenge.check", "Check a definition, or captions before they are sent."),
    "serve": ("challenge.serve", "Serve pages, and score what is handed in."),
    "login": ("challenge.login", "Store the token of a server of challenges."),
    "submit": ("challenge.submit", "Hand in a file of captions."),
    "import-zip": ("challenge.import_zip", "Import submissions that were made elsewhere."),
    "submissions": ("challenge.submissions", "List submissions and what became of them."),
    "worker": ("challenge.worker", "Score what waits, without pages."),
    "invite": ("challenge.invite", "Invite a team to a phase that is not listed."),
    "rescore": ("challenge.rescore", "Score all submissions of a phase again."),
    "leaderboard": ("challenge.leaderboard", "Show leaderboards, as visitors see them."),
    "human": ("challenge.human", "Let people judge the final entries; publish what they say."),
    "export": ("challenge.export", "Write everything of a challenge to one file."),
    "import": ("challenge.imports", "Make a challenge of an export."),
    "archive": ("challenge.archive", "Write a static site, as a visitor sees the challenge."),
    "trecvid": ("challenge.trecvid", "Make a challenge of TRECVid's video-to-text task."),
    "verify": ("challenge.verify", "Compute every score of an export again."),
}


@click.command("challenge", cls=LazyGroup, modules=_COMMANDS)
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
