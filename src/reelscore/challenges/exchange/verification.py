"""What was kept is what was computed and written: scores of an export, and logs of a database."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, func, select

from reelscore._progress import Progress, Steps
from reelscore.challenges.challenge import split_rows
from reelscore.challenges.exchange.imports import import_challenge, read_export
from reelscore.challenges.queue.scorers import Score, prepare, score_split
from reelscore.challenges.store import tables
from reelscore.challenges.store.blobs import get_blob
from reelscore.challenges.store.events import broken_link, chain_head, read_events
from reelscore.challenges.store.kept_scores import score_form
from reelscore.challenges.store.results import arrays_of, scores_of
from reelscore.challenges.store.tables import TableRow, open_challenges
from reelscore.errors import DataError
from reelscore.store.database import Database

_SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True)
class Verification:
    """What came of computing every score again."""

    challenge: str  # the challenge's id
    submissions: int  # how many submissions were scored again
    scores: int  # how many scores were compared
    arrays: int  # how many arrays of item scores, statistics and resamples were compared
    differences: list[str]  # what differs, a sentence each
    chain: str  # the head of the log's chain, which is right


@dataclass(frozen=True)
class CheckedLog:
    """A log whose chain is right."""

    challenge: str  # the challenge's id; empty for the log of the server
    events: int  # how many events it has
    chain: str  # the head of its chain; empty without events


def is_database(where: str) -> bool:
    """Distinguish a database from an export.

    >>> is_database("postgresql://lab/clips"), is_database("none.zip")
    (True, False)
    """
    if "://" in where:
        return True
    try:
        with Path(where).open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def verify_logs(database: Database) -> list[CheckedLog]:
    """Check the chains of all logs of a database: of its challenges, and of the server."""
    with database.reading() as connection:
        known = connection.execute(select(tables.challenge).order_by(tables.challenge.c.key)).all()
        logs: list[tuple[str, int | None]] = [(row.id, row.key) for row in known]
        checked = []
        for id, key in [*logs, ("", None)]:
            if (number := broken_link(connection, key)) is not None:
                name = f"the log of {id!r}" if id else "the log of the server"
                raise DataError(f"{database.place}: row {number} of {name} was changed.")
            events = len(read_events(connection, key))
            checked.append(CheckedLog(id, events, chain_head(connection, key)))
    return checked


def verify_export(
    path: str | os.PathLike[str], *, threads: int | None = None, progress: Progress | None = None
) -> Verification:
    """Compute every score of an export again, and compare bit by bit."""
    manifest, _ = read_export(path)
    if not manifest["references"]:
        raise DataError(
            f"{os.fspath(path)}: the checksums are right, but there are no references in it to "
            "compute scores from; export with --with references."
        )
    with (
        tempfile.TemporaryDirectory() as folder,
        open_challenges(Path(folder, "verify.db"), create=True) as database,
    ):
        import_challenge(database, path)
        with database.reading() as connection:
            return _verified(connection, manifest, threads, progress)


def _verified(
    connection: Connection,
    manifest: dict[str, Any],
    threads: int | None,
    progress: Progress | None,
) -> Verification:
    jobs = _jobs(connection)
    report = Steps(progress, len(jobs))
    prepared: dict[tuple[int, str], tuple[Score, list[str]]] = {}
    differences: list[str] = []
    scores = arrays = 0
    for job in jobs:
        settings = json.loads(job.settings)
        captions = msgspec.json.decode(get_blob(connection, job.captions_blob))
        for split in split_rows(connection, job.phase):
            key = (split.key, job.settings)
            if key not in prepared:
                items = get_blob(connection, split.items_blob)
                references = get_blob(connection, split.references_blob)
                prepared[key] = prepare(settings, items, references, threads)
            score, items_in_order = prepared[key]
            again = score_split(score, items_in_order, captions[split.id], settings)
            kept = scores_of(connection, split.key, [job.key])[job.key]
            where = f"submission {job.id}, {split.id}"
            made = again.scores
            scores += len(made)
            if made.keys() != kept.keys():
                differences.append(f"{where}: the export has other scores than are computed.")
            for name in made.keys() & kept.keys():
                own, other = kept[name], made[name]
                if (own.signature, score_form(own)) != (other.signature, score_form(other)):
                    differences.append(
                        f"{where}: {name} is {own.score!r}, computed again {other.score!r}."
                    )
            for kind, (_, content) in again.arrays.items():
                array = arrays_of(connection, split.key, [job.key], kind).get(job.key)
                arrays += 1
                if array is None or array[1] != content:
                    differences.append(f"{where}: the array of {kind} differs.")
        report()
    return Verification(
        manifest["challenge"], len(jobs), scores, arrays, differences, manifest["chain"]
    )


def _jobs(connection: Connection) -> Sequence[TableRow]:
    """The scored jobs of each phase's newest generation, by whose rules they can be scored."""
    job, submission, phase = tables.job, tables.submission, tables.phase
    others, other_jobs = submission.alias(), job.alias()
    newest = (
        select(func.max(other_jobs.c.generation))
        .join(others, other_jobs.c.submission == others.c.key)
        .where(others.c.phase == phase.c.key)
        .correlate(phase)
    )
    of_submission = [submission.c.id, submission.c.captions_blob, submission.c.phase]
    query = (
        select(job.c.key, phase.c.settings, *of_submission)
        .join(submission, job.c.submission == submission.c.key)
        .join(phase, submission.c.phase == phase.c.key)
        .where(job.c.state == "scored", job.c.generation == newest.scalar_subquery())
        .order_by(job.c.key)
    )
    return connection.execute(query).all()
