"""Stress tests: what is changed, what is compared with what, and how it is counted."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from reelscore.data.tables.scales import Scale
from reelscore.errors import DataError, UnknownNameError
from reelscore.examples import clips
from reelscore.learned.judges.judge import Judge
from reelscore.meta import stress_kinds, stress_metrics
from reelscore.meta.stress.cases import ABOUT, make_cases, take_out
from reelscore.meta.stress.stress_report import detail_grid, drop_grid, share_grid, stress_html
from reelscore.metrics.base import Metric
from reelscore.scoring.captions import score
from reelscore.text import damage_forms, damage_kinds
from support.model_server import model_server, shared_words

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import stress_examples

SYSTEMS, REFERENCES = clips()


@dataclasses.dataclass(frozen=True)
class Length(Metric):
    """The number of words, of which fewer are better."""

    name = "length"
    output_scale = Scale("low")

    def statistics(self, batch, prepared):
        return np.diff(batch.candidates.words.offsets)[:, None].astype(float)

    def scores(self, totals):
        return totals


@dataclasses.dataclass(frozen=True)
class Constant(Length):
    """The same score for everything."""

    name = "constant"

    def scores(self, totals):
        return np.zeros_like(totals)


def trial(metric, kind, **options):
    return stress_metrics(metric, kinds=[kind], **options).trials[0]


def test_every_kind_is_made_and_explained():
    kinds = [kind for kind in stress_kinds() if "/" not in kind]
    result = stress_metrics("rouge_l", kinds=kinds)
    assert list(result.cases) == kinds == list(ABOUT)
    for kind, cases in result.cases.items():
        assert len({case.item for case in cases}) == len(cases) > 0, kind
        assert all(case.changed != case.original for case in cases), kind


def test_told_are_the_same_damages_where_a_reference_has_the_word():
    references = {
        "red": ["A man drives a red bus.", "a red bus passes"],
        "unknown": ["A man drives a red bus.", "a bus passes"],
    }
    captions = dict.fromkeys(references, "A man drives a red bus.")
    left = {item: texts[1:] for item, texts in references.items()}
    result = stress_metrics("rouge_l", left, captions, kinds=["colour", "colour/told"])
    by_item = {case.item: case for case in result.cases["colour"]}
    assert set(by_item) == {"red", "unknown"}
    assert result.cases["colour/told"] == [by_item["red"]]
    told, every = result.trial("rouge_l", "colour/told"), result.trial("rouge_l", "colour")
    assert (told.captions, told.below) == (1, 1)
    assert (every.captions, every.below, every.ties) == (2, 1, 1)


def test_scores_are_those_of_captions_against_the_other_references():
    result = stress_metrics("cider,meteor", kinds=["truncation"])
    originals, others = take_out(REFERENCES, result.seed)
    before = score(originals, others, "cider,meteor")
    halves = {case.item: case.changed for case in result.cases["truncation"]}
    after = score(halves, others, "cider,meteor")
    for metric in ("cider", "meteor"):
        expected = [[before[metric].items[item], after[metric].items[item]] for item in halves]
        np.testing.assert_allclose(result.scores[metric, "truncation"], expected, atol=1e-12)
    for item, original in originals.items():
        assert sorted([original, *others[item]]) == sorted(REFERENCES[item])


def test_counts_and_drop():
    result = stress_metrics("meteor", kinds=["negation"])
    (trial,) = result.trials
    lost = -np.diff(result.scores["meteor", "negation"])[:, 0]
    assert (trial.below, trial.ties) == ((lost > 0).sum(), (lost == 0).sum())
    assert trial.captions == len(result.cases["negation"]) < result.items == 15
    assert trial.share == trial.below / trial.captions == 1 - trial.fooled
    assert trial.interval[0] < trial.share < trial.interval[1]
    assert trial.drop == pytest.approx(lost.mean() / result.spreads["meteor"])


def test_where_low_is_better_a_higher_score_is_below():
    stutter, half = trial(Length(), "stutter"), trial(Length(), "truncation")
    assert (stutter.share, half.share) == (1, 0)
    assert stutter.drop > 0 > half.drop
    result = stress_metrics(Length(), kinds=["stutter"])
    before, after = np.array([pair[1:] for pair in result.worst("length", "stutter", 99)]).T
    assert (np.diff(after - before) >= 0).all()  # fewest words more: the least noticed


def test_ties_are_not_below():
    tied = trial(Constant(), "shuffle")
    assert (tied.below, tied.ties, tied.fooled) == (0, tied.captions, 1)
    assert math.isnan(tied.drop)
    order = trial("bleu|n:1", "shuffle")
    assert order.ties == order.captions  # single words have no order


def test_originals_may_be_given():
    originals = SYSTEMS["human"]
    result = stress_metrics("meteor", REFERENCES, originals, kinds=["other video"])
    assert [case.original for case in result.cases["other video"]] == list(originals.values())
    assert result.source == "captions given"


def test_the_seed_decides_and_the_order_does_not():
    one = stress_metrics("rouge_l", REFERENCES, seed=7)
    backwards = dict(reversed(REFERENCES.items()))
    two = stress_metrics("rouge_l", backwards, seed=7)
    for kind in one.cases:
        assert sorted(one.cases[kind]) == sorted(two.cases[kind])
    assert stress_metrics("rouge_l", seed=8).cases != one.cases
    assert stress_metrics("rouge_l", seed=7).to_dict() == one.to_dict()


def test_fewer_items():
    result = stress_metrics("rouge_l", items=4, kinds=["shuffle"])
    assert result.items == 4 == result.trials[0].captions


def test_forms_are_kinds_too():
    result = stress_metrics("rouge_l", kinds=["negation/never"])
    for case in result.cases["negation/never"]:
        assert "never" in case.changed.split()
    assert result.kinds("damage") == ["negation/never"]


def test_wrong_words_are_none_of_the_references():
    captions = {"v": "a red car"}
    references = {"v": ["a green bus", "a yellow or blue truck"]}
    for seed in range(20):
        (case,) = make_cases(captions, references, ["colour"], seed)["colour"]
        assert case.changed == "a black car"


def test_exploits_of_other_videos_are_of_other_videos():
    for case in stress_metrics("rouge_l", kinds=["other video"]).cases["other video"]:
        assert case.changed not in REFERENCES[case.item]


def test_most_frequent_caption_is_of_another_video():
    captions = {"1": "a man is here", "2": "a man is there", "3": "two red cats sleep"}
    references = {"1": ["a man is here now"], "2": ["a man is where"], "3": ["cats"]}
    cases = make_cases(captions, references, ["frequent"], 1)["frequent"]
    for case in cases:
        assert case.changed not in (captions[case.item], *references[case.item])
    assert cases[2].changed.startswith("a man is")


def test_items_with_a_single_reference_are_left_out():
    references = {**REFERENCES, "lonely": ["a man"]}
    result = stress_metrics("rouge_l", references, kinds=["shuffle"])
    assert result.items == 15
    assert result.notes == ["1 item left out: a single reference."]


PARAGRAPH = "A man opens a door. Two dogs run in. He closes it"
STORIES = {"1": PARAGRAPH, "2": "A woman cooks. She eats.", "3": "Boys play. They sing."}


def test_paragraphs_are_damaged_by_the_sentence():
    references = {item: ["somebody does something"] for item in STORIES}
    result = stress_metrics("rouge_l", references, STORIES)
    kinds = [kind for kind in stress_kinds(paragraphs=True) if kind in result.cases]
    assert list(result.cases) == kinds
    before = PARAGRAPH.split(". ")
    for kind, cases in result.cases.items():
        (case,) = [case for case in cases if case.item == "1"] or [None]
        if case is None or not kind.startswith("sentence/"):
            continue
        after = case.changed.removesuffix(".").split(". ")
        match kind.partition("/")[2]:
            case "exchanged":
                assert sorted(after) == sorted(before) != after != before
            case "left out":
                assert len(after) == 2
                assert set(after) < set(before)
            case "invented":
                (strange,) = set(after) - set(before)
                assert strange in f"{STORIES['2']} {STORIES['3']} somebody does something."
            case _:
                assert sum(one != two for one, two in zip(before, after, strict=True)) == 1


def test_words_inside_a_sentence_are_told_by_references():
    references = {"1": ["a man opens a window"], "2": ["a woman washes"]}
    captions = {item: STORIES[item] for item in references}
    cases = make_cases(captions, references, ["sentence/verb", "sentence/verb/told"], 1)
    assert {case.item for case in cases["sentence/verb/told"]} == {"1"}
    assert cases["sentence/verb/told"][0].changed.startswith("A man closes a door. Two dogs")


def test_lone_sentences_have_no_kinds_of_paragraphs():
    assert not make_cases({"1": "a man sings"}, {"1": ["x"]}, ["sentence/left out"], 1)
    assert not any(kind.startswith("sentence") for kind in stress_metrics("rouge_l").cases)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("rouge_l", {"v": ["a man"]}), {}, "single reference"),
        (("rouge_l", {"v": ["a man", "a man"]}), {}, "single reference, or the same one again"),
        (("rouge_l", {"v": ["a man", ""]}), {}, "1 reference is empty .*reference 2 of item 'v'"),
        (("rouge_l", {"v": [""], "w": ["he"]}, {"v": "a man"}), {}, "1 reference is empty"),
        (("rouge_l", {"v": ["a man"]}, {"w": "a dog"}), {}, "no references"),
        (("rouge_l", {"v": ["ein Mann"]}, {"v": "ein Mann"}), {"kinds": ["verb"]}, "No caption"),
        (("diversity",), {}, "does not say of a single caption how good it is"),
        (("self_bleu",), {}, "does not say of a single caption how good it is"),
        (("rouge_l",), {"kinds": []}, "No kind of damage or exploit is named"),
    ],
)
def test_what_cannot_be_tried(arguments, options, message):
    with pytest.raises(DataError, match=message):
        stress_metrics(*arguments, **options)


def test_a_caption_too_long_to_be_degraded_is_left_out():
    captions = {"long": "a man " * 50, "1": "a man sings", "2": "two red cats sleep"}
    references = {item: ["somebody"] for item in captions}
    result = stress_metrics("rouge_l", references, captions)
    assert [case.item for case in result.cases["degraded"]] == ["1", "2"]
    assert "other video" in result.cases


def test_kinds_that_change_no_caption_are_named():
    captions, references = {"1": "a man sings"}, {"1": ["he sings"]}
    result = stress_metrics("rouge_l", references, captions, kinds=["colour", "generic", "roles"])
    assert list(result.cases) == ["generic"]
    assert "No caption can be changed by colour, roles." in result.notes
    assert "rouge_l: all originals score the same, so there is no mean drop." in result.notes


def test_originals_among_their_references():
    """Nothing could fool a metric then."""
    captions = {item: texts[0] for item, texts in REFERENCES.items()}
    result = stress_metrics("rouge_l", REFERENCES, captions, kinds=["generic"])
    assert result.notes[0].startswith("Warning: 15 of 15 originals are among their references")
    assert not stress_metrics("rouge_l", kinds=["generic"]).notes


def test_scores_that_are_named_are_tried():
    result = stress_metrics("bleu_1,bleu_2,bertscore_p", kinds=["shuffle"])
    assert result.metrics == ["bleu_1", "bleu_2", "bertscore_p"]
    assert stress_metrics("bleu", kinds=["shuffle"]).metrics == ["bleu_4"]


def test_what_a_reference_says_is_no_exploit():
    captions = {"1": "a man is speaking to people", "2": "a woman cooks", "3": "two dogs play"}
    references = {item: ["a man is talking", "a person is doing something"] for item in captions}
    references["1"].append("people are in a room")
    cases = make_cases(captions, references, ["generic", "other video"], 1)
    assert "1" not in [case.item for case in cases.get("generic", ())]
    for case in [case for own in cases.values() for case in own]:
        assert case.changed not in references[case.item]


def test_a_trained_metric_says_what_it_has_seen():
    pytest.importorskip("reelscore_bertha")
    signature = stress_metrics("bertha", kinds=["generic"], items=2).signatures["bertha"]
    assert "|trained:" in signature
    assert "|seen:0|" in signature


def test_a_judge(tmp_path):
    def answer(request):
        return "no idea" if REFERENCES["clip01"][0] in str(request) else shared_words(request)

    with model_server(answer) as server:
        judge = Judge("m", server.url, failed="skip", journal=str(tmp_path / "answers.jsonl"))
        result = stress_metrics([judge, "rouge_l"], kinds=["truncation", "generic"])
    judged, other = result.trial("judge", "truncation"), result.trial("rouge_l", "truncation")
    assert (judged.captions, other.captions) == (14, 15)  # a caption without an answer is no tie
    assert judged.fooled < 1
    assert math.isfinite(judged.drop)
    assert [cell.text for cell in share_grid(result, "damage").rows[0][:2]] == ["truncation", "15"]
    assert any(note.startswith("judge: ") and "tokens" in note for note in result.notes)
    json.dumps(result.to_dict(), allow_nan=False)
    assert "nan" not in str(result.worst("judge", "truncation", 99))


def test_unknown_kind():
    with pytest.raises(UnknownNameError, match=r"Did you mean 'negation/never'.*stress --list"):
        stress_metrics("rouge_l", kinds=["negation/nevr"])


def test_tables():
    result = stress_metrics("bleu,rouge_l", kinds=["shuffle", "stutter", "generic"])
    grid = share_grid(result, "damage")
    assert grid.columns == ["damage", "captions", "BLEU-4", "ROUGE-L"]
    shares = [
        [result.trial(m, kind).share for m in result.metrics] for kind in ("shuffle", "stutter")
    ]
    assert [[cell.text for cell in row[2:]] for row in grid.rows] == [
        [f"{share:.2f}" for share in row] for row in shares
    ]
    (fooled,) = detail_grid(result, "rouge_l", "exploit").rows
    assert fooled[2].text == f"{result.trial('rouge_l', 'generic').fooled:.2f}"
    low, high = map(float, fooled[3].text.split("–"))
    assert low <= float(fooled[2].text) <= high
    assert [row[0].text for row in drop_grid(result).rows] == ["shuffle", "stutter", "generic"]


def test_drops_that_cannot_be_told():
    result = stress_metrics([Constant(), "bleu"], kinds=["spoilt copy"])
    (row,) = drop_grid(result).rows
    assert [cell.text for cell in row] == ["spoilt copy", "–", "< −99"]


@dataclasses.dataclass(frozen=True)
class Silent(Length):
    """No score for long captions, as of a judge that has no answer."""

    name = "silent"

    def scores(self, totals):
        return np.where(totals > 100, np.nan, totals)


def test_captions_without_a_score():
    result = stress_metrics([Silent(), "bleu", "rouge_l"], kinds=["500 words"])
    (row,) = share_grid(result, "exploit").rows
    assert row[2].text == "–"
    assert [cell.best for cell in row[2:]] == [False, False, True]
    (row,) = detail_grid(result, "silent", "exploit").rows
    assert [cell.text for cell in row] == ["500 words", "0", "–", "–", "–", "–"]


def test_page_escapes_captions():
    pytest.importorskip("jinja2")
    captions = {"1": "<script>alert(1)</script> a man is singing", "2": "a dog is barking"}
    references = {"1": ["a man sings"], "2": ["a dog barks"]}
    page = stress_html(stress_metrics("rouge_l", references, captions), "<b>", "reelscore <x>")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "reelscore &lt;x&gt;" in page


def test_plain_data():
    result = stress_metrics([Constant(), "meteor"], kinds=["colour", "punctuation"])
    content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert [entry["kind"] for entry in content["trials"]] == ["colour", "punctuation"] * 2
    case = content["cases"]["punctuation"][0]
    assert case["scores"].keys() == {"constant", "meteor"}
    assert content["metrics"][1]["signature"].startswith("meteor|")


def test_page_of_examples_is_up_to_date():
    page = stress_examples.PAGE.read_text(encoding="utf-8")
    assert page == stress_examples.page(), "run 'python tools/stress_examples.py'"
    for kind in ABOUT:
        section = page.partition(f"\n## {kind}\n")[2].partition("\n## ")[0]
        forms = damage_forms(kind) if kind in damage_kinds() else []
        assert section.count("\n| ") == 1 + max(stress_examples.SHOWN, len(forms)), kind
