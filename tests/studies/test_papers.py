"""The list of the papers' tables: one source for the command and the page."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from reelscore.cli.main import cli
from reelscore_studies.repro.papers import PAPERS, papers_markdown

PAGE = Path(__file__).parents[2] / "docs" / "papers.md"
COMMANDS = sorted({part.command for paper in PAPERS for part in paper.parts if part.command})


def test_the_page_is_what_the_command_writes(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["repro", "--list", "-o", str(tmp_path / "papers.md")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "papers.md").read_text() == PAGE.read_text() == papers_markdown()


TEXTS = {
    "direct-assessment": "direct-assessment-video-captioning",
    "bertha": "bertha",
    "soda": "soda",
    "soda-precursor": "soda-precursor-japanese",
    "movie-description": "movie-description-lsmdc",
}
KIND = {"T": "Table", "表": "Table", "F": "Fig", "図": "Fig"}


def named(text: str) -> set[tuple[str, int]]:
    """Give the tables and figures that a text names: 'Tables 1, 3', 'Figs 8–10', '図 2'."""
    found = set()
    for kind, numbers in re.findall(
        r"(Table|Fig|表|図)(?:ure)?s?\.?\s*(\d+(?:\s?[,–]\s?\d+)*)(?![\d.]*\d)", text
    ):
        for one in re.split(r"\s?,\s?", numbers):
            first, *_, last = [int(number) for number in one.split("–")] * 2
            found |= {(KIND[kind[0]], number) for number in range(first, last + 1)}
    return found


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.key)
def test_every_table_and_figure_of_a_paper_has_one_row(paper, shared: Path) -> None:
    text = (shared.parent / "papers" / f"{TEXTS[paper.key]}.txt").read_text()
    rows = [each for part in paper.parts for each in named(part.name)]
    assert sorted(rows) == sorted(named(text))


def test_one_paper_fits_a_terminal() -> None:
    done = CliRunner().invoke(cli, ["repro", "--list", "--paper", "bertha"])
    assert "Table 7: fusion by regression" in done.output
    assert max(map(len, done.output.splitlines())) <= 80
    assert "Graham, Awad and Smeaton" not in done.output
    unknown = CliRunner().invoke(cli, ["repro", "--list", "--paper", "bleu"])
    assert "Unknown paper 'bleu'" in str(unknown.exception)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_there(command: str) -> None:
    words = shlex.split(command.split(",")[0])[1:]
    names = [word for word in words if not word.startswith("-")]
    group = cli
    for name in names:
        found = group.get_command(None, name) if hasattr(group, "get_command") else None
        if found is None:
            break
        group = found
    assert group is not cli
    if getattr(group, "default", ""):  # 'reelscore meta' stands for 'reelscore meta tables'
        group = group.get_command(None, group.default)
    options = {option for parameter in group.params for option in parameter.opts}
    used = [word for word in words if word.startswith("-") and len(word) > 1]
    assert options.issuperset(used), command
