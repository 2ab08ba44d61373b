"""A challenge that is made in the browser, from a form or from a definition."""

from __future__ import annotations

import json

import pytest

from reelscore.challenges.definition.reader import parse_definition
from reelscore.challenges.queue.workers import Workers
from support.challenge_data import captions, challenge_text
from support.challenge_server import At, Participant, challenge_app
from support.visits import Visitor

NEW = "/organise/challenge"
REFERENCES = json.dumps({f"v{k}": [f"a dog runs {k}"] for k in range(10)}).encode()
FORM = {
    "name": 'Cats "of" 2026 🐈',
    "id": "cats",
    "contact": "",
    "registration": "open",
    "overview": "What cats\r\ndo.",
    "rules": "",
    "visibility": "blind",
    "kind": "captions",
    "metrics": "bleu|n:2 cider",
    "primary": "",
    "opens": "2026-05-01T00:00",
    "closes": "2026-07-01T12:30",
    "reveals": "",
    "feedback": "full",
    "per_day": "3",
    "total": "",
    "final": "best",
}


@pytest.fixture
def app(tmp_path):
    with challenge_app(tmp_path, At()) as app:
        yield app


def send(visitor, files, **said):
    sent = [(name, (file, content)) for name, file, content in files]
    return visitor.post(NEW, data={"proof": visitor.proof, **said}, files=sent)


def test_from_a_form_to_a_board(app, owner):
    assert "New challenge" in owner.get("/organise").text
    assert "Ordered by" in owner.get(NEW).text
    files = [("references", "refs.json", REFERENCES), ("baselines", "Nearest one.json", captions())]
    page = send(owner, files, **FORM)
    assert page.url.path == "/challenges/cats/console", page.text
    assert "draft" in page.text
    assert Visitor(app).get("/challenges/cats").status_code == 404
    text = owner.get("/challenges/cats/console/definition.toml").text
    definition = parse_definition(text)
    assert definition.name == FORM["name"]
    [phase], [board] = definition.phases, definition.boards
    assert (phase.limits.per_day, phase.limits.total, phase.final) == (3, None, "best")
    assert "closes = 2026-07-01T12:30:00Z" in text
    assert board.primary == "cider"
    assert board.columns[0].scores == ("bleu_1", "bleu_2", "cider")
    owner.press("/challenges/cats/console/state", state="open", reason="all is ready")
    visitor = Participant(app)
    assert "What cats" in visitor.get("/challenges/cats").text
    Workers(app.state.challenges.challenges, 1).run_until_idle()
    assert "Nearest one" in visitor.get("/challenges/cats/boards/main").text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "Cats!"}, "challenge.id is &#39;Cats!&#39;; expected up to 60 of a-z, 0-9 and -"),
        ({"metrics": "cidr"}, "Unknown metric &#39;cidr&#39;"),
        ({"closes": "2026-04-01T00:00"}, "phase[0]"),
        ({"opens": "soon"}, "phase[0].opens is a text; expected a time as 2026-09-01T12:00:00Z"),
        ({"per_day": "0"}, "phase[0].limits.per_day is 0; expected at least 1"),
        ({"id": "dogs"}, "There is a challenge &#39;dogs&#39; already"),
    ],
)
def test_what_is_wrong_is_said_and_what_was_filled_in_stays(app, owner, change, message):
    page = send(owner, [("references", "refs.json", REFERENCES)], **{**FORM, **change})
    assert page.status_code == 422
    assert message in page.text
    assert "/tmp" not in page.text
    assert 'value="bleu|n:2 cider"' in page.text or "metrics" in change
    assert len(app.state.challenges.challenges.all()) == 1


def test_a_definition_changes_a_challenge_and_keeps_both_results(app, owner, member):
    member.hand_in(captions())
    challenges = app.state.challenges.challenges
    Workers(challenges, 1).run_until_idle()
    text = owner.get("/challenges/dogs/console/definition.toml").text
    right = json.dumps({f"v{k}": ["a man runs"] for k in range(10)}).encode()
    files = [("definition", "d.toml", text.encode()), ("references", "references.json", right)]
    assert "There is a challenge" in send(owner, files).text
    assert send(owner, files, change="1").url.path == "/challenges/dogs/console"
    Workers(challenges, 1).run_until_idle()
    assert challenges.find().find_phase("main").generation == 2
    board = "/challenges/dogs/boards/test"
    assert Visitor(app).get(board).text != Visitor(app).get(f"{board}?generation=1").text


def test_a_definition_names_no_files_of_the_server(app, owner, tmp_path):
    for name in ("../dogs.toml", "/etc/hosts", "missing.json"):
        text = challenge_text("cats", visibility="public", references=f'references = "{name}"')
        page = send(owner, [("definition", "d.toml", text.encode())])
        assert page.status_code == 422
        assert f"The definition names {name}: upload what it names, too." in page.text


def test_it_is_for_owners(app, member, assistant):
    for visitor in (member, assistant, Visitor(app)):
        assert send(visitor, [("references", "refs.json", REFERENCES)], **FORM).status_code in (
            401,
            403,
        )
    assert len(app.state.challenges.challenges.all()) == 1
