"""What every captioner is to a run: clips go in, answers come out, and it says what it is."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from reelscore.endpoint.chat import ChatReply
from reelscore.errors import DataError
from reelscore.video.clips import Clip
from reelscore.video.frames import Frames

Sent = Literal["images", "video"]
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "„": "“", "«": "»", "「": "」"}
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")


@dataclass(frozen=True)
class ShownClip:
    """A clip as a captioner sees it."""

    clip: Clip  # the item and its video
    frames: Frames  # its frames
    jpegs: Callable[[], list[bytes]]  # gives the frames as JPEG
    task: str  # what the captioner is told about its task; may be empty
    question: str  # what it is asked


class ClipError(DataError):
    """One clip that cannot be described; the run goes on with the others."""


@dataclass
class Adapter(ABC):
    """A captioner as a run uses it: a server, a model in a folder, or a program."""

    batch: int = 1  # how many clips it takes at once
    parallel: int = 1  # how many batches may be in flight
    sent: Sent = "images"  # whether it is sent frames as images, or the video
    # what decides its words, such as the temperature
    sampling: Mapping[str, Any] = field(default_factory=dict)
    needs_frames: bool = field(default=True, init=False)  # whether it looks at frames
    needs_prompt: bool = field(default=True, init=False)  # whether the prompt reaches it
    kind: ClassVar[str]

    @property
    @abstractmethod
    def identity(self) -> str:
        """What tells this model from others, for the journal."""

    @abstractmethod
    def describe(self, batch: Sequence[ShownClip]) -> list[ChatReply]:
        """Describe clips."""

    @abstractmethod
    def record(self) -> dict[str, Any]:
        """Return what it is, for the record: ``adapter``, ``model``, and more."""

    @property
    def libraries(self) -> Sequence[str]:
        """Installed packages whose versions matter."""
        return ()

    def close(self) -> None:  # noqa: B027 (most hold nothing)
        """Release what it holds."""


def cleaned(answer: str) -> str:
    r"""Make a caption of an answer: its first paragraph, without quotation marks around it."""
    text = _PARAGRAPH.split(answer.strip(), maxsplit=1)[0].strip()
    if len(text) > 1 and _QUOTES.get(text[0]) == text[-1]:
        inside = text[1:-1]
        if text[0] not in inside and text[-1] not in inside:
            return inside.strip()
    return text
