"""How commands find and read the files that users name."""

from __future__ import annotations

import io
import json
import sys

import click
import pytest

from reelscore.cli.main import cli
from reelscore.cli.options import SettingsOption

KEYS = ["id", "caption", "reference", "header", "encoding"]
READERS = [
    *(
        "score",
        "compare",
        "check",
        "report",
        "inspect",
        "audit",
        "meta tables",
        "parse",
    ),
    *("tokenize", "bertha prepare", "campaign new", "analyse"),
]


@pytest.mark.parametrize("words", READERS)
def test_every_command_that_reads_captions_has_the_options(words):
    command: click.Command | None = cli
    for word in words.split():
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word)
    assert command is not None
    options = {name: param for param in command.params for name in param.opts}
    reading = options["--input-format" if words == "parse" else "--format"]
    assert isinstance(reading, SettingsOption)
    assert list(reading.keys) == KEYS
    assert "--split" in options


@pytest.fixture
def standard_input(monkeypatch):
    """Let standard input be a text."""

    def give(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    return give


def test_standard_input(run, folder, standard_input):
    _, expected, _ = run("score", "stdin=weak.json", "-r", "refs.json", "-m", "meteor")
    for argument in ("-", "stdin=-"):
        standard_input((folder / "weak.json").read_text())
        assert run("score", argument, "-r", "refs.json", "-m", "meteor")[1] == expected
    standard_input((folder / "refs.json").read_text())
    assert run("score", "stdin=weak.json", "-r", "-", "-m", "meteor")[1] == expected
    standard_input('{"id": "v1", "prediction": "a man", "reference": "a man runs"}\n')
    status, out, _ = run("score", "-", "-m", "rouge_l")
    assert status == 0, "candidates and references are read from it"
    assert "References were not given: - holds them" in out
    standard_input("a man\na dog\n")
    assert run("tokenize", "-")[1] == "a man\na dog\n"
    standard_input("")
    status, _, err = run("tokenize", "-")
    assert (status, "standard input: the file is empty" in err) == (2, True)


def test_folders_and_patterns(run, folder):
    (folder / "runs").mkdir()
    for name in ("weak.json", "strong.json"):
        (folder / name).rename(folder / "runs" / name)
    (folder / "runs" / ".cache").write_text("x")
    files = ("runs/strong.json", "runs/weak.json", "-r", "refs.json", "-m", "meteor")
    expected = run("score", *files)
    assert expected[0] == 0
    for argument in ("runs", "runs/", "runs/*", "runs/*.json"):
        assert run("score", argument, *files[2:]) == expected
    assert run("score", "strong=runs/s*.json", "weak=runs/w*", *files[2:]) == expected
    status, _, err = run("score", "mine=runs/*.json", *files[2:])
    assert (status, "name several systems apart" in " ".join(err.split())) == (2, True)
    status, _, err = run("score", "runs/*.csv", *files[2:])
    assert (status, "runs/*.csv: no file matches the pattern" in err) == (2, True)
    run("score", *files, "--table", "runs/table.json")
    assert run("compare", "runs/t*.json", "--test", "trials:10", "--resamples", 10)[0] == 0


def test_folders_and_patterns_of_references(run, folder):
    (folder / "refs").mkdir()
    for name in ("r1.txt", "r2.txt"):
        (folder / name).rename(folder / "refs" / name)
    expected = run("score", "a.txt", "-r", "refs/r1.txt", "refs/r2.txt", "-m", "meteor")
    assert expected[0] == 0
    assert run("score", "a.txt", "-r", "refs", "-m", "meteor") == expected
    assert run("score", "a.txt", "-r", "refs/*.txt", "-m", "meteor") == expected
    story = {"v1": [{"sentence": "a man runs", "timestamp": [0, 5]}]}
    for name in ("ours.json", "refs/r1.txt", "refs/r2.txt"):
        (folder / name).write_text(json.dumps(story))
    command = ("stories", "ours.json", "--scores", "soda_c", "-r")
    assert run(*command, "refs") == run(*command, "refs/r1.txt", "refs/r2.txt")


@pytest.mark.parametrize("command", ["score", "compare"])
def test_references_among_the_candidates_are_not_scored(run, folder, command):
    few = ("--test", "trials:10", "--resamples", 10) if command == "compare" else ()
    options = ("-r", "refs.json", "-m", "meteor", *few)
    files = ["strong.json", "weak.json"]
    expected = run(command, *files, *options)[1].splitlines()
    status, out, _ = run(command, "refs.json", *files, *options)
    note = "refs.json is given as references, and not scored as a system."
    assert status == 0
    lines = out.splitlines()
    lines.remove(note)
    assert lines == expected
    (folder / "deep").mkdir()
    assert note in run(command, "deep/../refs.json", *files, *options)[1].replace("deep/../", "")
    status, _, err = run("score", "people=refs.json", *files, *options[:4])
    assert (status, "captions; a system gives one" in err) == (2, True), (
        "a name says that it is a system"
    )


def test_a_file_of_both_is_a_system_and_its_references(run, folder):
    for name in ("one", "two"):
        rows = [{"id": k, "prediction": f"{name} man", "reference": "a man"} for k in range(3)]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    status, out, _ = run("score", "one.jsonl", "two.jsonl", "-r", "one.jsonl", "-m", "rouge_l")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[1:3]] == ["one", "two"]
    assert "not scored" not in out


def test_wrong_names_are_one_message_with_those_of_the_file(run, folder, snapshot):
    (folder / "run.csv").write_text("shot,hypothesis,score\nv1,a man,3\n")
    before = snapshot()
    status, out, err = run("score", "run.csv", "-r", "refs.json", "--format", "id:clip")
    assert (status, out, snapshot() == before) == (2, "", True)
    assert "whose header names no item id" in err
    assert "Name the column of the ids: --format id:NAME" in err
    status, _, err = run("score", "run.csv", "-r", "refs.json", "--format", "csv|id:shot|caption:x")
    assert status == 2
    assert "Error: run.csv" in err
    assert "shot, hypothesis, score" in err
    for reading, message in (
        ("encoding:latin-99", 'Unknown encoding "latin-99"'),
        ("header:id", "--format header:id names one column"),
        ("id:,", "--format id:, has an empty name"),
        ("idd:clip", "Unknown setting of --format 'idd'. Did you mean 'id'?"),
    ):
        status, _, err = run("score", "weak.json", "-r", "refs.json", "--format", reading)
        assert (status, message in err) == (2, True), err
