"""No test is not the same as no difference: it is its own state, with its reason."""

from __future__ import annotations

import json

import numpy as np
import pytest

from reelscore import ScoreTable, score_systems
from reelscore.data.tables.table import ItemScores, MetricResult
from reelscore.examples import clips
from reelscore.meta.evaluation import compare_metrics
from reelscore.meta.paired_scores import Cells
from reelscore.meta.report.agreement_tables import significance_grid
from reelscore.report.html import Report, report_html, report_of
from reelscore.report.html.page import encoded, marks_of
from reelscore.report.plots.figures import TablePlots
from reelscore.significance import Comparison
from reelscore.significance.pair_tests import with_tests


@pytest.fixture
def stored(tmp_path):
    """A table written without statistics: METEOR cannot be tested, ROUGE-L can."""
    table = score_systems(*clips(), "meteor,rouge_l,self_bleu,diversity")
    table.write(tmp_path / "scores.json", statistics=False)
    return ScoreTable.read(tmp_path / "scores.json")


def by_score(table):
    return {each.metric: each for each in with_tests(table)[1]}


def test_the_result_says_so(stored):
    tested = by_score(stored)
    assert set(tested) == set(stored.metrics)
    assert tested["rouge_l"].verdict("human", "weak") == "better"
    assert tested["rouge_l"].verdict("weak", "human") == "worse"
    assert tested["rouge_l"].verdict("human", "strong") == "not significant"
    assert tested["meteor"].verdict("human", "weak") == "untested"
    assert "score the captions again" in tested["meteor"].untested
    assert "all captions of a system together" in tested["self_bleu"].untested
    assert "neither higher nor lower" in tested["length"].untested
    assert tested["meteor"].clusters == {}


def test_marks(stored):
    marks = marks_of(report_of(stored))
    for system in stored.systems:
        assert marks[system, "meteor"] == "–"
        assert marks.get((system, "rouge_l"), "") != "–"


def test_only_some_pairs():
    def result(items):
        return {
            "x": MetricResult("x", float(np.mean(list(items.values()))), ItemScores.of(items), "")
        }

    same = {f"v{k}": 1.0 + k / 10 for k in range(20)}
    less = {item: score - 1 for item, score in same.items()}
    other = {f"w{k}": 1.0 + k / 10 for k in range(20)}
    table = ScoreTable({"one": result(same), "two": result(less), "three": result(other)})
    tested = by_score(table)["x"]
    assert tested.verdict("one", "two") == "better"
    assert tested.verdict("one", "three") == "untested"
    marks = marks_of(Report(table, tests=[tested]))
    assert marks == {("one", "x"): "b", ("three", "x"): "–"}
    assert tested.untested.startswith("systems scored on different items")


def test_scores_of_systems_only():
    rows = {
        s: {"x": MetricResult("x", v, ItemScores.of({}), "")} for s, v in (("a", 1.0), ("b", 2.0))
    }
    assert "only its scores of systems" in by_score(ScoreTable(rows))["x"].untested
    _, (people,) = with_tests(ScoreTable(rows), human=["x"])
    assert people.verdict("a", "b") == "untested"


def test_tables_for_papers(stored, tmp_path, monkeypatch, capsys):
    from reelscore.cli.commands.report import command

    stored.write(tmp_path / "again.json")
    monkeypatch.chdir(tmp_path)
    arguments = ["again.json", "-m", "meteor,rouge_l", "-o", "t.tex", "-o", "t.md"]
    command.main([*arguments, "-o", "t.csv"], standalone_mode=False)
    latex = (tmp_path / "t.tex").read_text()
    assert "\\textbf{0.2946}\\textsuperscript{--} & \\textbf{0.5477}\\textsuperscript{" in latex
    assert "-- not tested: METEOR (made from sums" in latex
    markdown = (tmp_path / "t.md").read_text()
    assert "**0.2946**– |" in markdown
    assert "\n\n– not tested: METEOR (made from sums" in markdown
    assert "ROUGE-L" not in markdown.partition("not tested")[2]
    assert ",–," in (tmp_path / "t.csv").read_text()


def test_page(stored):
    report = report_of(stored, metrics=["meteor", "rouge_l"])
    page = report_html(report)
    assert page.count("<sup>–</sup>") == len(stored.systems)
    assert "– not tested: METEOR (made from sums" in page
    assert encoded(report)  # what the scripts get says it too: see tests/pages


def test_a_page_with_some_tests_says_so_of_the_others(stored):
    tested = by_score(stored)["rouge_l"]
    report = Report(stored, tests=[tested])
    assert {each.metric for each in report.comparisons if not each.about} == {
        name for name in stored.metrics if name != "rouge_l"
    }


def test_figures(stored):
    texts = [text.get_text() for text in TablePlots(stored).wins("meteor").axes[0].texts]
    assert all(text.endswith("–") for text in texts)
    assert "not tested: meteor" in TablePlots(stored).wins("meteor").get_supxlabel()
    assert not any("–" in t.get_text() for t in TablePlots(stored).wins("rouge_l").axes[0].texts)


def test_metrics_against_people():
    human = np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 5.0]])
    cells = Cells("ab", ["v1", "v2", "v3"], human, {"x": human + 1, "y": human * 0})
    grid = significance_grid(compare_metrics(cells, "system", test="williams"))
    assert [cell.text for cell in grid.rows[0]] == ["x", "1", "", "–"]
    assert grid.notes == ["– not tested: too few scores in common, or one does not vary."]


def test_compare(tmp_path, monkeypatch, capsys):
    from reelscore.cli.commands.compare import command
    from reelscore.examples import path

    systems = [str(path(f"clips/systems/{name}.json")) for name in ("human", "weak")]
    arguments = [*systems, "-r", str(path("clips/references.json")), "-m", "rouge_l,self_bleu"]
    monkeypatch.chdir(tmp_path)
    quick = ["--test", "randomization|trials:100"]
    command.main([*arguments, *quick, "--json", "c.json"], standalone_mode=False)
    out = capsys.readouterr().out
    assert "weak     0.3620▼       0.5145–" in out
    assert "– not tested: Self-BLEU (depends on all captions of a system together)." in out
    stored = json.loads((tmp_path / "c.json").read_text())
    assert stored["untested"] == {"self_bleu": "depends on all captions of a system together"}


def test_what_is_untested_cannot_win():
    tested = Comparison.none("x", ["a", "b"], "because")
    assert not tested.wins.any()
    assert tested.verdict("a", "c") == "untested"
