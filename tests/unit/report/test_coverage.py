"""Systems scored on different items are marked and not ranked, in every form of the table."""

from __future__ import annotations

import pytest

from reelscore import (
    DataError,
    ScoreTable,
    compare,
    examples,
    parse_signature,
    score,
    score_systems,
    stories,
)
from reelscore.data.captions.coverage import partial_scores
from reelscore.report.html import report_html, report_of
from reelscore.report.tables.leaderboard import leaderboard, leaderboard_csv


@pytest.fixture(scope="module")
def clips():
    """The example, where the best system gives no captions for half of the items."""
    systems, references = examples.clips()
    systems = {name: dict(systems[name]) for name in ("weak", "strong", "human")}
    for item in list(references)[:7]:
        del systems["human"][item]
    return systems, references


@pytest.fixture(scope="module")
def table(clips):
    return score_systems(*clips, "rouge_l,cider", missing="skip")


@pytest.fixture(params=["scored", "json", "csv"])
def kept(request, table, tmp_path):
    """The table as it was made, and as it is read back."""
    if request.param == "scored":
        return table
    table.write(tmp_path / f"table.{request.param}")
    return ScoreTable.read(tmp_path / f"table.{request.param}")


NOTE = "† not comparable, so not ranked: human was scored on 8 of 15 items."


def test_marked_and_not_ranked(kept):
    grid = leaderboard(kept)
    cells = {row[0].text: row for row in grid.rows}
    assert {name: row[0].mark for name, row in cells.items()} == {
        "weak": "",
        "strong": "",
        "human": "†",
    }
    scores = {name: kept[name]["rouge_l"].score for name in kept.systems}
    assert max(scores, key=scores.__getitem__) == "human", "it would be in bold otherwise"
    assert [name for name, row in cells.items() if row[1].best] == ["strong"]
    assert list(grid.notes) == [NOTE]
    assert "human†" in grid.to_text()
    assert f"\n{NOTE}" in grid.to_text()
    assert r"human\textsuperscript{\dag{}} &" in grid.to_latex()
    assert r"\dag{} not comparable" in grid.to_latex()
    assert "| human† |" in grid.to_markdown()
    assert NOTE in grid.to_markdown()
    assert "human†" in kept._repr_html_()
    assert NOTE in kept._repr_html_()
    rows = [line.split(",")[:2] for line in leaderboard_csv(kept).splitlines()]
    assert rows == [["system", "scored"], ["weak", "all"], ["strong", "all"], ["human", "8 of 15"]]


def test_a_complete_table_has_no_marks():
    table = score_systems(*examples.clips(), "rouge_l,cider")
    grid = leaderboard(table)
    assert not grid.notes
    assert not any(row[0].mark for row in grid.rows)
    assert leaderboard_csv(table).startswith("system,rouge_l,cider\n")
    assert not table.notes


def test_systems_that_skip_the_same_items_are_comparable(clips):
    systems, references = clips
    rest = {name: {i: c[i] for i in systems["human"]} for name, c in systems.items()}
    table = score_systems(rest, references, "rouge_l", missing="skip")
    assert not partial_scores(table)
    assert [row[1].best for row in leaderboard(table).rows] == [False, True, False]


def test_all_incomplete(clips):
    """No system is best where each was scored on items of its own."""
    _, references = clips
    table = score_systems(
        {"one": {"clip01": "a man"}, "two": {"clip02": "a dog"}},
        references,
        "rouge_l",
        missing="skip",
    )
    assert set(partial_scores(table)) == {("one", "rouge_l"), ("two", "rouge_l")}
    assert not any(row[1].best for row in leaderboard(table).rows)


def test_the_report(table):
    report = report_of(table)
    page = report_html(report)
    assert "<bdi>human</bdi><sup>†</sup>" in page
    assert NOTE in page
    assert '<td class="best"' in page.partition("<bdi>strong")[2].partition("</tr>")[0]
    assert '<td class="best"' not in page.partition("<bdi>human")[2].partition("</tr>")[0]
    (tests, _) = report.tests
    assert tests.verdict("strong", "weak") != "untested"
    assert tests.verdict("human", "weak") == "untested"


