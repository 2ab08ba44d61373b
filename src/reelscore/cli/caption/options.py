"""Options and habits that the commands which make captions share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from reelscore.captioners.run_record import check_candidates_target, record_path, write_candidates
from reelscore.cli.file_options import FilesOption
from reelscore.cli.messages import printable
from reelscore.cli.option_kinds import choice_option, file_option
from reelscore.cli.options import (
    STDOUT,
    check_targets,
    show_notes,
    show_signature,
    terminal_width,
    write_json,
)
from reelscore.cli.reading_options import read_texts
from reelscore.data.reading import Reading
from reelscore.errors import DataError

captions_option = click.option(
    "--captions",
    cls=FilesOption,
    required=True,
    help="Training captions: one file or several, up to the next option.",
)
output_option = click.option(
    "--output", "-o", required=True, metavar="OUT.json", help="Write the captions here."
)
record_option = file_option("--json", "Write the record as JSON; - for standard output.")
pool_option = choice_option(
    "--pool", choices=["mean", "max"], default="mean", help="How frames become one vector."
)
missing_option = choice_option(
    "--missing",
    choices=["error", "skip"],
    default="error",
    help="What to do with items that have captions or features, but not both.",
)
device_option = click.option(
    "--device",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    show_default=True,
    help="Where to compute.",
)


def check_output(output: str, json_file: str | None = None) -> None:
    """Refuse, before any work, outputs that cannot be written."""
    if output == STDOUT:
        raise DataError("The captions need a file, since a record is written beside it.")
    check_candidates_target(output)
    check_targets(json_file)


def read_captions_of(paths: Sequence[str], reading: Reading) -> dict[str, list[str]]:
    """Read the captions of each item, and say how files were read."""
    captions, notes = read_texts(paths, reading)
    show_notes(notes, err=True)
    return captions


def finish(
    output: str,
    candidates: Mapping[str, str],
    record: Mapping[str, Any],
    lines: Sequence[str] = (),
    json_file: str | None = None,
) -> None:
    """Write captions and record, and say so.

    Args:
        output: The captions file.
        candidates: The captions.
        record: How they were made.
        lines: What to print about them.
        json_file: Where else the record goes.
    """
    write_candidates(output, candidates, record)
    show_written(output, len(candidates), record, lines, json_file)


def show_written(
    output: str,
    count: int,
    record: Mapping[str, Any],
    lines: Sequence[str] = (),
    json_file: str | None = None,
) -> None:
    """Say that captions were written; arguments as of `finish`, and how many they are."""
    if json_file:
        write_json(json_file, record)
    if json_file == STDOUT:
        return
    show_notes([printable(line) for line in lines])
    click.echo(f"Wrote {count:,} captions to {output}, the record to", nl=False)
    width = terminal_width() - len(f"Wrote {count:,} captions to {output}, the record to")
    name = str(record_path(output))
    click.echo(("\n  " if len(name) + 2 > width else " ") + f"{name}.")
    show_signature(str(record["signature"]))
