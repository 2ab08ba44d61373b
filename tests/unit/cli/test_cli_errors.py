"""Every error: exit status 2, one clear message on stderr, and nothing is written."""

from __future__ import annotations

import errno
import os

import pytest

OUT = ("--json", "o.json", "-o", "o.csv", "-o", "o.tex", "--table", "t.csv")
SCORE = ("score", "a.txt", "-r", "r1.txt")

CASES = [
    # arguments, what the message says
    (("score", "none.json", "-r", "r1.txt"), "none.json: no such file"),
    (("score", "a.txt", "-r", "none.json"), "none.json: no such file"),
    (("score", "x=none.json", "-r", "r1.txt"), "none.json: no such file"),
    (("score", "a.txt"), "needs references; none were given. Pass --refs FILE."),
    (("score", "a.txt", "x=a.txt", "a.txt", "-r", "r1.txt"), "Two systems are called 'a'"),
    (("score", "a.txt", "sub/a.txt", "-r", "r1.txt"), "Two systems are called 'a'"),
    (("score", "long.txt", "-r", "r1.txt"), "1 candidate has no references"),
    (("score", "short.txt", "-r", "r1.txt"), "1 item has no candidate"),
    (("score", "a.txt", "-r", "r1.txt", "-r", "long.txt"), "same length"),
    (("score", "human.json", "-r", "r1.txt"), "are in order, without ids"),
    (("score", "bad.json", "-r", "r1.txt"), "bad.json:2:"),
    (("score", "empty.txt", "-r", "r1.txt"), "empty.txt: the file"),
    (("score", "blank.txt", "-r", "r1.txt"), "1 candidate is empty"),
    (("score", "latin.txt", "-r", "r1.txt"), "latin.txt:1"),
    (("score", "nul.txt", "-r", "r1.txt"), "NUL"),
    (("score", "twice.jsonl", "-r", "r1.txt"), "has a candidate already"),
    (("score", ".", "-r", "r1.txt"), "."),
    ((*SCORE, "-m", "rogue_l"), "Did you mean 'rouge_l'"),
    ((*SCORE, "-m", ""), "No metric given"),
    ((*SCORE, "-m", "bleu,bleu"), "named twice"),
    ((*SCORE, "-m", "bleu|n:0"), "bleu: n is 0"),
    ((*SCORE, "-m", "bleu|n:x"), "expected int"),
    ((*SCORE, "-m", "bleu|m:3"), "Unknown parameter of bleu 'm'"),
    ((*SCORE, "-m", "bleu|n"), "parameter:value"),
    ((*SCORE, "-m", "cider|frequencies:none.df"), "none.df"),
    ((*SCORE, "-m", "diversity|training:none.txt"), "none.txt: no such file"),
    ((*SCORE, "--format", "xml"), "Unknown format 'xml'"),
    ((*SCORE, "--format", "coco"), "a.txt"),
    ((*SCORE, "--tokenizer", "moses"), "moses"),
    ((*SCORE, "--missing", "ignore"), "ignore"),
    ((*SCORE, "--empty", "skip"), "skip"),
    ((*SCORE, "--threads", "0"), "--threads"),
    ((*SCORE, "--threads", "many"), "--threads"),
    ((*SCORE, "--resamples", "1"), "--resamples"),
    ((*SCORE, "--nonsense"), "--nonsense"),
    (("score",), "CANDIDATES"),
    (("nonsense",), "nonsense"),
    (("compare", "a.txt", "-r", "r1.txt"), "at least two"),
    (("compare", "a.txt", "b.txt", "-r", "r1.txt", "--baseline", "c"), "Unknown system 'c'"),
    (
        ("compare", "a.txt", "b.txt", "-r", "r1.txt", "--test", "t"),
        "Unknown test 't'. Known: bootstrap, both",
    ),
    (
        ("compare", "a.txt", "b.txt", "-r", "r1.txt", "--test", "level:2"),
        "--test: level is '2'; expected a number <= 1",
    ),
    (
        ("compare", "a.txt", "b.txt", "-r", "r1.txt", "--test", "correction:x"),
        "--test: correction is 'x'; expected holm,",
    ),
    (
        ("compare", "a.txt", "short.txt", "-r", "r1.txt", "--missing", "skip"),
        "on the items they share with --missing common.",
    ),
    (("tokenize", "none.txt"), "none.txt: no such file"),
    (("tokenize",), "FILE"),
    (("metrics", "blue"), "Did you mean 'bleu'"),
]


@pytest.fixture
def files(folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "a.txt").write_text("a man\na dog\n")
    (folder / "long.txt").write_text("a man\na dog\na cat\n")
    (folder / "short.txt").write_text("a man\n")
    (folder / "bad.json").write_text('{"1": "a man",\n "2": }')
    (folder / "empty.txt").write_text("")
    (folder / "blank.txt").write_text("a man\n  \n")
    (folder / "latin.txt").write_bytes("a café\na dog\n".encode("latin-1"))
    (folder / "nul.txt").write_bytes(b"a man\na \0 dog\n")
    (folder / "twice.jsonl").write_text('{"id": 1, "caption": "a"}\n' * 2)


