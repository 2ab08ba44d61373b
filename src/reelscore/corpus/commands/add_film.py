"""``reelscore corpus add-film``."""

from __future__ import annotations

import click

from reelscore.cli.messages import say
from reelscore.corpus.commands.options import project_option, sound_options
from reelscore.corpus.project import Film, Project


@click.command("add-film")
@click.argument("film_id", metavar="FILM")
@project_option
@sound_options
@click.option("--title", metavar="TEXT", default="", help="The film's title.")
@click.option("--year", type=int, metavar="YEAR", help="When it came out.")
@click.option("--genre", metavar="TEXT", default="", help="Its genre.")
@click.option("--licence", metavar="TEXT", default="", help="What one may do with it.")
def command(
    film_id: str,
    project: str,
    film_file: str | None,
    ad_file: str | None,
    ad_stream: int | None,
    film_stream: int | None,
    title: str,
    year: int | None,
    genre: str,
    licence: str,
) -> None:
    """Add a film to a project, by an id of your choice. The files stay where they are.

    \b
    Example:
      reelscore corpus add-film sintel --film sintel.mkv --ad sintel-ad.m4a --year 2010
    """
    film = Film(film_id, title, year, genre, film_file, ad_file, film_stream, ad_stream, licence)
    Project.open(project).add_film(film)
    say(f"Film {film_id!r} was added.")
