"""What the commands take for candidates and for references, as users type and write it."""

from __future__ import annotations

import json
import shlex

import click
import pytest

from reelscore.cli.file_options import FilesCommand, FilesOption
from reelscore.cli.main import cli

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
    _, _, err = run("score", name, "-o", "-.csv")
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
    assert "run.csv: the format of the content is unknown" in err
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


@pytest.fixture
def refs(folder):
    """References of two annotators in a folder of their own, and timed captions."""
    (folder / "refs").mkdir()
    for name in ("r1.txt", "r2.txt"):
        (folder / name).rename(folder / "refs" / name)
    for name, sentence in (("ours", "a man runs"), ("val_1", "he runs"), ("val_2", "a dog runs")):
        story = {"v1": [{"sentence": sentence, "timestamp": [0, 5]}]}
        (folder / f"{name}.json").write_text(json.dumps(story))
    return ["refs/r1.txt", "refs/r2.txt"]  # as the shell expands refs/*.txt


SEVERAL = [
    # arguments without references; -r and its files come after them
    ("score", "a.txt", "-m", "meteor,cider"),
    ("compare", "a.txt", "b.txt", "-m", "meteor", "--test", "trials:20", "--resamples", "20"),
    ("analyse", "difficulty", "a.txt"),
    ("analyse", "similarity", "a.txt"),
    ("audit", "a.txt", "b.txt"),
]


@pytest.mark.parametrize("command", SEVERAL)
def test_refs_take_several_files(run, refs, command):
    expected = run(*command, "-r", refs[0], "-r", refs[1])
    for arguments in (["-r", *refs], ["--refs", *refs], [f"-r{refs[0]}", refs[1]]):
        assert run(*command, *arguments) == expected
    name, first, *rest = command
    if not rest or rest[0].startswith("-"):
        assert run(name, first, "-r", *refs, *rest) == expected, "options may follow"
    assert run(*command, "-r", refs[0]) != expected


def test_stories_take_several_files(run, refs):
    command = ("stories", "ours.json", "--scores", "soda_c")
    expected = run(*command, "-r", "val_1.json", "-r", "val_2.json")
    assert expected[0] == 0
    assert run(*command, "-r", "val_1.json", "val_2.json") == expected
    assert "References: val_1.json, val_2.json." in expected[1]
    assert [line.split()[0] for line in expected[1].splitlines()[2:3]] == ["ours"]


def copied(err):
    """The commands that a message offers, as the shell would split them."""
    return [shlex.split(line)[1:] for line in err.splitlines() if line.startswith("  ")]


def test_refs_before_the_candidates_are_refused(run, refs):
    status, out, err = run("score", "-r", "refs/r1.txt", "a.txt", "-m", "bleu|n:2")
    assert (status, out) == (2, "")
    assert "-r takes all files up to the next option (refs/r1.txt, a.txt)" in err
    (command,) = copied(err)
    assert command == ["score", "a.txt", "-r", "refs/r1.txt", "-m", "bleu|n:2"]
    assert run(*command)[0] == 0
    status, _, err = run("score", "-r", *refs, "a.txt")
    assert status == 2
    assert copied(err) == [
        ["score", "a.txt", "-r", *refs],
        ["score", refs[1], "a.txt", "-r", refs[0]],
    ]
    for command in copied(err):
        assert run(*command)[0] == 0
    assert run("score", "-r", *refs, "--", "a.txt")[0] == 0
    assert run("score", "-r", *refs, "-m", "meteor", "a.txt")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["stories", "-r", "val_1.json", "ours.json"], ["stories", "score", "ours.json"]),
        (["meta", "-r", "val_1.json", "t.csv", "--human", "h"], ["meta", "tables", "t.csv"]),
        (["campaign", "new", "my.db", "-r", "r.json", "s"], ["campaign", "new", "my.db", "s"]),
    ],
)
def test_the_rule_is_the_same_for_all_commands(run, refs, arguments, expected):
    status, _, err = run(*arguments)
    assert status == 2
    assert copied(err)[0][: len(expected)] == expected


