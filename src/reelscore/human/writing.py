"""Judgments as a plain table, which `reelscore.human.reading.read_judgments` reads back."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Any

import msgspec

from reelscore.data.spreadsheet import spreadsheet_csv
from reelscore.human.judgments import Judgment

_TIMES = ("started", "submitted", "opened", "received")


def judgments_csv(judgments: Iterable[Judgment]) -> str:
    r"""Write judgments as CSV, every field a column, times in UTC.

    >>> print(judgments_csv([Judgment("r1", "h1", "t1", 0, "mine", "v1", "caption", 71.0)]))
    rater,hit,task,position,system,item,kind,score,criterion,against,started,...
    r1,h1,t1,0,mine,v1,caption,71.0,adequacy,,,...
    <BLANKLINE>
    """
    return spreadsheet_csv([Judgment.__struct_fields__, *map(_cells, judgments)])


def _cells(judgment: Judgment) -> list[Any]:
    values = msgspec.structs.asdict(judgment)
    for name in _TIMES:
        values[name] = None if values[name] is None else _utc(values[name])
    return ["" if value is None else value for value in values.values()]


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat().replace("+00:00", "Z")
