"""The command ``reelscore bertha``."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest
from click.testing import CliRunner

from reelscore import examples
from reelscore.cli.main import cli
from reelscore.learned.model_files import ModelInfo
from reelscore.learned.networks.pair_scores import engine
from reelscore_studies.judged.trecvid_ha import YEARS
from reelscore_studies.repro.judged_scores import Judged
from reelscore_studies.repro.unseen_years import CLASSICAL


def run(*arguments):
    return CliRunner().invoke(cli, ["bertha", *map(str, arguments)], catch_exceptions=True)


def prepared(tmp_path):
    clips = examples.path("clips")
    done = run(
        "prepare",
        *sorted((clips / "systems").iterdir()),
        *("-r", clips / "references.json", "--human", clips / "judgments.csv"),
        *("-o", tmp_path / "own.jsonl"),
    )
    assert done.exit_code == 0, done.output
    assert "60 captions, 60 of them judged" in done.output
    lines = (tmp_path / "own.jsonl").read_text().splitlines()
    assert {json.loads(line)["ratings"] for line in lines} == {2}  # two raters judged each
    return tmp_path / "own.jsonl"


def test_prepare_needs_something(tmp_path):
    done = run("prepare", "-o", tmp_path / "own.jsonl")
    assert done.exit_code == 2
    assert "Missing argument 'CANDIDATES...'" in done.output
    assert not (tmp_path / "own.jsonl").exists()


@pytest.mark.parametrize(
    ("human", "message"),
    [
        ("system,item\nstrong,clip01\n", "has no column score"),
        ("item,score\nclip01,3\n", "has no column system"),
        ("system,item,score\n", "it has no score"),
        ("system,item,score\nstrong,x,3\n", "1 judged captions of 'strong' are not among the"),
        ("system,item,score\nstrong,clip01,3\n", "are by 'strong'; expected two systems"),
        (
            "system,item,score\nstrong,clip01,3\nweak,clip01,4\n",
            "are of one item, 'own/clip01'",
        ),
        (
            "system,item,score\nstrong,clip01,3\nweak,clip02,3\n",
            "All human scores of 'own' are 3.0",
        ),
    ],
)
def test_bad_judgments(tmp_path, human, message):
    clips = examples.path("clips")
    (tmp_path / "human.csv").write_text(human)
    done = run(
        "prepare",
        *sorted((clips / "systems").iterdir()),
        *("-r", clips / "references.json", "--human", tmp_path / "human.csv"),
        *("-o", tmp_path / "own.jsonl"),
    )
    assert message in str(done.exception)
    assert not (tmp_path / "own.jsonl").exists()


def test_info():
    pytest.importorskip("reelscore_bertha")
    done = run("info")
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert max(map(len, lines)) <= 80
    assert "It learned from 100,077 captions, 64,003 of them judged by people: TRECVid" in lines
    said = " ".join(done.output.split())
    assert "those before the last stage are the mean of 3 trainings. The stages:" in said
    assert "5. damaged captions beside whole ones, and anchors: 2 epochs" in said
    assert "  4. people's judgments of captions judged often (MA): 4 epochs, learning rate" in lines
    assert "caption level                            2016   2017   2018   2019   2020" in lines
    assert "MA, all references                      0.809  0.789  0.820  0.830  0.773" in lines
    assert not any(sign in done.output for sign in ("Recipe(", "Stage(", "{", "kinds="))
    assert "On this machine it is computed by" in done.output
    assert json.loads(run("info", "--json", "-").output)["max_length"] == 128


@pytest.mark.parametrize(
    ("kind", "device", "expected"),
    [
        ("bert", "cpu", "onnxruntime 9.9, on the processor"),
        ("bert", "cuda", "torch, which is missing: pip install 'reelscore[torch]'"),
        ("roberta", "cpu", "torch, which is missing: pip install 'reelscore[torch]'"),
    ],
)
def test_what_computes_a_model(kind, device, expected, monkeypatch):
    def version(package):
        if package == "torch":
            raise PackageNotFoundError
        return "9.9"

    monkeypatch.setattr("reelscore.learned.networks.pair_scores.version", version)
    monkeypatch.setattr("reelscore.learned.networks.pair_scores.default_device", lambda: device)
    assert engine(ModelInfo("mine", {"model_type": kind}, 128)) == expected


def test_export(tmp_path):
    pytest.importorskip("reelscore_bertha")
    done = run("info", "--export", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "config.json").is_file()
    (tmp_path / "file").write_text("here")
    done = run("info", "--export", tmp_path / "file")
    assert "file: the folder cannot be made (File exists)" in str(done.exception)


def test_unseen_years_say_what_is_wrong(tmp_path):
    command = ["repro", "unseen-years", "--data", tmp_path, "--html", tmp_path / "page.html"]
    done = CliRunner().invoke(cli, [*map(str, command)])
    assert done.exit_code != 0
    assert str(tmp_path) in str(done.exception)
    assert not (tmp_path / "page.html").exists()


def test_evaluate_knows_the_campaigns(tmp_path):
    done = run("evaluate", prepared(tmp_path), "--only", "MA-2020")
    assert "Unknown campaign 'MA-2020'. Known: own" in str(done.exception)


def test_train_says_what_is_wrong(tmp_path):
    judged = prepared(tmp_path)
    assert "Unknown recipe 'nothing'" in str(
        run("train", judged, tmp_path / "run", "--recipe", "nothing").exception
    )
    assert "Unknown group 'x'" in str(
        run("train", judged, tmp_path / "run", "--hold-out", "x").exception
    )
    (tmp_path / "notes.txt").write_text("mine")
    refused = str(run("train", judged, tmp_path).exception)
    assert "holds other files" in refused
    assert "and no training.json; choose an empty folder." in refused


def test_evaluate_writes_a_report(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)

    def year() -> Judged:
        human = rng.normal(size=80)
        scores = {
            name: human + rng.normal(size=80) * noise
            for noise, name in enumerate((*CLASSICAL, "sts", "bertha"), start=1)
        }
        videos = np.tile(np.arange(20), 4)
        return Judged(np.repeat(["a", "b", "c", "d"], 20), human, scores, videos)

    years = {each: year() for each in YEARS}
    monkeypatch.setattr("reelscore_studies.repro.unseen_years.features", lambda *_, **__: years)
    page = tmp_path / "agreement.html"
    result = CliRunner().invoke(cli, ["repro", "unseen-years", "--data", "x", "--html", str(page)])
    assert result.exit_code == 0, result.output
    assert "Williams, captions" in result.output
    text = page.read_text(encoding="utf-8")
    assert "Agreement with people on TRECVid, MA" in text
    mean = np.mean([each.caption_level("bleu_4") for each in years.values()])
    assert f"{mean:.4f}" in text
    line = result.output.split("MA, 95 %")[1].splitlines()[1]
    low, high = map(float, line.split()[-1].split("–"))
    assert line.startswith("bleu_4")
    assert mean - 0.1 < low < mean < high < mean + 0.1
