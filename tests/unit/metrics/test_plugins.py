"""Metrics of other packages: the example, really installed, and packages that cannot be used."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reelscore import DataError, Reward, ScoreTable, compare, examples, score_systems
from reelscore.metrics.registry import metric_class, metric_names, parse_signature

ROOT = Path(__file__).resolve().parents[3]
SYSTEMS, REFERENCES = examples.clips()


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder that the example package was installed into."""
    home = tmp_path_factory.mktemp("plugin")
    shutil.copytree(ROOT / "examples" / "plugin", home / "source")
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--no-cache-dir")
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "--disable-pip-version-check", "install"),
            *(*options, "--target", home / "site", home / "source"),
        ],
        check=True,
        timeout=120,
    )
    return home / "site"


@pytest.fixture
def plugin(installed, monkeypatch):
    monkeypatch.syspath_prepend(str(installed))


def run(*arguments, path):
    """Run the command in a process of its own, where packages of one more folder are installed."""
    done = subprocess.run(
        [sys.executable, "-m", "reelscore", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(path), *map(str, sys.path)])},
        cwd=examples.path("clips"),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_the_example_on_the_command_line(installed, tmp_path):
    files = ("systems/human.json", "systems/weak.json", "-r", "references.json")
    metrics = "word_overlap,Missed-Words,word_overlap|references:mean,METEOR"
    table = tmp_path / "scores.json"
    status, out, err = run("compare", *files, "-m", metrics, "--json", table, path=installed)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert re.split("  +", lines[0]) == [
        *("system", "Word overlap", "Missed words ↓", "Word overlap (references:mean)", "METEOR")
    ]
    assert lines[2].split()[2].endswith("▼")  # weak misses more words, which is worse
    entry = json.loads(table.read_text())["systems"]["weak"]["missed_words"]
    assert entry["scale"] == {
        **{"better": "low", "range": [0.0, 1.0], "mean": True, "label": "Missed words"},
    }
    status, out, _ = run("metrics", path=installed)
    assert status == 0
    assert "missed_words: 0 to 1, lower is better" in out


def test_the_example_scores_a_challenge(installed, tmp_path):
    """An own scoring program is a metric of a package that is installed where scorers run."""
    shutil.copytree(examples.path("clips"), tmp_path / "clips")
    path = tmp_path / "clips" / "challenge.toml"
    text = path.read_text().replace('"bleu_4", "meteor", "rouge_l", "cider"', '"word_overlap"')
    path.write_text(text.replace('primary = "cider"', 'primary = "word_overlap"'))
    database = tmp_path / "clips.db"
    status, _, err = run("challenge", "new", path, database, path=tmp_path)
    assert status == 2, err
    assert "Unknown metric 'word_overlap'" in err
    status, _, err = run("challenge", "new", path, database, path=installed)
    assert status == 0, err
    sent = ("systems/strong.json", "--phase", "main", "--database", database, "--team", "Ours")
    status, out, err = run("challenge", "submit", *sent, "--wait", path=installed)
    assert status == 0, err
    [score] = [float(line.split()[-1]) for line in out.splitlines()]
    wanted = run("score", "systems/strong.json", "-r", "references.json", "-m", "word_overlap",
                 "--json", "-", path=installed)[1]  # fmt: skip
    assert score == pytest.approx(
        json.loads(wanted)["systems"]["strong"]["word_overlap"]["score"], abs=1e-6
    )
    _, out, _ = run("challenge", "leaderboard", database, path=installed)
    assert "Word overlap" in out
    assert "paired bootstrap" in out


def test_the_example_in_python(plugin, tmp_path):
    assert set(metric_names()[-2:]) == {"word_overlap", "missed_words"}
    table = score_systems(SYSTEMS, REFERENCES, ["word_overlap", "missed_words"])
    assert table.headings == {"word_overlap": "Word overlap", "missed_words": "Missed words ↓"}
    table.write(tmp_path / "scores.csv")
    read = ScoreTable.read(tmp_path / "scores.csv")
    assert read.scale("missed_words") == table.scale("missed_words")
    [overlap, missed] = compare(table, "weak", tests=["randomization"], trials=99)
    assert overlap.verdict("human", "weak") == missed.verdict("human", "weak") == "better"
    metric = parse_signature("word_overlap|references:mean")
    assert parse_signature(metric.signature(tok="ptb", v="0.1.0")) == metric
    assert Reward("Word overlap", REFERENCES)(["clip01"], [REFERENCES["clip01"][0]]) == [1.0]


