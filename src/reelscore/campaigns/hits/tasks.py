"""What is shown to raters: HITs of tasks, each with one video and one or more captions."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

from reelscore.campaigns.protocols import Protocol
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
    """Refuse a HIT that does not fit the protocol or shows captions of unknown systems.

    Args:
        hit: The HIT.
        protocol: What raters are asked.
        systems: The systems of the campaign, people among them.

    Raises:
        DataError: If something does not fit.

    >>> from reelscore.campaigns.protocols import PROTOCOLS
    >>> empty = Hit("h1", (Task("t1", "clip1", ()),))
    >>> check_hit(empty, PROTOCOLS["direct-assessment"], ["mine"])
    Traceback (most recent call last):
    reelscore.errors.DataError: HIT 'h1', task 't1': 0 captions; direct-assessment shows 1.
    """
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
