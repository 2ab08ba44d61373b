"""Prompts in text files: what the model is told about its task, a line ``---``, and the question.

Fields in braces are filled for each question. Which fields there are is for the package to say
that has the prompts, in a folder ``prompts``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from reelscore.errors import DataError, UnknownNameError

_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class PromptText:
    r"""The text of a prompt.

    Attributes:
        name: Its name, or the file.
        text: All of it, with fields in braces.

    >>> prompt = PromptText("mine", "Be strict.\n---\nRate {caption}.")
    >>> prompt.filled({"caption": "{first}"}), prompt.fields
    (('Be strict.', 'Rate {first}.'), {'caption'})
    """

    name: str
    text: str

    @property
    def fields(self) -> set[str]:
        """The fields that the text has."""
        return set(_FIELD.findall(self.text))

    @property
    def sha256(self) -> str:
        """The hash of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def revision(self) -> str:
        """Eight digits that change with every change of the text."""
        return self.sha256[:8]

    def filled(self, fields: Mapping[str, str]) -> tuple[str, str]:
        """Return the text about the task, and the question, with values in the fields."""
        task, line, question = self.text.partition("\n---\n")
        task, question = (task, question) if line else ("", self.text)
        task, question = (
            _FIELD.sub(lambda field: fields.get(field[1], field[0]), part).strip()
            for part in (task, question)
        )
        return task, question


def names_of_prompts(package: str) -> list[str]:
    """Name the prompts that come with a package.

    >>> names_of_prompts("reelscore.learned.judges")
    ['adequacy', 'factuality', 'helpful', 'preference']
    """
    folder = files(package) / "prompts"
    return sorted(
        file.name.removesuffix(".txt") for file in folder.iterdir() if file.name.endswith(".txt")
    )


def prompt_text(package: str, name: str) -> str:
    """Read a prompt of a package by its name, or the user's file.

    Args:
        package: The package, such as ``reelscore.learned.judges``.
        name: One of `names_of_prompts`, or a file.

    Raises:
        UnknownNameError: If there is no prompt of that name.
        DataError: If the file cannot be read.
    """
    names = names_of_prompts(package)
    if name in names:
        return (files(package) / "prompts" / f"{name}.txt").read_text(encoding="utf-8")
    path = Path(name)
    if not path.is_file():
        remedy = f"Known: {', '.join(names)}; or name a text file."
        raise UnknownNameError.of("prompt", name, names, remedy)
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{name}: the prompt cannot be read ({error}).") from error
