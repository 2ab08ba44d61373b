"""Captions of a server that speaks the protocol of OpenAI's chat completions."""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from reelscore.captioners.adapters.adapter import Adapter, ClipError, ShownClip
from reelscore.endpoint.chat import ChatReply, Endpoint
from reelscore.endpoint.questions import ChatQuestion, chat_request
from reelscore.errors import DataError


@dataclass
class EndpointAdapter(Adapter):
    """A model behind an endpoint."""

    model: str = ""  # its name at the endpoint
    # the server
    endpoint: Endpoint = field(default_factory=lambda: Endpoint("http://127.0.0.1:8000/v1"))
    kind: ClassVar[str] = "openai"

    def __post_init__(self) -> None:
        self.needs_frames = self.sent == "images"

    @property
    def identity(self) -> str:
        """The model's name; the same model may be served elsewhere tomorrow."""
        return f"openai:{self.model}"

    def describe(self, batch: Sequence[ShownClip]) -> list[ChatReply]:
        """Send a request for each clip."""
        return [self._answer(shown) for shown in batch]

    def _answer(self, shown: ShownClip) -> ChatReply:
        request = chat_request(
            self.model,
            shown.task,
            shown.question,
            max_tokens=self.sampling["max_tokens"],
            seed=self.sampling["seed"],
        )
        if self.sent == "video":
            file = shown.clip.file
            media = mimetypes.guess_type(file.name)[0] or "video/mp4"
            question = ChatQuestion(request, lambda: [_content(file)], media=media)
        else:
            question = ChatQuestion(request, shown.jpegs)
        reply = self.endpoint.chat(question.body())
        return replace(reply, content=reply.content or reply.refusal)

    def record(self) -> dict[str, Any]:
        """Return the model and where it was asked; the key is no part of it."""
        return {"adapter": self.kind, "model": self.model, "endpoint": self.endpoint.url}


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ClipError(f"{file}: the video cannot be read ({error.strerror}).") from None


def key_of_file(path: str) -> str:
    """Read a key from a file; the message of a fault never shows what the file holds."""
    try:
        key = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not text"
        raise DataError(f"{path}: the key cannot be read ({reason}).") from None
    if not key or len(key.split()) > 1:
        raise DataError(f"{path}: expected one key in the file, and nothing else.")
    return key
