"""What a model is asked: prompts by name, in the text files of this folder, or the user's own.

A file has what the model is told about its task, a line ``---``, and the question. Fields in
braces are filled for each question; each kind of prompt has its own. A judge's prompt
with scores of its own begins with them, each setting in a line, and a further ``---``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypeVar

import msgspec

from reelscore._records import resolved
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
        (['accr', 'adequacy', 'clair', 'factuality', 'helpful', 'llm-ad-eval', 'preference', 'rcap',
          'video-chatgpt'], ['audio-description', 'plain'])
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
    def body(self) -> str:
        """What is said to the model: all of the text, unless it begins with settings."""
        return self.text

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
        task, line, question = self.body.partition("\n---\n")
        task, question = (task, question) if line else ("", self.body)
        task, question = (
            _FIELD.sub(lambda field: fields.get(field[1], field[0]), part).strip()
            for part in (task, question)
        )
        return task, question


class ScoreSettings(msgspec.Struct, frozen=True):
    """The scores that a prompt asks for, as the lines before its text say."""

    scores: str = "score"  # their names; several are given with commas, and have a mean
    # the whole numbers that a score may be, such as ``0 to 10``; without, the user says
    scale: Annotated[str, msgspec.Meta(pattern=r"^\d+ to \d+$")] = ""
    # what they are divided by, where papers print a share
    divisor: Annotated[int, msgspec.Meta(ge=1)] = 1
    reason: Literal["yes", "no"] = "no"  # whether the model is to say why: ``yes`` or ``no``
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] = 1  # tokens that an answer needs
    source: str = ""  # the paper that the question is from

    @property
    def names(self) -> list[str]:
        """The names of the scores."""
        return [name.strip() for name in self.scores.split(",")]

    @property
    def range(self) -> tuple[int, int] | None:
        """The lowest and the highest score, before they are divided."""
        low, _, high = self.scale.partition(" to ")
        return (int(low), int(high)) if high else None


class JudgePrompt(Prompt):
    r"""A question about captions: one with ``{caption}``, or two with ``{first}`` and ``{second}``.

    ``{evidence}`` stands for references, frames, or both, and ``{scale}`` for the numbers that the
    answer may have.

    >>> prompt = JudgePrompt("mine", "scale: 0 to 10\n---\nBe strict.\n---\nRate {caption}.")
    >>> prompt.filled({"caption": "{first}"}), prompt.is_comparison, prompt.settings.range
    (('Be strict.', 'Rate {first}.'), False, (0, 10))
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
        low, high = self.settings.range or (0, 1)
        names = self.settings.names
        if low >= high or len(set(names)) < len(names) or not all(map(str.isidentifier, names)):
            raise DataError(
                f"{self.name}: scores {self.settings.scores!r} of the scale "
                f"{self.settings.scale!r}; expected different names without blanks, and a scale "
                "such as 0 to 10."
            )

    def _divided(self) -> tuple[dict[str, str], str]:
        """Part the settings from the text."""
        head, line, body = self.text.partition("\n---\n")
        settings = dict(row.split(": ", 1) for row in head.splitlines() if ": " in row)
        if not line or not settings.keys() <= {*ScoreSettings.__struct_fields__}:
            return {}, self.text
        return (settings, body) if len(settings) == len(head.splitlines()) else ({}, self.text)

    @property
    def body(self) -> str:
        """What is said to the model."""
        return self._divided()[1]

    @property
    def settings(self) -> ScoreSettings:
        """The scores that it asks for."""
        try:
            return msgspec.convert(self._divided()[0], resolved(ScoreSettings), strict=False)
        except msgspec.ValidationError as error:
            raise DataError(f"{self.name}: the settings cannot be read ({error}).") from None

    @property
    def is_comparison(self) -> bool:
        """Whether it shows two captions."""
        return "first" in self.fields


class MetricPrompt(Prompt):
    """A question of a metric that asks about more than a caption: its fields are the metric's.

    >>> MetricPrompt.read("events").fields
    {'caption'}
    """

    folder = "metrics"
    known = frozenset(
        {
            *("caption", "description", "events", "count"),
            *("question", "answer", "truth", "respect", "missing", "wrong"),
            *("cast", "before"),
        }
    )
    expected = "what the metric fills"


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
