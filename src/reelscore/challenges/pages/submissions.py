"""Hand in a file, follow one's submissions, and read the report of each.

A report has the scores of a submission, its words, and the items of public splits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from anyio import CapacityLimiter, move_on_after, to_thread
from fastapi import File, Form, Path, UploadFile
from fastapi.responses import Response

from reelscore import score
from reelscore.challenges import submissions
from reelscore.challenges.boards.board_forms import score_text
from reelscore.challenges.boards.board_maker import board_columns
from reelscore.challenges.boards.boards import BoardColumn
from reelscore.challenges.definition.records import Split
from reelscore.challenges.pages.boards import items_page
from reelscore.challenges.pages.context import (
    AccountPage,
    AnyPage,
    ChallengePage,
    Router,
    TeamPage,
    missing,
)
from reelscore.challenges.pages.programs import Id, Submitter, deeds
from reelscore.challenges.pages.wing_pages import PATH, ChallengePages
from reelscore.challenges.queue import jobs
from reelscore.challenges.queue.queue_state import waits_for
from reelscore.challenges.submissions import RefusedUpload, Upload
from reelscore.challenges.uploads.uploads import PATIENCE, Accepted, busy
from reelscore.challenges.views import SubmissionRecord
from reelscore.data.tables.table import MetricResult
from reelscore.errors import DataError, RefusedError
from reelscore.metrics.diversity import Diversity
from reelscore.web.site import FromOurForm, refused_status

router = Router(prefix=PATH + "/{challenge}")
SubmissionId = Annotated[str, Path(alias="submission", max_length=20)]
Text = Annotated[str, Form(max_length=5000)]
_SUBMISSION = "/submissions/{submission}"
_OFTEN, _SELDOM = 2, 20  # seconds between two looks of a page at its submissions


@router.get("/submit")
def show_form(page: AccountPage) -> Response:
    """Ask for a file, and say what is left."""
    return _form(page)


def _form(page: ChallengePage, status: int = 200, /, **more: object) -> Response:
    context = {"error": "", "report": None, "fine": "", "fields": {}, **more}
    return page.render("submit.html", status, phases=page.open_phases, **context)


async def handed_in(
    page: ChallengePage,
    phase: str,
    file: UploadFile,
    said: Upload | None = None,
) -> submissions.SubmissionReceipt | Accepted:
    """Hand a file in with what is said of it, or check it alone, when its turn comes.

    As many files at once as there are readers are in memory; those that wait lie on the disk.
    """
    challenges = page.site.wing(ChallengePages)
    await to_thread.run_sync(page.release)
    with move_on_after(PATIENCE) as waiting:
        await challenges.uploads_at_once.acquire_on_behalf_of(file)
    if waiting.cancelled_caught:
        raise busy()
    try:
        # a thread beside those of pages, so that files never keep pages waiting
        receipt = await to_thread.run_sync(
            _read, page, phase, file, said, limiter=CapacityLimiter(1)
        )
    finally:
        challenges.uploads_at_once.release_on_behalf_of(file)
    for workers in challenges.workers:
        workers.wake()
    return receipt


def _read(
    page: ChallengePage, phase: str, file: UploadFile, said: Upload | None
) -> submissions.SubmissionReceipt | Accepted:
    page.phase(phase)
    upload = replace(said or Upload(file_name(file), b""), content=file.file.read())
    challenge = page.challenge.read_from(page.challenge.database.whole)
    common = (challenge, page.site.wing(ChallengePages).readers, phase, page.own_team, upload)
    if said is None:
        return submissions.check_file(*common)
    return submissions.hand_in(
        *common, account=page.user.id, arrived=page.view.now, actor=page.name
    )


def file_name(file: UploadFile) -> str:
    """Return the name of a file that was sent."""
    return file.filename or "captions"


@router.post("/submit", dependencies=[FromOurForm])
async def take_file(
    page: TeamPage,
    file: Annotated[UploadFile, File()],
    phase: Annotated[str, Form(max_length=100)],
    what: Annotated[str, Form(max_length=10)] = "submit",
    method: Text = "",
    link: Text = "",
    key: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Check a file, or hand it in; what is wrong with it is said at its place."""
    said = Upload(file_name(file), b"", method, link=link, idempotency=key)
    fields = {"phase": phase, "method": method, "link": link}

    async def show_again(status: int = 200, **more: object) -> Response:
        return await to_thread.run_sync(partial(_form, page, status, fields=fields, **more))

    try:
        receipt = await handed_in(page, phase, file, None if what == "check" else said)
    except RefusedUpload as error:
        return await show_again(422, report=error.report)
    except RefusedError as error:
        return await show_again(refused_status(error.reason), error=str(error))
    except DataError as error:
        return await show_again(422, error=str(error))
    if isinstance(receipt, Accepted):
        fine = (
            f"{file_name(file)} can be scored. Nothing was charged or kept; choose it again to "
            "send it."
        )
        return await show_again(fine=fine, notes=receipt.notes)
    again = " It was accepted before." if receipt.repeated else ""
    notes = " ".join(receipt.notes)
    return page.go_to("/mine", f"Submission {receipt.number} is accepted.{again} {notes}".strip())


