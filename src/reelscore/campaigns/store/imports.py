"""Judgments made elsewhere: staged, checked as a whole, then added in a few statements."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Row,
    Select,
    SelectBase,
    Table,
    and_,
    case,
    delete,
    exists,
    func,
    insert,
    literal,
    null,
    or_,
    select,
    update,
)

from reelscore.campaigns.hits.tasks import GENUINE, KINDS
from reelscore.campaigns.judgments import Judgment
from reelscore.campaigns.protocols import Protocol
from reelscore.campaigns.store.answers import kind_of_pair
from reelscore.campaigns.store.campaigns import add_systems, read_systems
from reelscore.campaigns.store.hits import Fault, refuse
from reelscore.campaigns.store.lines import TIMES, typed
from reelscore.campaigns.store.records import Terms
from reelscore.campaigns.store.schema import assignment, hit, judgment, shown, skip, task
from reelscore.data.checks import Problems
from reelscore.errors import DataError
from reelscore.store.database import writing
from reelscore.store.staging import analyze, fill, missing, repeated, stage
from reelscore.store.values import check_name, check_text, microseconds

SUBJECT = "The judgments"
_FIELDS = Judgment.__struct_fields__
_MATCHED = tuple(
    (name, int) for name in ("hit_key", "task_key", "slot", "fits", "captions", "assignment")
)


def append(
    connection: Connection,
    terms: Terms,
    judgments: Iterable[Judgment],
    now: int,
    *,
    new_hits: bool,
    first: Callable[[], None] | None = None,
    last: Callable[[], None] | None = None,
) -> int:
    """Add judgments, all or none; see `Campaign.append`."""
    problems = Problems(SUBJECT)
    with connection.begin():  # only temporary tables: nobody waits meanwhile
        rows = checked_rows(judgments, terms.protocol, problems)
        incoming = stage(connection, "incoming", typed(_FIELDS))
        matched = stage(connection, "matched", _MATCHED)
        fill(connection, incoming, rows)
        analyze(connection, incoming)
    problems.raise_if_any()
    with writing(connection):
        if first:
            first()
        _check_once(connection, incoming)
        if new_hits:
            make_plan(connection, terms, incoming, now)
        else:
            seat_raters(connection, terms, incoming, now)
        analyze(connection, hit, task, shown, assignment)
        _match(connection, terms, incoming, matched)
        _check_matches(connection, terms, incoming, matched)
        _check_new(connection, incoming, matched)
        count = _insert(connection, incoming, matched, now)
        if not new_hits:
            settle(connection, terms, incoming)
        if last:
            last()
    return count


def _check_once(connection: Connection, incoming: Table) -> None:
    key = [incoming.c[name] for name in ("rater", "hit", "task", "system", "criterion")]
    again = repeated(incoming, key).subquery()
    wrong = select(incoming, again.c.first).join(again, again.c.line == incoming.c.line)
    faults: list[Fault] = [
        (
            wrong.order_by(incoming.c.line),
            lambda row: f"{where(row.line, row)}: the same as judgment {row.first:,}.",
        )
    ]
    said = "HIT {!r} has several {} for rater {!r}; expected one."
    for name, what in (("seconds", "times"), ("status", "states")):
        differing = (
            select(incoming.c.hit, incoming.c.rater, literal(what).label("what"))
            .group_by(incoming.c.hit, incoming.c.rater)
            .having(func.count(incoming.c[name].distinct()) > 1)
        )
        faults.append((differing, lambda row: said.format(row.hit, row.what, row.rater)))
    refuse(connection, SUBJECT, *faults)


def _match(connection: Connection, terms: Terms, incoming: Table, matched: Table) -> None:
    """Find what each row is about, as far as there is such a thing."""
    form = terms.protocol.form
    second, each = shown.alias("second"), shown.alias("each")
    of_task = and_(shown.c.task == task.c.key, shown.c.system == incoming.c.system)
    if form != "ranking":
        of_task = and_(of_task, shown.c.slot == 0)
    of_rater = and_(assignment.c.hit == hit.c.key, assignment.c.rater == incoming.c.rater)
    joined = (
        incoming.outerjoin(hit, and_(hit.c.campaign == terms.id, hit.c.id == incoming.c.hit))
        .outerjoin(task, and_(task.c.hit == hit.c.key, task.c.id == incoming.c.task))
        .outerjoin(shown, of_task)
        .outerjoin(assignment, of_rater)
    )
    kind: ColumnElement[str] = shown.c.kind
    fits = task.c.item == incoming.c.item
    if form == "comparison":
        joined = joined.outerjoin(second, and_(second.c.task == task.c.key, second.c.slot == 1))
        kind = kind_of_pair(shown.c.kind, second.c.kind)
        fits = and_(fits, second.c.system == incoming.c.against)
    captions = select(func.count()).where(each.c.task == task.c.key).scalar_subquery()
    rows = select(
        incoming.c.line,
        hit.c.key,
        task.c.key,
        shown.c.slot,
        case((and_(fits, kind == incoming.c.kind), 1), else_=0),
        captions,
        assignment.c.id,
    ).select_from(joined)
    names = ["line", *(name for name, _ in _MATCHED)]
    connection.execute(insert(matched).from_select(names, rows))
    analyze(connection, matched)


def _check_matches(connection: Connection, terms: Terms, incoming: Table, matched: Table) -> None:
    match = matched.c
    wrong = missing(match.hit_key, match.task_key, match.slot, match.assignment)
    wrong = or_(wrong, match.fits == 0)
    if terms.protocol.form == "ranking":
        wrong = or_(wrong, incoming.c.score > match.captions)
    rows = _both(incoming, matched).where(wrong)
    refuse(connection, SUBJECT, (rows, lambda row: f"{where(row.line, row)}: {_fault(row, terms)}"))


def _both(incoming: Table, matched: Table) -> Select[Any]:
    matches = [column for column in matched.c if column.name != "line"]
    joined = incoming.join(matched, matched.c.line == incoming.c.line)
    return select(incoming, *matches).select_from(joined).order_by(incoming.c.line)


def _fault(row: Row[Any], terms: Terms) -> str:
    if row.hit_key is None:
        return "the campaign has no such HIT."
    if row.task_key is None:
        return "the HIT has no such task."
    if row.slot is None or not row.fits:
        beside = f" beside {row.against!r}" if row.against else ""
        return (
            f"the task shows something else than a {row.kind} of {row.system!r}{beside} for item "
            f"{row.item!r}; a task shows the same to every rater."
        )
    if row.assignment is None:
        return f"the HIT has no place left; each needs {terms.raters_per_hit} raters."
    return f"the rank is {row.score:g} among {row.captions} captions."


def _check_new(connection: Connection, incoming: Table, matched: Table) -> None:
    there = exists().where(
        judgment.c.assignment == matched.c.assignment,
        judgment.c.task == matched.c.task_key,
        judgment.c.slot == matched.c.slot,
        judgment.c.criterion == incoming.c.criterion,
    )
    fault = "exists already; judgments are never changed."
    rows = _both(incoming, matched).where(there)
    refuse(connection, SUBJECT, (rows, lambda row: f"{where(row.line, row)}: {fault}"))


def _insert(connection: Connection, incoming: Table, matched: Table, now: int) -> int:
    said = ("criterion", "score", "z", "position", "started", "submitted", "client")
    same = (*said, "opened", "watched")
    received = func.coalesce(incoming.c.received, now)
    places = (matched.c.assignment, matched.c.task_key, matched.c.slot, received)
    rows = (
        select(*(incoming.c[name] for name in same), *places)
        .join(matched, matched.c.line == incoming.c.line)
        .order_by(incoming.c.line)
    )
    into = insert(judgment).from_select([*same, "assignment", "task", "slot", "received"], rows)
    count = connection.execute(into, execution_options={"preserve_rowcount": True}).rowcount
    analyze(connection, judgment)
    return count


def checked_rows(
    judgments: Iterable[Judgment], protocol: Protocol, problems: Problems
) -> Iterator[Sequence[object]]:
    """Check each row by itself, and give it as the staging table has it."""
    for line, row in enumerate(judgments, start=1):
        try:
            yield _checked(line, row, protocol)
        except DataError as error:
            problems.add(f"{where(line, row)}: {str(error)[:1].lower()}{str(error)[1:]}")


def _checked(line: int, row: Judgment, protocol: Protocol) -> Sequence[object]:
    protocol.check_score(row.criterion, row.score)
    for name in ("rater", "hit", "task", "system", "item"):
        check_name(getattr(row, name), f"the {name}")
    for name in ("against", "client", "status"):
        check_text(getattr(row, name), f"the {name}")
    if row.kind not in KINDS:
        raise DataError(f"the kind is {row.kind!r}; expected {', '.join(KINDS)}.")
    if bool(row.against) != (protocol.form == "comparison"):
        wanted = "a second system" if protocol.form == "comparison" else "one system"
        raise DataError(f"compared with {row.against!r}; {protocol.name} judges {wanted}.")
    if not 0 <= row.position < 2**31:
        raise DataError(f"the position is {row.position}; expected a number from 0.")
    for number in (row.seconds, row.z, row.watched):
        if number is not None and not math.isfinite(number):
            raise DataError(f"a number is {number}; expected one, or none.")
    values = msgspec.structs.asdict(row)
    for name in TIMES & values.keys():
        values[name] = None if values[name] is None else microseconds(values[name])
    return line, *values.values()


def where(line: int, row: Judgment | Row[Any]) -> str:
    """Return which judgment it is, for messages."""
    return f"Judgment {line:,} (rater {row.rater!r}, HIT {row.hit!r}, task {row.task!r})"


_WORK = ("rater", "claimed", "active", "finished", "client", "seconds", "status")


def make_plan(connection: Connection, terms: Terms, incoming: Table, now: int) -> None:
    """Make what the rows name and the campaign lacks, in the order of the rows."""
    first = func.min(incoming.c.line)
    new_hits = (
        select(literal(terms.id), incoming.c.hit)
        .where(~exists().where(hit.c.campaign == terms.id, hit.c.id == incoming.c.hit))
        .group_by(incoming.c.hit)
        .order_by(first)
    )
    connection.execute(insert(hit).from_select(["campaign", "id"], new_hits))
    analyze(connection, hit)
    new_tasks = (
        select(
            literal(terms.id),
            hit.c.key,
            incoming.c.task,
            func.min(incoming.c.position),
            func.min(incoming.c.item),
        )
        .select_from(_with_hit(terms, incoming))
        .where(~exists().where(task.c.hit == hit.c.key, task.c.id == incoming.c.task))
        .group_by(hit.c.key, incoming.c.task)
        .order_by(first)
    )
    names = ["campaign", "hit", "id", "position", "item"]
    connection.execute(insert(task).from_select(names, new_tasks))
    analyze(connection, task)
    _make_captions(connection, terms, incoming)
    _make_places(connection, terms, incoming, now)
    _add_systems(connection, terms, incoming)


def seat_raters(connection: Connection, terms: Terms, incoming: Table, now: int) -> None:
    """Assign each rater who is new to a HIT one of its open places, as long as there are any.

    They count as abandoned until `settle` has seen what came.
    """
    number = func.row_number().over(partition_by=assignment.c.hit, order_by=assignment.c.slot)
    offered = (
        select(assignment.c.id, assignment.c.hit, number.label("number"))
        .filter_by(campaign=terms.id, state="open")
        .subquery("offered")
    )
    pairs = _new_pairs(terms, incoming, now)
    seats = (
        select(offered.c.id, *(pairs.c[name] for name in _WORK))
        .join(pairs, and_(pairs.c.hit == offered.c.hit, pairs.c.number == offered.c.number))
        .subquery("seats")
    )
    connection.execute(
        update(assignment)
        # a claim may have been faster
        .where(assignment.c.id == seats.c.id, assignment.c.state == "open")
        .values(state="abandoned", **{name: seats.c[name] for name in _WORK})
    )


def settle(connection: Connection, terms: Terms, incoming: Table) -> None:
    """Find out what the new judgments mean for the places of their raters.

    A HIT that is complete is done. One that came in part stays abandoned, and its place is
    offered again. One that was abandoned before is done if nobody has taken its place.
    """
    theirs = assignment.alias("theirs")
    pairs = select(hit.c.key, incoming.c.rater).select_from(_with_hit(terms, incoming)).distinct()
    pair = pairs.subquery("pair")
    of_pair = and_(theirs.c.hit == pair.c.key, theirs.c.rater == pair.c.rater)
    touched = assignment.c.id.in_(select(theirs.c.id).join(pair, of_pair))
    answered, skipped = (
        exists()
        .where(table.c.assignment == assignment.c.id, table.c.task == task.c.key)
        .correlate(assignment, task)
        for table in (judgment, skip)
    )
    unfinished_task = and_(task.c.hit == assignment.c.hit, ~answered, ~skipped)
    complete = ~exists().where(unfinished_task).correlate(assignment)
    mine = and_(assignment.c.campaign == terms.id, touched)
    other = assignment.alias("other")
    same_place = and_(other.c.hit == assignment.c.hit, other.c.slot == assignment.c.slot)
    newly_seated = and_(
        mine,
        assignment.c.state == "abandoned",
        ~exists().where(same_place, other.c.state != "abandoned"),
    )
    connection.execute(update(assignment).where(newly_seated, complete).values(state="done"))
    connection.execute(update(assignment).where(newly_seated, ~complete).values(finished=null()))
    again = select(
        assignment.c.campaign,
        assignment.c.hit,
        assignment.c.slot,
        assignment.c.turn + 1,
        *map(literal, ("open", "", "", "")),
    ).where(newly_seated)
    names = ["campaign", "hit", "slot", "turn", "state", "rater", "client", "status"]
    connection.execute(insert(assignment).from_select(names, again))
    unfinished = assignment.c.state.in_(["held", "abandoned"])
    for row in connection.execute(select(assignment).where(mine, unfinished, complete)).all():
        offered = and_(assignment.c.hit == row.hit, assignment.c.slot == row.slot)
        free = delete(assignment).where(offered, assignment.c.state == "open")
        if row.state == "held" or connection.execute(free).rowcount:
            done = {"state": "done", "finished": row.active}
            connection.execute(update(assignment).filter_by(id=row.id).values(done))


def _with_hit(terms: Terms, incoming: Table) -> FromClause:
    return incoming.join(hit, and_(hit.c.campaign == terms.id, hit.c.id == incoming.c.hit))


def _make_captions(connection: Connection, terms: Terms, incoming: Table) -> None:
    joined = (
        _with_hit(terms, incoming)
        .join(task, and_(task.c.hit == hit.c.key, task.c.id == incoming.c.task))
        .outerjoin(shown, shown.c.task == task.c.key)
    )

    def captions(
        slot: ColumnElement[int], system: ColumnElement[str], *group: ColumnElement[str]
    ) -> Select[Any]:
        return (
            select(task.c.key, slot, system, literal(""), func.min(incoming.c.kind))
            .select_from(joined)
            .where(shown.c.task.is_(None))
            .group_by(task.c.key, *group)
        )

    if terms.protocol.form == "ranking":
        appearance = func.min(incoming.c.line)
        slot = func.row_number().over(partition_by=task.c.key, order_by=appearance) - 1
        rows: SelectBase = captions(slot, incoming.c.system, incoming.c.system)
    else:
        first = rows = captions(literal(0), func.min(incoming.c.system))
        if terms.protocol.form == "comparison":
            rows = first.union_all(captions(literal(1), func.min(incoming.c.against)))
    names = ["task", "slot", "system", "text", "kind"]
    connection.execute(insert(shown).from_select(names, rows))


def _new_pairs(terms: Terms, incoming: Table, now: int) -> FromClause:
    """Find each rater's new HITs, numbered in each HIT, with what is known of the work on it."""
    values = incoming.c
    last = func.coalesce(func.max(values.submitted), now)
    line = func.min(values.line)
    has = exists().where(assignment.c.hit == hit.c.key, assignment.c.rater == values.rater)
    return (
        select(
            hit.c.key.label("hit"),
            values.rater,
            line.label("line"),
            func.row_number().over(partition_by=hit.c.key, order_by=line).label("number"),
            func.min(values.started).label("claimed"),
            last.label("active"),
            last.label("finished"),
            func.min(values.client).label("client"),
            func.max(values.seconds).label("seconds"),
            func.max(values.status).label("status"),
        )
        .select_from(_with_hit(terms, incoming))
        .where(~has)
        .group_by(hit.c.key, values.rater)
        .subquery("pairs")
    )


def _make_places(connection: Connection, terms: Terms, incoming: Table, now: int) -> None:
    pairs = _new_pairs(terms, incoming, now)
    free = select(func.coalesce(func.max(assignment.c.slot) + 1, 0))
    free = free.where(assignment.c.hit == pairs.c.hit)
    rows = select(
        literal(terms.id),
        pairs.c.hit,
        free.scalar_subquery() + pairs.c.number - 1,
        literal(0),
        literal("done"),
        *(pairs.c[name] for name in _WORK),
    ).order_by(pairs.c.line)
    names = ["campaign", "hit", "slot", "turn", "state", *_WORK]
    connection.execute(insert(assignment).from_select(names, rows))


def _add_systems(connection: Connection, terms: Terms, incoming: Table) -> None:
    """Add the systems that the rows judge to those the campaign knows."""
    there = read_systems(connection, terms)
    judged: dict[str, None] = {}
    for column in (incoming.c.system, incoming.c.against):
        systems = (
            select(column)
            .where(incoming.c.kind.in_(GENUINE), column != "")
            .group_by(column)
            .order_by(func.min(incoming.c.line))
        )
        judged.update(dict.fromkeys(connection.scalars(systems)))
    add_systems(connection, terms, [name for name in judged if name not in there])
