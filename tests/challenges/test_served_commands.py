"""The commands of participants against a server: log in, hand in, look."""

from __future__ import annotations

import csv
import json
import stat
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from reelscore.challenges.exchange import remote
from reelscore.challenges.people.teams import add_team
from reelscore.challenges.people.tokens import make_token
from reelscore.challenges.submissions import Upload, hand_in
from reelscore.cli.main import main
from reelscore.errors import DataError, EndpointError
from reelscore.web.store.accounts import add_account
from support.challenge_data import SECOND, START, captions, new_challenge
from support.server import PASSWORD, free_port, serve

DAY = 86400 * SECOND


class At:
    moment = START + SECOND

    def __call__(self):
        return self.moment / 1e6


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands")
    challenges = new_challenge(folder / "dogs.db", folder, limits="per_day = 1")
    challenges.database.close()
    with serve(str(folder / "dogs.db"), clock=At(), scorers=1) as served:
        challenges = served.app.state.challenges.challenges
        account = add_account(served.site.database, "pat", PASSWORD, "participant")
        add_team(challenges.find(), "Ours", account=account.id)
        served.token = make_token(challenges, account.id, "laptop", ["read", "submit"])
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


@pytest.fixture
def challenge(folder, monkeypatch, capsys):
    """Run a command; gives its exit status and what it prints."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["reelscore", "challenge", *words])
        status = 0
        try:
            main()
        except SystemExit as ended:
            status = ended.code or 0
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def noon():
    """Let it be the first day of the phase, and again afterwards."""
    At.moment = START + SECOND
    yield At
    At.moment = START + SECOND


def test_from_login_to_scores(served, noon, challenge, monkeypatch):
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
    status, out, err = challenge(*submit, "good.json", "--wait", "--json", "-", "--method", "ours")
    answer = json.loads(out)
    assert (status, answer["state"]) == (0, "scored")
    assert "left today 0, in all without limit" in err
    assert set(answer["scores"]["test"]) == {"cider", "rouge_l"}
    assert f"{answer['id']}  Ours, main 1: scored" in challenge("submissions")[1]
    assert challenge(*submit, "other.json")[0] == 3  # no quota
    noon.moment = START + 20 * DAY
    status, _, err = challenge(*submit, "other.json")
    assert (status, "closed at" in err) == (4, True)
    remote.login_file().unlink()
    status, _, err = challenge(*submit, "other.json")
    assert (status, "Log in first" in err) == (2, True)


def test_a_file_is_checked_by_the_server(served, noon, challenge, monkeypatch):
    monkeypatch.setenv("REELSCORE_TOKEN", served.token)
    check = ("check", "--phase", "main", "--server", served.url)
    assert challenge(*check, "good.json") == (0, "", "good.json can be scored.\n")
    status, _, err = challenge(*check, "bad.json")
    assert (status, "bad.json: entry 1: item 'v1': the caption is empty." in err) == (2, True)
    assert challenge("submissions", "--server", served.url, "--json", "-")[1].count('"id"') <= 1
    noon.moment = START - DAY
    status, _, err = challenge(*check, "good.json")
    assert (status, "The phase opens at 2026-06-01" in err) == (4, True)
    status, _, err = challenge(*check, "good.json", "--database", "dogs.db")
    assert (status, "Choose one of --server, --database" in err) == (2, True)


def test_boards_of_a_server_are_for_everybody(served, noon, challenge, folder):
    own = served.app.state.challenges.challenges.find()
    team = add_team(own, "Theirs")
    hand_in(own, served.app.state.challenges.readers, "main", team, Upload("run.json", captions(3)))
    board = ("leaderboard", "--server", served.url)
    for _ in range(1000):
        if "Theirs" in challenge(*board)[1]:
            break
        time.sleep(0.05)
    status, out, _ = challenge(*board, "-o", "-.csv", "--json", "board.json", "-o", "board.tex")
    row = next(row for row in csv.DictReader(out.splitlines()) if row["team"] == "Theirs")
    data = json.loads((folder / "board.json").read_text())
    [same] = [each for each in data["rows"] if each["team"] == "Theirs"]
    assert (status, float(row["cider"])) == (0, same["scores"]["cider"]["value"])
    assert r"\begin{tabular}" in (folder / "board.tex").read_text()
    status, _, err = challenge(*board, "--organisers")
    assert (status, "--organisers needs a DATABASE" in err) == (2, True)
    status, _, err = challenge("leaderboard")
    assert (status, "Name a server with --server URL" in err) == (2, True)


def test_errors_say_what_to_do(served, noon, challenge, monkeypatch):
    here = ("--server", served.url)
    monkeypatch.setenv("REELSCORE_TOKEN", served.token)
    for command in (("submissions",), ("leaderboard",), ("check", "good.json", "--phase", "main")):
        status, _, err = challenge(*command, *here, "--challenge", "dosg")
        assert (status, "Did you mean 'dogs'?" in err) == (2, True), command
    for command in ("check", "submit"):
        status, _, err = challenge(command, "good.json", "--phase", "mian", *here)
        assert (status, "Unknown phase 'mian'. Did you mean 'main'?" in err) == (2, True)
    status, _, err = challenge("leaderboard", *here, "--board", "tset")
    assert (status, "Did you mean 'test'?" in err) == (2, True)
    noon.moment = START + 200 * DAY
    status, _, err = challenge("submissions", *here)
    assert status == 2
    assert "The token has expired; make a new one on the page Team." in err
    assert f"Then run: reelscore challenge login {served.url}" in err
    noon.moment = START + SECOND
    page = f"{served.url}/static"  # answers, but with other things
    status, _, err = challenge("leaderboard", "--server", page)
    assert (status, "not as a server of challenges does" in err) == (2, True)


def test_a_server_that_does_not_answer_is_named(challenge, monkeypatch):
    monkeypatch.setattr(remote, "_TRIES", 2)
    monkeypatch.setattr(remote, "_PAUSE", 0.01)
    here = f"http://127.0.0.1:{free_port()}"
    status, _, err = challenge("leaderboard", "--server", here)
    assert status == 2
    assert "Connection refused; trying again in 0 s." in err
    assert "Is the address right, and does the server run?" in err
    status, _, err = challenge("leaderboard", "--server", "https://challenge.invalid")
    assert (status, "trying again" in err) == (2, False)
    assert "https://challenge.invalid: cannot be reached" in err


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
