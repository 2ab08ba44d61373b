"""The server of the review page: who may ask, what it answers, and what is left after a crash."""

from __future__ import annotations

import contextlib
import io
import json
import re
import signal
import subprocess
import sys
import threading
import wave
from dataclasses import replace
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

import pytest
from fastapi.testclient import TestClient

from reelscore.cli.main import main
from reelscore.corpus.pipeline import SCRIPT_TIMES, SEGMENT
from reelscore.corpus.project_files import Decision, Element, TimedScript, TimedSentence
from reelscore.corpus.review.decisions import append_decision, read_decisions
from reelscore.corpus.review.review_app import Review, create_review_app
from reelscore.corpus.review.reviewed_films import ReviewFilms

TOKEN = "s3cret"
FIRST, SECOND, THIRD = "t00.00.06.000", "t00.00.14.000", "t00.00.24.000"


def client_of(project, **settings):
    review = Review(ReviewFilms(project, ["one", "two"], "ada"), TOKEN, **settings)
    return TestClient(
        create_review_app(review), review.address + "films/one", raise_server_exceptions=False
    )


@pytest.fixture
def client(project):
    with client_of(project) as client:
        yield client


def decide(client, **request):
    version = client.get("state").json()["version"]
    return client.post("decisions", json={"version": version, **request})


def test_only_those_with_the_address_get_in(client, project):
    assert client.get(f"http://127.0.0.1:8765/{TOKEN}/").status_code == 200
    for token in ("other", TOKEN + "x", "static/.."):
        assert client.get(f"http://127.0.0.1:8765/{token}/films/one/state").status_code == 404
    assert client.get("state", headers={"host": "evil.example"}).status_code == 400
    other_site = {"sec-fetch-site": "cross-site"}
    body = {"version": 0, "action": "accept", "target": FIRST}
    assert client.post("decisions", json=body, headers=other_site).status_code == 403
    assert client.get(f"http://127.0.0.1:8765/{TOKEN}/films/..%2F..%2Fx/state").status_code >= 400
    reply = client.get("state")
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert read_decisions(project.folder / "films/one/decisions.jsonl") == []


def test_sounds_and_pictures_come_in_pieces(client):
    state = client.get("state").json()
    assert (state["voices"], state["video"], state["seconds"]) == (
        ["film", "ad", "residual"],
        False,
        40.0,
    )
    for voice in state["voices"]:
        reply = client.get(f"sound/{voice}?start=13.5&end=17")
        with wave.open(io.BytesIO(reply.content)) as sound:
            assert (sound.getnframes(), sound.getframerate()) == (56_000, 16_000)
    assert client.get("sound/ad?start=0&end=61").status_code == 422
    assert client.get("sound/ad?start=5&end=4").status_code == 422
    assert client.get("sound/nobody?start=0&end=1").status_code == 422
    assert client.get("spectrogram?start=0").content[:4] == b"\x89PNG"
    assert client.get("spectrogram?start=nan").status_code == 422
    window = client.get("window?start=0").json()
    assert [len(window["waves"][voice]) for voice in ("film", "ad")] == [600, 600]
    assert window["cues"] == [[10.0, 12.0, "Who is there?"]]
    assert client.get("still?at=3").status_code == 404
    nothing = client.get(f"http://127.0.0.1:8765/{TOKEN}/films/two/window?start=0").json()
    assert nothing["waves"] == {}


def test_words_are_reviewed_without_a_film_that_can_be_read(client, project, tmp_path):
    damaged = tmp_path / "damaged.mp4"
    damaged.write_bytes(b"no film")
    project.change_film("one", film=str(damaged))
    assert len(client.get("state").json()["passages"]) == 4
    reply = client.get("sound/film?start=0&end=1")
    assert (reply.status_code, "cannot be read" in reply.json()["message"]) == (422, True)
    assert decide(client, action="accept", target=FIRST).status_code == 200


def test_refusals_say_why_and_store_nothing(client, project):
    assert (
        "no passage 'nowhere'"
        in decide(client, action="accept", target="nowhere").json()["message"]
    )
    assert decide(client, action="undo").json() == {"message": "There is nothing to undo."}
    for body in ("{", '{"version": 0, "action": "destroy"}', '{"version": 0}'):
        assert client.post("decisions", content=body).status_code == 422
    stale = {"version": 5, "action": "accept", "target": FIRST}
    assert client.post("decisions", json=stale).status_code == 409
    with client_of(project, read_only=True) as reader:
        assert decide(reader, action="accept", target=FIRST).status_code == 403
    assert client.get("state").json()["version"] == 0


def test_what_others_write_is_seen(client, project):
    assert client.get("state").json()["version"] == 0
    file = project.folder / "films/one/decisions.jsonl"
    append_decision(file, Decision("2026-01-01T00:00:00Z", "bob", FIRST, "accept"))
    assert decide(client, action="reject", target=SECOND).json()["version"] == 2
    segments = project.result(SEGMENT, "one")
    project.write(SEGMENT, replace(segments, segments=segments.segments[:1]), "one")
    assert "n00.00.33.000" not in client.get("state").text


