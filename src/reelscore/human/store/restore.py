"""Make a campaign of its plain files: staged and checked first, then moved in as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, Table, func, select

from reelscore.data.checks import Problems
from reelscore.errors import DataError, ReelscoreError
from reelscore.human.protocols import Protocol, protocol
from reelscore.human.store.campaigns import insert_campaign
from reelscore.human.store.checks import check_terms
from reelscore.human.store.import_plan import move
from reelscore.human.store.lines import (
    FORMAT,
    LINES,
    OLD_FORMAT,
    CampaignLine,
    JudgmentLine,
    Line,
    columns,
    place,
    read_lines,
    to_row,
)
from reelscore.human.store.records import Terms
from reelscore.human.store.schema import hit, shown, task
from reelscore.store.database import Database, writing
from reelscore.store.staging import analyze, fill, repeated, report, stage
from reelscore.store.values import from_iso, seconds

_KINDS: dict[type[Line], str] = {line: kind for kind, line in LINES.items()}
_WATCHED = re.compile(r"(web \d+x\d+) seen (\d+)%")
Numbered = Iterable[tuple[int, Line]]


def restore(database: Database, path: Path, id: str | None) -> str:
    """Make the campaign, or leave everything as it was; see `Campaign.restore`.

    Returns:
        Its id.
    """
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
            insert_campaign(
                connection,
                terms,
                campaign.systems,
                campaign.humans,
                campaign.settings,
                campaign.state,
            )
            _check_places(connection, staged["assignment"], path)
            for kind, table in staged.items():
                move(connection, terms, kind, table, partial(place, path, kind))
            _check_captions(connection, terms, path)
    return terms.id


def _campaign(
    path: Path, lines: Iterator[tuple[int, Line]], problems: Problems, id: str | None
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
        terms = Terms(
            id=id or first.id,
            name=first.name,
            protocol=protocol(first.protocol),
            layout=first.layout,
            seed=first.seed,
            raters_per_hit=first.raters_per_hit,
            hold=first.hold,
            created=seconds(from_iso(first.created)) or 0.0,
        )
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
    problems = Problems(str(path))
    state, rater = staged.c.state, staged.c.rater
    where = partial(place, path, "assignment")
    rules: tuple[tuple[list[Any], Any, str], ...] = (
        ([staged.c.hit, staged.c.slot], state != "abandoned", "the place is taken"),
        ([staged.c.hit, rater], rater != "", "the rater has the HIT"),
        ([rater], state == "held", "the rater holds another HIT"),
        ([staged.c.hit, staged.c.replaces], staged.c.replaces != "", "the rater is replaced"),
    )
    for key, among, what in rules:
        wrong = repeated(staged, key).where(among)
        report(
            connection,
            problems,
            wrong,
            lambda row, what=what: (  # type: ignore[misc]
                f"{where(row.line)}: {what} in {where(row.first)} already."
            ),
        )
    report(
        connection,
        problems,
        select(staged.c.line).where((state == "open") != (rater == "")).order_by(staged.c.line),
        lambda row: f"{where(row.line)}: an assignment has a rater unless it is open.",
    )
    problems.raise_if_any()


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
    problems = Problems(str(path))
    report(
        connection,
        problems,
        wrong,
        lambda row: (
            f"{path}: task {row.id!r} of HIT {row.hit!r} shows {row.count} captions; "
            f"{terms.protocol.name} shows {wanted or 'at least 1'}."
        ),
    )
    problems.raise_if_any()
