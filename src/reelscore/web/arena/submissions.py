"""Hand in a file, and follow one's submissions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from anyio import to_thread
from fastapi import File, Form, Path, UploadFile
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from reelscore.challenge import jobs, quota, submissions
from reelscore.challenge.challenges import KnownPhase, find_phase
from reelscore.challenge.explorer import explorer
from reelscore.challenge.queue_state import why_waiting
from reelscore.challenge.submissions import RefusedUpload, Upload
from reelscore.challenge.views import Record, board_columns
from reelscore.errors import DataError, RefusedError
from reelscore.web.arena.boards import report_page
from reelscore.web.arena.teams import is_captain
from reelscore.web.arena.visits import PATH, Arrived, InTeam, LoggedIn, Visit, missing
from reelscore.web.requests import Router
from reelscore.web.site import FromOurForm, refused_status

router = Router(prefix=PATH + "/{challenge}")
SubmissionId = Annotated[str, Path(alias="submission", max_length=20)]
Text = Annotated[str, Form(max_length=5000)]


def open_phases(visit: Visit) -> list[KnownPhase]:
    """Give the phases that take files now, of those that may be known of."""
    view = visit.view
    phases = [
        find_phase(visit.arena, visit.known, phase.id)
        for phase in view.definition.phases
        if view.sees_phase(phase.id)
    ]
    return [phase for phase in phases if _takes(phase, view.now)]


def _takes(phase: KnownPhase, now: int) -> bool:
    try:
        submissions.check_window(phase, now, now)
    except RefusedError:
        return False
    return True


@router.get("/submit")
def show_form(visit: LoggedIn) -> Response:
    """Ask for a file, and say what is left."""
    return _form(visit)


def _form(visit: Visit, status: int = 200, /, **more: Any) -> Response:
    context: dict[str, Any] = {"error": "", "report": None, "fine": "", "fields": {}, **more}
    phases = open_phases(visit)
    if visit.team is None:
        lefts = []
    else:
        lefts = [(phase, quota.quota_left(visit.arena, phase, visit.team)) for phase in phases]
    return visit.page("submit.html", status, lefts=lefts, phases=phases, **context)


def known_phase(visit: Visit, id: str) -> str:
    """Give the id of a phase that may be known of.

    Raises:
        HTTPException: If there is none; status 404.
    """
    if id not in visit.view.phases or not visit.view.sees_phase(id):
        raise missing()
    return id


async def handed_in(
    visit: Visit, phase: str, upload: Upload, arrived: int, *, check: bool = False
) -> submissions.Receipt | None:
    """Check a file, or hand it in, on a thread of its own kind, since reading takes a while."""
    assert visit.team is not None
    assert visit.account is not None
    known_phase(visit, phase)
    common = (visit.arena, visit.site.readers, visit.known, phase, visit.team, upload)
    if check:
        await to_thread.run_sync(
            partial(submissions.check_file, *common), limiter=visit.site.uploads
        )
        return None
    receipt = await to_thread.run_sync(
        partial(
            submissions.hand_in,
            *common,
            account=visit.account.id,
            arrived=arrived,
            actor=visit.name,
        ),
        limiter=visit.site.uploads,
    )
    for workers in visit.site.workers:
        workers.wake()
    return receipt


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
    content = await file.read()
    upload = Upload(file.filename or "captions", content, method, "", link, key)
    fields = {"phase": phase, "method": method, "link": link}
    refused = partial(to_thread.run_sync)
    try:
        receipt = await handed_in(visit, phase, upload, arrived, check=what == "check")
    except RefusedUpload as error:
        return await refused(partial(_form, visit, 422, report=error.report, fields=fields))
    except RefusedError as error:
        status = refused_status(error.reason)
        return await refused(partial(_form, visit, status, error=str(error), fields=fields))
    except DataError as error:
        return await refused(partial(_form, visit, 422, error=str(error), fields=fields))
    if receipt is None:
        fine = (
            f"{upload.name} can be scored. Nothing was charged or kept; choose it again to send it."
        )
        return await refused(partial(_form, visit, fine=fine, fields=fields))
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
    reports: list[str]
    may_choose: bool

    @property
    def waits(self) -> bool:
        """Whether its state will change."""
        return self.record.state in ("queued", "scoring")


def own_records(visit: Visit) -> list[tuple[str, Record]]:
    """Give the submissions of the visitor's team, newest first, each with its phase."""
    assert visit.team is not None
    return [
        (phase.id, record)
        for phase in visit.view.definition.phases
        if visit.view.sees_phase(phase.id)
        for record in reversed(visit.view.submissions(phase.id))
        if record.team == visit.team.id
    ]


