"""What a model is asked: prompts by name, in text files, or the user's own.

A file has what the model is told about its task, a line ``---``, and the question. Fields in
braces are filled: ``{evidence}`` (references, frames, or both), ``{scale}``, and ``{caption}``; or
``{first}`` and ``{second}``, in a prompt that compares two captions.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from reelscore.errors import DataError, UnknownNameError

_FIELD = re.compile(r"\{(\w+)\}")
_ONE, _TWO = {"caption"}, {"first", "second"}


@dataclass(frozen=True)
class Prompt:
    """A question to a model.

    Attributes:
        name: Its name, or the file.
        text: All of it, with fields in braces.

    >>> prompt = read_prompt("adequacy")
    >>> prompt.is_comparison, len(prompt.revision)
    (False, 8)
    """

    name: str
    text: str

    def __post_init__(self) -> None:
        fields = set(_FIELD.findall(self.text))
        unknown = fields - _ONE - _TWO - {"evidence", "scale"}
        if unknown:
            raise DataError(
                f"{self.name}: the prompt has an unknown field {{{min(unknown)}}}; expected "
                "{evidence}, {scale}, and {caption}, or {first} and {second}."
            )
        if fields & (_ONE | _TWO) not in (_ONE, _TWO):
            raise DataError(
                f"{self.name}: a prompt has either {{caption}}, or both {{first}} and {{second}}."
            )

    @property
    def is_comparison(self) -> bool:
        """Whether it shows two captions."""
        return "{first}" in self.text

    @property
    def revision(self) -> str:
        """Eight digits that change with every change of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:8]

    def filled(self, fields: Mapping[str, str]) -> tuple[str, str]:
        r"""Give the text about the task, and the question, with values in the fields.

        >>> Prompt("mine", "Be strict.\n---\nRate {caption}.").filled({"caption": "{first}"})
        ('Be strict.', 'Rate {first}.')
        """
        task, line, question = self.text.partition("\n---\n")
        task, question = (task, question) if line else ("", self.text)
        task, question = (
            _FIELD.sub(lambda field: fields.get(field[1], field[0]), part).strip()
            for part in (task, question)
        )
        return task, question


def quoted(text: str) -> str:
    r"""Put a text in quotation marks that it cannot leave.

    >>> print(quoted('a man says "hi"'))
    "a man says \"hi\""
    """
    return json.dumps(text, ensure_ascii=False)


def prompt_names() -> list[str]:
    """Name the prompts that come with reelscore.

    >>> prompt_names()
    ['adequacy', 'factuality', 'helpful', 'preference']
    """
    folder = files("reelscore.judges") / "prompts"
    return sorted(
        each.name.removesuffix(".txt") for each in folder.iterdir() if each.name.endswith(".txt")
    )


@lru_cache(maxsize=8)
def read_prompt(name: str) -> Prompt:
    """Read a prompt by name, or the user's file.

    Args:
        name: One of `prompt_names`, or a file.

    Raises:
        UnknownNameError: If there is no prompt of that name.
        DataError: If the file cannot be read or used.

    >>> read_prompt("preference").is_comparison
    True
    """
    if name in prompt_names():
        file = files("reelscore.judges") / "prompts" / f"{name}.txt"
        return Prompt(name, file.read_text(encoding="utf-8"))
    path = Path(name)
    if not path.is_file():
        known = ", ".join(prompt_names())
        raise UnknownNameError.of(
            "prompt", name, prompt_names(), f"Known: {known}; or name a text file."
        )
    try:
        return Prompt(name, path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{name}: the prompt cannot be read ({error}).") from error
