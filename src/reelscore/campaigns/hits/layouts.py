"""Layouts: how many tasks of each kind a HIT has, and how far controls are from their captions."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from reelscore.errors import DataError, check_choice
from reelscore.text.damages.degraded import rule_set


@dataclass(frozen=True)
class HitLayout:
    """What a HIT of ratings is made of."""

    systems: int  # captions of systems
    humans: int = 0  # human captions, hidden among them as one more system
    degraded_humans: int = 0  # degraded captions of as many of the human captions
    degraded_systems: int = 0  # degraded captions of as many captions of systems
    repeated_humans: int = 0  # human captions shown once more
    repeated_systems: int = 0  # captions of systems shown once more
    # human captions of the same videos as captions of systems, as mere controls
    references: int = 0
    distance: int = 10  # the least distance of a caption and its controls; 1: none
    # into how many sets the HIT is divided; a caption's controls are in the set half the HIT away,
    # and the order is random inside a set only. 1: in the whole HIT
    sets: int = 1
    rules: str = "plos"  # how captions are degraded, see `reelscore.text.damages.degraded`
    # fewer pairs of a caption and its degraded caption are refused: quality control tests each
    # rater on them
    least_pairs: int = 10

    def __post_init__(self) -> None:
        numbers = {name: getattr(self, name) for name in _PARTS}
        for name, number in {**numbers, "least_pairs": self.least_pairs}.items():
            if number < 0:
                raise DataError(f"A HIT with {name}:{number}; expected 0 or more.")
        if self.systems < 1 or self.distance < 1 or self.sets < 1:
            raise DataError("A HIT needs systems, distance and sets of at least 1.")
        rule_set(self.rules)
        if max(self.degraded_humans, self.repeated_humans) > self.humans:
            raise DataError(
                f"A HIT with {self.humans} human captions cannot have "
                f"{self.degraded_humans} degraded and {self.repeated_humans} repeated."
            )
        controls = self.degraded_systems + self.repeated_systems + self.references
        if controls > self.systems:
            raise DataError(
                f"A HIT with {self.systems} captions of systems cannot have {controls} that "
                "are degraded, repeated or shown with a reference; each caption has at most one "
                "of these controls."
            )
        if self.pairs < self.least_pairs:
            raise DataError(
                f"A HIT with {self.pairs} pairs of a caption and its degraded caption; expected at "
                f"least {self.least_pairs}. Add some, or allow fewer: least_pairs:{self.pairs}."
            )
        if self.sets > 1 and (self.sets % 2 or any(n % self.sets for n in numbers.values())):
            raise DataError(
                f"{self.sets} sets; expected an even number that divides the tasks of each sort "
                f"({self})."
            )

    def fitted(self, systems: int, humans: int) -> HitLayout:
        """Return the layout for a small set, with this many captions of systems and of people.

        >>> str(LAYOUTS["pilot"].fitted(12, 6)).partition(" sets")[0]
        'systems:12 humans:6 degraded_humans:6 repeated_humans:2 repeated_systems:3 distance:7'
        """
        if min(systems, humans) < LEAST_ITEMS:
            raise DataError(
                f"A pilot needs different captions of systems and of people for {LEAST_ITEMS} "
                f"items; there are {systems} of systems and {humans} of people."
            )
        people = min(self.humans, humans)
        small = replace(
            self,
            systems=min(self.systems, systems),
            humans=people,
            degraded_humans=min(self.degraded_humans, people),
            repeated_humans=min(self.repeated_humans, people // 2),
            repeated_systems=min(self.repeated_systems, systems // 2),
            least_pairs=min(self.least_pairs, people),
        )
        return replace(small, distance=min(self.distance, small.size // 4))

    @property
    def size(self) -> int:
        """How many tasks a HIT has."""
        return sum(getattr(self, name) for name in _PARTS)

    @property
    def pairs(self) -> int:
        """How many pairs of a caption and its degraded caption a HIT has."""
        return self.degraded_humans + self.degraded_systems

    @classmethod
    def parse(cls, text: str) -> HitLayout:
        """Read a layout from words such as ``systems:70 humans:10``; the rest has its default."""
        values: dict[str, int | str] = {}
        for word in text.split():
            name, colon, value = word.partition(":")
            check_choice("part of a layout", name, _NAMES)
            if name in values or not colon or (name != "rules" and not value.isdecimal()):
                raise DataError(
                    f"{word!r} in the layout {text!r}; expected each part once, as name:number."
                )
            values[name] = value if name == "rules" else int(value)
        if "systems" not in values:
            raise DataError(f"The layout {text!r} has no captions of systems; add systems:70.")
        return cls(**values)  # type: ignore[arg-type]

    def __str__(self) -> str:
        """Return the form that `parse` reads, complete but for what a HIT has none of."""
        told = [(name, getattr(self, name)) for name in _NAMES]
        return " ".join(f"{name}:{value}" for name, value in told if name not in _PARTS or value)


_NAMES = tuple(field.name for field in fields(HitLayout))
_PARTS = _NAMES[:7]  # what a HIT consists of; the rest says how

LEAST_ITEMS = 4  # of a pilot
PILOT = "pilot"  # the layout that fits itself to small sets
LAYOUTS = {
    "trecvid": HitLayout(70, 10, degraded_humans=10, repeated_humans=5, repeated_systems=5),
    "wmt": HitLayout(
        70,
        degraded_systems=10,
        repeated_systems=10,
        references=10,
        sets=10,
        rules="direct-assessment",
    ),
    "appraise": HitLayout(
        80, degraded_systems=10, repeated_systems=5, references=5, rules="appraise"
    ),
    PILOT: HitLayout(15, 10, degraded_humans=10, repeated_humans=2, repeated_systems=3),
}


def layout(name: str) -> HitLayout:
    """Look a layout up by its name, or read one from words such as ``systems:70 humans:10``.

    ``trecvid``: 70 captions of systems, 5 of them repeated, 10 human captions, 5 of them repeated,
    and 10 degraded captions of these. In the released scores of TRECVid every HIT has 70 captions
    of systems, exactly 5 of them repeated, and 10 human captions; the paper adds 10 degraded
    ones. The remaining 5 of 100 tasks are not in the files. As the paper draws repeats from all
    systems, people being one of them, they are taken to be repeats of human captions.

    ``wmt``: ten sets of 7 captions of systems, a degraded caption of one, a repeat and a reference.
    Controls come from the set five sets away: they stand 41 to 59 tasks from their captions.

    ``appraise``: 80 captions of systems, 10 degraded captions, 5 repeats, 5 references; Appraise
    shuffles them freely, here controls keep their distance.

    ``pilot``: 40 tasks, for rehearsals and small sets: 15 captions of systems, 10 human captions
    with their degraded captions, 5 repeats; fewer where there are not so many captions.

    >>> layout("wmt").size, layout("appraise").size
    (100, 100)
    """
    if ":" in name:
        return HitLayout.parse(name)
    check_choice("layout", name, LAYOUTS)
    return LAYOUTS[name]
