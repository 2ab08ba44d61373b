"""Tasks: one on a screen with its video; answers kept once and for good."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

from fastapi import Form, Path, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection
from starlette.exceptions import HTTPException

from reelscore.campaigns.pages.raters.ends import show_end
from reelscore.campaigns.pages.raters.session import (
    Current,
    Session,
    Signed,
    session_in,
    task_screen,
    video_of,
)
from reelscore.campaigns.store import raters
from reelscore.campaigns.store.answers import Sent, submit
from reelscore.campaigns.store.assignments import find_place
from reelscore.campaigns.store.records import Assignment, Receipt
from reelscore.errors import DataError, RefusedError
from reelscore.store.values import microseconds
from reelscore.web.requests import Router
from reelscore.web.site import FromOurForm, FromOurScript, Here, refused_status

router = Router()
_LARGEST = 2**53
_WATCHED = 0.9  # of the video; players skip a little at the end
_REFUSALS = {
    "unknown": "There is no such task.",
    "answered": "This task has another answer already; answers are never changed.",
    "closed": "The campaign takes no more answers.",
    "taken": "This task was left too long, and somebody else has it now.",
    "excluded": "You can no longer take part in this campaign.",
}
_NO_WORK = {
    "draft": "The campaign has not begun.",
    "paused": "The campaign is paused.",
    "closed": "The campaign is over. Thank you for your interest.",
}
_STOPPED = {
    "paused": "The campaign is paused, and your tasks were returned.",
    "closed": "The campaign was closed before you were done.",
}
_EXCLUDED = "There is no more work for you in this campaign."
REPORT = "report"  # what the log calls it
DOES_NOT_PLAY = "the video does not play"
Number = Annotated[int, Form(ge=1, le=_LARGEST)]
Reason = Annotated[str, Form(max_length=500)]
Score = Annotated[float, Field(ge=-1e6, le=1e6, strict=True)]  # true is no number


class Answered(BaseModel):
    """An answer as the page sends it; tasks are named by their position in the HIT.

    What was seen of the video is what the browser says, from 0 to 1; nobody can prove it.
    """

    model_config = ConfigDict(extra="forbid")

    assignment: Annotated[int, Field(ge=1, le=_LARGEST)]
    task: Annotated[int, Field(ge=1, le=100_000)]
    answer: dict[str, Annotated[list[Score], Field(max_length=100)]] = Field(max_length=20)
    started: Annotated[float, Field(ge=0, le=4e9)]
    submitted: Annotated[float, Field(ge=0, le=4e9)]
    client: Annotated[str, Field(pattern=r"^\d{1,5}x\d{1,5}$")] = "0x0"
    seen: Annotated[float, Field(ge=0, le=1)] | None = None


@router.get("/")
@router.get("/work")
def show_work(session: Current) -> Response:
    """Send a rater to where they left off: a step of the preparation, a task, or the end."""
    return go_on(session)


def go_on(session: Session) -> Response:
    """Send a rater to the page that comes next; the first task takes a HIT."""
    if session.step:
        return session.go(session.step)
    held = session.assignment()
    if held is not None and held.state == "done":
        return session.go("finish")
    return _take(session)


@router.post("/work", dependencies=[FromOurForm])
def take_more(session: Current) -> Response:
    """Return a rater who has finished another HIT."""
    if session.step:
        return session.go(session.step)
    held = session.assignment()
    if held is not None and held.state == "held":
        return session.go("work")
    if not session.may_do_more:
        return session.go("finish")
    return _take(session)


@router.get("/task/{number}")
def show_task(session: Current, number: Annotated[int, Path(ge=1, le=100_000)]) -> Response:
    """Show one task."""
    held = session.assignment()
    if session.step or held is None or held.state == "abandoned" or _is_over(session, held):
        return session.go("work")
    if held.state == "done" and number > len(held.tasks):
        return session.go("finish")
    if number > len(held.tasks):
        raise HTTPException(404, "There is no such task.")
    task = held.tasks[number - 1]
    if task not in held.remaining:
        return session.page(
            "raters/settled.html",
            number=number,
            total=len(held.tasks),
            skipped=task.id in held.skipped,
        )
    if number != next_place(held):
        return session.go(f"task/{next_place(held)}")
    session.campaign.open_task(held.id, held.rater, task.id)  # a rater at work keeps the HIT
    return session.page(
        "raters/task.html",
        screen=task_screen(session, held.tasks, number - 1),
        assignment=held.id,
        number=number,
        total=len(held.tasks),
        settled=len(held.tasks) - len(held.remaining),
        now=session.site.settings.clock(),
    )


@router.post("/answers", dependencies=[Signed, FromOurScript])
def keep_answer(request: Request, site: Here, sent: Answered) -> Response:
    """Keep an answer, or refuse it for good; what is acknowledged is on the disk.

    One transaction finds out who the rater is and which task it is about, and keeps the answer.
    The reply repeats which it is about: a browser keeps its copy until it reads that.
    """
    try:
        with site.database.writing() as connection:
            receipt = _keep(connection, session_in(connection, request), sent)
    except RefusedError as error:
        # the error's message says more than raters may know
        text = _REFUSALS.get(error.reason, "The answer cannot be taken.")
        body = {"assignment": sent.assignment, "task": sent.task, "reason": error.reason}
        return JSONResponse({**body, "message": text}, refused_status(error.reason))
    after = "finish" if receipt.done else f"task/{sent.task + 1}"
    kept = {"assignment": sent.assignment, "task": sent.task, "remaining": receipt.remaining}
    return JSONResponse({**kept, "done": receipt.done, "new": receipt.new, "next": after})


def _keep(connection: Connection, session: Session, sent: Answered) -> Receipt:
    terms = session.campaign.terms
    place = find_place(connection, terms, sent.assignment, sent.task)
    if place.rater != session.rater.rater:
        raise HTTPException(403, "This task is not yours.")
    if session.step:
        raise HTTPException(403, "The instructions come first.")
    if terms.protocol.form == "ranking" and not session.pages.ties:
        for criterion, ranks in sent.answer.items():
            if len(set(ranks)) < len(ranks):
                raise DataError(f"{criterion}: two texts share a rank; give each its own.")
    watched = _watched(session, place.item, sent.seen)
    now = session.site.now
    if sent.submitted < sent.started:
        raise DataError("The answer was sent before the task was shown.")
    # a page may have been open for long; it cannot have been shown later than now
    late = max(0.0, sent.submitted - now / 1e6)
    answer = Sent(
        sent.assignment,
        place.rater,
        place.task,
        sent.answer,
        started=microseconds(max(0.0, sent.started - late)),
        submitted=microseconds(sent.submitted - late),
        client=f"web {sent.client}",
        watched=watched,
        is_served=True,
    )
    return submit(connection, terms, answer, now)


@router.post("/return", dependencies=[FromOurForm])
def give_back(session: Current) -> Response:
    """Return an unfinished HIT back, for others to do."""
    held = session.assignment()
    if held is not None and held.state == "held":
        session.campaign.release(held.id, actor=session.rater.rater, reason="given back")
    return show_end(session, "partial")


def _take(session: Session) -> Response:
    """Return a rater the HIT held, or the next one; where there is none, show the way home."""
    try:
        held = session.campaign.claim(session.rater.rater, "web")
    except RefusedError:
        return show_end(session, "stopped", _EXCLUDED, 403)
    if held is None:
        return _nothing(session)
    if _is_over(session, held):
        return show_end(session, "stopped", _STOPPED["closed"])
    raters.take(session.site.database, session.rater, held.id)
    return session.go(f"task/{next_place(held)}")


def _is_over(session: Session, held: Assignment) -> bool:
    """Return whether a HIT that is not done takes no more answers from this rater."""
    return held.state == "held" and (
        session.campaign.state == "closed" or session.rater.rater in session.campaign.excluded()
    )


def next_place(held: Assignment) -> int:
    """Return the first task without an answer, from 1; the last one where all have one."""
    places = {task.id: k for k, task in enumerate(held.tasks, start=1)}
    return places[held.remaining[0].id] if held.remaining else len(held.tasks)


def _nothing(session: Session) -> Response:
    state, taken = session.campaign.state, session.assignment()
    if taken is None or taken.state == "done":
        return show_end(session, "no_work", _NO_WORK.get(state, ""))
    if state == "open":
        return show_end(session, "timed_out")
    return show_end(session, "stopped", _STOPPED.get(state, ""))


def _watched(session: Session, item: str, share: float | None) -> float | None:
    """Return the share of the video that was watched, as the page says, if any."""
    if not video_of(session, item):
        return None
    if session.pages.must_watch and (share or 0) < _WATCHED:
        raise DataError("The video comes first: watch it to its end, then answer.")
    return share


@router.get("/media/{name}")
def show_video(session: Current, name: Annotated[str, Path(max_length=40)]) -> Response:
    """Send a video, or the part of it that is asked for."""
    return session.site.videos.send(session.campaign.id, name)


@router.post("/skip", dependencies=[FromOurForm])
def skip_task(
    session: Current, assignment: Number, task: Number, reason: Reason = DOES_NOT_PLAY
) -> Response:
    """Report to the organisers what is wrong with a task, and go on without it."""
    held = session.assignment()
    # a page that was left open may be about another HIT, or a task that is settled
    if held is not None and held.id == assignment and task <= len(held.tasks):
        with suppress(RefusedError):
            wrong = held.tasks[task - 1].id
            session.campaign.skip(held.id, held.rater, wrong, reason.strip() or DOES_NOT_PLAY)
    return session.go("work")


@router.post("/practice/skip", dependencies=[FromOurForm])
def skip_practice(session: Current, number: Annotated[int, Form(ge=0, le=1000)]) -> Response:
    """Report to the organisers that the video of a practice task does not play, and go on."""
    if session.step == "practice" and number == session.rater.practised:
        item = session.pages.practice_for(session.campaign.protocol)[number].item
        actor = session.rater.rater
        session.campaign.decide(REPORT, item, actor=actor, reason=f"{DOES_NOT_PLAY} (practice)")
        session.noting(practised=number + 1)
    return session.go("work")
