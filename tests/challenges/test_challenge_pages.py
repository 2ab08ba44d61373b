"""What everybody reads of a challenge: pages, leaderboards, files, and nothing before its time."""

from __future__ import annotations

import csv
import io
import re

import pytest

from reelscore.challenges.commands.demo import challenge_settings
from reelscore.challenges.definition.reader import parse_definition
from reelscore.challenges.queue.workers import Workers
from reelscore.web.app import create_app
from reelscore.web.settings import Settings
from support.challenge_server import challenge_app
from support.challenges import CLOSES, OPENS, REVEALS, definition_text, made_with
from support.server import SECRET
from support.visits import Visitor

BEFORE, DURING, AFTER, REVEALED = OPENS - 1, OPENS + 10**9, CLOSES + 10**9, REVEALS + 10**9


class At:
    """A clock that tests set."""

    moment = DURING

    def __call__(self):
        return self.moment / 1e6


@pytest.fixture(scope="module", params=["public"])
def served(tmp_path_factory, request):
    clock = At()
    folder = tmp_path_factory.mktemp("challenges")
    made_with(folder, "full", visibility=request.param).database.close()
    app = create_app(Settings(str(folder / "c.db"), secret=SECRET, clock=clock, attempts=10**6))
    yield app, clock
    app.state.site.database.close()


@pytest.fixture
def visitor(served):
    app, served[1].moment = served[0], DURING
    return Visitor(app)


def test_the_only_challenge_is_the_first_page(visitor):
    page = visitor.get("/challenges")
    assert page.status_code == 200
    assert page.url.path == "/challenges/clips"
    assert "<h1>Ten clips</h1>" in page.text
    assert "@misc{clips2026" in page.text
    assert "open, closes in" in page.text


@pytest.mark.parametrize("path", ["", "/rules", "/data", "/boards", "/boards/main", "/log"])
def test_pages_have_a_heading_and_no_script_of_their_own(visitor, path):
    page = visitor.get(f"/challenges/clips{path}")
    assert page.status_code == 200
    assert page.text.count("<h1>") == 1
    assert not re.search(r"<script[^>]*>[^<]", page.text)
    assert 'style="' not in page.text


def test_a_leaderboard_as_a_page_and_as_files(visitor):
    page = visitor.get("/challenges/clips/boards/main").text
    for part in ('class="cluster first"', "cider|", "<svg", "data-copy", ".csv", "#how"):
        assert part in page
    rows = list(csv.DictReader(io.StringIO(visitor.get("/challenges/clips/boards/main.csv").text)))
    assert [row["team"] for row in rows] == ["human", "strong", "weak", "broken"]
    data = visitor.get("/challenges/clips/boards/main.json").json()
    assert [row["scores"]["cider"]["value"] for row in data["rows"]] == [
        float(row["cider"]) for row in rows
    ]
    assert r"\begin{tabular}" in visitor.get("/challenges/clips/boards/main.tex").text
    for missing in ("main.exe", "none", "none.csv", "main/none"):
        assert visitor.get(f"/challenges/clips/boards/{missing}").status_code == 404


def test_items_and_a_file_to_fill_in(visitor):
    ids = visitor.get("/challenges/clips/data/main/blind/ids.txt").text.split()
    assert len(ids) == 15
    assert list(visitor.get("/challenges/clips/data/main/sample.json").json()) == ids
    references = visitor.get("/challenges/clips/data/main/blind/references.json").json()
    assert list(references) == ids
    for path in ("main/none/ids.txt", "none/blind/ids.txt", "none/sample.json"):
        assert visitor.get(f"/challenges/clips/data/{path}").status_code == 404


def test_nothing_of_a_phase_before_it_opens(served, visitor):
    served[1].moment = BEFORE
    assert "opens in" in visitor.get("/challenges/clips").text
    assert "appears when its phase opens" in visitor.get("/challenges/clips/boards").text
    for path in ("boards/main", "boards/main.csv", "data/main/blind/ids.txt",
                 "data/main/sample.json", "data/main/blind/references.json"):  # fmt: skip
        assert visitor.get(f"/challenges/clips/{path}").status_code == 404, path


def test_items_are_explored_once_they_are_published(served, visitor):
    items = "/challenges/clips/boards/main/items"
    assert visitor.get(items).status_code == 404
    assert "Items, one by one" not in visitor.get("/challenges/clips/boards/main").text
    served[1].moment = REVEALED
    assert "Items, one by one" in visitor.get("/challenges/clips/boards/main").text
    report = visitor.get(items)
    assert report.status_code == 200
    assert "sha256-" in report.text


