"""What is shown to raters: HITs of tasks, each with one video and one or more captions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

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
