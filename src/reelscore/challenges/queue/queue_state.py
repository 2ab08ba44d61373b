"""How the queue stands, who scores, and why a submission waits."""

from __future__ import annotations

import importlib.util
import math
import os
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import func, insert, select, update

from reelscore._version import __version__
from reelscore.challenges.challenge import Challenge, Challenges
from reelscore.challenges.definition.records import ScoringSettings
from reelscore.challenges.queue.job_results import version_of
from reelscore.challenges.store.tables import job, submission, worker

_GONE = 120_000_000  # microseconds after which a worker that says nothing counts as gone


@dataclass(frozen=True)
class Waiting:
    """The queue as a whole."""

    waiting: int  # how many jobs wait
    scoring: int  # how many are being scored
    failed: int  # how many failed
    oldest_s: float  # how many seconds the oldest has waited
    scorers: int  # how many scorers there are


def queue_state(challenges: Challenges) -> Waiting:
    """Return how the queue stands, for pages and monitors."""
    with challenges.reading() as connection:
        now = challenges.now(connection)
        by_state = select(job.c.state, func.count()).group_by(job.c.state)
        counts: dict[str, int] = {row[0]: row[1] for row in connection.execute(by_state)}
        oldest = connection.scalar(select(func.min(job.c.queued)).where(job.c.state == "queued"))
        workers = connection.execute(select(worker).where(worker.c.seen > now - _GONE)).all()
    return Waiting(
        counts.get("queued", 0),
        counts.get("scoring", 0),
        counts.get("failed", 0),
        0.0 if oldest is None else (now - oldest) / 1e6,
        sum(row.scorers for row in workers if not _was_killed(row.id)),
    )


def _was_killed(worker: str) -> bool:
    """Return whether a worker was a process of this machine that is there no more."""
    host, process, _ = ["", "", *worker.rsplit("-", 2)][-3:]
    if host != socket.gethostname() or not process.isdigit():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:  # of somebody else
        return False
    return False


def waits_for(challenges: Challenges | Challenge, id: str) -> tuple[str, int]:
    """Return why a submission waits, or that nobody can score it, and how many wait before it."""
    with challenges.reading() as connection:
        now = challenges.now(connection)
        row = connection.execute(
            select(
                *(job.c.needs, job.c.not_before, job.c.key, job.c.reason),
                *(submission.c.phase, job.c.generation),
            )
            .select_from(job.join(submission))
            .where(submission.c.id == id, job.c.state == "queued")
            .limit(1)
        ).one_or_none()
        if row is None:
            return "", 0
        before: int = connection.execute(
            select(func.count())
            .select_from(job)
            .where(job.c.state == "queued", job.c.key < row.key)
        ).scalar_one()
        workers = connection.execute(select(worker).where(worker.c.seen > now - _GONE)).all()
        able = [each for each in workers if is_able(each.capabilities.split(), row.needs)]
        if not able:
            what = f" with {row.needs}" if row.needs else ""
            return f"no scorer{what} is running", before
        version = version_of(connection, row.phase, row.generation)
        if version and all(each.version != version for each in able):
            return f"no scorer of version {version}, which scored the others, is running", before
        if row.not_before > now:
            seconds = math.ceil((row.not_before - now) / 1e6)
            return f"tried again in {seconds} s: {row.reason}", before
        return f"place {before + 1} in the queue", before


def other_versions(challenges: Challenges) -> list[str]:
    """List the versions, other than this one, that waiting jobs must be scored by."""
    with challenges.reading() as connection:
        waiting = select(submission.c.phase, job.c.generation).select_from(job.join(submission))
        rows = connection.execute(waiting.where(job.c.state == "queued").distinct()).all()
        versions = {version_of(connection, row.phase, row.generation) for row in rows}
    return sorted(versions - {"", __version__})


def seen(challenges: Challenges, name: str, able: Iterable[str], scorers: int) -> None:
    """Note that a worker is there."""
    with challenges.writing() as connection:
        values = {
            "version": __version__,
            "capabilities": " ".join(sorted(able)),
            "scorers": scorers,
            "seen": challenges.now(connection),
        }
        if not connection.execute(update(worker).filter_by(id=name).values(values)).rowcount:
            connection.execute(insert(worker).values(id=name, **values))


_LEARNED = ("bertha", "sts", "fusion", "ensemble", "bertscore")


def needs_of(settings: ScoringSettings) -> str:
    """Return what scoring with some settings needs, separated by spaces; empty for nothing."""
    names = {str(metric).partition("|")[0] for metric in settings.get("metrics", ())}
    needs = {name for name in names if name in _LEARNED}
    if needs:  # a GPU and a processor round differently; other metrics are the same on any machine
        needs.add(settings.get("device", "cpu"))
    return " ".join(sorted(needs))


def capabilities(device: str = "cpu") -> frozenset[str]:
    """Return what this process can do: the models that are installed, and its device."""
    found = {device}
    if importlib.util.find_spec("onnxruntime") is not None:
        found |= {"bertha", "sts", "fusion", "ensemble"}
    if importlib.util.find_spec("torch") is not None:
        found.add("bertscore")
    return frozenset(found)


def is_able(able: Iterable[str], needs: str) -> bool:
    """Return whether a worker has all that a job needs.

    >>> is_able({"bertha"}, ""), is_able({"bertha"}, "bertha cuda")
    (True, False)
    """
    return set(needs.split()) <= set(able)
