"""``reelscore challenge``: everything of a challenge out to files, in again, and verified."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

import click

from reelscore.challenges import submissions
from reelscore.challenges.boards.board_forms import named_members
from reelscore.challenges.challenge import Challenges
from reelscore.challenges.commands.options import (
    ACTOR,
    challenge_option,
    database_argument,
    open_challenge,
    read_file,
    say_line,
)
from reelscore.challenges.exchange.archive import write_archive
from reelscore.challenges.exchange.exports import (
    AccountReader,
    Contents,
    export_challenge,
    note_download,
)
from reelscore.challenges.exchange.imports import import_challenge, read_export
from reelscore.challenges.exchange.verification import verify_export, verify_logs
from reelscore.challenges.people.teams import add_team, find_team
from reelscore.challenges.store.tables import building_challenges
from reelscore.challenges.submissions import Upload, keep
from reelscore.challenges.uploads.archives import is_passed_over
from reelscore.challenges.uploads.uploads import Readers
from reelscore.challenges.views import View
from reelscore.cli.messages import printable
from reelscore.errors import DataError, RefusedError, check_choice
from reelscore.store.values import microseconds, to_iso

_PARTS = ("references", "addresses", "accounts")
_SHOWN = 10  # differences


@click.command("export")
@database_argument
@challenge_option
@click.option(
    "--output",
    "-o",
    required=True,
    metavar="FILE",
    help="The .zip file to make, with everything; or a folder, for a static site.",
)
@click.option(
    "--with",
    "parts",
    default="",
    metavar="LIST",
    help="What else is in the file: references, blind ones too; addresses to contact members; "
    "accounts of participants, with hashes of passwords and tokens.",
)
def export_command(database: str, challenge_id: str, output: str, parts: str) -> None:
    """Write everything of a challenge to one file, or what visitors see as a static site.

    The file has tables, uploads, scores, resamples and the log, with a checksum of every part.
    Accounts, contact addresses, references, and campaigns that show references of blind splits,
    only if asked for. To move a challenge that runs to another server, ask for all of them.

    A site needs no server and no network: put the folder on any web space.

    \b
    Examples:
      reelscore challenge export lsmdc.db -o lsmdc.zip
      reelscore challenge export lsmdc.db -o whole.zip --with references,accounts
      reelscore challenge export lsmdc.db -o lsmdc-2026
    """
    secrets = [name.strip() for name in parts.split(",") if name.strip()]
    for name in secrets:
        check_choice("part of an export", name, _PARTS)
    accounts = _account_reader(database) if "accounts" in secrets else None
    with open_challenge(database, challenge_id) as challenge:
        if not output.endswith(".zip"):
            if secrets:
                raise DataError("--with adds to a .zip file; a site has what visitors see.")
            view = View(challenge)
            files = write_archive(view, output, _names(view))
            say_line(f"Wrote {len(files)} files; open {output}/index.html.")
            return
        contents = Contents("references" in secrets, "addresses" in secrets, accounts=accounts)
        made = export_challenge(challenge, output, contents)
        if secrets:
            reason = f"with {' and '.join(secrets)}"
            note_download(challenge, "export", actor=ACTOR, reason=reason)
    count = made.rows["challenge_submission"]
    say_line(f"Wrote {count} submissions and {made.blobs} files to {output}.")
    if "references" not in secrets:
        say_line(
            "References are not in it; to compute scores again, export with --with references."
        )


def _account_reader(database: str) -> AccountReader:
    from reelscore.web.server import need_web

    need_web()
    from reelscore.web.store.accounts import read_accounts
    from reelscore.web.store.schema import open_database

    open_database(database).close()  # makes the tables of the pages where there are none
    return read_accounts


@click.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.argument("database", metavar="DATABASE")
@click.option("--team", metavar="NAME", help="Whose submissions they are; made if there is none.")
@click.option("--phase", metavar="ID", help="The phase of the submissions.")
@challenge_option
def import_command(
    files: tuple[str, ...], database: str, team: str | None, phase: str | None, challenge_id: str
) -> None:
    """Make a challenge of an export; with --team, import submissions made elsewhere.

    The challenge has the same ids, scores, signatures and log, and where the export has them, the
    accounts of participants. DATABASE is made where there is none.

    Submissions are downloads of CodaLab or another platform, or caption files as they are. Each
    keeps its old time: that of its newest caption file, or of the file itself. They are not
    charged.

    \b
    Examples:
      reelscore challenge import lsmdc.zip postgresql://host@db/challenges
      reelscore challenge import old/*.zip lsmdc.db --team Ours --phase public-test
    """
    if team is not None and phase is not None:
        _import_submissions(list(map(Path, files)), database, challenge_id, phase, team)
        return
    if team is not None or phase is not None:
        raise click.UsageError("Submissions need --team and --phase.")
    if len(files) > 1:
        raise click.UsageError("Several files are submissions; give --team and --phase.")
    [file] = files
    manifest, _ = read_export(file)
    if manifest.get("accounts"):
        from reelscore.web.server import need_web

        need_web()
        from reelscore.web.store.accounts import restore_accounts
        from reelscore.web.store.schema import building_database

        with building_database(database) as opened:
            made = import_challenge(opened, file, accounts=restore_accounts)
    else:
        with building_challenges(database) as opened:
            made = import_challenge(opened, file)
    say_line(f"Challenge {made.challenge!r} is in {database}.")
    if made.accounts:
        say_line("Participants log in with their names and passwords of before.")
    if not made.references:
        say_line("The export has no references, so nothing can be scored here. To add them, run")
        say_line(f"'reelscore challenge new DEFINITION {database}' with the references beside it.")


def _names(view: View) -> dict[int, str]:
    """Return the names of members of teams that agree to be named; accounts are the server's."""
    from sqlalchemy import inspect

    members = named_members(view)
    with view.challenge.reading() as connection:
        if not members or not inspect(connection).has_table("web_account"):
            return {}
    from reelscore.web.store.accounts import account_names

    return account_names(view.challenge.database, members)


def check_export(file: str, threads: int | None) -> None:
    """Compute every score of an export again, and compare bit by bit."""
    result = verify_export(file, threads=threads)
    for difference in result.differences[:_SHOWN]:
        click.echo(printable(difference))
    if result.differences:
        raise DataError(f"{file}: {len(result.differences)} numbers differ.")
    head = f", head {result.chain[:12]}" if result.chain else ""
    say_line(
        f"{result.challenge}: {result.scores} scores of {result.submissions} submissions and "
        f"{result.arrays} arrays are equal bit by bit; the log's chain is right{head}."
    )


def check_logs(database: str) -> None:
    """Check the chains of all logs of a database."""
    with Challenges.opened(database) as challenges:
        logs = verify_logs(challenges.database)
    for log in logs:
        count = f"{log.events} event{'' if log.events == 1 else 's'}"
        head = f"; the chain is right, head {log.chain[:12]}" if log.chain else ""
        say_line(f"{log.challenge or 'server'}: {count}{head}.")
    say_line("To compute scores again, check an export that has --with references.")


def _import_submissions(
    files: Sequence[Path], database: str, challenge_id: str, phase: str, team: str
) -> None:
    """Keep submissions that were made elsewhere, each with its old time."""
    contents = [(file, read_file(file)) for file in files]
    with open_challenge(database, challenge_id) as challenge, Readers(1) as readers:
        with challenge.reading() as connection:
            own_phase = challenge.phase(connection, phase)
            expected = challenge.expected_upload(connection, own_phase)
        own = find_team(challenge, team) or add_team(challenge, team, actor=ACTOR)
        for file, content in contents:
            upload, arrived = Upload(file.name, content), _made(file, content)
            accepted = submissions.read_file(challenge, readers, own_phase, own, upload, expected)
            place = (challenge, phase, own, upload, accepted)
            try:
                receipt = keep(*place, arrived=arrived, actor=ACTOR, imported=True)
            except RefusedError as error:
                if error.reason != "same":
                    raise
                say_line(f"{file.name}: {error}")
                continue
            say_line(f"{file.name}: submission {receipt.number} of {to_iso(arrived)}.")


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
