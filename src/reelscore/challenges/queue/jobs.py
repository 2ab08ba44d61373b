"""The queue: who scores what, for how long, and what happens when somebody dies.

A claim holds a job for a minute, and is renewed while the work goes on. Whoever holds the lease may
write the result; anybody else's is discarded. A job that kills its scorer three times, or takes
down ten workers, ends as failed, and its team gets the charge back.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, func, insert, or_, select, update

from reelscore._version import __version__
from reelscore.challenges.challenge import Challenge, Challenges, split_rows
from reelscore.challenges.definition.records import ScoringSettings
from reelscore.challenges.queue.job_results import (
    Claim,
    check_signatures,
    put_scores,
    tell_team,
    version_of,
)
from reelscore.challenges.queue.queue_state import is_able, needs_of
from reelscore.challenges.quota import charge_again, refund
from reelscore.challenges.store.blobs import get_blob
from reelscore.challenges.store.events import check_reason, log
from reelscore.challenges.store.kept_scores import ScoredSplit
from reelscore.challenges.store.tables import TableRow, job, phase, phase_split, split, submission
from reelscore.errors import DataError, RefusedError
from reelscore.store.database import alone

LEASE = 60_000_000  # microseconds
RENEWAL = 15.0  # seconds
FAULTS, CLAIMS = 3, 10
_PAUSES = (10_000_000, 60_000_000)  # after the first and the second fault


def queue(
    connection: Connection, submission: int, generation: int, settings: ScoringSettings, now: int
) -> None:
    """Queue a scoring of a submission."""
    connection.execute(
        insert(job).values(
            submission=submission,
            generation=generation,
            state="queued",
            claims=0,
            faults=0,
            needs=needs_of(settings),
            not_before=now,
            lease="",
            leased_until=None,
            worker="",
            reason="",
            queued=now,
            finished=None,
        )
    )


def claim(
    challenges: Challenges, name: str, able: Iterable[str] = (), version: str = __version__
) -> Claim | None:
    """Take the next job that one is able to score; ``None`` where there is none."""
    with challenges.writing() as connection:
        now = challenges.now(connection)
        kind = [job.c.needs, submission.c.phase, job.c.generation]
        waiting = (
            select(*kind)
            .select_from(job.join(submission))
            .where(job.c.state == "queued", job.c.not_before <= now)
        )
        suitable = [
            row
            for row in connection.execute(waiting.distinct()).all()
            if is_able(able, row.needs)
            and version_of(connection, row.phase, row.generation) in ("", version)
        ]
        for row in _in_order(connection, suitable, now):
            lease = secrets.token_hex(16)
            values = {
                "state": "scoring",
                "claims": job.c.claims + 1,
                "lease": lease,
                "leased_until": now + LEASE,
                "worker": name,
            }
            connection.execute(update(job).filter_by(key=row.key).values(values))
            return _claim(connection, row, lease)
    return None


def _in_order(connection: Connection, kinds: Sequence[TableRow], now: int) -> Sequence[TableRow]:
    """Return the job that is next, if any: important phases first, then teams that have none."""
    if not kinds:
        return []
    busy_job, busy = job.alias(), submission.alias()
    scoring = (
        select(func.count())
        .select_from(busy_job.join(busy, busy_job.c.submission == busy.c.key))
        .where(busy.c.team == submission.c.team, busy_job.c.state == "scoring")
        .correlate(submission)
        .scalar_subquery()
    )
    suitable = [
        (job.c.needs == kind.needs)
        & (submission.c.phase == kind.phase)
        & (job.c.generation == kind.generation)
        for kind in kinds
    ]
    query = (
        select(job, submission.c.phase, submission.c.captions_blob, submission.c.id)
        .select_from(job.join(submission).join(phase, submission.c.phase == phase.c.key))
        .where(job.c.state == "queued", job.c.not_before <= now, or_(*suitable), _in_turn())
        .order_by(phase.c.priority.desc(), scoring, submission.c.arrived, job.c.key)
        .limit(1)
    )
    if connection.dialect.name != "sqlite":
        query = query.with_for_update(of=job, skip_locked=True)
    return connection.execute(query).all()


def _in_turn() -> ColumnElement[bool]:
    """Return whether it is a job's turn: the Ladder needs a team's jobs in their order."""
    earlier_job, earlier = job.alias(), submission.alias()
    is_behind = (
        select(earlier_job.c.key)
        .select_from(earlier_job.join(earlier, earlier_job.c.submission == earlier.c.key))
        .where(
            earlier.c.team == submission.c.team,
            earlier.c.phase == submission.c.phase,
            earlier.c.key < submission.c.key,
            earlier_job.c.generation == job.c.generation,
            earlier_job.c.state.in_(("queued", "scoring")),
        )
        .correlate(job, submission)
        .exists()
    )
    has_ladder = (
        select(phase_split.c.split)
        .where(phase_split.c.phase == submission.c.phase, phase_split.c.feedback == "ladder")
        .correlate(submission)
        .exists()
    )
    return ~(has_ladder & is_behind)


def _claim(connection: Connection, row: TableRow, lease: str) -> Claim:
    own = connection.execute(select(phase).filter_by(key=row.phase)).one()
    try:
        captions = get_blob(connection, row.captions_blob)
    except DataError:
        captions = b""  # it is damaged: this job fails, and others go on
    settings: ScoringSettings = json.loads(own.settings)
    splits = [(each.key, each.id, each.digest) for each in split_rows(connection, row.phase)]
    return Claim(row.key, lease, row.id, row.phase, row.generation, settings, captions, splits)


def references_of(challenges: Challenges, split_key: int) -> tuple[bytes, bytes]:
    """Return items and references of a split, for a scorer."""
    with challenges.reading() as connection:
        row = connection.execute(select(split).filter_by(key=split_key)).one()
        return get_blob(connection, row.items_blob), get_blob(connection, row.references_blob)


def renew(challenges: Challenges, own: Claim) -> bool:
    """Hold a job for another minute; ``False`` where somebody else has it now."""
    with challenges.writing() as connection:
        now = challenges.now(connection)
        return _changed(connection, own, {"leased_until": now + LEASE})


def finish(challenges: Challenges, own: Claim, scored: Mapping[str, ScoredSplit]) -> bool:
    """Keep the result of a job: results, arrays, what the team is told, state and event."""
    with challenges.writing() as connection:
        now = challenges.now(connection)
        if not _changed(connection, own, _released("scored", "", finished=now)):
            return False
        keys = {id: key for key, id, _ in own.splits}
        for id, each in scored.items():
            check_signatures(connection, own, keys[id], each)
            put_scores(connection, own.job, keys[id], each)
        row = connection.execute(select(submission).filter_by(id=own.submission)).one()
        alone(connection, "challenge_shown", str(row.team), str(row.phase))
        for id, each in scored.items():
            tell_team(connection, own, row, keys[id], id, each, now)
        _change_over(connection, own.phase, own.generation)
        key = _challenge(connection, own.phase)
        log(connection, now, key, "scored", own.submission, after=f"generation {own.generation}")
    return True


def fault(challenges: Challenges, own: Claim, reason: str) -> str:
    """Note that the scoring process died or broke a limit."""
    with challenges.writing() as connection:
        return _fault(connection, own, challenges.now(connection), reason)


def _fault(connection: Connection, own: Claim, now: int, reason: str) -> str:
    row = connection.execute(select(job).filter_by(key=own.job)).one()
    faults = row.faults + 1
    if faults >= FAULTS:
        return "failed" if _fail(connection, own, now, reason, faults=faults) else ""
    again = now + _PAUSES[faults - 1]
    values = _released("queued", reason, faults=faults, not_before=again)
    return "queued" if _changed(connection, own, values) else ""


def put_aside(challenges: Challenges, own: Claim, error: str, version: str = __version__) -> str:
    """Note that the scores of a job were made in another way than the others of its generation.

    Where another version made those, the job waits for that version. Where the same version did,
    scorers are set up in different ways, and each try counts as a fault, so that the tries end.
    What differs stands in the log under the phase, where organisers read it, and no team.
    """
    with challenges.writing() as connection:
        if version_of(connection, own.phase, own.generation) == version:
            now = challenges.now(connection)
            told = "scored in another way than the others; the organisers know more"
            state = _fault(connection, own, now, told)
            if state:
                about = connection.execute(select(phase.c.id).filter_by(key=own.phase)).scalar_one()
                reason = f"Submission {own.submission} ({state}): {error}"
                key = _challenge(connection, own.phase)
                log(connection, now, key, "signature", about, reason=reason)
            return state
    given_back = give_back(challenges, own, "scored by another version than the others")
    return "queued" if given_back else ""


def defect(challenges: Challenges, own: Claim, number: str) -> bool:
    """Note that scoring failed by a mistake of ours; trying again would not help."""
    with challenges.writing() as connection:
        now = challenges.now(connection)
        reason = f"a defect of the server, number {number}; the organisers know more"
        return _fail(connection, own, now, reason)


def give_back(challenges: Challenges, own: Claim, reason: str) -> bool:
    """Put a job back as if it had not been claimed: its worker stops, or must not score it."""
    with challenges.writing() as connection:
        now = challenges.now(connection)
        values = _released("queued", reason, claims=job.c.claims - 1, not_before=now)
        return _changed(connection, own, values)


def _released(state: str, reason: str, **more: object) -> dict[str, object]:
    """Return the values of a job that nobody scores now."""
    return {"state": state, "reason": reason, "lease": "", "leased_until": None, **more}


def _changed(connection: Connection, own: Claim, values: Mapping[str, object]) -> bool:
    """Change a job that one holds; with another's lease nothing is changed."""
    held = update(job).where(
        job.c.key == own.job, job.c.lease == own.lease, job.c.state == "scoring"
    )
    return bool(connection.execute(held.values(values)).rowcount)