def test_what_people_judged_is_ranked():
    """People judge other items of each system, and their scores are compared all the same."""
    people = ScoreTable.read(examples.path("clips/judgments.csv"), repeats="mean")
    rows = {name: row for name, row in people.results.items() if name != "human"}
    items = people["weak"]["judgments"].items
    few = people["weak"]["judgments"].items.of(dict(list(items.items())[:4]))
    weak = people["weak"]["judgments"]
    rows["weak"] = {"judgments": type(weak)("judgments", weak.score, few, "")}
    table = ScoreTable(rows)
    assert partial_scores(table)
    assert not partial_scores(table, people=["judgments"])
    assert not leaderboard(table, people=["judgments"]).notes


def test_figures_rank_the_others_first(table):
    drawing = table.plot.intervals("rouge_l")
    labels = [label.get_text() for label in drawing.axes[0].get_yticklabels()]
    assert labels == ["strong", "weak", "human†"]


def test_tests_are_refused(clips, table):
    with pytest.raises(DataError, match=r"different items \(15 and 8\).*common=True"):
        compare(table, "weak")


def test_common_items(clips):
    systems, references = clips
    table = score_systems(systems, references, "rouge_l,cider", common=True)
    assert not partial_scores(table)
    rest = {item: references[item] for item in systems["human"]}
    for name, candidates in systems.items():
        expected = score({item: candidates[item] for item in rest}, rest, "rouge_l,cider")
        for metric, result in expected.items():
            assert table[name][metric].items.to_dict() == result.items.to_dict()
            signature = table[name][metric].signature
            assert signature == result.signature.replace("|empty", "|common:8/15|empty")
            assert parse_signature(signature) == parse_signature(result.signature)
    assert table.notes == ["Scored on the 8 of 15 items that all systems have."]
    assert compare(table, "weak", tests=["randomization"], trials=20)
    assert [row[1].best for row in leaderboard(table).rows] == [False, True, False]


def test_common_needs_an_item_that_all_have():
    with pytest.raises(DataError, match="one, two have no item in common that has references"):
        score_systems(
            {"one": {"v1": "a man"}, "two": {"v2": "a dog"}},
            {"v1": ["a man"], "v2": ["a dog"]},
            "rouge_l",
            common=True,
        )


def test_common_keeps_the_policy_for_candidates_without_references():
    systems = {"one": {1: "a man", "9": "a cat"}, "two": {"1": "a man", "2": "a dog"}}
    references = {"1": ["a man"], "2": ["a dog"]}
    with pytest.raises(DataError, match="1 candidate has no references"):
        score_systems(systems, references, "rouge_l", common=True)
    table = score_systems(systems, references, "rouge_l", common=True, missing="skip")
    assert list(table["two"]["rouge_l"].items) == ["1"]


def test_common_videos():
    systems, annotators = examples.stories()
    systems = {name: system["results"] for name, system in systems.items()}
    partly = dict(systems["verbose"])
    first = next(iter(partly))
    del partly[first]
    two = {"concise": systems["concise"], "verbose": partly}
    apart = stories.score_systems(two, annotators.values(), "soda_c", missing="skip")
    assert set(partial_scores(apart)) == {
        ("verbose", name) for name in ("soda_c_precision", "soda_c_recall", "soda_c")
    }
    table = stories.score_systems(two, annotators.values(), "soda_c", common=True)
    assert not partial_scores(table)
    assert first not in table["concise"]["soda_c"].items
    assert table.notes[-1] == "Scored on the 4 of 5 items that all systems have."
    assert "|common:4/5|" in table["concise"]["soda_c"].signature
    rest = {video: story for video, story in systems["concise"].items() if video != first}
    alone = stories.score(rest, annotators.values(), "soda_c", missing="skip")
    assert alone["soda_c"].score == table["concise"]["soda_c"].score
