"""Challenges in the database: made and updated from their definitions, and looked up again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from reelscore.challenge import splits
from reelscore.challenge.arena import Arena
from reelscore.challenge.definition import (
    Definition,
    Phase,
    Split,
    parse_definition,
    read_definition,
)
from reelscore.challenge.definition_checks import story_protocol
from reelscore.challenge.store.blobs import get_blob, put_blob
from reelscore.challenge.store.events import log
from reelscore.challenge.store.tables import (
    challenge,
    job,
    phase,
    phase_split,
    split,
    submission,
)
from reelscore.challenge.uploads import Expected, ItemList
from reelscore.errors import DataError, UnknownNameError
from reelscore.store.values import to_iso


@dataclass(frozen=True)
class Known:
    """A challenge in the database.

    Attributes:
        key: Its number there.
        state: ``draft``, ``open``, ``closed`` or ``archived``.
        definition: What it is.
        pages: Its texts in Markdown, by page.
    """

    key: int
    state: str
    definition: Definition
    pages: Mapping[str, str]

    @property
    def id(self) -> str:
        """What its address is called by."""
        return self.definition.id


@dataclass(frozen=True)
class KnownPhase:
    """A phase in the database; its times may have been changed since the definition.

    Attributes:
        key: Its number there.
        challenge: The key of its challenge.
        definition: What the file says about it.
        opens: When it opens, in microseconds since 1970.
        closes: When it closes.
        reveals: When hidden scores may be seen; ``None``: by hand.
        generation: The generation of scores that boards show.
        settings: How its submissions are scored.
    """

    key: int
    challenge: int
    definition: Phase
    opens: int
    closes: int
    reveals: int | None
    generation: int
    settings: Mapping[str, Any]

    @property
    def id(self) -> str:
        """What the definition calls it."""
        return self.definition.id

    def is_open(self, moment: int) -> bool:
        """Whether submissions are taken at a time: the window is half open."""
        return self.opens <= moment < self.closes


def make_challenge(
    arena: Arena, path: str | Path, *, draft: bool = False, actor: str = "command line"
) -> list[str]:
    """Make a challenge from its definition, or bring it to what the definition says now.

    Args:
        arena: The database.
        path: The definition.
        draft: Whether nobody but organisers may see it yet.
        actor: Who does it, for the log.

    Returns:
        What has changed, in a sentence each; nothing where all is as it was.

    Raises:
        DataError: If the definition is wrong, or would change how a phase is scored that has
            scores already.
    """
    definition = read_definition(path)
    folder = Path(path).parent
    contents = {each.id: splits.read_split(each, folder) for each in definition.splits}
    for each in definition.phases:
        splits.check_disjoint(contents, each.id, each.splits)
    pages = {page: (folder / name).read_text("utf-8") for page, name in definition.pages.items()}
    with arena.database.writing() as connection:
        now = arena.clock(connection)
        own = connection.execute(select(challenge).filter_by(id=definition.id)).one_or_none()
        state = "draft" if draft else "open"
        values = {
            "name": definition.name,
            "definition": definition.text,
            "digest": definition.digest,
            "pages": json.dumps(pages, ensure_ascii=False),
        }
        if own is None:
            added = insert(challenge).values(id=definition.id, state=state, created=now, **values)
            key = connection.execute(added.returning(challenge.c.key)).scalar_one()
            changes = [f"Challenge {definition.id!r} is made."]
        else:
            key = own.key
            changes = _changes(connection, own, definition, contents)
            if own.state == "draft" and not draft:
                changes.append("The challenge is open.")
                values["state"] = "open"
            if own.pages != values["pages"]:
                changes.append("Pages are changed.")
            connection.execute(update(challenge).filter_by(key=key).values(values))
        keys = {
            each.id: _put_split(connection, key, each, contents[each.id])
            for each in definition.splits
        }
        for position, each in enumerate(definition.phases):
            _put_phase(connection, key, definition, each, position, keys)
        if changes:
            before = own.digest if own is not None else ""
            log(connection, now, key, "definition", definition.id, actor=actor,
                reason=" ".join(changes), before=before, after=definition.digest)  # fmt: skip
    return changes


def scoring_settings(definition: Definition, each: Phase) -> dict[str, Any]:
    """Give what a scorer needs to know about a phase, as plain data."""
    scoring = asdict(definition.scoring)
    kind = definition.kind(each)
    for key in ("scores", "protocol") if kind == "captions" else ("metrics", "tokenizer"):
        del scoring[key]
    return {"kind": kind, **scoring}


def _put_split(connection: Connection, key: int, own: Split, content: splits.SplitContent) -> int:
    """Keep a split, or its new content where it is there already.

    Returns:
        Its key.
    """
    values = {
        "visibility": own.visibility,
        "kind": own.kind,
        "items_blob": put_blob(connection, content.items),
        "references_blob": put_blob(connection, content.references),
        "digest": content.digest,
        "count": content.count,
    }
    name = {"challenge": key, "id": own.id}
    split_key = connection.scalar(select(split.c.key).filter_by(**name))
    if split_key is None:
        added = insert(split).values(**name, **values).returning(split.c.key)
        return int(connection.execute(added).scalar_one())
    connection.execute(update(split).filter_by(key=split_key).values(values))
    return int(split_key)


def item_list(connection: Connection, row: Row[Any]) -> ItemList:
    """Give the items of a row of `challenge_split`, for readers."""
    return splits.items_of(row.id, get_blob(connection, row.items_blob))


def _put_phase(
    connection: Connection,
    key: int,
    definition: Definition,
    each: Phase,
    position: int,
    split_keys: Mapping[str, int],
) -> None:
    values = {
        "position": position,
        "opens": each.opens,
        "closes": each.closes,
        "reveals": each.reveals,
        "priority": each.priority,
        "settings": json.dumps(scoring_settings(definition, each), sort_keys=True),
    }
    own = {"challenge": key, "id": each.id}
    phase_key = connection.scalar(select(phase.c.key).filter_by(**own))
    if phase_key is None:
        added = insert(phase).values(**own, **values, generation=1).returning(phase.c.key)
        phase_key = connection.execute(added).scalar_one()
    else:
        connection.execute(update(phase).filter_by(key=phase_key).values(values))
    connection.execute(delete(phase_split).filter_by(phase=phase_key))
    for place, id in enumerate(each.splits):
        step = str(each.step.get(id, ""))
        connection.execute(
            insert(phase_split).values(
                phase=phase_key,
                split=split_keys[id],
                position=place,
                feedback=each.feedback[id],
                step=step,
            )
        )


def _changes(
    connection: Connection,
    own: Row[Any],
    definition: Definition,
    contents: Mapping[str, splits.SplitContent],
) -> list[str]:
    """Say what a new definition changes; refuse what scores forbid."""
    before = parse_definition(own.definition)
    changes: list[str] = []
    gone = {each.id for each in before.phases} - {each.id for each in definition.phases}
    if gone:
        raise DataError(f"Phase {sorted(gone)[0]!r} is gone; phases are never removed.")
    if {each.id for each in before.splits} - {each.id for each in definition.splits}:
        raise DataError("A split is gone; splits are never removed.")
    digests = {
        row.id: row.digest for row in connection.execute(select(split).filter_by(challenge=own.key))
    }
    for each in definition.phases:
        row = connection.execute(
            select(phase).filter_by(challenge=own.key, id=each.id)
        ).one_or_none()
        if row is None:
            changes.append(f"Phase {each.id!r} is new.")
            continue
        earlier = before.phase(each.id)
        scored = connection.scalar(
            select(func.count())
            .select_from(job.join(submission))
            .where(submission.c.phase == row.key, job.c.state == "scored")
        )
        settings = json.dumps(scoring_settings(definition, each), sort_keys=True)
        other = [id for id in each.splits if digests.get(id) not in (None, contents[id].digest)]
        fixed = (row.settings, earlier.splits) != (settings, each.splits) or other
        if scored and fixed:
            raise DataError(
                f"Phase {each.id!r} has scores; its splits, references, metrics and policies "
                "change with a new generation only. Leave them as they are, or make a new phase."
            )
        for name in ("opens", "closes", "reveals"):
            if getattr(row, name) != getattr(each, name):
                was, now = to_iso(getattr(row, name)), to_iso(getattr(each, name))
                changes.append(f"Phase {each.id!r} {name} {now or 'by hand'}, was {was}.")
        if earlier.limits != each.limits:
            changes.append(f"Phase {each.id!r} has other limits.")
        if fixed:
            changes.append(f"Phase {each.id!r} is scored in another way.")
    if not changes and own.digest != definition.digest:
        changes.append("The definition is changed.")
    return changes


# Looking up


def list_challenges(arena: Arena) -> list[Known]:
    """Give all challenges, oldest first."""
    with arena.database.reading() as connection:
        rows = connection.execute(select(challenge).order_by(challenge.c.key)).all()
    return [_known(row) for row in rows]


def find_challenge(arena: Arena, id: str = "") -> Known:
    """Give a challenge by its id; without one, the only one that there is.

    Raises:
        UnknownNameError: If there is no such challenge.
        DataError: If there are several, or none.
    """
    with arena.database.reading() as connection:
        rows = connection.execute(select(challenge).order_by(challenge.c.key)).all()
    if not rows:
        raise DataError(f"{arena.database.place}: there is no challenge; make one first.")
    ids = [row.id for row in rows]
    if not id and len(rows) > 1:
        raise DataError(f"There are several challenges: {', '.join(ids)}; name one.")
    if id and id not in ids:
        raise UnknownNameError.of("challenge", id, ids)
    return _known(rows[ids.index(id)] if id else rows[0])


@lru_cache(maxsize=32)
def parsed_definition(text: str) -> Definition:
    """Give the definition that is kept as a text; every page and every job asks for it."""
    return parse_definition(text)


def _known(row: Row[Any]) -> Known:
    return Known(row.key, row.state, parsed_definition(row.definition), json.loads(row.pages))


def find_phase(arena: Arena, known: Known, id: str) -> KnownPhase:
    """Give a phase of a challenge by its id.

    Raises:
        UnknownNameError: If there is no such phase.
    """
    with arena.database.reading() as connection:
        return phase_in(connection, known, id)


def phase_in(connection: Connection, known: Known, id: str) -> KnownPhase:
    """Give a phase of a challenge by its id, within a transaction.

    Raises:
        UnknownNameError: If there is no such phase.
    """
    row = connection.execute(select(phase).filter_by(challenge=known.key, id=id)).one_or_none()
    if row is None:
        raise UnknownNameError.of("phase", id, [each.id for each in known.definition.phases])
    return KnownPhase(
        row.key,
        known.key,
        known.definition.phase(id),
        row.opens,
        row.closes,
        row.reveals,
        row.generation,
        json.loads(row.settings),
    )


def split_rows(connection: Connection, phase_key: int) -> Sequence[Row[Any]]:
    """Give the splits of a phase in order: rows of `challenge_split` with feedback and step."""
    return connection.execute(
        select(split, phase_split.c.feedback, phase_split.c.step)
        .join(phase_split, phase_split.c.split == split.c.key)
        .where(phase_split.c.phase == phase_key)
        .order_by(phase_split.c.position)
    ).all()


def expected_upload(arena: Arena, known: Known, id: str) -> Expected:
    """Give what an upload for a phase has to hold: ids of items and limits, no references.

    Raises:
        UnknownNameError: If there is no such phase.
    """
    with arena.database.reading() as connection:
        own = phase_in(connection, known, id)
        lists = [item_list(connection, row) for row in split_rows(connection, own.key)]
    return expected_of(known.definition, own.definition, lists)


def expected_of(definition: Definition, each: Phase, lists: Sequence[ItemList]) -> Expected:
    """Give what an upload has to hold, by the definition and the items of the phase's splits."""
    scoring, kind = definition.scoring, definition.kind(each)
    if kind == "captions":
        return Expected(kind, lists, scoring.limits)
    beyond = str(scoring.protocol.get("beyond", "error"))
    protocol = story_protocol(scoring)
    return Expected(kind, lists, scoring.limits, protocol.missing, beyond, protocol.policies)


