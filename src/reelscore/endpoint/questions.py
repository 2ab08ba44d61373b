"""Many questions to a model, several at a time; each once, and none that the journal has."""

from __future__ import annotations

import base64
import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import msgspec
from msgspec import structs

from reelscore._progress import Progress
from reelscore.data.checks import counted
from reelscore.endpoint.abilities import FORMS, Abilities, in_form
from reelscore.endpoint.chat import ChatReply, Endpoint
from reelscore.endpoint.http import shortened
from reelscore.endpoint.journal import AnswerRecord, Journal
from reelscore.endpoint.threads import TaskThreads
from reelscore.errors import DataError

Images = Callable[[], Sequence[bytes]]
Check = Callable[[str], object]


@dataclass(frozen=True)
class ChatQuestion:
    """A question to a model.

    >>> question = ChatQuestion(chat_request("some-model", "", "Is it raining?"))
    >>> question.key == ChatQuestion(chat_request("some-model", "", "Is it snowing?")).key
    False
    """

    request: Mapping[str, Any]  # the request without its pictures, as `chat_request` makes it
    # gives pictures in JPEG; called when the question is sent, so that a question whose
    # answer the journal has costs no decoding
    images: Images | None = field(default=None, compare=False)
    images_key: str = ""  # what tells these pictures from others
    # what it is about, for people who read the journal
    about: Mapping[str, str] = field(default_factory=dict, compare=False)
    # what the pictures are; some servers take a video as one, such as ``video/mp4``
    media: str = "image/jpeg"
    # raises `DataError` for an answer to this question that cannot be used
    check: Check = field(default=str, compare=False)

    @property
    def key(self) -> str:
        """Hash of all that decides the answer."""
        content = msgspec.json.encode([self.request, self.images_key], order="sorted")
        return hashlib.sha256(content).hexdigest()

    def body(self, form: str = FORMS[0]) -> bytes:
        """Write the request in a form of answers, pictures before the text of the last message."""
        request = in_form(self.request, form)
        if self.images is not None:
            *before, last = request["messages"]
            kind = f"{self.media.partition('/')[0]}_url"
            pictures = [
                {"type": kind, kind: {"url": f"data:{self.media};base64,{data}"}}
                for data in (base64.b64encode(image).decode() for image in self.images())
            ]
            content = [*pictures, {"type": "text", "text": last["content"]}]
            request["messages"] = [*before, {**last, "content": content}]
        return msgspec.json.encode(request)


def chat_request(
    model: str,
    system: str,
    text: str,
    *,
    max_tokens: int = 64,
    seed: int = 1,
    schema: Mapping[str, Any] | None = None,
    chances: bool = False,
) -> dict[str, Any]:
    """Make a chat request at temperature 0.

    Args:
        model: The model's name at the endpoint.
        system: What the model is told about its task; may be empty.
        text: The question.
        max_tokens: Tokens that the answer may have.
        seed: Random seed, for servers that use one.
        schema: The JSON schema that the answer must follow.
        chances: Whether the answer comes with the log-probabilities of its likeliest tokens.

    >>> chat_request("some-model", "", "Is it raining?", max_tokens=5)
    {'model': 'some-model', 'messages': [{'role': 'user', 'content': 'Is it raining?'}],
     'temperature': 0, 'seed': 1, 'max_tokens': 5}
    """
    messages = [{"role": "system", "content": system}] if system else []
    form = {"name": "answer", "strict": True, "schema": schema}
    return {
        "model": model,
        "messages": [*messages, {"role": "user", "content": text}],
        "temperature": 0,
        "seed": seed,
        "max_tokens": max_tokens,
        **({"response_format": {"type": "json_schema", "json_schema": form}} if schema else {}),
        **({"logprobs": True, "top_logprobs": 20} if chances else {}),
    }


