"""A server at work: what it needs, what it prints, and how it stops."""

from __future__ import annotations

import importlib.util
import logging
import socket
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from reelscore.errors import DataError, MissingExtraError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from reelscore.web.settings import Settings

_GRACE = 20  # seconds that requests under way have when the server is told to stop


def need_web() -> None:
    """Check that what a server needs is installed."""
    for name in ("fastapi", "uvicorn", "argon2", "itsdangerous", "multipart"):
        if importlib.util.find_spec(name) is None:
            raise MissingExtraError.of(f"The rating pages need {name}", "reelscore[web]")


def run(settings: Settings, host: str, port: int, proxy: str = "") -> None:
    """Serve until told to stop; requests under way are answered first.

    What another address says of a request, such as whom it is from, is believed of the proxy alone.
    """
    from reelscore.web.app import create_app
    from reelscore.web.limits import PromptProtocol
    from reelscore.web.requests import LogLines
    from reelscore.web.site import ORGANISE
    from reelscore.web.store.accounts import has_accounts

    handler = logging.StreamHandler()
    handler.setFormatter(LogLines())
    for name in ("reelscore.web", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name == "reelscore.web" else logging.WARNING)
    listening = listen(host, port)
    app = create_app(settings)
    site = app.state.site
    site.start()
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
    serve(
        app,
        listening,
        http=PromptProtocol,
        proxy_headers=bool(proxy),
        forwarded_allow_ips=proxy,
        timeout_graceful_shutdown=_GRACE,
    )


def serve(app: FastAPI, listening: socket.socket, **settings: Any) -> None:
    """Answer requests until told to stop; what is not set is as uvicorn has it, but silent."""
    import uvicorn

    quiet: dict[str, Any] = {"log_config": None, "access_log": False, "server_header": False}
    uvicorn.Server(uvicorn.Config(app, **quiet, **settings)).run(sockets=[listening])


def listen(host: str, port: int) -> socket.socket:
    """Take the port before anything is said or begun."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise DataError(
            f"{host}:{port}: cannot listen there ({error.strerror}); choose another with --port."
        ) from None
