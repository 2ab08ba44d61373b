"""Whether a HIT can have been done as it came: by the server's own times."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from reelscore.human.store.campaigns import read_settings
from reelscore.human.store.records import Terms
from reelscore.human.store.schema import judgment, task

MEDIA = "media"  # of the settings: the seconds of each item's video
_QUICK = 1.0  # seconds: nobody watches, reads and answers faster
_FEW = 3  # quick answers that may be accidents
_SHARE = 0.1  # of the HIT's answers that may be quick
_LEAST = 0.9 / 2  # of a video's length: pages play at up to twice the speed, and ask for 90 %

_TIMES = (
    select(judgment.c.task, judgment.c.opened, judgment.c.received, task.c.item)
    .join(task, task.c.key == judgment.c.task)
    .where(judgment.c.assignment == bindparam("assignment"))
    .distinct()
)


def answer_flags(terms: Terms, row: Row[Any], started: int | None) -> set[str]:
    """Name what is wrong with the times of one answer.

    Args:
        terms: The campaign.
        row: The assignment, and the task as ``key``.
        started: When the task was shown, as the rater's page says.
    """
    flags = set()
    if row.task != row.key:
        flags.add("unopened")
    if started is not None and started < terms.created * 1e6:
        flags.add("early")
    return flags


def hit_flags(connection: Connection, terms: Terms, assignment: int) -> set[str]:
    """Name what is wrong with the times of a finished HIT.

    A video counts once, however many tasks show it: who knows it need not watch it again.
    """
    rows = connection.execute(_TIMES, {"assignment": assignment}).all()
    times = [0.0 if row.opened is None else (row.received - row.opened) / 1e6 for row in rows]
    flags = set()
    quick = sum(time < _QUICK for time in times)
    if quick >= _FEW and quick > _SHARE * len(times):
        flags.add("burst")
    durations = read_settings(connection, terms).get(MEDIA) or {}
    playing = sum(durations.get(item, 0.0) for item in {row.item for row in rows})
    if sum(times) < _LEAST * playing:
        flags.add("too-fast")
    return flags
