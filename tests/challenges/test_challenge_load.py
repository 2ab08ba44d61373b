"""A challenge's server under load: many requests at once, hostile files, little memory."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import lzma
import stat
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from sqlalchemy import func, select

from reelscore.challenges.challenge import DAY, Challenges
from reelscore.challenges.people.teams import add_team
from reelscore.challenges.people.tokens import make_token
from reelscore.challenges.queue.processes import resident
from reelscore.challenges.store import tables
from reelscore.challenges.updates import make_challenge
from reelscore.web.store.accounts import add_account
from reelscore.web.store.schema import open_database
from support.challenge_data import START, captions, new_challenge
from support.challenge_server import At, Participant, Program, challenge_app, on_both
from support.server import PASSWORD, free_port, serve, serve_apart

SUBMISSIONS = "/api/v1/challenges/dogs/phases/main/submissions"
CLOSES = START + 10 * DAY


def member_token(where, name="pat", team="Ours"):
    """Make somebody with a team; give their token."""
    with open_database(where) as database:
        challenges = Challenges(database)
        account = add_account(database, name, PASSWORD, "participant")
        add_team(challenges.find(), team, account=account.id)
        return make_token(challenges, account.id, "", ["read", "submit"])


def client(url, token):
    headers = {"authorization": f"Bearer {token}"}
    return httpx.Client(base_url=url, headers=headers, timeout=180, verify=False)


@on_both
def test_fifty_posts_at_once_for_the_last_unit(mostly_sqlite, tmp_path):
    challenges = new_challenge(mostly_sqlite, tmp_path, limits="per_day = 1, total = 20")
    challenges.database.close()
    token, barrier = member_token(mostly_sqlite), threading.Barrier(50)

    def post(number):
        with client(served.url, token) as program:
            barrier.wait()
            files = {"file": ("run.json", captions(number))}
            answer = program.post(SUBMISSIONS, files=files)
            return answer.status_code, answer.headers.get("x-quota-day-left")

    with serve(mostly_sqlite, clock=At()) as served, ThreadPoolExecutor(50) as threads:
        answers = list(threads.map(post, range(50)))
        with served.site.database.reading() as connection:
            charges = connection.execute(select(func.count(tables.charge.c.key))).scalar_one()
            kept = connection.execute(select(func.count(tables.submission.c.key))).scalar_one()
    assert answers.count((201, "0")) == 1
    assert {status for status, _ in answers} <= {201, 429, 503}  # 503: its turn did not come
    assert (charges, kept) == (1, 1)
    print(f"{kept} of {len(answers)} requests for the last unit was accepted")


@pytest.fixture
def clock():
    return At()


@pytest.fixture
def program(tmp_path, clock):
    with challenge_app(tmp_path, clock, limits="per_day = 1, total = 20") as app:
        visitor = Participant(app)
        visitor.register("pat")
        visitor.make_team("Ours")
        yield Program(app, "pat", "read", "submit")


def test_days_change_at_midnight_to_the_microsecond(program, clock):
    clock.moment = START + DAY - 1
    assert program.submit(captions(1)).status_code == 201
    refused = program.submit(captions(2))
    assert (refused.status_code, refused.json()["reason"]) == (429, "quota")
    assert refused.headers["x-quota-day-left"] == "0"
    left = program.get("/api/v1/challenges/dogs/phases/main/quota").json()
    assert left["resets"] == "2026-06-02T00:00:00.000000Z"
    clock.moment += 1
    assert program.submit(captions(2)).status_code == 201


def test_who_began_before_the_close_is_in_time(program, clock, monkeypatch):
    """The moment counts at which a request's headers came, not that at which its file was read."""
    readers = program.app.state.challenges.readers
    read = readers.read

    def slow(*arguments):
        clock.moment += 5_000_000
        return read(*arguments)

    monkeypatch.setattr(readers, "read", slow)
    clock.moment = CLOSES - 1
    assert program.submit(captions(1)).status_code == 201
    clock.moment = CLOSES
    refused = program.submit(captions(2))
    assert (refused.status_code, refused.json()["reason"]) == (409, "closed")


# Hostile files


