"""Options and habits that the commands which make captions share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from reelscore.captioners.run_record import check_candidates_target, record_path
from reelscore.cli.messages import printable
from reelscore.cli.options import file_option
from reelscore.cli.terminal import (
    STDOUT,
    check_targets,
    show_notes,
    show_signature,
    terminal_width,
    write_json,
)
from reelscore.data.checks import counted
from reelscore.errors import DataError

output_option = click.option(
    "--output", "-o", required=True, metavar="OUT.json", help="Write the captions here."
)
record_option = file_option("--json", "Write the record as JSON; - for standard output.")


def check_output(output: str, json_file: str | None = None) -> None:
    """Refuse, before any work, outputs that cannot be written."""
    if output == STDOUT:
        raise DataError("The captions need a file, since a record is written beside it.")
    check_candidates_target(output)
    check_targets(json_file)


def show_written(
    output: str,
    count: int,
    record: Mapping[str, Any],
    lines: Sequence[str] = (),
    json_file: str | None = None,
) -> None:
    """Print that captions were written; arguments as of `finish`, and how many they are."""
    if json_file:
        write_json(json_file, record)
    if json_file == STDOUT:
        return
    show_notes([printable(line) for line in lines])
    wrote = f"Wrote {counted(count, 'caption')} to {output}, the record to"
    record_name = f"{record_path(output)}."
    fits = len(wrote) + len(record_name) < terminal_width()
    click.echo(f"{wrote} {record_name}" if fits else f"{wrote}\n  {record_name}")
    show_signature(str(record["signature"]))
