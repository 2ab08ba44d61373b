"""A challenge as somebody sees it: every number and text passes `reelscore.challenge.showing`.

Pages, commands and archives open a `View` for whoever asks. Its methods give ``None`` for what may
not be seen, as for what does not exist.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sqlalchemy import Connection, delete, insert, select

from reelscore.challenge import definition as defined
from reelscore.challenge.awards import Verdict, decide
from reelscore.challenge.board_forms import board_dict, board_html, board_of
from reelscore.challenge.boards import Board, Column, Entry, Place, make_board
from reelscore.challenge.definition import Definition, parse_definition
from reelscore.challenge.definition_checks import score_scales
from reelscore.challenge.draws import NO_DRAWS, Draws
from reelscore.challenge.ladder import Score, Told
from reelscore.challenge.showing import (
    PUBLIC_EVENTS,
    Permission,
    Situation,
    Viewer,
    permission,
    view,
)
from reelscore.challenge.store import results, tables
from reelscore.challenge.store.blobs import get_blob
from reelscore.challenge.store.events import Event, chain_head, read_events
from reelscore.errors import DataError, UnknownNameError
from reelscore.stats.resampling import FloatArray
from reelscore.store.database import Database

if TYPE_CHECKING:
    from markupsafe import Markup

_BOARDS = 64  # boards that a process keeps, so that most views of one cost next to nothing
_VERSIONS = 8  # of a board that the database keeps: for different viewers, and the last changes
Role = Literal["visitor", "participant", "assistant", "owner"]
_DECIMALS = 4
Record = results.Record  # what pages know a submission by


@dataclass(frozen=True)
class Who:
    """Somebody who wants to see something.

    Attributes:
        role: What they are on this server.
        team: The public id of their team in the challenge; empty without one.
        terms_accepted: Whether they have accepted the terms of the challenge.
    """

    role: Role = "visitor"
    team: str = ""
    terms_accepted: bool = False

    def seen_as(self, team: str = "") -> Viewer:
        """Say as whom they look at something of a team; without one, at what is nobody's.

        >>> Who("participant", "t1").seen_as("t1"), Who("participant", "t1").seen_as("t2")
        ('own', 'other')
        """
        if self.role in ("assistant", "owner"):
            return self.role
        if self.role == "participant" and self.team:
            return "own" if self.team == team else "other"
        return "visitor"


VISITOR = Who()


@dataclass(frozen=True)
class PhaseRow:
    """A phase as the database has it: its times may differ from the definition's."""

    key: int
    opens: int
    closes: int
    reveals: int | None
    generation: int


