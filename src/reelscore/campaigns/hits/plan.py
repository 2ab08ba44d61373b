"""A plan: the HITs that were built, how they came about, and how often they show each caption."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain

from reelscore.campaigns.hits.tasks import KINDS, Hit, Kind, Shown, Task


@dataclass(frozen=True)
class Coverage:
    """How often captions are shown, controls not counted.

    Attributes:
        systems: How often any caption of each system.
        captions: How often each caption, by system and item.
    """

    systems: dict[str, int]
    captions: dict[tuple[str, str], int]


@dataclass(frozen=True)
class HitPlan:
    """HITs, ready to be given to raters.

    Attributes:
        hits: The HITs.
        signature: How they were made, enough to make them again from the same captions.
        notes: What a reader should know, such as captions that are shown again.
        captions: What they were made of, by system and item, people's among them.

    >>> hit = Hit("h1", (Task("t1", "v1", (Shown("mine", "a dog"),)),))
    >>> plan = HitPlan((hit,), "hits|seed:1", ("Each caption is shown once.",))
    >>> plan.coverage().captions
    {('mine', 'v1'): 1}
    >>> print(plan)
    1 HIT of 1 task: 1 caption (hits|seed:1)
      mine: 1
    Each caption is shown once.
    """

    hits: tuple[Hit, ...]
    signature: str
    notes: tuple[str, ...] = ()
    captions: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)

    @property
    def tasks(self) -> list[Task]:
        """All tasks of all HITs, in order."""
        return list(chain.from_iterable(hit.tasks for hit in self.hits))

    @property
    def expected(self) -> dict[str, float]:
        """The answers to the test questions, by task."""
        return {task.id: task.expected for task in self.tasks if task.expected is not None}

    def coverage(self) -> Coverage:
        """Count how often each caption and each system is shown."""
        captions = Counter(
            (shown.system, task.item) for task, shown in self._shown if shown.kind == "caption"
        )
        systems = Counter(system for system, _ in captions.elements())
        return Coverage(dict(sorted(systems.items())), dict(sorted(captions.items())))

    def kinds(self) -> dict[Kind, int]:
        """Count the captions shown, by what they are there for."""
        counts = Counter(shown.kind for _, shown in self._shown)
        return {kind: counts[kind] for kind in KINDS if counts[kind]}

    @property
    def _shown(self) -> list[tuple[Task, Shown]]:
        return [(task, shown) for task in self.tasks for shown in task.shown]

    def __str__(self) -> str:
        sizes = sorted({len(hit.tasks) for hit in self.hits})
        size = _counted(sizes[0], "task") if len(sizes) == 1 else f"{sizes[0]}–{sizes[-1]} tasks"
        kinds = ", ".join(_counted(n, _KINDS[kind]) for kind, n in self.kinds().items())
        systems = [f"  {name}: {n}" for name, n in self.coverage().systems.items()]
        head = f"{_counted(len(self.hits), 'HIT')} of {size}: {kinds} ({self.signature})"
        return "\n".join([head, *systems, *self.notes])


_KINDS: dict[Kind, str] = {
    "caption": "caption",
    "repeat": "repeat",
    "degraded": "degraded caption",
    "reference": "reference",
    "test": "caption of test question",
}


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
