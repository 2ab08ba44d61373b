"""``reelscore caption run``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import click
import msgspec
from msgspec import Meta, structs

from reelscore.captioners import CaptionSettings, run
from reelscore.captioners.adapters.caption_run import journal_of
from reelscore.captioners.commands.caption_options import (
    check_output,
    output_option,
    record_option,
    show_written,
)
from reelscore.cli.options import Command, SettingsOption, choice_option, seed_option, unnamed
from reelscore.cli.terminal import progress_bar, show_line
from reelscore.data.checks import counted


class RunLimits(msgspec.Struct, frozen=True):
    """How much a run asks for, and for how long.

    Attributes:
        parallel: Requests, or programs, at a time.
        batch: Clips at a time, for hf:FOLDER.
        timeout: Seconds that an answer may take.
        tries: How often a request is sent that fails.
        prices: What a million tokens of questions and of answers cost, as 0.5,2; the record has
            the cost.
        budget: Ask no more when the answers in the journal have cost so much; needs prices.
        grace: Seconds for what is in flight at Ctrl-C.
    """

    parallel: Annotated[int, Meta(ge=1)] = 8
    batch: Annotated[int, Meta(ge=1)] = 1
    timeout: Annotated[float, Meta(gt=0)] = 120.0
    tries: Annotated[int, Meta(ge=1)] = 6
    prices: tuple[Annotated[float, Meta(ge=0)], Annotated[float, Meta(ge=0)]] = (0.0, 0.0)
    budget: Annotated[float, Meta(gt=0)] | None = None
    grace: Annotated[float, Meta(ge=0, le=3600)] = 10.0


@click.command("run", cls=Command)
@click.option(
    "--model",
    required=True,
    metavar="SPEC",
    help="openai:NAME@URL, hf:FOLDER, or command:'PROGRAM {frames} {video}'.",
)
@click.option(
    "--videos",
    required=True,
    metavar="DIR|LIST",
    help="A folder of videos named after their items, or a list: a video in each line, or ITEM, a "
    "tab and FILE or FILE#START,END.",
)
@output_option
@click.option(
    "--prompt",
    "settings",
    cls=SettingsOption,
    start=lambda name: CaptionSettings(name or "plain"),
    known=["plain", "audio-description"],
    without=["prompt", "seed"],
    metavar="NAME|FILE|KEY:VALUE",
    help="What is asked of a clip: plain, audio-description, or a text file; {duration} and "
    "{previous} are filled. And what is sent:",
)
@seed_option
@click.option(
    "--device", type=click.Choice(["cuda", "cpu"]), help="Where hf:FOLDER runs; a GPU if any."
)
@click.option(
    "--limits",
    cls=SettingsOption,
    start=unnamed(RunLimits),
    metavar="KEY:VALUE",
    help="How much is asked, and for how long:",
)
@click.option("--key-file", metavar="FILE", help="The server's key, else REELSCORE_API_KEY.")
@click.option("--server", is_flag=True, help="The command reads and writes lines of JSON.")
@choice_option(
    "--empty", choices=["error", "keep"], default="error", help="For empty and refused answers."
)
@click.option("--partial", is_flag=True, help="Write the captions that are there.")
@click.option("--again", "restart", is_flag=True, help="Ask again for what the journal has.")
@record_option
def command(
    output: str,
    json_file: str | None,
    device: str | None,
    settings: CaptionSettings,
    limits: RunLimits,
    seed: int,
    **options: Any,
) -> None:
    """Describe clips with any captioner: a server, a model in a folder, a program.

    Answers go into OUT.journal.jsonl at once: a run that was interrupted or killed goes on from
    there. OUT.json and its record, OUT.run.json, are written when every clip has a caption. A key
    is taken from REELSCORE_API_KEY or --key-file, and is written nowhere.

    \b
    Examples:
      reelscore caption run --videos clips -o out.json \\
          --model openai:some-model@http://127.0.0.1:8000/v1
      reelscore caption run --videos clips -o out.json \\
          --model "command:describe {frames} {video}"
    """
    check_output(output, json_file)
    try:
        with progress_bar("Describing") as progress:
            made = run(
                output=output,
                settings=replace(settings, seed=seed),
                device=device or "",
                progress=progress,
                **structs.asdict(limits),
                on_interrupt=lambda: show_line("Waiting for what is in flight…"),
                **options,
            )
    except KeyboardInterrupt:
        kept = f"Interrupted; the answers so far are in {journal_of(Path(output))}."
        click.echo(f"{kept} Give the command again to go on.", err=True)
        sys.exit(130)
    lines = [*made.notes, *_counts(made.record)]
    show_written(output, len(made.captions), made.record, lines, json_file)
    if made.interrupted:
        sys.exit(130)


def _counts(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is unusual about captions."""
    if record["reused"]:
        yield f"In the journal already: {counted(record['reused'], 'caption')}."
    if record["cut_short"]:
        yield f"Cut short by --prompt max_tokens: {counted(record['cut_short'], 'caption')}."
    if "cost" in record:
        yield f"All answers in the journal cost {record['cost']:,.4f}."
    if record["retried"]:
        yield f"Sent again: {counted(record['retried'], 'request')}."