def test_the_citation_has_the_address_and_is_legible_to_bibtex(visitor):
    page = visitor.get("/challenges/clips").text
    assert r"howpublished = {\url{http://127.0.0.1:8000/challenges/clips}}" in page
    assert re.search(r"<bdi>human</bdi></strong>.{0,80}CIDEr 1\d\d\.", page, re.DOTALL)


def test_organisers_may_say_how_to_cite_it(tmp_path):
    text = definition_text().replace("[challenge]", '[challenge]\npages = { citation = "c.bib" }')
    assert parse_definition(text).pages == {"citation": "c.bib"}
    made = made_with(tmp_path)
    with made.database.writing() as connection:
        pages = '{"citation": "@article{rohrbach2017}"}'
        connection.exec_driver_sql(f"UPDATE challenge SET pages = '{pages}'")
    made.database.close()
    page = Visitor(create_app(Settings(str(tmp_path / "c.db"), secret=SECRET))).get("/challenges")
    assert "@article{rohrbach2017}" in page.text
    assert "@misc" not in page.text


def test_rules_say_how_entries_are_scored_and_who_wins(visitor):
    page = visitor.get("/challenges/clips/rules").text
    for part in ("<code>cider</code>", "200 draws (random seed 7)", "ordered by CIDEr",
                 "p &lt; 0.05", "Best by CIDEr; entries that the test cannot tell apart share",
                 "direct-assessment on a sample of 12 items, 6 raters each",
                 "a point if 2 of 3 find it better or similar",
                 "With the results: scores of single items of public splits."):  # fmt: skip
        assert part in page, part


def test_rules_of_a_challenge_whose_phases_are_all_unlisted(tmp_path):
    more = 'listed = false\n[award]\nrule = "column"\ncolumn = "cider"'
    with challenge_app(tmp_path, At(), more=more) as app:
        page = Visitor(app).get("/challenges/dogs/rules")
    assert page.status_code == 200
    assert "Who wins" not in page.text  # a phase that a visitor may not know of decides


def test_a_server_of_challenges_alone_begins_with_them(visitor):
    assert visitor.get("/").url.path == "/challenges/clips"


def test_pages_that_do_not_exist_lead_back(visitor):
    page = visitor.get("/challenges/clips/none")
    assert page.status_code == 404
    assert "There is no such page." in page.text
    assert 'href="/challenges/clips"' in page.text
    assert "Back to" not in visitor.get("/none").text


def test_the_explorer_begins_with_the_primary_score_and_leads_back(served, visitor):
    served[1].moment = REVEALED
    page = visitor.get("/challenges/clips/boards/main/items").text
    assert '<a href="/challenges/clips/boards/main">← Back</a>' in page
    teams = re.findall(r'<th scope="row"><bdi>(\w+)', page)
    assert teams == ["human", "strong", "weak", "broken"]  # as on the board


def test_a_draft_is_there_for_organisers_alone(tmp_path):
    made = made_with(tmp_path)
    with made.database.writing() as connection:
        connection.exec_driver_sql("UPDATE challenge SET state = 'draft'")
    made.database.close()
    app = create_app(Settings(str(tmp_path / "c.db"), secret=SECRET))
    visitor, owner = Visitor(app), Visitor(app)
    owner.log_in()
    assert visitor.get("/challenges/clips").status_code == 404
    assert "none on this server" in visitor.get("/challenges").text
    assert owner.get("/challenges/clips").status_code == 200


def test_the_demo_has_four_teams_with_scores(tmp_path):
    app = create_app(challenge_settings(tmp_path, "http://127.0.0.1:8000"))
    assert Workers(app.state.challenges.challenges, 1).run_until_idle() == 8
    board = Visitor(app).get("/challenges/demo/boards/test.json").json()
    assert [row["team"] for row in board["rows"]] == [
        "The organisers",
        "Strong Words",
        "Weak Links",
        "Baseline",
    ]
    assert len({row["arrived"][:10] for row in board["rows"]}) == 4  # a plot over time
    assert Visitor(app).get("/challenges/demo/boards/practice/items").status_code == 200
    clip = Visitor(app).get("/challenges/demo/clips/practice/test/clip01.webm")
    assert (clip.status_code, clip.headers["content-type"]) == (200, "video/webm")
    for other in (
        "practice/test/clip99.webm",
        "practice/none/clip01.webm",
        "none/test/clip01.webm",
    ):
        assert Visitor(app).get(f"/challenges/demo/clips/{other}").status_code == 404
    app.state.site.database.close()
