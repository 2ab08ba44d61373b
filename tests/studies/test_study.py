"""Studies: plans that are read with care, runs that are never made twice, tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from multiprocessing import active_children
from shutil import copyfile, copytree, rmtree

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("torch", reason="networks need torch ('make learned')")
pytest.importorskip("sklearn", reason="labels need scikit-learn")

from reelscore.cli.main import cli, main
from reelscore.errors import DataError, MissingExtraError, UnknownNameError
from reelscore.scoring.captions import score
from reelscore_studies.baselines.labels.label_set import Labels
from reelscore_studies.captioning import methods, runs
from reelscore_studies.captioning.material import material_of
from reelscore_studies.captioning.plans import parse_plan, read_plan, shipped_plans
from reelscore_studies.captioning.tables import Difference, StudyResults, seed_p_value
from reelscore_studies.captioning.units import Unit, digest_of, units_of
from reelscore_studies.process_pool import process_pool
from reelscore_studies.rendered import dataset
from reelscore_studies.rendered.features import NAMES
from support.footage import film

PLAN = """
[study]
data = "rendered1-tiny"
seeds = [0, 1]
groups = {verb = "idt"}
[network]
hidden = 12
embedding = 8
iterations = 20
every = 10
[[row]]
table = "t12"
name = "nearest"
method = "nearest"
features = "idt"
[[row]]
table = "t12"
name = "SMT"
method = "translation"
groups = false
features = "idt"
auc = 0.0
minimum = 10
against = "nearest"
[[row]]
table = "t12"
name = "visual labels"
minimum = 10
auc = 0.3
against = "SMT"
[[row]]
table = "t12"
name = "both seeds"
method = "ensemble"
of = "visual labels"
against = "visual labels"
[[row]]
table = "t8"
name = "AUC"
minimum = 10
auc = 0.3
[[row]]
table = "t8"
name = "the same labels, stacked"
groups = false
features = "idt+lsda"
minimum = 10
auc = 0.0
labels_of = "AUC"
noise_scores = 4
against = "AUC"
[[row]]
table = "t9"
name = "oracle"
method = "oracle"
[[row]]
table = "rest"
name = "bound"
method = "bound"
[[row]]
table = "rest"
name = "constant"
method = "constant"
[[row]]
table = "rest"
name = "random"
method = "random"
[[row]]
table = "rest"
name = "human"
method = "human"
"""


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Rendered clips with made-up features, which say what the clip shows: quick to make."""

    def write(home, wanted, jobs, progress):
        for name, movies in wanted.movies().items():
            scenes = wanted.scenes(movies)
            for feature in NAMES:
                rng = np.random.default_rng([len(name), len(feature)])
                rows = rng.random((len(scenes), 24), dtype=np.float32) * 0.3
                verbs = [action.name for action in dataset.draw_scene.__globals__["ACTIONS"]]
                for row, scene in zip(rows, scenes, strict=True):
                    row[verbs.index(scene.action.name)] += 1
                place = home / "features" / name / feature
                np.save(place.with_suffix(".npy"), rows)
                ids = "".join(f"{scene.item}\n" for scene in scenes)
                place.with_suffix(".ids.txt").write_text(ids)
        if progress is not None:
            progress(10, 10)

    patch = pytest.MonkeyPatch()
    patch.setattr(dataset, "_write_features", write)
    yield
    patch.undo()


