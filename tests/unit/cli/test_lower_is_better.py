"""A metric of another package, by which lower is better: all that rank systems go by that."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from msgspec.structs import replace

from reelscore import ScoreTable, examples, score_systems, stories
from reelscore.data.tables.scales import Scale
from reelscore.errors import DataError
from reelscore.examples import clips, path
from reelscore.meta.correlation import correlate_metrics
from reelscore.meta.paired_scores import bring_together
from reelscore.metrics.registry import declared_scale, metric_names, parse_signature
from reelscore.report.html import report_html, report_of
from reelscore.report.plots.figures import TablePlots
from reelscore.report.plots.matrices import win_shares
from reelscore.significance import rank_systems
from reelscore.significance.contrasts import between_scores, between_systems
from reelscore.significance.pair_tests import with_tests

PLUGIN = '''
"""Misses: the share of a caption's words that no reference has."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reelscore.data.tables.scales import Scale
from reelscore.metrics.base import Metric, mean_of_first, with_count


@dataclass(frozen=True)
class Misses(Metric):
    name: ClassVar[str] = "misses"
    output_scale: ClassVar[Scale] = Scale("low", 0, 1, mean=True)

    def statistics(self, batch, prepared):
        references = batch.references.text.unpack()
        shares = []
        for caption, item in zip(batch.candidates.text.unpack(), batch.items, strict=True):
            begin, end = batch.reference_offsets[item], batch.reference_offsets[item + 1]
            known = {word for text in references[begin:end] for word in text.split()}
            words = caption.split()
            shares.append(sum(word not in known for word in words) / max(1, len(words)))
        return with_count(np.array(shares))

    def scores(self, totals):
        return mean_of_first(totals)
