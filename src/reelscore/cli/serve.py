"""``reelscore serve``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from reelscore.cli.options import number_option
from reelscore.errors import DataError
from reelscore.web.server import need_web, run

_LOCAL = ("127.0.0.1", "::1", "localhost")


@click.command("serve")
@click.argument("database", metavar="DATABASE")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@number_option("--port", default=8000, least=1, most=65535)
@click.option(
    "--url",
    metavar="URL",
    help="The public address, including its path, if the server is behind a proxy.",
)
@click.option(
    "--public",
    is_flag=True,
    help="The server can be reached from other machines: check that this is safe.",
)
@click.option(
    "--videos",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="The videos, named by their items: clip01.mp4.",
)
@click.option(
    "--secret-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File of the secret, created if needed; by default in the folder of the "
    "SQLite file. REELSCORE_SECRET takes precedence.",
)
@click.option(
    "--proxy",
    metavar="ADDRESS",
    help="The proxy to trust; if not given 127.0.0.1 where --url begins with https, which "
    "only a proxy serves, otherwise none.",
)
@click.option("--new-owner", is_flag=True, help="Show a link that creates another owner account.")
@click.option(
    "--mail-from",
    "sender",
    default="",
    metavar="ADDRESS",
    help="Send notices to participants from this address, by the mail server in "
    "REELSCORE_SMTP; smtp://localhost if not set.",
)
@number_option(
    "--upload",
    "megabytes",
    default=64,
    least=1,
    most=2048,
    metavar="MB",
    help="The largest upload of an organiser.",
)
@click.option(
    "--scorers",
    type=click.IntRange(min=0),
    help="How many submissions to challenges to score at a time; all cores but one if not given, "
    "and with 0 none: 'challenge worker' does.",
)
def command(
    database: str,
    host: str,
    port: int,
    url: str | None,
    public: bool,
    videos: Path | None,
    secret_file: Path | None,
    proxy: str | None,
    new_owner: bool,
    sender: str,
    megabytes: int,
    scorers: int | None,
) -> None:
    """Serve the pages of campaigns and challenges, and score what is handed in.

    DATABASE is a SQLite file, created if needed, or the URL of a PostgreSQL database. Raters use
    links that organisers create; the link shown here creates the first organiser's account. A
    SQLite file has one server.

    \b
    Examples:
      reelscore serve my.db --videos clips/
      reelscore serve postgresql://rate@db/rate --public --url https://lab.example/rate
    """
    need_web()
    from reelscore.web.settings import Settings, load_secret

    if host not in _LOCAL and not public:
        raise DataError(f"{host} can be reached from other machines; add --public and --url.")
    if public and url is None:
        raise DataError("A public server needs its public address: --url https://lab.example.")
    if secret_file is None and "://" not in database:
        secret_file = Path(f"{database}.secret")
    settings = Settings(
        database,
        secret=load_secret(secret_file),
        url=(url or f"http://{host}:{port}").rstrip("/"),
        public=public,
        videos=videos,
        largest_upload=megabytes << 20,
        new_owner=new_owner,
        sender=sender,
        smtp=os.environ.get("REELSCORE_SMTP") or "smtp://localhost",
        scorers=scorers,
    )
    if proxy is None:
        proxy = "127.0.0.1" if settings.secure else ""
    run(settings, host, port, proxy)
