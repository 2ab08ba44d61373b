"""Judgments as a plain table, which `reelscore.human.reading.read_judgments` reads back."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Any

import msgspec

from reelscore.human.judgments import Judgment

_TIMES = ("started", "submitted")


def judgments_csv(judgments: Iterable[Judgment]) -> str:
    r"""Write judgments as CSV, every field a column, times in UTC.

    >>> print(judgments_csv([Judgment("r1", "h1", "t1", 0, "mine", "v1", "caption", 71.0)]))
    rater,hit,task,position,system,item,kind,score,criterion,against,started,...
    r1,h1,t1,0,mine,v1,caption,71.0,adequacy,,,...
    <BLANKLINE>
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    fields = Judgment.__struct_fields__
    times = [fields.index(name) for name in _TIMES]
    writer.writerow(fields)
    for row in judgments:
        cells: list[Any] = [
            "" if value is None else value for value in msgspec.structs.astuple(row)
        ]
        for place in times:
            if cells[place] != "":
                cells[place] = _utc(cells[place])
        writer.writerow(cells)
    return out.getvalue()


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat().replace("+00:00", "Z")
