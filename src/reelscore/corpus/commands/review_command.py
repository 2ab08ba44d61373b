"""``reelscore corpus review``."""

from __future__ import annotations

import getpass
import logging
import socket
import sys

import click

from reelscore.cli.options import number_option
from reelscore.corpus.commands.corpus_options import films_of, project_option
from reelscore.corpus.project import Project
from reelscore.errors import DataError
from reelscore.web.server import need_web

_HOST = "127.0.0.1"


@click.command("review")
@click.argument("film_id", required=False, metavar="[FILM]")
@project_option
@number_option(
    "--port", default=8765, least=0, most=65535, help="Port to listen on; 0 for any free one."
)
@click.option("--read-only", is_flag=True, help="Show everything, and decide nothing.")
@click.option("--who", metavar="NAME", help="Who decides; your login name if not given.")
def review(film_id: str | None, project: str, port: int, read_only: bool, who: str | None) -> None:
    """Correct segments and sentences on a page in your browser.

    FILM is one film of the project; without it, all can be chosen. The page is for this machine
    alone, and its address has a token that nobody can guess. Every decision is one line of the
    film's decisions.jsonl, safe on the disk before the page shows it.

    \b
    Examples:
      reelscore corpus review --project films
      reelscore corpus review sintel --project films --read-only
    """
    need_web()
    opened = Project.open(project)
    films = films_of(opened, [film_id] if film_id else [])
    listening = _listening(port)
    from reelscore.corpus.review.review_app import Review, create_review_app
    from reelscore.corpus.review.reviewed_films import ReviewFilms
    from reelscore.web.security import new_token

    url = f"http://{_HOST}:{listening.getsockname()[1]}"
    served = Review(ReviewFilms(opened, films, who or _login_name()), new_token(), url, read_only)
    app = create_review_app(served)
    click.echo(f"Review: {served.address}    (stop with Ctrl+C)")
    sys.stdout.flush()
    _run(app, listening)


def _listening(port: int) -> socket.socket:
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((_HOST, port))
        listening.listen()  # before anybody is told the address
    except OSError as error:
        listening.close()
        raise DataError(
            f"Port {port} cannot be used ({error.strerror}); choose another with --port."
        ) from None
    return listening


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an account without a name
        return "reviewer"


def _run(app: object, listening: socket.socket) -> None:
    import uvicorn

    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    config = uvicorn.Config(
        app,  # type: ignore[arg-type]
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    uvicorn.Server(config).run(sockets=[listening])
