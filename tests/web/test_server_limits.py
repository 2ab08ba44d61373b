"""How long requests may take to come, and what a server believes and says when it starts."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import time

import httpx
import pytest
from sqlalchemy import insert

from reelscore.challenges.store.tables import worker
from reelscore.web import limits, requests
from support.server import free_port, serve, small_campaign, wait_for
from support.visits import Visitor, app_over
from web.test_serving import PATIENCE, refused, start

HEAD = "POST /organise/login HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n"
HEAD += "content-type: application/x-www-form-urlencoded\r\n\r\n"


@pytest.fixture
def served(tmp_path, monkeypatch):
    small_campaign(tmp_path / "dogs.db")
    with serve(str(tmp_path / "dogs.db")) as running:
        monkeypatch.setattr(limits, "HEADERS", 0.3)
        monkeypatch.setattr(requests, "SILENCE", 0.3)
        yield running


def answer_to(served, *parts):
    """Send parts of a request with pauses, and give all that comes back until it is closed."""
    host, _, port = served.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        for part in parts:
            with contextlib.suppress(BrokenPipeError):  # closed already
                connection.sendall(part.encode())
            time.sleep(0.15)
        received = b""
        while block := connection.recv(65536):
            received += block
    return received.decode()


@pytest.mark.parametrize(
    "parts", [(), ("POST /organise/login HTTP/1.1\r\nhost: 127",), ("G", "E", "T", " ", "/")]
)
def test_headers_that_do_not_come(served, parts):
    assert answer_to(served, *parts) == ""
    after = ("GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n", "GET /health HT")
    assert answer_to(served, *after).count("HTTP/1.1 200") == 1


@pytest.mark.parametrize("body", [(), ("name", "=")])
def test_a_body_that_does_not_come(served, body):
    answer = answer_to(served, HEAD, *body)
    assert answer.startswith("HTTP/1.1 408")
    assert "came too slowly" in answer


def test_what_comes_in_time_is_answered(served, monkeypatch):
    monkeypatch.setattr(requests, "SILENCE", 5.0)
    status = answer_to(served, HEAD, "name=a", "&b=").splitlines()[0]
    assert status.startswith("HTTP/1.1 4")
    assert "408" not in status
    assert httpx.get(f"{served.url}/health").status_code == 200


def test_without_a_proxy_nobody_says_who_they_are(tmp_path):
    small_campaign(tmp_path / "dogs.db")
    port = free_port()
    process = start("serve", str(tmp_path / "dogs.db"), "--port", str(port))
    try:
        wait_for(f"http://127.0.0.1:{port}/health")
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client:
            forged = [{"x-forwarded-for": f"10.0.0.{k}"} for k in range(12)]
            statuses = [client.get("/r/guess", headers=each).status_code for each in forged]
        assert statuses == [404] * 10 + [429] * 2
        # a second server there says one sentence, and no address
        second = start("serve", str(tmp_path / "dogs.db"), "--port", str(port))
        said, errors = second.communicate(timeout=PATIENCE)
        assert (said, second.returncode) == ("", 2)
        assert errors.count("\n") == 1
        assert f"127.0.0.1:{port}: cannot listen there" in errors
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)


def test_a_second_server_that_scores_says_one_sentence(tmp_path):
    database = str(tmp_path / "dogs.db")
    small_campaign(database)
    ports = free_port(), free_port()
    command = ("serve", database, "--scorers", "1", "--port")
    process = start(*command, str(ports[0]))
    try:
        wait_for(f"http://127.0.0.1:{ports[0]}/health")
        errors = refused(*command, str(ports[1]))
        assert "another process serves or scores it" in errors
        assert "Traceback" not in errors
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)


def test_killed_scorers_are_not_counted(tmp_path):
    app = app_over(tmp_path)
    gone = subprocess.Popen(["true"])
    gone.wait(PATIENCE)
    now = round(time.time() * 1e6)
    with app.state.site.database.writing() as connection:
        for name in (f"{socket.gethostname()}-{gone.pid}-abc", "elsewhere-1-abc"):
            values = {"id": name, "version": "", "capabilities": "", "scorers": 4, "seen": now}
            connection.execute(insert(worker).values(**values))
    assert Visitor(app).get("/health").json()["scorers"] == 4


def test_true_is_no_score(tmp_path):
    rater = Visitor(app_over(tmp_path))
    rater.begin()
    assert rater.answer(1, score=True).status_code == 422
    assert rater.answer(1, score=1).json()["new"]