def own_record(visit: Visit, id: str) -> tuple[str, Record]:
    """Give one submission of the visitor's team, with its phase.

    Raises:
        HTTPException: If there is none; status 404.
    """
    own = [(phase, record) for phase, record in own_records(visit) if record.id == id]
    if not own:
        raise missing()
    return own[0]


def lines(visit: Visit) -> list[Line]:
    """Give the submissions of a team as its page shows them."""
    view = visit.view
    shown = []
    for phase, record in own_records(visit):
        splits, reports = [], []
        for split in view.definition.phase(phase).splits:
            scores = view.scores(phase, split, record) if record.state == "scored" else None
            splits.append((split, None if scores is None else _texts(visit, split, scores)))
            if record.state == "scored" and view.item_scores(phase, split, record):
                reports.append(split)
        state = record.state or "queued"
        if record.state == "queued" and (why := why_waiting(visit.arena, record.id)):
            state = f"queued: {why}"
        elif record.state == "failed":
            state = f"failed: {record.reason}; it was not charged"
        rule = view.definition.phase(phase).final == "chosen"
        may = rule and record.counts and view.now < view.phases[phase].closes
        shown.append(Line(record, phase, state, splits, reports, may))
    return shown


def _texts(visit: Visit, split: str, scores: Any) -> dict[str, str]:
    """Write scores as the board of the split writes them."""
    definition = visit.view.definition
    boards = [board for board in definition.boards if board.split == split]
    columns = {c.score: c for board in boards for c in board_columns(definition, board, {})}
    texts = {}
    for name, score in scores.items():
        column = columns.get(name)
        if column is None:
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
    """Give the list anew."""
    return visit.part("mine_live.html", **_mine(visit))


def _mine(visit: Visit) -> dict[str, Any]:
    assert visit.team is not None
    phases = [find_phase(visit.arena, visit.known, phase) for phase in visit.view.phases]
    lefts = [
        (phase, quota.quota_left(visit.arena, phase, visit.team))
        for phase in phases
        if visit.view.sees_phase(phase.id) and phase.is_open(visit.view.now)
    ]
    return {"lines": lines(visit), "captain": is_captain(visit), "lefts": lefts}


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
    """Take a submission off the boards; it can be put back."""
    number = set_own_status(visit, id, "withdrawn")
    return visit.go("/mine", f"Submission {number} is withdrawn.")


@router.post("/submissions/{submission}/restore", dependencies=[FromOurForm])
def restore(visit: InTeam, id: SubmissionId) -> Response:
    """Put a withdrawn submission back."""
    number = set_own_status(visit, id, "active")
    return visit.go("/mine", f"Submission {number} counts again.")


def set_own_status(visit: Visit, id: str, status: str) -> int:
    """Withdraw a submission of the visitor's team, or put it back; give its number.

    Raises:
        HTTPException: If there is none, status 404; if the organisers have disqualified it, 403.
    """
    _, record = own_record(visit, id)
    if record.status == "disqualified":
        raise HTTPException(403, "The organisers have disqualified it; ask them.")
    submissions.set_status(visit.arena, visit.known, id, status, actor=visit.name)
    return record.number


@router.post("/submissions/{submission}/cancel", dependencies=[FromOurForm])
def cancel(visit: InTeam, id: SubmissionId) -> Response:
    """Cancel a submission that waits; it is not charged."""
    _, record = own_record(visit, id)
    jobs.cancel(visit.arena, visit.known, id, actor=visit.name)
    return visit.go("/mine", f"Submission {record.number} is cancelled and not charged.")


@router.get("/submissions/{submission}/file")
def give_file(visit: InTeam, id: SubmissionId) -> Response:
    """Give the file that was handed in."""
    return file_answer(visit, id)


def file_answer(visit: Visit, id: str) -> Response:
    """Give the file of a submission of the visitor's team, to be saved."""
    _, record = own_record(visit, id)
    _, content = submissions.uploaded_file(visit.arena, id)
    disposition = f'attachment; filename="submission-{record.number}"'
    headers = {"content-disposition": disposition}
    return Response(content, media_type="application/octet-stream", headers=headers)


@router.get("/submissions/{submission}/report/{split}")
def show_report(
    visit: InTeam, id: SubmissionId, split: Annotated[str, Path(max_length=100)]
) -> Response:
    """Show the items of a public split one by one, of one's own submission."""
    phase, _ = own_record(visit, id)
    if split not in visit.view.definition.phase(phase).splits:
        raise missing()
    return report_page(visit, explorer(visit.view, phase, split, [id]))
