"""What the commands take for candidates and for references, as users type and write it."""

from __future__ import annotations

import json

import pytest

PREDICTED = {"v1": "a man runs fast", "v2": "a dog"}
WRITTEN = {"v1": "a man is running", "v2": "the dog sleeps"}


@pytest.fixture
def dump(folder):
    """Write what an inference script writes, as JSON Lines and as CSV."""
    rows = [(item, WRITTEN[item], PREDICTED[item]) for item in PREDICTED]
    names = ("video_id", "reference", "prediction")
    lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    (folder / "dump.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "dump.csv").write_text("\n".join(",".join(row) for row in (names, *rows)) + "\n")
    (folder / "ours.json").write_text(json.dumps(PREDICTED))
    (folder / "theirs.json").write_text(json.dumps(WRITTEN))
    return folder


@pytest.mark.parametrize("name", ["dump.jsonl", "dump.csv"])
def test_a_dump_of_both_is_scored_by_its_references(run, dump, name):
    _, expected, _ = run("score", "dump=ours.json", "-r", "theirs.json", "-m", "meteor,cider")
    status, out, err = run("score", name, "-m", "meteor,cider")
    assert (status, err) == (0, "")
    assert out.splitlines()[:2] == expected.splitlines()[:2]
    assert f"References were not given: {name} holds them beside the candidates." in out
    status, out, _ = run("score", name, "-r", "theirs.json", "-m", "meteor,cider")
    assert out.splitlines()[:2] == expected.splitlines()[:2]
    assert f"{name} holds references of its own, which were not used." in out
    _, _, err = run("score", name, "--csv", "-")
    assert "References were not given" in err, "said where the table is not shown"


def test_a_file_of_references_is_no_candidate(run, dump):
    (dump / "refs.jsonl").write_text('{"id": "v1", "ground_truth": "a man"}\n')
    status, out, err = run("score", "refs.jsonl", "-r", "theirs.json")
    assert (status, out) == (2, "")
    assert "refs.jsonl:1: no candidate, but references in 'ground_truth'" in err


@pytest.mark.parametrize("command", ["score", "compare"])
def test_captions_equal_to_references_are_warned_about(run, folder, write_json, command):
    references = json.loads((folder / "refs.json").read_text())
    write_json("copy.json", {item: texts[0] for item, texts in references.items()})
    files = ("weak.json", "copy.json", "-r", "refs.json", "-m", "rouge_l")
    status, out, _ = run(command, *files)
    assert status == 0
    warning = "copy: Warning: 15 of 15 captions equal one of their references word for word"
    assert warning in " ".join(out.split())
    assert out.count("Warning") == 1


def test_stories_equal_to_references_are_warned_about(run, folder, write_json):
    story = [{"sentence": f"step {k}", "timestamp": [k, k + 1]} for k in range(6)]
    write_json("copy.json", {"v1": story})
    write_json("other.json", {"v1": [{**each, "sentence": "a man"} for each in story]})
    files = ("copy.json", "other.json", "-r", "copy.json", "--scores", "soda_c")
    _, out, _ = run("stories", *files)
    assert "copy: Warning: 6 of 6 captions" in out
    assert "other: Warning" not in out


def test_headerless_tables_are_refused(run, folder):
    (folder / "run.csv").write_text("1,a man runs\n2,a dog\n")
    status, out, err = run("score", "run.csv", "-r", "r1.txt")
    assert (status, out) == (2, "")
    assert "run.csv: the content is of no known format" in err
    assert "Add a header row such as 'id,caption'" in err
    assert "--format lines" in err
    status, out, _ = run("score", "run.csv", "-r", "r1.txt", "--format", "lines")
    assert status == 0
    assert "Read as plain lines: run.csv, r1.txt." in out


def test_errors_of_pairing_say_how_files_were_read(run, folder, write_json):
    write_json("ids.json", {"v1": "a man"})
    status, _, err = run("score", "ids.json", "-r", "r1.txt")
    assert status == 2
    assert "Read as: ids.json json, r1.txt lines." in err
