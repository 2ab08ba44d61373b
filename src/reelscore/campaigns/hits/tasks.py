"""What is shown to raters: HITs of tasks, each with one video and one or more captions.

A plan is all HITs that were built, how they came about, and how often they show each caption.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal, NamedTuple, get_args

from reelscore.campaigns.protocols import Protocol
from reelscore.data.checks import counted as counted
from reelscore.errors import DataError
from reelscore.store.values import check_name, check_text

# caption: of a system, people among them; repeat: the same again; degraded: with words replaced;
# reference: a human caption as a mere control; test: a question whose answer is known.
Kind = Literal["caption", "repeat", "degraded", "reference", "test"]
KINDS: tuple[Kind, ...] = get_args(Kind)
GENUINE: tuple[Kind, ...] = ("caption", "repeat")  # these are judgments of a system


@dataclass(frozen=True)
class Shown:
    """One caption as a task shows it: whose it is, and the text as it is shown."""

    system: str
    text: str
    kind: Kind = "caption"


@dataclass(frozen=True)
class Task:
    """One screen: a video and its captions, in the order shown.

    Attributes:
        id: Unique in the campaign, and telling nothing of what it is.
        item: The video.
        shown: The captions; one for a rating.
        expected: For a test question, the score that a rater who watched must give.
    """

    id: str
    item: str
    shown: tuple[Shown, ...]
    expected: float | None = None


@dataclass(frozen=True)
class Hit:
    """The tasks that one rater takes on together, in the order they are shown.

    >>> Hit("h1", (Task("t1", "clip1", (Shown("mine", "a dog runs"),)),)).tasks[0].item
    'clip1'
    """

    id: str
    tasks: tuple[Task, ...]


def check_hit(hit: Hit, protocol: Protocol, systems: Collection[str]) -> None:
    """Refuse a HIT that does not fit the protocol or shows captions of unknown systems."""
    check_name(hit.id, "the HIT")
    if not hit.tasks:
        raise DataError(f"HIT {hit.id!r} has no tasks.")
    seen: set[str] = set()
    for task in hit.tasks:
        check_name(task.id, "the task")
        place = f"HIT {hit.id!r}, task {task.id!r}"
        if task.id in seen:
            raise DataError(f"{place}: the HIT has another task of this id.")
        seen.add(task.id)
        _check_task(task, protocol, place)
        for caption in task.shown:
            _check_caption(caption, systems, place)


def _check_task(task: Task, protocol: Protocol, place: str) -> None:
    check_name(task.item, f"{place}: the item")
    fault = protocol.captions_fault(len(task.shown))
    if fault:
        raise DataError(f"{place}: {fault}.")
    if task.expected is not None and not math.isfinite(task.expected):
        raise DataError(f"{place}: the expected score is {task.expected}; expected a number.")
    names = [caption.system for caption in task.shown]
    if protocol.form == "ranking" and len(set(names)) < len(names):
        raise DataError(f"{place}: two captions of the same system; a ranking shows one of each.")


def _check_caption(caption: Shown, systems: Collection[str], place: str) -> None:
    check_name(caption.system, f"{place}: the system")
    check_text(caption.text, f"{place}: the caption")
    if caption.kind not in KINDS:
        raise DataError(f"{place}: the kind is {caption.kind!r}; expected {', '.join(KINDS)}.")
    if caption.kind in GENUINE and caption.system not in systems:
        raise DataError(
            f"{place}: a caption of {caption.system!r}, which is not a system of the campaign "
            f"({', '.join(sorted(systems))})."
        )


class ShownCounts(NamedTuple):
    """How often captions are shown, controls not counted."""

    systems: dict[str, int]  # how often any caption of each system
    captions: dict[tuple[str, str], int]  # how often each caption, by system and item


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

    def coverage(self) -> ShownCounts:
        """Count how often each caption and each system is shown."""
        captions = Counter(
            (shown.system, task.item) for task, shown in self._shown if shown.kind == "caption"
        )
        systems = Counter(system for system, _ in captions.elements())
        return ShownCounts(dict(sorted(systems.items())), dict(sorted(captions.items())))

    def kinds(self) -> dict[Kind, int]:
        """Count the captions shown, by what they are there for."""
        counts = Counter(shown.kind for _, shown in self._shown)
        return {kind: counts[kind] for kind in KINDS if counts[kind]}

    @property
    def _shown(self) -> list[tuple[Task, Shown]]:
        return [(task, shown) for task in self.tasks for shown in task.shown]

    def __str__(self) -> str:
        sizes = sorted({len(hit.tasks) for hit in self.hits})
        size = counted(sizes[0], "task") if len(sizes) == 1 else f"{sizes[0]}–{sizes[-1]} tasks"
        kinds = ", ".join(counted(n, _KINDS[kind]) for kind, n in self.kinds().items())
        systems = [f"  {name}: {n}" for name, n in self.coverage().systems.items()]
        head = f"{counted(len(self.hits), 'HIT')} of {size}: {kinds} ({self.signature})"
        return "\n".join([head, *systems, *self.notes])


_KINDS: dict[Kind, str] = {
    "caption": "caption",
    "repeat": "repeat",
    "degraded": "degraded caption",
    "reference": "reference",
    "test": "test caption",
}


def captions_shown(hits: Iterable[Hit], kind: Kind = "caption") -> dict[str, dict[str, str]]:
    """Return the captions of one kind that HITs show, by system and item; empty ones left out."""
    captions: dict[str, dict[str, str]] = {}
    for task in chain.from_iterable(hit.tasks for hit in hits):
        for shown in task.shown:
            if shown.kind == kind and shown.text:
                captions.setdefault(shown.system, {})[task.item] = shown.text
    return captions
