"""The list of the papers' tables: one source for the command and the page."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from reelscore.cli.main import cli
from reelscore_studies.repro.papers import PAPERS, papers_markdown

PAGE = Path(__file__).parents[2] / "docs" / "papers.md"
COMMANDS = sorted({part.command for paper in PAPERS for part in paper.parts if part.command})


def test_the_page_is_what_the_command_writes(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["repro", "--list", "--markdown", str(tmp_path / "papers.md")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "papers.md").read_text() == PAGE.read_text() == papers_markdown()


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
