"""Put HITs into a campaign: the tasks, the captions they show, and places for raters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice
from typing import Any

from sqlalchemy import Connection, Table, and_, insert, literal, select
from sqlalchemy.exc import IntegrityError

from reelscore.errors import DataError
from reelscore.human.store.campaigns import read_systems
from reelscore.human.store.checking import check_hit
from reelscore.human.store.connecting import writing
from reelscore.human.store.lines import columns
from reelscore.human.store.moving import move
from reelscore.human.store.records import Terms
from reelscore.human.store.schema import assignment, hit
from reelscore.human.store.staging import analyze, fill, stage
from reelscore.human.tasks import Hit

_PLANNED = ("hit", "task", "shown")
_HITS = 200  # staged together


def insert_hits(connection: Connection, terms: Terms, hits: Iterable[Hit]) -> int:
    """Put HITs in, all or none, each with a place for every rater it needs.

    Args:
        connection: A connection for staging.
        terms: The campaign.
        hits: The HITs.

    Returns:
        How many.

    Raises:
        DataError: If a HIT is there already, or does not fit the protocol or the systems.
    """
    with connection.begin():  # only temporary tables: nobody waits meanwhile
        systems = frozenset(read_systems(connection, terms))
        staged = {kind: stage(connection, f"new_{kind}", columns(kind)) for kind in _PLANNED}
        numbers = {kind: count(1) for kind in _PLANNED}
        hits = iter(hits)
        while batch := list(islice(hits, _HITS)):
            for each in batch:
                check_hit(each, terms.protocol, systems)
            for kind, rows in _rows(batch).items():
                numbered = zip(rows, numbers[kind], strict=False)
                fill(connection, staged[kind], ((line, *row) for row, line in numbered))
        analyze(connection, *staged.values())
    try:
        with writing(connection):
            moved = {
                kind: move(connection, terms, kind, table, lambda line: f"HIT number {line:,}")
                for kind, table in staged.items()
            }
            _offer_places(connection, terms, staged["hit"])
    except IntegrityError:  # somebody else has added them since we looked
        raise DataError("The campaign has got HITs of the same ids meanwhile.") from None
    return moved["hit"]


def _rows(hits: Sequence[Hit]) -> dict[str, Iterator[Sequence[object]]]:
    """Give the rows of all three tables."""
    tasks = [(each.id, task, k) for each in hits for k, task in enumerate(each.tasks)]
    return {
        "hit": ((each.id,) for each in hits),
        "task": ((id, task.id, k, task.item, task.expected) for id, task, k in tasks),
        "shown": (
            (id, task.id, slot, caption.system, caption.text, caption.kind)
            for id, task, _ in tasks
            for slot, caption in enumerate(task.shown)
        ),
    }


def _offer_places(connection: Connection, terms: Terms, new: Table) -> None:
    for slot in range(terms.raters_per_hit):
        place: dict[str, Any] = {**open_place(terms.id, 0, slot), "hit": hit.c.key}
        rows = (
            select(*(value if name == "hit" else literal(value) for name, value in place.items()))
            .select_from(new.join(hit, and_(hit.c.campaign == terms.id, hit.c.id == new.c.id)))
            .order_by(hit.c.key)
        )
        connection.execute(insert(assignment).from_select(list(place), rows))


def open_place(campaign: str, hit: int, slot: int, turn: int = 0) -> dict[str, object]:
    """Describe an assignment that waits for a rater."""
    return {
        "campaign": campaign,
        "hit": hit,
        "slot": slot,
        "turn": turn,
        "state": "open",
        "rater": "",
        "client": "",
        "status": "",
    }
