"""What a report is made of: tests, explanations and columns agree with the rest of reelscore."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import reelscore.report
from reelscore import compare, examples, score_systems
from reelscore.data.tables.scales import Scale
from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
from reelscore.errors import DataError, UnknownNameError
from reelscore.metrics.cider import Cider
from reelscore.metrics.meteor import Meteor
from reelscore.metrics.registry import metric_names
from reelscore.report.html import (
    Report,
    Section,
    report_html,
    report_of,
    write_report,
)
from reelscore.report.html.contents import ItemTexts
from reelscore.report.html.explanations import align_all
from reelscore.report.html.ngrams import cider_shares
from reelscore.report.html.page import encoded, marks_of
from reelscore.significance.comparison import strictest
from reelscore.significance.pair_tests import with_tests
from reelscore.stories import score_systems as score_stories
from reelscore.stories import timeline
from reelscore.text.tokens import tokenize
from reelscore_studies.judged.trecvid_ha import load
from support.report_payload import decoded


@pytest.fixture(scope="module")
def clips() -> ScoreTable:
    return score_systems(*examples.clips())


# Tests


def test_bootstrap_is_that_of_compare(clips):
    """All pairs are resampled together; each gets the p-value it has by itself."""
    _, together = with_tests(clips, correction="none")
    alone = compare(clips, tests=["bootstrap"], correction="none")
    for ours, theirs in zip(together, alone, strict=True):
        assert (ours.metric, list(ours.pairs)) == (theirs.metric, list(theirs.pairs))


def test_intervals_are_those_of_the_scores(clips):
    table, _ = with_tests(clips)
    for system in clips.systems:
        expected = clips[system].with_intervals()
        for name in clips.metrics:
            assert table[system][name].interval == pytest.approx(expected[name].interval, rel=1e-12)


def test_a_stored_table_is_resampled_where_scores_are_means(clips, tmp_path):
    clips.write(tmp_path / "scores.json", statistics=False)
    stored, tests = with_tests(ScoreTable.read(tmp_path / "scores.json"))
    fresh, _ = with_tests(clips)
    for name in ("rouge_l", "cider"):
        assert stored["weak"][name].interval == pytest.approx(fresh["weak"][name].interval)
    assert stored["weak"]["meteor"].interval is None  # made from sums that a table does not keep
    assert {each.metric for each in tests} >= {"rouge_l", "cider"}
    assert "METEOR" in report_of(ScoreTable.read(tmp_path / "scores.json")).notes[0]


def test_comparisons_with_a_baseline_are_marked(clips):
    comparisons = compare(clips, "strong", tests=["randomization"])
    marks = marks_of(Report(clips, tests=strictest(comparisons), baseline="strong"))
    expected = {
        (pair.system, each.metric)
        for each in comparisons
        for pair in each.pairs
        if pair.p_corrected < 0.05
    }
    assert set(marks) == expected
    better = {place for place, mark in marks.items() if mark == "▲"}
    assert {system for system, _ in better} == {"human"}
    assert set(marks.values()) == {"▲", "▼"}


def test_letters_name_the_systems_outdone(clips):
    report = report_of(clips)
    marks = marks_of(report)
    assert marks["human", "cider"] == "bcd"  # human is a, strong b, weak c, broken d
    assert ("broken", "cider") not in marks


def test_systems_on_different_items_are_not_paired():
    scores = {"one": {"a": 1.0, "b": 2.0, "c": 1.5}, "two": {"a": 1.0, "b": 0.0}}
    table = ScoreTable(
        {
            name: {"x": MetricResult("x", float(np.mean(list(s.values()))), ItemScores.of(s), "x")}
            for name, s in scores.items()
        }
    )
    tested, (evidence,) = with_tests(table)
    assert evidence.verdict("one", "two") == "untested"
    assert evidence.untested.startswith("systems scored on different items")
    assert tested["one"]["x"].interval is not None


# Explanations


def gathered(systems, references, **fields) -> tuple[Report, ItemTexts]:
    table = score_systems(systems, references, "meteor,cider", **fields)
    report = Report(table, captions=systems, references=references)
    return report, ItemTexts.of(report, report.items)


def check_shares(metric, systems, references):
    """What n-grams add must sum to the score."""
    _, texts = gathered(systems, references)
    table = score_systems(systems, references, metric)
    shares = cider_shares(
        metric,
        tokenize(texts.raw),
        texts.captions,
        texts.items,
        texts.offsets,
        texts.references,
    )
    expected = table.matrix("cider", table.systems, list(references)).T.ravel()
    assert shares.totals(len(texts.captions)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "metric", [Cider(), Cider(n=2), Cider(variant="plain"), Cider(sigma=2.0)], ids=repr
)
def test_shares_add_up_to_cider(metric):
    check_shares(metric, *examples.clips())


def test_shares_with_stored_frequencies(tmp_path):
    from reelscore.metrics.cider import write_frequencies

    systems, references = examples.clips()
    path = tmp_path / "frequencies.json"
    write_frequencies(path, dict(list(references.items())[:6]))
    metric = Cider(frequencies=str(path))
    check_shares(metric, systems, references)


@pytest.mark.shared
def test_explanations_of_real_captions(shared):
    data = load(shared / "trecvid-vtt-ha", "SA-2020")
    items = data.items[:150]
    systems = {name: {i: c[i] for i in items} for name, c in data.candidates.items()}
    references = {item: data.references()[item] for item in items}
    report, texts = gathered(systems, references)
    tokens = tokenize(texts.raw)
    shares = cider_shares(
        Cider(), tokens, texts.captions, texts.items, texts.offsets, texts.references
    )
    cider = report.table.matrix("cider", report.table.systems, items).T.ravel()
    assert shares.totals(len(cider)) == pytest.approx(cider, abs=1e-12)
    counts = np.diff(texts.offsets)[texts.items]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    own = np.concatenate(
        [texts.references[texts.offsets[i] : texts.offsets[i + 1]] for i in texts.items]
    )
    alignments = align_all(Meteor(), tokens, texts.captions, offsets, own)
    meteor = report.table.matrix("meteor", report.table.systems, items).T.ravel()
    assert (alignments.scores == meteor).all()  # to the last bit


def test_no_explanation_of_other_references(clips):
    systems, references = examples.clips()
    others = {item: ["something else"] for item in references}
    head, columns = decoded(encoded(Report(clips, captions=systems, references=others)))
    assert not any(name.startswith(("meteor", "cider")) for name in columns)
    assert len(head["notes"]) == 2
    assert "do not yield the table's scores" in head["notes"][0]


def test_spice_without_what_it_needs(tmp_path):
    tuples = tmp_path / "tuples.jsonl"
    tuples.write_text('{"test": "a dog", "test_tuples": [["dog"]]}\n')
    table = score_systems({"one": {"v1": "a dog"}}, {"v1": ["a dog"]}, f"spice|tuples:{tuples}")
    head, columns = decoded(encoded(report_of(table)))
    assert columns["tuples"] == columns["reference tuples"] == ["dog"]
    assert columns["tuple matches"].tolist() == [1]
    assert head["explanations"]["tuples"] == {"score": "SPICE"}
    tuples.unlink()
    head, columns = decoded(encoded(report_of(table)))
    assert "tuples" not in columns
    assert head["notes"][-1] == f"SPICE: no tuples are shown. {tuples}: no such file."


def test_too_many_captions_are_not_explained(clips):
    head, columns = decoded(encoded(report_of(clips), explain=59))
    assert "alignment best" not in columns
    assert "60 captions, more than 59" in head["notes"][0]


def test_empty_captions_are_no_trouble():
    systems = {"one": {"a": "", "b": "a dog"}, "two": {"a": "a cat"}}
    references = {"a": ["a cat sleeps"], "b": ["a dog"]}
    table = score_systems(systems, references, missing="zero", empty="zero")
    _, columns = decoded(encoded(report_of(table)))
    assert columns["alignment best"].tolist() == [0, 1, 1, 0]


# Columns


def test_the_columns_hold_the_table(clips):
    head, columns = decoded(encoded(report_of(clips)))
    systems, references = examples.clips()
    assert head["systems"] == list(systems)
    assert head["items"] == list(references)
    for k, name in enumerate(clips.metrics):
        assert head["metrics"][k]["name"] == clips.labels[name]
        expected = clips.matrix(name, clips.systems, head["items"]).T.ravel()
        assert columns[f"score{k}"] == pytest.approx(expected, rel=1e-6)
    texts = iter(columns["texts"])
    for item in head["items"]:
        assert [next(texts) for _ in systems] == [systems[name][item] for name in systems]
        assert [next(texts) for _ in references[item]] == references[item]


def test_the_scores_of_most_interest_come_first():
    """A metric says itself whether papers quote it; the table carries it, also a plug-in's."""
    names = ["x_1", "quoted", "x_2", "mine", "judgments", "fluency"]
    rows = {
        "one": {
            name: MetricResult(
                name,
                1.0,
                ItemScores.of({"a": 1.0}),
                "",
                scale=Scale(headline=name in ("quoted", "mine")),
            )
            for name in names
        }
    }
    report = Report(ScoreTable(rows), human=("judgments", "fluency"))
    head, _ = decoded(encoded(report))
    assert [names[k] for k in head["interest"]] == [
        "judgments", "fluency", "quoted", "mine", "x_2", "x_1"
    ]  # fmt: skip


