"""What commands print and write: tables with their notes, files, progress."""

from __future__ import annotations

import functools
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from reelscore._progress import ProgressBar, ProgressLines
from reelscore.cli.file_options import exists
from reelscore.data.tables.table import ScoreTable
from reelscore.errors import DataError
from reelscore.report.tables.grid import Grid
from reelscore.report.tables.leaderboard import table_signatures

if TYPE_CHECKING:
    from reelscore.engines.engine import Engine

STDOUT = "-"


def show(table: ScoreTable, grid: Grid) -> None:
    """Print a table with its notes and signatures."""
    show_grid(grid)
    show_origin(table)


def show_grid(grid: Grid) -> None:
    """Print a grid, and an empty line below it."""
    click.echo(grid.to_text(terminal_width(), bold=sys.stdout.isatty()) + "\n")


def show_origin(table: ScoreTable) -> None:
    """Print how the numbers of a table were made: its notes and signatures."""
    show_notes(table.notes)
    for signature in table_signatures(table):
        show_signature(signature)


def show_notes(notes: Sequence[str], *, err: bool = False) -> None:
    """Print what there is to say about a table; warnings in red."""
    for note in notes:
        click.echo(click.style(laid_out(note), fg="red" if "Warning:" in note else None), err=err)


def show_signature(signature: str) -> None:
    """Print a signature, broken between its parts."""
    for line in wrapped(signature, terminal_width()):
        click.echo(click.style(line, dim=True))


def check_targets(*paths: str | None) -> None:
    """Refuse outputs that cannot be written, or would overwrite another file, before any work."""
    if paths.count(STDOUT) > 1:
        raise DataError("Two outputs go to standard output (-); write all but one to files.")
    for path in paths:
        if path and path != STDOUT:
            from reelscore.data.atomic_files import check_target

            check_target(path)
            _check_named_once(path)


_FILES = ("FILE", "TABLE", "PATH", "OUT")  # what options of files take


def _check_named_once(path: str) -> None:
    """Refuse an output that the command names as another file, too: one would be overwritten."""
    context = click.get_current_context(silent=True)
    target = Path(path).resolve()
    if context is None or (exists(path) and not target.is_file()):  # as /dev/null is
        return
    if sum(Path(file).resolve() == target for file in _files_named(context)) > 1:
        raise DataError(f"{path} is named twice, and would be overwritten; name another output.")


def _files_named(context: click.Context) -> Iterator[str]:
    """Yield what is given for arguments and options that are files; of NAME=FILE the file."""
    for param in context.command.params:
        value = context.params.get(param.name or "")
        takes = param.metavar or ""
        if isinstance(param, click.Argument) or any(kind in takes for kind in _FILES):
            for text in value if isinstance(value, tuple) else [value]:
                if isinstance(text, (str, PathLike)):
                    text = fspath(text)
                    yield text if exists(text) else text.partition("=")[2] or text


def write(path: str, text: str, *, private: bool = False) -> None:
    """Write a result to a file, all or nothing, or to standard output for ``-``."""
    if path == STDOUT:
        click.echo(text, nl=not text.endswith("\n"))
    else:
        from reelscore.data.atomic_files import write_atomically

        write_atomically(path, text if text.endswith("\n") else text + "\n", private=private)


def write_json(path: str, content: object, *, private: bool = False) -> None:
    """Write plain data as JSON, as `write` does."""
    write(path, msgspec.json.encode(content).decode(), private=private)


def laid_out(text: str) -> str:
    """Return a message in lines as wide as the terminal; addresses stay in one piece."""
    lines = (
        textwrap.fill(
            line,
            terminal_width(),
            subsequent_indent="  ",
            break_on_hyphens=False,
            break_long_words=False,
        )
        for line in text.splitlines()
    )
    return "\n".join(lines)


def terminal_width() -> int:
    """Return the width to lay out for: the terminal's, 80 where there is none."""
    if not sys.stdout.isatty():
        return 80
    from shutil import get_terminal_size

    return max(40, get_terminal_size((80, 24)).columns)


@contextmanager
def progress_bar(
    what: str, *, wanted: bool = True, engine: Engine | None = None
) -> Iterator[Callable[[int, int], None] | None]:
    """Show how far long work is, on stderr: a bar, or in a pipe a line every ten seconds."""

    def retries() -> str:
        return f"{engine.retries:,} retries" if engine is not None and engine.retries else ""

    if not sys.stderr.isatty():
        yield ProgressLines(what, functools.partial(click.echo, err=True), more=retries)
        return
    if not wanted:
        yield None
        return
    bar = ProgressBar(what, functools.partial(click.echo, err=True, nl=False), more=retries)
    try:
        yield bar
    finally:
        bar.clear()


def show_line(text: str, *, err: bool = True) -> None:
    """Print a line while a progress bar is shown: in place of the bar, which comes again below."""
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", err=True, nl=False)
    click.echo(text, err=err)


def wrapped(signature: str, width: int) -> list[str]:
    """Break a signature between its parts, so that it can be read and copied."""
    lines = [""]
    for part in signature.replace("|", "|\0").split("\0"):
        if len(lines[-1]) + len(part) > width and lines[-1]:
            lines.append("  ")
        lines[-1] += part
    return lines


@contextmanager
def resumable(folder: str | None) -> Iterator[None]:
    """Print at Ctrl-C that what a folder has so far is kept, if there is any."""
    try:
        yield
    except KeyboardInterrupt:
        if folder is None or not exists(folder):
            raise
        click.echo(
            f"Interrupted; {folder} keeps what is finished. Give the command again to go on.",
            err=True,
        )
        sys.exit(130)


def show_engine(engine: Engine | None) -> None:
    """Print on stderr what the work took, where it was done elsewhere."""
    if engine is not None and (summary := engine.summary()):
        click.echo(summary, err=True)
