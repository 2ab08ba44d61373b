"""``reelscore challenge verify``."""

from __future__ import annotations

import click

from reelscore.challenge.verification import verify_export
from reelscore.cli.challenge.options import say
from reelscore.cli.messages import printable
from reelscore.errors import DataError

_SHOWN = 10


@click.command("verify")
@click.argument("file", metavar="FILE")
@click.option("--threads", type=click.IntRange(min=1), help="Threads to use; all cores.")
def command(file: str, threads: int | None) -> None:
    """Compute every score of an export again, and compare bit by bit.

    FILE is an export with references. Checksums and the chain of the log are checked too.

    \b
    Example:
      reelscore challenge verify whole.zip
    """
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
