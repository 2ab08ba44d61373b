"""The formats of scripts: which one a script has, and what is read from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from reelscore.corpus.project_files import Script
from reelscore.corpus.scripts.elements import read_text
from reelscore.corpus.scripts.final_draft import is_final_draft, parse_final_draft
from reelscore.corpus.scripts.fountain import is_fountain, parse_fountain
from reelscore.corpus.scripts.indented import is_typed, parse_indented
from reelscore.errors import DataError, check_choice


class ScriptFormat(NamedTuple):
    """A way to write scripts."""

    words: str  # what the help of commands calls it
    fits: Callable[[str], bool]  # whether a text is in it
    parse: Callable[[str, str], Script]  # reads a text, which messages call by a name


FORMATS = {  # in this order, the first that fits a text
    "fdx": ScriptFormat("Final Draft", is_final_draft, parse_final_draft),
    "text": ScriptFormat(
        "indented text",
        lambda text: is_typed(text) and not is_fountain(text),
        lambda text, _: parse_indented(text),
    ),
    "fountain": ScriptFormat("Fountain", lambda _: True, lambda text, _: parse_fountain(text)),
}


def read_script(path: str | Path, *, format: str = "auto", encoding: str | None = None) -> Script:
    """Read a script.

    Args:
        path: The file.
        format: One of `FORMATS`; found by its content if `auto`.
        encoding: Its encoding, if it is neither UTF-8 nor marked.

    Raises:
        DataError: If it cannot be read, or has no elements.
    """
    return parse_script(read_text(path, encoding), format=format, name=str(path))


def parse_script(text: str, *, format: str = "auto", name: str = "the script") -> Script:
    r"""Read the text of a script.

    Args:
        text: The text.
        format: One of `FORMATS`; found by its content if `auto`.
        name: What messages call it.

    Raises:
        DataError: If it is not in that format, has no elements, or the format is not known.

    >>> parse_script("INT. CAR\n\nANNA\nDrive on.\n").counts
    {'heading': 1, 'dialogue': 1}
    """
    if format == "auto":
        format = next(each for each, known in FORMATS.items() if known.fits(text))
    check_choice("format of scripts", format, FORMATS)
    script = FORMATS[format].parse(text, name)
    if not script.elements:
        raise DataError(f"{name}: a script without any text.")
    return script
