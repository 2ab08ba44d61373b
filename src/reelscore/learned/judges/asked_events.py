"""Events found by a model, and its verdicts on them: two rounds of questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import msgspec

from reelscore._progress import Progress
from reelscore.endpoint.answers import AnswerForm
from reelscore.endpoint.prompts import MetricPrompt, quoted
from reelscore.learned.judges.endpoint_metric import Interview, Question, of_captions
from reelscore.metrics.sentences import CaptionMatches, SentenceMatch

if TYPE_CHECKING:
    from reelscore.learned.judges.events import Events

_NOTHING_SAID = "neutral: the other text has no word"


class _EventList(msgspec.Struct, forbid_unknown_fields=True):
    events: list[str]


class _Verdict(msgspec.Struct, forbid_unknown_fields=True):
    verdict: Literal["entailment", "neutral", "contradiction"]
    reason: str = ""


_EVENTS = AnswerForm(_EventList)
EXTRACTION, ENTAILMENT = MetricPrompt.read("events"), MetricPrompt.read("entailment")


@lru_cache(maxsize=64)
def _verdicts(count: int) -> AnswerForm[Any]:
    """Return the form of verdicts on so many events."""
    several = Annotated[list[_Verdict], msgspec.Meta(min_length=count, max_length=count)]
    kind = msgspec.defstruct("Verdicts", [("verdicts", several)], forbid_unknown_fields=True)
    return AnswerForm(kind)


class Compared(NamedTuple):
    """A caption, and what it is compared with."""

    caption: str
    references: list[str]
    item: str


def asked_matches(
    metric: Events,
    compared: Sequence[Compared],
    known: Mapping[str, list[str]],
    interview: Interview,
    progress: Progress | None,
) -> list[CaptionMatches | None]:
    """Return of each caption which events are entailed, and why; ``None`` without an answer.

    The events of some references are known, and the model need not find them.
    """
    wanted: dict[str, str] = {}
    for each in compared:
        for text in (each.caption, *(own for own in each.references if own not in known)):
            if _has_words(text):
                wanted.setdefault(text, each.item)
    answers = interview.read(
        [
            metric.question(EXTRACTION, {"caption": quoted(text)}, _EVENTS, item)
            for text, item in wanted.items()
        ],
        of_captions(progress, len(compared), 0, 2),
    )
    told = dict(zip(wanted, (answer and answer.events for answer in answers), strict=True))
    if metric.preset is None:
        told = {text: [text] if own == [] else own for text, own in told.items()}
    questions: list[Question] = []
    sides: list[list[_Side]] = []
    for each in compared:
        pairs = [(each.caption, told.get(each.caption, [""]), each.references)]
        for reference in each.references:
            own = known[reference] if reference in known else told.get(reference, [""])
            pairs.append((reference, own, [each.caption]))
        sides.append([])
        for text, own, others in pairs:
            number = None
            if own and all(map(_has_words, (text, *others))):
                number = len(questions)
                questions.append(_entailment(metric, own, others, each.item))
            sides[-1].append(_Side(own, number))
    verdicts = interview.read(questions, of_captions(progress, len(compared), 1, 2))
    return [caption_matches(metric, [each.matches(verdicts) for each in own]) for own in sides]


class _Side(NamedTuple):
    """A text's events, and the question about them; ``None`` where there is no answer, or none."""

    events: list[str] | None
    question: int | None

    def matches(self, verdicts: Sequence[Any]) -> list[SentenceMatch] | None:
        """Return which events are entailed; ``None`` without an answer."""
        if self.events is None:
            return None
        if self.question is None:
            return [SentenceMatch(event, _NOTHING_SAID, 0.0) for event in self.events]
        answer = verdicts[self.question]
        return answer and [
            SentenceMatch(
                event,
                f"{each.verdict}: {each.reason}" if each.reason else each.verdict,
                float(each.verdict == "entailment"),
            )
            for event, each in zip(self.events, answer.verdicts, strict=True)
        ]


def caption_matches(
    metric: Events, sides: Sequence[list[SentenceMatch] | None]
) -> CaptionMatches | None:
    """Put the sides together: the caption's events, and those of the reference told best."""
    whole = [side for side in sides if side is not None]
    if len(whole) < len(sides):
        return None
    told, *asked = whole
    recalls = [metric.mean(side) for side in asked]
    best = recalls.index(max(recalls))
    precision, recall = metric.mean(told), recalls[best]
    both = precision + recall
    f1 = 2 * precision * recall / both if both else 0.0
    return CaptionMatches(f1, told, best, asked[best])


def _entailment(
    metric: Events, events: Sequence[str], others: Sequence[str], item: str
) -> Question:
    """Ask which events another text entails, or several texts together."""
    fields = {
        "description": "\n".join(map(quoted, others)),
        "events": "\n".join(f"{k}. {quoted(event)}" for k, event in enumerate(events, start=1)),
        "count": str(len(events)),
    }
    return metric.question(ENTAILMENT, fields, _verdicts(len(events)), item)


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))
