"""``reelscore challenge`` without a server: from the definition to a score, and every refusal."""

from __future__ import annotations

import json
import zipfile

import pytest

from reelscore.challenges.commands import hosting
from reelscore.challenges.queue import workers
from reelscore.challenges.uploads import uploads
from support.challenge_data import captions, write_definition
from support.challenge_process import Here


@pytest.fixture
def made(tmp_path, run, monkeypatch):
    """A challenge that is open for a long time, in dogs.db, with a good file run.json."""
    monkeypatch.chdir(tmp_path)
    for module in (uploads, workers):  # the guide's examples start processes; here it is quicker
        monkeypatch.setattr(module, "Helper", Here)
    path = write_definition(tmp_path, limits="per_day = 2, total = 20")
    path.write_text(path.read_text().replace("closes = 2026", "closes = 2999"))
    (tmp_path / "run.json").write_bytes(captions())
    status, _, err = run("challenge", "new", "dogs.toml")
    assert (status, err) == (
        0,
        "Challenge 'dogs' is made.\nChallenge 'dogs' is in dogs.db.\n",
    )
    return tmp_path


SUBMIT = ("challenge", "submit", "--phase", "main", "--database", "dogs.db", "--team", "Ours")


def test_from_definition_to_score(made, run):
    assert run(
        "challenge", "check", "run.json", "--phase", "main", "--definition", "dogs.toml"
    ) == (
        0,
        "",
        "run.json can be scored: captions of 10 items.\n",
    )
    status, out, err = run(*SUBMIT, "run.json", "--wait", "--json", "-")
    assert status == 0, err
    told = json.loads(out)
    assert (told["number"], told["state"]) == (1, "scored")
    assert list(told["scores"]["test"]) == ["cider", "rouge_l"]
    status, out, _ = run("challenge", "submissions", "--database", "dogs.db")
    assert f"{told['id']}  Ours, main 1: scored\n  test: cider " in out
    again = ("challenge", "rescore", "dogs.db", "--phase", "main", "--reason")
    assert run(*again, " ")[0] == 2
    assert run(*again, "a new version")[0] == 0
    assert run("challenge", "worker", "dogs.db", "--once")[0] == 0
    _, out, _ = run("challenge", "submissions", "--database", "dogs.db", "--json", "-")
    assert json.loads(out)[0]["scores"] == told["scores"]


def test_scores_that_are_not_revealed_are_not_printed(made, run):
    path = made / "dogs.toml"
    path.write_text(path.read_text().replace('test = "full"', 'test = "reveal"'))
    assert run("challenge", "new", "dogs.toml")[0] == 0
    status, out, err = run(*SUBMIT, "run.json", "--wait")
    assert (status, out) == (0, "")
    assert "teams see the scores of this phase when they are revealed" in err
    (made / "run.json").write_bytes(captions(1))
    status, out, _ = run(*SUBMIT, "run.json", "--wait", "--json", "-")
    assert (json.loads(out)["state"], json.loads(out)["scores"]) == ("scored", {})
    board = ("challenge", "leaderboard", "dogs.db")
    assert "Scores are not shown yet" in run(*board)[1]
    assert "CIDEr" in run(*board, "--organisers")[1]


def test_exit_statuses(made, run):
    (made / "bad.json").write_text('{"v0": "a man"}')
    status, _, err = run(*SUBMIT, "bad.json")
    assert status == 2
    assert "9 items have no caption (first: 'v1', 'v2', 'v3', 'v4', 'v5')" in err
    for number, expected in ((0, 0), (1, 0), (2, 3)):
        (made / "run.json").write_bytes(captions(number))
        status, _, err = run(*SUBMIT, "run.json")
        assert status == expected, err
    path = made / "dogs.toml"
    path.write_text(path.read_text().replace("closes = 2999", "closes = 2026"))
    status, _, err = run("challenge", "new", "dogs.toml")
    assert "Phase 'main' closes 2026-06-11T00:00:00.000000Z, was 2999-" in err
    status, _, err = run(*SUBMIT, "run.json")
    assert (status, err) == (4, "Error: The phase closed at 2026-06-11T00:00:00.000000Z.\n")


def test_what_fails_early_makes_no_team(made, run):
    (made / "run.json").write_bytes(captions())
    to = ("--database", "dogs.db", "--team", "Nobody", "--phase")
    assert "Did you mean 'main'" in run("challenge", "submit", "run.json", *to, "mian")[2]
    words = ("none.zip", "dogs.db", "--team", "Nobody", "--phase", "main")
    assert "none.zip: cannot be read" in run("challenge", "import", *words)[2]
    invite = ("challenge", "invite", "dogs.db", "--phase", "main", "--reason", "x", "--team")
    status, _, err = run(*invite, "Nobody")
    assert (status, "Unknown team 'Nobody'" in err) == (2, True)


def test_a_definition_with_mistakes(made, run):
    path = made / "dogs.toml"
    path.write_text(path.read_text().replace("resamples", "resample"))
    status, _, err = run("challenge", "new", "dogs.toml", "other.db")
    assert status == 2
    assert "dogs.toml: [scoring] has no key 'resample'; did you mean resamples?" in err
    assert not (made / "other.db").exists()
    path.write_text(path.read_text().replace("resample", "resamples"))
    (made / "references.json").write_text('{"v1": []}')
    assert run("challenge", "new", "dogs.toml", "other.db")[0] == 2
    assert not list(made.glob("*other.db*"))  # no database without a challenge is left


