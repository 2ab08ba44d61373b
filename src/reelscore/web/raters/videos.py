"""The video of a task: sent in parts, reported and skipped when it does not play."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

from fastapi import Form, Path
from fastapi.responses import FileResponse, Response
from starlette.exceptions import HTTPException

from reelscore.errors import RefusedError
from reelscore.web.guards import Router
from reelscore.web.raters.session import Current
from reelscore.web.site import FromOurForm, Site
from reelscore.web.videos import TYPES

router = Router()
REPORT = "report"  # what the log calls it
DOES_NOT_PLAY = "the video does not play"
Number = Annotated[int, Form(ge=1, le=2**53)]
Reason = Annotated[str, Form(max_length=500)]


@router.get("/media/{name}")
def show_video(session: Current, name: Annotated[str, Path(max_length=40)]) -> Response:
    """Send a video, or the part of it that is asked for."""
    return send_video(session.site, session.campaign.id, name)


def send_video(site: Site, campaign: str, name: str) -> FileResponse:
    """Send a campaign's video by its public name.

    Raises:
        HTTPException: If there is none of that name; status 404.
    """
    file = site.videos.file(campaign, name)
    if file is None:
        raise HTTPException(404, "There is no such video.")
    return FileResponse(
        file,
        media_type=TYPES[file.suffix.lower()],
        headers={"cache-control": "private, max-age=86400"},
    )


@router.post("/skip", dependencies=[FromOurForm])
def skip_task(
    session: Current, assignment: Number, task: Number, reason: Reason = DOES_NOT_PLAY
) -> Response:
    """Tell the organisers what is wrong with a task, and go on without it."""
    held = session.assignment()
    # a page that was left open may be about another HIT, or a task that is settled
    if held is not None and held.id == assignment and task <= len(held.tasks):
        with suppress(RefusedError):
            wrong = held.tasks[task - 1].id
            session.campaign.skip(held.id, held.rater, wrong, reason.strip() or DOES_NOT_PLAY)
    return session.go("work")


@router.post("/practice/skip", dependencies=[FromOurForm])
def skip_practice(session: Current, number: Annotated[int, Form(ge=0, le=1000)]) -> Response:
    """Tell the organisers that the video of a practice task does not play, and go on."""
    if session.step == "practice" and number == session.rater.practised:
        item = session.pages.practice_for(session.campaign.protocol)[number].item
        actor = session.rater.rater
        session.campaign.decide(REPORT, item, actor=actor, reason=f"{DOES_NOT_PLAY} (practice)")
        session.noting(practised=number + 1)
    return session.go("work")
