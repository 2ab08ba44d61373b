"""A crowd over HTTP: raters of several types, each on a connection of their own."""

from __future__ import annotations

import asyncio
import html
import json
import random
import re
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from urllib.parse import urlsplit

Score = Callable[[str, random.Random], float]


def run(work: Coroutine[None, None, Heard]) -> Heard:
    """Run a coroutine on a thread of its own: a browser test leaves its loop on the main one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


class Line:
    """A browser's connection: cookies are kept, and broken connections are opened anew."""

    def __init__(self, url: str) -> None:
        self.url = urlsplit(url)
        self.cookies: dict[str, str] = {}
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def request(self, method: str, path: str, body: bytes = b"", **headers: str):
        """Give status, headers and body."""
        head = [f"{method} {path} HTTP/1.1", f"host: {self.url.netloc}", "accept: text/html"]
        head += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        head.append(f"content-length: {len(body)}")
        if self.cookies:
            head.append("cookie: " + "; ".join(f"{k}={v}" for k, v in self.cookies.items()))
        try:
            if self.streams is None:
                self.streams = await asyncio.open_connection(self.url.hostname, self.url.port)
            reader, writer = self.streams
            writer.write("\r\n".join([*head, "", ""]).encode() + body)
            await writer.drain()
            return await self._answer(reader)
        except (OSError, asyncio.IncompleteReadError):
            self.close()
            raise ConnectionError from None

    async def _answer(self, reader):
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(": ")
            if name == "set-cookie":
                cookie, _, content = value.partition(";")[0].partition("=")
                self.cookies[cookie] = content
            headers[name] = value
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        return int(lines[0].split()[1]), headers, body.decode()

    async def go(self, method: str, path: str, body: bytes = b"", **headers: str):
        """Follow redirects, and try again while there is no server."""
        while True:
            try:
                status, received, text = await self.request(method, path, body, **headers)
            except ConnectionError:
                await asyncio.sleep(0.1)
                continue
            if status != 303:
                return status, path, text
            method, path, body, headers = "GET", received["location"], b"", {}

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None


@dataclass
class Heard:
    """What the crowd was told: acknowledged answers, and how long each took."""

    answers: dict[tuple[str, int, int], float] = field(default_factory=dict)
    assignments: dict[int, set[str]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    codes: dict[str, str] = field(default_factory=dict)

    def percentile(self, share: float) -> float:
        return sorted(self.seconds)[int(share * len(self.seconds))]


def score_by_type(quality: Mapping[str, float]) -> dict[str, Score]:
    """Give how types of raters score a caption they read; all know only its text."""
    return {
        "diligent": lambda text, rng: quality[text] + rng.gauss(0, 5),
        "noisy": lambda text, rng: quality[text] + rng.gauss(0, 25),
        "careless": lambda text, rng: quality[text] if rng.random() < 0.5 else rng.uniform(0, 100),
        "random": lambda text, rng: rng.uniform(0, 100),
        "constant": lambda text, rng: 50,
    }


async def rate(name: str, link: str, score: Score, heard: Heard, pause: float) -> None:
    """Do one HIT from the link to the code, and send every fifth answer twice."""
    rng = random.Random(name)
    line = Line(link)
    form = {"content_type": "application/x-www-form-urlencoded"}
    path = urlsplit(link).path
    _, _, text = await line.go("GET", path)
    proof = re.search(r'name="proof" value="([^"]+)"', text)[1]
    await line.go("POST", path, f"proof={proof}".encode(), **form)
    _, at, text = await line.go("POST", "/c/crowd/instructions", f"proof={proof}".encode(), **form)
    while "/task/" in at:
        assignment = int(re.search(r'data-assignment="(\d+)"', text)[1])
        heard.assignments.setdefault(assignment, set()).add(name)
        caption = html.unescape(re.search(r"<blockquote[^>]*>(.*?)</blockquote>", text, re.S)[1])
        task = int(at.rpartition("/")[2])
        given = min(100, max(0, round(score(caption, rng))))
        if pause:
            await asyncio.sleep(rng.expovariate(1 / pause))
        now = time.time()
        sent = {"assignment": assignment, "task": task, "answer": {"adequacy": [given]}}
        body = json.dumps(sent | {"started": now - 5, "submitted": now}).encode()
        headers = {"content_type": "application/json", "x_form_proof": proof}
        for _ in range(2 if rng.random() < 0.2 else 1):
            begin = time.perf_counter()
            status, _, reply = await line.go("POST", "/c/crowd/answers", body, **headers)
            assert status == 200, reply
            heard.seconds.append(time.perf_counter() - begin)
            heard.answers[name, assignment, task] = given
        _, at, text = await line.go("GET", f"/c/crowd/{json.loads(reply)['next']}")
    heard.codes[name] = re.search(r'class="code">([^<]+)<', text)[1]
    line.close()


async def rate_all(
    links: Mapping[str, str], scores: dict[str, Score], pause: float, heard: Heard
) -> Heard:
    """Let all raters work at once, and note what they hear."""
    types = list(scores)
    async with asyncio.TaskGroup() as group:
        for k, (name, link) in enumerate(links.items()):
            group.create_task(rate(name, link, scores[types[k % len(types)]], heard, pause))
    return heard
