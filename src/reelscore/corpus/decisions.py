"""What people decided about segments and sentences: one line each, only ever added to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from reelscore.corpus.records import Decision, Segment
from reelscore.errors import DataError

_SAME = 0.5  # overlap (IoU) from which on a new segment is the old one


def read_decisions(path: Path) -> list[Decision]:
    """Read all decisions of a film, in the order in which they were made.

    Args:
        path: The file `decisions.jsonl`; without it there are none.

    Raises:
        DataError: If a line is no decision; the last may be cut off by a crash and is left out.
    """
    if not path.exists():
        return []
    decisions = []
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                decisions.append(msgspec.json.decode(line, type=Decision))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            if number == len(lines):  # without its line end: never finished
                break
            raise DataError(f"{path}:{number}: not a decision ({error}).") from None
    return decisions


def append_decision(path: Path, decision: Decision) -> None:
    """Add a decision, safe on the disk before this returns.

    Args:
        path: The file `decisions.jsonl`; made if it is not there.
        decision: The decision.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "decisions.jsonl")
    ...     append_decision(file, Decision("2026-01-01T00:00:00Z", "ada", "n1", "accept"))
    ...     [decision.action for decision in read_decisions(file)]
    ['accept']
    """
    with path.open("ab+") as file:
        end = file.seek(0, os.SEEK_END)
        if end:
            file.seek(end - 1)
            cut_off = file.read(1) != b"\n"
            if cut_off:  # the line of a crash: it stays apart from the new one
                whole = path.read_bytes()
                file.truncate(whole.rfind(b"\n") + 1)
        file.write(msgspec.json.encode(decision) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def attach_decisions(
    decisions: Iterable[Decision], segments: Sequence[Segment]
) -> tuple[dict[str, list[Decision]], list[Decision]]:
    """Find the segments that decisions are about after segments were made anew.

    Args:
        decisions: The decisions, in their order.
        segments: The new segments.

    Returns:
        The decisions by the id of their segment: the same id, or else the largest overlap with
        what they were about, at least 0.5 IoU; and those that no segment is left for.

    >>> old = {"start": 4.0, "end": 6.0}
    >>> moved = Decision("2026-01-01T00:00:00Z", "ada", "n4", "accept", before=old)
    >>> new = Segment("n4.1", 4.1, 6.0, 4.1, 6.0, -8.0, 0.9)
    >>> attached, orphaned = attach_decisions([moved], [new])
    >>> list(attached), orphaned
    (['n4.1'], [])
    """
    ids = {segment.id for segment in segments}
    attached: dict[str, list[Decision]] = {}
    orphaned = []
    for decision in decisions:
        target = decision.target if decision.target in ids else _overlapping(decision, segments)
        if target is None:
            orphaned.append(decision)
        else:
            attached.setdefault(target, []).append(decision)
    return attached, orphaned


def _overlapping(decision: Decision, segments: Sequence[Segment]) -> str | None:
    times = decision.after or decision.before or {}
    start, end = times.get("start"), times.get("end")
    if not (isinstance(start, (int, float)) and isinstance(end, (int, float))):
        return None
    best, share = None, 0.0
    for segment in segments:
        shared = min(end, segment.end) - max(start, segment.start)
        overlap = shared / (max(end, segment.end) - min(start, segment.start))
        if overlap >= _SAME and overlap > share:
            best, share = segment.id, overlap
    return best
