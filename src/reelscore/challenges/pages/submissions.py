"""Hand in a file, and follow one's submissions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from anyio import CapacityLimiter, move_on_after, to_thread
from fastapi import File, Form, Path, UploadFile
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from reelscore.challenges import submissions
from reelscore.challenges.boards.board_maker import board_columns
from reelscore.challenges.boards.boards import Column
from reelscore.challenges.pages.quotas import open_phases
from reelscore.challenges.pages.teams import is_captain
from reelscore.challenges.pages.visits import (
    PATH,
    AnyVisit,
    Arrived,
    InTeam,
    LoggedIn,
    Visit,
    missing,
)
from reelscore.challenges.pages.wing_pages import challenges_of
from reelscore.challenges.queue import jobs
from reelscore.challenges.queue.queue_state import waits_for
from reelscore.challenges.submissions import RefusedUpload, Upload
from reelscore.challenges.uploads.uploads import PATIENCE, Accepted, busy
from reelscore.challenges.views import Record
from reelscore.errors import DataError, RefusedError
from reelscore.web.requests import Router
from reelscore.web.site import FromOurForm, refused_status

router = Router(prefix=PATH + "/{challenge}")
SubmissionId = Annotated[str, Path(alias="submission", max_length=20)]
Text = Annotated[str, Form(max_length=5000)]
_OFTEN, _SELDOM = 2, 20  # seconds between two looks of a page at its submissions


@router.get("/submit")
def show_form(visit: LoggedIn) -> Response:
    """Ask for a file, and say what is left."""
    return _form(visit)


def _form(visit: Visit, status: int = 200, /, **more: Any) -> Response:
    context: dict[str, Any] = {"error": "", "report": None, "fine": "", "fields": {}, **more}
    return visit.page("submit.html", status, phases=open_phases(visit), **context)


def known_phase(visit: Visit, id: str) -> str:
    """Return the id of a phase that may be known of.

    Raises:
        HTTPException: If there is none; status 404.
    """
    if id not in visit.view.phases:
        raise missing()
    visit.is_about(id)
    return id


async def handed_in(
    visit: Visit,
    phase: str,
    file: UploadFile,
    arrived: int,
    *,
    check: bool = False,
    **said: Any,
) -> submissions.Receipt | Accepted:
    """Check a file, or hand it in, when its turn comes.

    As many files at once as there are readers are in memory; those that wait lie on the disk.

    Args:
        visit: Whose file it is.
        phase: The phase.
        file: The file, as it was sent.
        arrived: When its request came.
        check: Whether nothing of it is to be kept.
        said: What is said about it; see `reelscore.challenges.submissions.Upload`.

    Raises:
        RefusedError: If its turn does not come, reason ``busy``; else as in `hand_in`.
    """
    challenges = challenges_of(visit.site)
    with move_on_after(PATIENCE) as waiting:
        await challenges.uploads_at_once.acquire_on_behalf_of(file)
    if waiting.cancelled_caught:
        raise busy()
    try:
        # a thread beside those of pages, so that files never keep pages waiting
        receipt = await to_thread.run_sync(
            _read, visit, phase, file, arrived, check, said, limiter=CapacityLimiter(1)
        )
    finally:
        challenges.uploads_at_once.release_on_behalf_of(file)
    for workers in challenges.workers:
        workers.wake()
    return receipt


def _read(
    visit: Visit, phase: str, file: UploadFile, arrived: int, check: bool, said: dict[str, Any]
) -> submissions.Receipt | Accepted:
    assert visit.team is not None
    assert visit.account is not None
    known_phase(visit, phase)
    upload = Upload(file_name(file), file.file.read(), **said)
    common = (
        visit.arena,
        challenges_of(visit.site).readers,
        visit.known,
        phase,
        visit.team,
        upload,
    )
    if check:
        return submissions.check_file(*common)
    return submissions.hand_in(*common, account=visit.account.id, arrived=arrived, actor=visit.name)


def file_name(file: UploadFile) -> str:
    """Return the name of a file that was sent."""
    return file.filename or "captions"


@router.post("/submit", dependencies=[FromOurForm])
async def take_file(
    visit: InTeam,
    arrived: Arrived,
    file: Annotated[UploadFile, File()],
    phase: Annotated[str, Form(max_length=100)],
    what: Annotated[str, Form(max_length=10)] = "submit",
    method: Text = "",
    link: Text = "",
    key: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Check a file, or hand it in; what is wrong with it is said at its place."""
    said = {"method": method, "link": link, "idempotency": key}
    fields = {"phase": phase, "method": method, "link": link}
    refused = partial(to_thread.run_sync)
    try:
        receipt = await handed_in(visit, phase, file, arrived, check=what == "check", **said)
    except RefusedUpload as error:
        return await refused(partial(_form, visit, 422, report=error.report, fields=fields))
    except RefusedError as error:
        status = refused_status(error.reason)
        return await refused(partial(_form, visit, status, error=str(error), fields=fields))
    except DataError as error:
        return await refused(partial(_form, visit, 422, error=str(error), fields=fields))
    if isinstance(receipt, Accepted):
        fine = (
            f"{file_name(file)} can be scored. Nothing was charged or kept; choose it again to "
            "send it."
        )
        fine_form = partial(_form, visit, fine=fine, notes=receipt.notes, fields=fields)
        return await refused(fine_form)
    again = " It was accepted before." if receipt.repeated else ""
    notes = " ".join(receipt.notes)
    return visit.go("/mine", f"Submission {receipt.number} is accepted.{again} {notes}".strip())


