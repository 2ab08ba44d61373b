"""What one task puts on the screen, and nothing more: no system, no item, no kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from reelscore.human import protocols as asked
from reelscore.human.campaign import Campaign
from reelscore.human.hits.tasks import Task
from reelscore.web.pages import Pages
from reelscore.web.practice import Practice
from reelscore.web.site import Site


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
    protocol: asked.Protocol
    missing: bool = False
    next_video: str = ""

    @property
    def criteria(self) -> tuple[asked.Criterion, ...]:
        """What is judged."""
        return self.protocol.criteria

    @property
    def labels(self) -> tuple[str, ...]:
        """What the texts are called where there are several."""
        if len(self.captions) == 2:
            return ("First text", "Second text")
        return tuple(f"Text {chr(ord('A') + k)}" for k in range(len(self.captions)))


class Viewer(Protocol):
    """Somebody who looks at tasks: a rater's session, or an organiser's preview."""

    @property
    def site(self) -> Site:
        """The server's belongings."""

    @property
    def campaign(self) -> Campaign:
        """The campaign."""

    @property
    def pages(self) -> Pages:
        """What its raters are told."""

    @property
    def home(self) -> str:
        """The path of the viewer's pages; videos lie under it."""


def task_screen(viewer: Viewer, tasks: Sequence[Task], place: int) -> Screen:
    """Show one of the tasks of a HIT."""
    task = tasks[place]
    video = video_of(viewer, task.item)
    context = viewer.pages.contexts.get(task.item, "")
    ahead = ""
    if place + 1 < len(tasks):
        ahead = video_of(viewer, tasks[place + 1].item)
    return Screen(
        tuple(shown.text for shown in task.shown),
        video,
        context,
        viewer.campaign.protocol,
        missing=not video and viewer.site.settings.videos is not None and not context,
        next_video="" if ahead == video else ahead,
    )


def practice_screen(viewer: Viewer, practice: Practice) -> Screen:
    """Show one task of the practice."""
    video = video_of(viewer, practice.item) if practice.item else ""
    return Screen(practice.captions, video, practice.context, viewer.campaign.protocol)


def video_of(viewer: Viewer, item: str) -> str:
    """Give the address of an item's video; empty where there is none."""
    name = viewer.site.videos.name(viewer.campaign.id, item)
    if name:
        return f"{viewer.site.settings.prefix}{viewer.home}/media/{name}"
    return viewer.pages.address_of(item)
