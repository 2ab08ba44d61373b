"""``reelscore challenge``: everything of a challenge out to files, in again, and verified."""

from __future__ import annotations

import click

from reelscore.challenges.boards.board_forms import named_members
from reelscore.challenges.challenge import Challenges
from reelscore.challenges.commands.options import (
    ACTOR,
    challenge_option,
    database_argument,
    open_challenge,
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
from reelscore.challenges.exchange.verification import is_database, verify_export, verify_logs
from reelscore.challenges.store.tables import building_challenges
from reelscore.challenges.views import View
from reelscore.cli.messages import printable
from reelscore.errors import DataError

_SHOWN = 10  # differences


@click.command("export")
@database_argument
@challenge_option
@click.option("-o", "--output", required=True, metavar="FILE", help="The .zip file to make.")
@click.option("--with-references", is_flag=True, help="Include references, blind ones too.")
@click.option("--with-addresses", is_flag=True, help="Include contact addresses of members.")
@click.option(
    "--with-accounts",
    is_flag=True,
    help="Include accounts of participants, with hashes of passwords and tokens.",
)
def export_command(
    database: str,
    challenge_id: str,
    output: str,
    with_references: bool,
    with_addresses: bool,
    with_accounts: bool,
) -> None:
    """Write everything of a challenge to one file.

    Tables, uploads, scores, resamples and the log, with a checksum of every part. Accounts,
    contact addresses, references, and campaigns that show references of blind splits, only if
    asked for. To move a challenge that runs to another server, ask for all of them.

    \b
    Examples:
      reelscore challenge export lsmdc.db -o lsmdc.zip
      reelscore challenge export lsmdc.db -o whole.zip --with-references
    """
    accounts = _account_reader(database) if with_accounts else None
    contents = Contents(with_references, with_addresses, accounts=accounts)
    asked = {
        "references": with_references,
        "addresses": with_addresses,
        "accounts": with_accounts,
    }
    secrets = [name for name, is_in in asked.items() if is_in]
    with open_challenge(database, challenge_id) as challenge:
        made = export_challenge(challenge, output, contents)
        if secrets:
            reason = f"with {' and '.join(secrets)}"
            note_download(challenge, "export", actor=ACTOR, reason=reason)
    say_line(
        f"Wrote {made.rows['challenge_submission']} submissions and {made.blobs} files to {output}."
    )
    if not with_references:
        say_line(
            "References are not in it; to compute scores again, export with --with-references."
        )


def _account_reader(database: str) -> AccountReader:
    from reelscore.web.server import need_web

    need_web()
    from reelscore.web.store.accounts import read_accounts
    from reelscore.web.store.schema import open_database

    open_database(database).close()  # makes the tables of the pages where there are none
    return read_accounts


@click.command("import")
@click.argument("file", metavar="FILE")
@click.argument("database", metavar="DATABASE")
def import_command(file: str, database: str) -> None:
    """Make a challenge of an export.

    It has the same ids, scores, signatures and log, and where the export has them, the accounts
    of participants. DATABASE is made where there is none.

    \b
    Example:
      reelscore challenge import lsmdc.zip postgresql://host@db/challenges
    """
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


@click.command("archive")
@database_argument
@challenge_option
@click.option("-o", "--output", required=True, metavar="FOLDER", help="The folder to make.")
def archive_command(database: str, challenge_id: str, output: str) -> None:
    """Write a challenge as a static site, as a visitor sees it.

    The pages need no server and no network: put the folder on any web space.

    \b
    Example:
      reelscore challenge archive lsmdc.db -o lsmdc-2026
    """
    with open_challenge(database, challenge_id) as challenge:
        view = View(challenge)
        files = write_archive(view, output, _names(view))
    say_line(f"Wrote {len(files)} files; open {output}/index.html.")


def _names(view: View) -> dict[int, str]:
    """Return the names of members of teams that agree to be named; accounts are the server's."""
    from sqlalchemy import inspect

    members = named_members(view)
    with view.challenge.reading() as connection:
        if not members or not inspect(connection).has_table("web_account"):
            return {}
    from reelscore.web.store.accounts import account_names

    return account_names(view.challenge.database, members)


@click.command("verify")
@click.argument("file", metavar="FILE")
@click.option("--threads", type=click.IntRange(min=1), help="Threads to use; all cores.")
def verify_command(file: str, threads: int | None) -> None:
    """Compute every score of an export again, and compare bit by bit.

    FILE is an export with references. Checksums and the chain of the log are checked too. Of a
    database, the chains of all logs are checked: of its challenges, and of the server, which has
    tokens and accounts.

    \b
    Examples:
      reelscore challenge verify whole.zip
      reelscore challenge verify lsmdc.db
    """
    if is_database(file):
        _check_logs(file)
        return
    result = verify_export(file, threads=threads)
    for difference in result.differences[:_SHOWN]:
        click.echo(printable(difference))
    if result.differences:
        raise DataError(f"{file}: {len(result.differences)} numbers differ.")
    say_line(
        f"{result.challenge}: {result.scores} scores of {result.submissions} submissions and "
        f"{result.arrays} arrays are equal bit by bit; the log's chain is right"
        + (f", head {result.chain[:12]}." if result.chain else ".")
    )


def _check_logs(database: str) -> None:
    with Challenges.opened(database) as challenges:
        logs = verify_logs(challenges.database)
    for log in logs:
        count = f"{log.events} event{'' if log.events == 1 else 's'}"
        head = f"; the chain is right, head {log.chain[:12]}" if log.chain else ""
        say_line(f"{log.challenge or 'server'}: {count}{head}.")
    say_line("To compute scores again, verify an export with --with-references.")
