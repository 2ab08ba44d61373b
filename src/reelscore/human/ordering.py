"""The order of tasks in a HIT, and names that tell raters nothing."""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence

from reelscore.errors import DataError

_MIXING = 10  # exchanges for each task, until any order that is allowed is as likely as another
_PATIENCE = 2000  # exchanges for each task, before the search is given up


def spaced(groups: Sequence[Hashable], distance: int, rng: random.Random) -> list[int]:
    """Order tasks at random, those of one group at least so far apart.

    From a random order on, pairs of tasks change places unless that brings twins too near. In
    the long run every order that keeps the distance is equally likely.

    Args:
        groups: Which group each task belongs to.
        distance: The least difference between two places of a group.
        rng: The source of chance.

    Returns:
        The tasks by number, in order.

    Raises:
        DataError: If no such order is found.

    >>> order = spaced(["a", "b", "a", "b", "c"], 3, random.Random(1))
    >>> abs(order.index(0) - order.index(2)) >= 3, sorted(order)
    (True, [0, 1, 2, 3, 4])
    """
    size = len(groups)
    order = rng.sample(range(size), size)
    members: dict[Hashable, list[int]] = {}
    for task, group in enumerate(groups):
        members.setdefault(group, []).append(task)
    largest = max(map(len, members.values()), default=0)
    if (largest - 1) * distance >= size:
        raise DataError(_too_far(size, distance))
    place = [0] * size
    for k, task in enumerate(order):
        place[task] = k
    twins = [[other for other in members[groups[task]] if other != task] for task in range(size)]

    def too_near(task: int) -> int:
        return sum(abs(place[task] - place[other]) < distance for other in twins[task])

    def swap(one: int, other: int) -> None:
        place[one], place[other] = place[other], place[one]

    conflicts = sum(map(too_near, range(size)))  # each pair twice
    for trial in range(_PATIENCE * size):
        if conflicts == 0 and trial >= _MIXING * size:
            break
        one, other = rng.randrange(size), rng.randrange(size)
        before = too_near(one) + too_near(other)
        swap(one, other)
        change = too_near(one) + too_near(other) - before
        if change > 0:
            swap(one, other)
        else:
            conflicts += 2 * change
    if conflicts:
        raise DataError(_too_far(size, distance))
    return sorted(range(size), key=place.__getitem__)


def _too_far(size: int, distance: int) -> str:
    return (
        f"No order of the {size} tasks of a HIT keeps twins {distance} tasks apart. Lower the "
        "distance, or have fewer twins."
    )


class Names:
    """Names of HITs and tasks, all different, that tell nothing of what they name.

    >>> names = Names(random.Random(1))
    >>> names.new() != names.new()
    True
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._taken: set[str] = set()

    def new(self) -> str:
        """Make a name: twelve hexadecimal digits."""
        while True:
            name = f"{self._rng.getrandbits(48):012x}"
            if name not in self._taken:
                self._taken.add(name)
                return name
