"""What a model is asked: prompts by name, in text files, or the user's own.

A file has what the model is told about its task, a line ``---``, and the question. Fields in
braces are filled: ``{evidence}`` (references, frames, or both), ``{scale}``, and ``{caption}``; or
``{first}`` and ``{second}``, in a prompt that compares two captions.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from reelscore.endpoint.prompts import PromptText, names_of_prompts, prompt_text
from reelscore.errors import DataError

_PACKAGE = "reelscore.learned.judges"
_ONE, _TWO = {"caption"}, {"first", "second"}


@dataclass(frozen=True)
class Prompt(PromptText):
    """A question to a model about captions.

    >>> prompt = read_prompt("adequacy")
    >>> prompt.is_comparison, len(prompt.revision)
    (False, 8)
    """

    def __post_init__(self) -> None:
        unknown = self.fields - _ONE - _TWO - {"evidence", "scale"}
        if unknown:
            raise DataError(
                f"{self.name}: the prompt has an unknown field {{{min(unknown)}}}; expected "
                "{evidence}, {scale}, and {caption}, or {first} and {second}."
            )
        if self.fields & (_ONE | _TWO) not in (_ONE, _TWO):
            raise DataError(
                f"{self.name}: a prompt has either {{caption}}, or both {{first}} and {{second}}."
            )

    @property
    def is_comparison(self) -> bool:
        """Whether it shows two captions."""
        return "{first}" in self.text


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
    return names_of_prompts(_PACKAGE)


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
    return Prompt(name, prompt_text(_PACKAGE, name))
