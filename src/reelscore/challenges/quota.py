"""How often a team may submit: charges, grants, refunds, days of UTC.

Quota belongs to teams. A valid file is charged once; the charge is taken back when the job is
cancelled before it began, or fails through no fault of the captions. Baselines are not charged.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, select, update

from reelscore.challenges.challenge import Challenge, Phase, day_of, next_day
from reelscore.challenges.people.teams import Team, own_keys
from reelscore.challenges.store.events import check_reason, log
from reelscore.challenges.store.tables import charge, grant, job, refusal, submission
from reelscore.errors import DataError, RefusedError
from reelscore.store.database import alone
from reelscore.store.values import to_iso

REFUSALS_AN_HOUR = 30
_HOUR = 3_600_000_000


@dataclass(frozen=True)
class Left:
    """What a team has left in a phase; ``None`` is without limit."""

    today: int | None  # submissions today
    total: int | None  # submissions in all
    concurrent: int | None  # submissions that may wait or be scored at a time, beside those that do
    resets: int  # when the next day begins, in microseconds since 1970


def quota_left(challenge: Challenge, phase: Phase, team: Team) -> Left:
    """Return what a team has left in a phase now."""
    with challenge.reading() as connection:
        return left_in(connection, phase, team, challenge.now(connection))


def left_in(connection: Connection, phase: Phase, team: Team, moment: int) -> Left:
    """Return what a team has left in a phase at a time, within a transaction."""
    limits, day = phase.definition.limits, day_of(moment)
    keys = own_keys(connection, team.key)
    charged = (
        select(func.count())
        .select_from(charge)
        .where(charge.c.team.in_(keys), charge.c.phase == phase.key, charge.c.refunded.is_(None))
    )
    granted = select(func.coalesce(func.sum(grant.c.amount), 0)).where(
        grant.c.team.in_(keys), grant.c.phase == phase.key
    )
    earlier = job.alias()
    is_scored = earlier.c.submission == submission.c.key, earlier.c.state == "scored"
    busy = (
        select(func.count())
        .select_from(job.join(submission))
        .where(
            submission.c.team.in_(keys),
            submission.c.phase == phase.key,
            job.c.state.in_(("queued", "scoring")),
            ~select(earlier.c.key).where(*is_scored).exists(),  # what is scored again is not new
        )
    )

    def number(query: object) -> int:
        return int(connection.execute(query).scalar_one())  # type: ignore[call-overload]

    today = total = concurrent = None
    if limits.per_day is not None:
        used = number(charged.where(charge.c.day == day))
        today = max(0, limits.per_day + number(granted.where(grant.c.day == day)) - used)
    if limits.total is not None:
        total = max(0, limits.total + number(granted) - number(charged))
    if limits.concurrent is not None:
        concurrent = max(0, limits.concurrent - number(busy))
    return Left(today, total, concurrent, next_day(moment))


def check_left(left: Left) -> None:
    """Refuse a submission for which nothing is left."""
    if left.total == 0:
        raise RefusedError("quota", "Nothing is left in this phase; ask the organisers for more.")
    if left.today == 0:
        raise RefusedError("quota", "Nothing is left for today; the next day begins at 00:00 UTC.")
    if left.concurrent == 0:
        raise RefusedError("concurrent", "Wait until your submission before this one is scored.")


def put_charge(
    connection: Connection, submission_key: int, phase: Phase, team: Team, arrived: int
) -> None:
    """Charge one unit of the day on which the submission arrived."""
    connection.execute(
        insert(charge).values(
            submission=submission_key,
            team=team.key,
            phase=phase.key,
            day=day_of(arrived),
            refunded=None,
            reason="",
        )
    )


def refund(connection: Connection, submission_key: int, now: int, reason: str) -> None:
    """Take a charge back, unless the submission has a score of some generation."""
    scored = select(job.c.key).where(job.c.submission == submission_key, job.c.state == "scored")
    if connection.scalar(scored.limit(1)) is None:
        connection.execute(
            update(charge)
            .where(charge.c.submission == submission_key, charge.c.refunded.is_(None))
            .values(refunded=now, reason=reason)
        )


def charge_again(connection: Connection, submission_key: int) -> None:
    """Charge a submission again whose job is run again."""
    connection.execute(
        update(charge).filter_by(submission=submission_key).values(refunded=None, reason="")
    )


def give(
    challenge: Challenge,
    phase: Phase,
    team: Team,
    amount: int,
    *,
    actor: str,
    reason: str,
) -> None:
    """Grant a team more submissions: in all, and for today; or take back what was granted."""
    if amount == 0:
        raise DataError("The amount is 0; expected submissions to grant, or below 0 to take back.")
    check_reason(reason)
    with challenge.writing() as connection:
        alone(connection, "challenge_grant", str(team.key), str(phase.key))
        now = challenge.now(connection)
        days = {day_of(now): amount}
        if amount < 0:
            days = _taken_back(connection, phase, team, -amount)
        for day, share in days.items():
            connection.execute(
                insert(grant).values(
                    team=team.key,
                    phase=phase.key,
                    time=now,
                    day=day,
                    amount=share,
                    actor=actor,
                    reason=reason,
                )
            )
        log(connection, now, challenge.key, "grant", team.id, actor=actor, reason=reason,
            after=f"{amount} in {phase.id}")  # fmt: skip


def _taken_back(connection: Connection, phase: Phase, team: Team, amount: int) -> dict[str, int]:
    """Take grants back by the days on which they counted, the latest first."""
    by_day = (
        select(grant.c.day, func.sum(grant.c.amount))
        .where(grant.c.team == team.key, grant.c.phase == phase.key)
        .group_by(grant.c.day)
        .order_by(grant.c.day.desc())
    )
    days, rest = {}, amount
    for day, granted in connection.execute(by_day):
        if share := min(rest, int(granted)):
            days[str(day)] = -share
            rest -= share
    if rest:
        raise DataError(
            f"{team.name} was granted {amount - rest} in {phase.id}; {amount} cannot be taken back."
        )
    return days


def check_refusals(connection: Connection, team: Team, now: int) -> None:
    """Refuse a team that uses the checker as a load."""
    times = (
        select(refusal.c.time)
        .where(refusal.c.team.in_(own_keys(connection, team.key)), refusal.c.time > now - _HOUR)
        .order_by(refusal.c.time.desc())
        .limit(REFUSALS_AN_HOUR)
    )
    refused = connection.scalars(times).all()
    if len(refused) >= REFUSALS_AN_HOUR:
        raise RefusedError(
            "often",
            f"{REFUSALS_AN_HOUR} files were refused within an hour; the next one is read at "
            f"{to_iso(refused[-1] + _HOUR)}. Until then the server checks none either: correct "
            "what the reports name, and look for other mistakes with 'reelscore check FILE' on "
            "your own machine.",
        )


def put_refusal(challenge: Challenge, phase: Phase, team: Team, digest: str, report: str) -> None:
    """Keep what was wrong with an upload; not the upload itself."""
    with challenge.writing() as connection:
        connection.execute(
            insert(refusal).values(
                team=team.key,
                phase=phase.key,
                time=challenge.now(connection),
                digest=digest,
                report=report,
            )
        )
