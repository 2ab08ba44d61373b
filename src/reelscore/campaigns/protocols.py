"""What raters are asked, and which answers count: one small record for every kind of question.

A task shows one video and one or more captions. Its answer is a score for each criterion: of the
one caption (rating), of each caption (ranking: 1 is best), or of the two against each other
(comparison: below 0 the first is better, above 0 the second).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from reelscore.errors import DataError, check_choice

Form = Literal["rating", "ranking", "comparison"]
Answer = Mapping[str, Sequence[float]]  # criterion: one score, or one for each caption ranked
Range = tuple[float, float]


@dataclass(frozen=True)
class Criterion:
    """One thing to judge, with the sentence that raters read."""

    name: str
    question: str


class Practice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One task with feedback."""

    captions: tuple[str, ...]  # what is judged
    # by criterion, the lowest and highest score that is fine, for each score
    expected: dict[str, list[Range]]
    feedback: str  # why
    item: str = ""  # the video; empty for none
    context: str = ""  # what to read instead of a video

    def check(self, protocol: Protocol) -> None:
        """Refuse a practice task that the protocol cannot show, or whose answer nobody can give."""
        place = f"Practice {' / '.join(self.captions)[:60]!r}"
        fault = protocol.captions_fault(len(self.captions))
        if fault:
            raise DataError(f"{place}: {fault}.")
        count = len(self.captions) if protocol.form == "ranking" else 1
        for name, ranges in self.expected.items():
            if len(ranges) != count:
                raise DataError(f"{place}: {name}: {len(ranges)} expected scores; {count} needed.")
            for score in (each for pair in ranges for each in pair):
                try:
                    protocol.check_score(name, score, len(self.captions))
                except DataError as error:
                    raise DataError(f"{place}: {error}") from None

    def is_fine(self, answer: Answer) -> bool:
        """Return whether an answer is what most people would give.

        >>> PROTOCOLS["direct-assessment"].practice[0].is_fine({"adequacy": [90]})
        True
        """
        return all(
            low <= score <= high
            for criterion, ranges in self.expected.items()
            for (low, high), score in zip(ranges, answer.get(criterion, ()), strict=False)
        )


@dataclass(frozen=True)
class Protocol:
    """One way to ask.

    Attributes:
        name: What the campaign calls it.
        form: What an answer looks like.
        captions: How many captions a task shows; 0: as many as there are systems.
        criteria: What is judged.
        scale: The scores that may be given, lowest and highest.
        choices: For comparisons, the scores offered with their words; empty for a slider.
        words: What is asked, in a line.
        practice: Tasks with feedback before the first HIT, where a campaign has none of its own.
        needs_people: Whether human captions are needed, as hidden system or as references.

    >>> PROTOCOLS["direct-assessment"].check({"adequacy": [71]}, captions=1)
    >>> PROTOCOLS["direct-assessment"].check({"adequacy": [171]}, captions=1)
    Traceback (most recent call last):
    reelscore.errors.DataError: adequacy: the score is 171; expected a number from 0 to 100.
    """

    name: str
    form: Form
    captions: int
    criteria: tuple[Criterion, ...]
    scale: tuple[float, float]
    choices: tuple[tuple[float, str], ...] = ()
    words: str = ""
    practice: tuple[Practice, ...] = ()
    needs_people: bool = False

    def check(self, answer: Answer, captions: int) -> None:
        """Refuse an answer to a task of so many captions that this question cannot have.

        Raises:
            DataError: If a criterion is missing or unknown, or a score is not on the scale.
        """
        wanted = [criterion.name for criterion in self.criteria]
        if set(answer) != set(wanted):
            raise DataError(
                f"The answer is about {', '.join(sorted(answer)) or 'nothing'}; "
                f"{self.name} asks for {', '.join(wanted)}."
            )
        count = captions if self.form == "ranking" else 1
        for name, scores in answer.items():
            if len(scores) != count:
                raise DataError(f"{name}: {len(scores)} scores; expected {count}.")
            for score in scores:
                self.check_score(name, score, captions)

    def check_score(self, criterion: str, score: float, captions: int | None = None) -> None:
        """Refuse a single score that this question cannot have.

        Raises:
            DataError: If there is no such criterion, or the score is not on the scale.

        >>> PROTOCOLS["ranking"].check_score("grammar", 2.5)
        Traceback (most recent call last):
        reelscore.errors.DataError: grammar: ranks are whole numbers from 1, the best.
        """
        if all(criterion != each.name for each in self.criteria):
            known = ", ".join(each.name for each in self.criteria)
            raise DataError(f"The answer is about {criterion!r}; {self.name} asks for {known}.")
        if not isinstance(score, (int, float)) or isinstance(score, bool):
            raise DataError(f"{criterion}: the score is {score!r}; expected a number.")
        if self.choices and all(score != each for each, _ in self.choices):
            choice = ", ".join(f"{each:g}" for each, _ in self.choices)
            raise DataError(f"{criterion}: the score is {score:g}; expected one of {choice}.")
        lowest, highest = self.scale
        if self.form == "ranking":
            highest = math.inf if captions is None else captions
        if not lowest <= score <= highest:  # also refuses NaN
            raise DataError(
                f"{criterion}: the score is {score:g}; expected a number from {lowest:g} to "
                f"{highest:g}."
            )
        if self.form == "ranking" and score % 1 != 0:
            raise DataError(f"{criterion}: ranks are whole numbers from 1, the best.")

    def captions_fault(self, count: int) -> str | None:
        """Return what is wrong with showing this many captions, if anything is.

        >>> PROTOCOLS["direct-assessment"].captions_fault(2)
        '2 captions; direct-assessment shows 1'
        """
        if self.captions and count != self.captions:
            return f"{count} captions; {self.name} shows {self.captions}"
        if count < 1 or (self.form == "ranking" and count < 2):
            return f"{count} captions; {self.name} shows at least 2"
        return None


