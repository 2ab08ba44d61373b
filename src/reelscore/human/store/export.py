"""Write a whole campaign to plain files, as it stands at one moment."""

from __future__ import annotations

import csv
import io
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, func, select

from reelscore.data.atomic_files import opened_atomically, write_atomically
from reelscore.data.spreadsheet import harmless
from reelscore.errors import DataError
from reelscore.human.store.campaigns import read_humans, read_settings, read_state, read_systems
from reelscore.human.store.lines import (
    FORMAT,
    LINES,
    CampaignLine,
    Line,
    columns,
    file_name,
    to_line,
)
from reelscore.human.store.queries import AT_ONCE
from reelscore.human.store.records import Terms
from reelscore.human.store.schema import (
    assignment,
    caption,
    event,
    hit,
    judgment,
    metadata,
    shown,
    skip,
    task,
)
from reelscore.store.values import microseconds, to_iso


def export(connection: Connection, terms: Terms, path: Path) -> None:
    """Write everything: one file if the name ends in .jsonl, else a folder.

    Raises:
        DataError: If it cannot be written there.
    """
    if path.suffix.lower() == ".jsonl":
        _export_jsonl(connection, terms, path)
    elif path.suffix.lower() in (".csv", ".json"):
        raise DataError(
            f"{path}: a campaign is written to one .jsonl file or to a folder; change the name."
        )
    else:
        _export_folder(connection, terms, path)


def _export_jsonl(connection: Connection, terms: Terms, path: Path) -> None:
    encoder = msgspec.json.Encoder()
    with opened_atomically(path, private=True) as file:
        file.write(encoder.encode(_campaign_line(connection, terms)) + b"\n")
        for kind in LINES:
            for line in _lines(connection, terms, kind):
                file.write(encoder.encode(line) + b"\n")


def _export_folder(connection: Connection, terms: Terms, path: Path) -> None:
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise DataError(f"{path}: exists already and is not empty; name a new folder.")
    aside = path.with_name(f".{path.name[:50]}.{secrets.token_hex(4)}.tmp")
    try:
        aside.mkdir(mode=0o700)
        campaign = msgspec.json.encode(_campaign_line(connection, terms))
        write_atomically(aside / "campaign.json", campaign + b"\n", private=True)
        for kind in LINES:
            with opened_atomically(aside / file_name(kind), private=True) as file:
                text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
                # csv leaves a lone CR unquoted, and then reads it as the end of a line
                table = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
                table.writerow(name for name, _ in columns(kind))
                for line in _lines(connection, terms, kind):
                    table.writerow(map(harmless, msgspec.structs.astuple(line)))
                text.detach()
        aside.rename(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _campaign_line(connection: Connection, terms: Terms) -> CampaignLine:
    return CampaignLine(
        format=FORMAT,
        id=terms.id,
        name=terms.name,
        systems=list(read_systems(connection, terms)),
        protocol=terms.protocol.name,
        layout=terms.layout,
        seed=terms.seed,
        state=read_state(connection, terms),
        raters_per_hit=terms.raters_per_hit,
        hold=terms.hold,
        created=to_iso(microseconds(terms.created)) or "",
        settings=read_settings(connection, terms),
        humans=list(read_humans(connection, terms)),
    )


def _lines(connection: Connection, terms: Terms, kind: str) -> Iterator[Line]:
    found = _query(kind, terms).execution_options(yield_per=AT_ONCE)
    for row in connection.execute(found):
        yield to_line(kind, row)


def _query(kind: str, terms: Terms) -> Select[Any]:
    """Select the columns of a line, in an order that a restored campaign has again."""
    own_columns = metadata.tables[kind].c
    if kind in _ALONE:
        own = [own_columns[name] for name, _ in columns(kind)]
        return select(*own).filter_by(campaign=terms.id).order_by(*_ALONE[kind])
    tables = {
        "hit": hit,
        "task": task.join(hit, hit.c.key == task.c.hit),
        "shown": shown.join(task, task.c.key == shown.c.task).join(hit, hit.c.key == task.c.hit),
        "assignment": assignment.join(hit, hit.c.key == assignment.c.hit).outerjoin(
            task, task.c.key == assignment.c.task
        ),
        "judgment": judgment.join(assignment, assignment.c.id == judgment.c.assignment)
        .join(task, task.c.key == judgment.c.task)
        .join(hit, hit.c.key == task.c.hit),
        "skip": skip.join(assignment, assignment.c.id == skip.c.assignment)
        .join(task, task.c.key == skip.c.task)
        .join(hit, hit.c.key == task.c.hit),
    }
    order = {
        "hit": [hit.c.key],
        "task": [task.c.key],
        "shown": [shown.c.task, shown.c.slot],
        "assignment": [assignment.c.hit, assignment.c.slot, assignment.c.turn],
        "judgment": [judgment.c.id],
        "skip": [skip.c.time, skip.c.assignment, skip.c.task],
    }
    # names of other things stand for the keys that the database has
    task_id = func.coalesce(task.c.id, "")  # an assignment may have none yet
    names = {"hit": hit.c.id, "task": task_id, "rater": assignment.c.rater}
    values = [names[name] if name in names else own_columns[name] for name, _ in columns(kind)]
    found = select(*values).select_from(tables[kind])
    return found.where(hit.c.campaign == terms.id).order_by(*order[kind])


# Lines that refer to nothing else, and their order.
_ALONE = {"event": [event.c.id], "caption": [caption.c.system, caption.c.item]}
