"""A challenge made from its definition, or brought to what the definition says now."""

from __future__ import annotations

import json
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path

from msgspec import to_builtins
from msgspec.structs import asdict
from sqlalchemy import Connection, delete, insert, select, update

from reelscore.challenges.challenge import (
    Challenge,
    Challenges,
    Dates,
    date_text,
    log_dates,
    mark_late,
)
from reelscore.challenges.definition.reader import parsed_definition, read_definition
from reelscore.challenges.definition.records import (
    Definition,
    Phase,
    PhaseLimits,
    ScoringSettings,
    Split,
)
from reelscore.challenges.queue.jobs import begin_generation
from reelscore.challenges.store.blobs import blob_digest, has_blob, put_blob
from reelscore.challenges.store.events import log
from reelscore.challenges.store.tables import (
    TableRow,
    challenge,
    job,
    phase,
    phase_split,
    split,
    submission,
    team,
)
from reelscore.challenges.uploads import splits
from reelscore.errors import DataError
from reelscore.store.values import skeleton

_DATES = ("opens", "closes", "reveals")  # of a phase


def make_challenge(
    challenges: Challenges,
    path: str | Path,
    *,
    draft: bool = False,
    rescore: bool = False,
    actor: str = "command line",
) -> list[str]:
    """Make a challenge from its definition, or bring it to what the definition says now.

    Dates that were changed after the last definition stay, unless the definition changes them too.
    """
    definition = read_definition(path)
    folder = Path(path).parent
    contents = {each.id: splits.read_split(each, folder) for each in definition.splits}
    for each in definition.phases:
        splits.check_disjoint(contents, each.id, each.splits)
    pages = {page: (folder / name).read_text("utf-8") for page, name in definition.pages.items()}
    with challenges.writing() as connection:
        now = challenges.now(connection)
        own = connection.execute(select(challenge).filter_by(id=definition.id)).one_or_none()
        moved: dict[str, Dates] = {}
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
            changes, again = [f"Challenge {definition.id!r} is made."], list[str]()
        else:
            key = own.key
            _check_baselines(connection, key, definition, path)
            before = parsed_definition(own.definition)
            _check_nothing_is_gone(before, definition)
            moved = _moved_dates(connection, key, before, definition)
            changes, again = _changes(connection, own, before, definition, contents, moved, rescore)
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
            _put_phase(connection, key, definition, each, position, keys, moved.get(each.id, {}))
        made = Challenge(challenges, key, state, definition, pages, definition.digest, now)
        for id in again:
            why = "the definition has another way of scoring"
            count = begin_generation(connection, made, id, actor=actor, reason=why)
            changes.append(f"Phase {id!r} is scored in another way: {count:,} submissions wait.")
        for id, dates in moved.items():
            log_dates(connection, made, id, dates, actor, "The definition is changed.")
        if changes:
            log(connection, now, key, "definition", definition.id, actor=actor,
                reason=" ".join(changes), before=own.digest if own is not None else "",
                after=definition.digest)  # fmt: skip
    return changes


def _check_baselines(
    connection: Connection, key: int, definition: Definition, path: str | Path
) -> None:
    """Refuse baselines that have the name of a team which is none."""
    teams = connection.execute(select(team).filter_by(challenge=key)).all()
    others = {each.skeleton: each.name for each in teams if each.kind != "baseline"}
    for baseline in definition.baselines:
        if (other := others.get(skeleton(baseline.name))) is not None:
            raise DataError(
                f"{path}: [[baseline]] {baseline.name!r} has the name of a team that takes part, "
                f"{other!r}, and would hand in for it; nothing was changed. Choose another name "
                "for the baseline."
            )


def scoring_settings(definition: Definition, each: Phase) -> ScoringSettings:
    """Return what a scorer needs to know about a phase, as plain data."""
    kind = definition.kind(each)
    scoring = to_builtins(definition.scoring) | {"kind": kind}
    others = ("scores", "protocol") if kind == "captions" else ("metrics", "tokenizer")
    for key in ("missing", "empty", *others):
        del scoring[key]
    settings: ScoringSettings = scoring
    return settings


def _put_split(connection: Connection, key: int, own: Split, content: splits.SplitContent) -> int:
    """Keep a split, or its new content where it is there already."""
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


def _put_phase(
    connection: Connection,
    key: int,
    definition: Definition,
    each: Phase,
    position: int,
    split_keys: Mapping[str, int],
    moved: Dates,
) -> None:
    values = {
        "position": position,
        "priority": each.priority,
        "settings": json.dumps(scoring_settings(definition, each), sort_keys=True),
        **{name: moment for name, (_, moment) in moved.items()},
    }
    own = {"challenge": key, "id": each.id}
    phase_key = connection.scalar(select(phase.c.key).filter_by(**own))
    if phase_key is None:
        values |= {name: getattr(each, name) for name in _DATES}
        added = insert(phase).values(**own, **values, generation=1).returning(phase.c.key)
        phase_key = connection.execute(added).scalar_one()
    else:
        connection.execute(update(phase).filter_by(key=phase_key).values(values))
        if "closes" in moved:
            mark_late(connection, phase_key, each.closes)
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


