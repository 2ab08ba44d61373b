"""``reelscore challenge check``."""

from __future__ import annotations

from pathlib import Path

import click

from reelscore.challenges.challenge import expected_of, expected_upload, find_challenge
from reelscore.challenges.commands.options import (
    challenge_option,
    exit_status,
    open_arena,
    say,
    server_option,
)
from reelscore.challenges.commands.served import login_server, served_challenge
from reelscore.challenges.definition.checks import score_scales
from reelscore.challenges.definition.reader import read_definition
from reelscore.challenges.uploads.splits import items_of, read_split
from reelscore.challenges.uploads.uploads import Expected, Readers, Report
from reelscore.errors import DataError, check_choice


@click.command("check")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--phase", metavar="ID", help="The phase that captions are meant for.")
@server_option
@click.option("--database", metavar="DATABASE", help="The database, where there is no server.")
@click.option(
    "--definition",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The definition of the challenge, where there is no database yet.",
)
@challenge_option
def command(
    file: Path,
    phase: str | None,
    server: str | None,
    database: str | None,
    definition: Path | None,
    challenge_id: str,
) -> None:
    """Check a definition, or captions before they are sent.

    A file that ends in .toml is a definition: it is read with all files that it names. Any other
    file holds captions, and is read as the server would read it; nothing is charged. The exit
    status is 2 if it cannot be scored, 3 if too many bad files were sent, 4 before the phase opens.

    \b
    Examples:
      reelscore challenge check lsmdc.toml
      reelscore challenge check run.json --phase blind-test
      reelscore challenge check run.json --phase blind-test --database lsmdc.db
    """
    if file.suffix == ".toml":
        _check_definition(file)
        return
    if phase is None:
        raise DataError("Captions are checked for a phase; name it: --phase ID.")
    if sum(place is not None for place in (server, database, definition)) > 1:
        raise DataError("Choose one of --server, --database and --definition.")
    if database is None and definition is None:
        asked = login_server(server)
        id = served_challenge(asked, challenge_id, phase)["id"]
        with exit_status():
            checked = asked.check(id, phase, file)
        for note in checked["notes"]:
            say(note)
        say(checked["message"])
        return
    if database is not None:
        with open_arena(database) as arena:
            expected = expected_upload(arena, find_challenge(arena, challenge_id), phase)
    else:
        assert definition is not None
        expected = _expected(definition, phase)
    readers = Readers(1)
    try:
        read = readers.read(file.name, _content(file), expected)
    finally:
        readers.close()
    for note in read.notes:
        say(note)
    if isinstance(read, Report):
        raise DataError("\n".join([read.message, *(f"  {each}" for each in read.problems)]))
    items = sum(len(split.items) for split in expected.splits)
    say(f"{file.name} can be scored: captions of {items:,} items.")


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror or error}.") from None


def _check_definition(file: Path) -> None:
    definition = read_definition(file)
    for split in definition.splits:
        content = read_split(split, file.parent)
        scores = ", ".join(score_scales(definition.scoring, split.kind))
        say(f"Split {split.id!r}: {content.count:,} items, {split.visibility}; scores: {scores}.")
    say(f"{file}: the definition of {definition.id!r} is complete.")


def _expected(definition: Path, phase: str) -> Expected:
    read = read_definition(definition)
    check_choice("phase", phase, [each.id for each in read.phases])
    own = read.phase(phase)
    contents = {id: read_split(read.split(id), definition.parent) for id in own.splits}
    lists = [items_of(id, content.items) for id, content in contents.items()]
    return expected_of(read, own, lists)
