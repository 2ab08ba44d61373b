"""The programming interface: tokens and scopes, files taken once, decisions of owners."""

from __future__ import annotations

import io
import zipfile

import pytest

from reelscore.challenges.queue.workers import Workers
from support.challenge_data import SECOND, START, captions
from support.challenge_server import HERE, At, Participant, Program, challenge_app, on_both
from support.server import PASSWORD
from support.visits import Visitor

API = "/api/v1"
DOGS = f"{API}/challenges/dogs"


@pytest.fixture
def clock():
    return At()


@pytest.fixture
def app(mostly_sqlite, tmp_path, clock):
    with challenge_app(tmp_path, clock, mostly_sqlite) as app:
        visitor = Participant(app)
        visitor.register("pat")
        visitor.make_team("Ours")
        yield app


def test_everybody_reads_what_everybody_may(app):
    nobody = Visitor(app)
    assert nobody.get(f"{API}/challenges").json()["challenges"] == [
        {"id": "dogs", "name": "Dogs of 2026", "state": "open"}
    ]
    assert nobody.get(DOGS).json()["boards"] == ["test"]
    assert nobody.get(f"{DOGS}/phases").json()["phases"][0]["per_day"] == 5
    assert len(nobody.get(f"{DOGS}/splits/test/items").json()["items"]) == 10
    assert nobody.get(f"{DOGS}/boards/test").json()["rows"] == []
    assert nobody.get(f"{DOGS}/boards/test.csv").text.startswith("cluster,rank")
    for path in ("none", "dogs/boards/none", "dogs/splits/none/items"):
        got = nobody.get(f"{API}/challenges/{path}")
        assert (got.status_code, list(got.json())) == (404, ["message", "reason", "problems"])


def test_a_session_is_no_token(app):
    visitor = Participant(app)
    visitor.register("sam")
    got = visitor.get(f"{DOGS}/submissions")
    assert got.status_code == 401
    assert got.json()["reason"] == "token"
    assert got.headers["www-authenticate"] == "Bearer"


def test_tokens_end_and_say_so(app, clock):
    program = Program(app, "pat", "read")
    assert program.get(f"{DOGS}/submissions").json() == {"submissions": []}
    assert program.submit(captions()).json()["reason"] == "scope"
    assert program.get(f"{DOGS}/queue").status_code == 403
    clock.moment += 180 * 86400 * SECOND
    got = program.get(f"{DOGS}/submissions")
    assert (got.status_code, got.json()["reason"]) == (401, "expired")
    assert "expired" in got.json()["message"]
    program.headers["authorization"] = "Bearer nonsense"
    assert program.get(f"{DOGS}/submissions").json()["reason"] == "unknown"


@on_both
def test_a_file_is_taken_once_and_scored(app):
    program = Program(app, "pat", "read", "submit")
    refused = program.submit(b'{"v1": "a man", "v2": ""}')
    assert refused.status_code == 422
    assert refused.json()["reason"] == "invalid"
    assert "run.json: entry 2: item 'v2': the caption is empty." in refused.json()["problems"]
    alone = program.submit(captions(items=9)).json()
    assert alone["problems"] == [alone["message"]]
    checked = program.post(f"{DOGS}/phases/main/check", files={"file": ("run.json", captions())})
    assert checked.json() == {"message": "run.json can be scored.", "notes": []}
    first = program.submit(captions(), "k1", method="ours")
    assert first.status_code == 201
    assert first.headers["x-quota-day-left"] == "4"
    assert first.headers["x-quota-left"] == "19"
    again = program.submit(captions(), "k1", method="ours").json()
    assert (again["id"], again["repeated"]) == (first.json()["id"], True)
    assert program.submit(captions()).json()["reason"] == "same"
    assert program.get(f"{DOGS}/phases/main/quota").json()["today"] == 4
    id = first.json()["id"]
    assert "no scorer" in program.get(f"{API}/submissions/{id}").json()["reason"]
    assert Workers(app.state.challenges.challenges, 1).run_until_idle() == 1
    got = program.get(f"{API}/submissions/{id}").json()
    assert got["state"] == "scored"
    assert got["scores"]["test"]["cider"]["signature"].startswith("cider|")
    assert program.get(f"{API}/submissions/{id}/file").content == captions()
    assert program.get(f"{API}/submissions/{id}/items").status_code == 404  # blind
    assert program.post(f"{API}/submissions/{id}/choose").status_code == 200
    assert program.get(f"{API}/submissions/{id}").json()["chosen"]
    assert program.post(f"{API}/submissions/{id}/withdraw").status_code == 200
    assert Visitor(app).get(f"{DOGS}/boards/test").json()["rows"] == []


