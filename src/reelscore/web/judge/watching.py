"""The video of a task: sent in parts, and reported when it does not play."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request
from fastapi.responses import FileResponse, Response
from starlette.exceptions import HTTPException

from reelscore.web.guards import Router
from reelscore.web.judge.session import Current
from reelscore.web.judge.working import next_place
from reelscore.web.site import FromOurForm, Site
from reelscore.web.videos import TYPES

router = Router()


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


@router.post("/report", dependencies=[FromOurForm])
def report_video(request: Request, session: Current) -> Response:
    """Tell the organisers that the video of the present task does not play."""
    held = session.assignment()
    if held is not None and held.state == "held":
        item = held.tasks[next_place(held) - 1].item
        session.campaign.decide(
            "report", item, actor=session.rater.rater, reason="the video does not play"
        )
    return session.site.page(request, "judge/reported.html", session=session)
