"""Submissions: nothing exists before it is durable and valid.

`hand_in` does all that one request does: look whether the phase is open and quota is left, read the
file in a process of its own, then keep file, charge, job and event in one transaction. A request
that is repeated with the same idempotency key gets the first answer again.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, func, insert, select, update

from reelscore.challenges import quota
from reelscore.challenges.challenge import Challenge, Phase
from reelscore.challenges.people.teams import Team, add_team, list_teams, own_keys
from reelscore.challenges.queue import jobs
from reelscore.challenges.store import tables
from reelscore.challenges.store.blobs import blob_digest, put_blob
from reelscore.challenges.store.events import check_reason, log
from reelscore.challenges.store.tables import TableRow, job, submission
from reelscore.challenges.uploads.uploads import (
    Accepted,
    Expected,
    Readers,
    UploadReport,
    shown_name,
)
from reelscore.errors import DataError, RefusedError
from reelscore.store.database import alone
from reelscore.store.values import check_text, skeleton, to_iso

_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
_METHOD, _DESCRIPTION, _LINK, _KEY = 200, 5000, 500, 200


class RefusedUpload(RefusedError):
    """A file that cannot be scored; nothing was charged.

    Attributes:
        report: What is wrong with it.
    """

    def __init__(self, report: UploadReport) -> None:
        text = "\n".join([report.message, *report.problems, *report.notes])
        super().__init__("invalid", text, report.problems or (report.message,))
        self.report = report


@dataclass(frozen=True)
class Upload:
    """What somebody hands in."""

    name: str  # the file's name
    content: bytes  # its bytes
    method: str = ""  # what the method is called
    description: str = ""  # more about it
    link: str = ""  # where it is described
    idempotency: str = ""  # the client's key for this request; the same key is the same submission
    force: bool = False  # whether captions that the team handed in before are taken again

    def check(self) -> None:
        """Refuse texts that cannot be kept."""
        for text, what, longest in (
            (self.method, "the method", _METHOD),
            (self.description, "the description", _DESCRIPTION),
            (self.link, "the link", _LINK),
            (self.idempotency, "the idempotency key", _KEY),
        ):
            check_text(text, what)
            if len(text) > longest:
                raise DataError(f"{what} has {len(text):,} characters; at most {longest:,}.")
        if self.link and not self.link.startswith(("https://", "http://")):
            raise DataError("the link must begin with https:// or http://.")


@dataclass(frozen=True)
class SubmissionReceipt:
    """The answer to a submission."""

    id: str  # its public id
    number: int  # its number within team and phase
    state: str  # the state of its job
    late: bool  # whether it came after the phase had closed
    left: quota.Left  # what the team has left
    repeated: bool = False  # whether the same request was answered before
    notes: tuple[str, ...] = ()  # what was passed over in the file


def hand_in(
    challenge: Challenge,
    readers: Readers,
    phase_id: str,
    team: Team,
    upload: Upload,
    *,
    account: int | None = None,
    arrived: int | None = None,
    actor: str = "",
) -> SubmissionReceipt:
    """Take a submission: look, read, and keep it."""
    upload.check()
    with challenge.reading() as connection:
        now = challenge.now(connection)
        arrived = now if arrived is None else arrived
        phase = challenge.phase(connection, phase_id)
        if earlier := _earlier(connection, phase, team, upload.idempotency, now):
            return earlier
        check_team(connection, team)
        check_window(phase, arrived, now)
        if team.kind != "baseline":
            quota.check_left(quota.left_in(connection, phase, team, arrived))
            quota.check_refusals(connection, team, now)
        expected = challenge.expected_upload(connection, phase)
    accepted = read_file(challenge, readers, phase, team, upload, expected)
    return keep(
        challenge, phase_id, team, upload, accepted, account=account, arrived=arrived, actor=actor
    )


def hand_in_baselines(
    challenge: Challenge, readers: Readers, folder: Path, *, actor: str
) -> Iterator[str]:
    """Put the organisers' baselines into the queue; yield the names of those that are new there."""
    teams = {skeleton(team.name): team for team in list_teams(challenge) if team.kind == "baseline"}
    for baseline in challenge.definition.baselines:
        team = teams.get(skeleton(baseline.name))
        if team is None:
            team = add_team(challenge, baseline.name, kind="baseline", actor=actor)
            teams[skeleton(baseline.name)] = team
        upload = Upload(baseline.file, (folder / baseline.file).read_bytes(), baseline.method)
        with challenge.reading() as connection:
            opens = challenge.definition.phase(baseline.phase).opens
            moment = max(challenge.now(connection), opens)
        try:
            hand_in(challenge, readers, baseline.phase, team, upload, arrived=moment)
        except RefusedError as error:
            if error.reason not in ("same", "closed"):
                raise
            continue
        yield baseline.name


