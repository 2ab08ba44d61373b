"""What people decided about segments and sentences: one line each, only ever added to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO

import msgspec

from reelscore._records import resolved
from reelscore.corpus.project_files import Decision, Segment, TimedSentence
from reelscore.errors import DataError, RefusedError

_SAME = 0.5  # overlap (IoU) from which on a new segment is the old one


def read_decisions(path: Path) -> list[Decision]:
    """Read all decisions of a film, in the order in which they were made.

    The last line may be cut off by a crash, and is left out then.
    """
    if not path.exists():
        return []
    decisions = []
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                decisions.append(msgspec.json.decode(line, type=resolved(Decision)))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            if number == len(lines):  # without its line end: never finished
                break
            raise DataError(f"{path}:{number}: not a decision ({error}).") from None
    return decisions


def append_decision(path: Path, decision: Decision, *, version: int | None = None) -> int:
    """Add a decision, safe on the disk before this returns.

    It is refused where there are more decisions than the `version` it was made at.
    """
    with path.open("ab+") as file:
        _lock(file)  # until it is closed
        file.seek(0)
        content = file.read()
        whole = content.rfind(b"\n") + 1
        count = sum(bool(line.strip()) for line in content[:whole].split(b"\n"))
        if version is not None and version != count:
            raise RefusedError(
                "conflict",
                f"There are {count} decisions about this film, and {version} when this one was "
                "made: somebody else has decided meanwhile. Look again, then decide.",
            )
        if whole < len(content):  # the line of a crash: never finished
            file.truncate(whole)
        file.write(msgspec.json.encode(decision) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return count + 1


def _lock(file: IO[bytes]) -> None:
    """Keep other processes from adding decisions at the same time, where the system can."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
    except (ImportError, OSError):  # Windows; a file system without locks
        return


def best_overlap(
    about: Mapping[str, object], items: Iterable[Segment | TimedSentence]
) -> str | None:
    """Find what overlaps most with the times of a decision, at least by half (IoU).

    >>> best_overlap({"start": 4.0, "end": 6.0}, [Segment("n4", 4.1, 6, 4.1, 6, -8.0, 0.9)])
    'n4'
    """
    start, end = about.get("start"), about.get("end")
    if not (isinstance(start, (int, float)) and isinstance(end, (int, float))):
        return None
    best, share = None, 0.0
    for item in items:
        if item.start is None or item.end is None:
            continue
        shared = min(end, item.end) - max(start, item.start)
        overlap = shared / ((max(end, item.end) - min(start, item.start)) or 1.0)
        if overlap >= _SAME and overlap > share:
            best, share = item.id, overlap
    return best
