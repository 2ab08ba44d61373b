"""``reelscore caption run``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from reelscore.captioners import CaptionSettings, run
from reelscore.captioners.adapters.caption_run import journal_of
from reelscore.captioners.commands.caption_options import (
    check_output,
    output_option,
    record_option,
    show_written,
)
from reelscore.cli.options import choice_option, number_option, seed_option
from reelscore.cli.terminal import progress_bar, show_line
from reelscore.data.checks import counted


@click.command("run")
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
    default="plain",
    show_default=True,
    metavar="NAME|FILE",
    help="plain, audio-description, or a text file; {duration} and {previous} are filled.",
)
@number_option("--frames", default=8, least=1, help="Frames of each clip.")
@number_option("--side", default=512, least=0, help="Longer side of a frame; 0 for that it has.")
@number_option("--quality", default=90, least=1, most=100, help="Quality of the JPEG files.")
@choice_option(
    "--as", choices=["images", "video"], default="images", help="What is sent of a clip."
)
@number_option("--max-tokens", default=64, least=1, help="Tokens that an answer may have.")
@seed_option
@number_option("--parallel", default=8, least=1, help="Requests, or programs, at a time.")
@number_option("--batch", default=1, least=1, help="Clips at a time, for hf:FOLDER.")
@click.option(
    "--device",
    type=click.Choice(["cuda", "cpu"]),
    help="Where hf:FOLDER runs; a GPU if there is one.",
)
@number_option("--timeout", default=120.0, above=0, help="Seconds that an answer may take.")
@number_option("--tries", default=6, least=1, help="How often a request is sent that fails.")
@click.option(
    "--prices",
    nargs=2,
    type=click.FloatRange(min=0),
    default=(0.0, 0.0),
    metavar="IN OUT",
    help="What a million tokens of questions and of answers cost; the record has the cost.",
)
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    metavar="AMOUNT",
    help="Ask no more when the answers in the journal have cost so much; needs --prices.",
)
@click.option("--key-file", metavar="FILE", help="The server's key, else REELSCORE_API_KEY.")
@click.option("--server", is_flag=True, help="The command reads and writes lines of JSON.")
@choice_option(
    "--empty",
    choices=["error", "keep"],
    default="error",
    help="What to do with empty and refused answers.",
)
@click.option("--partial", is_flag=True, help="Write the captions that are there.")
@click.option("--restart", is_flag=True, help="Ask again for captions that the journal has.")
@number_option(
    "--grace", default=10.0, least=0, most=3600, help="Seconds for what is in flight at Ctrl-C."
)
@record_option
def command(
    model: str,
    videos: str,
    output: str,
    json_file: str | None,
    device: str | None,
    prompt: str,
    frames: int,
    side: int,
    quality: int,
    max_tokens: int,
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
      reelscore caption run --videos clips -o out.json --model hf:models/llava
      reelscore caption run --videos clips -o out.json \\
          --model "command:describe {frames} {video}"
    """
    check_output(output, json_file)
    settings = CaptionSettings(prompt, frames, side, quality, options.pop("as"), max_tokens, seed)
    try:
        with progress_bar("Describing") as progress:
            made = run(
                model,
                videos,
                output,
                settings,
                device=device or "",
                progress=progress,
                on_interrupt=lambda: show_line("Waiting for what is in flight…"),
                **options,
            )
    except KeyboardInterrupt:
        click.echo(_interrupted(output), err=True)
        sys.exit(130)
    lines = [*made.notes, *_counts(made.record)]
    show_written(output, len(made.captions), made.record, lines, json_file)
    if made.interrupted:
        sys.exit(130)


def _interrupted(output: str) -> str:
    return (
        f"Interrupted; the answers so far are in {journal_of(Path(output))}. Give the command "
        "again to go on."
    )


def _counts(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is unusual about captions."""
    if record["reused"]:
        yield f"In the journal already: {counted(record['reused'], 'caption')}."
    if record["cut_short"]:
        yield f"Cut short by --max-tokens: {counted(record['cut_short'], 'caption')}."
    if "cost" in record:
        yield f"All answers in the journal cost {record['cost']:,.4f}."
    if record["retried"]:
        yield f"Sent again: {counted(record['retried'], 'request')}."
