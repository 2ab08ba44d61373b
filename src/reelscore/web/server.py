"""A server at work: what it needs, what it prints, and how it stops."""

from __future__ import annotations

import importlib.util
import logging
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from reelscore.errors import MissingExtraError

if TYPE_CHECKING:
    from reelscore.web.settings import Settings

_GRACE = 20  # seconds that requests under way have when the server is told to stop


def need_web() -> None:
    """Check that what a server needs is installed."""
    for name in ("fastapi", "uvicorn", "argon2", "itsdangerous", "multipart"):
        if importlib.util.find_spec(name) is None:
            raise MissingExtraError.of(f"The rating pages need {name}", "reelscore[web]")


def run(settings: Settings, host: str, port: int, proxy: str = "127.0.0.1") -> None:
    """Serve until told to stop; requests under way are answered first."""
    import uvicorn

    from reelscore.web.app import create_app
    from reelscore.web.requests import LogLines
    from reelscore.web.site import ORGANISE
    from reelscore.web.store.accounts import has_accounts

    handler = logging.StreamHandler()
    handler.setFormatter(LogLines())
    for name in ("reelscore.web", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name == "reelscore.web" else logging.WARNING)
    app = create_app(settings)
    site = app.state.site
    if settings.new_owner or not has_accounts(site.database):
        link = f"{settings.url}{ORGANISE}/setup/{site.setup.token}"
        click.echo(f"Create the owner's account: {link}")
    for wing in site.wings:
        if wing.home() not in ("", ORGANISE):
            click.echo(f"{wing.name.capitalize()}: {settings.url}{wing.home()}")
    click.echo(f"Organisers: {settings.url}{ORGANISE}    (stop with Ctrl+C)")
    if settings.public and urlsplit(settings.url).scheme != "https":
        click.echo("Warning: connections use plain http; passwords can be intercepted.", err=True)
    sys.stdout.flush()
    uvicorn.run(
        app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        forwarded_allow_ips=proxy,
        timeout_graceful_shutdown=_GRACE,
    )