def _check_nothing_is_gone(before: Definition, definition: Definition) -> None:
    for what, were, are in (
        ("Phase", before.phases, definition.phases),
        ("Split", before.splits, definition.splits),
    ):
        if gone := sorted({each.id for each in were} - {each.id for each in are}):
            raise DataError(f"{what} {gone[0]!r} is gone; it stays, whatever else changes.")


def _moved_dates(
    connection: Connection, key: int, before: Definition, definition: Definition
) -> dict[str, Dates]:
    """Return the dates that a definition moves, by phase: those that the one before had not."""
    moved: dict[str, Dates] = {}
    for row in connection.execute(select(phase).filter_by(challenge=key)).all():
        earlier, later = before.phase(row.id), definition.phase(row.id)
        dates = {name: (getattr(row, name), getattr(later, name)) for name in _DATES}
        for name, (was, now) in dates.items():
            if now not in (was, getattr(earlier, name)):
                moved.setdefault(row.id, {})[name] = was, now
    return moved


def _changes(
    connection: Connection,
    own: TableRow,
    before: Definition,
    definition: Definition,
    contents: Mapping[str, splits.SplitContent],
    moved: Mapping[str, Dates],
    rescore: bool,
) -> tuple[list[str], list[str]]:
    """Return what a new definition changes, and which phases it scores anew; refuse the rest."""
    rows = {row.id: row for row in connection.execute(select(split).filter_by(challenge=own.key))}
    changes, again = definition_changes(before, definition), list[str]()
    for id, row in rows.items():  # what an export has left out
        same = row.digest == contents[id].digest
        if same and not has_blob(connection, row.references_blob):
            changes.append(f"Split {id!r} has its references again.")
    for row in connection.execute(select(phase).filter_by(challenge=own.key)).all():
        each, earlier = definition.phase(row.id), before.phase(row.id)
        for name, (was, now) in moved.get(row.id, {}).items():
            changes.append(f"Phase {each.id!r} {name} {date_text(now)}, was {date_text(was)}.")
        states = _job_states(connection, row.key)
        kept = {id: (rows[id], contents[id]) for id in each.splits if id in rows}
        if states and (
            earlier.splits != each.splits
            or any(blob_digest(new.items) != old.items_blob for old, new in kept.values())
        ):
            raise DataError(
                f"Phase {each.id!r} has submissions, which were read for its splits and their "
                "items: these stay as they are. Make a new phase."
            )
        settings = scoring_settings(definition, each)
        same_rules = _rules(json.loads(row.settings), earlier) == _rules(settings, each)
        if same_rules and all(old.digest == new.digest for old, new in kept.values()):
            continue
        if states & {"scoring", "scored"} and not rescore:
            raise DataError(
                f"Phase {each.id!r} has scores; references, metrics, feedback and other rules of "
                "scoring change with a new generation only. Leave them as they are, make a new "
                "phase, or score all its submissions again: --rescore."
            )
        if states:
            again.append(each.id)
        else:
            changes.append(f"Phase {each.id!r} is scored in another way.")
    if not changes and not again and own.digest != definition.digest:
        changes.append("The definition is changed.")
    return changes, again


def _rules(settings: ScoringSettings, each: Phase) -> list[object]:
    """What the scores of a phase, and what its teams are told of them, depend on."""
    scoring = {key: value for key, value in settings.items() if key != "limits"}
    # as JSON has it: the database keeps lists where the definition has tuples
    return [json.loads(json.dumps(scoring)), dict(each.feedback), dict(each.step)]


def _job_states(connection: Connection, phase_key: int) -> set[str]:
    states = select(job.c.state).join(submission).where(submission.c.phase == phase_key)
    return set(connection.scalars(states.distinct()))


_KEPT = ("id", "splits", *_DATES)  # of a phase: said elsewhere, or refused
_WHOLE = {
    "name": "The name is",
    "registration": "Registration is",
    "teams.largest": "The size of teams is",
    "teams.close": "The time at which teams close is",
    "references": "Who may read references of public splits is",
    "contact": "The contact is",
    "splits": "Splits are",
    "boards": "Boards are",
    "humans": "Human evaluations are",
    "award": "The award is",
    "baselines": "Baselines are",
    "publish": "What is published is",
}


def definition_changes(before: Definition, after: Definition) -> list[str]:
    """Return what differs between two definitions, but for dates and the way of scoring."""
    changes = [
        f"{what} changed."
        for field, what in _WHOLE.items()
        if attrgetter(field)(before) != attrgetter(field)(after)
    ]
    if before.scoring.limits != after.scoring.limits:
        changes.append("Limits of scoring are changed.")
    earlier = {each.id: each for each in before.phases}
    for each in after.phases:
        if each.id not in earlier:
            changes.append(f"Phase {each.id!r} is new.")
            continue
        for field in Phase.__struct_fields__:
            was, now = getattr(earlier[each.id], field), getattr(each, field)
            if was != now and field not in _KEPT:
                changes.append(f"Phase {each.id!r}: {field} is {_said(now)}; was {_said(was)}.")
    return changes


def _said(value: object) -> str:
    if isinstance(value, PhaseLimits):
        value = {name: number for name, number in asdict(value).items() if number is not None}
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {each}" for key, each in value.items()) or "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) or "none"
