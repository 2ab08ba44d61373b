"""Options that take several files: ``-r a.txt b.txt``, as the shell expands ``-r refs/*.txt``.

The rule is the same for every command: such an option takes all files up to the next option, so
that no reference is scored as if it were a system. Files before it are the command's arguments.
"""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from reelscore.cli.options import Command, Decorator, Option
from reelscore.data.file_names import folder_of
from reelscore.errors import DataError

if TYPE_CHECKING:
    from click.parser import _OptionParser


class FilesOption(Option):
    """An option that takes several files at once, and may be repeated.

    Args:
        names: Its spellings.
        named: The files are of systems, and may be given as NAME=FILE.
        fields: As of `Option`.
    """

    def __init__(self, names: Sequence[str], named: bool = False, **fields: Any) -> None:
        super().__init__(names, **{"multiple": True, "metavar": "FILE...", **fields})
        self.named = named

    def add_to_parser(self, parser: _OptionParser, ctx: click.Context) -> None:
        """Take part in parsing; only `FilesCommand` knows how."""
        assert isinstance(ctx.command, FilesCommand)
        super().add_to_parser(parser, ctx)


class FilesCommand(Command):
    """A command with options that take several files."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give each file of a run its own option; refuse a run that seems to hold arguments."""
        options = {
            name: param
            for param in self.params
            if isinstance(param, FilesOption)
            for name in param.opts
        }
        runs = _runs(args, list(options))
        spread = list(args)
        for run in reversed(runs):
            # By its long name: click takes -r for a misspelled long one first, and looks for others
            # like it.
            name = max(options[run.name].opts, key=len)
            spread[run.begin : run.end] = [part for f in run.files for part in (name, f)]
        long = [run for run in runs if len(run.files) > 1]
        try:
            rest = super().parse_args(ctx, spread)
        except click.MissingParameter as error:
            if long and isinstance(error.param, click.Argument):
                raise _nothing_left(ctx, args, long[-1], error.param) from error
            raise
        arguments = [param for param in self.params if isinstance(param, click.Argument)]
        given = [
            value for argument in arguments for value in _texts(ctx.params[argument.name or ""])
        ]
        for run in long:
            if not options[run.name].named:
                _refuse_systems(ctx, args, run, given)
        return rest


def exists(name: str) -> bool:
    """Return whether there is a file of a name, which may be too long for a file."""
    return os.path.exists(name)  # noqa: PTH110 (pathlib raises an error)


def refs_option(help: str = "References", **fields: object) -> Decorator:
    """Return the option ``--refs``, which takes one file or several."""
    return click.option(
        "--refs",
        "-r",
        cls=FilesOption,
        help=f"{help}: one file or several, up to the next option.",
        **fields,
    )


class _Run(msgspec.Struct, frozen=True):
    """An option and the files after it."""

    name: str
    files: list[str]
    begin: int
    end: int


def _runs(args: Sequence[str], names: Sequence[str]) -> list[_Run]:
    r"""Find the options with their files; after ``--`` there are no options.

    >>> words = ["s.txt", "-r", "a", "b", "-m", "x", "--refs=c"]
    >>> [run.files for run in _runs(words, ["-r", "--refs"])]
    [['a', 'b'], ['c']]
    """
    runs = []
    place = 0
    while place < len(args) and args[place] != "--":
        begin, word = place, args[place]
        place += 1
        name, files = _option(word, names)
        if not name:
            continue
        while place < len(args) and (not files or not _is_option(args[place])):
            files.append(args[place])
            place += 1
        if files:
            runs.append(_Run(name, files, begin, place))
    return runs


def _option(word: str, names: Sequence[str]) -> tuple[str, list[str]]:
    """The option that a word is, with the file in the same word: --refs=FILE, -rFILE."""
    for name in names:
        if word == name:
            return name, []
        attached = f"{name}=" if name.startswith("--") else name
        if word.startswith(attached):
            return name, [word.removeprefix(attached)]
    return "", []


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-"


def _texts(value: object) -> list[str]:
    values = value if isinstance(value, tuple) else [value]
    return [text for text in values if isinstance(text, str)]


def _nothing_left(
    ctx: click.Context, args: Sequence[str], run: _Run, argument: click.Argument
) -> DataError:
    what = argument.make_metavar(ctx).strip("[].")
    first, *others = run.files
    *most, last = run.files
    commands = [_command(ctx, args, run, [last], most)]
    if len(run.files) > 2:
        commands.append(_command(ctx, args, run, others, [first]))
    return DataError(
        f"{run.name} takes all files up to the next option ({', '.join(run.files)}), so there is "
        f"no {what} left. Put {what} first:\n  " + "\nor\n  ".join(commands)
    )


def _refuse_systems(
    ctx: click.Context, args: Sequence[str], run: _Run, given: Sequence[str]
) -> None:
    """Refuse files that stand beside the arguments, and not beside the first of their run."""
    folders = {_folder(value) for value in given}
    own = _folder(run.files[0])
    strange = [
        value
        for value in run.files[1:]
        if ("=" in value and not exists(value))
        or (_folder(value) in folders and _folder(value) != own)
    ]
    if not strange:
        return
    kept = [value for value in run.files if value not in strange]
    commands = [_command(ctx, args, run, strange, kept)]
    if all(map(exists, strange)):
        commands.append(_command(ctx, args, run, [], run.files, apart=True))
    raise DataError(
        f"{run.name} takes all files up to the next option, but {', '.join(strange)} "
        f"{'seems' if len(strange) == 1 else 'seem'} to belong to the arguments before {run.name}. "
        f"Write\n  " + f"\nor, if it belongs to {run.name},\n  ".join(commands)
    )


def _folder(value: str) -> str:
    _, equals, path = value.partition("=")
    return folder_of(path if equals and not exists(value) else value)


def _command(
    ctx: click.Context,
    args: Sequence[str],
    run: _Run,
    arguments: Sequence[str],
    files: Sequence[str],
    *,
    apart: bool = False,
) -> str:
    """Spell the command with some files of a run as arguments, ready to be copied."""
    import shlex

    option = [part for f in files for part in (run.name, f)] if apart else [run.name, *files]
    before = args[: run.begin]
    leading = next((k for k, word in enumerate(before) if _is_option(word)), len(before))
    words = [*before[:leading], *arguments, *before[leading:], *option, *args[run.end :]]
    return shlex.join([*ctx.command_path.split(), *words])
