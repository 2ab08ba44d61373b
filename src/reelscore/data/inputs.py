"""What is to be scored, from files or from Python: candidates of systems, and their references."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from reelscore.data.formats import LINES
from reelscore.data.problems import first_few
from reelscore.data.reading import (
    CaptionFile,
    PathLike,
    candidates_of_file,
    reading_explained,
    references_of_files,
)
from reelscore.errors import DataError

Candidates = Mapping[str, str]
References = Mapping[str, Sequence[str]]

_SHOWN = 5  # files that a note names


@dataclass(frozen=True)
class Inputs:
    """Candidates and references, and where they come from.

    Attributes:
        systems: The candidates of each system.
        references: The references, or ``None`` if there are none.
        files: The files that were read.
        notes: What a reader of the scores has to know about the files, a sentence each.
    """

    systems: Mapping[str, Candidates]
    references: References | None = None
    files: Sequence[CaptionFile] = field(default=())
    notes: Sequence[str] = field(default=())

    def explained(self) -> AbstractContextManager[None]:
        """Let errors say how the files were read."""
        return reading_explained(self.files)


def read_inputs(
    systems: Mapping[str, Candidates | PathLike],
    references: References | PathLike | Sequence[PathLike] | None = None,
    *,
    format: str | None = None,
) -> Inputs:
    r"""Read candidates and references where they are files.

    A file may hold both, as programs that make captions write them. Where no references are
    given, those beside the candidates are taken.

    Args:
        systems: The candidates of each system, or the file that holds them.
        references: References, a file, several files, or nothing.
        format: The format of all files; by default each file's content tells.

    Raises:
        DataError: If a file is bad, or two files hold different references of an item.

    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp(), "run.csv")
    >>> _ = path.write_text("id,prediction,reference\nv1,a man,a person\n")
    >>> inputs = read_inputs({"mine": path})
    >>> inputs.systems, inputs.references
    ({'mine': {'v1': 'a man'}}, {'v1': ['a person']})
    """
    files: list[CaptionFile] = []
    candidates: dict[str, Candidates] = {}
    for name, given in systems.items():
        if isinstance(given, str | os.PathLike):
            candidates[name], file = candidates_of_file(given, format)
            files.append(file)
        else:
            candidates[name] = given
    both = [file for file in files if file.has_references]
    read: list[CaptionFile] = []
    notes: list[str] = []
    if references is None and both:
        references = _own_references(both, format)
        notes.append(
            f"References were not given: {_paths(both)} {_verb(both, 'holds', 'hold')} them beside "
            "the candidates."
        )
    elif references is not None:
        if not isinstance(references, Mapping):
            references, read = references_of_files(references, format)
            notes += references_note([file.path for file in read])
        used = {file.path for file in read}
        if unused := [file for file in both if file.path not in used]:
            whose = _verb(unused, "holds references of its own", "hold references of their own")
            notes.append(f"{_paths(unused)} {whose}, which were not used.")
    files += read
    if lines := [file for file in files if file.format == LINES]:
        which = _paths(lines) if len(files) <= _SHOWN or len(lines) < len(files) else "all files"
        notes.append(f"Read as plain lines: {which}.")
    return Inputs(candidates, references, files, notes)


def references_note(paths: Sequence[str]) -> list[str]:
    """Name the files of references where there are several: each counts.

    >>> references_note(["refs/a.txt", "refs/b.txt"])
    ['References: a.txt, b.txt in refs.']
    """
    return [f"References: {_listed(paths)}."] if len(paths) > 1 else []


def _own_references(files: Sequence[CaptionFile], format: str | None) -> References:
    """Put together the references that stand beside candidates; they must agree."""
    together: dict[str, Sequence[str]] = {}
    for file in files:
        own, _ = references_of_files(file.path, format)
        other = [i for i, texts in own.items() if sorted(together.get(i, texts)) != sorted(texts)]
        if other:
            raise DataError(
                f"{file.path}: holds other references than {files[0].path} for {len(other):,} "
                f"items ({first_few(other)}). Give the references in a separate file: "
                'references="FILE".'
            )
        together |= own
    return together


def _paths(files: Sequence[CaptionFile]) -> str:
    return _listed(list(dict.fromkeys(file.path for file in files)))


def _listed(paths: Sequence[str]) -> str:
    """Name files; those of one folder without repeating it."""
    folders = {Path(path).parent for path in paths}
    folder = folders.pop()
    together = len(paths) > 1 and not folders and folder != Path()
    names = [Path(path).name for path in paths] if together else paths
    rest = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + rest + (f" in {folder}" if together else "")


def _verb(files: Sequence[CaptionFile], one: str, several: str) -> str:
    return one if len(files) == 1 else several