def test_what_was_passed_over_is_said_of_checked_and_of_refused_files(app):
    program = Program(app, "pat", "read", "submit")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("__MACOSX/._run.json", b"x")
        archive.writestr("run.json", captions())
    files = {"file": ("run.zip", packed.getvalue())}
    [note] = program.post(f"{DOGS}/phases/main/check", files=files).json()["notes"]
    assert "__MACOSX" in note
    member = Participant(app)
    member.press("/account/login", name="pat", password=PASSWORD)
    assert "__MACOSX" in member.hand_in(packed.getvalue(), "check").text
    refused = program.submit(b'{"x1": "a man runs"}').json()
    assert "is it the right file" in refused["message"]


def test_all_errors_have_one_form(app):
    program = Program(app, "pat", "read", "submit")
    phase = f"{DOGS}/phases/main"
    huge = b"x" * ((1 << 20) + 1)
    for status, reason, answer in (
        (404, "missing", program.get(f"{DOGS}/boards/none")),
        (404, "missing", program.get(f"{API}/none")),
        (405, "method", program.put(DOGS)),
        (422, "invalid", program.post(f"{phase}/check")),  # without a file
        (422, "invalid", program.submit(captions(), link="javascript:x")),
        (422, "invalid", program.submit(b"{}")),
        (413, "large", program.post(f"{phase}/extend", content=huge)),
        (400, "request", program.get(DOGS, headers={"host": "elsewhere.example"})),
        (403, "forbidden", program.post(f"{phase}/check", headers={"origin": "https://x.example"})),
        (403, "scope", Program(app, "pat", "read").submit(captions())),
        (401, "token", Visitor(app).get(f"{DOGS}/submissions")),
    ):
        assert answer.status_code == status, answer.text
        body = answer.json()
        assert list(body) == ["message", "reason", "problems"]
        assert (body["reason"], bool(body["message"])) == (reason, True)
    missing = program.post(f"{phase}/check").json()
    assert (missing["message"], missing["problems"]) == (
        "Missing or not valid: file.",
        ["file: Field required"],
    )


def test_another_team_finds_nothing(app):
    id = Program(app, "pat", "read", "submit").submit(captions()).json()["id"]
    visitor = Participant(app)
    visitor.register("sam")
    visitor.make_team("Theirs")
    other = Program(app, "sam", "read", "submit")
    assert other.get(f"{DOGS}/submissions").json() == {"submissions": []}
    for method, what in (("GET", ""), ("GET", "/file"), ("GET", "/items"), ("POST", "/choose"),
                         ("POST", "/withdraw"), ("POST", "/cancel")):  # fmt: skip
        assert other.request(method, f"{API}/submissions/{id}{what}").status_code == 404, what


@on_both
def test_owners_decide_with_a_reason(app, owner):
    program, team = Program(app, "ada", "read", "organise"), Program(app, "pat", "read").team.id
    place = f"{DOGS}/teams/{team}"
    grant = {"phase": "main", "amount": 3, "reason": "our server was down"}
    assert program.post(f"{place}/grant", json={**grant, "reason": ""}).status_code == 422
    assert program.post(f"{place}/grant", json=grant).status_code == 200
    member = Program(app, "pat", "read", "submit")
    assert member.get(f"{DOGS}/phases/main/quota").json()["today"] == 8
    back = program.post(f"{place}/grant", json={**grant, "amount": -3})
    assert back.json()["message"].endswith("may submit 3 less in main.")
    assert member.get(f"{DOGS}/phases/main/quota").json()["today"] == 5
    assert program.post(f"{place}/grant", json={**grant, "amount": -1}).status_code == 422
    assert program.post(f"{place}/disqualify", json={"reason": "copied"}).status_code == 200
    assert member.submit(captions()).status_code == 403
    assert program.post(f"{place}/reinstate", json={"reason": "it was not"}).status_code == 200
    id = member.submit(captions()).json()["id"]
    rerun = program.post(f"{API}/submissions/{id}/rerun", json={"reason": "again"})
    assert rerun.json()["reason"] == "closed"  # it has not failed
    status = f"{API}/submissions/{id}/status"
    off = {"status": "disqualified", "reason": "copied"}
    assert program.post(status, json={**off, "status": "gone"}).status_code == 422
    assert member.post(status, json=off).status_code == 403
    assert program.post(status, json=off).json()["message"].endswith("is disqualified.")
    assert member.get(f"{API}/submissions/{id}").json()["status"] == "disqualified"
    assert program.post(status, json={**off, "status": "active"}).status_code == 200
    again = program.post(f"{DOGS}/phases/main/rescore", json={"reason": "a new version"})
    assert again.json() == {"message": "1 submission of main is scored again."}
    link = program.post(f"{DOGS}/password", json={"name": "pat"}).json()["link"]
    assert "/account/reset/" in link
    closed = {"state": "closed", "reason": "it is over"}
    assert program.post(f"{DOGS}/state", json=closed).status_code == 200
    assert member.submit(captions(1)).json()["reason"] == "closed"
    assert program.post(f"{DOGS}/state", json={**closed, "state": "open"}).status_code == 200
    dates = {"closes": "2026-07-01T00:00:00Z", "reason": "more time"}
    assert program.post(f"{DOGS}/phases/main/extend", json=dates).status_code == 200
    assert "more time" in Visitor(app).get("/challenges/dogs").text
    assert program.get(f"{DOGS}/queue").json()["waiting"] == 1
    events = program.get(f"{DOGS}/events").json()
    assert {"grant", "disqualify", "reinstate", "dates"} <= {e["what"] for e in events["events"]}
    assert len(events["chain"]) == len(events["server_chain"]) == 64
    assert {"account", "token"} <= {event["what"] for event in events["server_events"]}
    assert program.post(f"{DOGS}/teams/none/approve", json={"reason": "x"}).status_code == 404


