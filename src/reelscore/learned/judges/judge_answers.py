"""What a judge answers: scores on the scale of the prompt, or which of two captions is better."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import msgspec

from reelscore.data.tables.scales import Scale
from reelscore.endpoint.answers import AnswerForm, Reading
from reelscore.endpoint.journal import AnswerRecord
from reelscore.endpoint.prompts import JudgePrompt

SCALES = {100: (0, 100), 5: (1, 5)}


class _Better(msgspec.Struct, forbid_unknown_fields=True):
    better: Literal["A", "B", "tie"]


COMPARISON = AnswerForm(_Better)


def won(answer: msgspec.Struct) -> float:
    """Return 1 if caption A won, 0 if B did.

    >>> won(COMPARISON.read('{"better": "tie"}'))
    0.5
    """
    assert isinstance(answer, _Better)
    return {"A": 1.0, "B": 0.0, "tie": 0.5}[answer.better]


class JudgeScores(NamedTuple):
    """The scores that a prompt asks for.

    Attributes:
        names: Of the fields of the answer.
        low: The lowest, before it is divided.
        high: The highest.
        divisor: What they are divided by.
        form: The form of the answer.

    >>> scores = JudgeScores.of(JudgePrompt.read("rcap"), 100)
    >>> scores.values(AnswerRecord("9f2c", '{"score": 7}'), "strict")
    [0.7]
    """

    names: list[str]
    low: int
    high: int
    divisor: int
    form: AnswerForm[msgspec.Struct]

    @classmethod
    def of(cls, prompt: JudgePrompt, scale: int) -> JudgeScores:
        """Read what a prompt asks for; a prompt without a scale of its own takes the user's."""
        settings = prompt.settings
        low, high = settings.range or SCALES[scale]
        number = Annotated[int, msgspec.Meta(ge=low, le=high)]
        fields: list[tuple[str, type] | tuple[str, type, str]] = []
        fields += [(name, number) for name in settings.names]
        fields += [("reason", str, "")] if settings.reason == "yes" else []
        kind = msgspec.defstruct("Scores", fields, forbid_unknown_fields=True)
        return cls(settings.names, low, high, settings.divisor, AnswerForm(kind))

    @property
    def words(self) -> str:
        """The scale in words, for prompts."""
        return f"from {self.low} (not at all) to {self.high} (perfectly)"

    @property
    def scale(self) -> Scale:
        """How to read each score."""
        return Scale("high", self.low / self.divisor, self.high / self.divisor, mean=True)

    def values(self, record: AnswerRecord, reading: Reading) -> list[float]:
        """Return the scores of an answer, expectations where it has them; a mean comes first."""
        answer = self.form.read(record.content, reading)
        written = {name: float(getattr(answer, name)) for name in self.names}
        if record.numbers:
            written |= self.form.expected(answer, record.content, record.numbers)
        return self.with_mean([written[name] for name in self.names])

    def with_mean(self, scores: list[float]) -> list[float]:
        """Divide scores, and put the mean of several before them."""
        own = [score / self.divisor for score in scores]
        return own if len(own) == 1 else [sum(own) / len(own), *own]
