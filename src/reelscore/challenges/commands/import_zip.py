"""``reelscore challenge import-zip``."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

import click

from reelscore.challenges.challenge import find_challenge, find_phase
from reelscore.challenges.commands.options import challenge_option, open_arena, say
from reelscore.challenges.people.teams import add_team, find_team
from reelscore.challenges.submissions import Upload, keep, read_file
from reelscore.challenges.uploads.archives import is_passed_over
from reelscore.challenges.uploads.uploads import Readers
from reelscore.errors import DataError, RefusedError
from reelscore.store.values import microseconds, to_iso


@click.command("import-zip")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILES..."
)
@click.option("--team", required=True, metavar="NAME", help="The team; made if there is none.")
@click.option("--phase", required=True, metavar="ID", help="The phase.")
@click.option("--database", required=True, metavar="DATABASE", help="The challenge's database.")
@challenge_option
def command(
    files: tuple[Path, ...], team: str, phase: str, database: str, challenge_id: str
) -> None:
    """Import submissions that were made elsewhere.

    FILES are downloads of CodaLab or another platform, or caption files as they are. Each keeps
    its old time: that of its newest caption file, or of the file itself. They are not charged.

    \b
    Example:
      reelscore challenge import-zip old/*.zip --team Ours --phase public-test \\
        --database lsmdc.db
    """
    contents = [(file, _content(file)) for file in files]
    with open_arena(database) as arena:
        known = find_challenge(arena, challenge_id)
        own_phase = find_phase(arena, known, phase)
        own = find_team(arena, known, team) or add_team(arena, known, team, actor="command line")
        readers = Readers(1)
        try:
            for file, content in contents:
                upload, arrived = Upload(file.name, content), _made(file, content)
                accepted = read_file(arena, readers, known, own_phase, own, upload)
                try:
                    receipt = keep(
                        *(arena, known, phase, own, upload, accepted),
                        arrived=arrived,
                        actor="command line",
                        imported=True,
                    )
                except RefusedError as error:
                    if error.reason != "same":
                        raise
                    say(f"{file.name}: {error}")
                    continue
                say(f"{file.name}: submission {receipt.number} of {to_iso(arrived)}.")
        finally:
            readers.close()


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror or error}.") from None


def _made(file: Path, content: bytes) -> int:
    """Return when a submission was made: zips have no zone, so their times count as UTC."""
    moment = datetime.fromtimestamp(file.stat().st_mtime, timezone.utc)
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            times = [
                member.date_time
                for member in archive.infolist()
                if not member.is_dir() and not is_passed_over(member.filename)
            ]
        if times:
            with suppress(ValueError):  # a zip that was made without a clock
                moment = datetime(*max(times), tzinfo=timezone.utc)
    return microseconds(moment.timestamp())