ADEQUACY = Criterion("adequacy", "The text adequately describes what took place in the video.")
FLUENCY = Criterion("fluency", "The text is fluent, well-formed English.")
_RANKED = (
    Criterion(
        "correctness",
        "Which content is more correct with respect to the video, complete or not, grammatical "
        "or not?",
    ),
    Criterion("relevance", "Which text has the more salient events and objects of the video?"),
    Criterion("grammar", "Which text is more fluent and readable, correct or not?"),
    Criterion(
        "helpful",
        "Which text helps a blind person more to follow what happens in the video?",
    ),
)
_BETTER = ((-1.0, "The first is better"), (1.0, "The second is better"))

_SCENE = "Imagine a video: on a beach, a brown dog leaps into the air and catches a red frisbee."
_RIGHT = "A brown dog jumps and catches a frisbee on the beach."
_WRONG = "A woman rides a horse through a dark forest."
_OTHER = "This text tells of something else; most people disagree strongly."


def _rating(text: str, feedback: str, **ranges: Range) -> Practice:
    return Practice((text,), {name: [each] for name, each in ranges.items()}, feedback, "", _SCENE)


def _pair(**ranges: Range) -> tuple[Practice, ...]:
    expected = {name: [each] for name, each in ranges.items()}
    why = "The second text tells what happens, the first tells of something else."
    return (Practice((_WRONG, _RIGHT), expected, why, "", _SCENE),)


_RANKS: list[Range] = [(2, 3), (1, 1), (2, 3)]

# Campaigns keep a protocol by name, and refuse answers to other criteria than it had when raters
# began: what is asked anew gets a new protocol, and none of these changes.
PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Protocol(
            "direct-assessment",
            "rating",
            1,
            (ADEQUACY,),
            (0, 100),
            words="one caption, one slider from 0 to 100",
            practice=(
                _rating(
                    _RIGHT,
                    "This text says all that happens; most people agree strongly.",
                    adequacy=(70, 100),
                ),
                _rating(_WRONG, _OTHER, adequacy=(0, 30)),
            ),
            needs_people=True,
        ),
        Protocol(
            "adequacy-fluency",
            "rating",
            1,
            (ADEQUACY, FLUENCY),
            (0, 100),
            words="one caption, two sliders from 0 to 100",
            practice=(
                _rating(
                    _WRONG,
                    f"{_OTHER} It is good English, though.",
                    adequacy=(0, 30),
                    fluency=(60, 100),
                ),
                _rating(
                    "Dog a jump frisbee beach catch is on.",
                    "The words are right, but this is no English sentence.",
                    fluency=(0, 40),
                ),
            ),
            needs_people=True,
        ),
        Protocol(
            "ranking",
            "ranking",
            0,
            _RANKED,
            (1, 0),
            words="the captions of all systems in order, by four criteria",
            practice=(
                Practice(
                    ("A dog is on a beach.", _RIGHT, _WRONG),
                    {
                        "correctness": [(1, 2), (1, 2), (3, 3)],
                        "relevance": _RANKS,
                        "helpful": _RANKS,
                    },
                    "The second text tells most of what happens, the third tells of something "
                    "else.",
                    "",
                    _SCENE,
                ),
            ),
        ),
        Protocol(
            "against-reference",
            "comparison",
            2,
            (_RANKED[3],),
            (-1, 1),
            (_BETTER[0], (0.0, "Both are similar"), _BETTER[1]),
            words="is a caption as helpful as the reference?",
            practice=_pair(helpful=(1, 1)),
            needs_people=True,
        ),
        Protocol(
            "forced-choice",
            "comparison",
            2,
            _RANKED[:2],
            (-1, 1),
            _BETTER,
            words="which of two captions is better?",
            practice=_pair(correctness=(1, 1), relevance=(1, 1)),
        ),
        Protocol(
            "preference",
            "comparison",
            2,
            (
                Criterion(
                    "story",
                    "Which captions describe the entire video correctly, with the events in the "
                    "right order?",
                ),
            ),
            (-2, 2),
            (
                (-2.0, "The first is much better"),
                (-1.0, "The first is better"),
                (0.0, "Both are alike"),
                (1.0, "The second is better"),
                (2.0, "The second is much better"),
            ),
            words="which of two captions is better, from -2 to 2",
            practice=_pair(story=(1, 2)),
        ),
    )
}

# Judges of a parser see what it made of a clause; its campaigns are made by `reelscore parse`.
PARSER_CHECK = Protocol(
    "parser-check",
    "rating",
    1,
    (
        Criterion("clause", "Do the words make up one clause of the caption, all and no others?"),
        Criterion("nlp", "Are all tags and phrases right?"),
        Criterion("roles", "Are subject, verb, object and location right, and is none missing?"),
        Criterion("wsd", "Do the words have these meanings here?"),
    ),
    (0, 1),
    ((1.0, "Right"), (0.0, "Wrong")),
)


def protocol(name: str) -> Protocol:
    """Look a protocol up by its name.

    Raises:
        UnknownNameError: If there is none of that name.

    >>> protocol("preference").scale
    (-2, 2)
    """
    if name == PARSER_CHECK.name:
        return PARSER_CHECK
    check_choice("protocol", name, PROTOCOLS)
    return PROTOCOLS[name]
