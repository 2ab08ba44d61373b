"""Many questions: each once, journal and resume, interruptions, questions in parallel."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from reelscore.endpoint.chat import Endpoint
from reelscore.endpoint.journal import AnswerRecord, Journal
from reelscore.endpoint.questions import ChatQuestion, Usage, ask_all, chat_request
from reelscore.errors import DataError, EndpointError
from support.model_server import model_server

ROOT = Path(__file__).parents[3]


@pytest.fixture
def server():
    with model_server(lambda request: request["messages"][-1]["content"].upper()) as server:
        yield server


def question(text, **fields):
    return ChatQuestion(chat_request("m", "", text), **fields)


def ask(server, texts, path, check=str, **fields):
    endpoint = Endpoint(server.url, timeout=60.0, pause=lambda seconds: None)
    with Journal(path) as journal:
        questions = [question(text, check=check) for text in texts]
        return ask_all(endpoint, questions, journal, **fields)


def test_equal_questions_are_asked_once(server, tmp_path):
    records = ask(server, ["a", "b", "a"], tmp_path / "j.jsonl")
    assert [record.content for record in records] == ["A", "B", "A"]
    assert len(server.requests) == 2


def test_a_second_run_asks_nothing(server, tmp_path):
    texts, first, second = ["a", "b"], Usage(), Usage()
    before = ask(server, texts, tmp_path / "j.jsonl", usage=first)
    after = ask(server, texts, tmp_path / "j.jsonl", usage=second)
    assert before == after
    assert (first.asked, first.reused, first.tokens_out) == (2, 0, 12)
    assert (second.asked, second.reused, second.tokens_out) == (0, 2, 0)
    assert second.models == {"stand-in-2026-01"}
    assert len(server.requests) == 2


def test_pictures_of_answered_questions_are_not_made(server, tmp_path):
    made = []

    def pictures():
        made.append(1)
        return [b"\xff\xd8picture"]

    server.answer = lambda request: str(len(request["messages"][-1]["content"]))
    asked = ChatQuestion(chat_request("m", "", "?"), pictures, "video 1")
    other = ChatQuestion(chat_request("m", "", "?"), pictures, "video 2")
    endpoint = Endpoint(server.url)
    for _ in range(2):
        with Journal(tmp_path / "j.jsonl") as journal:
            records = ask_all(endpoint, [asked, other], journal)
    assert [record.content for record in records] == ["2", "2"]  # a picture and a text
    assert len(made) == 2


def test_a_failing_server_stops_the_run_and_keeps_what_it_has(server, tmp_path):
    server.faults = [None, None, (401, {}, {})]
    with pytest.raises(EndpointError, match="401"):
        ask(server, "abcdef", tmp_path / "j.jsonl", parallel=1)
    assert len(server.requests) == 2
    ask(server, "abcdef", tmp_path / "j.jsonl")
    assert len(server.requests) == 6


def strict(content):
    if content == "B":
        raise DataError("B is no answer")


def test_answers_that_cannot_be_used(server, tmp_path):
    usage = Usage()
    records = ask(server, "abc", tmp_path / "j.jsonl", strict, usage=usage)
    assert [record.fault for record in records] == ["", "B is no answer", ""]
    assert (usage.asked, usage.again) == (3, 0)  # a greedy model would only say the same again
    # the journal has it for people to see, and the next run asks again
    assert (tmp_path / "j.jsonl").read_text().count("B is no answer") == 1
    ask(server, "abc", tmp_path / "j.jsonl", strict)
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ({"refusal": "I will\nnot"}, "the model refuses: I will not"),
        ({"content": '{"sco', "finish": "length"}, 'cut off after 6 tokens: {"sco'),
        ({"content": None}, "empty"),
    ],
)
def test_refused_and_cut_off_answers(server, tmp_path, message, fault):
    def check(content):
        if not content:
            raise DataError("empty")

    server.faults = [message]
    assert ask(server, "a", tmp_path / "j.jsonl", check)[0].fault == fault


SERVERS = [  # the forms it takes, its status for others, and in which form it is asked
    ({"json_schema"}, 400, "json_schema"),
    ({"json_object", "json_object+schema"}, 500, "json_object+schema"),
    ({"json_object"}, 422, "json_object"),
    (set(), 400, "plain"),
]


def with_schema(text, model="m"):
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    return ChatQuestion(chat_request(model, "", text, schema=schema))


@pytest.mark.parametrize(("takes", "status", "form"), SERVERS, ids=[row[2] for row in SERVERS])
def test_what_a_server_can_do_is_found_out_once(server, tmp_path, takes, status, form):
    server.takes, server.invalid = takes, status
    pauses = []
    endpoint = Endpoint(server.url, timeout=60.0, pause=pauses.append)
    refused = ["json_schema", "json_object+schema", "json_object", "plain"].index(form)
    usage = Usage()
    for texts in (["a", "b", "c"], ["c", "d", "e"]):
        with Journal(tmp_path / "j.jsonl") as journal:
            asked = [with_schema(text) for text in texts]
            records = ask_all(endpoint, asked, journal, usage=usage)
        assert {record.form for record in records} == {form}
    assert len(server.refused) == refused  # by the first question alone; remembered for all others
    assert (len(server.requests), usage.asked, usage.again) == (5, 5, refused)
    assert not pauses
    told = server.requests[0]["messages"][-1]["content"]
    assert ("JSON schema: {" in told) == form.startswith("json_object")


def test_a_server_that_changed_is_asked_anew(server, tmp_path):
    for takes, form in (({"json_object"}, "json_object"), ({"json_schema"}, "json_schema")):
        server.takes = takes
        with Journal(tmp_path / "j.jsonl") as journal:
            [record] = ask_all(Endpoint(server.url), [with_schema(form)], journal)
        assert record.form == form


@pytest.mark.parametrize("images", [None, lambda: [b"\xff\xd8picture"]])
def test_a_server_that_takes_a_question_in_no_form(server, tmp_path, images):
    server.check = lambda request, kind: "image_url is no part of a message"
    asked = [replace(with_schema(text), images=images) for text in "abcdefgh"]
    hint = r" The server may take no pictures\.$" if images else r"parameter of the request\.$"
    with Journal(tmp_path / "j.jsonl") as journal, pytest.raises(EndpointError, match=hint):
        ask_all(Endpoint(server.url), asked, journal)
    assert len(server.keys) == 4  # one question in all forms; the others were not sent


def test_answers_that_were_read_strictly_are_read_anew(server, tmp_path):
    assert ask(server, "ab", tmp_path / "j.jsonl", strict)[1].fault
    records = ask(server, "ab", tmp_path / "j.jsonl")
    assert [(record.content, record.fault) for record in records] == [("A", ""), ("B", "")]
    assert len(server.requests) == 2  # nothing was asked again


def test_no_more_in_flight_than_allowed(server, tmp_path):
    three = threading.Barrier(3, timeout=300)
    server.answer = lambda request: str(three.wait())
    ask(server, map(str, range(12)), tmp_path / "j.jsonl", parallel=3)
    assert server.most_at_once == 3


def test_progress(server, tmp_path):
    seen = []
    ask(server, "ab", tmp_path / "j.jsonl", progress=lambda *step: seen.append(step))
    ask(server, "abc", tmp_path / "j.jsonl", progress=lambda *step: seen.append(step))
    assert seen == [(0, 2), (1, 2), (2, 2), (2, 3), (3, 3)]


def test_a_journal_that_was_cut_off(tmp_path):
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        journal.add(AnswerRecord("k1", "one"))
        journal.add(AnswerRecord("k2", "two"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    with Journal(path) as journal:
        assert journal.cut_off
        assert ("k1" in journal, "k2" in journal) == (True, False)
        journal.add(AnswerRecord("k3", "three"))
    with Journal(path) as journal:
        assert not journal.cut_off
        assert [record.content for record in journal] == ["one", "three"]


def test_a_file_that_is_no_journal(tmp_path):
    path = tmp_path / "captions.json"
    path.write_text('{"v1": "a man"}\n')
    with pytest.raises(DataError, match=r"captions.json:1: not a line of a journal"):
        Journal(path)
    assert path.read_text() == '{"v1": "a man"}\n'
    path.write_bytes(b'{"key": "\xff", "content": ""}\n')
    with pytest.raises(DataError, match=r"captions.json:1: not a line of a journal"):
        Journal(path)
    with pytest.raises(DataError, match="cannot be opened"):
        Journal(tmp_path)


@pytest.mark.parametrize("content", ['{"v1": "a man"}', "a man", '{"content": "", "key": "k1"}'])
def test_a_last_line_of_another_file_is_not_taken_for_one_that_was_cut_off(tmp_path, content):
    path = tmp_path / "captions.json"
    path.write_text(content)  # as json.dump writes it: without a line break
    with pytest.raises(DataError, match=r"captions.json:1: not a line of a journal"):
        Journal(path)
    assert path.read_text() == content


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_one_message(server, tmp_path):
    journal = Journal(tmp_path / "j.jsonl")
    journal._file.close()
    journal._file = Path("/dev/full").open("wb")  # noqa: SIM115 (the journal closes it)
    endpoint = Endpoint(server.url, timeout=60.0)
    with pytest.raises(DataError, match=r"j.jsonl: the journal cannot be written \(No space left"):
        ask_all(endpoint, [question("a")], journal)
    journal.close()


def test_a_journal_begun_anew_keeps_the_old_one(tmp_path):
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        journal.add(AnswerRecord("k1", "one"))
        journal.clear()
        assert "k1" not in journal
        journal.add(AnswerRecord("k2", "two"))
    assert b"one" in (tmp_path / "j.jsonl.old").read_bytes()
    with Journal(path) as journal:
        assert [record.content for record in journal] == ["two"]


def test_a_video_as_one_part():
    asked = ChatQuestion(chat_request("m", "", "?"), lambda: [b"moving"], media="video/mp4")
    [part, _] = json.loads(asked.body())["messages"][0]["content"]
    assert part == {"type": "video_url", "video_url": {"url": "data:video/mp4;base64,bW92aW5n"}}


@pytest.mark.skipif(sys.platform == "win32", reason="no file locks")
def test_two_runs_on_one_journal(tmp_path):
    with Journal(tmp_path / "j.jsonl"), pytest.raises(DataError, match="another run is writing"):
        Journal(tmp_path / "j.jsonl")
    Journal(tmp_path / "j.jsonl").close()


SCRIPT = """
import signal, sys
from pathlib import Path
from reelscore.endpoint.chat import Endpoint
from reelscore.endpoint.journal import Journal
from reelscore.endpoint.questions import ChatQuestion, ask_all, chat_request
questions = [ChatQuestion(chat_request("m", "", f"question {k}")) for k in range(40)]
def stop(*_):
    print("stopping", flush=True)
    raise KeyboardInterrupt
