"""Rule sets for degraded captions: how many words go, and from where.

``plos`` is Table 2 of Graham, Awad and Smeaton (2018); the others are what tools of Direct
Assessment do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reelscore.errors import UnknownNameError


@dataclass(frozen=True)
class Rules:
    """How captions are spoilt.

    Attributes:
        name: What the rule set is called.
        steps: Lengths of captions with the number of words that go: up to that length, so many.
        beyond: The number of words that go from a longer caption.
        head: Words at the start that stay.
        tail: Words at the end that stay. Where a caption is too short, the end yields first: of
            three words two go, those after the first; of two words, both.
        longest: The most words that come in; 0: words only go.
        lone: What a caption of one word becomes, the first of these that is different; none: the
            word of another caption.
        capital: Whether a lone word gets a capital letter.

    >>> [RULES["plos"].replaced(length) for length in (1, 2, 5, 6, 8, 9, 15, 16, 20, 21, 24, 40)]
    [1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 6, 10]
    """

    name: str
    steps: tuple[tuple[int, int], ...]
    beyond: Callable[[int], int]
    head: int = 1
    tail: int = 1
    longest: int | None = None
    lone: tuple[str, ...] = ()
    capital: bool = False

    def replaced(self, length: int) -> int:
        """Tell how many words of a caption go."""
        for longest, words in self.steps:
            if length <= longest:
                return words
        return self.beyond(length)

    def starts(self, length: int) -> range:
        """Give the places where the span that goes may begin.

        >>> [list(RULES["plos"].starts(length)) for length in (1, 2, 3, 4, 5, 6)]
        [[0], [0], [1], [1], [1, 2], [1, 2]]
        """
        last = length - self.replaced(length)
        head = min(self.head, last)
        return range(head, max(head, last - self.tail) + 1)


def _quarter(length: int) -> int:
    return length // 4


def _fifth(length: int) -> int:
    return -(-length // 5)


def _six(_: int) -> int:
    return 6


_TABLE_2 = ((1, 1), (5, 2), (8, 3), (15, 4), (20, 5))
RULES = {
    rules.name: rules
    for rules in (
        Rules("plos", _TABLE_2, _quarter),
        Rules(
            "direct-assessment",
            ((3, 1), (5, 2), (7, 3), (14, 4), (19, 5)),
            _quarter,
            tail=2,
            longest=6,
            capital=True,
        ),
        Rules("appraise", _TABLE_2, _six, head=0),
        Rules(
            "crowd-alone",
            ((3, 1), (5, 2), (8, 3), (15, 4), (20, 5)),
            _fifth,
            longest=0,
            lone=("The", "A"),
        ),
    )
}


def rule_set(name: str) -> Rules:
    """Look a rule set up by its name.

    ``plos`` is Table 2 of the paper; of the six examples in its Table 3, four follow it, one loses
    four of eight words, one loses four words for three. ``direct-assessment`` is the tool for
    translations: fewer words of the shortest captions, more of those of eight, and never more
    than six come in. ``appraise`` may begin at the first word and never replaces more than six.
    ``crowd-alone`` takes words away and puts none in their place. In all of them words come from
    another video, which the tools leave to chance.

    Args:
        name: The name of the rule set.

    Raises:
        UnknownNameError: If there is none of that name.

    >>> rule_set("crowd-alone").replaced(21)
    5
    """
    try:
        return RULES[name]
    except KeyError:
        raise UnknownNameError.of("rule set", name, RULES) from None
