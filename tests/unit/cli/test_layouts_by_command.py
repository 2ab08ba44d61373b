"""Every layout of files on commands that read captions, and every such command.

Commands read files by the same code: `score` and `check` get all layouts, the others one of each
kind.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from reelscore.data import read_candidates, read_references

LAYOUTS = Path(__file__).parents[1] / "data" / "layouts"


class Layout(NamedTuple):
    """A file, what it holds, and the options that it needs."""

    name: str
    has_candidates: bool = False
    has_references: bool = True
    options: tuple[str, ...] = ()

    def named(self) -> dict[str, str]:
        """Return the options as arguments of Python."""
        if self.options[:1] == ("--split",):
            return {"split": self.options[1]}
        settings = [part.split(":") for value in self.options[1:] for part in value.split("|")]
        fields = {"id": "id_field", "caption": "caption_field", "reference": "reference_field"}
        return {fields.get(key, key): value for key, value in settings}


CASES = [
    *map(
        Layout,
        [
            *("msrvtt.json", "vatex.json", "karpathy.json", "coco.json", "msvd.txt", "lsmdc.csv"),
            *("msvd_tabs.txt", "clotho.csv", "audiocaps.csv", "semicolons.csv", "gts.json"),
            *("list_references.json", "youcook2.json", "activitynet.json"),
        ],
    ),
    Layout("vatex.json", options=("--format", "reference:chCap")),
    Layout("msrvtt.json", options=("--split", "test")),
    *(
        Layout(name, has_candidates=True)
        for name in ("by_item.json", "inference.jsonl", "parallel.json", "gts_res.json")
    ),
    *(
        Layout(name, has_candidates=True, has_references=False)
        for name in (
            *("predictions.json", "results.json", "res.json", "list.json", "dataframe.json"),
            "activitynet_results.json",
        )
    ),
    Layout("headerless.tsv", True, False, ("--format", "header:id,caption")),
    Layout("headerless.csv", True, False, ("--format", "header:id,rank,caption")),
    Layout("made.parquet", True, True),
    Layout("made_utf16.csv", True, False, ("--format", "encoding:utf-16")),
    Layout("made_names.csv", True, True, ("--format", "id:k|caption:says")),
]


# Of each kind one: references, with an option, both, candidates.
KINDS = (
    "msrvtt.json",
    "vatex.json-reference:chCap",
    "parallel.json",
    "headerless.csv-header:id,rank,caption",
)


def name_of(case: Layout) -> str:
    return "-".join((case.name, *case.options[1::2]))


each_kind = pytest.mark.parametrize(
    "files", [case for case in CASES if name_of(case) in KINDS], ids=name_of, indirect=True
)


class Files(NamedTuple):
    """A system's captions, references, and the file of the layout."""

    ours: str
    refs: str
    options: list[str]
    name: str
    captions: list[str]  # that 'check' finds: the candidates, if there are any
    human: list[str]

    @property
    def scored(self) -> list[str]:
        """What follows the candidates: a file of both needs no references."""
        both = self.ours.endswith(f"={self.refs}")
        return [*([] if both else ["-r", self.refs]), *self.options]

    @property
    def two(self) -> list[str]:
        """Two systems with references."""
        return [self.ours, "other.json", "-r", self.refs, *self.options]