@pytest.fixture(scope="module")
def study(quick, tmp_path_factory):
    home = tmp_path_factory.mktemp("study")
    (home / "plan.toml").write_text(PLAN)
    command = ["caption", "study", str(home / "plan.toml"), "-o", str(home / "out"), "--freeze"]
    result = CliRunner().invoke(cli, command, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return home, result.stdout


def test_tables_are_printed(study):
    _, printed = study
    assert "Table 12: methods, rendered clips (synthetic)" in printed
    assert "Clips drawn by a program: this is no reproduction of the paper." in printed
    assert "60 test items" in " ".join(printed.split())
    for name in ("METEOR", "sd", "95 %", "CIDEr", "last", "apart", "p", "unique", "novel"):
        assert f" {name}" in printed


def test_scores_are_those_of_the_captions(study):
    home, _ = study
    plan = parse_plan(PLAN)
    results = StudyResults.read(home / "out", "test")
    references = json.loads((home / "out/data/rendered1-tiny/test.json").read_text())
    for row in plan.row:
        own = results.result(row)
        for number, unit in enumerate(results._units(row)):
            path = unit.result("test").with_suffix(".best.captions.json")
            captions = json.loads(path.read_text())
            again = score(captions, {k: [v] for k, v in references.items()}, "meteor,cider")
            assert own.scores["meteor"][number] == pytest.approx(100 * again["meteor"].score)
            assert own.scores["cider"][number] == pytest.approx(100 * again["cider"].score)
        low, high = own.interval["meteor"]
        assert low <= np.mean(own.scores["meteor"]) <= high
    human = next(row for row in plan.row if row.method == "human")
    shown = next(row for row in plan.row if row.method == "random")
    assert results.difference(human, shown).apart > 0
    assert results.difference(human, shown).p < 0.01
    assert results.difference(human, human) == (0.0, 1.0)


def test_rows_that_are_no_systems_are_marked(study):
    """In text, LaTeX and page, whatever their names say."""
    home, printed = study
    said = (
        "‡ a bound and no system, so not ranked: bound (an oracle: it sees the answers), human "
        "(another caption of the clip)."
    )
    assert said in " ".join(printed.split())
    for name in ("(1) oracle‡", "(1) bound‡", "(4) human‡"):
        assert name in printed
    assert "random‡" not in printed
    words = ["caption", "table", str(home / "out"), "--only", "rest"]
    latex = CliRunner().invoke(cli, [*words, "-o", "-.tex"]).stdout
    assert r"(1) bound\textsuperscript{\ddag{}} & " in latex
    assert r"\ddag{} a bound and no system, so not ranked: bound (an oracle" in latex
    page = CliRunner().invoke(cli, [*words, "--html", "-"]).stdout
    assert "(1) bound‡" in page
    assert "‡ a bound and no system" in page


def test_few_seeds_are_said(study):
    home, printed = study
    flat = " ".join(printed.split())
    assert "2 seeds: what is said of other seeds is weak; run 3 or more." in flat
    results = StudyResults.read(home / "out", "test")
    one = msgspec.structs.replace(results.plan.study, seeds=(0,))
    results = replace(results, plan=msgspec.structs.replace(results.plan, study=one))
    rows = {row.name: row for row in results.plan.row}
    assert "One seed: nothing can be said of other seeds." in results._warnings([rows["AUC"]])
    assert not any("seed" in note for note in results._warnings([rows["nearest"]]))


def test_recall_of_what_clips_show(study):
    home, printed = study
    assert "What captions name of what the clips show, rendered clips (synthetic)" in printed
    results = StudyResults.read(home / "out", "test")
    rows = {row.name: row for row in results.plan.row}
    named = results.recall(rows["human"])
    # the grammar names the verb but for what nobody can see, the place in half, a person in 28 %
    assert 0.8 < named["verb"] <= 1
    assert 0.35 < named["place"] < 0.65
    assert 0.1 < named["person"] < 0.5
    assert results.recall(rows["random"])["verb"] < 0.3
    words = ["caption", "table", str(home / "out"), "--only", "t12", "-o", "-.tex"]
    latex = CliRunner().invoke(cli, words).stdout
    captions = [line for line in latex.splitlines() if line.startswith(r"\caption")]
    assert len(captions) == 2
    for caption in captions:
        assert "rendered clips (synthetic)" in caption
        assert "this is no reproduction of the paper" in caption


def test_rows_that_are_the_same_run_once(study):
    home, _ = study
    units = units_of(parse_plan(PLAN), home / "out")
    of = {row: [u.digest for u in units if u.row.name == row] for row in ("visual labels", "AUC")}
    assert of["visual labels"] == of["AUC"]
    assert len({unit.digest for unit in units}) == len(units) - 2
    assert len(list((home / "out/cache").glob("model_*"))) == 2 + 2 + 2
    assert len(list((home / "out/cache").glob("labels_*"))) == 3  # verb=idt, idt, idt+lsda


def test_a_finished_row_is_never_run_again(study, monkeypatch):
    home, _ = study
    ran = []
    monkeypatch.setattr(runs, "_work", lambda task: ran.append(task[1].row.name))
    runs.run_study(parse_plan(PLAN), home / "out", freeze=True)
    assert ran == []
    (home / "out/results").rename(home / "out/kept")
    runs.run_study(parse_plan(PLAN), home / "out", only=["t8"], freeze=True)
    assert set(ran) == {"AUC", "the same labels, stacked"}
    (home / "out/results").rmdir()
    (home / "out/kept").rename(home / "out/results")


def test_a_row_may_have_groups_of_its_own(tmp_path):
    own = 'name = "AUC"\ngroups = {verb = "idt", others = "lsda"}'
    plan = parse_plan(PLAN.replace('name = "AUC"', own))
    units = {unit.row.name: unit for unit in units_of(plan, tmp_path)}
    assert units["AUC"].groups == {"verb": "idt", "other": "lsda"}
    assert units["visual labels"].groups == {"verb": "idt"}
    assert units["AUC"].digest != units["visual labels"].digest


def test_rows_that_differ_are_other_runs(tmp_path):
    """Whatever a row sets but its place in the tables counts, and whether labels have groups."""
    plan = read_plan("rendered1-full")
    runs_of = {}
    for unit in units_of(plan, tmp_path):
        told = {**msgspec.to_builtins(unit.row), "seed": unit.seed}
        alike = {k: v for k, v in told.items() if k not in ("table", "name", "against")}
        runs_of.setdefault(unit.digest, set()).add(json.dumps(alike))
    assert {len(rows) for rows in runs_of.values()} == {1}


def test_captions_of_another_machine_are_measured_here(study, tmp_path, monkeypatch):
    """Neither networks nor label scores are needed, nor the GPU that made the captions."""
    home, _ = study
    (tmp_path / "data").mkdir()
    (tmp_path / "data/rendered1-tiny").symlink_to(home / "out/data/rendered1-tiny")
    (tmp_path / "results").mkdir()
    plan = parse_plan(PLAN)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(DataError, match="torch finds no GPU"):
        runs.run_study(plan, tmp_path, only=["t8"], device="cuda")
    for unit in units_of(plan.only(["t8"]), home / "out"):
        there = replace(unit, home=tmp_path, device="cuda")
        for split in ("val", "test"):
            for weights in ("best", "last"):
                copyfile(unit.captions(split, weights), there.captions(split, weights))
        copyfile(unit.made, there.made)
    monkeypatch.setattr(runs, "candidates", None)
    runs.run_study(plan, tmp_path, only=["t8"], device="cuda", freeze=True)
    assert not list((tmp_path / "cache").iterdir())
    ours, theirs = (StudyResults.read(place, "test") for place in (tmp_path, home / "out"))
    for row in ours.plan.row:
        assert ours.result(row) == theirs.result(row)


def test_a_study_without_torch_is_refused_before_anything_is_rendered(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match="need torch"):
        runs.run_study(parse_plan(PLAN), tmp_path / "out")
    assert not (tmp_path / "out" / "data").exists()


def test_rows_without_networks_are_the_same_on_any_device(study, tmp_path, monkeypatch):
    """A machine without a GPU runs them beside captions that a GPU made."""
    home, _ = study
    plan = parse_plan(PLAN)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    copytree(home / "out", tmp_path / "out")
    monkeypatch.setattr(runs, "candidates", None)
    runs.run_study(plan, tmp_path / "out", only=["rest"], device="cuda")
    assert {row.table for row in StudyResults.read(tmp_path / "out").plan.row} >= {"t12", "rest"}
    labelled = next(u for u in units_of(plan, tmp_path / "out", "cuda") if u.row.name == "SMT")
    rmtree(methods.label_folder(labelled))
    methods.trained_labels(labelled)


def test_what_is_missing_is_said_before_clips_are_rendered(tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr(runs, "material_of", None)
    with pytest.raises(DataError, match="torch finds no GPU"):
        runs.run_study(parse_plan(PLAN), tmp_path / "out", device="cuda")
    with pytest.raises(UnknownNameError, match="Unknown table 't99'"):
        runs.run_study(parse_plan(PLAN), tmp_path / "out", only=["t99"])
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(runs, "find_spec", lambda name: None if name == "nltk" else name)
    with pytest.raises(MissingExtraError, match="This study needs nltk"):
        runs.run_study(parse_plan(PLAN), tmp_path)


def test_a_row_that_cannot_be_run_stops_no_other(study, tmp_path):
    home, _ = study
    (tmp_path / "data").mkdir()
    (tmp_path / "data/rendered1-tiny").symlink_to(home / "out/data/rendered1-tiny")
    row = '[[row]]\ntable = "t1"\nname = "picky"\nminimum = 1000\n'
    plan = parse_plan(PLAN + row)
    plan = msgspec.structs.replace(plan, row=(plan.row[-1], plan.row[-2]))
    said = r"1 row cannot be run \(first: 'picky': No label of group .* others are finished"
    for jobs in (1, 2):
        with pytest.raises(DataError, match=said):
            runs.run_study(plan, tmp_path, jobs=jobs)
    assert [row.name for row in StudyResults.read(tmp_path).plan.row] == ["human"]


def test_a_killed_process_is_said():
    said = "A process was killed, perhaps since memory ran out"
    with pytest.raises(DataError, match=said), process_pool(2) as work:
        list(work(os._exit, [1, 1]))


def test_an_interruption_ends_the_processes():
    """Also those whose tasks wait for their turn."""

    def interrupted(results):
        next(iter(results))
        raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), process_pool(2) as work:
        interrupted(work(time.sleep, [0, 300, 300, 300]))
    assert time.monotonic() - began < 200
    assert not active_children()


_PARENT = """
import os, time
from reelscore_studies.process_pool import process_pool
if __name__ == "__main__":
    with process_pool(2) as work:
        work(time.sleep, [600, 600])
        print(*work._pids() if hasattr(work, "_pids") else work.__self__._processes, flush=True)
        time.sleep(600)
"""


def test_processes_end_with_the_one_that_started_them(tmp_path):
    """Even if it is killed: they would go on with its tasks, beside those of the next call."""
    (tmp_path / "parent.py").write_text(_PARENT)
    parent = subprocess.Popen([sys.executable, tmp_path / "parent.py"], stdout=subprocess.PIPE)
    pids = [int(word) for word in parent.stdout.readline().split()]
    assert len(pids) == 2
    parent.kill()
    parent.wait()
    parent.stdout.read()  # which ends when the last process that has it is gone
    parent.stdout.close()


@pytest.mark.parametrize(
    ("work", "words"),
    [
        ("reelscore_studies.captioning.runs.run_study", "caption study rendered1-small -o s"),
        ("reelscore_studies.commands.render.write_clips", "caption render s"),
        ("reelscore.learned.training.fit.fit_model", "bertha train judged.jsonl s"),
    ],
)
def test_ctrl_c_says_what_is_kept(monkeypatch, capsys, tmp_path, work, words):
    def interrupted(*_, **__):
        (tmp_path / "s").mkdir()
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("reelscore.learned.judged_captions.read_captions", lambda _: [])
    monkeypatch.setattr(work, interrupted)
    monkeypatch.setattr("sys.argv", ["reelscore", *words.split()])
    with pytest.raises(SystemExit) as end:
        main()
    said = "Interrupted; s keeps what is finished. Give the command again to go on.\n"
    assert (end.value.code, capsys.readouterr().err) == (130, said)


def test_tables_count_the_items_of_their_rows(study, tmp_path):
    home, _ = study
    (tmp_path / "data").mkdir()
    (tmp_path / "data/rendered1-tiny").symlink_to(home / "out/data/rendered1-tiny")
    row = '[[row]]\ntable = "dose"\nname = "few"\nmethod = "random"\nclips = 5\n'
    plan = parse_plan(PLAN + row)
    plan = msgspec.structs.replace(plan, row=plan.row[-2:])
    runs.run_study(plan, tmp_path)
    notes = [grid.notes[0] for grid in StudyResults.read(tmp_path).grids().values()]
    assert ["60 validation items" in notes[0], "10 validation items" in notes[1]] == [True, True]
    with pytest.raises(DataError, match="All rows of these tables have a dose"):
        replace(StudyResults.read(tmp_path), plan=plan.only(["dose"])).systems()


def test_clips_and_runs_are_counted_apart(quick, tmp_path):
    rendered, made = [], []
    plan = parse_plan(PLAN).only(["rest"])
    runs.run_study(
        msgspec.structs.replace(plan, row=plan.row[2:3]),
        tmp_path,
        progress=lambda *counts: made.append(counts),
        rendering=lambda *counts: rendered.append(counts),
    )
    assert made == [(1, 2), (2, 2)]  # a random caption with two seeds
    assert rendered == [(10, 10)]


def test_a_frozen_plan_may_not_change(study):
    home, _ = study
    changed = parse_plan(PLAN.replace("hidden = 12", "hidden = 13"))
    with pytest.raises(DataError, match="was frozen with another plan"):
        runs.run_study(changed, home / "out", freeze=True)


def test_a_plan_is_frozen_before_the_first_test_caption(study, tmp_path, monkeypatch):
    """Also where a row cannot be run, or the study is killed."""
    home, _ = study
    (tmp_path / "data").mkdir()
    (tmp_path / "data/rendered1-tiny").symlink_to(home / "out/data/rendered1-tiny")
    row = '[[row]]\ntable = "t1"\nname = "picky"\nminimum = 1000\n'
    plan = parse_plan(PLAN + row)
    plan = msgspec.structs.replace(plan, row=(plan.row[-1], plan.row[-2]))
    runs.run_study(plan, tmp_path, only=["rest"])
    with pytest.raises(DataError, match="test items are not captioned yet; run with --freeze"):
        StudyResults.read(tmp_path, "test")
    made = runs.candidates

    def marked(*arguments):
        assert (tmp_path / "frozen.json").is_file()
        return made(*arguments)

    monkeypatch.setattr(runs, "candidates", marked)
    for _ in range(2):  # the same plan goes on
        with pytest.raises(DataError, match=r"1 row cannot be run \(first: 'picky'"):
            runs.run_study(plan, tmp_path, freeze=True)
    assert [row.name for row in StudyResults.read(tmp_path, "test").plan.row] == ["human"]
    other = msgspec.structs.replace(plan, row=plan.row[1:])
    with pytest.raises(DataError, match="was frozen with another plan"):
        runs.run_study(other, tmp_path, freeze=True)
    rmtree(tmp_path / "results")
    with pytest.raises(
        DataError, match=r"no table is finished yet; .* again to go on, with --free"
    ):
        StudyResults.read(tmp_path, "test")


def test_labels_of_another_row(study):
    home, _ = study
    results = StudyResults.read(home / "out", "test")
    own = {row.name: results.result(row) for row in results.plan.row}
    stacked = own["the same labels, stacked"]
    assert stacked.labels == own["AUC"].labels  # noise scores are no labels
    model = results._units(stacked.row)[0]
    shape = json.loads((home / f"out/cache/model_{model.digest}/model.json").read_text())["shape"]
    assert shape["labels"] == stacked.labels + 4


def test_rows_that_differ_in_the_filter_share_classifiers(study):
    """The scores are those of classifiers that were trained for this filter alone."""
    home, _ = study
    plan = parse_plan(PLAN)
    row = next(row for row in plan.row if row.name == "AUC")
    unit = Unit(plan, msgspec.structs.replace(row, auc=0.6), 0, home / "out")
    scores, kept, dropped = methods.label_scores(unit)
    material = unit.material()
    parts = [
        (own, material.tuples(name), material.features(name, "idt", list(own)))
        for name in ("train", "val")
        for own in [material.captions(name)]
    ]
    own = {"groups": {"verb": "idt"}, "minimum": 10}
    alone = Labels.train(*parts[0], validation=parts[1], auc=0.6, **own)
    assert kept == [label.name for label in alone.kept]
    assert set(kept) & set(dropped) == set()
    assert np.array_equal(scores["val"].matrix, alone.by_split["val"].matrix)
    with pytest.raises(DataError, match=r"No label reached AUC 1\.1"):
        methods.label_scores(Unit(plan, msgspec.structs.replace(row, auc=1.1), 0, unit.home))


@pytest.mark.parametrize("table", ["rest", pytest.param("t8", marks=pytest.mark.full)])
def test_several_jobs_give_the_same_numbers(study, tmp_path, table):
    """Rows of one table again, by processes that share nothing but the data."""
    home, _ = study
    (tmp_path / "data").mkdir()
    (tmp_path / "data/rendered1-tiny").symlink_to(home / "out/data/rendered1-tiny")
    runs.run_study(parse_plan(PLAN), tmp_path, only=[table], jobs=2)
    again = StudyResults.read(tmp_path).plan
    assert {row.table for row in again.row} == {table}
    for unit in units_of(again, tmp_path):
        there = Unit(unit.plan, unit.row, unit.seed, home / "out")
        one, other = (json.loads(u.result("val").read_bytes()) for u in (unit, there))
        assert one["measured"] == other["measured"]


def test_table_command(study):
    home, _ = study
    words = ["caption", "table", str(home / "out"), "--split", "test", "--only", "t12"]
    files = ["-o", str(home / "t.tex"), "--html", str(home / "t.html")]
    result = CliRunner().invoke(cli, [*words, *files, "--json", str(home / "t.json")])
    assert result.exit_code == 0, result.output
    assert "Table 8" not in result.stdout
    assert r"\begin{tabular}" in (home / "t.tex").read_text()
    page = (home / "t.html").read_text()
    assert "<h1>A study of captioners: rendered clips (synthetic)</h1>" in page
    assert "both seeds" in page
    # the notes of each table: on the data, and on what captions name
    assert page.count("this is no reproduction of the paper") == 2
    assert page.count("references leave out most of it too") == 1
    rows = json.loads((home / "t.json").read_text())["rows"]
    assert [row["row"]["name"] for row in rows] == ["nearest", "SMT", "visual labels", "both seeds"]
    said = CliRunner().invoke(cli, ["caption", "table", "--published"])
    assert "19.43" in said.stdout


def test_published_numbers_as_files(tmp_path):
    names = {ending: str(tmp_path / f"p.{ending}") for ending in ("tex", "html", "json")}
    files = ["-o", names["tex"], "--html", names["html"], "--json", names["json"]]
    result = CliRunner().invoke(cli, ["caption", "table", "--published", *files])
    assert result.exit_code == 0, result.output
    for name in ("tex", "html", "json"):
        assert "19.43" in (tmp_path / f"p.{name}").read_text()
    rows = json.loads((tmp_path / "p.json").read_text())
    assert list(rows[0]) == ["table", "row", "METEOR", "CIDEr", "section"]
    result = CliRunner().invoke(cli, ["caption", "table", "study", "--published"])
    assert (result.exit_code, "it takes no study" in result.output) == (2, True)


def test_a_page_with_the_clips(study, tmp_path, monkeypatch):
    home, _ = study
    results = StudyResults.read(home / "out", "test")
    item = next(iter(results.references()))
    film(tmp_path / f"{item}.webm", "libvpx-vp9", "webm")
    words = ["caption", "table", str(home / "out"), "--split", "test", "--only", "t12"]
    written = []
    monkeypatch.setattr(
        "reelscore.report.html.page.write_report", lambda page, report, **_: written.append(report)
    )
    page = str(tmp_path / "page.html")
    result = CliRunner().invoke(cli, [*words, "--html", page, "--videos", str(tmp_path)])
    assert result.exit_code == 0, result.output
    (report,) = written
    assert "those of seed 0 alone; the tables of the study are means over seeds 0, 1." in str(
        report.table.notes
    )
    assert list(report.previews) == [item]
    assert list(report.captions) == ["nearest", "SMT", "visual labels", "both seeds"]
    assert report.bounds == []
    # "AUC" of another table is the run of "visual labels"
    assert [name for name in results.systems() if name in ("AUC", "oracle")] == ["oracle"]
    titles = [section.title for section in report.sections]
    assert titles[0] == "Table 12: methods, rendered clips (synthetic)"
    assert titles[-1] == "Findings of the paper on this data"
    words[-1] = "t9,rest"
    result = CliRunner().invoke(cli, [*words, "--html", page, "--videos", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert list(written[1].captions) == ["oracle", "bound", "constant", "random", "human"]
    assert written[1].bounds == ["oracle", "bound", "human"]
    refused = CliRunner().invoke(cli, [*words, "--videos", str(tmp_path)])
    assert (refused.exit_code, "--html" in refused.output) == (2, True)


def test_doses_change_texts_and_share_features(study):
    home, _ = study
    plan = parse_plan(PLAN)
    base = material_of(plan, {}, home / "out/data")
    fewer = material_of(plan, {"clips": 5}, home / "out/data")
    noisy = material_of(plan, {"noise_labels": 30}, home / "out/data")
    items = list(fewer.captions("train"))
    assert len(items) == 30
    assert fewer.sets["train"].features == base.sets["train"].features
    own = fewer.features("train", "idt", items)["idt"]
    assert own.matrix.tolist() == base.features("train", "idt", items)["idt"].matrix.tolist()
    assert noisy.captions("train") == base.captions("train")
    verbs = {roles.verb for own in noisy.tuples("train").by_item.values() for roles in own}
    assert any(verb.startswith("noise") for verb in verbs)
    assert not (home / "out/data/rendered1-tiny_clips_5/features/train/idt.npy").exists()


def test_findings_ask_for_other_items_and_other_seeds(study, monkeypatch):
    scipy = pytest.importorskip("scipy.stats")
    ours, theirs = [20.1, 20.5, 20.4], [21.0, 20.2, 21.5]
    assert seed_p_value(ours, theirs) == pytest.approx(scipy.ttest_ind(ours, theirs).pvalue)
    assert seed_p_value([20.0], theirs) == pytest.approx(scipy.ttest_1samp(theirs, 20).pvalue)
    assert [seed_p_value([1.0, 1.0], [2.0]), seed_p_value([1.0, 1.0], [1.0])] == [0, 1]
    results = StudyResults.read(study[0] / "out", "test")
    monkeypatch.setattr(StudyResults, "difference", lambda *_: Difference(1.0, 0.001))
    for scores, verdict in (([20.0, 20.1], "holds"), ([20.0, 25.0], "not decided")):
        by_row = {"visual labels": scores, "SMT": [19.0]}.__getitem__
        monkeypatch.setattr(
            StudyResults, "_seed_scores", lambda _, row, __, of=by_row: of(row.name)
        )
        (said,) = (own for own in results.findings() if "beat translation" in own)
        assert f"{verdict} (visual labels − SMT: +1.00, p 0.001 over items, " in said
    monkeypatch.setattr(StudyResults, "_seed_scores", lambda *_: [20.0])
    (said,) = (own for own in results.findings() if "beat translation" in own)
    assert "not decided (visual labels − SMT: +1.00, p 0.001 over items, one seed)" in said


# Plans


def test_shipped_plans_are_plans():
    assert shipped_plans() == ["rendered1-full", "rendered1-small", "schedules"]
    full = read_plan("rendered1-full")
    assert len(full.study.seeds) >= 5
    assert {full.recipe(row).hidden for row in full.row} == {500}
    small = {(row.table, row.name) for row in read_plan("rendered1-small").row}
    assert {table for table, _ in small} == {"t7", "t8", "t9", "t10", "t11", "t12"}
    schedules = read_plan("schedules")
    grid = {(own.rate, own.step) for own in map(schedules.recipe, schedules.row)}
    assert grid == {(r, s) for r in (0.005, 0.01, 0.02) for s in (2000, 4000, 8000)}


def test_findings_name_rows_of_the_shipped_plan():
    from reelscore_studies.captioning.paper import FINDINGS

    there = {(row.table, row.name) for row in read_plan("rendered1-full").row}
    assert all((own.table, name) in there for own in FINDINGS for name in own.rows)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seeds =", "seed =", r"Unknown key of \[study\] in plan 'seed'. Did you mean 'seeds'"),
        ("hidden =", "hiden =", r"Unknown key of \[network\] in plan 'hiden'. Did you mean 'hid"),
        ('method = "oracle"', "dropoot = 1", r"Unknown key of \[\[row\]\] in plan 'dropoot'"),
        ('against = "SMT"', 'against = "SMD"', "row in against of 'visual labels' 'SMD'"),
        ('method = "oracle"', 'method = "magic"', "Invalid enum value 'magic'"),
        ('name = "bound"', 'name = "human"', "table rest has two rows 'human'"),
        ('of = "visual labels"', "", "does not say of which row"),
        ("[0, 1]", "[]", "at least one seed"),
        ("[0, 1]", "[-1]", r"plan: seeds = \[-1\]; expected different numbers from 0"),
        ("[0, 1]", "[1, 1]", r"plan: seeds = \[1, 1\]; expected different numbers"),
        ("hidden = 12", 'hidden = "x"', r"plan: \[network\]: Expected `int.*`, got `str`"),
        ("hidden = 12", "hidden = 0", "plan: 'nearest': hidden=0; expected 1 or more"),
        ('of = "visual labels"', 'of = "both seeds"', "'both seeds', which trains no network"),
        ('of = "visual labels"', 'of = "SMT"', "is of 'SMT', which trains no network"),
        ("minimum = 10\nauc = 0.3", 'of = "SMT"', "'visual labels' has of, which only ensembles"),
        ('labels_of = "AUC"', 'labels_of = "the same labels, stacked"', "has the labels of itself"),
        ('labels_of = "AUC"', 'labels_of = "bound"', "has the labels of 'bound', which has none"),
        ('data = "rendered1-tiny"', 'data = "rendered1-tiny"\nrows_of = "x"', "rows_of belongs to"),
        ("[[row]]", "[data.val]\ntupels = 'x'\n[[row]]", r"'tupels'. Did you mean 'tuples'"),
        ("groups = false", "groups = {verp = 'idt'}", "Unknown group of labels 'verp'"),
        ('data = "rendered1-tiny"', 'data = "rendered-tiny"', "Did you mean 'rendered1-tiny'"),
        ("iterations = 20", 'iterations = 20\n[[row]]\ntable = "t1"\nname = "x"\nbeam = 0', "beam"),
        ("[study]", "[study", "is no TOML file"),
        ("seeds =", 'metrics = ["metoer"]\nseeds =', "Unknown metric 'metoer'. Did you mean"),
        ("iterations = 20", "iterations = 0", "plan: 'nearest': iterations=0; expected 1 or more"),
    ],
)
def test_plans_are_read_with_care(old, new, message):
    with pytest.raises((DataError, UnknownNameError), match=message):
        parse_plan(PLAN.replace(old, new, 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("network = 3\n[study]\ndata = 'rendered1-tiny'", r"network = 3; expected a table, \[net"),
        ("row = 3\n[study]\ndata = 'rendered1-tiny'", r"each row as a table of its own, \[\[row"),
        ("row = [3]\n[study]\ndata = 'rendered1-tiny'", r"each row as a table of its own"),
        ("[study]\ndata = 'rendered1-tiny'\n[row]\nname = 'x'", r"each row as a table of its own"),
        ("study = 3", r"study = 3; expected a table, \[study\]"),
        ("data = 3", r"has no \[study\]"),
        ("folder = '/'", "Unknown key of the file in plan 'folder'"),
        ("[study]\ndata = 'rendered1-tiny'", "plan: has no rows; add some as"),
    ],
)
def test_parts_of_plans(text, message):
    with pytest.raises((DataError, UnknownNameError), match=message):
        parse_plan(text)


FILES = """
[study]
data = "files"
rows_of = "rendered1-full"
seeds = [0]
[data.train]
captions = "train.json"
features = {idt = "features/idt.npy"}
[data.val]
captions = "val.json"
features = {idt = "/far/idt.npy"}
[data.test]
captions = "test.json"
features = {}
[network]
hidden = 20
"""


def test_rows_of_a_shipped_plan_on_own_files(tmp_path):
    for name in shipped_plans():
        plan = parse_plan(FILES.replace("rendered1-full", name))
        assert len(plan.row) + len(plan.left_out) == len(read_plan(name).row)
    plan = parse_plan(FILES)
    assert {row.table for row in plan.row} == {"t7", "t8", "t9", "t10", "t11", "t12"}
    assert "true labels (oracle)" in plan.left_out
    assert "no dropout, 50 clips a movie" in plan.left_out
    assert "retrieval upper bound (oracle)" in {row.name for row in plan.row}
    assert {(plan.recipe(row).hidden, plan.recipe(row).embedding) for row in plan.row} == {
        (20, 500)
    }
    assert plan.row[0] == read_plan("rendered1-full").row[0]
    own = parse_plan(FILES + '[[row]]\ntable = "t12"\nname = "mine"\nagainst = "SMT"\n')
    assert own.row == (*plan.row, own.row[-1])
    for wrong, said in (('"rendered1-ful"', "Did you mean 'rendered1-full'"), ("3", "rows_of = 3")):
        with pytest.raises((DataError, UnknownNameError), match=said):
            parse_plan(FILES.replace('"rendered1-full"', wrong))
    row = '[[row]]\ntable = "t1"\nname = "x"\nmethod = "human"\n'
    with pytest.raises(DataError, match="'x' has method = \"human\", which only rendered"):
        parse_plan(FILES + row)
    (tmp_path / "plan.toml").write_text(FILES)
    result = CliRunner().invoke(
        cli, ["caption", "study", str(tmp_path / "plan.toml"), "-o", str(tmp_path / "out")]
    )
    said = " ".join(result.stderr.split())
    assert "Left out, since only rendered clips can have them: groups, trained, 300 noise" in said


def test_paths_begin_at_the_folder_of_the_plan(tmp_path, monkeypatch):
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans/plan.toml").write_text(FILES)
    monkeypatch.chdir(tmp_path)
    plan = read_plan("plans/plan.toml")
    sets = material_of(plan, {}, tmp_path).sets
    assert sets["train"].captions == tmp_path / "plans/train.json"
    assert sets["train"].features["idt"] == tmp_path / "plans/features/idt.npy"
    assert str(sets["val"].features["idt"]) == "/far/idt.npy"
    # runs are known by the paths as they are written, and a plan that moved is the same plan
    elsewhere = msgspec.structs.replace(plan, folder="/elsewhere")
    one, other = (units_of(own, tmp_path)[0].digest for own in (plan, elsewhere))
    assert one == other
    assert runs._plan_digest(plan) == runs._plan_digest(elsewhere)


def test_a_frozen_plan_is_known_by_what_its_file_says():
    """Studies that were frozen by earlier versions go on."""
    content = msgspec.to_builtins(read_plan("rendered1-full"))
    own = {key: content[key] for key in ("study", "network", "row", "data")}
    assert runs._plan_digest(read_plan("rendered1-full")) == digest_of(own)


def test_what_is_wrong_is_said_before_anything_is_trained(study, tmp_path, monkeypatch):
    """A name in the last row, a plan that is no text, a folder that is a file."""
    monkeypatch.setattr(runs, "trained_labels", None)
    row = '[[row]]\ntable = "t1"\nname = "x"\ngroups = {verb = "itd"}\n'
    with pytest.raises(UnknownNameError, match=r"feature of \[data.train\] 'itd'. Did you mean"):
        runs.run_study(parse_plan(PLAN + row), study[0] / "out")
    (tmp_path / "plan.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match=r"plan\.toml: is no TOML file"):
        read_plan(tmp_path / "plan.toml")
    for home, said in (
        (tmp_path / "plan.toml", r"plan\.toml: is a file; name a folder"),
        (tmp_path, r"holds other files \(plan\.toml\) and no (plan|rendered)\.json; choose an emp"),
    ):
        with pytest.raises(DataError, match=said):
            runs.run_study(parse_plan(PLAN), home)
        with pytest.raises(DataError, match=said):
            dataset.write_clips(home, dataset.RenderedClips("tiny"))
    assert [path.name for path in tmp_path.iterdir()] == ["plan.toml"]
    with pytest.raises(DataError, match="is no folder of a study; expected plan"):
        StudyResults.read(tmp_path)


def test_plans_of_own_files(study, tmp_path):
    home, _ = study
    clips = home / "out/data/rendered1-tiny"
    parts = []
    for name in ("train", "val", "test"):
        parts.append(f'[data.{name}]\ncaptions = "{clips}/{name}.json"')
        parts.append(f'tuples = "{clips}/tuples/{name}.jsonl"')
        parts.append(f'features = {{idt = "{clips}/features/{name}/idt.npy"}}')
    rows = PLAN[PLAN.index("[[row]]") : PLAN.index("[[row]]", 200 + PLAN.index("[[row]]"))]
    more = json.loads((clips / "val.json").read_text()) | {"x": "Anna nods.", "y": "Anna nods."}
    some = {item: text.replace("someone", "Anna") for item, text in more.items() if item != "y"}
    (tmp_path / "val.json").write_text(json.dumps(some))
    (tmp_path / "cast.txt").write_text("Anna\n")
    parts[3] = f'[data.val]\ncaptions = "{tmp_path}/val.json"'
    head = '[study]\ndata = "files"\ntitle = "my clips"\n'
    text = head + "\n".join(parts) + "\n" + rows
    with pytest.raises(DataError, match=r"1 caption has no features \(first: 'x'\)"):
        runs.run_study(parse_plan(text), tmp_path / "out")
    own = f'[data]\nmissing = "skip"\nsomeone = "{tmp_path}/cast.txt"\n'
    text = head + own + "\n".join(parts) + "\n" + rows
    plan = parse_plan(text)
    texts = material_of(plan, {}, tmp_path).captions("val")
    assert len(texts) == 60
    assert not any("Anna" in text for own in texts.values() for text in own)
    runs.run_study(plan, tmp_path / "out")
    results = StudyResults.read(tmp_path / "out")
    # their ids say what they are, whatever the plan calls them
    assert list(results.grids()) == ["Table 12: methods, my clips, rendered clips (synthetic)"]
    assert results._notes(plan.row)[-1].endswith("this is no reproduction of the paper.")
    assert (
        msgspec.json.decode((tmp_path / "out/plan.json").read_bytes())["study"]["data"] == "files"
    )
