"""``reelscore challenge verify``."""

from __future__ import annotations

import click

from reelscore.challenges.commands.options import open_arena, say
from reelscore.challenges.exchange.verification import is_database, verify_export, verify_logs
from reelscore.cli.messages import printable
from reelscore.errors import DataError

_SHOWN = 10


@click.command("verify")
@click.argument("file", metavar="FILE")
@click.option("--threads", type=click.IntRange(min=1), help="Threads to use; all cores.")
def command(file: str, threads: int | None) -> None:
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
    say(
        f"{result.challenge}: {result.scores} scores of {result.submissions} submissions and "
        f"{result.arrays} arrays are equal bit by bit; the log's chain is right"
        + (f", head {result.chain[:12]}." if result.chain else ".")
    )


def _check_logs(database: str) -> None:
    with open_arena(database) as arena:
        logs = verify_logs(arena.database)
    for log in logs:
        count = f"{log.events} event{'' if log.events == 1 else 's'}"
        head = f"; the chain is right, head {log.chain[:12]}" if log.chain else ""
        say(f"{log.challenge or 'server'}: {count}{head}.")
    say("To compute scores again, verify an export with --with-references.")