def change_dates(
    arena: Arena,
    known: Known,
    id: str,
    *,
    actor: str,
    reason: str,
    closes: int | None = None,
    reveals: int | None = None,
) -> None:
    """Change when a phase closes or reveals; the change stands in the log and on its page.

    Raises:
        DataError: If there is no reason, or the times are in a wrong order.
        UnknownNameError: If there is no such phase.
    """
    if not reason:
        raise DataError("Say why; participants read it.")
    with arena.database.writing() as connection:
        own = phase_in(connection, known, id)
        new_closes = own.closes if closes is None else closes
        new_reveals = own.reveals if reveals is None else reveals
        if not own.opens < new_closes or (new_reveals is not None and new_reveals < new_closes):
            raise DataError("A phase opens, then closes, then reveals; these times do not.")
        values = {"closes": new_closes, "reveals": new_reveals}
        connection.execute(update(phase).filter_by(key=own.key).values(values))
        log(connection, arena.clock(connection), known.key, "dates", id, actor=actor,
            reason=reason, before=_dates(own.closes, own.reveals),
            after=_dates(new_closes, new_reveals))  # fmt: skip


def _dates(closes: int, reveals: int | None) -> str:
    return f"closes {to_iso(closes)}, reveals {to_iso(reveals) or 'by hand'}"


def set_state(arena: Arena, known: Known, state: str, *, actor: str, reason: str = "") -> None:
    """Make a challenge a draft, open, closed or archived."""
    with arena.database.writing() as connection:
        connection.execute(update(challenge).filter_by(key=known.key).values(state=state))
        log(connection, arena.clock(connection), known.key, "state", known.id, actor=actor,
            reason=reason, before=known.state, after=state)  # fmt: skip
