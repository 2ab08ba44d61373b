"""Two hundred teams hand in a file each within a minute, while people look at pages.

    python -m benchmarks challenge-load

Files of LSMDC's size, four metrics, 1,000 resamples, over HTTP: once a SQLite file with a server
that scores, once PostgreSQL with a server and four workers. Who has handed in keeps the page of
their submissions open, which asks for its state as often as its script does; others read the
overview, the leaderboard, the data and the form. Everything runs on this machine, those who send
included.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np
from sqlalchemy import func, select

from benchmarks.challenge import DEFINITION, ITEMS, sentences
from benchmarks.measuring import tree_cost
from reelscore.challenges.challenge import Challenges
from reelscore.challenges.people.teams import add_team
from reelscore.challenges.people.tokens import make_token
from reelscore.challenges.store import tables
from reelscore.challenges.updates import make_challenge
from reelscore.web.security import Signer
from reelscore.web.store.accounts import add_account
from reelscore.web.store.schema import open_database

TEAMS = 200
WITHIN = 60.0  # seconds in which all files are sent
VISITS = 4.0  # pages a second that are read beside
PAGES = ("", "/boards/blind", "/data", "/submit", "/mine")
SECRET = "benchmark " * 5
WORKERS = 4
_COMMAND = (sys.executable, "-c", "from reelscore.cli.main import main; main()")


@dataclass
class Member:
    """The only member of a team."""

    token: str
    cookie: str
    file: bytes
    answer: dict[str, object] = field(default_factory=dict)


@dataclass
class Measured:
    """Seconds that answers took, and what else was seen."""

    accepted: list[float] = field(default_factory=list)
    pages: dict[str, list[float]] = field(default_factory=dict)
    failed: Counter[str] = field(default_factory=Counter)
    all_accepted: float = 0.0
    all_scored: float = 0.0


def main() -> None:
    texts = sentences()
    with tempfile.TemporaryDirectory() as folder:
        _report("SQLite, one process that serves and scores", Path(folder), texts, None)
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from support.postgres_server import MissingServer, new_database, postgres_server

    try:
        with tempfile.TemporaryDirectory() as folder, postgres_server(durable=True) as server:
            words = f"PostgreSQL, a server and {WORKERS} workers"
            _report(words, Path(folder), texts, new_database(server))
    except MissingServer as missing:
        print(f"PostgreSQL: {missing}")


def _report(words: str, folder: Path, texts: list[str], url: str | None) -> None:
    where = url or str(folder / "lsmdc.db")
    members = _prepared(where, folder, texts)
    with _running(where, workers=WORKERS if url else 0) as (address, processes):
        before = os.times()
        measured = asyncio.run(_all(address, members))
        after = os.times()
        costs = {name: tree_cost(process.pid) for name, process in processes.items()}
    sent = after.user + after.system - before.user - before.system
    lost, doubled, scored = _checked(where, members)
    print(f"{words}: {TEAMS} files of {ITEMS:,} captions within {WITHIN:g} s")
    print(f"  accepted {len(measured.accepted)}, scored {scored}, lost {lost}, doubled {doubled}")
    print(f"  acknowledged after {_spread(measured.accepted)}")
    print(
        f"  all scored {measured.all_scored:.0f} s after the first was sent, "
        f"{measured.all_scored - measured.all_accepted:.0f} s after the last was acknowledged"
    )
    everything = [seconds for page in measured.pages.values() for seconds in page]
    print(f"  {len(everything):,} pages meanwhile: {_spread(everything)}")
    for page, seconds in sorted(measured.pages.items()):
        print(f"    {page:12} {len(seconds):6,}  {_spread(seconds)}")
    for reason, count in measured.failed.items():
        print(f"  {count} times {reason}")
    parts = ", ".join(f"{name} {cost.cpu:.0f} s" for name, cost in costs.items())
    print(f"  CPU: {parts}; those who send {sent:.0f} s")
    print(f"  memory of the server's own process: at most {costs['server'].peak_mb:.0f} MB")


def _spread(seconds: list[float]) -> str:
    middle, most = np.quantile(seconds, [0.5, 0.95])
    return f"{middle:.3f} s (median), {most:.3f} s (p95), at most {max(seconds):.2f} s"


def _prepared(where: str, folder: Path, texts: list[str]) -> list[Member]:
    """Make the challenge and its teams; accounts have no password that anybody could use."""
    items = [f"clip{k:05}" for k in range(ITEMS)]
    references = {item: [texts[(k * 7) % len(texts)]] for k, item in enumerate(items)}
    (folder / "references.json").write_text(json.dumps(references))
    # with scores on the board, which is made anew after every submission
    (folder / "lsmdc.toml").write_text(DEFINITION.replace('"reveal"', '"full"'))
    signer, members = Signer(SECRET), []
    with open_database(where) as database:
        challenges = Challenges(database)
        make_challenge(challenges, folder / "lsmdc.toml")
        challenge = challenges.find()
        for number in range(TEAMS):
            account = add_account(database, f"member-{number}", SECRET, "participant")
            add_team(challenge, f"Team {number}", account=account.id)
            token = make_token(challenges, account.id, "", ["read", "submit"])
            cookie = signer.sign("session", [account.id, account.sessions, ""])
            captions = [
                {"video_id": item, "caption": texts[(k * 11 + number * 101) % len(texts)]}
                for k, item in enumerate(items)
            ]
            members.append(Member(token, cookie, json.dumps(captions).encode()))
    return members


@contextmanager
def _running(where: str, workers: int) -> Iterator[tuple[str, dict[str, subprocess.Popen[bytes]]]]:
    """Start the server, and the workers where it does not score itself."""
    port = 8765
    environment = {**os.environ, "REELSCORE_SECRET": SECRET}
    scorers = ("--scorers", "0") if workers else ()
    commands = {"server": (*_COMMAND, "serve", where, "--port", str(port), *scorers)}
    for number in range(workers):
        commands[f"worker {number + 1}"] = (
            *_COMMAND,
            "challenge",
            "worker",
            where,
            "--scorers",
            "1",
        )
    address, running = f"http://127.0.0.1:{port}", {}
    with ExitStack() as stack:
        for name, command in commands.items():
            process = subprocess.Popen(
                command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            running[name] = process
            stack.callback(process.wait)
            stack.callback(process.terminate)
        while True:
            try:
                httpx.get(f"{address}/health")
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield address, running


async def _all(address: str, members: list[Member]) -> Measured:
    measured, chance = Measured(), random.Random(7)
    limits = httpx.Limits(max_connections=None)
    begin = time.monotonic()
    async with httpx.AsyncClient(base_url=address, timeout=120, limits=limits) as client:
        readers = asyncio.create_task(_visits(client, members, measured, chance))
        times = [chance.uniform(0, WITHIN) for _ in members]
        await asyncio.gather(
            *(_takes_part(client, member, start, measured, begin)
              for member, start in zip(members, times, strict=True))
        )  # fmt: skip
        measured.all_scored = time.monotonic() - begin
        readers.cancel()
        await asyncio.gather(readers, return_exceptions=True)
    return measured


async def _takes_part(
    client: httpx.AsyncClient, member: Member, start: float, measured: Measured, begin: float
) -> None:
    """Hand a file in, and look at one's page until it is scored."""
    await asyncio.sleep(start)
    sent = time.monotonic()
    answer = await client.post(
        "/api/v1/challenges/lsmdc/phases/blind/submissions",
        files={"file": ("run.json", member.file)},
        headers={"authorization": f"Bearer {member.token}", "idempotency-key": "one"},
    )
    if answer.status_code != 201:
        measured.failed[f"status {answer.status_code} to a file"] += 1
        return
    now = time.monotonic()
    measured.accepted.append(now - sent)
    measured.all_accepted = max(measured.all_accepted, now - begin)
    member.answer = answer.json()
    while True:
        page = await _page(client, member, "/mine/live", measured)
        if 'chip good">scored' in page:
            return
        await asyncio.sleep(float(page.partition('data-every="')[2].partition('"')[0] or 2))


