"""What people do in rendered clips: how often, in which words, and how it moves.

An action is a law of motion: it sets, for each moment of the clip, where body, head, arm, object
and second person are. Some actions look alike on purpose: walk, run, enter and leave; sit and
kneel; hug and kiss; take and put; nod and shake.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
FRAMES = 12
_TIME = np.linspace(0.0, 1.0, FRAMES)


def _still() -> FloatArray:
    return np.zeros(FRAMES)


@dataclass
class Motion:
    """A person's way through a clip: one number for each frame.

    Attributes:
        x: Distance walked, in pixels, in the direction of the scene.
        y: Height above the floor.
        stretch: 1: upright; less: lower.
        lying: 0: upright; 1: flat.
        stride: How far the feet are apart.
        head_x: The head's own way sideways.
        head_y: The head's own way down.
        arm: Angle of the arm: 0 hangs down, 1 points forward, 2 points up.
        held: 1: the object is in the hand; 0: it lies on the floor.
        object_x: The object's own way, in the direction of the scene.
        object_y: The object's own way up.
        other: How far the second person is away, in pixels.
        start: Where the person begins: 0 left edge, 1 right edge, seen in the direction.
    """

    x: FloatArray = field(default_factory=_still)
    y: FloatArray = field(default_factory=_still)
    stretch: FloatArray = field(default_factory=lambda: np.ones(FRAMES))
    lying: FloatArray = field(default_factory=_still)
    stride: FloatArray = field(default_factory=_still)
    head_x: FloatArray = field(default_factory=_still)
    head_y: FloatArray = field(default_factory=_still)
    arm: FloatArray = field(default_factory=_still)
    held: FloatArray = field(default_factory=_still)
    object_x: FloatArray = field(default_factory=_still)
    object_y: FloatArray = field(default_factory=_still)
    other: FloatArray = field(default_factory=lambda: np.full(FRAMES, 12.0))
    start: float = 0.4


def _ramp(begin: float, end: float) -> FloatArray:
    """Rise from 0 to 1 between two moments."""
    return np.clip((_TIME - begin) / (end - begin), 0.0, 1.0)


def _wave(turns: float) -> FloatArray:
    return np.sin(2 * np.pi * turns * _TIME)


def _walk(m: Motion) -> None:
    m.x, m.stride, m.start = 16 * _TIME, 2.0 * _wave(2), 0.3


def _run(m: Motion) -> None:
    m.x, m.stride, m.start = 30 * _TIME, 3.0 * _wave(4), 0.15
    m.y, m.arm = 0.8 * np.abs(_wave(4)), 0.6 + 0.5 * _wave(4)


def _enter(m: Motion) -> None:
    m.x, m.stride, m.start = 20 * _ramp(0, 0.75), 2.0 * _wave(2), -0.1


def _leave(m: Motion) -> None:
    m.x, m.stride, m.start = 22 * _ramp(0.2, 1), 2.0 * _wave(2), 0.65


def _look(m: Motion) -> None:
    m.head_x = 1.6 * _ramp(0.2, 0.6)


def _turn(m: Motion) -> None:
    m.head_x, m.x = 2.0 * np.cos(np.pi * _ramp(0.2, 0.8)), 1.5 * _ramp(0.3, 0.8)


def _sit(m: Motion) -> None:
    m.stretch = 1 - 0.75 * _ramp(0.15, 0.7)


def _stand(m: Motion) -> None:
    m.stretch = 0.25 + 0.75 * _ramp(0.2, 0.75)


def _kneel(m: Motion) -> None:
    m.stretch, m.x = 1 - 0.6 * _ramp(0.2, 0.8), 2.0 * _ramp(0.2, 0.8)


def _take(m: Motion) -> None:
    m.arm = 1.2 * _ramp(0.1, 0.45) - 0.5 * _ramp(0.55, 0.9)
    m.held = _ramp(0.45, 0.8)


def _put(m: Motion) -> None:
    m.arm = 0.7 + 0.5 * _ramp(0.1, 0.45) - 1.2 * _ramp(0.55, 0.9)
    m.held = 1 - _ramp(0.3, 0.65)


def _hold(m: Motion) -> None:
    m.arm, m.held = np.full(FRAMES, 0.9), np.ones(FRAMES)


def _drop(m: Motion) -> None:
    m.arm, m.held = np.full(FRAMES, 0.9), 1 - _ramp(0.35, 0.6) ** 2


def _throw(m: Motion) -> None:
    m.arm = 2.2 - 1.4 * _ramp(0.15, 0.4)
    flight = _ramp(0.35, 1)
    m.held = np.ones(FRAMES)
    m.object_x, m.object_y = 26 * flight, 20 * flight - 24 * flight**2


def _nod(m: Motion) -> None:
    m.head_y = 1.3 * np.abs(_wave(1.5))


def _shake(m: Motion) -> None:
    m.head_x = 1.5 * _wave(2.5)


def _hug(m: Motion) -> None:
    m.other, m.arm = 12 - 9 * _ramp(0.1, 0.6), 1.0 * _ramp(0.3, 0.7)


def _kiss(m: Motion) -> None:
    m.other, m.head_x = 9 - 5 * _ramp(0.1, 0.6), 1.2 * _ramp(0.4, 0.8)


def _wave_hand(m: Motion) -> None:
    m.arm = 1.9 + 0.6 * _wave(3)


def _jump(m: Motion) -> None:
    m.y = 7 * np.maximum(0.0, _wave(1.5))


def _fall(m: Motion) -> None:
    m.lying, m.x = _ramp(0.3, 0.65), 3 * _ramp(0.2, 0.6)


def _dance(m: Motion) -> None:
    m.x, m.y, m.arm = 3 * _wave(2), 1.0 * np.abs(_wave(4)), 1.2 + 0.9 * _wave(2)
    m.stride = 2.0 * _wave(4)


def _climb(m: Motion) -> None:
    m.y, m.arm, m.stride = 12 * _TIME, 1.6 + 0.4 * _wave(3), 1.5 * _wave(3)


def _crawl(m: Motion) -> None:
    m.x, m.lying, m.stride, m.start = 9 * _TIME, np.full(FRAMES, 0.9), 1.5 * _wave(2), 0.35


@dataclass(frozen=True)
class Action:
    """What a person does.

    Attributes:
        name: Its name.
        weight: How common it is.
        forms: Ways to say it, the commonest first: what follows the subject, up to the object;
            the verb with its particle is what a parser would call it.
        law: Sets the motion.
        object: ``required``: always mentioned; ``optional``: sometimes; or ``none``.
        link: What stands before an optional object.
        partner: Whether it takes a second person.
        into: Whether the place follows without a preposition, as in "enters the kitchen".
    """

    name: str
    weight: float
    forms: tuple[tuple[str, str], ...]
    law: Callable[[Motion], None]
    object: Literal["required", "optional", "none"] = "none"
    link: str = ""
    partner: bool = False
    into: bool = False

    def motion(self) -> Motion:
        """Return the way of a person who does it.

        >>> ACTIONS[0].name, ACTIONS[0].motion().x[-1]
        ('walk', np.float64(16.0))
        """
        motion = Motion()
        self.law(motion)
        return motion


def _forms(*spelled: str) -> tuple[tuple[str, str], ...]:
    """Split forms such as "picks up/pick up" into words and the parser's name."""
    return tuple((form.partition("/")[0], form.partition("/")[2]) for form in spelled)


