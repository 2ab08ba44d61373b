"""Long work in a pipe says how far it is, a line every ten seconds."""

from __future__ import annotations

from functools import partial

import pytest

from reelscore._progress import Lines
from reelscore.cli import options


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    now = [0.0]
    monkeypatch.setattr(options, "Lines", partial(Lines, clock=lambda: now[0]))
    return now


def test_lines_in_a_pipe(clock, capfd):
    with options.progress_bar("Scoring") as progress:
        for second in range(0, 95, 3):
            clock[0] = second
            progress(second * 100, 10_000)
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == "Scoring: 1,200 of 10,000 (12%) after 12 s"
    assert lines[-1] == "Scoring: 8,400 of 10,000 (84%) after 1 min 24 s"
    assert len(lines) == 7


def test_short_work_says_nothing(clock, capfd):
    with options.progress_bar("Scoring") as progress:
        clock[0] = 9.9
        progress(10, 10)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (("score", "weak.json", "-r", "refs.json", "-m", "rouge_l"), "Scoring: 15 of 15 (100%)"),
        (("compare", "weak.json", "strong.json", "-r", "refs.json", "-m", "bleu"), "Testing: "),
    ],
)
def test_commands(folder, run, monkeypatch, command, what):
    """Every look at the clock is eleven seconds after the last."""
    times = iter(range(0, 100_000, 11))
    monkeypatch.setattr(options, "Lines", partial(Lines, clock=lambda: next(times)))
    status, out, err = run(*command)
    assert status == 0
    assert what in err
    assert "after" not in out
