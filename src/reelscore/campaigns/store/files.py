"""A whole campaign in plain files: written as it stands at one moment, and made of them again."""

from __future__ import annotations

import csv
import io
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, FromClause, Row, Select, Table, func, select

from reelscore.campaigns.protocols import Protocol
from reelscore.campaigns.store.answers import AT_ONCE
from reelscore.campaigns.store.campaigns import (
    insert_campaign,
    read_humans,
    read_settings,
    read_state,
    read_systems,
)
from reelscore.campaigns.store.hits import move, refuse
from reelscore.campaigns.store.lines import (
    FORMAT,
    LINES,
    OLD_FORMAT,
    CampaignLine,
    FileLine,
    JudgmentLine,
    columns,
    file_name,
    place,
    read_lines,
    to_line,
    to_row,
)
from reelscore.campaigns.store.records import Terms, check_terms
from reelscore.campaigns.store.schema import (
    assignment,
    hit,
    metadata,
    shown,
    task,
)
from reelscore.data.atomic_files import opened_atomically, write_atomically
from reelscore.data.checks import Problems
from reelscore.data.spreadsheet import harmless
from reelscore.errors import DataError, ReelscoreError
from reelscore.store.database import Database, writing
from reelscore.store.staging import analyze, fill, repeated, stage
from reelscore.store.values import from_iso, to_iso

_KINDS: dict[type[FileLine], str] = {line: kind for kind, line in LINES.items()}
_WATCHED = re.compile(r"(web \d+x\d+) seen (\d+)%")
Numbered = Iterable[tuple[int, FileLine]]


def export(connection: Connection, terms: Terms, path: Path) -> None:
    """Write everything: one file if the name ends in .jsonl, else a folder."""
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
    row = terms.row()
    return CampaignLine(
        format=FORMAT,
        systems=list(read_systems(connection, terms)),
        state=read_state(connection, terms),
        settings=read_settings(connection, terms),
        humans=list(read_humans(connection, terms)),
        **row | {"created": to_iso(row["created"])},
    )


def _lines(connection: Connection, terms: Terms, kind: str) -> Iterator[FileLine]:
    query = _query(kind, terms).execution_options(yield_per=AT_ONCE)
    for row in connection.execute(query):
        yield to_line(kind, row)


def _query(kind: str, terms: Terms) -> Select[Any]:
    """Select the columns of a line, in an order that a restored campaign has again."""
    table = metadata.tables[kind]
    if kind in ("judgment", "skip"):
        rows: FromClause = table.join(assignment, assignment.c.id == table.c.assignment)
    elif kind == "assignment":
        of_hit, of_task = hit.c.key == table.c.hit, task.c.key == table.c.task
        rows = table.join(hit, of_hit).outerjoin(task, of_task)
    else:
        rows = table
    if kind in ("shown", "judgment", "skip"):
        rows = rows.join(task, task.c.key == table.c.task)
    if kind in ("task", "shown", "judgment", "skip"):
        rows = rows.join(hit, hit.c.key == task.c.hit)
    # names of other things stand for the keys that the database has
    task_id = func.coalesce(task.c.id, "")  # an assignment may have none yet
    names = {"hit": hit.c.id, "task": task_id, "rater": assignment.c.rater}
    values = [names[name] if name in names else table.c[name] for name, _ in columns(kind)]
    owner = table if kind in ("caption", "event") else hit
    order = [table.c[name] for name in _ORDER[kind].split()]
    return select(*values).select_from(rows).where(owner.c.campaign == terms.id).order_by(*order)


_ORDER = {
    "caption": "system item",
    "hit": "key",
    "task": "key",
    "shown": "task slot",
    "assignment": "hit slot turn",
    "judgment": "id",
    "skip": "time assignment task",
    "event": "id",
}


def restore(database: Database, path: Path, id: str | None) -> str:
    """Make the campaign, or leave everything as it was; see `Campaign.restore`."""
    problems = Problems(str(path))
    lines = read_lines(path, problems)
    campaign, terms = _campaign(path, lines, problems, id)
    with database.staging() as connection:
        with connection.begin():  # only temporary tables: nobody waits meanwhile
            staged = {kind: stage(connection, f"new_{kind}", columns(kind)) for kind in LINES}
            for kind, of_kind in _in_order(path, lines):
                fill(connection, staged[kind], _rows(of_kind, path, terms.protocol, problems))
            analyze(connection, *staged.values())
        problems.raise_if_any()
        with writing(connection):
            said = (campaign.systems, campaign.humans, campaign.settings, campaign.state)
            insert_campaign(connection, terms, *said)
            _check_places(connection, staged["assignment"], path)
            for kind, table in staged.items():
                move(connection, terms, kind, table, partial(place, path, kind))
            _check_captions(connection, terms, path)
    return terms.id


