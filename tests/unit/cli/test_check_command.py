"""`reelscore check`: what it prints, its exit status, and the file that --fix writes."""

from __future__ import annotations

import json

import pytest

from reelscore import read_candidates, read_references


def test_clean_files(run, folder):
    status, out, err = run("check", "human.json", "weak.json", "-r", "refs.json")
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == "human.json: 15 captions, nothing found"
    assert run("check", "refs.json") == (0, "refs.json: 45 captions, nothing found\n", "")


def test_findings(run, folder):
    status, out, err = run("check", "broken.json", "human.json")
    assert (status, err) == (1, "")
    assert out.startswith("broken.json: 15 captions, 2 errors\n")
    assert "  error: 10 of 15 captions are the same. [same]" in out
    assert max(map(len, out.splitlines())) <= 80


def test_warnings_count_if_strict(run, folder):
    (folder / "c.txt").write_text("a man  runs\na dog\n")
    assert run("check", "c.txt")[0] == 0
    assert run("check", "c.txt", "--strict")[0] == 1
    assert run("check", "a.txt", "--strict")[0] == 0


def test_unreadable(run, folder):
    (folder / "bad.json").write_text('{"v1": "a man", ')
    for name in ("bad.json", "nothing.json"):
        status, out, err = run("check", "a.txt", name)
        assert (status, out) == (2, "")
        assert err.startswith(f"Error: {name}")


def test_json(run, folder, snapshot):
    status, out, _ = run("check", "broken.json", "human.json", "--json", "-")
    assert status == 1
    broken, human = json.loads(out)["files"]
    assert (broken["file"], broken["captions"]) == ("broken.json", 15)
    assert [finding["check"] for finding in broken["findings"]] == ["same", "loops"]
    assert set(broken["findings"][0]) == {
        *("check", "severity", "count", "message", "remedy", "examples")
    }
    assert human["findings"] == []


def test_ids_beside_references(run, folder):
    captions = {f"{item}.mp4": text for item, text in read_candidates("human.json").items()}
    (folder / "run.json").write_text(json.dumps(captions))
    status, out, _ = run("check", "run.json", "--refs", "refs.json")
    assert status == 1
    assert "15 of them match without folders and file endings" in out


BAD = {"v1": "a  man &amp; a dog<eos>", "v2": "a cafÃ©", "v3": "a <unk>"}


def test_nothing_is_changed_without_fix(run, folder, snapshot):
    (folder / "run.json").write_text(json.dumps(BAD))
    before = snapshot()
    assert run("check", "run.json")[0] == 1
    assert snapshot() == before


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv", "tsv"])
def test_fix(run, folder, snapshot, ending):
    (folder / "run.json").write_text(json.dumps(BAD))
    before = snapshot()
    status, out, _ = run("check", "run.json", "--fix", f"new.{ending}", "--json", "findings.json")
    assert status == 1  # the findings are those of the original
    fixed = {"v1": "a man & a dog", "v2": "a café", "v3": "a <unk>"}
    assert read_candidates(f"new.{ending}") == fixed
    assert f"new.{ending}: 2 captions fixed" in out
    assert "  v1: a man & a dog\n" in out
    stored = json.loads((folder / "findings.json").read_text())["fixes"]
    assert [fix["after"] for fix in stored] == ["a man & a dog", "a café"]
    assert stored[0]["checks"] == ["html", "markers", "spaces"]
    after = snapshot()
    assert {name: after[name] for name in before} == before
    _, out, _ = run("check", f"new.{ending}", "--fix", "newer.json")
    assert "newer.json: 0 captions fixed" in out


def test_fix_of_lines_and_references(run, folder):
    (folder / "c.txt").write_text("a man  runs\n a dog\n")
    assert run("check", "c.txt", "--fix", "new.txt")[0] == 0
    assert (folder / "new.txt").read_text() == "a man runs\na dog\n"
    assert run("check", "refs.json", "--fix", "new.json")[0] == 0
    assert read_references("new.json") == read_references("refs.json")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.txt", "b.txt", "--fix", "new.txt"], "--fix takes one FILE"),
        (["a.txt", "--fix", "a.txt"], "name a new file"),
        (["a.txt", "--fix", "new.xml"], "expected a file that ends in .json"),
        (["human.json", "--fix", "new.txt"], "plain lines have no ids"),
        (["twice.csv", "--fix", "new.csv"], "ids that are repeated"),
        (["story.json", "--fix", "new.json"], "timed captions cannot be fixed"),
    ],
)
def test_fixes_that_are_refused(run, folder, snapshot, arguments, message):
    (folder / "twice.csv").write_text("id,caption\n1,a\n1,b\n2,c\n3,d\n")
    story = {"v1": [{"sentence": "a man", "timestamp": [0, 1]}]}
    (folder / "story.json").write_text(json.dumps(story))
    before = snapshot()
    status, out, err = run("check", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert snapshot() == before


def test_captions_do_not_control_the_terminal(run, folder):
    (folder / "c.txt").write_text("a \x1b[2J man\na dog\n")
    status, out, _ = run("check", "c.txt")
    assert status == 1
    assert "\x1b" not in out
    assert "a \\x1b[2J man" in out
    run("check", "c.txt", "--fix", "new.txt")
    assert (folder / "new.txt").read_text() == "a [2J man\na dog\n"


def test_score_says_the_worst(run, folder):
    status, out, _ = run("score", "broken.json", "human.json", "-r", "refs.json", "-m", "rouge_l")
    assert status == 0
    assert "broken: 10 of 15 captions are the same.\n" in out
    assert "human:" not in out
    numbers = [line for line in out.splitlines() if line.startswith(("broken ", "human "))]
    assert [float(line.split()[1]) for line in numbers] == [0.2202, 0.5477]
