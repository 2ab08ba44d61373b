"""Commands on a database of challenges: boards, exports, archives, people."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from sqlalchemy import update

import reelscore
from reelscore.challenges.store import tables
from support.challenges import made_with

SOURCES = Path(reelscore.__file__).parent


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands")
    with made_with(folder).database as opened, opened.writing() as connection:
        # revealed long ago, or in a thousand years
        connection.execute(update(tables.phase).values(reveals=2**54))
    return str(folder / "c.db")


@pytest.fixture
def call(run):
    """Call a command that succeeds; gives standard output and standard error."""

    def answer(*words):
        status, out, err = run("challenge", *words)
        assert status == 0, err
        return out, err

    return answer


def test_visitors_see_names_until_the_reveal_and_organisers_everything(database, call):
    assert call("leaderboard", database)[0] == (
        "main\nScores are not shown yet. Teams: broken, human, strong, weak\n\n"
    )
    shown = call("leaderboard", database, "--organisers")[0]
    assert max(map(len, shown.splitlines())) <= 80
    assert "161.6" in shown
    assert "broken b" in shown


def test_boards_as_files(database, tmp_path, call):
    lines = call("leaderboard", database, "--organisers", "-o", "-.csv")[0].splitlines()
    assert lines[0].startswith("cluster,rank,first,last,team")
    assert len(lines) == 5
    board = json.loads(call("leaderboard", database, "--organisers", "--json", "-")[0])
    assert [row["team"] for row in board["rows"]] == ["human", "strong", "weak", "broken"]
    latex, plot = tmp_path / "b.tex", tmp_path / "b.svg"
    call("leaderboard", database, "--organisers", "-o", latex, "-o", plot)
    assert latex.read_text().count(r"\textbf") == 2
    assert plot.read_text().startswith("<svg")


def test_mistakes_end_with_one_message(database, tmp_path, run):
    for words, message in (
        (("leaderboard", database, "--board", "none"), "Unknown board 'none'"),
        (("leaderboard", database, "--challenge", "x"), "Unknown challenge 'x'"),
        (("leaderboard", tmp_path / "none.db"), "none.db"),
        (("human", database, "--id", "none"), "Unknown human evaluation"),
        (("human", database, "--id", "da", "--publish"), "no campaign yet"),
        (("human", database, "--id", "da", "--publish", "--campaign", "x"), "two steps"),
        (("import", tmp_path / "none.zip", tmp_path / "new.db"), "no such file"),
    ):
        status, out, err = run("challenge", *words)
        assert (status, out) == (2, "")
        assert message in err
    assert not (tmp_path / "new.db").exists()


def test_export_import_verify_archive(database, tmp_path, call):
    export, copy = tmp_path / "clips.zip", tmp_path / "copy.db"
    assert "4 submissions" in call("export", database, "-o", export, "--with", "references")[1]
    call("import", export, copy)
    assert (
        call("leaderboard", copy, "--organisers")[0]
        == (call("leaderboard", database, "--organisers")[0])
    )
    assert "equal bit by bit" in call("check", export, "--threads", 1)[1]
    people = tmp_path / "people.zip"
    call("export", database, "-o", people, "--with", "accounts")
    assert "Participants log in" in call("import", people, tmp_path / "other.db")[1]
    said = call("check", database)[1]
    assert "clips: 2 events; the chain is right, head" in said
    assert "server: 0 events." in said
    call("export", copy, "-o", tmp_path / "site")
    assert (tmp_path / "site" / "index.html").exists()


CLOSED = {"reelscore.challenges.store.results", "reelscore.challenges.queue.job_results"}


def test_pages_and_commands_do_not_import_the_result_tables():
    """Numbers reach them through views alone."""
    kept = {"result", "array", "shown", "blob"}
    for package in ("web", "cli"):
        for path in (SOURCES / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.module:
                    names = {alias.name for alias in node.names}
                    assert node.module not in CLOSED, path
                    assert not {f"{node.module}.{name}" for name in names} & CLOSED, path
                    assert not (
                        node.module == "reelscore.challenges.store.tables" and names & kept
                    ), path
