"""``reelscore challenge export``."""

from __future__ import annotations

import click

from reelscore.challenges.challenge import find_challenge
from reelscore.challenges.commands.options import (
    challenge_option,
    database_argument,
    open_arena,
    say,
)
from reelscore.challenges.exchange.exports import AccountReader, export_challenge, note_download


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
def command(
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
    with open_arena(database) as arena:
        known = find_challenge(arena, challenge_id)
        now = arena.now()
        made = export_challenge(
            arena.database,
            known.id,
            output,
            now=now,
            references=with_references,
            addresses=with_addresses,
            accounts=accounts,
        )
        asked = {
            "references": with_references,
            "addresses": with_addresses,
            "accounts": with_accounts,
        }
        secrets = [name for name, is_in in asked.items() if is_in]
        if secrets:
            reason = f"with {' and '.join(secrets)}"
            note_download(arena, known, "export", actor="command line", reason=reason)
    say(
        f"Wrote {made.rows['challenge_submission']} submissions and {made.blobs} files to {output}."
    )
    if not with_references:
        say("References are not in it; to compute scores again, export with --with-references.")


def _account_reader(database: str) -> AccountReader:
    from reelscore.web.server import need_web

    need_web()
    from reelscore.web.store.accounts import read_accounts
    from reelscore.web.store.schema import open_database

    open_database(database).close()  # makes the tables of the pages where there are none
    return read_accounts
