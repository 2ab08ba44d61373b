"""``reelscore challenge export``."""

from __future__ import annotations

import click

from reelscore.challenge.challenges import find_challenge
from reelscore.challenge.exports import export_challenge
from reelscore.challenge.store.events import log
from reelscore.cli.challenge.options import challenge_option, database_argument, open_arena, say


@click.command("export")
@database_argument
@challenge_option
@click.option("-o", "--output", required=True, metavar="FILE", help="The .zip file to make.")
@click.option("--with-references", is_flag=True, help="Include references, blind ones too.")
def command(database: str, challenge_id: str, output: str, with_references: bool) -> None:
    """Write everything of a challenge to one file.

    Tables, uploads, scores, resamples and the log, with a checksum of every part; no accounts,
    passwords, tokens or addresses. References, and campaigns that show references of blind
    splits, only if asked for.

    \b
    Examples:
      reelscore challenge export lsmdc.db -o lsmdc.zip
      reelscore challenge export lsmdc.db -o whole.zip --with-references
    """
    with open_arena(database) as arena:
        known = find_challenge(arena, challenge_id)
        now = arena.now()
        made = export_challenge(
            arena.database, known.id, output, now=now, references=with_references
        )
        if with_references:
            with arena.database.writing() as connection:
                reason = "with references"
                log(connection, now, known.key, "export", known.id, actor="command line",
                    reason=reason)  # fmt: skip
    say(
        f"Wrote {made.rows['challenge_submission']} submissions and {made.blobs} files to {output}."
    )
    if not with_references:
        say("References are not in it; to compute scores again, export with --with-references.")
