"""What the result tables hold of a phase: entries with their scores, draws, and what teams know.

Nothing here asks who wants to see it: `reelscore.challenges.views` does, and alone calls this.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, RowMapping, and_, false, func, select

from reelscore.challenges.boards.boards import Kind
from reelscore.challenges.boards.ladder import Told
from reelscore.challenges.store import tables
from reelscore.challenges.store.blobs import get_blob
from reelscore.challenges.store.kept_scores import ScoreForm, result_of, with_draws
from reelscore.data.tables.table import MetricResult


@dataclass(frozen=True)
class SubmissionRecord:
    """A submission of a phase, with its team and its job of one generation."""

    key: int  # the database's number of the submission
    id: str  # its public id
    team: str  # the team's public id
    team_name: str  # the team's name
    kind: Kind  # whose entry it is
    number: int  # its number within team and phase
    arrived: int  # when it arrived
    late: bool  # whether it came after the close
    status: str  # whether it is active, withdrawn or disqualified
    team_state: str  # whether the team is active, merged or disqualified
    chosen: bool  # whether the captain chose it
    method: str  # what the team says about it
    link: str  # where it is described
    file_name: str  # what the file was called
    job: int | None  # the database's number of the job; ``None`` without one
    state: str  # the job's state; empty without one
    reason: str  # why the job failed, or waits
    given_up: bool = False  # whether its team withdrew it after the close

    @property
    def counts(self) -> bool:
        """Whether it may be on a board."""
        return self.status == "active" and self._is_scored

    @property
    def holds_place(self) -> bool:
        """Whether no earlier entry of the team may stand where it would: it counts, or did."""
        return self.counts or (self.given_up and self._is_scored)

    @property
    def _is_scored(self) -> bool:
        return self.team_state != "disqualified" and self.state == "scored"


_HEIR, _OWN = tables.team.alias("heir"), tables.job.alias("own")


def records(
    connection: Connection, phase: int, generation: int, of_team: str = ""
) -> list[SubmissionRecord]:
    """List the submissions of a phase, in order of arrival.

    A merged team's submissions are those of the team it was merged into. Each has its score of the
    generation, or else the state of its newest job.
    """
    submission, team, job, own_phase = tables.submission, tables.team, tables.job, tables.phase
    heir = _HEIR
    own = select(func.max(_OWN.c.generation)).where(_OWN.c.submission == submission.c.key)
    shown = own.where(_OWN.c.generation == generation, _OWN.c.state == "scored")
    seen = func.coalesce(
        shown.correlate(submission).scalar_subquery(), own.correlate(submission).scalar_subquery()
    )
    of_submission = ("key", "id", "number", "arrived", "late", "status", "chosen", "method")
    query = (
        select(
            *(submission.c[name] for name in (*of_submission, "link", "file_name")),
            func.coalesce(heir.c.id, team.c.id).label("team"),
            func.coalesce(heir.c.name, team.c.name).label("team_name"),
            func.coalesce(heir.c.state, team.c.state).label("team_state"),
            team.c.kind,
            job.c.key.label("job"),
            func.coalesce(job.c.state, "").label("state"),
            func.coalesce(job.c.reason, "").label("reason"),
            func.coalesce(submission.c.withdrawn >= own_phase.c.closes, false()).label("given_up"),
            job.c.generation,
        )
        .join(own_phase, submission.c.phase == own_phase.c.key)
        .join(team, submission.c.team == team.c.key)
        .outerjoin(heir, team.c.merged_into == heir.c.key)
        .outerjoin(job, and_(job.c.submission == submission.c.key, job.c.generation == seen))
        .where(submission.c.phase == phase)
        .order_by(submission.c.arrived, submission.c.key)
    )
    if of_team:
        query = query.where(func.coalesce(heir.c.id, team.c.id) == of_team)
    return [_record(row, generation) for row in connection.execute(query).mappings()]


def _record(row: RowMapping, generation: int) -> SubmissionRecord:
    values = {**row, "given_up": bool(row["given_up"])}
    made = values.pop("generation")
    if row["state"] == "scored" and made != generation:
        # of the next generation, of which nothing is shown before all of it is there
        reason = f"shown with generation {made}"
        values |= {"job": None, "state": "scoring", "reason": reason}
    return SubmissionRecord(**values)


def stories_told(connection: Connection, split: str, ids: Sequence[str]) -> dict[str, int]:
    """Count the videos of a split that submissions tell stories of, by their public ids."""
    submission = tables.submission
    query = select(submission.c.id, submission.c.captions_blob).where(submission.c.id.in_(ids))
    blobs = {row.id: row.captions_blob for row in connection.execute(query)}
    stories = msgspec.json.Decoder(dict[str, dict[str, msgspec.Raw]])  # what is in them is unread
    return {
        id: len(stories.decode(get_blob(connection, blob))[split]) for id, blob in blobs.items()
    }


def scores_of(
    connection: Connection, split: int, jobs: Sequence[int], *, drawn: bool = False
) -> dict[int, dict[str, MetricResult]]:
    """Return the results of some jobs on a split, by the database's number of the job.

    They have their resamples where these are asked for.
    """
    result = tables.result
    scores: dict[int, dict[str, MetricResult]] = {job: {} for job in jobs}
    query = (
        select(result)
        .where(result.c.split == split, result.c.job.in_(jobs))
        .order_by(result.c.job, result.c.position)
    )
    for row in connection.execute(query):
        form: ScoreForm = {"value": row.value, "low": row.low, "high": row.high}
        scores[row.job][row.score] = result_of(row.score, form, row.signature)
    if drawn:
        for job, (names, data) in arrays_of(connection, split, jobs, "draws").items():
            scores[job] = with_draws(scores[job], names, data)
    return scores


def arrays_of(
    connection: Connection, split: int, jobs: Sequence[int], kind: str
) -> dict[int, tuple[list[str], bytes]]:
    """Return an array of some jobs on a split: the names of its columns, and the NumPy file."""
    array = tables.array
    query = select(array.c.job, array.c.names, array.c.blob).where(
        array.c.split == split, array.c.kind == kind, array.c.job.in_(jobs)
    )
    return {
        row.job: (json.loads(row.names), get_blob(connection, row.blob))
        for row in connection.execute(query).all()
    }


def told_of(connection: Connection, phase: int, split: int, generation: int) -> dict[str, Told]:
    """Return what the teams were told after each submission, by the submission's public id."""
    shown, submission = tables.shown, tables.submission
    query = (
        select(submission.c.id, shown.c.told)
        .join(submission, shown.c.submission == submission.c.key)
        .where(shown.c.phase == phase, shown.c.split == split, shown.c.generation == generation)
        .order_by(shown.c.key)
    )
    told = {row.id: json.loads(row.told) for row in connection.execute(query)}
    return {id: told_from(data) for id, data in told.items() if data is not None}


def told_from(data: Mapping[str, Any]) -> Told:
    """Read what `Told.to_dict` gave."""
    scores = {name: result_of(name, form) for name, form in data["scores"].items()}
    return Told(data["submission"], data["step"], scores)