QUOTA = ("x-quota-phase", "x-quota-day-left", "x-quota-left")


def told(answer):
    """Give what an answer tells about quota."""
    return tuple(answer.headers.get(name) for name in QUOTA)


def test_owners_make_accounts_and_teams(app, owner):
    program, api = Program(app, "ada", "organise"), "/api/v1"
    person = {"name": "kim", "password": PASSWORD}
    assert program.post(f"{api}/accounts", json=person).json() == {
        "name": "kim", "role": "participant"
    }  # fmt: skip
    assert program.post(f"{api}/accounts", json=person).status_code == 422
    team = {"name": "Newcomers", "captain": "kim", "reason": "came by letter"}
    assert program.post(f"{api}/challenges/dogs/teams", json=team).status_code == 200
    [told] = [
        each for each in program.get(f"{api}/challenges/dogs/teams").json()["teams"]
        if each["name"] == "Newcomers"
    ]  # fmt: skip
    assert told["members"] == [{"name": "kim", "role": "captain", "contact": ""}]
    assert program.post(f"{api}/accounts/kim/role", json={"role": "assistant"}).status_code == 200
    assert {"name": "kim", "role": "assistant"} in program.get(f"{api}/accounts").json()["accounts"]
    new = {"password": "another password"}
    assert program.post(f"{api}/accounts/kim/password", json=new).status_code == 200
    kim = Visitor(app)
    assert kim.press("/organise/login", name="kim", **new).status_code == 200
    assert program.post(f"{api}/accounts/kim/remove", json={}).status_code == 200
    assert program.post(f"{api}/accounts/kim/remove", json={}).status_code == 404
    assert program.post(f"{api}/accounts/ada/remove", json={}).status_code == 422  # the last owner
    for visitor in (Program(app, "ada", "read"), Visitor(app), owner):
        assert visitor.get(f"{api}/accounts").status_code in (401, 403)


def test_every_answer_to_a_submission_tells_what_is_left(app, clock):
    program, member = Program(app, "pat", "read", "submit"), Participant(app)
    member.press("/account/login", name="pat", password=PASSWORD)
    checked = program.post(f"{DOGS}/phases/main/check", files={"file": ("run.json", captions())})
    assert told(checked) == ("main", "5", "20")
    first = program.submit(captions())
    assert told(first) == ("main", "4", "19")
    id, now = first.json()["id"], ("main", "4", "19")
    for status, content in {422: b"{}", 409: captions()}.items():
        answer = program.submit(content)
        assert (answer.status_code, *told(answer)) == (status, *now)
    for path in (f"{DOGS}/phases/main/quota", f"{DOGS}/submissions", f"{API}/submissions/{id}",
                 f"{DOGS}/boards/test", f"{DOGS}/boards/test.csv", f"{DOGS}/phases"):  # fmt: skip
        assert told(program.get(path)) == (None, None, None), path
    for path in ("", "/rules", "/data", "/boards/test", "/submit", "/mine", "/mine/live", "/team",
                 "/log"):  # fmt: skip
        page = member.get(HERE + path)
        if "<main" in page.text:
            assert "left today 4 of 5, in all 19 of 20; resets" in page.text, path
    for number in range(1, 5):
        program.submit(captions(number))
    assert member.hand_in(captions(5)).status_code == 429
    refused = program.submit(captions(5))
    assert (refused.status_code, *told(refused)) == (429, "main", "0", "15")
    clock.moment = START + 10 * 86400 * SECOND
    closed = program.submit(captions(6))
    assert (closed.status_code, *told(closed)) == (409, "main", "5", "15")
