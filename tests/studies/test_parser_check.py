"""Judges check a parser on the rating pages; its components get their shares."""

from __future__ import annotations

import csv

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
from support.trees_by_hand import TREES, parsed_captions
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
    with pytest.raises(
        DataError, match="expected one that 'reelscore check-parser --campaign' made"
    ):
        score_campaign(tmp_path / "dogs.db")
    with pytest.raises(DataError, match="no clause to judge"):
        make_campaign(tmp_path / "none.db", {})
    assert not (tmp_path / "none.db").exists()


@pytest.fixture
def captions(folder, monkeypatch):
    """A file of captions, and a parser that knows them."""
    return parsed_captions(folder, monkeypatch)


def test_sheets_of_judges(captions, run, folder):
    status, out, _ = run("check-parser", captions, "--check-sheet", "sheet.csv")
    assert status == 0
    assert "Wrote 4 clauses to sheet.csv" in out
    with (folder / "sheet.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[1]["role"] == "subject"
    assert rows[2]["synonyms"] == "ride, sit (motion)"
    for judge, wrong in (("one", "rides"), ("two", "rides"), ("three", "plays")):
        for row in rows:
            row |= dict.fromkeys(("clause", "nlp", "roles"), "1")
            row["wsd"] = ("0" if row["word"] == wrong else "1") if row["sense"] else ""
        with (folder / f"{judge}.csv").open("w") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    status, out, _ = run("check-parser", "--score-sheets", "one.csv", "two.csv", "three.csv")
    table = {line.split()[0]: line.split()[1:] for line in out.splitlines()}
    assert table["roles"] == ["100.0", "51.0–100.0", "4", "–"]
    assert table["wsd"] == ["75.0", "30.1–95.4", "4", "0.25"]  # (.852 - .802) / (1 - .802)


def test_gold_scores_the_first_clause(captions, run, write_json):
    item = {"id": "x", "text": next(iter(TREES)), "subject": ["man"], "verb": ["ride"]}
    gold = {"items": [{**item, "object": ["horse", None], "location": ["sea"]}]}
    write_json("gold.json", gold)
    status, out, _ = run("check-parser", "--gold", "gold.json")
    table = [line.split() for line in out.splitlines()]
    assert status == 0
    assert table[1] == ["subject", "100.0", "20.7–100.0", "1"]
    assert table[4] == ["location", "0.0", "0.0–79.3", "1"]
    assert "  parsed    man · ride · horse · beach" in out
    assert "  expected  man · ride · horse/– · sea" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to check"),
        (("--gold", "captions.json"), "Expected JSON with 'items'"),
        (("--score-sheets", "captions.json"), "not a sheet for judges"),
    ],
)
def test_refusals(captions, run, arguments, message):
    status, _, error = run("check-parser", *arguments)
    assert status == 2
    assert message in error
