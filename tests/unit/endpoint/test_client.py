"""Requests to a model's server: retries, refusals, and the key that nobody sees."""

from __future__ import annotations

import json
import re
import time
from email.utils import formatdate

import pytest

from reelscore.endpoint.chat import Endpoint
from reelscore.endpoint.http import InvalidRequestError
from reelscore.endpoint.questions import chat_request
from reelscore.errors import DataError, EndpointError
from support.model_server import model_server

KEY = "sk-very-secret-123"
ASKED = json.dumps(chat_request("m", "", 'References:\n- "a man runs"\n\n"a man sits"')).encode()


@pytest.fixture
def server():
    with model_server() as server:
        yield server


def endpoint(server, **fields):
    pauses = []
    made = Endpoint(server.url, **{"timeout": 60.0, "pause": pauses.append, **fields})
    return made, pauses


def test_an_answer(server):
    reply = endpoint(server, key=KEY)[0].chat(ASKED)
    assert json.loads(reply.content) == {"score": 67}
    assert (reply.model, reply.fingerprint, reply.finish) == ("stand-in-2026-01", "fp_1", "stop")
    assert reply.tokens_in > 10
    assert reply.tokens_out == 6
    assert reply.tries == 1
    assert server.keys == [f"Bearer {KEY}"]


def test_what_a_server_does_not_know_may_be_null(server):
    choice = {"message": {"content": "yes", "refusal": None}, "finish_reason": None}
    usage = {"prompt_tokens": None, "completion_tokens": None}
    answer = {"model": None, "system_fingerprint": None, "choices": [choice], "usage": usage}
    server.faults = [(200, answer, {})]
    reply = endpoint(server)[0].chat(ASKED)
    assert (reply.content, reply.model, reply.tries) == ("yes", "", 1)
    assert (reply.tokens_in, reply.tokens_out) == (0, 0)


PASSING = [
    (429, {}, {}, "too many requests"),
    (500, {}, {}, "an error inside"),
    (500, {"error": {"message": "it crashed", "type": "server_error"}}, {}, "it crashed"),
    (503, {"error": {"message": "overloaded"}}, {}, "overloaded"),
    (408, {}, {}, "the server's timeout"),
]


@pytest.mark.parametrize(
    "fault",
    [*[each[:3] for each in PASSING], "drop", "garbage", "not-utf-8", "cut", "no-choices"],
    ids=str,
)
def test_passing_faults_are_tried_again(server, fault):
    server.faults = [fault, fault]
    asking, pauses = endpoint(server)
    assert asking.chat(ASKED).tries == 3
    assert len(pauses) == 2
    assert 0.5 <= pauses[0] <= 1.0 <= pauses[1] <= 2.0  # twice as long, with chance


def test_a_timeout_is_tried_again(server):
    server.faults = ["slow"]
    assert endpoint(server, timeout=0.5)[0].chat(ASKED).tries >= 2  # more if the machine is busy


def test_the_server_says_how_long_to_wait(server):
    date = formatdate(time.time() + 30, usegmt=True)
    server.faults = [
        (429, {}, {"Retry-After": "7"}),
        (429, {}, {"Retry-After": date}),
        (429, {}, {"Retry-After": "86400"}),
        (429, {}, {"Retry-After": "soon"}),
    ]
    asking, pauses = endpoint(server)
    asking.chat(ASKED)
    assert pauses[0] == 7
    assert 20 < pauses[1] <= 30
    assert pauses[2] == 60  # no longer than a minute
    assert 4 <= pauses[3] <= 8  # what cannot be read counts as nothing


def test_tries_come_to_an_end(server):
    server.faults = [(503, {"error": {"message": "over\x1bloaded"}}, {})] * 9
    with pytest.raises(EndpointError) as caught:
        endpoint(server, tries=3)[0].chat(ASKED)
    assert str(caught.value) == (
        f"{server.url}: no answer after 3 tries; the last: 503 from the server: over\\x1bloaded."
    )
    assert len(server.keys) == 3


def test_an_error_under_status_200(server):
    server.faults = [(200, {"error": {"message": "quota exceeded", "code": 429}}, {})] * 2
    with pytest.raises(EndpointError, match=r"is no chat completion \(quota exceeded\)\.$"):
        endpoint(server, tries=2)[0].chat(ASKED)


def test_no_server():
    with pytest.raises(EndpointError, match=r"after 1 try; the last: the connection failed"):
        Endpoint("http://127.0.0.1:9/v1", tries=1).chat(ASKED)


REFUSED = [
    ((401, {"error": {"message": f"Incorrect API key provided: {KEY}."}}, {}), "[key]"),
    ((401, {"error": {"message": f"{'x' * 195}{KEY}"}}, {}), "x[key]"),  # not its beginning either
    ((307, {}, {"Location": f"http://other.example/{KEY}"}), "http://other.example/[key]"),
    ((401, {}, {}), "Set REELSCORE_API_KEY"),
    ((403, {"detail": "no"}, {}), "403 from the server: no"),
    ((404, {"error": {"message": "no such model"}}, {}), "no such model"),
    ((400, {"error": {"message": "m" * 1000}}, {}), "mmm…"),
    ((307, {}, {"Location": "http://127.0.0.2:1/v1?x=1"}), "sends us to http://127.0.0.2/v1;"),
]


@pytest.mark.parametrize(("fault", "told"), REFUSED, ids=[str(each[0][0]) for each in REFUSED])
def test_refusals_stop_at_once(server, fault, told):
    server.faults = [fault]
    asking, pauses = endpoint(server, key=KEY)
    with pytest.raises(EndpointError) as caught:
        asking.chat(ASKED)
    assert told in str(caught.value)
    assert KEY not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert not pauses
    assert len(server.keys) == 1


@pytest.mark.parametrize("status", [400, 422, 500])
def test_an_invalid_request_is_not_sent_again(server, status):
    messages = [
        "[{'type': 'literal_error', 'msg': \"Input should be 'text' or 'json_object'\"}]",
        'can only concatenate str (not "list") to str',  # pictures, to a model that sees none
    ]
    for told in messages:
        server.faults, server.keys = [(status, {"error": {"message": told}}, {})], []
        asking, pauses = endpoint(server)
        with pytest.raises(InvalidRequestError, match=re.escape(told[:20])):
            asking.chat(ASKED)
        assert (len(server.keys), pauses) == (1, [])


def test_the_key_is_in_no_representation(server, monkeypatch):
    monkeypatch.setenv("REELSCORE_API_KEY", KEY)
    asking = Endpoint.from_environment(server.url)
    assert asking.key == KEY
    assert KEY not in repr(asking)
    server.answer = lambda request: f'{{"key": "{KEY}"}}'
    server.model = server.fingerprint = server.finish = f"Bearer {KEY}"
    reply = asking.chat(ASKED)
    assert reply.content == '{"key": "[key]"}'
    assert reply.model == reply.fingerprint == reply.finish == "Bearer [key]"


def test_a_key_with_a_line_break(monkeypatch):
    monkeypatch.setenv("REELSCORE_API_KEY", f"{KEY}\n")
    with pytest.raises(DataError, match="line break") as caught:
        Endpoint.from_environment("http://127.0.0.1/v1")
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["https://me:secret@host/v1", "https://host/v1?key=secret", "https://host/#secret"]
)
def test_addresses_with_secrets(url):
    with pytest.raises(DataError, match="on host holds") as caught:
        Endpoint(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["", "host/v1", "ftp://host/v1", "http:///v1", "http://h/\x1b"])
def test_no_addresses(url):
    with pytest.raises(DataError, match="not the address of an endpoint"):
        Endpoint(url)