def _campaign(
    path: Path, lines: Iterator[tuple[int, FileLine]], problems: Problems, id: str | None
) -> tuple[CampaignLine, Terms]:
    _, first = next(lines, (0, None))
    problems.raise_if_any()
    if not isinstance(first, CampaignLine):
        raise DataError(f"{path}: does not begin with a campaign; is this the right file?")
    if first.format == OLD_FORMAT:
        first = _renewed_campaign(first)
    elif first.format != FORMAT:
        raise DataError(
            f"{path}: the format is {first.format!r}, expected {FORMAT!r}. A newer version of "
            "reelscore may know it."
        )
    try:
        row = {**msgspec.structs.asdict(first), "created": from_iso(first.created)}
        terms = Terms.of(row | {"id": id or first.id})
        check_terms(terms, first.systems, first.settings, first.humans)
    except ReelscoreError as error:
        raise DataError(f"{path}: the campaign cannot be used: {error}") from None
    return first, terms


def _renewed_campaign(first: CampaignLine) -> CampaignLine:
    """Read the first line of the old format, which says among the settings who is people."""
    settings = dict(first.settings)
    humans = settings.pop("humans", None) or []
    humans = [name for name in first.systems if name in humans]
    return msgspec.structs.replace(first, settings=settings, humans=humans)


def _renewed_judgment(line: JudgmentLine) -> JudgmentLine:
    """Read a line of the old format, which says after the client how much was watched."""
    said = _WATCHED.fullmatch(line.client)
    if said is None:
        return line
    return msgspec.structs.replace(line, client=said[1], watched=int(said[2]) / 100)


def _in_order(path: Path, lines: Numbered) -> Iterator[tuple[str, Numbered]]:
    """Yield the lines type by type, and refuse types that come too late."""
    waiting = list(LINES)
    for line_type, group in groupby(lines, key=lambda numbered: type(numbered[1])):
        kind = _KINDS.get(line_type, "campaign")
        if kind not in waiting:
            raise DataError(
                f"{path}: lines of type {kind!r} out of order; after the campaign come "
                f"{', '.join(LINES)}."
            )
        del waiting[: waiting.index(kind) + 1]
        yield kind, group


def _rows(
    lines: Numbered, path: Path, asked: Protocol, problems: Problems
) -> Iterator[Sequence[object]]:
    for number, line in lines:
        try:
            if isinstance(line, JudgmentLine):
                line = _renewed_judgment(line)
                asked.check_score(line.criterion, line.score)
                if line.slot and asked.form != "ranking":
                    raise DataError(f"the slot is {line.slot}; {asked.name} judges the first.")
            yield number, *to_row(line)
        except DataError as error:
            problems.add(f"{place(path, _KINDS[type(line)], number)}: {error}")


def _check_places(connection: Connection, staged: Table, path: Path) -> None:
    """Refuse places that two raters have, and raters who have two places."""
    state, rater = staged.c.state, staged.c.rater
    where = partial(place, path, "assignment")
    rules: tuple[tuple[list[Any], Any, str], ...] = (
        ([staged.c.hit, staged.c.slot], state != "abandoned", "the place is taken"),
        ([staged.c.hit, rater], rater != "", "the rater has the HIT"),
        ([rater], state == "held", "the rater holds another HIT"),
        ([staged.c.hit, staged.c.replaces], staged.c.replaces != "", "the rater is replaced"),
    )

    def taken(what: str, row: Row[Any]) -> str:
        return f"{where(row.line)}: {what} in {where(row.first)} already."

    refuse(
        connection,
        str(path),
        *((repeated(staged, key).where(among), partial(taken, what)) for key, among, what in rules),
        (
            select(staged.c.line).where((state == "open") != (rater == "")).order_by(staged.c.line),
            lambda row: f"{where(row.line)}: an assignment has a rater unless it is open.",
        ),
    )


def _check_captions(connection: Connection, terms: Terms, path: Path) -> None:
    """Refuse tasks that do not show as many captions as the protocol asks about."""
    count = func.count(shown.c.slot)
    wanted = terms.protocol.captions
    wrong = (
        select(hit.c.id.label("hit"), task.c.id, count.label("count"), func.max(shown.c.slot))
        .select_from(task.join(hit).outerjoin(shown, shown.c.task == task.c.key))
        .where(hit.c.campaign == terms.id)
        .group_by(hit.c.id, task.c.id, task.c.key)
        .having((count != wanted) if wanted else (count == 0))
        .order_by(task.c.key)
    )

    def fault(row: Row[Any]) -> str:
        shows = f"{path}: task {row.id!r} of HIT {row.hit!r} shows {row.count} captions"
        return f"{shows}; {terms.protocol.name} shows {wanted or 'at least 1'}."

    refuse(connection, str(path), (wrong, fault))
