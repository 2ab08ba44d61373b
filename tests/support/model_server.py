"""A server that speaks the protocol of OpenAI's chat completions, with faults on request.

The "model" behind it rates by the words that caption and references share, so that its answers
are the same in every run.
"""

from __future__ import annotations

import base64
import json
import math
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[dict[str, Any]], str]


def quotations(text: str) -> list[str]:
    """The quoted texts of a prompt, in their order."""
    return [json.loads(each) for each in re.findall(r'"(?:[^"\\]|\\.)*"(?!:|[,}])', text)]


def shared_words(request: dict[str, Any]) -> str:
    """Rate the last quoted text by the share of its words that the others have; or compare two."""
    content = request["messages"][-1]["content"]
    text = content if isinstance(content, str) else content[-1]["text"]
    shown = text.partition("\nAnswer in JSON")[0]
    if "Caption A:" in shown:
        *references, first, second = quotations(shown)
        a, b = _share(first, references), _share(second, references)
        return json.dumps({"better": "tie" if a == b else "A" if a > b else "B"})
    *references, caption = quotations(shown)
    share = _share(caption, references)
    stars = "to 5 (perfectly)" in shown
    return json.dumps({"score": round(1 + 4 * share if stars else 100 * share)})


def _share(caption: str, references: list[str]) -> float:
    words = caption.lower().split()
    known = set(" ".join(references).lower().split())
    return sum(word in known for word in words) / len(words)


class ModelServer(ThreadingHTTPServer):
    """A server on a free port of this machine.

    Attributes:
        answer: Gives the content of the answer to a request.
        faults: What to do with the next requests instead, one each: ``429``, ``503``, ``drop``,
            ``garbage``, ``not-utf-8``, ``cut``, ``slow``, ``drip``, ``no-choices``, a body, or
            ``None``.
        requests: The requests that came, decoded.
        check: What is wrong with a request, if anything.
        takes: The forms of ``response_format`` that it knows; it says of others that the request is
            invalid, with the status `invalid`: servers made with pydantic may say so with 500.
        refused: The forms of those that it does not know.
        keys: The Authorization headers that came.
        tokens: Gives the tokens of an answer, each with the probabilities of what may stand there.
        most_at_once: The largest number of requests in flight.
    """

    daemon_threads = True

    def __init__(self, answer: Answer = shared_words) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.faults: list[Any] = []
        self.requests: list[dict[str, Any]] = []
        self.refused: list[str] = []
        self.keys: list[str | None] = []
        self.delay = 0.0
        self.check = protocol_fault
        self.tokens: Callable[[str], list[tuple[str, dict[str, float]]]] | None = None
        self.takes, self.invalid = {"json_schema"}, 400
        self.model, self.fingerprint, self.finish = "stand-in-2026-01", "fp_1", "stop"
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients may go away."""


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: Any) -> None:
        pass

    def do_POST(self) -> None:
        server = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with server.lock:
            server.keys.append(self.headers.get("Authorization"))
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
            fault = server.faults.pop(0) if server.faults else None
        try:
            time.sleep(server.delay)
            self._reply(body, fault)
        finally:
            with server.lock:
                server.at_once -= 1

    def _reply(self, body: bytes, fault: Any) -> None:
        if self.path != "/v1/chat/completions":
            return self._send(404, {"error": {"message": f"no route {self.path}"}})
        if fault == "drop":
            self.close_connection = True
            return self.connection.shutdown(2)
        if fault == "slow":
            return time.sleep(3)
        if fault == "drip":  # a byte now and then
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            for _ in range(40):
                self.wfile.write(b" ")
                time.sleep(0.05)
            self.close_connection = True
            return None
        if fault == "garbage":
            return self._send_bytes(200, b"<html>the proxy is tired</html>")
        if fault == "not-utf-8":
            return self._send_bytes(200, b'{"model": "\xff"}')
        if fault == "no-choices":
            return self._send(200, {"choices": [], "model": self.server.model})
        if isinstance(fault, tuple):  # status, content, headers
            status, content, headers = fault
            return self._send(status, content, headers)
        request = json.loads(body)
        form = request.get("response_format", {})
        kind = form.get("type", "") + ("+schema" if "schema" in form else "")
        if kind and kind not in self.server.takes:
            with self.server.lock:
                self.server.refused.append(kind)
            message = "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type')}]"
            return self._send(self.server.invalid, {"error": {"message": message}})
        problem = self.server.check(request, self.headers["Content-Type"])
        if problem:
            return self._send(400, {"error": {"message": problem, "type": "invalid_request"}})
        with self.server.lock:
            self.server.requests.append(request)
        message = {"role": "assistant", "content": self.server.answer(request), "refusal": None}
        if isinstance(fault, dict):
            message |= fault
        finish = message.pop("finish", self.server.finish)
        text = json.dumps(request["messages"])
        usage = {"prompt_tokens": len(text) // 4, "completion_tokens": 6, "total_tokens": 0}
        answer = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": self.server.model,
            "system_fingerprint": self.server.fingerprint,
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": usage,
        }
        if request.get("logprobs") and self.server.tokens is not None:
            tokens = self.server.tokens(message["content"])
            answer["choices"][0]["logprobs"] = {"content": [_token(*each) for each in tokens]}
        if fault == "cut":
            content = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2])
            self.close_connection = True
            return None
        return self._send(200, answer)

    def _send(self, status: int, content: Any, headers: dict[str, str] | None = None) -> None:
        self._send_bytes(status, json.dumps(content).encode(), headers)

    def _send_bytes(
        self, status: int, content: bytes, headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _token(token: str, chances: dict[str, float]) -> dict[str, Any]:
    top = [{"token": each, "logprob": math.log(share)} for each, share in chances.items()]
    return {"token": token, "logprob": math.log(chances.get(token, 1.0)), "top_logprobs": top}


def protocol_fault(request: dict[str, Any], content_type: str) -> str:
    """What is wrong with a request, as a strict server would say."""
    known = {"model", "messages", "temperature", "seed", "max_tokens", "response_format"}
    known |= {"logprobs", "top_logprobs"}
    if content_type != "application/json":
        return f"content type {content_type}"
    if unknown := set(request) - known:
        return f"unknown parameters {sorted(unknown)}"
    if not isinstance(request.get("model"), str) or request.get("temperature") != 0:
        return "model or temperature"
    for message in request["messages"]:
        if message["role"] not in ("system", "user"):
            return f"role {message['role']}"
        content = message["content"]
        for part in [] if isinstance(content, str) else content:
            if part["type"] == "image_url":
                head, _, data = part["image_url"]["url"].partition(",")
                if head != "data:image/jpeg;base64" or base64.b64decode(data)[:2] != b"\xff\xd8":
                    return "an image is no JPEG"
            elif part["type"] != "text" or not isinstance(part["text"], str):
                return f"part {part['type']}"
    form = request.get("response_format")
    if form is not None and form["type"] != "json_object":
        schema = form["json_schema"]
        if form["type"] != "json_schema" or schema["strict"] is not True:
            return "response_format"
        if schema["schema"]["additionalProperties"] is not False:
            return "'additionalProperties' is required to be supplied and to be false"
    return ""


@contextmanager
def model_server(answer: Answer = shared_words) -> Iterator[ModelServer]:
    """Run a server for a while."""
    server = ModelServer(answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
