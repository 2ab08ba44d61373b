"""Files of captions on the command line: options that take several, and how they are read.

``-r a.txt b.txt`` takes all files up to the next option, as the shell expands ``-r refs/*.txt``, so
that no reference is scored as if it were a system. Files before it are the command's arguments.
"""

from __future__ import annotations

import os.path
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec.structs import replace

from reelscore.cli.messages import as_options
from reelscore.cli.options import Command, Decorator, SettingsOption, gathered
from reelscore.data.captions.caption_files import holds_both, references_of_files
from reelscore.data.captions.inputs import (
    Inputs,
    name_their_systems,
    read_inputs,
    reading_notes,
    system_name,
)
from reelscore.data.file_names import expanded, folder_of
from reelscore.data.formats import FORMATS
from reelscore.data.reading import Reading
from reelscore.data.source import STANDARD_INPUT
from reelscore.errors import DataError


class FilesOption(click.Option):
    """An option of a `FilesCommand`: it takes several files at once, and may be repeated."""

    def __init__(self, names: Sequence[str], named: bool = False, **fields: Any) -> None:
        super().__init__(names, **{"multiple": True, "metavar": "FILE...", **fields})
        self.named = named


class FilesCommand(Command):
    """A command with options that take several files."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat an option before each of its files; refuse a run that seems to hold arguments."""
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


def name_and_path(argument: str) -> tuple[str, str]:
    """Divide NAME=FILE; the name is empty where there is a file alone."""
    name, equals, path = argument.partition("=")
    if not equals or exists(argument):
        return "", argument
    if not name:
        raise DataError(f"{argument!r} does not name a system; expected FILE or NAME=FILE.")
    return name, path


def refs_option(help: str = "References", **fields: object) -> Decorator:
    """Return the option ``--refs``, which takes one file or several."""
    return click.option(
        "--refs",
        "-r",
        cls=FilesOption,
        help=f"{help}: one file or several, up to the next option.",
        **fields,
    )


class _FilesRun(msgspec.Struct, frozen=True):
    """An option and the files after it."""

    name: str
    files: list[str]
    begin: int
    end: int


def _runs(args: Sequence[str], names: Sequence[str]) -> list[_FilesRun]:
    r"""Find the options with their files; after ``--`` there are no options."""
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
            runs.append(_FilesRun(name, files, begin, place))
    return runs