def check_file(
    challenge: Challenge, readers: Readers, phase_id: str, team: Team, upload: Upload
) -> Accepted:
    """Read a file as `hand_in` would, and keep nothing of it."""
    with challenge.reading() as connection:
        now = challenge.now(connection)
        phase = challenge.phase(connection, phase_id)
        if now < phase.opens:
            raise RefusedError("closed", f"The phase opens at {to_iso(phase.opens)}.")
        quota.check_refusals(connection, team, now)
        expected = challenge.expected_upload(connection, phase)
    return read_file(challenge, readers, phase, team, upload, expected)


def read_file(
    challenge: Challenge,
    readers: Readers,
    phase: Phase,
    team: Team,
    upload: Upload,
    expected: Expected,
) -> Accepted:
    """Read a file for a phase; what is wrong with one becomes a refusal."""
    largest = expected.limits.upload_mb << 20
    if len(upload.content) > largest:
        name = shown_name(upload.name)
        result: Accepted | UploadReport = UploadReport(
            f"{name}: has {len(upload.content):,} bytes; at most {largest >> 20} MB are taken."
        )
    else:
        result = readers.read(upload.name, upload.content, expected)
    if isinstance(result, UploadReport):
        digest = blob_digest(upload.content)
        quota.put_refusal(challenge, phase, team, digest, result.to_json())
        raise RefusedUpload(result)
    return result


def keep(
    challenge: Challenge,
    phase_id: str,
    team: Team,
    upload: Upload,
    accepted: Accepted,
    *,
    account: int | None = None,
    arrived: int,
    actor: str = "",
    imported: bool = False,
) -> SubmissionReceipt:
    """Keep a submission that was read: file, charge, job and event, in one transaction.

    One that is imported from elsewhere is neither charged nor refused for its time.
    """
    with challenge.writing() as connection:
        alone(connection, "challenge_team", str(team.key))
        now = challenge.now(connection)
        phase = challenge.phase(connection, phase_id)
        if earlier := _earlier(connection, phase, team, upload.idempotency, now):
            return earlier
        check_team(connection, team)
        late = arrived >= phase.closes if imported else check_window(phase, arrived, now)
        free = imported or team.kind == "baseline"
        if not free:
            quota.check_left(quota.left_in(connection, phase, team, arrived))
        _check_same(connection, phase, team, accepted, force=upload.force)
        of_team = {"team": team.key, "phase": phase.key}
        last = select(func.coalesce(func.max(submission.c.number), 0)).filter_by(**of_team)
        values = {
            **of_team,
            "id": public_id(),
            "account": account,
            "number": connection.execute(last).scalar_one() + 1,
            "arrived": arrived,
            "received": now,
            "file_name": shown_name(upload.name),
            "upload_blob": put_blob(connection, upload.content),
            "captions_blob": put_blob(connection, accepted.captions),
            "content": accepted.content,
            "method": upload.method,
            "description": upload.description,
            "link": upload.link,
            "idempotency": upload.idempotency,
            "late": late,
            "status": "active",
            "chosen": False,
        }
        added = insert(submission).values(values).returning(*submission.c)
        row = connection.execute(added).one()
        generation = _newest_generation(connection, phase)
        jobs.queue(connection, row.key, generation, phase.settings, now)
        if not free:
            quota.put_charge(connection, row.key, phase, team, arrived)
        left = quota.left_in(connection, phase, team, arrived)
        what = "imported" if imported else "submission"
        after = f"{team.id} {phase.id} {row.number}"
        log(connection, now, challenge.key, what, row.id, actor=actor, after=after)
        return SubmissionReceipt(row.id, row.number, "queued", late, left, notes=accepted.notes)


