"""What a model is asked: prompts by name, in the text files of this folder, or the user's own.

A file has what the model is told about its task, a line ``---``, and the question. Fields in
braces are filled for each question; the two kinds of prompts have different ones.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import ClassVar, TypeVar

from reelscore.errors import DataError, UnknownNameError

_FIELD = re.compile(r"\{(\w+)\}")
_ONE, _TWO = frozenset({"caption"}), frozenset({"first", "second"})
_NOTHING_BEFORE = "(none)"  # the previous caption of a video's first clip
_Kind = TypeVar("_Kind", bound="Prompt")


@dataclass(frozen=True)
class Prompt:
    """A question to a model.

    Attributes:
        name: Its name, or the file.
        text: All of it, with fields in braces.
    """

    name: str
    text: str
    folder: ClassVar[str]
    known: ClassVar[frozenset[str]]
    expected: ClassVar[str]

    def __post_init__(self) -> None:
        if unknown := self.fields - self.known:
            raise DataError(
                f"{self.name}: the prompt has an unknown field {{{min(unknown)}}}; expected "
                f"{self.expected}."
            )

    @classmethod
    def names(cls) -> list[str]:
        """Name the prompts that come with reelscore.

        >>> JudgePrompt.names(), CaptionPrompt.names()
        (['adequacy', 'factuality', 'helpful', 'preference'], ['audio-description', 'plain'])
        """
        folder = files(__name__) / cls.folder
        return sorted(file.name.removesuffix(".txt") for file in folder.iterdir())

    @classmethod
    def read(cls: type[_Kind], name: str) -> _Kind:
        """Read a prompt by name, or the user's file."""
        names, path = cls.names(), Path(name)
        if name in names:
            file = files(__name__) / cls.folder / f"{name}.txt"
            return cls(name, file.read_text(encoding="utf-8"))
        if not path.is_file():
            remedy = f"Known: {', '.join(names)}; or name a text file."
            raise UnknownNameError.of("prompt", name, names, remedy)
        try:
            return cls(name, path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{name}: the prompt cannot be read ({error}).") from error

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


class JudgePrompt(Prompt):
    r"""A question about captions: one with ``{caption}``, or two with ``{first}`` and ``{second}``.

    ``{evidence}`` stands for references, frames, or both, and ``{scale}`` for the numbers that the
    answer may have.

    >>> prompt = JudgePrompt("mine", "Be strict.\n---\nRate {caption}.")
    >>> prompt.filled({"caption": "{first}"}), prompt.is_comparison
    (('Be strict.', 'Rate {first}.'), False)
    """

    folder = "judge"
    known = _ONE | _TWO | {"evidence", "scale"}
    expected = "{evidence}, {scale}, and {caption}, or {first} and {second}"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fields & (_ONE | _TWO) not in (_ONE, _TWO):
            raise DataError(
                f"{self.name}: a prompt has either {{caption}}, or both {{first}} and {{second}}."
            )

    @property
    def is_comparison(self) -> bool:
        """Whether it shows two captions."""
        return "first" in self.fields


class CaptionPrompt(Prompt):
    """A question to a captioner about a clip.

    ``{duration}`` is its length in seconds, ``{previous}`` the caption of the clip before it in the
    same video.

    >>> prompt = CaptionPrompt("mine", "Describe these {duration} seconds.")
    >>> prompt.about(2.04), prompt.needs_order
    (('', 'Describe these 2.0 seconds.'), False)
    """

    folder = "captions"
    known = frozenset({"duration", "previous"})
    expected = "{duration} and {previous} at most"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.text.strip():
            raise DataError(f"{self.name}: the prompt is empty; expected a question.")

    @property
    def needs_order(self) -> bool:
        """Whether the clips of a video must be described one after the other."""
        return "previous" in self.fields

    def about(self, duration: float, previous: str = "") -> tuple[str, str]:
        """Return the text about the task, and the question, for a clip."""
        return self.filled({"duration": f"{duration:.1f}", "previous": previous or _NOTHING_BEFORE})


def quoted(text: str) -> str:
    r"""Put a text in quotation marks that it cannot leave.

    >>> print(quoted('a man says "hi"'))
    "a man says \"hi\""
    """
    return json.dumps(text, ensure_ascii=False)
