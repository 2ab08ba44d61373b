"""Scores that stand beside the wrong captions, because a tool returned them in its own order.

Some tools return a list of scores in the order of sorted ids, whatever order they were given. With
ids such as "1", "2", … "10" that is "1", "10", "2", …: whoever pairs the list with the captions as
they stand gets a table that looks sound, and in which nearly every score is somebody else's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from reelscore.meta.shifts import FloatArray, Scan, critical, scan_shifts

Row = tuple[str, str]  # system and item


class Pairing(NamedTuple):
    """An order that scores are in, and how well they fit once brought into the right one."""

    order: str
    scan: Scan


def orders(rows: Sequence[Row]) -> Iterator[tuple[str, list[int]]]:
    """Yield the orders in which tools return the scores of rows, other than that of the rows."""
    numbers = [str(row) for row in range(len(rows) + 1)]
    keys: dict[str, list[Any]] = {
        "item ids sorted as strings": [item for _, item in rows],
        "row numbers from 1 sorted as strings": numbers[1:],
        "row numbers from 0 sorted as strings": numbers[:-1],
        "ids of system and item sorted as strings": [f"{system}/{item}" for system, item in rows],
    }
    ends = [re.search(r"[0-9]+$", item) for _, item in rows]
    if all(ends):
        keys["item ids sorted as numbers"] = [int(end[0]) for end in ends if end]
    seen = {tuple(range(len(rows)))}
    for name, values in keys.items():
        if name.startswith("item ids"):
            order = _within_systems(rows, values)
        else:
            order = sorted(range(len(values)), key=values.__getitem__)
        if tuple(order) not in seen:
            seen.add(tuple(order))
            yield name, order


def _within_systems(rows: Sequence[Row], values: Sequence[Any]) -> list[int]:
    """Sort the rows of each system by themselves; each system keeps its places."""
    places: dict[str, list[int]] = {}
    for row, (system, _) in enumerate(rows):
        places.setdefault(system, []).append(row)
    order = [0] * len(rows)
    for own in places.values():
        for place, row in zip(own, sorted(own, key=values.__getitem__), strict=True):
            order[place] = row
    return order


def repaired(
    scores: FloatArray, rows: Sequence[tuple[int, int]], order: Sequence[int]
) -> FloatArray:
    """Return every score to the row it belongs to.

    >>> repaired(np.array([[0.1, 0.2, 0.3]]), [(0, 0), (0, 1), (0, 2)], [2, 0, 1]).tolist()
    [[0.2, 0.3, 0.1]]
    """
    places = np.array(rows)
    moved = np.full(scores.shape, np.nan)
    target = places[np.array(order)]
    moved[target[:, 0], target[:, 1]] = scores[places[:, 0], places[:, 1]]
    return moved


def better_pairing(
    people: FloatArray,
    scores: FloatArray,
    given: Scan,
    row_orders: Sequence[Sequence[Row]],
    place: Callable[[Row], tuple[int, int] | None],
) -> Pairing | None:
    """Find an order in which scores fit people's judgments far better than as they stand."""
    tried: set[frozenset[Any]] = set()
    fits: list[tuple[float, str, Scan]] = []
    for rows in row_orders:
        places = [(row, at) for row in rows if (at := place(row)) is not None]
        places = [(row, at) for row, at in places if np.isfinite(scores[at])]
        known = [at for _, at in places]
        for name, order in orders([row for row, _ in places]):
            moves = frozenset((at, known[row]) for at, row in zip(known, order, strict=True))
            if moves in tried:
                continue
            tried.add(moves)
            scan = scan_shifts(people, repaired(scores, known, order))
            fits.append((float(scan.z().max()), name, scan))
    if not fits:
        return None
    highest, name, scan = max(fits, key=lambda fit: fit[0])
    tests = given.tests * (1 + len(fits))
    differences = scan.parts[scan.at(scan.best())] - given.parts[given.at(given.best())]
    spread = float(np.sqrt(np.square(differences).sum()))
    gain = float(differences.sum()) / spread if spread > 0 else 0.0
    if highest < critical(tests) or gain < critical(1):
        return None
    return Pairing(name, scan)