def _fail(
    connection: Connection, own: Claim, now: int, reason: str, *, faults: int | None = None
) -> bool:
    values = _released("failed", reason, finished=now)
    if faults is not None:
        values["faults"] = faults
    if not _changed(connection, own, values):
        return False
    _failed(connection, own.job, now, reason)
    return True


def _failed(connection: Connection, key: int, now: int, reason: str) -> None:
    """Refund a failed job, and note it."""
    row = connection.execute(
        select(submission.c.key, submission.c.id, submission.c.phase, job.c.generation)
        .select_from(job.join(submission))
        .where(job.c.key == key)
    ).one()
    refund(connection, row.key, now, reason)
    _change_over(connection, row.phase, row.generation)
    log(connection, now, _challenge(connection, row.phase), "failed", row.id, reason=reason)


def sweep(challenges: Challenges, *, all_leases: bool = False) -> int:
    """Take back jobs whose leases are over, since their workers are gone."""
    with challenges.writing() as connection:
        now = challenges.now(connection)
        over = select(job.c.key, job.c.claims).where(job.c.state == "scoring")
        if not all_leases:
            over = over.where(job.c.leased_until < now)
        if connection.dialect.name != "sqlite":
            over = over.with_for_update(skip_locked=True)
        rows = connection.execute(over.order_by(job.c.key)).all()
        for row in rows:
            if row.claims >= CLAIMS:
                reason = f"{row.claims} workers ended while they scored it"
                values = _released("failed", reason, finished=now)
            else:
                values = _released("queued", "its worker is gone", not_before=now)
            connection.execute(update(job).filter_by(key=row.key).values(values))
            if row.claims >= CLAIMS:
                _failed(connection, row.key, now, str(values["reason"]))
    return len(rows)