METRIC = """
from dataclasses import dataclass
from typing import ClassVar
from reelscore.data import Scale
from reelscore.metrics import Metric, mean_of_first

@dataclass(frozen=True)
class Mine(Metric):
    name: ClassVar[str] = "{name}"
    {scale}

    def statistics(self, batch, prepared):
        raise NotImplementedError

    def scores(self, totals):
        return mean_of_first(totals)
"""
SCALE = 'output_scale: ClassVar[Scale] = Scale("low", 0, 1)'


def package(home, name, module, metric):
    """Put a package into a folder as pip does."""
    module_name = f"plugin_of_{name.replace('-', '_')}"
    (home / f"{module_name}.py").write_text(module)
    about = home / f"{module_name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    entry = f"[reelscore.metrics]\n{metric} = {module_name}:Mine\n"
    (about / "entry_points.txt").write_text(entry)


BROKEN = [
    ("import no_such_module\n", r"cannot be loaded \(ModuleNotFoundError: No module named"),
    ("raise RuntimeError('no licence')\n", r"cannot be loaded \(RuntimeError: no licence\)"),
    ("def broken(:\n", r"cannot be loaded \(SyntaxError"),
    ("Yours = 3\n", r"cannot be loaded \(AttributeError"),
    ("Mine = dict\n", "is no subclass of reelscore.metrics.Metric"),
    (METRIC.format(name="other", scale=SCALE), "the name of its class is 'other'"),
    (METRIC.format(name="mine", scale=""), "does not say which way is better"),
]


@pytest.mark.parametrize(("module", "message"), BROKEN)
def test_a_package_that_cannot_be_used(tmp_path, monkeypatch, module, message):
    package(tmp_path, "acme", module, "mine")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "plugin_of_acme", raising=False)
    with pytest.raises(DataError, match=f"Metric 'mine' of the package acme 1.0: .*{message}"):
        score_systems(SYSTEMS, REFERENCES, "mine")
    # nobody else notices
    assert score_systems(SYSTEMS, REFERENCES, "rouge-l,bleu_4").metrics == ["rouge_l", "bleu_4"]
    text = "system,item,metric,score\na,v1,mine,0.5\na,v1,adequacy,0.5\n"
    (tmp_path / "scores.csv").write_text(text)
    assert ScoreTable.read(tmp_path / "scores.csv").metrics == ["mine", "adequacy"]


def test_a_broken_package_on_the_command_line(tmp_path):
    package(tmp_path, "acme", "raise RuntimeError('no licence')\n", "mine")
    files = ("score", "systems/weak.json", "-r", "references.json", "-m")
    status, out, err = run(*files, "mine", path=tmp_path)
    assert (status, out) == (2, "")
    assert err.startswith("Error: Metric 'mine' of the package acme 1.0: it cannot be loaded")
    assert "Traceback" not in err
    assert run(*files, "rouge_l", path=tmp_path)[::2] == (0, "")
    status, out, err = run("metrics", path=tmp_path)
    assert status == 0
    assert "diversity" in out
    assert "Metric 'mine' of the package acme 1.0" in err


@pytest.mark.parametrize("name", ["meteor", "METEOR", "cider_d", "rougeL", "soda_c"])
def test_names_of_our_own_are_refused(tmp_path, monkeypatch, name):
    from reelscore.metrics.registry import unusable_plugins

    package(tmp_path, "acme", METRIC.format(name=name, scale=SCALE), name)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert name not in metric_names() or name == "meteor"
    assert metric_class("meteor").__module__ == "reelscore.metrics.meteor"
    [problem] = unusable_plugins()
    assert problem.startswith(f"Metric {name!r} of the package acme 1.0: reelscore itself has")


def test_two_packages_of_one_name(tmp_path, monkeypatch):
    for owner in ("acme", "bcme"):
        package(tmp_path, owner, METRIC.format(name="mine", scale=SCALE), "mine")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(DataError, match=r"cme 1.0: .cme 1.0 has a metric of this name, too"):
        parse_signature("mine")
    assert parse_signature("cider").name == "cider"
