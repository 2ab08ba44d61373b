"""What a server can do: found out by the first question, and remembered in the journal.

A question that asks for JSON by a schema is sent in the best form that the server takes. Servers
know different ones, and refuse the others as invalid; so the first question is sent alone, in one
form after the other. A form other than the best is written to the journal, for the next run.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reelscore.endpoint.chat import ChatReply, Endpoint
from reelscore.endpoint.http import InvalidRequestError
from reelscore.endpoint.journal import AnswerRecord, Journal
from reelscore.errors import EndpointError

if TYPE_CHECKING:
    from reelscore.endpoint.questions import ChatQuestion

FORMS = ("json_schema", "json_object+schema", "json_object", "plain")
_HINTS = {
    "image_url": "The server may take no pictures.",
    "logprobs": "The server may give no log-probabilities.",
}


def in_form(request: Mapping[str, Any], form: str) -> dict[str, Any]:
    r"""Return a request as a server takes it that knows only some form of answers.

    Where the schema does not bind the server, it is shown to the model.
    """
    rest = {name: value for name, value in request.items() if name != "response_format"}
    if form == FORMS[0] or len(rest) == len(request):
        return dict(request)
    if form == "plain":
        return rest
    schema = request["response_format"]["json_schema"]["schema"]
    *before, last = request["messages"]
    shown = f"{last['content']}\n\nThe answer follows this JSON schema: {json.dumps(schema)}"
    own = {"schema": schema} if form == "json_object+schema" else {}
    return {
        **rest,
        "messages": [*before, {**last, "content": shown}],
        "response_format": {"type": "json_object", **own},
    }


class Abilities:
    """What is known of a server in a run; earlier runs left what they found out in the journal."""

    def __init__(self, endpoint: Endpoint, journal: Journal) -> None:
        self._endpoint, self._journal = endpoint, journal
        self._finding = threading.Lock()
        self._forms: dict[str, str] = {}  # by model
        self._fault: EndpointError | None = None

    def chat(self, question: ChatQuestion) -> ChatReply:
        """Ask a question in the best form that the server takes.

        Raises:
            EndpointError: If the server takes it in none, or fails.
        """
        if "response_format" not in question.request:
            return self._sent(question, "plain")
        model = str(question.request["model"])
        with self._finding:
            if self._fault is not None:
                raise self._fault
            if model not in self._forms:
                return self._found(question, model)
        return self._sent(question, self._forms[model])

    def _found(self, question: ChatQuestion, model: str) -> ChatReply:
        """Send a question in one form after the other, those of earlier runs first."""
        told = json.dumps(["form", self._endpoint.url, model])
        key = hashlib.sha256(told.encode()).hexdigest()
        earlier = [self._journal[key].content] if key in self._journal else []
        for refused, form in enumerate(dict.fromkeys([*earlier, *FORMS])):
            try:
                reply = self._sent(question, form)
            except InvalidRequestError as error:
                fault = error
                continue
            except EndpointError as error:
                self._fault = error
                raise
            self._forms[model] = form
            if form not in (FORMS[0], *earlier):
                about = {"form of answers": model, "at": self._endpoint.url}
                self._journal.add(AnswerRecord(key, form, about=about))
            return replace(reply, tries=reply.tries + refused)
        self._fault = fault
        raise fault

    def _sent(self, question: ChatQuestion, form: str) -> ChatReply:
        try:
            reply = replace(self._endpoint.chat(question.body(form)), form=form)
        except InvalidRequestError as error:
            shown = {"image_url": question.images, "logprobs": question.request.get("logprobs")}
            hints = " ".join(hint for name, hint in _HINTS.items() if shown[name])
            raise InvalidRequestError(f"{error} {hints}".rstrip()) from None
        said = question.request.get("logprobs") and any(map(str.isdecimal, reply.content))
        if said and not reply.numbers:  # most servers pass over what they do not know
            raise EndpointError(
                f"{self._endpoint.url}: the answer came without log-probabilities. The server "
                "gives none, or not without an option when it starts. Leave out expect:logprobs."
            )
        return reply
