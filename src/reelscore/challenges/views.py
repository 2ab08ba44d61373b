"""A challenge as somebody sees it: every number and text passes `reelscore.challenges.permissions`.

Pages, commands and archives open a `View` for whoever asks. Its methods give ``None`` for what may
not be seen, as for what does not exist.
"""

from __future__ import annotations

import io
import json
from collections.abc import Collection
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sqlalchemy import Column, Connection, select

from reelscore.challenges.boards.awards import AwardDecision, decide
from reelscore.challenges.boards.board_forms import board_html, history_svg
from reelscore.challenges.boards.board_maker import BoardMaker, kept_form
from reelscore.challenges.boards.boards import Leaderboard
from reelscore.challenges.challenge import Challenge
from reelscore.challenges.definition import records as defined
from reelscore.challenges.people.human import unpublished_verdict
from reelscore.challenges.people.invitations import invited_phases
from reelscore.challenges.permissions import (
    NEWS,
    PUBLIC_EVENTS,
    VISITOR,
    Situation,
    What,
    Who,
    permission,
    view,
)
from reelscore.challenges.queue.queue_state import waits_for
from reelscore.challenges.store import results, tables
from reelscore.challenges.store.blobs import get_blob
from reelscore.challenges.store.events import LogEvent as LogEvent
from reelscore.challenges.store.events import broken_link, chain_head, read_events
from reelscore.challenges.store.events import check_reason as check_reason
from reelscore.challenges.store.kept_scores import PeopleScores, Results, people_of
from reelscore.challenges.store.tables import TableRow
from reelscore.challenges.uploads.splits import stories_references
from reelscore.data.stories import Stories
from reelscore.data.tables.table import MetricResult
from reelscore.errors import UnknownNameError
from reelscore.stats.resampling import FloatArray
from reelscore.store.values import to_iso

if TYPE_CHECKING:
    from markupsafe import Markup


SubmissionRecord = results.SubmissionRecord  # what pages know a submission by


class ServerLog(NamedTuple):
    """The log of the whole server: its events, the first that was changed, and its chain's head."""

    events: list[LogEvent]
    changed: int | None
    chain: str


