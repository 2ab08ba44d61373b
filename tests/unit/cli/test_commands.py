"""All commands: help, width, exit status as a process."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from reelscore import __version__, metric_names, tokenize
from reelscore.cli.file_options import FilesCommand, FilesOption
from reelscore.cli.main import cli
from reelscore.cli.options import HEADINGS, Command, SettingsOption

SYSTEMS = ("human.json", "strong.json", "weak.json", "broken.json")
ALL = "bleu,meteor,rouge_l,cider,sent_bleu,self_bleu,diversity"
QUICK = ("--resamples", "50", "--test", "trials:50")
LONG = "a_system_with_a_name_that_is_far_longer_than_the_column_for_names_allows"

NARROW = [
    ("--help",),
    ("score", "--help"),
    ("compare", "--help"),
    ("tokenize", "--help"),
    ("metrics", "--help"),
    ("demo", "--help"),
    ("score", *SYSTEMS, "-r", "refs.json"),
    ("score", *SYSTEMS, "-r", "refs.json", "--intervals", "--items", "-m", ALL),
    ("score", f"{LONG}=a.txt", "-r", "r1.txt"),
    ("score", f"{LONG}=short.txt", "-r", "r1.txt", "--missing", "zero"),
    ("compare", *SYSTEMS, "-r", "refs.json", *QUICK),
    ("compare", *SYSTEMS, "-r", "refs.json", "--all-pairs", *QUICK),
    ("metrics",),
    ("metrics", "meteor", "bleu", "diversity"),
    ("score", f"{LONG}=long_ids.json", "-r", "long_refs.json", "--items"),
    ("compare", f"{LONG}=a.txt", "b.txt", "-r", "r1.txt", *QUICK),
]


@pytest.fixture
def files(folder, write_json):
    (folder / "short.txt").write_text("a man\n")
    ids = ["v" * 120, "w"]
    write_json("long_ids.json", dict.fromkeys(ids, "a man"))
    write_json("long_refs.json", {item: ["a man"] for item in ids})
    return folder


def commands(group, path=()):
    """All commands below a group, with the words that call them."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


# The seed of a model, or of the clips that models learn from, is part of its name, and is 0.
OF_MODELS = {
    ("bertha", "train"),
    ("bertha", "evaluate"),
    ("caption", "train"),
    ("caption", "render"),
}


def test_an_option_is_the_same_in_all_commands():
    spellings = {name: set() for name in ("--seed", "--resamples")}
    for path, command in commands(cli):
        for option in command.params:
            for name in spellings.keys() & set(option.opts):
                if path not in OF_MODELS:
                    spellings[name].add((repr(option.type), option.default))
    assert spellings == {
        "--seed": {("<IntRange x>=0>", 12345)},
        "--resamples": {("<IntRange x>=10>", 1000)},
    }


@pytest.mark.parametrize(
    "arguments",
    NARROW,
    ids=lambda arguments: " ".join(arguments).replace(LONG, "LONG"),
)
def test_eighty_columns(run, files, arguments):
    status, out, err = run(*arguments)
    assert status == 0, err
    too_wide = [line for line in out.splitlines() if len(line) > 80]
    assert too_wide == []


def test_demo_fits_but_for_captions_and_paths(run):
    status, out, _ = run("demo")
    assert status == 0
    texts = ("clip", "cd ", "A ", "An ")
    tables = [line for line in out.splitlines() if not line.startswith(texts)]
    assert max(map(len, tables)) <= 80
    assert "meteor" in out
    assert "Self-BLEU" in out


@pytest.mark.parametrize("command", ["score", "compare", "tokenize", "metrics", "demo"])
def test_help_with_clicks_runner(command):
    result = CliRunner().invoke(cli, [command, "--help"])
    assert result.exit_code == 0
    assert result.output.startswith("Usage: ")
    listing = CliRunner().invoke(cli, ["--help"]).output
    assert re.search(rf"  {command} |[:,] {command}\b", listing)
    assert len(listing.splitlines()) <= 24


def test_the_first_screen_names_every_command():
    listing = CliRunner().invoke(cli, ["--help"]).output
    words = re.sub(r" {2,}[A-Z].*", "", listing).replace(",", "").split()
    missing = [name for name in cli.list_commands(click.Context(cli)) if name not in words]
    assert missing == []
    assert "More" not in listing  # every wing says where its commands are listed


