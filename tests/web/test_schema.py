"""Requests made up from the app's own description: none may break the server."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from reelscore.challenges.people.teams import add_team
from reelscore.challenges.people.tokens import SCOPES, make_token
from reelscore.challenges.updates import make_challenge
from reelscore.web.store.accounts import find_account, list_accounts
from support.challenge_data import write_definition
from support.visits import Visitor, app_over

schemathesis = pytest.importorskip("schemathesis")

REFUSED = (303, 400, 401, 403, 404, 405, 413, 422)


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    pages = {"open": True, "prolific_code": "C1", "mturk": True}
    folder = tmp_path_factory.mktemp("schema")
    definition = write_definition(folder)
    definition.write_text(definition.read_text().replace("closes = 2026", "closes = 2999"))
    # wrong passwords and links must not end the test after ten
    app = app_over(folder, pages=pages, attempts=10**9)
    make_challenge(app.state.challenges.challenges, definition)
    yield app
    app.state.challenges.readers.close()


THERE = {"campaign": "dogs", "challenge": "dogs", "phase": "main", "board": "test", "split": "test"}


def requests(case, proof):
    """Give a made-up request, and the same for what is there, from our own form."""
    yield case.as_transport_kwargs(base_url="http://127.0.0.1:8000")
    names = set(case.path_parameters) & set(THERE)
    case.path_parameters.update({name: THERE[name] for name in names})
    if isinstance(case.body, dict) and "json" not in (case.media_type or ""):
        case.body["proof"] = proof
    yield case.as_transport_kwargs(base_url="http://127.0.0.1:8000")


def send(visitor, proof, sent):
    sent["headers"] = {**dict(sent.get("headers") or {}), "x-form-proof": proof}
    if hasattr(visitor, "token"):
        sent["headers"]["authorization"] = f"Bearer {visitor.token}"
    sent.pop("cookies", None)
    body = sent.pop("data", None)
    if body is not None:
        sent["content" if isinstance(body, (bytes, str)) else "data"] = body
    return visitor.request(follow_redirects=False, **sent)


def attempt_all(operation, visitor, proof, examples, seen):
    @settings(
        max_examples=examples,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
        deadline=None,
    )
    @given(operation.as_strategy())
    def attempt(case):
        for sent in requests(case, proof):
            got = send(visitor, proof, dict(sent))
            assert got.status_code < 500, (operation.label, sent, got.text)
            seen.setdefault(operation.path, set()).add(got.status_code)

    attempt()


@pytest.mark.parametrize("who", ["stranger", "rater", "owner"])
def test_no_request_breaks_the_server(app, who, full):
    visitor = Visitor(app)
    if who == "rater":
        visitor.begin(name="r1")
    if who == "owner":
        visitor.log_in("schema")
        challenges, [owner] = (
            app.state.challenges.challenges,
            list_accounts(app.state.site.database),
        )
        add_team(challenges.find(), "Ours", account=owner.id)
    proof, seen = visitor.proof, {}
    for operation in schemathesis.openapi.from_dict(app.openapi()).get_all_operations():
        if who == "owner":  # one of the operations is to log out
            account = find_account(app.state.site.database, owner.id)
            cookie = app.state.site.signer.sign("session", [account.id, account.sessions, ""])
            visitor.cookies.set("reelscore_session", cookie, path="/")
            if operation.ok().path.startswith("/api/") and not hasattr(visitor, "token"):
                visitor.token = make_token(challenges, owner.id, "", SCOPES)  # pages revoke no more
        attempt_all(operation.ok(), visitor, proof, 200 if full else 3, seen)
    assert len(seen) > 30
    if who == "owner":
        assert any(200 in codes for path, codes in seen.items() if path.startswith("/api/"))
    private = {path: codes for path, codes in seen.items() if path.startswith("/organise/c/")}
    if who == "owner":
        assert any(200 in codes for codes in private.values())
    else:
        assert all(code in REFUSED for codes in private.values() for code in codes)
