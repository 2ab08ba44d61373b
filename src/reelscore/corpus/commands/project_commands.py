"""``reelscore corpus new``, ``add-film``, ``status`` and ``review``."""

from __future__ import annotations

import getpass
import logging
import sys
from dataclasses import replace
from typing import Any

import click

from reelscore.cli.options import json_option, number_option
from reelscore.cli.terminal import STDOUT, check_targets, write_json
from reelscore.corpus.commands.corpus_options import (
    films_of,
    project_option,
    say,
    show_grid,
    sound_options,
)
from reelscore.corpus.pipeline import steps_of
from reelscore.corpus.project import Film, Project
from reelscore.web.server import listen, need_web, serve

_HOST = "127.0.0.1"


@click.command("new")
@click.argument("folder", metavar="FOLDER")
@click.option("--name", metavar="TEXT", help="The corpus's name; the folder's if not given.")
def new(folder: str, name: str | None) -> None:
    """Create a project folder.

    \b
    Example:
      reelscore corpus new films --name "Films of 2026"
    """
    project = Project.new(folder, name)
    say(f"Project {project.name!r} was made.")


@click.command("add-film")
@click.argument("film_id", metavar="FILM")
@project_option
@sound_options
@click.option("--title", metavar="TEXT", default="", help="The film's title.")
@click.option("--year", type=int, metavar="YEAR", help="When it came out.")
@click.option("--genre", metavar="TEXT", default="", help="Its genre.")
@click.option("--licence", metavar="TEXT", default="", help="What one may do with it.")
def add_film(film_id: str, project: str, files: Film, **about: Any) -> None:
    """Add a film to a project, by an id of your choice. The files stay where they are.

    \b
    Example:
      reelscore corpus add-film sintel --film sintel.mkv --ad sintel-ad.m4a --year 2010
    """
    Project.open(project).add_film(replace(files, id=film_id, **about))
    say(f"Film {film_id!r} was added.")


@click.command("status")
@project_option
@json_option
def status(project: str, json_file: str | None) -> None:
    """Show where every film of a project stands, step by step.

    open: not made yet. done: made from the files as they are. stale: a file has changed since.
    failed: the result must not be trusted; its report says why. needs review: a person should
    look at some of it.

    \b
    Example:
      reelscore corpus status --project films
    """
    check_targets(json_file)
    opened = Project.open(project)
    films, corpus = opened.status(), opened.corpus_status()
    if json_file:
        write_json(json_file, {"name": opened.name, "films": films, "corpus": corpus})
    if json_file != STDOUT and not films:
        say(f"{opened.name}: no films yet; add one with 'reelscore corpus add-film'.")
    elif json_file != STDOUT:
        names = [step.name for step in steps_of("film")]
        rows = [[film_id, *(states[name] for name in names)] for film_id, states in films.items()]
        show_grid(["film", *names], rows)
        if set(corpus.values()) != {"open"}:
            say(", ".join(f"{name}: {state}" for name, state in corpus.items()))


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
    listening = listen(_HOST, port)
    from reelscore.corpus.review.review_app import Review, create_review_app
    from reelscore.corpus.review.reviewed_films import ReviewFilms
    from reelscore.web.security import new_token

    url = f"http://{_HOST}:{listening.getsockname()[1]}"
    served = Review(ReviewFilms(opened, films, who or _login_name()), new_token(), url, read_only)
    app = create_review_app(served)
    click.echo(f"Review: {served.address}    (stop with Ctrl+C)")
    sys.stdout.flush()
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    serve(app, listening, timeout_graceful_shutdown=2)


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an account without a name
        return "reviewer"