class View:
    """What one person may see of one challenge, at one moment."""

    def __init__(self, database: Database, id: str, who: Who = VISITOR, *, now: int) -> None:
        """Look at a challenge.

        Args:
            database: Where it is kept.
            id: Its id.
            who: Who looks.
            now: The time, in microseconds since 1970.

        Raises:
            UnknownNameError: If there is no such challenge, or it is a draft that only organisers
                may see.
        """
        self.database, self.who, self.now = database, who, now
        with database.reading() as connection:
            rows = {row.id: row for row in connection.execute(select(tables.challenge))}
            organiser = who.role in ("assistant", "owner")
            listed = {k: row for k, row in rows.items() if organiser or row.state != "draft"}
            if id not in listed:
                raise UnknownNameError.of("challenge", id, listed)
            self.row = listed[id]
            own = tables.phase.c.challenge == self.row.key
            self.phases = {
                row.id: PhaseRow(row.key, row.opens, row.closes, row.reveals, row.generation)
                for row in connection.execute(select(tables.phase).where(own))
            }
            own = tables.split.c.challenge == self.row.key
            splits = connection.execute(select(tables.split).where(own)).mappings().all()
        self.splits: dict[str, int] = {row["id"]: row["key"] for row in splits}
        self.counts: dict[str, int] = {row["id"]: row["count"] for row in splits}
        self.definition: Definition = parse_definition(self.row.definition)

    @property
    def id(self) -> str:
        """The challenge's id."""
        return str(self.row.id)

    @property
    def name(self) -> str:
        """The challenge's name."""
        return str(self.row.name)

    def situation(self, phase: str, split: str, *, human: bool = False) -> Situation:
        """Say what permissions depend on, for a split in a phase."""
        row, described = self.phases[phase], self.definition.phase(phase)
        hides = "reveal" in described.feedback.values()
        if row.reveals is not None:
            revealed = self.now >= row.reveals
        else:  # by hand; where nothing is hidden, the end is the reveal
            revealed = not hides and self.now >= row.closes
        return Situation(
            visibility=self.definition.split(split).visibility,
            opened=self.now >= row.opens,
            revealed=revealed,
            feedback=described.feedback[split],
            references_open=self.definition.references == "open",
            terms_accepted=self.who.terms_accepted,
            publish_items=self.definition.publish.items,
            publish_captions=self.definition.publish.captions,
            human_published=human,
        )

    def sees_phase(self, phase: str) -> bool:
        """Tell whether the viewer may know that a phase exists."""
        return self.definition.phase(phase).listed or self.who.role != "visitor"

    # boards

    def boards(self) -> list[str]:
        """The ids of the boards that the viewer may know of."""
        return [board.id for board in self.definition.boards if self.sees_phase(board.phase)]

    def board(self, id: str) -> Board | None:
        """Give a board as the viewer may see it; ``None`` where that is not at all.

        Args:
            id: What the definition calls it.
        """
        if id not in self.boards():
            return None
        described = next(board for board in self.definition.boards if board.id == id)
        situation = self.situation(described.phase, described.split)
        granted = permission(self.who.seen_as(), "board", situation)
        with self.database.reading() as connection:
            maker = _BoardMaker(self, connection, described, granted)
            return view(
                self.who.seen_as(),
                "board",
                situation,
                maker.cached,
                final=maker.cached,
                told=maker.cached,
                names=maker.names_only,
            )

    def board_html(self, id: str) -> Markup | None:
        """Give a board as part of a page; see `board`.

        Args:
            id: What the definition calls it.
        """
        board = self.board(id)
        if board is None:
            return None
        with _lock:
            written = next((kept for kept in _kept.values() if kept.board is board), None)
        if written is None:
            return board_html(board)
        if written.html is None:
            written.html = board_html(board)
        return written.html

    def verdict(self) -> Verdict | None:
        """Say who wins, once the phase is over and the scores that decide may be seen."""
        award = self.definition.award
        if award is None:
            return None
        for described in self.definition.boards:
            if (
                award.board not in ("", described.id)
                or self.now < self.phases[described.phase].closes
            ):
                continue
            board = self.board(described.id)
            there = {column.score for column in board.columns} if board and board.rows else set()
            if board and {*award.columns, *award.ties} <= there:
                return decide(award, board, described.level)
        return None

    @cached_property
    def _humans(self) -> dict[str, dict[str, Any]]:
        """The results of human evaluations that the viewer may see, by id."""
        with self.database.reading() as connection:
            human, phase = tables.human, tables.phase
            query = (
                select(human.c.id, human.c.results, human.c.published, phase.c.id.label("phase"))
                .join(phase, human.c.phase == phase.c.key)
                .where(phase.c.challenge == self.row.key)
            )
            rows = connection.execute(query).all()
        seen = {}
        for row in rows:
            described = next((h for h in self.definition.humans if h.id == row.id), None)
            if described is None or not row.results:
                continue
            there = row.published is not None
            situation = self.situation(row.phase, described.split, human=there)
            text = view(self.who.seen_as(), "human", situation, partial(str, row.results))
            if text is not None:
                seen[row.id] = json.loads(text)
        return seen

    # submissions

    def submissions(self, phase: str) -> list[results.Record]:
        """List the submissions of a phase whose state the viewer may see, oldest first."""
        row = self.phases[phase]
        split = self.definition.phase(phase).splits[0]
        situation = self.situation(phase, split)
        with self.database.reading() as connection:
            everything = results.records(connection, row.key, row.generation)
        return [
            record
            for record in everything
            if permission(self.who.seen_as(record.team), "job", situation) != "nothing"
        ]

    def scores(self, phase: str, split: str, record: results.Record) -> Mapping[str, Score] | None:
        """Give the scores of a submission, as far as the viewer may see them."""
        row = self.phases[phase]
        key = self.splits[split]

        def everything() -> Mapping[str, Score]:
            if record.job is None:
                return {}
            with self.database.reading() as connection:
                return results.scores_of(connection, key, [record.job])[record.job]

        def told() -> Mapping[str, Score]:
            with self.database.reading() as connection:
                known = results.told_of(connection, row.key, key, row.generation)
            return known[record.id].scores if record.id in known else {}

        def final() -> Mapping[str, Score] | None:
            boards = [b for b in self.definition.boards if (b.phase, b.split) == (phase, split)]
            made = self.board(boards[0].id) if boards else None
            counting = {line.entry.id for line in made.all_rows} if made else set()
            return everything() if record.id in counting else None

        viewer = self.who.seen_as(record.team)
        situation = self.situation(phase, split)
        return view(viewer, "scores", situation, everything, told=told, final=final)

    # what the splits and submissions hold

    def items(self, phase: str, split: str) -> list[str] | None:
        """Give the ids of the items of a split, once the phase is open."""

        def everything() -> list[str]:
            ids: list[str] = json.loads(self._blob(split, "items_blob"))["items"]
            return ids

        return view(self.who.seen_as(), "items", self.situation(phase, split), everything)

    def references(self, phase: str, split: str) -> dict[str, list[str]] | None:
        """Give the references of a public split of captions; of a blind one, never."""

        def everything() -> dict[str, list[str]]:
            ids = json.loads(self._blob(split, "items_blob"))["items"]
            texts = json.loads(self._blob(split, "references_blob"))["references"]
            return dict(zip(ids, texts, strict=True))

        return view(self.who.seen_as(), "references", self.situation(phase, split), everything)

    def captions(self, phase: str, split: str, record: results.Record) -> dict[str, str] | None:
        """Give the captions of a submission on a split."""

        def everything() -> dict[str, str]:
            with self.database.reading() as connection:
                kept = select(tables.submission.c.captions_blob).filter_by(key=record.key)
                content = get_blob(connection, connection.execute(kept).scalar_one())
            ids = json.loads(self._blob(split, "items_blob"))["items"]
            return dict(zip(ids, json.loads(content)[split], strict=True))

        viewer = self.who.seen_as(record.team)
        return view(viewer, "captions", self.situation(phase, split), everything)

    def item_scores(
        self, phase: str, split: str, record: results.Record
    ) -> dict[str, FloatArray] | None:
        """Give a submission's scores of all items of a public split, in their order, by score."""

        def everything() -> dict[str, FloatArray]:
            if record.job is None:
                return {}
            with self.database.reading() as connection:
                arrays = results.arrays_of(connection, self.splits[split], [record.job], "items")
            if record.job not in arrays:
                return {}
            names, data = arrays[record.job]
            columns = np.load(io.BytesIO(data), allow_pickle=False)
            return {name: columns[:, k] for k, name in enumerate(names)}

        viewer = self.who.seen_as(record.team)
        return view(viewer, "item_scores", self.situation(phase, split), everything)

    def entries_of(self, phase: str) -> list[results.Record]:
        """List the entries of a phase that count, for what may be shown of each."""
        row = self.phases[phase]
        with self.database.reading() as connection:
            everything = results.records(connection, row.key, row.generation)
        return [record for record in everything if record.counts]

    def _blob(self, split: str, column: str) -> bytes:
        with self.database.reading() as connection:
            query = select(tables.split.c[column]).filter_by(key=self.splits[split])
            return get_blob(connection, connection.execute(query).scalar_one())

    # the log

    def events(self) -> list[Event]:
        """List the events that the viewer may see, oldest first."""
        with self.database.reading() as connection:
            rows = read_events(connection, self.row.key)
            own = self._own_events(connection)
        public = [row for row in rows if row.what in PUBLIC_EVENTS]
        viewer = self.who.seen_as(self.who.team)
        seen = view(
            viewer,
            "events",
            Situation(),
            lambda: rows,
            public=lambda: [row._replace(actor="") for row in public],
            own=lambda: [
                row._replace(actor="") for row in rows if row in public or row.about in own
            ],
        )
        return seen or []

    def _own_events(self, connection: Connection) -> set[str]:
        """What the viewer's own events are about: the team and its submissions."""
        team, submission = tables.team, tables.submission
        query = (
            select(submission.c.id)
            .join(team, submission.c.team == team.c.key)
            .where(team.c.id == self.who.team)
        )
        own = {row.id for row in connection.execute(query)}
        return own | {self.who.team} if self.who.team else set()

    def chain_head(self) -> str:
        """The last link of the log's chain; empty without events."""
        with self.database.reading() as connection:
            return chain_head(connection, self.row.key)


