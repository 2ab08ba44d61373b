"""A table in notebooks, data frames, figures and training logs."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from reelscore import examples, score, score_systems
from reelscore.data.tables.table import VIEWS, ScoreTable, view
from reelscore.errors import DataError, MissingExtraError, UnknownNameError
from reelscore.report.plots.figures import TablePlots, density, draw_table
from reelscore.report.plots.style import COLUMN_WIDTH
from reelscore.report.training_log import TrainingLog
from reelscore.significance.pair_tests import with_tests


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


def test_wins_are_starred_where_tests_say_so(clips):
    tests = {each.metric: each for each in with_tests(clips)[1]}
    drawing = clips.plot.wins("cider")
    panel = drawing.axes[0]
    systems = [label.get_text() for label in panel.get_yticklabels()]
    starred = {
        (systems[round(text.get_position()[1])], systems[round(text.get_position()[0])])
        for text in panel.texts
        if text.get_text().endswith("*")
    }
    tested = tests["cider"]
    sure = {(tested.systems[i], tested.systems[j]) for i, j in np.argwhere(tested.wins)}
    assert starred == sure
    assert len(sure) == 6
    assert "paired bootstrap" in drawing.get_supxlabel()
    none = replace(tested, level=0.0)
    plain = TablePlots(clips, [none]).wins("cider")
    assert not any("*" in text.get_text() for text in plain.axes[0].texts)


def test_figures_are_as_wide_as_a_column_and_nothing_is_cut_off(clips, tmp_path):
    long = {"a system with a very long name indeed": clips["human"], "b": clips["weak"]}
    for table in (clips, ScoreTable(long, sources=clips.sources)):
        plots = TablePlots(table)
        drawings = [plots.intervals("cider"), plots.distributions("cider"), plots.wins("cider")]
        for drawing in [*drawings, plots.correlations(), plots.scatter("meteor", "cider")]:
            drawing.draw_without_rendering()
            assert drawing.get_figwidth() == COLUMN_WIDTH
            inside = drawing.get_tightbbox()
            assert inside.x0 >= -0.01
            assert inside.x1 <= COLUMN_WIDTH + 0.01
            assert inside.y0 >= -0.01
            assert inside.y1 <= drawing.get_figheight() + 0.01


def test_density_keeps_hills_where_they_are():
    shape = density(np.array([0.0] * 50 + [0.5] * 20), 0.0, 1.0, bins=20)
    assert shape.argmax() == 0  # many scores of 0 stay a hill at 0
    assert shape[10] > shape[5]
    assert shape[19] < 0.01


@pytest.mark.parametrize("name", VIEWS)
def test_what_tables_are_seen_by_is_there(name):
    assert callable(view(name))
    assert view(name).__module__.startswith(("reelscore.report", "reelscore.metrics"))


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
        scores = log(step, systems[name])
        expected = score(systems[name], references, "meteor,cider")
        assert {key: each.score for key, each in scores.items()} == {
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


def test_weights_and_biases(monkeypatch):
    wandb = ModuleType("wandb")
    wandb.run = Recorder()
    wandb.Table = lambda columns, data: [columns, *data]
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    systems, references = examples.clips()
    log = TrainingLog(references, "meteor", wandb=True, examples=["clip02"])
    scores = log(7, systems["weak"])
    assert wandb.run.numbers[7, "captions/meteor"] == scores["meteor"].score
    assert wandb.run.texts[0][1][:2] == ["clip02", systems["weak"]["clip02"]]
    wandb.run = None
    with pytest.raises(DataError, match=r"wandb\.init"):
        TrainingLog(references, "meteor", wandb=True)


def test_real_tensorboard(tmp_path):
    pytest.importorskip("tensorboardX")
    systems, references = examples.clips()
    log = TrainingLog(references, "meteor", tensorboard=tmp_path)
    log(1, systems["weak"])
    log._tensorboard.close()
    (file,) = tmp_path.iterdir()
    assert b"captions/meteor" in file.read_bytes()