def test_systems_after_refs_are_refused(run, refs, folder):
    (folder / "runs").mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / name).rename(folder / "runs" / name)
    status, out, err = run("score", "runs/a.txt", "-r", "refs/r1.txt", "runs/b.txt")
    assert (status, out) == (2, "")
    two_systems, two_references = copied(err)
    assert two_systems == ["score", "runs/a.txt", "runs/b.txt", "-r", "refs/r1.txt"]
    assert two_references == ["score", "runs/a.txt", "-r", "refs/r1.txt", "-r", "runs/b.txt"]
    assert run(*two_systems)[0] == run(*two_references)[0] == 0
    status, _, err = run("score", "runs/a.txt", "-r", "refs/r1.txt", "b=runs/b.txt")
    assert status == 2
    assert copied(err) == [["score", "runs/a.txt", "b=runs/b.txt", "-r", "refs/r1.txt"]]


def test_captions_of_several_systems(run, folder):
    run("score", "weak.json", "strong.json", "-r", "refs.json", "-m", "meteor", "--table", "t.json")
    once = run("inspect", "t.json", "--captions", "weak.json", "strong.json", "-r", "refs.json")
    twice = ("--captions", "weak.json", "--captions", "strong.json")
    assert once == run("inspect", "t.json", *twice, "-r", "refs.json")
    assert once[0] == 0
    (folder / "other.json").write_text((folder / "strong.json").read_text())
    named = ("--captions", "weak.json", "strong=other.json")
    assert once == run("inspect", "t.json", *named, "-r", "refs.json")


def walk(command, context):
    yield command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from walk(command.get_command(context, name), context)


def test_every_command_with_references_knows_the_rule():
    commands = list(walk(cli, click.Context(cli)))
    answers = {"lsmdc"}  # whose references are no captions
    having = [c for c in commands if any("--refs" in p.opts for p in c.params)]
    having = [c for c in having if c.name not in answers]
    assert len(having) >= 12
    for command in having:
        assert isinstance(command, FilesCommand), command.name
        assert all(isinstance(p, FilesOption) for p in command.params if "--refs" in p.opts)


@pytest.fixture
def partly(folder, write_json):
    """A system that gives no caption for some items."""
    captions = json.loads((folder / "strong.json").read_text())
    return write_json("partly.json", dict(list(captions.items())[4:]))


def test_systems_on_different_items_are_marked(run, folder, partly):
    files = ("weak.json", partly, "broken.json", "-r", "refs.json", "-m", "rouge_l")
    status, out, _ = run("score", *files, "--missing", "skip", "--table", "t.json")
    assert status == 0
    assert "partly†" in out
    assert "† not comparable, so not ranked: partly was scored on 11 of 15 items." in out
    assert "pass --missing common" in " ".join(out.split())
    assert run("report", "t.json", "-o", "t.md")[0] == 0, "also of a stored table"
    assert "partly was scored on 11 of 15 items" in (folder / "t.md").read_text()
    status, _, err = run("compare", *files, "--missing", "skip")
    assert status == 2
    assert "--missing common" in err


@pytest.mark.parametrize("command", ["score", "compare"])
def test_common_items(run, partly, command):
    files = ("weak.json", partly, "-r", "refs.json", "-m", "rouge_l", "--missing", "common")
    status, out, _ = run(command, *files)
    assert status == 0
    assert "†" not in out
    assert "Scored on the 11 of 15 items that all systems have." in out
    assert "common:11/15" in out.replace("\n  ", "")


@pytest.mark.shared
def test_all_references_of_real_captions_count(run, shared):
    folder = shared / "trecvid-vtt-ha" / "multiple-annotator" / "2020"
    system = folder / "systems" / "trecvid20-vtt.en-en.RUC_AIM3"
    references = sorted((folder / "references").iterdir())
    _, out, _ = run("score", f"ours={system}", "-r", *references, "-m", "cider")
    assert out.splitlines()[1].split() == ["ours", "0.3030"]
    _, out, _ = run("score", f"ours={system}", "-r", references[0], "-m", "cider")
    assert out.splitlines()[1].split() == ["ours", "0.2674"], "with one reference"


@pytest.mark.shared
def test_all_annotators_of_real_stories_count(run, shared):
    ours, *truth = (
        shared / "dense" / f"{name}.json.gz"
        for name in ("bmt_gtprop_val_1", "anet_val_1", "anet_val_2")
    )
    _, out, _ = run("stories", f"ours={ours}", "-r", *truth, "--scores", "soda_c")
    assert out.splitlines()[2].split()[:2] == ["ours", "0.0728"]
    _, out, _ = run("stories", f"ours={ours}", "-r", truth[0], "--scores", "soda_c")
    assert out.splitlines()[2].split()[:2] == ["ours", "0.0993"], "with one annotator"
