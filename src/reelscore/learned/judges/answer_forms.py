"""What a judge may answer: a JSON object of one field, which is read strictly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec

from reelscore.endpoint.http import shortened
from reelscore.errors import DataError


class _Percent(msgspec.Struct, forbid_unknown_fields=True):
    score: Annotated[int, msgspec.Meta(ge=0, le=100)]


class _Stars(msgspec.Struct, forbid_unknown_fields=True):
    score: Annotated[int, msgspec.Meta(ge=1, le=5)]


class _Better(msgspec.Struct, forbid_unknown_fields=True):
    better: Literal["A", "B", "tie"]


@dataclass(frozen=True)
class AnswerForm:
    """One form of answers.

    Attributes:
        request: The sentence that asks for it.
        scale: The numbers in words, for prompts.
        least: The score of a caption without a word.
        kind: The object.
        field: The JSON schema of its field.
    """

    request: str
    scale: str
    least: float
    kind: type[_Percent | _Stars | _Better]
    field: Mapping[str, object]

    def schema(self) -> dict[str, object]:
        """Return the JSON schema of an answer."""
        return {
            "type": "object",
            "properties": dict(self.field),
            "required": list(self.field),
            "additionalProperties": False,
        }

    def read(self, content: str) -> float:
        """Read an answer: the score, or 1 if caption A won, 0 if B did.

        >>> COMPARISON.read('{"better": "tie"}')
        0.5
        """
        try:
            answer = msgspec.json.decode(content, type=self.kind)
            # of a field that comes twice, the last would count
            if msgspec.json.encode(answer).decode() != "".join(content.split()):
                raise msgspec.DecodeError("more than one field")
        except (msgspec.DecodeError, UnicodeEncodeError) as error:
            raise DataError(f"the answer {shortened(content)!r} cannot be read ({error})") from None
        if isinstance(answer, _Better):
            return {"A": 1.0, "B": 0.0, "tie": 0.5}[answer.better]
        return float(answer.score)


_REQUEST, _NUMBER = 'Answer in JSON: {"score": NUMBER}.', {"score": {"type": "integer"}}
SCORES = {
    100: AnswerForm(_REQUEST, "from 0 (not at all) to 100 (perfectly)", 0, _Percent, _NUMBER),
    5: AnswerForm(_REQUEST, "from 1 (not at all) to 5 (perfectly)", 1, _Stars, _NUMBER),
}
COMPARISON = AnswerForm(
    'Answer in JSON: {"better": "A"}, {"better": "B"} or {"better": "tie"}.',
    "",
    0,
    _Better,
    {"better": {"type": "string", "enum": ["A", "B", "tie"]}},
)
