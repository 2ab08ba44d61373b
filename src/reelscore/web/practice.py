"""Practice tasks, with what most people would answer; they need no video."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from reelscore.errors import DataError
from reelscore.human.protocols import Answer, Protocol
from reelscore.human.store.checks import captions_fault

Range = tuple[float, float]


class Practice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One task with feedback.

    Attributes:
        captions: What is judged.
        expected: By criterion, the lowest and highest score that is fine, for each score.
        feedback: Why.
        item: The video; empty for none.
        context: What to read instead of a video.
    """

    captions: tuple[str, ...]
    expected: dict[str, list[Range]]
    feedback: str
    item: str = ""
    context: str = ""

    def check(self, protocol: Protocol) -> None:
        """Refuse a practice task that the protocol could not show, or whose answer nobody can give.

        Raises:
            DataError: If the captions or the expected answers do not fit.

        >>> from reelscore.human.protocols import PROTOCOLS
        >>> practice = Practice(("a dog",), {"adequacy": [(70, 200)]}, "")
        >>> practice.check(PROTOCOLS["direct-assessment"])
        Traceback (most recent call last):
        reelscore.errors.DataError: Practice 'a dog': adequacy: the score is 200; expected a ...
        """
        place = f"Practice {' / '.join(self.captions)[:60]!r}"
        fault = captions_fault(len(self.captions), protocol)
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
        """Tell whether an answer is what most people would give.

        >>> PRACTICE["direct-assessment"][0].is_fine({"adequacy": [90]})
        True
        """
        return all(
            low <= score <= high
            for criterion, ranges in self.expected.items()
            for (low, high), score in zip(ranges, answer.get(criterion, ()), strict=False)
        )


_SCENE = "Imagine a video: on a beach, a brown dog leaps into the air and catches a red frisbee."
_RIGHT = "A brown dog jumps and catches a frisbee on the beach."
_WRONG = "A woman rides a horse through a dark forest."
_PART = "A dog is on a beach."
_BROKEN = "Dog a jump frisbee beach catch is on."

_DESCRIBES = "This text says all that happens; most people agree strongly."
_OTHER = "This text tells of something else; most people disagree strongly."


def _rating(text: str, feedback: str, **ranges: Range) -> Practice:
    return Practice((text,), {name: [each] for name, each in ranges.items()}, feedback, "", _SCENE)


def _pair(expected: Mapping[str, Range], feedback: str) -> Practice:
    ranges = {name: [each] for name, each in expected.items()}
    return Practice((_WRONG, _RIGHT), ranges, feedback, "", _SCENE)


_BETTER = "The second text tells what happens, the first tells of something else."
_RANKS: list[Range] = [(2, 3), (1, 1), (2, 3)]

PRACTICE: dict[str, tuple[Practice, ...]] = {
    "direct-assessment": (
        _rating(_RIGHT, _DESCRIBES, adequacy=(70, 100)),
        _rating(_WRONG, _OTHER, adequacy=(0, 30)),
    ),
    "adequacy-fluency": (
        _rating(
            _WRONG, f"{_OTHER} It is good English, though.", adequacy=(0, 30), fluency=(60, 100)
        ),
        _rating(_BROKEN, "The words are right, but this is no English sentence.", fluency=(0, 40)),
    ),
    "ranking": (
        Practice(
            (_PART, _RIGHT, _WRONG),
            {"correctness": [(1, 2), (1, 2), (3, 3)], "relevance": _RANKS, "helpful": _RANKS},
            "The second text tells most of what happens, the third tells of something else.",
            "",
            _SCENE,
        ),
    ),
    "against-reference": (_pair({"helpful": (1, 1)}, _BETTER),),
    "forced-choice": (_pair({"correctness": (1, 1), "relevance": (1, 1)}, _BETTER),),
    "preference": (_pair({"story": (1, 2)}, _BETTER),),
}
