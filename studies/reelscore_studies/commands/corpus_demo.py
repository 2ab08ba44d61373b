"""``reelscore demo corpus``: a corpus from films that are made on the spot, step by step."""

from __future__ import annotations

import json
import os
import shlex
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import click

from reelscore.cli.main import cli
from reelscore.cli.terminal import terminal_width
from reelscore.errors import DataError, MissingExtraError
from reelscore_studies.demo_films import FILMS, make_film

_WITH_SCRIPT = FILMS[0].id
_SETS = ("training", "validation", "public-test", "blind-test")


def build_corpus(folder: str) -> None:
    """Build a corpus from four small films that are made on the spot, step by step."""
    place = Path(folder)
    if place.exists():
        raise DataError(f"{folder}: there is something already; name a new folder with --folder.")
    for package in ("av", "pysubs2", "rapidfuzz", "snowballstemmer"):
        if find_spec(package) is None:
            raise MissingExtraError.of(f"The demo of corpora needs {package}", "reelscore[corpus]")
    place.mkdir(parents=True)
    click.echo(f"$ mkdir {shlex.quote(folder)} && cd {shlex.quote(folder)}")
    with _inside(place):
        _films()
        _narration()
        _script()
        _words()
        named = _clips()
        _release(named)
    _heading(
        "What is there now",
        f"{folder} is the project, with the media and the files for training, scoring and hosting "
        "in it; results are JSON that you can read. Go there and try other options, or correct "
        "segments and sentences on a page with 'reelscore corpus review'.",
    )


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Work in a folder, so that the commands are those that people type there."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _films() -> None:
    _heading(
        "Four films",
        "Each is made now: pictures, sound, and a second track on which a narrator says what can "
        "be seen. The voices only sound like voices; all is free to use.",
    )
    for film in FILMS:
        make_film(film, Path("media", film.id))
        click.echo(f"media/{film.id}: {film.title}; the described track {film.change}")
    _run("corpus new . --name Demo")
    for film in FILMS:
        files = f"--film media/{film.id}/film.webm --ad media/{film.id}/described.ogg"
        about = f"--title {shlex.quote(film.title)} --year 2026 --genre {film.genre}"
        _run(f"corpus add-film {film.id} {files} {about}")


def _narration() -> None:
    _heading(
        "Align and segment",
        "Which time of the film does each time of the described track show? Then the narrator is "
        "what the film does not explain.",
    )
    _run("corpus align")
    _run("corpus segment")


def _script() -> None:
    _heading(
        "Subtitles and script",
        "The script of the first film gets its times from the subtitles: dialogue is matched, and "
        "descriptions lie between.",
    )
    for film in FILMS:
        _run(f"corpus subtitles {film.id} media/{film.id}/subtitles.srt")
    _run(f"corpus script {_WITH_SCRIPT} media/{_WITH_SCRIPT}/script.fountain --align")


def _words() -> None:
    _heading(
        "Words",
        "heard.json is what a recogniser of speech would write: all that is said, with times of "
        "the described track. Dialogue is left out, since the narrator does not speak there.",
    )
    for film in FILMS:
        _run(f"corpus transcript {film.id} media/{film.id}/heard.json")
    _run("corpus status")
    _heading("For describers", "How dense and fast is the narration, and where is room for more?")
    _run(f"corpus descriptions {FILMS[1].id} --vtt media/{FILMS[1].id}/descriptions.vtt")


def _clips() -> bool:
    _heading("Clips", "One for each sentence, of two seconds at least; then names become Someone.")
    _run("corpus assemble")
    named = find_spec("reelscore_parser") is not None
    if named:
        _write_cast()
        _run("corpus anonymise --cast media/cast.txt")
    else:
        click.echo("Names stay, since the word list of reelscore-parser is not installed.")
    _heading(
        "Sets",
        "Whole films, and versions of the same film together, by title or by sound; clips from "
        "scripts are for training alone.",
    )
    _run(f"corpus split --ratios '1 1 1 1' --place {_WITH_SCRIPT}=training")
    _heading("Statistics", "The columns are those of the paper 'Movie Description'.")
    _run("corpus stats")
    return named


def _write_cast() -> None:
    """Name the people of all films; only one of them has its script in the project."""
    from reelscore.corpus.scripts.formats import read_script

    names: dict[str, None] = {}
    for film in FILMS:
        script = read_script(Path("media", film.id, "script.fountain"))
        names |= dict.fromkeys(each.who for each in script.elements if each.who)
    Path("media/cast.txt").write_text("\n".join(names) + "\n", encoding="utf-8")


def _release(named: bool) -> None:
    _heading(
        "Export and score",
        "References for every set, and a challenge ready to be hosted, whose blind references are "
        "in a file of their own.",
    )
    _run(
        "corpus export -o release --format coco --format stories --blind --challenge"
        f"{'' if named else ' --original'}"
    )
    training, test = (
        json.loads(Path("release", f"{name}.json").read_text(encoding="utf-8"))
        for name in (_SETS[0], _SETS[2])
    )
    sentences = [each["caption"] for each in training["annotations"]]
    copied = {
        image["id"]: sentences[number % len(sentences)]
        for number, image in enumerate(test["images"])
    }
    Path("copied.json").write_text(json.dumps(copied, indent=1) + "\n", encoding="utf-8")
    _explain(
        "Two systems that never saw the film: copied.json repeats sentences of the training set, "
        "public_sample.json says the same of every clip."
    )
    _run(
        "score copied.json release/challenge/participants/public_sample.json "
        "--refs release/public-test.json"
    )


def _heading(text: str, explanation: str = "") -> None:
    click.echo("\n" + click.style(text, bold=True))
    if explanation:
        _explain(explanation)


def _explain(text: str) -> None:
    click.echo(textwrap.fill(text, min(80, terminal_width())))


def _run(line: str) -> None:
    """Show a command, and do it."""
    words = textwrap.wrap(
        f"$ reelscore {line}", 77, subsequent_indent="    ", break_on_hyphens=False
    )
    click.echo(" \\\n".join(words))
    cli.main(shlex.split(line), prog_name="reelscore", standalone_mode=False)