class View:
    """What one person may see of one challenge, at one moment."""

    def __init__(
        self,
        challenge: Challenge,
        who: Who = VISITOR,
        *,
        now: int | None = None,
        generation: int | None = None,
    ) -> None:
        """Look at a challenge: at its newest scores, or at those of an earlier generation."""
        organiser = who.role in ("assistant", "owner")
        if challenge.state == "draft" and not organiser:
            raise UnknownNameError.of("challenge", challenge.id, [])
        self.challenge, self.who = challenge, who
        whole = challenge.definition
        listed = {phase.id for phase in whole.phases if phase.listed or organiser}
        with challenge.reading() as connection:
            self.now = challenge.now(connection) if now is None else now
            if len(listed) < len(whole.phases) and who.team:
                listed |= invited_phases(connection, challenge.key, who.team)
            phases = challenge.phases(connection)
            own = select(tables.split).filter_by(challenge=challenge.key)
            splits = connection.execute(own).mappings().all()
        # what the viewer may know of: phases that are not listed are not in it
        self.phases = {
            id: replace(phase, generation=min(phase.generation, generation or phase.generation))
            for id, phase in phases.items()
            if id in listed
        }
        self.definition = whole.only(self.phases)
        seen = {split.id for split in self.definition.splits}
        self.splits: dict[str, int] = {row["id"]: row["key"] for row in splits if row["id"] in seen}
        self.counts = {row["id"]: int(row["count"]) for row in splits if row["id"] in seen}
        self._boards: dict[str, Leaderboard | None] = {}  # those that were asked for

    @property
    def id(self) -> str:
        """The challenge's id."""
        return self.challenge.id

    @property
    def name(self) -> str:
        """The challenge's name."""
        return self.challenge.definition.name

    def situation(self, phase: str, split: str, *, human: bool = False) -> Situation:
        """Return what permissions depend on, for a split in a phase."""
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

    # boards

    def boards(self) -> list[str]:
        """The ids of the boards that the viewer may know of."""
        return [board.id for board in self.definition.boards]

    def board(self, id: str) -> Leaderboard | None:
        """Return a board as the viewer may see it; ``None`` where that is not at all."""
        if id not in self.boards():
            return None
        if id not in self._boards:
            self._boards[id] = self._made(id)
        return self._boards[id]

    def _made(self, id: str, *, drawn: bool = False) -> Leaderboard | None:
        """Return a board, from the cache or anew with the resamples of its entries."""
        described = self.definition.board(id)
        situation = self.situation(described.phase, described.split)
        granted = permission(self.who.seen_as(), "board", situation)
        with self.challenge.reading() as connection:
            maker = BoardMaker(self, connection, described, granted)
            made = maker.made if drawn else maker.cached
            return view(
                self.who.seen_as(),
                "board",
                situation,
                made,
                final=made,
                told=made,
                names=maker.names_only,
            )

    def board_html(self, id: str) -> Markup | None:
        """Return a board as part of a page; see `board`."""
        board = self.board(id)
        return None if board is None else kept_form(board, "html", partial(board_html, board))

    def board_history(self, id: str) -> Markup | None:
        """Return a board's entries over time as a plot; see `board`."""
        board = self.board(id)
        return None if board is None else kept_form(board, "plot", partial(history_svg, board))

    def verdict(self) -> AwardDecision | None:
        """Return who wins, once the phase is over and the scores that decide may be seen."""
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
                return kept_form(board, "verdict", partial(self._decided, award, described))
        return None

    def _decided(self, award: defined.Award, described: defined.Board) -> AwardDecision | None:
        """Return who wins by a board; who shares a place is decided by the resamples."""
        board = self._made(described.id, drawn=True)
        if board is None:
            return None
        return decide(award, board, described.test.level, described.test.correction)

    @cached_property
    def humans(self) -> dict[str, PeopleScores]:
        """The scores of human evaluations that the viewer may see, by id."""
        with self.challenge.reading() as connection:
            human, phase = tables.human, tables.phase
            query = (
                select(human, phase.c.id.label("phase_id"))
                .join(phase, human.c.phase == phase.c.key)
                .where(phase.c.challenge == self.challenge.key)
            )
            rows = connection.execute(query).all()
        seen = {}
        for row in rows:
            described = next((h for h in self.definition.humans if h.id == row.id), None)
            if described is None:
                continue
            there = row.published is not None
            situation = self.situation(row.phase_id, described.split, human=there)
            read = partial(self._published if there else self._coming, described, row)
            people = view(self.who.seen_as(), "human", situation, read)
            if people is not None:
                seen[row.id] = people
        return seen

    def _published(self, _: defined.Human, row: TableRow) -> PeopleScores:
        return people_of(json.loads(row.results)["columns"])

    def _coming(self, human: defined.Human, row: TableRow) -> PeopleScores:
        """The scores of a human evaluation as they would be published now."""
        entries = json.loads(row.entries)
        return unpublished_verdict(self.challenge.database, row.campaign, human, entries)

    # submissions

    def submissions(self, phase: str) -> list[SubmissionRecord]:
        """List the submissions of a phase whose state the viewer may see, oldest first."""
        # pages of many teams ask for this again and again: one's own are few
        situation = self.situation(phase, self.definition.phase(phase).splits[0])
        only_own = permission(self.who.seen_as(), "job", situation) == "nothing"
        if only_own and not self.who.team:
            return []
        records = self._records(phase, self.who.team if only_own else "")
        return [record for record in records if self.sees_state(phase, record)]

    def sees_state(self, phase: str, record: SubmissionRecord) -> bool:
        """Return whether the viewer may see the state of a submission."""
        return self.may_see("job", phase, self.definition.phase(phase).splits[0], record)

    def scores(self, phase: str, split: str, record: SubmissionRecord) -> Results | None:
        """Return the scores of a submission, as far as the viewer may see them."""
        row = self.phases[phase]
        key = self.splits[split]

        def everything() -> Results:
            if record.job is None:
                return {}
            with self.challenge.reading() as connection:
                return results.scores_of(connection, key, [record.job])[record.job]

        def told() -> Results:
            with self.challenge.reading() as connection:
                known = results.told_of(connection, row.key, key, row.generation)
            return known[record.id].scores if record.id in known else {}

        def final() -> Results | None:
            boards = self.definition.boards_of(phase, split)
            made = self.board(boards[0].id) if boards else None
            counting = {line.id for line in made.all_rows} if made else set()
            return everything() if record.id in counting else None

        viewer = self.who.seen_as(record.team)
        situation = self.situation(phase, split)
        return view(viewer, "scores", situation, everything, told=told, final=final)

    # what the splits and submissions hold

    def items(self, phase: str, split: str) -> list[str] | None:
        """Return the ids of the items of a split, once the phase is open."""
        return self._items(split) if self.sees("items", phase, split) else None

    def references(self, phase: str, split: str) -> dict[str, list[str]] | None:
        """Return the references of a public split of captions; of a blind one, never."""
        if not self.sees("references", phase, split):
            return None
        texts = json.loads(self._references(split))["references"]
        return dict(zip(self._items(split), texts, strict=True))

    def story_references(self, phase: str, split: str) -> list[Stories] | None:
        """Return the references of a public split of stories, of each annotator."""
        if not self.sees("references", phase, split):
            return None
        return stories_references(self._references(split))

    def captions(self, phase: str, split: str, record: SubmissionRecord) -> dict[str, Any] | None:
        """Return what a submission says of each item: captions, or stories as lists of captions."""
        if not self.may_see("captions", phase, split, record):
            return None
        texts = json.loads(self._blob(tables.submission.c.captions_blob, record.key))[split]
        return (
            texts if isinstance(texts, dict) else dict(zip(self._items(split), texts, strict=True))
        )

    def upload(self, phase: str, record: SubmissionRecord) -> bytes | None:
        """Return the file of a submission, as it was handed in."""
        split = self.definition.phase(phase).splits[0]  # what may be seen is the same for all
        if not self.may_see("captions", phase, split, record):
            return None
        return self._blob(tables.submission.c.upload_blob, record.key)

    def item_scores(
        self, phase: str, split: str, record: SubmissionRecord
    ) -> dict[str, FloatArray] | None:
        """Return a submission's scores of all items of a public split, in their order, by score."""
        if not self.may_see("item_scores", phase, split, record):
            return None
        if record.job is None:
            return {}
        with self.challenge.reading() as connection:
            arrays = results.arrays_of(connection, self.splits[split], [record.job], "items")
        if record.job not in arrays:
            return {}
        names, data = arrays[record.job]
        columns = np.load(io.BytesIO(data), allow_pickle=False)
        return {name: columns[:, k] for k, name in enumerate(names)}

    def sees(self, what: What, phase: str, split: str) -> bool:
        """Return whether the viewer may see something of a split that belongs to no team."""
        granted = permission(self.who.seen_as(), what, self.situation(phase, split))
        return granted == "everything"

    def _items(self, split: str) -> list[str]:
        kept = self._blob(tables.split.c.items_blob, self.splits[split])
        ids: list[str] = json.loads(kept)["items"]
        return ids

    def _references(self, split: str) -> bytes:
        return self._blob(tables.split.c.references_blob, self.splits[split])

    def may_see(self, what: What, phase: str, split: str, record: SubmissionRecord) -> bool:
        """Return whether the viewer may see something of a submission.

        What is published is that of entries on a board: others are nobody's business.
        """
        viewer = self.who.seen_as(record.team)
        if permission(viewer, what, self.situation(phase, split)) != "everything":
            return False
        return viewer not in ("visitor", "other") or record.id in self._on_boards

    @cached_property
    def _on_boards(self) -> set[str]:
        """The submissions on boards that the viewer may see."""
        boards = [board for id in self.boards() if (board := self.board(id)) is not None]
        return {row.id for board in boards for row in board.all_rows}

    def find(self, id: str) -> tuple[str, SubmissionRecord] | None:
        """Return a submission by its public id, with its phase, to ask what may be seen of it.

        That it exists is not for everybody to know: `submissions` lists those whose state the
        viewer may see, `captions`, `upload` and `item_scores` give ``None``.
        """
        for phase in self.phases:
            for record in self._records(phase):
                if record.id == id:
                    return phase, record
        return None

    def entries_of(self, phase: str) -> list[SubmissionRecord]:
        """List the entries of a phase that count, for what may be shown of each."""
        return [record for record in self._records(phase) if record.counts]

    def _records(self, phase: str, of_team: str = "") -> list[SubmissionRecord]:
        row = self.phases[phase]
        with self.challenge.reading() as connection:
            return results.records(connection, row.key, row.generation, of_team)

    def _blob(self, column: Column[str], key: int) -> bytes:
        """Return the content that a row of a table names."""
        with self.challenge.reading() as connection:
            query = select(column).where(column.table.c.key == key)
            return get_blob(connection, connection.execute(query).scalar_one())

    # teams and the log

    def board_members(self, id: str) -> dict[str, list[int]]:
        """Return the accounts of the members of teams on a board, by the team's name.

        Teams whose members the viewer may not know are left out.
        """
        board = self.board(id)
        if board is None:
            return {}
        names = {*board.names, *(row.team for row in board.all_rows)}
        team, member = tables.team, tables.member
        own = (
            select(team, member.c.account)
            .join(member, (member.c.team == team.c.key) & (member.c.state == "active"))
            .where(team.c.challenge == self.challenge.key)
            .order_by(team.c.name, member.c.key)
        )
        members: dict[str, list[int]] = {}
        with self.challenge.reading() as connection:
            for row in connection.execute(own):
                situation = Situation(members_shown=row.members_shown)
                viewer = self.who.seen_as(row.id)
                if row.name in names and permission(viewer, "members", situation) == "everything":
                    members.setdefault(row.name, []).append(row.account)
        return members

    def events(self) -> list[LogEvent]:
        """List the events that the viewer may see, oldest first."""
        with self.challenge.reading() as connection:
            return _seen_events(connection, self.challenge, self.who, self.phases)

    def tells_of(self, event: LogEvent) -> bool:
        """Return whether news are about what the viewer may know of."""
        hidden = _hidden(self.challenge.definition, self.phases)
        return event.what in NEWS and _told(event, hidden) is not None

    def changed_event(self) -> int | None:
        """Find the first event whose chain is not right, by its number; ``None`` if all are."""
        with self.challenge.reading() as connection:
            return broken_link(connection, self.challenge.key)

    def chain_head(self) -> str:
        """The last link of the log's chain; empty without events."""
        with self.challenge.reading() as connection:
            return chain_head(connection, self.challenge.key)

    def server_log(self) -> ServerLog | None:
        """Return the log of the whole server: tokens, and accounts of organisers.

        Organisers alone may see it, since it tells of people in other challenges.
        """
        if permission(self.who.seen_as(), "events", Situation()) != "everything":
            return None
        with self.challenge.reading() as connection:
            events = read_events(connection, None)
            return ServerLog(events, broken_link(connection, None), chain_head(connection, None))


