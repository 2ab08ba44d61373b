"""``reelscore challenge login``."""

from __future__ import annotations

import os

import click

from reelscore.challenges.commands.options import say
from reelscore.challenges.exchange.remote import Server
from reelscore.challenges.exchange.saved_login import checked_address, keep_login


@click.command("login")
@click.argument("url", metavar="URL")
def command(url: str) -> None:
    """Store the token of a server of challenges.

    The page Team of a challenge makes tokens. It is asked for here, tried, and kept in a file that
    nobody else can read. REELSCORE_TOKEN takes precedence over it.

    \b
    Example:
      reelscore challenge login https://challenge.example
    """
    address = checked_address(url)
    token = os.environ.get("REELSCORE_TOKEN") or click.prompt("Token", hide_input=True, err=True)
    challenges = Server(address, token.strip(), tell=say).challenges()
    file = keep_login(address, token.strip())
    listed = ", ".join(challenges) or "none yet"
    say(f"Logged in to {address}; challenges: {listed}. The token is in {file}.")