def test_baselines_are_handed_in(made, run):
    (made / "nn.json").write_bytes(captions(3))
    path = made / "dogs.toml"
    more = '\n[[baseline]]\nname = "Nearest"\nfile = "nn.json"\nphase = "main"\n'
    path.write_text(path.read_text() + more)
    for said in ("Baseline 'Nearest' waits", "Nothing has changed"):
        status, _, err = run("challenge", "new", "dogs.toml")
        assert status == 0
        assert said in err
    _, out, _ = run("challenge", "submissions", "--database", "dogs.db")
    assert out.count("Nearest, main") == 1
    assert run(*SUBMIT, "run.json")[0] == 0
    path.write_text(path.read_text().replace('"Nearest"', '"ours"'))
    status, _, err = run("challenge", "new", "dogs.toml")
    assert status == 2
    assert "dogs.toml: [[baseline]] 'ours' has the name of a team that takes part, 'Ours'" in err
    _, out, _ = run("challenge", "submissions", "--database", "dogs.db")
    assert out.count("Ours, main") == 1


def test_downloads_of_codalab_are_imported(made, run):
    """A folder, `__MACOSX` and metadata around captions that have the scores of the bare file."""
    with zipfile.ZipFile(made / "old.zip", "w") as archive:
        for name, content in (
            ("sub/captions_test_results.json", captions()),
            ("__MACOSX/sub/._captions_test_results.json", b"\0\5\26\7"),
            ("metadata", b"description: old"),
        ):
            member = zipfile.ZipInfo(name, (2026, 6, 3, 4, 5, 6))
            archive.writestr(member, content)
    words = ("old.zip", "dogs.db", "--phase", "main", "--team", "Old")
    status, _, err = run("challenge", "import", *words)
    assert (status, err) == (0, "old.zip: submission 1 of 2026-06-03T04:05:06.000000Z.\n")
    status, _, err = run(*SUBMIT, "run.json")
    assert "left today 1" in err  # of two: nothing was charged for the imported one
    assert run("challenge", "worker", "dogs.db", "--once")[0] == 0
    _, out, _ = run("challenge", "submissions", "--database", "dogs.db", "--json", "-")
    old, new = json.loads(out)
    assert (old["arrived"], old["late"]) == ("2026-06-03T04:05:06.000000Z", False)
    assert old["scores"] == new["scores"] != {}


def test_a_zip_of_two_files_for_two_splits_has_the_scores_of_the_bare_files(made, run):
    parts = {"one": {}, "two": {}}
    for k, (item, caption) in enumerate(json.loads(captions()).items()):
        parts["one" if k < 4 else "two"][item] = caption
    references = json.loads((made / "references.json").read_text())
    more = ""
    for split, part in parts.items():
        (made / f"{split}.json").write_text(json.dumps(part))
        own = {item: references[item] for item in part}
        (made / f"{split}_references.json").write_text(json.dumps(own))
        more += f'[[split]]\nid = "{split}"\nvisibility = "blind"\n'
        more += f'references = "{split}_references.json"\n'
    for phase, splits in (("both", ["one", "two"]), ("one", ["one"]), ("two", ["two"])):
        more += f'[[phase]]\nid = "{phase}"\nsplits = {json.dumps(splits)}\n'
        more += "opens = 2026-06-01T00:00:00Z\ncloses = 2999-06-11T00:00:00Z\n"
    path = write_definition(made, limits="per_day = 2, total = 20", more=more)
    path.write_text(path.read_text().replace("closes = 2026", "closes = 2999"))
    assert run("challenge", "new", "dogs.toml")[0] == 0
    with zipfile.ZipFile(made / "both.zip", "w") as archive:
        for split in parts:
            archive.write(made / f"{split}.json", f"sub/captions_{split}_results.json")
            archive.writestr(f"__MACOSX/sub/._captions_{split}_results.json", b"\0\5\26\7")
    submit = ("--database", "dogs.db", "--team", "Ours", "--phase")
    assert run("challenge", "import", "both.zip", *("dogs.db", *submit[2:]), "both")[0] == 0
    status, _, err = run("challenge", "submit", "both.zip", "--again", *submit, "both")
    assert (status, "Passed over in both.zip: __MACOSX" in err) == (0, True)
    for split in parts:
        assert run("challenge", "submit", f"{split}.json", *submit, split)[0] == 0
    assert run("challenge", "worker", "dogs.db", "--once")[0] == 0
    _, out, _ = run("challenge", "submissions", "--database", "dogs.db", "--json", "-")
    imported, sent, one, two = json.loads(out)
    assert list(imported["scores"]) == ["one", "two"]
    assert imported["scores"] == sent["scores"] == {**one["scores"], **two["scores"]}


def test_a_worker_without_a_gpu_says_so_at_once(run, monkeypatch):
    monkeypatch.setattr(hosting, "default_device", lambda: "cpu")
    status, _, err = run("challenge", "worker", "dogs.db", "--device", "cuda")
    assert status == 2
    assert err == "Error: --device cuda: no GPU that torch can use is here. Leave the option out.\n"
