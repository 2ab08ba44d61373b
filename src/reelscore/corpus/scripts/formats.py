"""The formats of scripts: which one a script has, and what is read from it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from reelscore.corpus.project_files import Script
from reelscore.corpus.scripts.elements import read_text
from reelscore.corpus.scripts.final_draft import parse_final_draft
from reelscore.corpus.scripts.fountain import TITLE_KEY, parse_fountain
from reelscore.corpus.scripts.indented import is_typed, parse_indented
from reelscore.errors import DataError

Format = Literal["auto", "fountain", "fdx", "text"]
FORMATS = ("auto", "fountain", "fdx", "text")
"""How scripts are written; `auto` tells by the content."""


def read_script(
    path: str | Path, *, format: Format = "auto", encoding: str | None = None
) -> Script:
    """Read a script.

    Args:
        path: The file.
        format: How it is written; found by its content if `auto`.
        encoding: Its encoding, if it is neither UTF-8 nor marked.

    Raises:
        DataError: If it cannot be read, or has no elements.
    """
    return parse_script(read_text(path, encoding), format=format, name=str(path))


def parse_script(text: str, *, format: Format = "auto", name: str = "the script") -> Script:
    r"""Read the text of a script.

    Args:
        text: The text.
        format: How it is written; found by its content if `auto`.
        name: What messages call it.

    Raises:
        DataError: If it is not in that format, or has no elements.

    >>> parse_script("INT. CAR\n\nANNA\nDrive on.\n").counts
    {'heading': 1, 'dialogue': 1}
    """
    if format == "auto":
        format = _format_of(text)
    if format == "fdx":
        script = parse_final_draft(text, name)
    else:
        script = parse_fountain(text) if format == "fountain" else parse_indented(text)
    if not script.elements:
        raise DataError(f"{name}: a script without any text.")
    return script


def _format_of(text: str) -> Format:
    start = text.lstrip()
    if start.startswith(("<?xml", "<FinalDraft")):
        return "fdx"
    if TITLE_KEY.match(start) or not is_typed(text):
        return "fountain"
    return "text"