@dataclass
class _Kept:
    """A board that this process has made or read before, and its page."""

    board: Board
    html: Markup | None = None


_kept: OrderedDict[tuple[str, int, str, str], _Kept] = OrderedDict()
_lock = Lock()


class _BoardMaker:
    """Makes one board for one permission, or takes it from the cache."""

    def __init__(
        self, seen: View, connection: Connection, board: defined.Board, granted: Permission
    ) -> None:
        self._view, self._connection = seen, connection
        self._board, self._granted = board, granted
        self._phase = seen.phases[board.phase]
        self._split = seen.splits[board.split]
        self._described = seen.definition.phase(board.phase)
        self._records = results.records(connection, self._phase.key, self._phase.generation)

    def cached(self) -> Board:
        """Give the board from the cache, or make it and keep it there."""
        key, digest = self._view.row.key, self._digest()
        name = (self._view.database.place, key, self._board.id, digest)
        with _lock:
            if name in _kept:
                _kept.move_to_end(name)
                return _kept[name].board
        board = self._stored(digest)
        with _lock:
            _kept[name] = _Kept(board)
            while len(_kept) > _BOARDS:
                _kept.popitem(last=False)
        return board

    def _stored(self, digest: str) -> Board:
        cache, key = tables.board, self._view.row.key
        query = select(cache.c.content).where(
            cache.c.challenge == key,
            cache.c.board == self._board.id,
            cache.c.generation == self._phase.generation,
            cache.c.digest == digest,
        )
        content = self._connection.execute(query).scalar()
        if content is not None:
            return board_of(json.loads(content))
        made = self.made()
        row = {
            "challenge": key,
            "board": self._board.id,
            "generation": self._phase.generation,
            "digest": digest,
            "content": json.dumps(board_dict(made), ensure_ascii=False),
            "made": self._view.now,
        }
        _keep(self._view.database, row)
        return made

    def _digest(self) -> str:
        """A digest of everything that the board is made of."""
        shown, phase = tables.shown, self._phase
        told = select(shown.c.key).where(shown.c.phase == phase.key, shown.c.split == self._split)
        parts = [
            *(self._view.row.digest, self._granted, phase.generation, phase.closes),
            [
                (
                    r.id,
                    r.team_name,
                    r.kind,
                    r.late,
                    r.status,
                    r.team_state,
                    r.chosen,
                    r.state,
                    r.method,
                )
                for r in self._records
            ],
            len(self._connection.execute(told).all()),
            self._view._humans,
        ]
        text = json.dumps(parts, ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def names_only(self) -> Board:
        """The teams that take part, without scores."""
        teams = dict.fromkeys(r.team_name for r in self._records if r.counts)
        return replace(self._make([]), names=sorted(teams, key=str.casefold))

    def made(self) -> Board:
        """Make the board of what its permission allows."""
        counting = [record for record in self._records if record.counts]
        entries = self._told(counting) if self._granted == "told" else self._exact(counting)
        return self._make([self._with_people(entry) for entry in entries])

    def _exact(self, counting: Sequence[results.Record]) -> list[Entry]:
        jobs = [record.job for record in counting if record.job is not None]
        scores = results.scores_of(self._connection, self._split, jobs)
        draws = results.draws_of(self._connection, self._split, jobs)
        return [
            record.entry(scores[job], draws.get(job, NO_DRAWS), self._place(record))
            for record in counting
            if (job := record.job) is not None
        ]

    def _told(self, counting: Sequence[results.Record]) -> list[Entry]:
        """Entries whose scores the team was told, as it was told them."""
        phase = self._phase
        told = results.told_of(self._connection, phase.key, self._split, phase.generation)
        news = [r for r in counting if r.id in told and told[r.id].submission == r.id]
        jobs = [record.job for record in news if record.job is not None]
        draws = results.draws_of(self._connection, self._split, jobs)
        signed = results.scores_of(self._connection, self._split, jobs)
        entries = []
        for record in news:
            own = told[record.id]
            assert record.job is not None
            signatures = signed[record.job]
            scores = {
                name: replace(score, signature=signatures[name].signature)
                for name, score in own.scores.items()
                if name in signatures
            }
            drawn = _rounded_draws(draws.get(record.job, NO_DRAWS), own)
            entries.append(record.entry(scores, drawn, self._place(record)))
        return entries

    def _place(self, record: results.Record) -> Place:
        if record.late:
            return "late"
        return "after" if record.arrived >= self._phase.closes else "ranked"

    def _with_people(self, entry: Entry) -> Entry:
        people = {
            name: Score(**columns["scores"][entry.id], signature=columns["signature"])
            for name, columns in self._people().items()
            if entry.id in columns["scores"]
        }
        return replace(entry, scores={**entry.scores, **people})

    def _people(self) -> dict[str, dict[str, Any]]:
        """The published columns of people on this board, by the score's name."""
        wanted = {columns.human for columns in self._board.columns if columns.human}
        return {
            column["score"]: column
            for id, part in self._view._humans.items()
            if id in wanted
            for column in part["columns"]
        }

    def _make(self, entries: Sequence[Entry]) -> Board:
        board, ladder = self._board, self._described.feedback[self._board.split] == "ladder"
        told = self._granted == "told"
        notes = []
        if told:
            how = "by the Ladder" if ladder else "rounded"
            notes.append(f"Scores are told {how} while the test set is in use.")
        return make_board(
            board.id,
            board.name or board.id,
            entries,
            board_columns(self._view.definition, board, self._people()),
            primary=board.primary,
            final="last" if told and ladder else self._described.final,
            level=board.level,
            correction=board.correction,  # type: ignore[arg-type]
            generation=self._phase.generation,
            notes=notes,
        )


def _keep(database: Database, row: Mapping[str, Any]) -> None:
    """Put a board into the cache; it is not worth an error where that cannot be written."""
    cache = tables.board
    own = [cache.c[name] == row[name] for name in ("challenge", "board")]
    same = [cache.c[name] == row[name] for name in ("generation", "digest")]
    with suppress(DataError), database.writing() as connection:
        if connection.execute(select(cache.c.key).where(*own, *same)).first() is not None:
            return  # somebody else was quicker
        connection.execute(insert(cache).values(**row))
        newest = select(cache.c.key).where(*own).order_by(cache.c.key.desc())
        old = connection.execute(newest.offset(_VERSIONS)).scalars().all()
        connection.execute(delete(cache).where(cache.c.key.in_(old)))


def _rounded_draws(draws: Draws, told: Told) -> Draws:
    """Round resamples as the score was rounded, so that they tell no more than it does."""
    if told.step is None:
        return draws
    step = told.step

    def coarse(values: FloatArray) -> FloatArray:
        result: FloatArray = (values / step).round() * step
        return result

    return Draws({name: coarse(values) for name, values in draws.samples.items()})


def board_columns(
    definition: Definition, board: defined.Board, people: Mapping[str, Mapping[str, Any]]
) -> list[Column]:
    """Give the columns of a board, people's among them where they are published.

    Args:
        definition: The challenge.
        board: One of its boards.
        people: The published columns of people, by the score's name.
    """
    kind = definition.split(board.split).kind
    scales = score_scales(definition.scoring, kind)
    columns: list[Column] = []
    for part in board.columns:
        decimals = _DECIMALS if part.precision is None else part.precision
        for score in part.scores:
            scale = scales[score]
            columns.append(
                Column(
                    score,
                    scale.label or score,
                    part.group,
                    scale.better,
                    part.scale,
                    decimals,
                    part.ranked and scale.ranks,
                )
            )
        for name, column in people.items():
            if part.human and name.split(":")[1] == part.human:
                columns.append(
                    Column(
                        name,
                        column["label"],
                        part.group,
                        column["better"],
                        part.scale,
                        2 if part.precision is None else part.precision,
                        part.ranked,
                    )
                )
    if all(column.score != board.primary for column in columns):
        scale = scales[board.primary]
        first = Column(board.primary, scale.label or board.primary, "", scale.better)
        columns.insert(0, first)
    return columns
