"""What a model may answer, and how that is read: strictly, or leniently."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
import pytest

from reelscore.endpoint.answers import AnswerForm
from reelscore.errors import DataError

Percent = Annotated[int, msgspec.Meta(ge=0, le=100)]


class Score(msgspec.Struct, forbid_unknown_fields=True):
    score: Percent
    reason: str = ""


class Pair(msgspec.Struct, forbid_unknown_fields=True):
    detail: Percent
    order: Percent


class Verdict(msgspec.Struct, forbid_unknown_fields=True):
    event: str
    verdict: Literal["told", "not told"]


class Verdicts(msgspec.Struct, forbid_unknown_fields=True):
    events: list[Verdict]


def test_what_is_asked_for():
    form = AnswerForm(Verdicts)
    assert form.request == (
        'Answer in JSON: {"events": [{"event": TEXT, "verdict": "not told" | "told"}, …]}.'
    )
    [item] = [form.schema()["properties"]["events"]["items"]]
    assert item["required"] == ["event", "verdict"]
    assert item["additionalProperties"] is False
    assert "$ref" not in str(form.schema())
    assert AnswerForm(Score).schema() == {
        "type": "object",
        "properties": {
            "score": {"type": "integer", "minimum": 0, "maximum": 100},
            "reason": {"type": "string"},
        },
        "required": ["score", "reason"],
        "additionalProperties": False,
    }


def test_any_form_is_read():
    content = ' {"events": [{"event": "a dog runs", "verdict": "told"}]}\n'
    assert AnswerForm(Verdicts).read(content).events == [Verdict("a dog runs", "told")]
    with pytest.raises(DataError, match="Invalid enum value 'maybe'"):
        AnswerForm(Verdicts).read('{"events": [{"event": "a", "verdict": "maybe"}]}')


LENIENT = [  # answer, score; None where it cannot be used
    ("70", 70),
    ("Score: 70.", 70),
    ("I would give it 70/100.", 70),
    ("On a scale from 0 to 100 this is 70 out of 100", 70),
    ("It is 70, as I said: 70.", 70),
    ("70%", 70),
    ("**70**", 70),
    ('Sure! {"score": 70, "grade": "B"} I hope this helps.', 70),
    ('```json\n{"score": "70"}\n```', 70),
    ('{"answer": {"score": 70}}', 70),
    ('{"score": 70} {"score": 70}', 70),
    ('Two men and 3 dogs: {"score": 70}', 70),
    ('{"score": 70} {"score": 80}', None),
    ('{"score": 10, "score": 90}', None),
    ("between 60 and 70", None),
    ("The caption shows 2 men. 70", None),
    ("70.5", None),
    ("150", None),
    ("-5", None),
    ("7,000", None),
    ("v70", None),
    ("seventy", None),
    ('{"score": NaN}', None),
    ("{" * 50_000, None),
    ('{"score": ' + "9" * 5000 + "}", None),
    ("", None),
]


@pytest.mark.parametrize(("content", "score"), LENIENT, ids=lambda value: str(value)[:40])
def test_lenient_reading(content, score):
    if score is None:
        with pytest.raises(DataError, match=r"cannot be read \((several that|nothing of)"):
            AnswerForm(Score).read(content, "lenient")
    else:
        assert AnswerForm(Score).read(content, "lenient").score == score
    with pytest.raises(DataError, match="cannot be read"):
        AnswerForm(Score).read(content)


def test_a_number_by_itself_is_none_of_two():
    with pytest.raises(DataError, match="nothing of that form"):
        AnswerForm(Pair).read("70", "lenient")
    found = AnswerForm(Pair).read('So: {"order": 5, "detail": 7}', "lenient")
    assert (found.detail, found.order) == (7, 5)


@pytest.mark.parametrize("content", ['{"score": 1, "reason": "\\ud800"}', "[1]", '{"score": true}'])
def test_strict_reading(content):
    with pytest.raises(DataError, match="cannot be read"):
        AnswerForm(Score).read(content)
    assert AnswerForm(Score).read('{"reason": "süß, \\u00fc", "score": 1}').reason == "süß, ü"