def submission_dict(view: View, phase: str, record: SubmissionRecord) -> dict[str, Any]:
    """Return a submission as programs and the command line read it, with the scores to be seen."""
    scores = {}
    if record.state == "scored":
        splits = view.definition.phase(phase).splits
        scores = {split: view.scores(phase, split, record) for split in splits}
    return {
        "id": record.id,
        "challenge": view.id,
        "phase": phase,
        "team": record.team_name,
        "number": record.number,
        "file": record.file_name,
        "method": record.method,
        "arrived": to_iso(record.arrived),
        "late": bool(record.late),
        "status": record.status,
        "chosen": bool(record.chosen),
        "state": record.state or "queued",
        "reason": waits_for(view.challenge.store, record.id)[0] or record.reason,
        "scores": {
            split: {name: _score_dict(result) for name, result in seen.items()}
            for split, seen in scores.items()
            if seen is not None
        },
    }


def _score_dict(result: MetricResult) -> dict[str, object]:
    interval = result.interval and list(result.interval)
    return {"score": result.score, "interval": interval, "signature": result.signature}


_CHANGED = "The definition is changed."


def _seen_events(
    connection: Connection, challenge: Challenge, who: Who, phases: Collection[str]
) -> list[LogEvent]:
    """List the events that somebody who may know of some phases may see, oldest first."""
    rows, whole = read_events(connection, challenge.key), challenge.definition
    own = _own(connection, who.team)
    hidden = _hidden(whole, phases)
    known = [told for row in rows if (told := _told(row, hidden)) is not None]
    seen = view(
        who.seen_as(who.team),
        "events",
        Situation(),
        lambda: rows,
        public=lambda: [row for row in known if row.what in PUBLIC_EVENTS],
        own=lambda: [row for row in known if row.what in PUBLIC_EVENTS or row.about in own],
    )
    return seen or []


def _hidden(whole: defined.Definition, phases: Collection[str]) -> set[str]:
    """Return what is not to be known: all phases but some, and human evaluations of the others."""
    hidden = {phase.id for phase in whole.phases} - set(phases)
    return hidden | {human.id for human in whole.humans if human.phase not in phases}


def _own(connection: Connection, team_id: str) -> set[str]:
    """What the events of a team are about: the team and its submissions."""
    if not team_id:
        return set()
    team, submission = tables.team, tables.submission
    ids = select(submission.c.id).join(team, submission.c.team == team.c.key)
    return {*connection.scalars(ids.where(team.c.id == team_id)), team_id}


def _told(row: LogEvent, hidden: set[str]) -> LogEvent | None:
    """Return an event without who did it; ``None`` where it tells of a phase that is not known."""
    if row.what == "definition":
        names = any(repr(name) in row.reason for name in hidden)
        return row._replace(actor="", reason=_CHANGED if names else row.reason)
    if row.what != "state" and hidden & {row.about, *row.after.split()}:
        return None
    return row._replace(actor="")