async def _page(client: httpx.AsyncClient, member: Member, path: str, measured: Measured) -> str:
    begin = time.monotonic()
    headers = {"cookie": f"reelscore_session={member.cookie}", "accept": "text/html"}
    try:
        answer = await client.get(f"/challenges/lsmdc{path}", headers=headers)
    except httpx.TransportError:  # the server has just closed an idle connection
        answer = await client.get(f"/challenges/lsmdc{path}", headers=headers)
    measured.pages.setdefault(path or "/", []).append(time.monotonic() - begin)
    if answer.status_code != 200:
        measured.failed[f"status {answer.status_code} to {path or '/'}"] += 1
    return answer.text


async def _visits(
    client: httpx.AsyncClient, members: list[Member], measured: Measured, chance: random.Random
) -> None:
    """Read pages at a steady pace, whether those before are answered or not."""
    async with asyncio.TaskGroup() as group:
        for number in itertools.count():
            member, path = chance.choice(members), PAGES[number % len(PAGES)]
            group.create_task(_page(client, member, path, measured))
            await asyncio.sleep(1 / VISITS)


def _checked(where: str, members: list[Member]) -> tuple[int, int, int]:
    """Give how many acknowledged files are not there, how many are twice, and how many scored."""
    acknowledged = {str(member.answer["id"]) for member in members if member.answer}
    with open_database(where) as database, database.reading() as connection:
        rows = connection.execute(select(tables.submission.c.id, tables.submission.c.team)).all()
        charges = connection.execute(select(func.count(tables.charge.c.key))).scalar_one()
        scored = connection.execute(
            select(func.count(tables.job.c.key)).filter_by(state="scored")
        ).scalar_one()
    kept = {row.id for row in rows}
    doubled = len(rows) - len({row.team for row in rows})
    assert charges == len(rows)
    return len(acknowledged - kept), doubled, scored