@dataclass(frozen=True)
class Line:
    """A submission as its team sees it."""

    record: Record
    phase: str
    state: str
    splits: list[tuple[str, dict[str, str] | None]]
    is_before_close: bool
    may_choose: bool
    before: int = 0

    @property
    def seconds(self) -> int:
        """After how many seconds to look again: soon where it is its turn, else later."""
        if self.record.state not in ("queued", "scoring"):
            return _SELDOM
        return min(_SELDOM, _OFTEN + self.before // 10)


def own_records(visit: Visit) -> list[tuple[str, Record]]:
    """Return the submissions of the visitor's team, newest first, each with its phase."""
    assert visit.team is not None
    return [
        (phase.id, record)
        for phase in visit.view.definition.phases
        for record in reversed(visit.view.submissions(phase.id))
        if record.team == visit.team.id
    ]


def own_record(visit: Visit, id: str) -> tuple[str, Record]:
    """Return one submission of the visitor's team, with its phase.

    Raises:
        HTTPException: If there is none; status 404.
    """
    records = own_records(visit) if visit.team is not None else []
    for phase, record in records:
        if record.id == id:
            visit.is_about(phase)
            return phase, record
    raise missing()


def lines(visit: Visit) -> list[Line]:
    """Return the submissions of a team as its page shows them."""
    view = visit.view
    shown = []
    for phase, record in own_records(visit):
        splits = []
        for split in view.definition.phase(phase).splits:
            scores = view.scores(phase, split, record) if record.state == "scored" else None
            splits.append((split, None if scores is None else _texts(visit, split, scores)))
        state, before = record.state or "queued", 0
        if record.state == "queued":
            why, before = waits_for(visit.arena, record.id)
            state = f"queued: {why}" if why else state
        elif record.state == "failed":
            state = f"failed: {record.reason}; it was not charged"
        rule = view.definition.phase(phase).final == "chosen"
        is_before = view.now < view.phases[phase].closes
        may = rule and record.counts and is_before
        shown.append(Line(record, phase, state, splits, is_before, may, before))
    return shown


def known_columns(visit: Visit, split: str) -> dict[str, Column]:
    """Return the columns of the boards of a split, by score."""
    definition = visit.view.definition
    boards = [board for board in definition.boards if board.split == split]
    return {c.score: c for board in boards for c in board_columns(definition, board, {})}


def _texts(visit: Visit, split: str, scores: Any) -> dict[str, str]:
    """Write scores as the board of the split writes them."""
    texts = {}
    for name, column in known_columns(visit, split).items():
        score = scores.get(name)
        if score is None:
            continue
        text = f"{score.value * column.factor:.{column.decimals}f}"
        if score.low is not None and score.high is not None:
            low, high = (
                f"{v * column.factor:.{column.decimals}f}" for v in (score.low, score.high)
            )
            text += f" [{low} {high}]"
        texts[column.label] = text
    return texts


@router.get("/mine")
def show_submissions(visit: InTeam) -> Response:
    """List the team's submissions, whose states renew themselves."""
    return visit.page("mine.html", **_mine(visit))


@router.get("/mine/live", include_in_schema=False)
def renew_submissions(visit: InTeam) -> Response:
    """Return the list anew."""
    return visit.part("mine_live.html", **_mine(visit))


def _mine(visit: Visit) -> dict[str, Any]:
    own = lines(visit)
    seconds = min((line.seconds for line in own), default=_SELDOM)
    return {"lines": own, "captain": is_captain(visit), "seconds": seconds}


@router.post("/submissions/{submission}/choose", dependencies=[FromOurForm])
def choose(visit: InTeam, id: SubmissionId) -> Response:
    """Let a submission count; only the captain may."""
    choose_own(visit, id)
    return visit.go("/mine", "Your choice is noted.")


def choose_own(visit: Visit, id: str) -> None:
    """Let a submission of the visitor's team count.

    Raises:
        HTTPException: If there is none, status 404; if they are not the captain, status 403.
        RefusedError: If it is too late.
    """
    own_record(visit, id)
    if not is_captain(visit):
        raise HTTPException(403, "Only the captain of the team chooses.")
    submissions.choose(visit.arena, visit.known, id, actor=visit.name)


@router.post("/submissions/{submission}/withdraw", dependencies=[FromOurForm])
def withdraw(visit: InTeam, id: SubmissionId) -> Response:
    """Take a submission off the boards; it can be put back until the close."""
    number = set_own_status(visit, id, "withdrawn")
    return visit.go("/mine", f"Submission {number} is withdrawn.")


@router.post("/submissions/{submission}/restore", dependencies=[FromOurForm])
def restore(visit: InTeam, id: SubmissionId) -> Response:
    """Put a withdrawn submission back, until the close."""
    number = set_own_status(visit, id, "active")
    return visit.go("/mine", f"Submission {number} counts again.")


def set_own_status(visit: Visit, id: str, status: str) -> int:
    """Withdraw a submission of the visitor's team, or put it back; give its number.

    Raises:
        HTTPException: If there is none; status 404.
        RefusedError: If the organisers have disqualified it, or it is too late to put it back.
    """
    _, record = own_record(visit, id)
    change = submissions.withdraw if status == "withdrawn" else submissions.restore
    change(visit.arena, visit.known, id, actor=visit.name)
    return record.number


@router.post("/submissions/{submission}/cancel", dependencies=[FromOurForm])
def cancel(visit: InTeam, id: SubmissionId) -> Response:
    """Cancel a submission that waits; it is not charged."""
    _, record = own_record(visit, id)
    jobs.cancel(visit.arena, visit.known, id, actor=visit.name)
    return visit.go("/mine", f"Submission {record.number} is cancelled and not charged.")


@router.get("/submissions/{submission}/file")
def give_file(visit: AnyVisit, id: SubmissionId) -> Response:
    """Return the file that was handed in, to its team, and to everybody once it is published."""
    return file_answer(visit, id)


def file_answer(visit: Visit, id: str) -> Response:
    """Return the file of a submission, to be saved.

    Raises:
        HTTPException: If there is none that the visitor may see; status 404.
    """
    submission = visit.view.find(id)
    content = visit.view.upload(*submission) if submission else None
    if content is None:
        raise missing()
    headers = {"content-disposition": f'attachment; filename="submission-{id}"'}
    return Response(content, media_type="application/octet-stream", headers=headers)
