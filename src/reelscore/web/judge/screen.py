"""What one task puts on the screen, and nothing more: no system, no item, no kind."""

from __future__ import annotations

from dataclasses import dataclass

from reelscore.human.protocol import Criterion, Protocol
from reelscore.human.store.records import Assignment
from reelscore.web.judge.session import Session
from reelscore.web.practice import Practice


@dataclass(frozen=True)
class Screen:
    """One task as a template shows it.

    Attributes:
        captions: The texts, in order.
        video: The address of the video; empty for none.
        context: A text instead of a video.
        protocol: What is asked.
        missing: Whether there should be a video and is none.
        next_video: What may be loaded ahead.
    """

    captions: tuple[str, ...]
    video: str
    context: str
    protocol: Protocol
    missing: bool = False
    next_video: str = ""

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """What is judged."""
        return self.protocol.criteria

    @property
    def labels(self) -> tuple[str, ...]:
        """What the texts are called where there are several."""
        if len(self.captions) == 2:
            return ("First text", "Second text")
        return tuple(f"Text {chr(ord('A') + k)}" for k in range(len(self.captions)))


def task_screen(session: Session, assignment: Assignment, place: int) -> Screen:
    """Show one task of an assignment."""
    task = assignment.tasks[place]
    video = video_of(session, task.item)
    context = session.pages.contexts.get(task.item, "")
    ahead = ""
    if place + 1 < len(assignment.tasks):
        ahead = video_of(session, assignment.tasks[place + 1].item)
    return Screen(
        tuple(shown.text for shown in task.shown),
        video,
        context,
        session.campaign.protocol,
        missing=not video and _has_videos(session) and not context,
        next_video="" if ahead == video else ahead,
    )


def practice_screen(session: Session, practice: Practice) -> Screen:
    """Show one task of the practice."""
    video = video_of(session, practice.item) if practice.item else ""
    return Screen(practice.captions, video, practice.context, session.campaign.protocol)


def video_of(session: Session, item: str) -> str:
    """Give the address of an item's video; empty where there is none."""
    name = session.site.videos.name(session.campaign.id, item)
    if name:
        return f"{session.site.settings.prefix}{session.home}/media/{name}"
    return session.pages.address_of(item)


def _has_videos(session: Session) -> bool:
    return session.site.settings.videos is not None