@dataclass(frozen=True)
class SubmissionLine:
    """A submission as its team sees it."""

    record: SubmissionRecord
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


def own_records(page: ChallengePage) -> list[tuple[str, SubmissionRecord]]:
    """Return the submissions of the visitor's team, newest first, each with its phase."""
    return [
        (phase.id, record)
        for phase in page.view.definition.phases
        for record in reversed(page.view.submissions(phase.id))
        if record.team == page.own_team.id
    ]


def own_record(page: ChallengePage, id: str) -> tuple[str, SubmissionRecord]:
    """Return one submission of the visitor's team, with its phase."""
    records = own_records(page) if page.team is not None else []
    for phase, record in records:
        if record.id == id:
            return phase, record
    raise missing()


def lines(page: ChallengePage) -> list[SubmissionLine]:
    """Return the submissions of a team as its page shows them."""
    view = page.view
    shown = []
    for phase, record in own_records(page):
        splits = []
        for split in view.definition.phase(phase).splits:
            scores = view.scores(phase, split, record) if record.state == "scored" else None
            splits.append((split, None if scores is None else _texts(page, split, scores)))
        state, before = record.state or "queued", 0
        if record.state == "queued":
            why, before = waits_for(page.challenge.store, record.id)
            state = f"queued: {why}" if why else state
        elif record.state == "failed":
            state = f"failed: {record.reason}; it was not charged"
        rule = view.definition.phase(phase).final == "chosen"
        is_before = view.now < view.phases[phase].closes
        may = rule and record.counts and is_before
        shown.append(SubmissionLine(record, phase, state, splits, is_before, may, before))
    return shown


def known_columns(page: ChallengePage, split: str) -> dict[str, BoardColumn]:
    """Return the columns of the boards of a split, by score."""
    definition = page.view.definition
    boards = [board for board in definition.boards if board.split == split]
    return {c.score: c for board in boards for c in board_columns(definition, board, [])}


def _texts(page: ChallengePage, split: str, scores: Mapping[str, MetricResult]) -> dict[str, str]:
    """Write scores as the board of the split writes them."""
    columns = known_columns(page, split)
    return {c.label: score_text(c, scores[name]) for name, c in columns.items() if name in scores}


@router.get("/mine")
def show_submissions(page: TeamPage) -> Response:
    """List the team's submissions, whose states renew themselves."""
    return page.render("mine.html", **_mine(page))


@router.get("/mine/live", include_in_schema=False)
def renew_submissions(page: TeamPage) -> Response:
    """Return the list anew."""
    return page.render_part("mine_live.html", **_mine(page))


def _mine(page: ChallengePage) -> dict[str, object]:
    own = lines(page)
    seconds = min((line.seconds for line in own), default=_SELDOM)
    return {"lines": own, "captain": page.is_captain, "seconds": seconds}


# What a team does with its submissions

own_deeds, deed = deeds(TeamPage, Submitter, "/mine")


@deed(_SUBMISSION + "/choose", _SUBMISSION + "/choose")
def choose(page: ChallengePage, submission: Id) -> str:
    """Let a submission count; only the captain may."""
    own_record(page, submission)
    page.check_captain("chooses")
    submissions.choose(page.challenge, submission, actor=page.name)
    return "Your choice is noted."


@deed(_SUBMISSION + "/withdraw", _SUBMISSION + "/withdraw")
def withdraw(page: ChallengePage, submission: Id) -> str:
    """Take a submission off the boards; it can be put back until the close."""
    _, record = own_record(page, submission)
    submissions.withdraw(page.challenge, submission, actor=page.name)
    return f"Submission {record.number} is withdrawn."


@deed(_SUBMISSION + "/restore", _SUBMISSION + "/restore")
def restore(page: ChallengePage, submission: Id) -> str:
    """Put a withdrawn submission back, until the close."""
    _, record = own_record(page, submission)
    submissions.restore(page.challenge, submission, actor=page.name)
    return f"Submission {record.number} counts again."


