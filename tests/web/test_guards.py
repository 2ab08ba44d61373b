"""Nobody's body is read before it is known that they may send it."""

from __future__ import annotations

import socket

import httpx
import pytest
from fastapi.routing import APIRoute

from reelscore.web.requests import Guard, GuardedRoute
from support.server import serve, small_campaign
from support.visits import Visitor, app_over, routes_of

GIGABYTE = 1 << 30
OPEN_TO_STRANGERS = {"/join/{campaign}"}  # their forms are small, and nothing tells who they are
WAYS = [
    ("/organise/new", 401),
    ("/organise/challenge", 401),
    ("/organise/c/dogs/mturk", 401),
    ("/organise/c/dogs/pages/json", 401),
    ("/organise/people", 401),
    ("/organise/people/1/remove", 401),
    ("/c/dogs/answers", 403),
    ("/c/dogs/practice", 403),
    ("/c/dogs/in/a-key/answers", 403),
    ("/c/cats/answers", 404),
    ("/r/guess", 404),
    ("/organise/setup/guess", 404),
]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    database = tmp_path_factory.mktemp("guards") / "dogs.db"
    small_campaign(database)
    with serve(str(database), largest_upload=2 * GIGABYTE, attempts=1000) as running:
        running.add_owner()
        yield running


def answered_without_body(url, path, length, cookie=""):
    """Send the head of a request alone, and give the status of the answer."""
    host, _, port = url.removeprefix("http://").partition(":")
    head = f"POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {length}\r\n"
    head += "content-type: multipart/form-data; boundary=x\r\n"
    head += f"cookie: {cookie}\r\n\r\n" if cookie else "\r\n"
    with socket.create_connection((host, int(port)), timeout=300) as connection:
        connection.sendall(head.encode())
        return int(connection.makefile("rb").readline().split()[1])


@pytest.mark.parametrize(("path", "status"), WAYS)
def test_strangers_are_refused_before_they_send(served, path, status):
    length = (
        GIGABYTE
        if path in ("/organise/new", "/organise/challenge", "/organise/c/dogs/mturk")
        else 1000
    )
    assert answered_without_body(served.url, path, length) == status


def test_so_are_assistants_where_owners_may_upload(served):
    assistant = Visitor(served.app)
    assistant.log_in("bob", "assistant")
    cookie = f"reelscore_session={assistant.cookies['reelscore_session']}"
    assert answered_without_body(served.url, "/organise/new", GIGABYTE, cookie) == 403


def test_so_are_addresses_that_guess(tmp_path):
    small_campaign(tmp_path / "dogs.db")
    with serve(str(tmp_path / "dogs.db"), attempts=2) as served:
        for _ in range(2):
            assert answered_without_body(served.url, "/r/guess", 1000) == 404
        assert answered_without_body(served.url, "/r/guess", 1000) == 429
        (link,) = served.invite("dogs")  # a right one is good all the same
        assert httpx.get(link, headers={"accept": "text/html"}).status_code == 200


def test_what_is_too_large_for_anybody(served):
    assert answered_without_body(served.url, "/organise/login", GIGABYTE) == 413


def test_every_route_that_takes_a_body_has_a_guard(served):
    routes = [route for route in routes_of(served.app) if isinstance(route, APIRoute)]
    plain = {route.path for route in routes if not isinstance(route, GuardedRoute)}
    assert plain == {"/", "/health"}
    routes = [route for route in routes if isinstance(route, GuardedRoute)]
    unguarded = {route.path for route in routes if "POST" in route.methods and not route.guards}
    assert unguarded == OPEN_TO_STRANGERS


def test_a_guard_is_asked_once(tmp_path, monkeypatch):
    app, asked = app_over(tmp_path), []
    look = Guard.value

    def counted(guard, request):
        if guard not in request.state.guarded:
            asked.append(guard)
        return look(guard, request)

    monkeypatch.setattr(Guard, "value", counted)
    visitor = Visitor(app)
    visitor.log_in()
    asked.clear()
    visitor.get("/organise/new")
    assert len(asked) == len(set(asked)) == 2