def _option(word: str, names: Sequence[str]) -> tuple[str, list[str]]:
    """Return the option that a word is, with the file in the same word: --refs=FILE, -rFILE."""
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
    ctx: click.Context, args: Sequence[str], run: _FilesRun, argument: click.Argument
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
    ctx: click.Context, args: Sequence[str], run: _FilesRun, given: Sequence[str]
) -> None:
    """Refuse files that stand beside the arguments, and not beside the first of their run."""
    folders = {_folder(value) for value in given}
    own = _folder(run.files[0])
    strange = [
        value
        for value in run.files[1:]
        if name_and_path(value)[0] or (_folder(value) in folders and _folder(value) != own)
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
    return folder_of(name_and_path(value)[1])


def _command(
    ctx: click.Context,
    args: Sequence[str],
    run: _FilesRun,
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


# How captions are read

_split_option = click.option(
    "--split",
    metavar="NAME",
    help="Part of the data set, such as test, if files name parts.",
)


def reading_options(format_name: str = "--format") -> Decorator:
    """Return a decorator that adds the options of reading captions, as one `Reading`."""
    format_option = click.option(
        format_name,
        "format",
        cls=SettingsOption,
        start=lambda name: Reading(name or None),
        known=list(FORMATS),
        without=["format", "split"],
        help="Format of the files, if it cannot be recognised from the content: "
        f"{', '.join(FORMATS)}. And where things are in them:",
    )
    return gathered("reading", _reading, {"format": format_option, "split": _split_option})


def _reading(format: Reading, split: str | None) -> Reading:
    return replace(format, split=split)


def system_files(arguments: Sequence[str]) -> dict[str, str]:
    """Name the systems' files; each argument is a file, a folder, a pattern, or NAME=FILE.

    With a name, the files of a folder or a pattern are one system.
    """
    files: dict[str, str] = {}
    for argument in arguments:
        name, path = name_and_path(argument)
        for file in [path] if name else map(str, expanded([path])):
            system = name or ("stdin" if file == STANDARD_INPUT else system_name(file))
            if system in files:
                raise DataError(f"Two systems are called {system!r}; name them: NAME=FILE.")
            files[system] = file
    # Records of how captions were made are no captions: *.json names ours.run.json too.
    records = set(map(_record_of, files.values()))
    return {system: file for system, file in files.items() if file not in records}


def candidate_files(
    arguments: Sequence[str], refs: Sequence[str], reading: Reading
) -> dict[str, str] | list[str]:
    """Name the systems' files, as `system_files`; or list them, if their records name systems."""
    if not any(name_and_path(argument)[0] for argument in arguments):
        truth = expanded(refs)
        files = [str(path) for path in expanded(arguments)]
        files = [path for path in files if not any(_is_same(path, str(own)) for own in truth)]
        if files and name_their_systems(files, reading):
            return files
    return system_files(arguments)


def read_captions(
    arguments: Sequence[str], refs: Sequence[str] = (), reading: Reading | None = None
) -> Inputs:
    """Read the systems' captions and the references; arguments as in `system_files`."""
    reading = reading or Reading()
    files = candidate_files(arguments, refs, reading)
    notes: list[str] = []
    bounds: list[str] = []
    if isinstance(files, dict):
        files, notes = _without_references(files, refs, reading)
        bounds = oracles(files)
        notes += oracle_notes(bounds)
    inputs = read_inputs(files, list(refs) or None, reading=reading)
    return replace(inputs, notes=[*notes, *map(as_options, inputs.notes)], bounds=bounds)


def read_texts(paths: Sequence[str], reading: Reading) -> tuple[dict[str, list[str]], list[str]]:
    """Read captions by item, be they references or candidates; notes name special formats."""
    references, files = references_of_files(list(paths), reading, or_candidates=True)
    special = [file for file in files if file.format != "lines"]
    return references, list(map(as_options, reading_notes(special)))


def read_items(paths: Sequence[str], reading: Reading) -> list[str]:
    """Read the ids of a file with captions, or of a blind test without them."""
    captions, _ = references_of_files(list(paths), reading, or_candidates=True, blind=True)
    return list(captions)


def _without_references(
    files: dict[str, str], refs: Sequence[str], reading: Reading
) -> tuple[dict[str, str], list[str]]:
    """Leave the references out of the candidates: ``*.json`` holds ``refs.json`` too."""
    truth = [str(path) for path in expanded(refs)] if refs else []
    twice = {
        name: path
        for name, path in files.items()
        if any(_is_same(path, other) for other in truth)
        and name == system_name(path)
        and not holds_both(path, reading)
    }
    if not twice or len(twice) == len(files):
        return files, []
    names = ", ".join(twice.values())
    verb = "is" if len(twice) == 1 else "are"
    note = f"{names} {verb} given as references, and not scored as a system."
    return {name: path for name, path in files.items() if name not in twice}, [note]


def oracles(files: Mapping[str, str]) -> list[str]:
    """Name the systems whose captions saw the references, by the records beside them."""
    systems = []
    for system, file in files.items():
        with suppress(OSError, ValueError, AttributeError):
            record = Path(_record_of(file)).read_bytes()
            import json  # only here: few captions have a record

            if json.loads(record).get("oracle"):
                systems.append(system)
    return systems


def oracle_notes(systems: Sequence[str]) -> list[str]:
    """Return notes that systems are oracles.

    >>> oracle_notes(["best"])
    ['best: an oracle, not a system: its captions saw the references.']
    """
    said = "an oracle, not a system: its captions saw the references."
    return [f"{system}: {said}" for system in systems]


def _record_of(file: str) -> str:
    """Return where the record of a captions file is, if it has one."""
    return f"{file.removesuffix('.json')}.run.json"


def _is_same(path: str, other: str) -> bool:
    if STANDARD_INPUT in (path, other):
        return path == other
    return exists(path) and exists(other) and Path(path).samefile(other)