def cancel(challenge: Challenge, id: str, *, actor: str = "") -> None:
    """Cancel a submission that nobody has begun to score; the charge is taken back."""
    with challenge.writing() as connection:
        now = challenge.now(connection)
        row = _newest(connection, challenge, id)
        scored = select(job.c.key).filter_by(submission=row.submission, state="scored").limit(1)
        if connection.scalar(scored) is not None:
            raise RefusedError("closed", "It is scored; withdraw it, and it is on no board.")
        waiting = update(job).where(job.c.key == row.job, job.c.state == "queued")
        values = {"state": "cancelled", "finished": now, "reason": "cancelled by the team"}
        if not connection.execute(waiting.values(values)).rowcount:
            raise RefusedError("closed", f"It is {row.state}; only what waits can be cancelled.")
        refund(connection, row.submission, now, "cancelled")
        _change_over(connection, row.phase, row.generation)
        log(connection, now, challenge.key, "cancelled", id, actor=actor)


def rerun(challenge: Challenge, id: str, *, actor: str, reason: str) -> None:
    """Queue a failed job again; it is charged again."""
    check_reason(reason)
    with challenge.writing() as connection:
        now = challenge.now(connection)
        row = _newest(connection, challenge, id)
        failed = update(job).where(job.c.key == row.job, job.c.state == "failed")
        values = {"state": "queued", "claims": 0, "faults": 0, "not_before": now, "finished": None}
        if not connection.execute(failed.values(values)).rowcount:
            raise RefusedError("closed", f"It is {row.state}; only what failed can be run again.")
        charge_again(connection, row.submission)
        log(connection, now, challenge.key, "rerun", id, actor=actor, reason=reason)