'''


@pytest.fixture
def plugin(tmp_path_factory, monkeypatch):
    """A package with one metric, tested by its entry point."""
    home = tmp_path_factory.mktemp("site")
    (home / "missing_words.py").write_text(PLUGIN)
    about = home / "missing_words-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: missing-words\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[reelscore.metrics]\nmisses = missing_words:Misses\n")
    monkeypatch.syspath_prepend(str(home))
    assert "misses" in metric_names()


@pytest.fixture
def table(plugin):
    table = score_systems(*clips(), "misses,rouge_l")
    scores = {name: table[name]["misses"].score for name in table.systems}
    assert scores["human"] < scores["weak"] < scores["broken"]  # as it should be
    return table


def test_the_metric_says_it(table):
    assert table.scale("misses") == Scale("low", 0, 1, mean=True)
    assert table.scale("rouge_l").better == "high"
    assert declared_scale("misses").better == "low"


@pytest.mark.parametrize("ending", ["json", "csv"])
def test_it_travels_in_files(table, tmp_path, ending):
    table.write(tmp_path / f"scores.{ending}")
    stored = ScoreTable.read(tmp_path / f"scores.{ending}")
    assert stored.scale("misses").better == "low"
    assert stored.scale("rouge_l").better == "high"
    assert "Columns not used" not in " ".join(stored.notes)


def test_it_travels_where_the_plugin_is_not(tmp_path):
    rows = "system,item,metric,score,better\na,,misses,0.5,low\na,v1,misses,0.5,low\n"
    (tmp_path / "scores.csv").write_text(rows)
    assert ScoreTable.read(tmp_path / "scores.csv").scale("misses").better == "low"
    (tmp_path / "scores.csv").write_text(rows.replace("v1,misses,0.5,low", "v1,misses,0.5,high"))
    with pytest.raises(DataError, match="line 3 has 'high' in the column better"):
        ScoreTable.read(tmp_path / "scores.csv")
    (tmp_path / "scores.csv").write_text(rows.replace("low", "down"))
    with pytest.raises(DataError, match="line 2 has 'down' in the column better"):
        ScoreTable.read(tmp_path / "scores.csv")


def test_old_files(tmp_path):
    # written before scales were: what a known metric declares counts, and otherwise higher
    parts = {
        "self_bleu": "self_bleu|n:4|tok:ptb|v:0.1.0",
        "length": "diversity|training:none|training_tokenizer:ptb|v:0.1.0",
        "bleu_4": "bleu|n:4|v:0.1.0",
        "adequacy": "",
    }
    scores = {
        name: {"score": 0.5, "signature": signature, "items": {"v1": 0.5}}
        for name, signature in parts.items()
    }
    (tmp_path / "old.json").write_text(json.dumps({"systems": {"mine": scores}}))
    stored = ScoreTable.read(tmp_path / "old.json")
    assert {name: stored.scale(name).better for name in stored.metrics} == {
        "self_bleu": "low",
        "length": "neither",
        "bleu_4": "high",
        "adequacy": "high",
    }


def test_leaderboard(table, run, folder):
    systems = ["human.json", "weak.json", "broken.json"]
    arguments = ("score", *systems, "-r", "refs.json", "-m", "misses,rouge_l")
    status, out, _ = run(*arguments, "-o", "t.tex", "-o", "t.md")
    assert status == 0
    assert "misses ↓" in out
    best = f"{table['human']['misses'].score:.4f}"
    latex = (folder / "t.tex").read_text()
    assert "misses $\\downarrow$ & ROUGE-L" in latex
    assert f"human & \\textbf{{{best}}}" in latex
    assert f"| human | **{best}** |" in (folder / "t.md").read_text()


def test_compare_marks_the_better(plugin, run, folder):
    systems = ("broken.json", "human.json")
    arguments = ("compare", *systems, "-r", "refs.json", "-m", "misses", "--all-pairs")
    status, _, _ = run(*arguments, "-o", "t.csv", "--json", "t.json")
    assert status == 0
    rows = csv.DictReader((folder / "t.csv").read_text().splitlines())
    marks = {row["system"]: row["misses_mark"] for row in rows}
    assert marks == {"broken": "", "human": "a"}
    assert json.loads((folder / "t.json").read_text())["comparisons"][0]["better"] == "low"


def test_pairs(table):
    _, tests = with_tests(table)
    tested = next(each for each in tests if each.metric == "misses")
    human, broken = (tested.systems.index(name) for name in ("human", "broken"))
    assert tested.wins[human, broken]
    assert not tested.wins[broken, human]


def test_report(table):
    page = report_html(report_of(table))
    best = f"{table['human']['misses'].score:.4f}"
    row = next(line for line in page.splitlines() if "<bdi>human</bdi>" in line)
    assert f'<td class="best">{best}' in row


def test_figures(table):
    assert TablePlots(table)._ranked("misses")[-1] == "broken"
    shares = win_shares(table, "misses", ["human", "broken"])
    assert shares[0, 1] > 0.9


def test_contrasts(table):
    contrast = between_systems(table, "misses", ["human", "broken"], top=1)[0]
    assert (contrast.high, contrast.low) == ("human", "broken")
    # both scores like the same captions, so that no caption is turned upside down
    assert max(each.size for each in between_scores(table, "misses", "rouge_l")) < 0.9


def test_people_by_ranks():
    scale = Scale("low", 1, mean=True)
    people = ScoreTable.read(path("clips/judgments.csv"), repeats="mean")
    turned = {
        name: {"rank": replace(row["judgments"], metric="rank", scale=scale)}
        for name, row in people.results.items()
    }
    usual = rank_systems(people, "judgments").systems
    assert rank_systems(ScoreTable(turned), "rank").systems == usual[::-1]


def test_meta(table, run, folder, tmp_path):
    people = ScoreTable.read(path("clips/judgments.csv"), repeats="mean")
    cells = bring_together(table, people)
    assert cells.turned == ["misses"]
    correlations = correlate_metrics(cells, "pooled", ["pearson"])
    assert correlations[0].value > 0.5  # fewer misses, better judgments
    raw = table.matrix("misses", cells.systems, cells.items)
    assert np.array_equal(cells.metrics["misses"], -raw)
    table.write(folder / "scores.json")
    human = str(path("clips/judgments.csv"))
    status, out, _ = run("meta", "scores.json", "--human", human, "-t", "none")
    assert status == 0
    assert "misses: lower is better, so its sign is reversed" in out


def test_listing(plugin, run):
    status, out, _ = run("metrics", "misses")
    assert status == 0
    assert "misses: 0 to 1, lower is better" in out


def test_stories_refuse_it(plugin, run, folder):
    systems, annotators = examples.stories()
    with pytest.raises(DataError, match="misses cannot score stories"):
        stories.score(systems["concise"], annotators.values(), f="misses")
    with pytest.raises(DataError, match="misses cannot score stories"):
        stories.score(systems["concise"], annotators.values(), metrics="misses")


@pytest.mark.parametrize(
    "name", ["bleu", "meteor", "rouge_l", "cider", "sent_bleu", "self_bleu", "diversity", "fusion"]
)
def test_declarations_are_true(name):
    """Ranges hold, and only scores that say so are the means of their items."""
    table = score_systems(*clips(), parse_signature(name))
    for row in table.results.values():
        for result in row.values():
            values = [result.score, *result.items.array]
            least, most = result.scale.least, result.scale.most
            assert least is None or min(values) >= least
            assert most is None or max(values) <= most
            if result.scale.mean:
                assert result.score == pytest.approx(result.items.array.mean(), abs=1e-12)
