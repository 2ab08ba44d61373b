"""``reelscore challenge export``."""

from __future__ import annotations

import click

from reelscore.challenge.challenges import find_challenge
from reelscore.challenge.exports import export_challenge, note_download
from reelscore.cli.challenge.options import challenge_option, database_argument, open_arena, say


@click.command("export")
@database_argument
@challenge_option
@click.option("-o", "--output", required=True, metavar="FILE", help="The .zip file to make.")
@click.option("--with-references", is_flag=True, help="Include references, blind ones too.")
@click.option("--with-addresses", is_flag=True, help="Include contact addresses of members.")
def command(
    database: str, challenge_id: str, output: str, with_references: bool, with_addresses: bool
) -> None:
    """Write everything of a challenge to one file.

    Tables, uploads, scores, resamples and the log, with a checksum of every part; no accounts,
    passwords or tokens. Contact addresses, references, and campaigns that show references of
    blind splits, only if asked for.

    \b
    Examples:
      reelscore challenge export lsmdc.db -o lsmdc.zip
      reelscore challenge export lsmdc.db -o whole.zip --with-references
    """
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
        )
        secrets = [
            name
            for name, is_in in (("references", with_references), ("addresses", with_addresses))
            if is_in
        ]
        if secrets:
            reason = f"with {' and '.join(secrets)}"
            note_download(arena, known, "export", actor="command line", reason=reason)
    say(
        f"Wrote {made.rows['challenge_submission']} submissions and {made.blobs} files to {output}."
    )
    if not with_references:
        say("References are not in it; to compute scores again, export with --with-references.")
