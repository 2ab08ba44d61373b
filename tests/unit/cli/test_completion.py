"""``python -m reelscore``, and completion in the shell."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def python(*arguments, **variables):
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        check=False,
    )


def completed(line, shell="bash"):
    """What click's script for bash gets from the command, for a line with the cursor at its end."""
    words = line.split(" ")
    answer = python(
        *("-m", "reelscore"),
        _REELSCORE_COMPLETE=f"{shell}_complete",
        COMP_WORDS=line,
        COMP_CWORD=str(len(words) - 1),
    )
    assert answer.stderr == ""
    return answer.stdout.splitlines()


def test_module():
    answer = python("-m", "reelscore", "--version")
    assert (answer.returncode, answer.stdout) == (0, "reelscore, version 0.1.0\n")
    answer = python("-m", "reelscore", "score", "nothing.json")
    assert answer.returncode == 2
    assert answer.stderr.startswith("Error: ")


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("reelscore sc", ["plain,score"]),
        ("reelscore campaign st", ["plain,status", "plain,study"]),
        ("reelscore stories s", ["plain,score", "plain,show", "plain,study"]),
        ("reelscore score --mis", ["plain,--missing"]),
        ("reelscore score --missing z", ["plain,zero"]),
        ("reelscore stories --protocol vid", ["plain,vid2seq", "plain,vidchapters"]),
        ('reelscore stories --protocol "pdvc|annot', ["plain,pdvc|annotators:"]),
        ("reelscore score ou", ["file,ou"]),
        ("reelscore stories ou", ["file,ou"]),
        ("reelscore score ours.json -r ", ["file,"]),
    ],
)
def test_offers(line, offered):
    assert completed(line) == offered


def test_purposes_in_zsh():
    lines = completed("reelscore anal", "zsh")
    assert lines == [
        "plain",
        "analyse",
        "Where scores come from, and how alike writers are.",
    ]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_scripts(shell):
    answer = python("-m", "reelscore", _REELSCORE_COMPLETE=f"{shell}_source")
    assert answer.returncode == 0
    assert f"_REELSCORE_COMPLETE={shell}_complete" in answer.stdout


def test_commands_are_offered_without_importing_them():
    script = (
        "import sys; sys.argv = ['reelscore']\n"
        "from reelscore.cli.main import main\n"
        "try:\n    main()\nfinally:\n    print('loaded', *sys.modules)"
    )
    answer = python(
        *("-c", script),
        _REELSCORE_COMPLETE="bash_complete",
        COMP_WORDS="reelscore ",
        COMP_CWORD="1",
    )
    offered, _, loaded = answer.stdout.partition("loaded ")
    assert "plain,serve" in offered
    assert not {"numpy", "reelscore.cli.serve", "reelscore.cli.commands.score"} & set(
        loaded.split()
    )