def test_what_papers_quote_first_travels_in_files(tmp_path):
    systems, annotators = examples.stories()
    table = score_stories(systems, annotators.values())
    table.write(tmp_path / "scores.json")
    for each in (table, ScoreTable.read(tmp_path / "scores.json")):
        headlines = [name for name in each.metrics if each.scale(name).headline]
        assert headlines == ["soda_c", "anet_meteor", "anet_cider"]


def test_gaps_stay_gaps():
    rows = {
        "one": {"x": MetricResult("x", 1.0, ItemScores.of({"a": 1.0}), "x")},
        "two": {"y": MetricResult("y", 2.0, ItemScores.of({"b": 2.0}), "y")},
    }
    head, columns = decoded(encoded(Report(ScoreTable(rows))))
    assert head["items"] == ["a", "b"]
    assert np.isnan(columns["score0"]).tolist() == [False, True, True, True]
    assert head["metrics"][0]["own"] == [1.0, None]


def test_stories_hold_the_timelines():
    systems, annotators = examples.stories()
    from reelscore import stories

    table = stories.score_systems(systems, annotators.values(), "soda_c")
    shown = table.sources.timelines
    one = timeline(systems["verbose"], annotators.values(), "v_kayak", system="verbose")
    assert shown["verbose"]["v_kayak"] == one
    head, columns = decoded(encoded(report_of(table)))
    assert head["stories"]["method"] == "SODA (c), f: meteor"
    assert head["stories"]["annotators"] == ["annotator 1", "annotator 2"]
    sentences = sum(
        len(each.comparisons[0].candidates) for videos in shown.values() for each in videos.values()
    )
    sentences += sum(
        len(story["sentences"]) for each in annotators.values() for story in each.values()
    )
    assert len(columns["story sentences"]) == sentences