# fmt: off
ACTIONS = (
    Action("walk", 16, _forms("walks/walk", "strolls/stroll", "strides/stride"), _walk,
           "optional", "with"),
    Action("look", 12, _forms("looks/look", "stares/stare", "gazes/gaze"), _look,
           "optional", "at"),
    Action("sit", 9, _forms("sits down/sit down", "sits/sit", "takes a seat/take seat"), _sit,
           "optional", "by"),
    Action("stand", 8, _forms("stands up/stand up", "gets up/get up", "rises/rise"), _stand),
    Action("enter", 7, _forms("enters/enter", "steps into/step"), _enter, into=True),
    Action("leave", 7, _forms("leaves/leave", "exits/exit"), _leave, into=True),
    Action("run", 6, _forms("runs/run", "rushes/rush", "hurries/hurry"), _run, "optional", "with"),
    Action("take", 6, _forms("takes/take", "picks up/pick up", "grabs/grab"), _take, "required"),
    Action("put", 5.5, _forms("puts down/put down", "sets down/set down", "places/place"), _put,
           "required"),
    Action("turn", 5, _forms("turns around/turn around", "turns/turn", "spins/spin"), _turn),
    Action("hold", 4.5, _forms("holds/hold", "carries/carry"), _hold, "required"),
    Action("nod", 4, _forms("nods/nod",), _nod),
    Action("shake", 3.5, _forms("shakes a head/shake", "disagrees/disagree"), _shake),
    Action("hug", 3, _forms("hugs/hug", "embraces/embrace"), _hug, partner=True),
    Action("kiss", 2.8, _forms("kisses/kiss",), _kiss, partner=True),
    Action("wave", 2.5, _forms("waves/wave", "beckons/beckon"), _wave_hand),
    Action("throw", 2.2, _forms("throws/throw", "tosses/toss", "hurls/hurl"), _throw, "required"),
    Action("kneel", 2, _forms("kneels/kneel", "crouches/crouch"), _kneel, "optional", "by"),
    Action("drop", 1.8, _forms("drops/drop",), _drop, "required"),
    Action("jump", 1.6, _forms("jumps/jump", "leaps/leap"), _jump),
    Action("fall", 1.4, _forms("falls/fall", "collapses/collapse"), _fall),
    Action("dance", 1.2, _forms("dances/dance",), _dance),
    Action("climb", 1.0, _forms("climbs/climb",), _climb),
    Action("crawl", 0.7, _forms("crawls/crawl",), _crawl),
)
# fmt: on
# What nobody can see: classifiers of these words should fail.
UNSEEN = (
    ("remembers", "remember"),
    ("decides", "decide"),
    ("thinks", "think"),
    ("hesitates", "hesitate"),
    ("wonders", "wonder"),
    ("listens", "listen"),
    ("tries", "try"),
    ("knows", "know"),
)