@dataclass
class Usage:
    """What a run took."""

    asked: int = 0  # questions that were sent
    reused: int = 0  # questions that the journal had the answers of
    again: int = 0  # requests that had to be sent again
    tokens_in: int = 0  # tokens of the questions sent
    tokens_out: int = 0  # tokens of their answers
    # the models as the server named them, also in answers of the journal
    models: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        parts = [
            f"{counted(self.asked, 'question')} asked",
            *([f"{counted(self.reused, 'answer')} taken from the journal"] if self.reused else []),
            *([f"{counted(self.again, 'request')} sent again"] if self.again else []),
            f"{self.tokens_in:,} tokens in, {self.tokens_out:,} out",
        ]
        return ", ".join(parts)

    def cost(self, price_in: float, price_out: float) -> float:
        """What the tokens cost, at prices for a million of them."""
        return (self.tokens_in * price_in + self.tokens_out * price_out) / 1e6

    def count(self, reply: ChatReply) -> None:
        """Add the answer to a question."""
        self.asked += 1
        self.again += reply.tries - 1
        self.models |= {reply.model} - {""}
        self.tokens_in += reply.tokens_in
        self.tokens_out += reply.tokens_out


def ask_all(
    endpoint: Endpoint,
    questions: Sequence[ChatQuestion],
    journal: Journal,
    *,
    usage: Usage | None = None,
    parallel: int = 8,
    grace: float = 10.0,
    progress: Progress | None = None,
) -> list[AnswerRecord]:
    """Ask a model, several questions at a time; return the answers in the order of the questions.

    A question whose answer cannot be used has a fault; it is not asked again, as a model says the
    same again at temperature 0. The first that asks for an answer by a schema is asked alone, to
    find out how the server takes it. If the server fails, or the user interrupts, questions in
    flight may come to their end, and the journal has all answers: the next run goes on from there.

    Args:
        endpoint: The server.
        questions: What to ask; equal ones are asked once.
        journal: Where the answers go, and where earlier ones are.
        usage: Counts what the run takes.
        parallel: How many questions may be in flight.
        grace: Seconds that questions in flight get after an interruption.
        progress: Called after each answer.

    Raises:
        EndpointError: If the server fails for good.
    """
    usage = Usage() if usage is None else usage
    keys = [question.key for question in questions]
    done, waiting = {}, {}
    for key, question in zip(keys, questions, strict=True):
        earlier = journal.answer(key)
        if earlier is None or _fault(earlier.content, question.check):
            waiting[key] = question
        else:  # one with a fault was read more strictly then
            done[key] = structs.replace(earlier, fault="") if earlier.fault else earlier
    usage.reused += len(done)
    usage.models |= {record.model for record in done.values() if record.model}
    workers, counting = TaskThreads(parallel, grace), threading.Lock()
    abilities = Abilities(endpoint, journal)

    def answers(task: tuple[str, ChatQuestion]) -> Iterator[AnswerRecord]:
        key, question = task
        if question.images is not None:
            question = replace(question, images=cache(question.images))
        reply = abilities.chat(question)
        record = _record(key, question, reply)
        journal.add(record)
        with counting:
            usage.count(reply)
        yield record

    total = len(done) + len(waiting)
    if progress is not None:
        progress(len(done), total)
    with closing(workers.results(answers, waiting.items())) as records:
        for record in records:
            done[record.key] = record
            if progress is not None:
                progress(len(done), total)
    return [done[key] for key in keys]


def _record(key: str, question: ChatQuestion, reply: ChatReply) -> AnswerRecord:
    if reply.refusal:
        fault = f"the model refuses: {shortened(reply.refusal)}"
    elif reply.finish == "length":
        fault = f"cut off after {reply.tokens_out or 'too many'} tokens: {shortened(reply.content)}"
    else:
        fault = _fault(reply.content, question.check)
    return AnswerRecord.of(key, reply, question.about, fault=fault)


def _fault(content: str, check: Check) -> str:
    try:
        check(content)
    except DataError as error:
        return str(error)
    return ""
