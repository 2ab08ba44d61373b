"""Do two tables of scores fit together as they stand, or after a shift of the items?

Both tables are systems × items, in the order of the items. A shift of k compares what the first
table says of item p with what the second says of item p + k, round the end. Scores are centred by
system, so that good and bad systems alone prove nothing; the sum of products, over systems and
items, is large where the tables speak of the same captions.

What chance gives is known exactly: if each item of the first table were sent to a random item of
the second, the same for all systems, the sum would have mean 0 and the variance of Hoeffding
(1951), ``tr(A Aᵀ B Bᵀ) / (items - 1)``. Where neighbouring items resemble one another, that is
too narrow; then the spread over all far shifts is taken instead.

Some tools return a list of scores in the order of sorted ids, whatever order they were given. With
ids such as "1", "2", … "10" that is "1", "10", "2", …: whoever pairs the list with the captions as
they stand gets a table that looks sound, and in which nearly every score is somebody else's. So
such orders are tried too, where no shift fits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Row = tuple[str, str]  # system and item
Kind = Literal["aligned", "shifted", "mixed", "reordered", "cannot tell"]

LEVEL = 0.001  # chance of a false alarm that is aimed at, over all shifts together
WINDOW = 10  # shifts either way that are looked at closely
BLOCKS = 10
_FEWEST = 10  # items with scores in both tables; with fewer there is nothing to tell
_FAR = 30  # far shifts needed to know their spread
_CLEAR = 1.64  # how much better 0 must fit than the next shift, to call a table aligned


@dataclass(frozen=True)
class Scan:
    """How well each shift fits."""

    shifts: NDArray[np.int64]  # the shifts looked at
    parts: FloatArray  # what each item adds to the sum at each shift, shifts × items
    scale: float  # the spread of the sums by chance
    weights: FloatArray  # each item's share of the variance; 0 for items without scores
    strengths: FloatArray  # correlation within systems, or mean similarity, at each shift
    tests: int  # how many shifts were tried, for the correction

    def z(self, part: slice = slice(None)) -> FloatArray:
        """Standard scores of the shifts, over all items or a run of them."""
        scale = self.scale * np.sqrt(self.weights[part].sum())
        sums: FloatArray = self.parts[:, part].sum(axis=1)
        return sums / scale if scale > 0 else np.zeros(len(self.shifts))

    def gain(self, shift: int, over: int, part: slice = slice(None)) -> float:
        """Standard score of how much better one shift fits than another, item by item."""
        differences = (self.parts[self.at(shift)] - self.parts[self.at(over)])[part]
        spread = np.sqrt(np.square(differences).sum())
        return float(differences.sum() / spread) if spread > 0 else 0.0

    def best(self, part: slice = slice(None)) -> int:
        """Return the shift that fits best; of equals, the one nearest to 0."""
        z = self.z(part)
        return int(min(self.shifts[z >= z.max() - 1e-9], key=abs))

    def runner_up(self) -> int:
        """Return the shift that fits next best."""
        z = self.z()
        z[self.at(self.best())] = -np.inf
        return int(self.shifts[np.argmax(z)])

    def at(self, shift: int) -> int:
        """Return where a shift stands in the arrays."""
        return int(np.flatnonzero(self.shifts == shift)[0])

    @property
    def used(self) -> int:
        """How many items have scores."""
        return int(np.count_nonzero(self.weights))

    @cached_property
    def blocks(self) -> list[slice]:
        """Runs of items that hold equal numbers of scored ones."""
        scored = np.flatnonzero(self.weights)
        if len(scored) < BLOCKS:
            return []
        begins = [0, *(int(part[0]) for part in np.array_split(scored, BLOCKS)[1:])]
        ends = [*begins[1:], len(self.weights)]
        return [slice(begin, end) for begin, end in zip(begins, ends, strict=True)]


@dataclass(frozen=True)
class ShiftVerdict:
    """What the shifts say."""

    # ``aligned``, ``shifted``, ``mixed`` (parts differ), ``reordered`` (scores are in another order
    # than their ids) or ``cannot tell``
    kind: Kind
    shift: int = 0  # the shift that fits best
    z: float = 0.0  # its standard score against chance
    strength: float = 0.0  # its correlation within systems, or mean similarity
    blocks: Sequence[int] = field(default=())  # the best shift in each tenth of the items
    parts: Sequence[str] = field(default=())  # for ``mixed``: which part has which shift, in words
    order: str = ""  # for ``reordered``: the order the scores are in

    def __str__(self) -> str:
        if self.kind == "mixed":
            return f"mixed: {'; '.join(self.parts)}"
        if self.kind == "reordered":
            also = f", and shifted by {signed(self.shift)}" if self.shift else ""
            return f"scores in another order: {self.order}{also} (z = {self.z:.1f})"
        by = f" by {signed(self.shift)}" if self.kind == "shifted" else ""
        return f"{self.kind}{by} (z = {self.z:.1f})".replace("-", "−")

    @property
    def misaligned(self) -> bool:
        """Whether something is wrong beyond doubt."""
        return self.kind in ("shifted", "mixed", "reordered")

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return {**vars(self), "blocks": list(self.blocks), "parts": list(self.parts)}


def signed(shift: int) -> str:
    """Write a shift with its sign.

    >>> signed(-1), signed(3), signed(0)
    ('−1', '+3', '0')
    """
    return f"{shift:+d}".replace("-", "−") if shift else "0"


def scan_shifts(first: FloatArray, second: FloatArray, window: int = WINDOW) -> Scan:
    """Compare two tables at every shift."""
    one, two = _centred(first), _centred(second)
    items = one.shape[1]
    spectrum = np.conj(np.fft.rfft(one)) * np.fft.rfft(two)
    sums = np.fft.irfft(spectrum.sum(axis=0), items)  # of all shifts at once
    window = min(window, (items - 1) // 2)
    near = np.arange(-window, window + 1)
    best = int(np.argmax(sums))
    best = best - items if best > items // 2 else best
    shifts = np.union1d(near, [best])
    known = np.isfinite(first)
    rolled = [np.roll(two, -shift, axis=1) for shift in shifts]
    parts = np.stack([(one * each).sum(axis=0) for each in rolled])
    squares = np.array([np.square(each[known]).sum() for each in rolled])
    norms = np.sqrt(np.square(one).sum() * squares)
    totals = parts.sum(axis=1)
    weights = np.square(one).sum(axis=0)
    return Scan(
        shifts=shifts,
        parts=parts,
        scale=_scale(one, two, sums, best, window),
        weights=weights / max(weights.sum(), 1e-300),
        strengths=np.divide(totals, norms, out=np.zeros(len(shifts)), where=norms > 0),
        tests=items,
    )


def decide(
    scan: Scan, names: Sequence[str], systems: dict[str, Scan] | None = None
) -> ShiftVerdict:
    """Decide from a scan: one shift for all, several, or no clear answer.

    A shift is only found where it fits far better than chance *and* far better than no shift,
    item by item, corrected for all shifts tried. So data on which the tables have nothing to do
    with one another gives "cannot tell", whatever its order.
    """
    best, z = scan.best(), scan.z()
    verdict = ShiftVerdict(
        "cannot tell",
        best,
        float(z[scan.at(best)]),
        float(scan.strengths[scan.at(best)]),
        [scan.best(block) for block in scan.blocks],
    )
    if scan.used < _FEWEST:
        return verdict
    several = _by_system(scan, best, systems or {}) or _by_place(scan, names)
    if several:
        return replace(verdict, kind="mixed", parts=several)
    if best != 0 and verdict.z >= critical(scan.tests) and scan.gain(best, 0) >= critical(1):
        return replace(verdict, kind="shifted")
    if best == 0 and verdict.z >= critical(1) and scan.gain(0, scan.runner_up()) >= _CLEAR:
        return replace(verdict, kind="aligned")
    return verdict


def critical(tests: int) -> float:
    """Return the standard score that chance exceeds with probability `LEVEL`, in any of the tests.

    >>> round(critical(1), 2), round(critical(2000), 2)
    (3.09, 4.89)
    """
    from statistics import NormalDist

    return NormalDist().inv_cdf(1 - LEVEL / tests)


def _by_system(scan: Scan, best: int, systems: dict[str, Scan]) -> list[str]:
    """Find systems whose own shift is not that of the others."""
    limit = critical(scan.tests * max(1, len(systems)))
    odd: dict[int, list[str]] = {}
    for name, own in systems.items():
        shift = own.best()
        if shift == best or own.used < _FEWEST or best not in own.shifts:
            continue
        if own.z()[own.at(shift)] >= limit and own.gain(shift, best) >= critical(len(systems)):
            odd.setdefault(shift, []).append(name)
    rest = [f"the other systems by {signed(best)}"] if odd else []
    return [
        f"shifted by {signed(shift)} in {', '.join(names)}" for shift, names in sorted(odd.items())
    ] + rest


def _by_place(scan: Scan, names: Sequence[str]) -> list[str]:
    """Find the place from which on another shift fits, if there is one."""
    limit, clear = critical(scan.tests * BLOCKS), critical(BLOCKS)
    parts: list[str] = []
    most = 0.0
    for block in scan.blocks[1:]:
        before, after = slice(0, block.start), slice(block.start, None)
        one, two = scan.best(before), scan.best(after)
        if one == two:
            continue
        evidence = [scan.z(before)[scan.at(one)], scan.z(after)[scan.at(two)]]
        gains = [scan.gain(one, two, before), scan.gain(two, one, after)]
        if min(evidence) >= limit and min(gains) >= clear and sum(evidence) > most:
            most = sum(evidence)
            where = repr(names[block.start])
            parts = [f"shifted by {signed(one)} up to about item {where}"]
            parts.append(f"by {signed(two)} from there on")
    return parts


def _centred(scores: FloatArray) -> FloatArray:
    """Centre each system's scores and put 0 where there is none."""
    known = np.isfinite(scores)
    counts = np.maximum(known.sum(axis=1, keepdims=True), 1)
    means = np.where(known, scores, 0.0).sum(axis=1, keepdims=True) / counts
    return np.where(known, scores - means, 0.0)


def _scale(one: FloatArray, two: FloatArray, sums: FloatArray, best: int, window: int) -> float:
    """Return the spread by chance: of random assignments, or of far shifts where that is larger."""
    items = len(sums)
    exact = np.sqrt(((one @ one.T) * (two @ two.T)).sum() / max(1, items - 1))
    near = np.arange(-window, window + 1)
    far = np.delete(sums, np.unique(np.concatenate([near, near + best]) % items))
    if len(far) < _FAR:
        far = np.delete(sums, np.unique([0, best % items]))
    return float(max(exact, far.std() if len(far) else 0.0))


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
) -> tuple[str, Scan] | None:
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
    return name, scan
