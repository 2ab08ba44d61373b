"""``reelscore lsmdc``: retrieval, multiple choice and fill-in from their files."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest


def scores(path):
    """Give the scores of the systems in a JSON file."""
    systems = json.loads(path.read_text())["systems"]
    return {name: {k: each["score"] for k, each in row.items()} for name, row in systems.items()}


def test_retrieval(folder, run):
    np.save(folder / "ours.npy", np.eye(20) + np.eye(20, k=1))  # equal ones gain nothing
    (folder / "base.csv").write_text("".join("0," * 19 + "0\n" for _ in range(20)))
    out = folder / "r.json"
    status, printed, err = run(
        "lsmdc", "retrieval", folder / "ours.npy", folder / "base.csv", "--json", out
    )
    assert status == 0, err
    assert "R@1" in printed
    assert "MedR" in printed
    got = scores(out)
    assert got["ours"]["recall_1"] == 1 / 20  # the last sentence has one clip
    assert got["ours"]["median_rank"] == 2
    assert got["base"] == {"recall_1": 0, "recall_5": 0, "recall_10": 0, "median_rank": 20}


def test_retrieval_with_other_clips(folder, run):
    np.savetxt(folder / "m.txt", [[0.1, 0.9, 0.2], [0.3, 0.1, 0.2]])
    (folder / "refs.csv").write_text("1,2\n2,1\n")
    out = folder / "r.json"
    run("lsmdc", "retrieval", folder / "m.txt", "--refs", folder / "refs.csv", "--json", out)
    assert scores(out)["m"]["recall_1"] == 1
    (folder / "refs.csv").write_text("1,2\n2,4\n")
    status, _, err = run("lsmdc", "retrieval", folder / "m.txt", "--refs", folder / "refs.csv")
    assert status == 2
    assert "sentence 2 has the clip '4'; expected 1 to 3." in err
    np.savetxt(folder / "long.txt", np.ones((3, 2)))
    status, _, err = run("lsmdc", "retrieval", folder / "long.txt")
    assert "3 sentences for 2 clips; say which clip belongs to each: --refs FILE." in err


def test_choice_and_words(folder, run):
    (folder / "refs.csv").write_text("q1\t3\nq2\t5\nq3\t1\nq4\t2\n")
    (folder / "ours.json").write_text('{"q1": 3, "q2": 4, "q3": 1, "q4": 2}')
    out = folder / "r.json"
    for task in ("choice", "fillin"):
        given = (folder / "ours.json", "-r", folder / "refs.csv", "--json", out)
        _, printed, err = run("lsmdc", task, *given)
        assert scores(out) == {"ours": {"accuracy": 0.75}}
        assert "no words" not in printed + err  # answers are no captions
    (folder / "ours.json").write_text('{"q1": 3, "q2": 4, "q3": 1}')
    status, _, err = run("lsmdc", "choice", folder / "ours.json", "-r", folder / "refs.csv")
    assert status == 2
    assert "'q4'" in err


def test_right_answers_are_no_copied_references(folder, run):
    """A submission in which nearly all is right is good, and its answers need no words."""
    (folder / "all.json").write_text(json.dumps({f"q{k}": str(k % 5 + 1) for k in range(20)}))
    rows = [{"item": f"q{k}", "caption": str(k % 5 + 1)} for k in range(20)]
    (folder / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for given in (
        ("lsmdc", "choice", "all.json", "-r", "all.json"),
        ("score", "all.json", "-r", "all.json", "-m", "right_answers"),
        ("score", "all.jsonl", "-r", "all.jsonl", "-m", "right_answers", "--parts", "shards"),
    ):
        status, printed, err = run(*given)
        assert status == 0, err
        assert "1.0000" in printed
        assert re.findall("Warning|no words", printed + err) == []


@pytest.fixture
def characters(folder):
    (folder / "refs.csv").write_text("a\t[ann],[bob]\nb\t_\nc\t[ann]\nd\t[bob]\n")
    (folder / "sets.csv").write_text("a\tb\tc\nd\n")
    return "--refs", folder / "refs.csv", "--sets", folder / "sets.csv"


def test_characters(folder, run, characters):
    (folder / "ours.csv").write_text("a\t[0, 1]\nb\t[7]\nc\t[1]\nd\t[0]\n")
    out, answers = folder / "r.json", folder / "answers.json"
    given = ("--json", out, "--answers", answers)
    status, _, err = run("lsmdc", "fillin", folder / "ours.csv", *characters, *given)
    assert status == 0, err
    [got] = scores(out).values()
    assert got["instance_accuracy"] == pytest.approx(1 / 3)  # of ann–bob, ann–ann and bob–ann
    assert got["same_accuracy"] == 0
    assert json.loads(answers.read_text()) == {"a": "0 1 1"}


def test_characters_that_do_not_fit_are_refused(folder, run, characters):
    (folder / "ours.csv").write_text("a\t[0]\nb\t_\nc\t[1]\nd\t[0]\n")
    status, out, err = run("lsmdc", "fillin", folder / "ours.csv", *characters)
    assert (status, out) == (2, "")
    assert "'a' has 1 identity for 2 blanks (1 clip in all)." in err
