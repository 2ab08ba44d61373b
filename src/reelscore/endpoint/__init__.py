"""Models behind an OpenAI-compatible endpoint: requests, retries, and a journal of the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.endpoint.client import Endpoint, Reply
    from reelscore.endpoint.journal import Journal, Record
    from reelscore.endpoint.questions import Outcome, Question, Usage, ask_all, chat_request

__all__ = [
    "Endpoint",
    "Journal",
    "Outcome",
    "Question",
    "Record",
    "Reply",
    "Usage",
    "ask_all",
    "chat_request",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "endpoint.client": "Endpoint Reply",
        "endpoint.journal": "Journal Record",
        "endpoint.questions": "Outcome Question Usage ask_all chat_request",
    },
)