signal.signal(signal.SIGINT, stop)
with Journal(Path(sys.argv[2])) as journal:
    try:
        records = ask_all(Endpoint(sys.argv[1]), questions, journal, parallel=4)
    except KeyboardInterrupt:
        sys.exit(130)
print(len(records))
"""


@contextmanager
def started(server, path):
    """Start a run and wait until 8 questions are answered; the next 4 wait for an event."""
    go_on, all_in_flight, number = threading.Event(), threading.Event(), itertools.count(1)
    answer = server.answer

    def hold(request):
        if (asked := next(number)) == 12:
            all_in_flight.set()
        if asked > 8:
            go_on.wait(300)
        return answer(request)

    server.answer = hold
    command = [sys.executable, "-c", SCRIPT, server.url, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as run:
        assert all_in_flight.wait(300)
        yield run, go_on
    go_on.set()


def finished(server, path):
    """Run to the end; give how many questions were asked in all."""
    subprocess.run([sys.executable, "-c", SCRIPT, server.url, str(path)], check=True)
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert {record["content"] for record in records} == {f"QUESTION {k}" for k in range(40)}
    return len(server.requests)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_run_goes_on(server, tmp_path):
    path = tmp_path / "j.jsonl"
    with started(server, path) as (run, _):
        os.kill(run.pid, signal.SIGKILL)
    assert len(path.read_bytes().splitlines()) == 8
    assert finished(server, path) == 40 + 4  # only what was in flight is asked again


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT")
def test_an_interrupted_run_waits_for_what_is_in_flight(server, tmp_path):
    path = tmp_path / "j.jsonl"
    with started(server, path) as (run, go_on):
        run.send_signal(signal.SIGINT)
        assert run.stdout.readline() == b"stopping\n"
        go_on.set()
        assert run.wait(300) == 130
    assert len(path.read_bytes().splitlines()) < 40
    assert finished(server, path) == 40  # nothing was lost