def _newest(connection: Connection, challenge: Challenge, id: str) -> TableRow:
    of_submission = [submission.c.key.label("submission"), submission.c.phase]
    of_job = [job.c.key.label("job"), job.c.generation, job.c.state]
    row = connection.execute(
        select(*[*of_submission, *of_job])
        .select_from(job.join(submission).join(phase, submission.c.phase == phase.c.key))
        .where(submission.c.id == id, phase.c.challenge == challenge.key)
        .order_by(job.c.generation.desc())
        .limit(1)
    ).first()
    if row is None:
        raise RefusedError("unknown", f"There is no submission {id!r}.")
    return row


def rescore(challenge: Challenge, phase_id: str, *, actor: str, reason: str) -> int:
    """Queue all submissions of a phase once more, as the next generation.

    Boards change over when all of them are done.
    """
    check_reason(reason)
    with challenge.writing() as connection:
        return begin_generation(connection, challenge, phase_id, actor=actor, reason=reason)


def begin_generation(
    connection: Connection, challenge: Challenge, phase_id: str, *, actor: str, reason: str
) -> int:
    """Do what `rescore` does, within a transaction.

    What still waits goes over to the new generation. What was cancelled stays so; what failed is
    tried and charged again.
    """
    own = challenge.phase(connection, phase_id)
    alone(connection, "challenge_generation", str(own.key))
    now = challenge.now(connection)
    newest = select(func.max(job.c.generation)).where(job.c.submission == submission.c.key)
    rows = connection.execute(
        select(submission.c.key, job.c.key.label("job"), job.c.generation, job.c.state)
        .join(job, job.c.submission == submission.c.key)
        .where(
            submission.c.phase == own.key,
            job.c.generation == newest.correlate(submission).scalar_subquery(),
        )
        .order_by(submission.c.key)
    ).all()
    generation = max((row.generation for row in rows), default=own.generation)
    if generation > own.generation:
        raise RefusedError("taken", f"Generation {generation} is being scored; wait for its end.")
    again = [row for row in rows if row.state != "cancelled"]
    waiting = [row.job for row in again if row.state in ("queued", "scoring")]
    replaced = _released("cancelled", "scored with the next generation", finished=now)
    connection.execute(update(job).where(job.c.key.in_(waiting)).values(replaced))
    for row in again:
        queue(connection, row.key, generation + 1, own.settings, now)
        if row.state == "failed":
            charge_again(connection, row.key)
    _change_over(connection, own.key, generation + 1)
    log(connection, now, challenge.key, "rescore", phase_id, actor=actor, reason=reason,
        before=str(generation), after=str(generation + 1))  # fmt: skip
    return len(again)


def _change_over(connection: Connection, phase_key: int, generation: int) -> None:
    """Let boards show a generation once all its jobs are done."""
    shown = select(phase.c.generation).filter_by(key=phase_key)
    if connection.execute(shown).scalar_one() >= generation:
        return
    # the last two jobs may end at once, and neither would see that the other is done
    alone(connection, "challenge_generation", str(phase_key))
    open_jobs = (
        select(func.count())
        .select_from(job.join(submission))
        .where(
            submission.c.phase == phase_key,
            job.c.generation == generation,
            job.c.state.in_(("queued", "scoring")),
        )
    )
    if not connection.execute(open_jobs).scalar_one():
        older = update(phase).where(phase.c.key == phase_key, phase.c.generation < generation)
        connection.execute(older.values(generation=generation))


def _challenge(connection: Connection, phase_key: int) -> int:
    key = select(phase.c.challenge).filter_by(key=phase_key)
    return int(connection.execute(key).scalar_one())