@deed(_SUBMISSION + "/cancel", _SUBMISSION + "/cancel")
def cancel(page: ChallengePage, submission: Id) -> str:
    """Cancel a submission that waits; it is not charged."""
    _, record = own_record(page, submission)
    jobs.cancel(page.challenge, submission, actor=page.name)
    return f"Submission {record.number} is cancelled and not charged."


@router.get(_SUBMISSION + "/file")
def give_file(page: AnyPage, id: SubmissionId) -> Response:
    """Return the file that was handed in, to its team, and to everybody once it is published."""
    return file_answer(page, id)


def file_answer(page: ChallengePage, id: str) -> Response:
    """Return the file of a submission, to be saved."""
    content = page.view.upload(*page.submission(id))
    if content is None:
        raise missing()
    headers = {"content-disposition": f'attachment; filename="submission-{id}"'}
    return Response(content, media_type="application/octet-stream", headers=headers)


# The report of one submission


@dataclass(frozen=True)
class ScoreLine:
    """A score in a report; without an interval where there is none."""

    label: str
    value: str
    interval: str = ""


@dataclass(frozen=True)
class SplitReport:
    """What the viewer may see of a submission on one split."""

    split: Split  # the split
    scores: list[ScoreLine] | None  # its scores; ``None`` while they may not be seen
    words: list[ScoreLine]  # what its captions are like, by themselves
    signatures: list[str]  # how the scores were made
    has_items: bool  # whether the items can be looked at one by one


@router.get(_SUBMISSION)
def show_submission(page: AccountPage, id: SubmissionId) -> Response:
    """Show one submission to its team and to organisers."""
    phase, record = page.submission(id)
    if not page.view.sees_state(phase, record):
        raise missing()
    described = page.view.definition.phase(phase)
    return page.render(
        "submission.html",
        record=record,
        phase=described,
        is_own=page.team is not None and page.team.id == record.team,
        splits=[_split_report(page, phase, split, record) for split in described.splits],
    )


def _split_report(
    page: ChallengePage, phase: str, id: str, record: SubmissionRecord
) -> SplitReport:
    view = page.view
    scores = view.scores(phase, id, record) if record.state == "scored" else None
    lines = None if scores is None else _lines(page, id, scores)
    return SplitReport(
        view.definition.split(id),
        lines,
        _words(view.captions(phase, id, record) or {}),
        list(dict.fromkeys(each.signature for each in (scores or {}).values() if each.signature)),
        record.state == "scored" and bool(view.item_scores(phase, id, record)),
    )


def _lines(page: ChallengePage, split: str, scores: Mapping[str, MetricResult]) -> list[ScoreLine]:
    """Write scores as boards do, those that are on one first."""
    columns = known_columns(page, split)
    names = [
        *(name for name in columns if name in scores),
        *(n for n in scores if n not in columns),
    ]
    scales = page.view.definition.scoring.scales(page.view.definition.split(split).kind)
    lines = []
    for name in names:
        own, form = scores[name], columns.get(name, BoardColumn(name)).form
        interval = " to ".join(map(form.text, own.interval or ()))
        label = (scales[name].label if name in scales else "") or name
        lines.append(ScoreLine(label, form.text(own.score), interval))
    return lines


def _words(captions: Mapping[str, Any]) -> list[ScoreLine]:
    """Return what captions are like, whatever their references are.

    >>> [line.value for line in _words({"v1": "a man runs", "v2": "a man runs"})]
    ['2', '3.0', '3', '50.0 %']
    """
    texts = {
        f"{item} {number}": part[2] if isinstance(part, list) else part
        for item, parts in captions.items()
        for number, part in enumerate(parts if isinstance(parts, list) else [parts])
    }
    if not texts:
        return []
    own = score(texts, metrics=[Diversity()])
    return [
        ScoreLine("captions", f"{len(texts):,}"),
        ScoreLine("words in a caption", f"{own['length'].score:.1f}"),
        ScoreLine("different words", f"{own['vocabulary'].score:,.0f}"),
        ScoreLine("different captions, of all", f"{own['unique'].score:.1%}".replace("%", " %")),
    ]


@router.get(_SUBMISSION + "/report/{split}")
def show_items(
    page: TeamPage, id: SubmissionId, split: Annotated[str, Path(max_length=100)]
) -> Response:
    """Show the items of a public split one by one, of one's own submission."""
    phase, _ = own_record(page, id)
    if split not in page.view.definition.phase(phase).splits:
        raise missing()
    home = f"{page.site.settings.prefix}{page.path}/submissions/{id}"
    return items_page(page, phase, split, [id], home=home)