def zipped(*members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


def link(name):
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def hostile(size):
    """Give files that attack by their size, by what they hold, and by what they pretend to be."""
    good = json.loads(captions())
    blank = b" " * (4 * size)
    locked = bytearray(zipped(("a.json", captions())))
    for magic, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(magic) + place] |= 1
    records = b"".join(b'{"id": "u%d", "caption": "a"}\n' % k for k in range(size // 30))
    return {
        "zip bomb": zipped(("a.json", blank)),
        "many members": zipped(*((f"{k}.json", b" " * (size // 20)) for k in range(99))),
        "nested": zipped(("a.zip", zipped(("b.zip", zipped(("c.json", blank)))))),
        "gzip bomb": gzip.compress(blank),
        "xz bomb": lzma.compress(blank, preset=0),
        "paths": zipped(("../../x.json", b'{"v1": "a"}'), ("/etc/passwd", b"x")),
        "link": zipped((link("a.json"), b"/etc/passwd")),
        "encrypted": bytes(locked),
        "deep": b'{"v1": ' + b"[" * min(size, 10**6),
        "digits": b'{"v1": ' + b"9" * size + b"}",
        "long key": json.dumps({"x" * size: "a", **good}).encode(),
        "unknown ids": records,
        "the same id": b'{"id": "v1", "caption": "a"}\n' * (size // 30),
        "long caption": json.dumps({**good, "v1": "dog " * (size // 4)}).encode(),
        "no numbers": b'{"v1": NaN, "v2": Infinity}',
        "NUL": json.dumps({**good, "v1": "a\0b"}).encode(),
        "surrogate": json.dumps({**good, "v1": "\ud800"}).encode(),
        "not text": bytes(range(256)) * (size // 256),
        "empty": b"",
    }


class Watch:
    """The most memory that a server and the processes it has started took at a time."""

    def __init__(self, pid):
        self.server = self.reader = 0
        self._pid, self._stop = pid, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _look(self):
        while not self._stop.wait(0.02):
            self.server = max(self.server, resident(self._pid))
            for child in children(self._pid):
                self.reader = max(self.reader, resident(child))


def children(parent):
    """Give the processes that any thread of a process has started."""
    for place in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            if int(place.read_text().rpartition(")")[2].split()[1]) == parent:
                yield int(place.parent.name)


@contextmanager
def watched_server(folder):
    """Serve a challenge by the command, in a process of its own; give its address and its watch."""
    where = str(folder / "dogs.db")
    challenges = new_challenge(where, folder, limits="total = 20")
    challenges.database.close()
    definition = (folder / "dogs.toml").read_text().replace("closes = 2026", "closes = 2999")
    (folder / "dogs.toml").write_text(definition)

    with open_database(where) as database:
        make_challenge(Challenges(database), folder / "dogs.toml")
    tokens = [member_token(where, f"m{k}", f"Team {k}") for k in range(3)]
    port = free_port()
    with (
        serve_apart(where, port, "--scorers", "0") as process,
        Watch(process.pid) as watch,
    ):
        yield f"http://127.0.0.1:{port}", tokens, watch
    with open_database(where) as database, database.reading() as connection:
        assert connection.execute(select(func.count(tables.charge.c.key))).scalar_one() == 0


def test_hostile_files_are_refused_in_little_memory(tmp_path, full):
    size, many = (20 << 20, 1000) if full else (2 << 20, 40)
    with watched_server(tmp_path) as (url, tokens, watch):
        with client(url, tokens[0]) as program:
            for what, content in hostile(size).items():
                answer = program.post(SUBMISSIONS, files={"file": ("run.json", content)})
                assert answer.status_code == 422, (what, answer.text)
                assert len(answer.content) < 8000, what
                assert answer.headers["x-quota-left"] == "20", what
            large = {"file": ("run.json", b" " * (66 << 20))}
            assert program.post(SUBMISSIONS, files=large).status_code == 413
            file = {"file": ("../\x1b[2J=HYPERLINK('x').json", b"{}")}
            assert program.post(SUBMISSIONS, files=file).status_code == 422
        content = b'{"v1": "a", "v2": "' + b"x" * (900 << 10) + b'"}'

        def send(number):
            with client(url, tokens[1 + number % 2]) as program:
                answer = program.post(SUBMISSIONS, files={"file": ("run.json", content)})
                return answer.status_code

        with ThreadPoolExecutor(min(many, 200)) as threads:
            # refused for what they hold, for being too many, or since their turn did not come
            assert set(threads.map(send, range(many))) <= {422, 429, 503}
        assert httpx.get(f"{url}/health").json()["status"] == "ok"
    print(f"server {watch.server / 1e6:.0f} MB, a reader {watch.reader / 1e6:.0f} MB")
    assert 50e6 < watch.server < 500e6
    assert 20e6 < watch.reader < 2 << 30