@pytest.mark.parametrize(("arguments", "message"), CASES)
def test_errors(run, files, snapshot, arguments, message):
    before = snapshot()
    outputs = OUT if arguments[:1] in (("score",), ("compare",)) else ()
    status, out, err = run(*arguments, *outputs)
    assert status == 2, err
    assert message in err
    assert out == ""
    assert "Traceback" not in err
    assert err.count("Error: ") == 1
    assert snapshot() == before


BAD_OUTPUTS = [
    ("--json", "nowhere/o.json", "nowhere"),
    ("-o", "nowhere/o.csv", "nowhere"),
    ("--html", "sub", "folder"),
    ("-o", "o.txt", "written as .csv, .tex, .md"),
    ("--table", "t.txt", ".csv"),
    ("--table", "nowhere/t.csv", "nowhere"),
    ("--json", "a.txt/o.json", "a.txt"),
]


@pytest.mark.parametrize(("option", "path", "message"), BAD_OUTPUTS)
def test_bad_outputs(run, files, snapshot, option, path, message):
    before = snapshot()
    status, _, err = run(*SCORE, option, path)
    assert status == 2, err
    assert message in err
    assert "Traceback" not in err
    assert snapshot() == before


def test_one_bad_output_of_several(run, files, snapshot):
    before = snapshot()
    status, _, _ = run(*SCORE, "--table", "t.csv", "--json", "o.json", "-o", "nowhere/o.csv")
    assert status == 2
    assert snapshot() == before  # none of the good ones either


def test_full_disk(run, files, snapshot, monkeypatch):
    before = snapshot()

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    status, _, err = run(*SCORE, "-m", "rouge_l", "--json", "o.json")
    monkeypatch.undo()
    assert status == 2
    assert "No space left" in err
    assert "o.json" in err
    assert snapshot() == before


def test_read_only_folder(run, files, snapshot, monkeypatch):
    # root may write anywhere, so the system's answer is played
    before = snapshot()
    usual = os.open

    def refuse(path, flags, *rest, **options):
        if flags & os.O_CREAT and "o.json" in str(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return usual(path, flags, *rest, **options)

    monkeypatch.setattr(os, "open", refuse)
    status, _, err = run(*SCORE, "-m", "rouge_l", "--json", "o.json")
    monkeypatch.undo()
    assert status == 2
    assert "permission denied" in err
    assert snapshot() == before


def test_an_existing_result_survives_an_error(run, files, folder):
    (folder / "o.json").write_text("precious")
    status, _, _ = run("score", "blank.txt", "-r", "r1.txt", "--json", "o.json")
    assert status == 2
    assert (folder / "o.json").read_text() == "precious"


def test_negative_seed(run, files):
    status, _, err = run(*SCORE, "--intervals", "--seed", "-1")
    assert status == 2, err


def test_empty_name(run, files):
    status, _, _ = run("score", "=a.txt", "-r", "r1.txt")
    assert status == 2


def test_a_name_too_long_for_a_file(run, files):
    status, _, err = run("score", "x" * 5000, "-r", "r1.txt")
    assert status == 2
    assert "Traceback" not in err


def test_a_named_file_too_long(run, files):
    status, _, _ = run("score", "one=" + "x" * 5000, "-r", "r1.txt")
    assert status == 2


def test_a_file_cannot_steer_the_terminal(run, folder):
    (folder / "odd.csv").write_text("\x1b[2Jrater,item\nr1,v1\n")
    _, _, err = run("campaign", "import", "c.db", "odd.csv")
    assert "\\x1b[2jrater" in err
    assert "\x1b" not in err


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("score strong.json -r refs.json --json strong.json", "strong.json"),
        ("score strong.json -r refs.json --table ./refs.json", "./refs.json"),
        ("score ours=strong.json -r refs.json --html strong.json", "strong.json"),
        ("score strong.json -r refs.json --json new.md -o new.md", "new.md"),
        ("compare strong.json weak.json -r refs.json --table weak.json", "weak.json"),
        ("check strong.json --json strong.json", "strong.json"),
        ("report scores.csv -o scores.csv", "scores.csv"),
        ("meta scores.csv --human people.csv --json people.csv", "people.csv"),
    ],
)
def test_an_output_is_no_input(folder, run, snapshot, command, file):
    (folder / "scores.csv").write_text("system,item,metric,score\na,v1,meteor,1\n")
    (folder / "people.csv").write_text("system,item,score\na,v1,1\n")
    before = snapshot()
    message = f"Error: {file} is named twice, and would be overwritten; name another output.\n"
    assert run(*command.split()) == (2, "", message)
    assert snapshot() == before


def test_an_output_may_exist_and_be_called_as_a_metric(folder, run):
    for _ in range(2):
        status, _, _ = run(
            "score", "strong.json", "-r", "refs.json", "-m", "cider", "--html", "cider"
        )
        assert status == 0
    command = "score strong.json -r refs.json -m cider --html /dev/null --json /dev/null"
    assert run(*command.split())[0] == 0