# The page


def test_the_page_loads_nothing(clips):
    page = report_html(report_of(clips, title="Mine", command="reelscore score a.json"))
    assert not re.search(r"<(?:link|img|iframe|script src)", page)
    assert not re.findall(r"\binnerHTML|outerHTML|insertAdjacent|document\.write|eval\(", page)
    addresses = set(re.findall(r"https?://[^\s\"'`;)]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert "reelscore score a.json" in page


def test_the_same_report_is_the_same_file(clips):
    assert report_html(report_of(clips)) == report_html(report_of(clips))


def test_the_leaderboard_needs_no_script(clips):
    page = report_html(report_of(clips))
    assert re.search(r"<bdi>human</bdi></th>.*?1\.6159<sup>bcd</sup><small>±", page)


def test_further_tables(clips):
    from reelscore.report.tables.grid import Cell, Grid

    section = Section(
        "Raters", ["Who passed."], [Grid(["rater", "p"], [[Cell("r1"), Cell(".02")]])]
    )
    head, _ = decoded(encoded(report_of(clips, sections=[section])))
    assert head["sections"][0]["grids"][0]["rows"][0][1]["text"] == ".02"


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"human": ["z"]}, UnknownNameError, "human score 'z'"),
        ({"baseline": "none"}, UnknownNameError, "baseline 'none'"),
        ({"video": "clips/all.mp4"}, DataError, r"put \{item\} where"),
    ],
)
def test_what_does_not_fit_is_refused(clips, fields, error, message):
    with pytest.raises(error, match=message):
        Report(clips, **fields)


def test_an_empty_table_is_refused():
    with pytest.raises(DataError, match="no scores"):
        Report(ScoreTable({}))


def test_people_of_other_systems_are_refused(clips):
    people = ScoreTable({"x": {"z": MetricResult("z", 0.0, ItemScores.of({"a": 0.0}), "")}})
    with pytest.raises(DataError, match="none of the systems human, strong"):
        report_of(clips, people)


def test_nothing_is_left_where_the_file_cannot_be(clips, tmp_path):
    with pytest.raises(DataError, match="there is no folder"):
        write_report(tmp_path / "no" / "report.html", report_of(clips))
    assert list(tmp_path.iterdir()) == []


def test_scores_of_systems_without_items():
    rows = {name: {"x": MetricResult("x", 1.0, ItemScores.of({}), "x")} for name in ("a", "b")}
    head, _ = decoded(encoded(report_of(ScoreTable(rows))))
    assert head["items"] == []


def test_reports_know_no_metric_by_name():
    """What a score is, its table says; a list of names would leave out plug-ins."""
    names = {"soda_a", "soda_b", "soda_c", "anet_meteor"}
    for metric in metric_names():
        names |= {metric, f"{metric}_4"}
    folder = Path(reelscore.report.__file__).parent
    for file in [*folder.rglob("*.py"), *folder.rglob("*.js")]:
        text = file.read_text(encoding="utf-8")
        code = re.sub(r"\"\"\".*?\"\"\"", "", text, flags=re.DOTALL)  # examples name metrics
        known = set(re.findall(r"[\"'](\w+)[\"']", code)) & names
        assert not known, (file.name, known)
