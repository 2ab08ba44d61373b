"""Practice tasks, with what most people would answer; they need no video."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from reelscore.human.protocol import Answer

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