def _newest_generation(connection: Connection, phase: Phase) -> int:
    """Return the generation that new jobs of a phase belong to."""
    newest = (
        select(func.max(job.c.generation))
        .select_from(job.join(submission))
        .where(submission.c.phase == phase.key)
    )
    return max(int(connection.scalar(newest) or 0), phase.generation)


def check_window(phase: Phase, arrived: int, now: int) -> bool:
    """Refuse a submission outside of the phase's window."""
    if arrived < phase.opens:
        raise RefusedError("closed", f"The phase opens at {to_iso(phase.opens)}.")
    if now - arrived > phase.definition.grace * 1_000_000:
        raise RefusedError("closed", "The file took too long to arrive; send it again.")
    if arrived < phase.closes:
        return False
    taken = phase.definition.after == "open" or (
        phase.definition.late == "mark" and (phase.reveals is None or arrived < phase.reveals)
    )
    if not taken:
        raise RefusedError("closed", f"The phase closed at {to_iso(phase.closes)}.")
    return True


def check_challenge(state: str, kind: str = "team") -> None:
    """Refuse a file where the whole challenge takes none, whatever its phases say.

    While it is a draft, organisers try it with entries of their own.
    """
    if state != "open" and not (state == "draft" and kind != "team"):
        states = {"draft": "is not open yet", "closed": "is closed", "archived": "is archived"}
        raise RefusedError("closed", f"The challenge {states[state]}; it takes no files.")


def check_team(connection: Connection, team: Team) -> None:
    """Refuse a team that may not submit, or may not submit now."""
    teams, whole = tables.team.c, tables.challenge
    columns = (teams.state, teams.approved, teams.kind, whole.c.state.label("whole"))
    rows = select(*columns).join(whole, whole.c.key == teams.challenge)
    row = connection.execute(rows.where(teams.key == team.key)).one()
    check_challenge(row.whole, row.kind)
    if row.state == "disqualified":
        raise RefusedError("team", "The team is disqualified; ask the organisers.")
    if row.state == "merged":
        raise RefusedError("team", "The team was merged into another; submit for that one.")
    if not row.approved:
        raise RefusedError("team", "The organisers have not approved the team yet.")


