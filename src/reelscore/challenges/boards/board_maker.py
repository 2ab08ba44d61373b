"""Boards as somebody may see them: made of results for one permission, and kept for the next view.

`reelscore.challenges.views` asks for them; a board that was made once costs next to nothing until
something that it is made of changes. One thread at a time makes a board; others wait for it. While
scores keep coming in, a large board is made again at most every few seconds: it would otherwise be
made for every page.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, delete, insert, select

from reelscore.challenges.boards.board_forms import FORM, board_dict, board_of
from reelscore.challenges.boards.boards import (
    BoardColumn,
    BoardEntry,
    Leaderboard,
    Place,
    make_board,
)
from reelscore.challenges.definition import records as defined
from reelscore.challenges.definition.records import Definition
from reelscore.challenges.permissions import Permission
from reelscore.challenges.store import results, tables
from reelscore.challenges.store.kept_scores import PeopleScores, Results, people_form
from reelscore.challenges.uploads.uploads import missing_note
from reelscore.data.tables.scales import NumberFormat
from reelscore.data.tables.table import ScoreTable
from reelscore.errors import DataError
from reelscore.store.database import Database

if TYPE_CHECKING:
    from reelscore.challenges.views import View

_BOARDS = 64  # boards that a process keeps, so that most views of one cost next to nothing
_VERSIONS = 8  # of a board that the database keeps: for different viewers, and the last changes
_DECIMALS = 4


_LARGE = 50  # entries from which on a board may be some seconds old
_REST = 20.0  # of its own time that making a board must leave to other work


@dataclass
class _Kept:
    """A board that this process has made or read before, and what was written of it."""

    board: Leaderboard  # the board; without resamples, which need much memory
    entries: frozenset[_Known]  # what it knows of each entry
    until: float = 0.0  # when it may be made again, though only entries have come in
    forms: dict[str, Any] = field(default_factory=dict)  # what was written of it, by name


_Name = tuple[str, int, str, str]
_Known = tuple[object, ...]
_kept: OrderedDict[_Name, _Kept] = OrderedDict()
_makers: dict[_Name, Lock] = {}
_lock = Lock()


class BoardMaker:
    """Makes one board for one permission, or takes it from the cache."""

    def __init__(
        self, seen: View, connection: Connection, board: defined.Board, granted: Permission
    ) -> None:
        self._view, self._connection = seen, connection
        self._board, self._granted = board, granted
        self._phase = seen.phases[board.phase]
        self._split = seen.splits[board.split]
        self._described = seen.definition.phase(board.phase)
        everything = results.records(connection, self._phase.key, self._phase.generation)
        self._entries = [record for record in everything if record.holds_place]
        self._counting = [record for record in self._entries if record.counts]

    def cached(self) -> Leaderboard:
        """Return the board from the cache, or make it and keep it there."""
        rules, entries = self._rules(), frozenset(map(_known, self._entries))
        challenge = self._view.challenge
        name = (challenge.database.place, challenge.key, self._board.id, rules)
        with _lock:
            maker = _makers.setdefault(name, Lock())
        with maker:
            kept = _kept.get(name)
            if kept is None or not _is_good(kept, entries):
                begin = time.thread_time()
                board = self._stored(_digest([rules, sorted(entries)]))
                rest = _REST * (time.thread_time() - begin)
                kept = _Kept(board, entries, time.monotonic() + rest)
            with _lock:
                _kept[name] = kept
                _kept.move_to_end(name)
                while len(_kept) > _BOARDS:
                    old, _ = _kept.popitem(last=False)
                    _makers.pop(old, None)
        return kept.board

    def _stored(self, digest: str) -> Leaderboard:
        own = {"challenge": self._view.challenge.key, "board": self._board.id}
        made_of = {"generation": self._phase.generation, "digest": digest}
        query = select(tables.board.c.content).filter_by(**own, **made_of)
        content = self._connection.execute(query).scalar()
        if content is not None:
            return board_of(json.loads(content))
        made = board_dict(self.made())
        text = json.dumps(made, ensure_ascii=False)
        _keep(self._view.challenge.database.whole, own, made_of, text, self._view.now)
        return board_of(made)

    def _rules(self) -> str:
        """A digest of everything that the board is made of, beside its entries."""
        phase = self._phase
        parts = [self._view.challenge.digest, self._granted, phase.generation, phase.reveals]
        people = {id: people_form(own) for id, own in self._view.humans.items()}
        return _digest([*parts, people, FORM])

    def names_only(self) -> Leaderboard:
        """The teams that take part, without scores."""
        teams = dict.fromkeys(record.team_name for record in self._counting)
        return replace(self._make({}), names=sorted(teams, key=str.casefold))

    def made(self) -> Leaderboard:
        """Make the board of what its permission allows, with resamples."""
        return self._make(self._results())

    def _results(self) -> dict[str, Results]:
        """Return the scores of entries, as their teams were told them if no more is allowed."""
        scored = {record.id: job for record in self._entries if (job := record.job) is not None}
        if self._granted != "told":
            return self._scored(scored)
        phase = self._phase
        told = results.told_of(self._connection, phase.key, self._split, phase.generation)
        news = {id: job for id, job in scored.items() if id in told and told[id].submission == id}
        return {id: told[id].of_results(own).shown() for id, own in self._scored(news).items()}

    def _scored(self, jobs: Mapping[str, int]) -> dict[str, Results]:
        own = results.scores_of(self._connection, self._split, [*jobs.values()], drawn=True)
        return {id: own[job] for id, job in jobs.items()}

    def _entry(
        self, record: results.SubmissionRecord, people: Sequence[PeopleScores]
    ) -> BoardEntry:
        given = [each for people_scores in people for each in people_scores.clusters.items()]
        clusters = {name: own[record.id] for name, own in given if record.id in own}
        told = (record.kind, self._place(record), record.chosen, record.method, record.link)
        own = (record.id, record.team_name, record.arrived, *told)
        return BoardEntry(*own, people_clusters=clusters, given_up=record.given_up)

    def _place(self, record: results.SubmissionRecord) -> Place:
        if not record.late:
            return "ranked"
        reveals = self._phase.reveals
        is_late = self._described.late == "mark" and (reveals is None or record.arrived < reveals)
        return "late" if is_late else "after"

    def _people(self) -> list[PeopleScores]:
        """The published scores of people that this board shows."""
        wanted = {columns.human for columns in self._board.columns if columns.human}
        return [people for id, people in self._view.humans.items() if id in wanted]

    def _make(self, scores: Mapping[str, Results]) -> Leaderboard:
        board, ladder = self._board, self._described.feedback[self._board.split] == "ladder"
        told = self._granted == "told"
        notes = []
        if told:
            how = "by the Ladder" if ladder else "rounded"
            notes.append(f"Scores are told {how} while the test set is in use.")
        people = self._people()
        rows = {id: dict(own) for id, own in scores.items()}
        for each in people:
            for id, own in each.table.results.items():
                if id in rows:
                    rows[id] |= own
        made = make_board(
            board.id,
            board.name or board.id,
            ScoreTable(rows),
            [self._entry(record, people) for record in self._entries],
            board_columns(self._view.definition, board, people),
            primary=board.primary,
            final="best" if told and ladder else self._described.final,
            level=board.test.level,
            correction=board.test.correction,
            generation=self._phase.generation,
            notes=notes,
        )
        made = self._by_ladder(made) if told and ladder else made
        return replace(made, notes=[*made.notes, *self._missing(made)])

    def _missing(self, board: Leaderboard) -> list[str]:
        """Return whose stories leave videos out, which count as zero."""
        split = self._board.split
        if self._view.definition.split(split).kind != "stories" or not board.all_rows:
            return []
        videos, names = self._view.counts[split], {r.id: r.team for r in board.all_rows}
        told = results.stories_told(self._connection, split, list(names))
        return [
            missing_note(f"In the entry of {names[id]}", videos - told[id], videos)
            for id in names
            if told[id] < videos
        ]

    def _by_ladder(self, board: Leaderboard) -> Leaderboard:
        """Return a board its numbers of entries: the Ladder has told of few of them.

        What it tells only rises, so the best is what was told last, and of nobody's choosing.
        """
        counts = Counter((self._place(record), record.team_name) for record in self._counting)

        def counted(rows: Sequence[BoardEntry]) -> list[BoardEntry]:
            return [replace(r, entries=counts[r.place, r.team]) for r in rows]

        return replace(board, rows=counted(board.rows), below=counted(board.below), final="last")


def _known(record: results.SubmissionRecord) -> _Known:
    """What a board knows of an entry, beside its scores, which never change."""
    own = (record.id, record.team_name, record.kind, record.late, record.chosen)
    return (*own, record.method, record.link, record.job, record.given_up)


def _digest(parts: Sequence[object]) -> str:
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _is_good(kept: _Kept, entries: frozenset[_Known]) -> bool:
    """Return whether a board has these entries, or is large and lacks only the newest."""
    if not kept.entries <= entries:
        return False  # one was withdrawn, chosen or disqualified: that shows at once
    is_resting = len(kept.entries) >= _LARGE and time.monotonic() < kept.until
    return kept.entries == entries or is_resting


T = TypeVar("T")


def kept_form(board: Leaderboard, name: str, written: Callable[[], T]) -> T:
    """Return something that is made of a board, once for each board that is kept."""
    with _lock:
        kept = next((kept for kept in _kept.values() if kept.board is board), None)
    if kept is None:
        return written()
    if name not in kept.forms:
        kept.forms[name] = written()
    form: T = kept.forms[name]
    return form


def _keep(
    database: Database,
    own: Mapping[str, object],
    made_of: Mapping[str, object],
    content: str,
    now: int,
) -> None:
    """Put a board into the cache; it is not worth an error where that cannot be written."""
    cache = tables.board
    with suppress(DataError), database.writing() as connection:
        if connection.execute(select(cache.c.key).filter_by(**own, **made_of)).first() is not None:
            return  # somebody else was quicker
        row = {**own, **made_of, "content": content, "made": now}
        connection.execute(insert(cache).values(row))
        newest = select(cache.c.key).filter_by(**own).order_by(cache.c.key.desc())
        old = connection.execute(newest.offset(_VERSIONS)).scalars().all()
        connection.execute(delete(cache).where(cache.c.key.in_(old)))


def board_columns(
    definition: Definition, board: defined.Board, people: Sequence[PeopleScores]
) -> list[BoardColumn]:
    """Return the columns of a board, people's among them where they are published."""
    scales = definition.scoring.scales(definition.split(board.split).kind)
    judged = {name: each.table.scale(name) for each in people for name in each.clusters}
    columns: list[BoardColumn] = []
    for part in board.columns:
        own = {name: (scales[name], _DECIMALS) for name in part.scores}
        if part.human:
            named = {name for name in judged if name.split(":")[1] == part.human}
            own = {name: (scale, 2) for name, scale in judged.items() if name in named}
        for name, (scale, decimals) in own.items():
            decimals = decimals if part.precision is None else part.precision
            form = NumberFormat(part.scale, decimals)
            columns.append(BoardColumn(name, scale, form, part.group, part.ranked and scale.ranks))
    if all(column.score != board.primary for column in columns):
        columns.insert(0, BoardColumn(board.primary, scales[board.primary]))
    return columns
