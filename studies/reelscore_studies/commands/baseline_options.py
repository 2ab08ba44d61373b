"""Options of the baselines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from reelscore.captioners.commands.caption_options import (
    show_written,
)
from reelscore.captioners.run_record import write_candidates
from reelscore.cli.file_options import FilesOption, read_texts
from reelscore.cli.options import choice_option
from reelscore.cli.terminal import (
    show_notes,
)
from reelscore.data.reading import Reading
from reelscore.data.source import read_lines
from reelscore.errors import DataError
from reelscore_studies.baselines.clip_features import Features, read_features

Command = TypeVar("Command", bound=Callable[..., Any])


_CAST = "reelscore.caption.cast"


someone_option = click.option(
    "--someone",
    metavar="CAST",
    expose_value=False,
    callback=lambda context, _, path: context.meta.update({_CAST: read_lines(path)}),
    help="Replace names in all captions by Someone: those of this file, one a line.",
)


def captions_option(command: Command) -> Command:
    """Add the training captions, and the names that become *Someone* in all captions."""
    captions = click.option(
        "--captions",
        cls=FilesOption,
        required=True,
        help="Training captions: one file or several, up to the next option.",
    )
    return captions(someone_option(command))


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


def read_captions_of(paths: Sequence[str], reading: Reading) -> dict[str, list[str]]:
    """Read the captions of each item, and say how files were read."""
    captions, notes = read_texts(paths, reading)
    show_notes(notes, err=True)
    cast = click.get_current_context().meta.get(_CAST)
    if cast is None:
        return captions
    from reelscore.text.names.name_replacement import without_names

    done = without_names(captions, cast)
    pairs = [pair for item in done for pair in zip(done[item], captions[item], strict=True)]
    changed = sum(new != old for new, old in pairs)
    show_notes([f"Names were replaced in {changed:,} of {len(pairs):,} captions."], err=True)
    return done


def read_label_scores(folder: str, split: str) -> Features:
    """Read the label scores of a set."""
    path = Path(folder) / f"{split}.safetensors"
    if path.is_file():
        return read_features(path)
    if Path(folder, "labels.json").is_file():
        raise DataError(
            f"{folder}: has no scores of {split} items; make the labels with --{split}-features."
        )
    raise DataError(
        f"{path}: no such file; expected the folder that 'reelscore caption labels' writes."
    )


def finish(
    output: str,
    candidates: Mapping[str, str],
    record: Mapping[str, Any],
    lines: Sequence[str] = (),
    json_file: str | None = None,
) -> None:
    """Write captions and record, and say so."""
    write_candidates(output, candidates, record)
    show_written(output, len(candidates), record, lines, json_file)