@pytest.fixture(params=CASES, ids=name_of)
def files(request, tmp_path, monkeypatch):
    """The files of a layout, and what else the commands need."""
    case: Layout = request.param
    monkeypatch.chdir(tmp_path)
    path = tmp_path / case.name
    if case.name.startswith("made"):
        make(path)
    else:
        shutil.copy(LAYOUTS / case.name, path)
    named = case.named()
    truth = read_references(path, **named) if case.has_references else {}
    texts = read_candidates(path, **named) if case.has_candidates else {}
    ids = list(texts or truth)
    write("other.json", dict.fromkeys(ids, "a man walks a dog"))
    if not case.has_candidates:
        write("plain.json", {item: truth[item][0] for item in ids})
    if not case.has_references:
        write("plain.json", {item: [texts[item], "a person"] for item in ids})
    ours = case.name if case.has_candidates else "plain.json"
    refs = case.name if case.has_references else "plain.json"
    rows = [(s, i, k + len(s)) for s in ("ours", "other") for k, i in enumerate(ids)]
    for name in ("metric.csv", "human.csv"):
        stream = io.StringIO()
        csv.writer(stream).writerows([("system", "item", "score"), *rows])
        (tmp_path / name).write_text(stream.getvalue())
    captions = list(texts.values()) or [text for each in truth.values() for text in each]
    human = [text for each in truth.values() for text in each] or captions
    return Files(f"ours={ours}", refs, list(case.options), case.name, captions, human)


def make(path: Path) -> None:
    texts = {"v1": "un café", "v2": "a dog", "v3": "two women"}
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pairs = {"video_id": list(texts), "prediction": list(texts.values())}
        refs = [[text, "x"] for text in texts.values()]
        pq.write_table(pa.table({**pairs, "references": refs}), path)
    elif path.name == "made_utf16.csv":
        rows = "".join(f"{item},{text}\n" for item, text in texts.items())
        path.write_text(f"id,caption\n{rows}", encoding="utf-16")
    else:
        rows = "".join(f"{item};{text};{text} x\n" for item, text in texts.items())
        path.write_text(f"k;says;reference\n{rows}", encoding="utf-8")


def write(name: str, value: object) -> None:
    Path(name).write_text(json.dumps(value))


def test_score(files, run):
    status, out, err = run("score", files.ours, *files.scored, "-m", "rouge_l", "-o", "-.csv")
    assert (status, out.splitlines()[1].split(",")[0]) == (0, "ours"), err


@each_kind
def test_compare(files, run):
    options = ("-m", "rouge_l", "--test", "trials:10", "--resamples", 10)
    status, out, err = run("compare", *files.two, *options)
    assert status == 0, err
    assert {"ours", "other"} <= {*out.split()}


def test_check(files, run):
    status, out, err = run("check", files.name, *files.options)
    assert status in (0, 1), err
    assert f"{len(files.captions)} captions" in out


@each_kind
@pytest.mark.parametrize("command", ["audit", "analyse difficulty", "analyse similarity"])
def test_analyses(files, run, command):
    status, out, err = run(*command.split(), *files.two)
    assert (status, bool(out)) == (0, True), err


@each_kind
def test_stored_tables(files, run):
    captions = ("--captions", *files.two)
    status, out, err = run("inspect", "metric.csv", *captions)
    assert status == 0, err
    assert out.count("a man walks a dog") >= 3
    status, _, err = run("report", "metric.csv", *captions, "-o", "out.csv", "--resamples", 10)
    assert status == 0, err
    status, _, err = run("meta", "metric.csv", "--human", "human.csv", *captions, "-t", "none")
    assert status == 0, err


@each_kind
def test_language(files, run, monkeypatch):
    status, out, err = run("tokenize", files.name, *files.options)
    assert (status, len(out.splitlines())) == (0, len(files.human)), err
    parsed = []
    monkeypatch.setattr(
        "reelscore.cli.commands.parse.parse", lambda captions, **_: parsed.append(captions) or {}
    )
    monkeypatch.setattr("reelscore.cli.commands.parse._show", lambda *_: None)
    options = [each.replace("--format", "--input-format") for each in files.options]
    status, _, err = run("parse", files.name, *options)
    assert status == 0, err
    assert [text for texts in parsed[0].values() for text in texts] == files.human


@each_kind
def test_judgments(files, run):
    status, out, err = run(
        "bertha", "prepare", *files.two, "--human", "human.csv", "-o", "own.jsonl"
    )
    assert status == 0, err
    assert "of them judged" in out
    status, _, err = run(
        "campaign", "new", "my.db", *files.two, "--protocol", "ranking", "--per-hit", 1
    )
    assert status == 0, err
