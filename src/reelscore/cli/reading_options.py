"""How commands read captions: the options of all of them, and the files that users name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from reelscore.cli.messages import as_options
from reelscore.cli.options import FILES, Decorator, gathered, option
from reelscore.data.captions.caption_files import holds_both, references_of_files
from reelscore.data.captions.inputs import (
    Inputs,
    name_their_systems,
    read_inputs,
    reading_notes,
    system_name,
)
from reelscore.data.file_names import exists, expanded
from reelscore.data.formats import FORMATS
from reelscore.data.reading import Reading
from reelscore.data.source import STANDARD_INPUT
from reelscore.errors import DataError

_OPTIONS = {
    "id_field": option(
        "--id-field", heading=FILES, metavar="NAME", help="Field or column of the item ids."
    ),
    "caption_field": option(
        "--caption-field",
        heading=FILES,
        metavar="NAME",
        help="Field or column of the systems' captions.",
    ),
    "reference_field": option(
        "--reference-field",
        heading=FILES,
        metavar="NAME",
        help="Field or column of the references; several: NAME,NAME.",
    ),
    "header": option(
        "--header",
        heading=FILES,
        metavar="NAMES",
        help="Columns of tables that have no header, such as 'id,caption'.",
    ),
    "encoding": option(
        "--encoding",
        heading=FILES,
        metavar="NAME",
        help="Encoding of files that are not UTF-8, such as cp1252.",
    ),
    "split": option(
        "--split",
        heading=FILES,
        metavar="NAME",
        help="Part of the data set, such as test, if files name parts.",
    ),
}


def reading_options(format_name: str = "--format") -> Decorator:
    """Return a decorator that adds the options of reading captions, as one `Reading`.

    Args:
        format_name: What the option of the files' format is called.
    """
    format_option = option(
        format_name,
        "format",
        heading=FILES,
        metavar="NAME",
        help="Format of the files, if it cannot be recognised from the content: "
        f"{', '.join(FORMATS)}.",
    )
    return gathered("reading", Reading, {"format": format_option, **_OPTIONS})


def system_files(arguments: Sequence[str]) -> dict[str, str]:
    """Name the systems' files; each argument is a file, a folder, a pattern, or NAME=FILE.

    With a name, the files of a folder or a pattern are one system.
    """
    files: dict[str, str] = {}
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not equals or exists(argument):
            name, path = "", argument
        elif not name:
            raise DataError(f"{argument!r} does not name a system; expected FILE or NAME=FILE.")
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
    if not any("=" in argument and not exists(argument) for argument in arguments):
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