def test_sentences_of_scripts_are_as_sure_as_their_scores(client, project):
    element = Element("e7", 1, "description", None, "A car stops.", start=2, end=4, score=0.6)
    sentence = TimedSentence("e7.0", "A car stops.", 2.0, 4.0, "script", "e7")
    for is_accepted in (False, True):
        accepted = replace(element, accepted=is_accepted)
        content = TimedScript(elements=(accepted,), sentences=(sentence,))
        project.write(SCRIPT_TIMES, content, "one")
        passages = {each["id"]: each for each in client.get("state").json()["passages"]}
        assert ("e7.0" in passages) == is_accepted
    assert (passages["e7.0"]["confidence"], passages["e7.0"]["origin"]) == (0.6, "script")


def test_the_report_stands_beside_the_paper(client):
    decide(client, action="reject", target=THIRD, note="sound or music")
    (row,) = client.get("state").json()["report"]
    assert row == {"source": "ad", "lost": pytest.approx(2 / 12, abs=1e-4), "paper": "under 4 %"}


def test_later_steps_use_what_was_decided(client, project, capsys, monkeypatch):
    decide(client, action="reject", target=FIRST, note="introduction or ending")
    decide(client, action="split", target=SECOND, at=16.0)
    decide(client, action="move", target=THIRD, start=23.0, end=25.6)
    decide(client, action="name", target=SECOND, text="Anna")
    decide(client, action="no-name", target=THIRD, text="Rose")
    decide(client, action="name", target=SECOND, text="Rain")
    decide(client, action="undo")
    decide(client, action="new", start=28.0, end=31.0)
    decide(client, action="edit", target="n00.00.28.000", text="Anna leaves with Rose.")
    decide(client, action="accept", target="n00.00.33.000")  # without words: no clip
    decide(client, action="undo")

    def run(*arguments):
        command = ["reelscore", "corpus", *arguments, "--project", str(project.folder)]
        monkeypatch.setattr(sys, "argv", command)
        main()
        return capsys.readouterr()

    run("assemble")
    clips = json.loads((project.folder / "clips.json").read_text())["clips"]
    assert [clip["id"] for clip in clips] == [
        "one_00.00.14.000-00.00.16.000",
        "one_00.00.16.000-00.00.17.000",
        "one_00.00.23.000-00.00.25.600",
        "one_00.00.28.000-00.00.31.000",
    ]
    run("anonymise")
    names = json.loads((project.folder / "names.json").read_text())["films"]["one"]["sentences"]
    texts = {name: sentence["text"] for name, sentence in names.items() if name != FIRST}
    assert texts == {
        SECOND: "Someone opens the door.",
        "t00.00.16.000": "Rain falls.",
        THIRD: "Rose nods.",
        "t00.00.28.000": "Someone leaves with Rose.",
    }
    said = " ".join(run("stats").err.split())
    assert "80% of 5 sentences accepted by people, 20% rejected (introduction or ending 1)" in said
    table = run("transcript", "one", "--template", str(project.folder / "to-do")).err
    assert "5 segments to transcribe" in table  # the drawn one too


def test_a_killed_server_has_kept_what_it_said(project):
    script = "from reelscore.cli.main import main; main()"
    command = [sys.executable, "-c", script, "corpus", "review", "one", "--port", "0"]
    server = subprocess.Popen(
        [*command, "--project", str(project.folder)], stdout=subprocess.PIPE, text=True
    )
    address = urlsplit(re.search(r"http://\S+", server.stdout.readline())[0])
    said, enough = [], threading.Event()

    def decisions():
        """Decide as fast as the server answers, until it is gone."""
        connection = HTTPConnection(address.netloc, timeout=60)
        with contextlib.suppress(HTTPException, OSError):
            for version in range(10_000):
                body = {"version": version, "action": "move", "target": SECOND}
                body |= {"start": 14.0, "end": 17.0 + version / 1000}
                connection.request("POST", f"{address.path}films/one/decisions", json.dumps(body))
                said.append(json.loads(connection.getresponse().read())["changed"][0]["end"])
                if version == 20:
                    enough.set()

    person = threading.Thread(target=decisions)
    person.start()
    try:
        assert enough.wait(60)
    finally:
        server.send_signal(signal.SIGKILL)
        server.wait(60)
        person.join(60)
        server.stdout.close()
    stored = read_decisions(project.folder / "films/one/decisions.jsonl")
    ends = [decision.after["end"] for decision in stored]
    assert ends[: len(said)] == said
    assert len(ends) <= len(said) + 1  # the one under way


def test_refused_starts(project, capsys, monkeypatch):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        where = ["--project", str(project.folder)]
        for arguments, words in (
            ([*where, "--port", port], "choose another with --port"),
            (["three", *where], "Unknown film 'three'"),
        ):
            monkeypatch.setattr(sys, "argv", ["reelscore", "corpus", "review", *arguments])
            with pytest.raises(SystemExit) as end:
                main()
            assert end.value.code == 2
            assert words in capsys.readouterr().err