def public_id() -> str:
    """Make an id that nobody can guess or count up: 10 characters."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(10))


def _earlier(
    connection: Connection, phase: Phase, team: Team, key: str, now: int
) -> SubmissionReceipt | None:
    """Return the answer to the same request, if it was answered before."""
    if not key:
        return None
    same = select(submission).filter_by(team=team.key, idempotency=key)
    row = connection.execute(same).one_or_none()
    if row is None:
        return None
    left = quota.left_in(connection, phase, team, now)
    states = select(job.c.state).filter_by(submission=row.key).order_by(job.c.generation.desc())
    state = str(connection.execute(states.limit(1)).scalar_one())
    return SubmissionReceipt(row.id, row.number, state, bool(row.late), left, repeated=True)


def _check_same(
    connection: Connection, phase: Phase, team: Team, accepted: Accepted, *, force: bool
) -> None:
    if force:
        return
    same = (
        select(submission.c.number)
        .where(submission.c.team.in_(own_keys(connection, team.key)))
        .filter_by(phase=phase.key, content=accepted.content, status="active")
    )
    number = connection.scalar(same.order_by(submission.c.number).limit(1))
    if number is not None:
        raise RefusedError(
            "same", f"These are the captions of your submission {number}; nothing was charged."
        )


# Later on


def choose(challenge: Challenge, id: str, *, actor: str = "") -> None:
    """Choose the submission that counts for its team, until the phase closes."""
    with challenge.writing() as connection:
        row = _own(connection, challenge, id)
        now = challenge.now(connection)
        _check_choice_is_open(row, now)
        own_team = submission.c.team.in_(own_keys(connection, row.team))
        same = update(submission).where(own_team, submission.c.phase == row.phase)
        connection.execute(same.values(chosen=False))
        connection.execute(update(submission).filter_by(key=row.key).values(chosen=True))
        log(connection, now, challenge.key, "chosen", id, actor=actor)


def withdraw(challenge: Challenge, id: str, *, actor: str = "") -> None:
    """Take a submission off the boards, as its team wishes.

    After the close nothing takes its place: a team whose final entry is withdrawn then has none,
    since otherwise it could choose among its entries by what the board shows of them.
    """
    with challenge.writing() as connection:
        row = _undecided(connection, challenge, id)
        if row.status != "withdrawn":
            _put_status(connection, challenge, row, "withdrawn", actor)


def withdraw_team(challenge: Challenge, team: Team, *, actor: str, reason: str = "") -> int:
    """Take all entries of a team off the boards, as `withdraw` does; return how many."""
    phase = tables.phase
    entries = (
        select(submission)
        .join(phase, phase.c.key == submission.c.phase)
        .where(phase.c.challenge == challenge.key, submission.c.status == "active")
        .order_by(submission.c.key)
    )
    with challenge.writing() as connection:
        keys = own_keys(connection, team.key)
        rows = connection.execute(entries.where(submission.c.team.in_(keys))).all()
        for row in rows:
            _put_status(connection, challenge, row, "withdrawn", actor, reason)
    return len(rows)


def restore(challenge: Challenge, id: str, *, actor: str = "") -> None:
    """Put a submission back that its team has withdrawn, until the phase closes."""
    with challenge.writing() as connection:
        row = _undecided(connection, challenge, id)
        _check_choice_is_open(row, challenge.now(connection))
        if row.status != "active":
            _put_status(connection, challenge, row, "active", actor)


def set_status(challenge: Challenge, id: str, status: str, *, actor: str, reason: str) -> None:
    """Disqualify a submission, or make it active again, as organisers decide; none is deleted.

    What a team has withdrawn becomes active as well, also after the close.
    """
    check_reason(reason)
    with challenge.writing() as connection:
        row = _own(connection, challenge, id)
        _put_status(connection, challenge, row, status, actor, reason)


def _put_status(
    connection: Connection,
    challenge: Challenge,
    row: TableRow,
    status: str,
    actor: str,
    reason: str = "",
) -> None:
    now = challenge.now(connection)
    values: dict[str, object] = {"status": status}
    if status != "disqualified":
        values["withdrawn"] = now if status == "withdrawn" else None
    connection.execute(update(submission).filter_by(key=row.key).values(values))
    log(connection, now, challenge.key, "status", row.id, actor=actor, reason=reason,
        before=row.status, after=status)  # fmt: skip


def _undecided(connection: Connection, challenge: Challenge, id: str) -> TableRow:
    """Return a submission that is its team's to decide about."""
    row = _own(connection, challenge, id)
    if row.status == "disqualified":
        raise RefusedError("team", "The organisers have disqualified it; ask them.")
    return row


def _check_choice_is_open(row: TableRow, now: int) -> None:
    """Refuse to change which entry counts once the phase has closed."""
    if now >= row.closes:
        raise RefusedError(
            "closed", f"The phase closed at {to_iso(row.closes)}; which entry counts is settled."
        )


def _own(connection: Connection, challenge: Challenge, id: str) -> TableRow:
    """Return a submission of a challenge, with the time at which its phase closes."""
    phase = tables.phase
    own = (
        select(submission, phase.c.closes)
        .join(phase, phase.c.key == submission.c.phase)
        .where(submission.c.id == id, phase.c.challenge == challenge.key)
    )
    row = connection.execute(own).one_or_none()
    if row is None:
        raise RefusedError("unknown", f"There is no submission {id!r}.")
    return row