def test_many_options_are_listed_under_headings():
    text = CliRunner().invoke(cli, ["score", "--help"]).output
    sections = dict(re.findall(r"^(\w[\w ]+):\n(.*?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL))
    assert next(iter(sections)) == "Options"
    assert "--refs" in sections["Options"]
    assert "id:" in sections["Files"]
    assert "--seed" in sections["Statistics"]
    assert "--engine" in sections["Large sets and clusters"]
    few = CliRunner().invoke(cli, ["check", "--help"]).output
    assert "Files:" not in few  # and few are one list


def test_options_of_a_kind_are_in_commands_that_know_them():
    for words, command in commands(cli):
        kinds = {type(param) for param in command.params}
        assert FilesOption not in kinds or isinstance(command, FilesCommand), words
        assert SettingsOption not in kinds or isinstance(command, Command), words


def test_headings_name_options_that_there_are():
    named = {
        name for command in (c for _, c in commands(cli)) for p in command.params for name in p.opts
    }
    listed = {f"--{name}" for names in HEADINGS.values() for name in names.split()}
    assert listed <= named


def test_score_with_clicks_runner(folder):
    result = CliRunner().invoke(cli, ["score", "a.txt", "-r", "r1.txt", "--json", "-"])
    assert result.exit_code == 0
    assert list(json.loads(result.stdout)["systems"]) == ["a"]


def test_metrics(run):
    _, out, _ = run("metrics")
    assert [line.split()[0] for line in out.splitlines() if not line.startswith(" ")] == (
        metric_names()
    )
    _, out, _ = run("metrics", "meteor")
    assert "alpha=0.85" in out
    assert "Denkowski" in out


def test_tokenize(run, folder):
    (folder / "c.txt").write_text("Plan B.\nThe man's dog, (left)\n")
    _, out, _ = run("tokenize", "c.txt")
    assert out.splitlines() == tokenize(["Plan B.", "The man's dog, (left)"])
    _, out, _ = run("tokenize", "c.txt", "--keep-punctuation", "--tokenizer", "ptb-coco")
    assert out.splitlines() == ["plan b .", "the man 's dog , -lrb- left -rrb-"]
    _, out, _ = run("tokenize", "refs.json")
    assert len(out.splitlines()) == 45  # a line for each caption


def reelscore(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", "from reelscore.cli.main import main; main()", *arguments],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def test_as_a_process(folder):
    done = reelscore("score", "a.txt", "b.txt", "--refs", "r1.txt", "--threads", "2")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "\x1b" not in done.stdout  # no colours where nobody looks
    assert reelscore("--version").stdout == f"reelscore, version {__version__}\n"
    done = reelscore("score", "none.txt", "-r", "r1.txt")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: none.txt: no such file.\n"
    done = reelscore()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Usage:")


def test_output_is_the_same_in_other_locales(folder):
    outputs = {
        reelscore(
            "score", "human.json", "-r", "refs.json", "--intervals", env={**os.environ, **locale}
        ).stdout
        for locale in ({"LC_ALL": "C.UTF-8"}, {"COLUMNS": "200"}, {"TERM": "dumb"})
    }
    assert len(outputs) == 1


def test_a_closed_pipe_is_no_error(folder):
    (folder / "many.txt").write_text("a man runs\n" * 200_000)
    script = "from reelscore.cli.main import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", script, "tokenize", "many.txt"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"a man runs\n"
        process.stdout.close()
        errors = process.stderr.read()
    assert b"Traceback" not in errors


def test_an_interrupt_is_quiet_and_writes_nothing(folder):
    script = "\n".join(
        [
            "import time",
            "from reelscore.cli.commands import score",
            "def slow(*args, **kwargs):",
            "    print('started', flush=True)",
            "    time.sleep(60)",
            "score.score_systems = slow",
            "from reelscore.cli.main import main",
            "main()",
        ]
    )
    before = sorted(path.name for path in folder.iterdir())
    with subprocess.Popen(
        [sys.executable, "-c", script, "score", "a.txt", "-r", "r1.txt", "--json", "o.json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert "Interrupted" in errors
    assert sorted(path.name for path in folder.iterdir()) == before
