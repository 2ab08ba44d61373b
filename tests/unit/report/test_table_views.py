"""A table in notebooks, data frames, figures and training logs."""

from __future__ import annotations

import sys

import pytest

from reelscore import examples, score, score_systems
from reelscore.data.table import ScoreTable
from reelscore.errors import DataError, MissingExtraError, UnknownNameError
from reelscore.report.table_plots import draw_table
from reelscore.report.training import TrainingLog


@pytest.fixture(scope="module")
def clips() -> ScoreTable:
    return score_systems(*examples.clips(), "meteor,cider")


def test_report_of_one_system(tmp_path):
    systems, references = examples.clips()
    scores = score(systems["weak"], references, "meteor")
    scores.report(tmp_path / "weak.html", "weak")
    page = (tmp_path / "weak.html").read_text()
    assert "<bdi>weak</bdi>" in page
    assert scores.table("weak").sources.captions["weak"] == systems["weak"]


def test_notebooks_show_the_leaderboard(clips):
    shown = clips._repr_html_()
    assert "<b>1.6159</b>" in shown
    assert "<details>" in shown
    one = score(examples.clips()[0]["weak"], examples.clips()[1], "meteor")
    assert "0.1307" in one._repr_html_()


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_data_frames(clips, package):
    pytest.importorskip(package)
    frame = clips.to_pandas() if package == "pandas" else clips.to_polars()
    rows = frame.to_dict("records") if package == "pandas" else frame.to_dicts()
    assert len(rows) == 4 * 2 * 16
    own = [row for row in rows if row["item"] is None or row["item"] != row["item"]]
    assert {(row["system"], row["metric"]): row["score"] for row in own} == {
        (system, name): clips[system][name].score
        for system in clips.systems
        for name in clips.metrics
    }
    assert {
        row["item"]: row["score"]
        for row in rows
        if row["system"] == "weak"
        and row["metric"] == "cider"
        and row["item"] in clips["weak"]["cider"].items
    } == clips["weak"]["cider"].items.to_dict()


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_package_is_named(clips, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=f"pip install {package}"):
        getattr(clips, f"to_{package}")()


@pytest.mark.parametrize("ending", ["pdf", "svg", "png"])
def test_figures(clips, tmp_path, ending):
    made = draw_table(clips, tmp_path / "figures", ending)
    starts = {"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}
    assert len(made) == 9
    assert all(path.read_bytes().startswith(starts[ending]) for path in made)


def test_figures_are_the_same_each_time(clips, tmp_path):
    for name in ("one", "two"):
        clips.plot.wins("meteor", tmp_path / f"{name}.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_a_figure_says_what_is_missing(clips, tmp_path):
    with pytest.raises(UnknownNameError, match="score 'meteo'"):
        clips.plot.intervals("meteo")
    clips.write(tmp_path / "scores.json")
    with pytest.raises(DataError, match="captions"):
        ScoreTable.read(tmp_path / "scores.json").plot.lengths("meteor")


# Training


class Recorder:
    """Stands for TensorBoard's writer and for a run of Weights & Biases."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[int, str], float] = {}
        self.texts: list[str] = []

    def add_scalar(self, tag, scalar_value, global_step):
        self.numbers[global_step, tag] = scalar_value

    def add_text(self, tag, text_string, global_step):
        self.texts.append(text_string)

    def log(self, data, step):
        for name, value in data.items():
            if isinstance(value, float):
                self.numbers[step, name] = value
            else:
                self.texts.append(value)


@pytest.mark.parametrize("where", ["tensorboard", "wandb"])
def test_training_log(where, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    systems, references = examples.clips()
    writer = Recorder()
    log = TrainingLog(references, "meteor,cider", examples=["clip02"], **{where: writer})
    for step, name in enumerate(["broken", "weak", "strong"]):
        found = log(step, systems[name])
        expected = score(systems[name], references, "meteor,cider")
        assert {key: each.score for key, each in found.items()} == {
            key: each.score for key, each in expected.items()
        }
        assert writer.numbers[step, "captions/cider"] == expected["cider"].score
    assert systems["strong"]["clip02"] in str(writer.texts[-1])


def test_training_log_needs_somewhere_to_go(monkeypatch, tmp_path):
    references = examples.clips()[1]
    for name in ("torch.utils.tensorboard", "tensorboardX", "wandb"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match="tensorboardX"):
        TrainingLog(references, "meteor", tensorboard=tmp_path)
    with pytest.raises(MissingExtraError, match="pip install wandb"):
        TrainingLog(references, "meteor", wandb=True)
    with pytest.raises(DataError, match="'clip99' has no references"):
        TrainingLog(references, "meteor", examples=["clip99"])


def test_real_tensorboard(tmp_path):
    pytest.importorskip("tensorboardX")
    systems, references = examples.clips()
    log = TrainingLog(references, "meteor", tensorboard=tmp_path)
    log(1, systems["weak"])
    log._tensorboard.close()
    (file,) = tmp_path.iterdir()
    assert b"captions/meteor" in file.read_bytes()
