"""Judges check a parser on the rating pages; its components get their shares."""

from __future__ import annotations

import pytest

pytest.importorskip("reelscore_parser")

from reelscore.errors import DataError
from reelscore.text.parser.lexicon import Lexicon
from reelscore.text.parser.roles import Clause, Filler, Sentence
from reelscore.text.parser.trees import Token
from reelscore.web.app import create_app
from reelscore.web.settings import Settings
from reelscore_studies.parser.parser_campaign import make_campaign, score_campaign
from support.server import SECRET
from support.visits import URL, Visitor

ID = "parser-check"
PAGES = ["", "/live", "/raters", "/pages", "/hits", "/hits/1/1", "/log", "/results", "/export"]


def sentence(subject: str, verb: str) -> Sentence:
    words = (Token(subject, "NN", subject, 1, "nsubj"), Token(verb, "VBZ", verb, -1, "root"))
    senses = Lexicon.load().senses(verb, "v")
    roles = Filler(0, subject, subject, "NN"), Filler(1, verb, verb, "VBZ", senses[0])
    return Sentence(f"{subject} {verb}", words, (Clause(*roles, None, None, (0, 1)),))


def test_judges_check_the_parser_in_a_browser(tmp_path):
    database = str(tmp_path / "check.db")
    parsed = {"a": [sentence("dog", "run")], "b": [sentence("cat", "sit")]}
    assert make_campaign(database, parsed, judges=2) == 2
    with pytest.raises(DataError, match="Nobody has judged"):
        score_campaign(database)
    app = create_app(Settings(database, url=URL, secret=SECRET))
    for number, clause_is_right in enumerate((1, 0), start=1):
        judge = Visitor(app)
        page = judge.begin(ID)
        assert "Roles: subject dog, verb run, object –, location –" in page.text
        assert page.text.count('type="radio"') == 8
        for task in (1, 2):
            right = {"clause": [1 if task == 2 else clause_is_right], "nlp": [1]}
            answer = {**right, "roles": [0], "wsd": [task - 1]}
            sent = judge.answer(task, campaign=ID, assignment=number, answer=answer)
            assert sent.status_code == 200, sent.text
        refused = judge.answer(1, campaign=ID, assignment=number, answer={**right, "nlp": [2]})
        assert refused.status_code == 422

    checks = {check.component: check for check in score_campaign(database)}
    assert checks["clause"].clauses.value == 0.5  # the judges disagree on one: a tie is wrong
    assert checks["nlp"].clauses.value == 1.0
    assert checks["roles"].clauses.value == 0.0
    assert checks["wsd"].clauses.value == 0.5
    assert checks["wsd"].kappa == 1.0
    assert checks["clause"].kappa == pytest.approx(-1 / 3)

    owner = Visitor(app)
    owner.log_in()
    for page in PAGES:
        assert owner.get(f"/organise/c/{ID}{page}").status_code == 200, page


def test_other_campaigns_are_refused(tmp_path):
    from support.server import small_campaign

    small_campaign(tmp_path / "dogs.db")
    with pytest.raises(DataError, match="expected one that 'reelscore parse --campaign' made"):
        score_campaign(tmp_path / "dogs.db")
    with pytest.raises(DataError, match="no clause to judge"):
        make_campaign(tmp_path / "none.db", {})
    assert not (tmp_path / "none.db").exists()
