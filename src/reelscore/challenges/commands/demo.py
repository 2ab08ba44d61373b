"""``reelscore challenge demo``."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click

from reelscore.cli.options import number_option
from reelscore.web.server import need_web, run


@click.command("demo")
@number_option("--port", default=8000, least=1, most=65535)
def command(port: int) -> None:
    """Serve a running challenge with four teams, on the embedded example.

    Look at its leaderboard, take part yourself, or become its owner. Nothing is saved.
    """
    need_web()
    from reelscore.challenges.pages.demo import challenge_settings

    with TemporaryDirectory() as folder:
        run(challenge_settings(Path(folder), f"http://127.0.0.1:{port}"), "127.0.0.1", port)
