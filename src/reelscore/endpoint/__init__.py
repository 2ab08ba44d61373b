"""Models behind an OpenAI-compatible endpoint: requests, retries, and a journal of the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.endpoint.client import Endpoint, Reply
    from reelscore.endpoint.journal import Journal, Record
    from reelscore.endpoint.prompts import PromptText
    from reelscore.endpoint.questions import Outcome, Question, Usage, ask_all, chat_request
    from reelscore.endpoint.workers import Workers

__all__ = [
    "Endpoint",
    "Journal",
    "Outcome",
    "PromptText",
    "Question",
    "Record",
    "Reply",
    "Usage",
    "Workers",
    "ask_all",
    "chat_request",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "endpoint.client": "Endpoint Reply",
        "endpoint.journal": "Journal Record",
        "endpoint.prompts": "PromptText",
        "endpoint.questions": "Outcome Question Usage ask_all chat_request",
        "endpoint.workers": "Workers",
    },
)
