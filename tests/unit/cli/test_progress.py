"""Long work in a pipe says how far it is, a line every ten seconds."""

from __future__ import annotations

import sys
from functools import partial

import pytest

from reelscore._progress import ProgressBar, ProgressLines
from reelscore.cli import terminal
from reelscore.engines import Engine


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    now = [0.0]
    monkeypatch.setattr(terminal, "ProgressLines", partial(ProgressLines, clock=lambda: now[0]))
    return now


def test_lines_in_a_pipe(clock, capfd):
    with terminal.progress_bar("Scoring") as progress:
        for second in range(0, 95, 3):
            clock[0] = second
            progress(second * 100, 10_000)
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == "Scoring: 1,200 of 10,000 (12%) after 12 s, 100/s, 1 min 28 s left"
    assert lines[-1] == "Scoring: 8,400 of 10,000 (84%) after 1 min 24 s, 100/s, 16 s left"
    assert len(lines) == 7


def test_a_rate_is_that_of_the_stage_under_way(clock, capfd):
    with terminal.progress_bar("Scoring") as progress:
        for second, done in ((26, 0), (27, 1), (37, 11)):
            clock[0] = second
            progress(done, 200)
    assert capfd.readouterr().err.splitlines() == [
        "Scoring: 0 of 200 (0%) after 26 s",
        "Scoring: 11 of 200 (6%) after 37 s, 1.0/s, 3 min 9 s left",
    ]


def test_the_rate_of_a_bar_is_that_of_the_stage_under_way():
    now, drawn = [0.0], []
    bar = ProgressBar("Scoring", drawn.append, clock=lambda: now[0])
    for second, done in ((26, 0), (27, 1), (37, 11)):
        now[0] = second
        bar(done, 200)
    ends = [text.rpartition("━ ")[2].strip() for text in drawn]
    assert [end.partition("%, ")[2] for end in ends] == [
        "",
        "1.0/s, 3 min 19 s left",
        "1.0/s, 3 min 9 s left",
    ]


def test_retries_are_told(clock, capfd):
    engine = Engine()
    with terminal.progress_bar("Scoring", engine=engine) as progress:
        clock[0] = 12
        progress(3, 10)
        engine.retries = 2
        clock[0] = 30
        progress(6, 10)
    assert capfd.readouterr().err.splitlines() == [
        "Scoring: 3 of 10 (30%) after 12 s, 15/min, 28 s left",
        "Scoring: 6 of 10 (60%) after 30 s, 12/min, 20 s left, 2 retries",
    ]


def test_short_work_says_nothing(clock, capfd):
    with terminal.progress_bar("Scoring") as progress:
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
    monkeypatch.setattr(
        terminal, "ProgressLines", partial(ProgressLines, clock=lambda: next(times))
    )
    status, out, err = run(*command)
    assert status == 0
    assert what in err
    assert "after" not in out


def test_a_line_takes_the_place_of_the_bar(monkeypatch, capfd):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with terminal.progress_bar("Training") as progress:
        progress(1, 10)
        terminal.show_line("iteration 1: METEOR 12.45")
        terminal.show_line("epoch 1", err=False)
    out, err = capfd.readouterr()
    bar, _, rest = err.partition("\r\x1b[Kiteration 1: METEOR 12.45\n")
    assert bar.startswith("\r\x1b[KTraining ")
    assert rest == "\r\x1b[K\r\x1b[K"
    assert out == "epoch 1\n"
    monkeypatch.undo()
    terminal.show_line("iteration 2")
    assert capfd.readouterr().err == "iteration 2\n"
