"""The commands of participants against a server: log in, hand in, look."""

from __future__ import annotations

import json
import stat
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from reelscore.challenge import remote
from reelscore.challenge.challenges import find_challenge
from reelscore.challenge.teams import add_team
from reelscore.challenge.tokens import make_token
from reelscore.cli.main import main
from reelscore.errors import DataError, EndpointError
from reelscore.web.store.accounts import add_account
from support.challenge_data import SECOND, START, captions, new_arena
from support.server import PASSWORD, serve


class At:
    moment = START + SECOND

    def __call__(self):
        return self.moment / 1e6


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands")
    arena, _ = new_arena(folder / "dogs.db", folder, limits="per_day = 1")
    arena.database.close()
    with serve(str(folder / "dogs.db"), clock=At(), scorers=1) as served:
        arena = served.site.arena
        account = add_account(served.site.database, "pat", PASSWORD, "participant")
        add_team(arena, find_challenge(arena), "Ours", account=account.id)
        served.token = make_token(arena, account.id, "laptop", ["read", "submit"])
        yield served


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("REELSCORE_TOKEN", raising=False)
    for name in ("good", "other"):
        (tmp_path / f"{name}.json").write_bytes(captions(len(name)))
    (tmp_path / "bad.json").write_text('{"v1": ""}')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_from_login_to_scores(served, folder, monkeypatch, capsys):
    def challenge(*words):
        monkeypatch.setattr(sys, "argv", ["reelscore", "challenge", *words])
        status = 0
        try:
            main()
        except SystemExit as ended:
            status = ended.code or 0
        return status, *capsys.readouterr()

    submit = ("submit", "--phase", "main")
    monkeypatch.setenv("REELSCORE_TOKEN", "nonsense")
    status, _, err = challenge("login", served.url)
    assert (status, "There is no such token" in err) == (2, True)
    monkeypatch.setenv("REELSCORE_TOKEN", served.token)
    status, out, err = challenge("login", served.url)
    assert (status, "challenges: dogs" in err, served.token in out + err) == (0, True, False)
    assert stat.S_IMODE(remote.login_file().stat().st_mode) == 0o600
    monkeypatch.delenv("REELSCORE_TOKEN")
    status, _, err = challenge(*submit, "bad.json")
    assert status == 2
    assert "bad.json: entry 1: item 'v1': the caption is empty." in err
    status, out, err = challenge(*submit, "good.json", "--wait", "--json", "--method", "ours")
    answer = json.loads(out)
    assert (status, answer["state"]) == (0, "scored")
    assert "left today 0, in all without limit" in err
    assert set(answer["scores"]["test"]) == {"cider", "rouge_l"}
    assert f"{answer['id']}  Ours, main 1: scored" in challenge("submissions")[1]
    assert challenge(*submit, "other.json")[0] == 3  # no quota
    At.moment = START + 20 * 86400 * SECOND
    status, _, err = challenge(*submit, "other.json")
    assert (status, "closed at" in err) == (4, True)
    remote.login_file().unlink()
    status, _, err = challenge(*submit, "other.json")
    assert (status, "Log in first" in err) == (2, True)


def test_the_token_is_read_by_nobody_else_and_sent_nowhere_else(folder, monkeypatch):
    file = remote.keep_login("https://challenge.example", "secret")
    with pytest.raises(DataError, match="Log in first"):
        remote.known_server("https://other.example")
    assert remote.known_server().token == "secret"
    monkeypatch.setenv("REELSCORE_TOKEN", "of the environment")
    assert remote.known_server().token == "of the environment"
    file.chmod(0o644)
    with pytest.raises(DataError, match="chmod 600"):
        remote.known_server()
    with pytest.raises(DataError, match="unencrypted"):
        remote.checked_address("http://challenge.example")


class Flaky(BaseHTTPRequestHandler):
    """Is busy twice, then takes the file."""

    keys: list[str] = []  # noqa: RUF012

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.keys.append(self.headers["idempotency-key"])
        busy = len(self.keys) < 3
        body = b'{"message": "busy"}' if busy else b'{"id": "a"}'
        self.send_response(503 if busy else 201)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_what_does_not_arrive_is_sent_again_with_the_same_key(folder):
    with HTTPServer(("127.0.0.1", 0), Flaky) as flaky:
        threading.Thread(target=flaky.serve_forever, daemon=True).start()
        pauses = []
        url = f"http://127.0.0.1:{flaky.server_port}"
        server = remote.Server(url, "secret", pauses.append)
        assert server.submit("dogs", "main", folder / "good.json", {}) == {"id": "a"}
        assert len(Flaky.keys) == 3
        assert len(set(Flaky.keys)) == 1
        assert pauses == [2, 4]
        flaky.shutdown()
    with pytest.raises(EndpointError, match="no answer after 5 tries"):
        server.get("/challenges")
