"""Ids that two sides write differently: recognised in errors, and matched where that is asked."""

from __future__ import annotations

import pytest

from reelscore import DataError, Reward, ScoreTable, UnknownNameError, compare, score, score_systems
from reelscore.data.captions.item_ids import matched_ids, matching_rule
from reelscore.meta import evaluate_metrics, merge_tables
from reelscore.report.html import report_of
from reelscore.stories import score as score_stories

REFERENCES = {f"v{k}": [f"a man walks {k} dogs", f"{k} dogs"] for k in range(1, 6)}
CAPTIONS = {item: f"a man and {item[1:]} dogs" for item in REFERENCES}

# How ids may differ, and the rule that matches them.
SPELLINGS = {
    "basename": lambda item: f"clips/{item}.mp4",
    "casefold": str.upper,
    "zeros": lambda item: f"v{int(item[1:]):04}",
    "strip": lambda item: f"{item} ",
    "prefix": lambda item: f"msvd_{item}",
    "basename,casefold": lambda item: f"{item.upper()}.avi",
    "basename,zeros": lambda item: f"v{int(item[1:]):04}.mkv",
    "basename,prefix": lambda item: f"test/val_{item}.webm",
    "basename,casefold,zeros": lambda item: f"C:\\videos\\V{int(item[1:]):03}.MP4",
    "number": lambda item: f"COCO_val2014_{int(item[1:]):012}",
}


def respelled(captions, spell):
    return {spell(item): text for item, text in captions.items()}


@pytest.mark.parametrize("rule", SPELLINGS)
def test_an_error_names_the_rule_that_works(rule):
    candidates = respelled(CAPTIONS, SPELLINGS[rule])
    with pytest.raises(DataError, match=rf'\(5 of 5\): pass match_ids="{rule}"\.$'):
        score(candidates, REFERENCES, "rouge_l")
    plain = score(CAPTIONS, REFERENCES, "rouge_l")["rouge_l"]
    results = score(candidates, REFERENCES, "rouge_l", match_ids=rule)
    assert results["rouge_l"].items.to_dict() == plain.items.to_dict()
    part = f"|missing:error|ids:{rule.replace(',', '+')}|"
    assert results["rouge_l"].signature == plain.signature.replace("|missing:error|", part)
    assert results.notes[0].startswith("Ids were matched ")


def test_some_ids_that_differ():
    candidates = {**CAPTIONS, "V5": CAPTIONS["v5"]}
    del candidates["v5"]
    with pytest.raises(DataError, match=r'capital letters \(1 of 1\): pass match_ids="casefold"'):
        score(candidates, REFERENCES)
    assert len(score(candidates, REFERENCES, "rouge_l", match_ids="casefold")["rouge_l"].items) == 5


def test_items_counted_from_0_and_from_1():
    texts = [CAPTIONS[item] for item in REFERENCES]
    counted = {str(k): text for k, text in enumerate(texts)}
    numbered = {str(k): own for k, own in enumerate(REFERENCES.values(), start=1)}
    said = "One side counts its items from 0, the other from 1: number both alike"
    # neither a rule nor missing="skip" is a remedy: with it, each caption meets a neighbour's
    for references in (REFERENCES, numbered):
        with pytest.raises(DataError, match=said) as error:
            score(counted, references, "rouge_l")
        assert "match_ids" not in str(error.value)
        assert "skip" not in str(error.value)
    results = score(counted, numbered, "rouge_l", missing="skip")
    assert any(note.startswith(f"Warning: {said}") for note in results.notes)
    assert matching_rule(counted, REFERENCES) is None
    assert matching_rule([f"video{k}" for k in counted], numbered) is None
    # some of the items, whose numbers mean the same; and items of another split
    other = {f"v{k}": text for k, text in enumerate(texts, start=100)}
    with pytest.raises(DataError, match=r"no item in common.*'v3'\)\.$"):
        score(other, REFERENCES)
    some = {item: text for item, text in CAPTIONS.items() if item != "v1"}
    assert not any("counts" in note for note in score(some, REFERENCES, missing="skip").notes)


def test_no_rule_no_hint():
    with pytest.raises(DataError, match=r"no item in common.*'v3'\)\.$"):
        score({"x": "a man", "y": "a dog"}, REFERENCES)
    # two ids that would fall together are no match
    assert matching_rule(["a/1.mp4", "b/1.mp4"], ["1", "2"]) is None


def test_rules_that_are_refused():
    twice = {"a/v1.mp4": "a man", "b/v1.mp4": "a dog"}
    message = "ours: match_ids=\"basename\": the candidates 'a/v1.mp4' and 'b/v1.mp4' would be"
    with pytest.raises(DataError, match=message):
        score_systems({"ours": twice}, REFERENCES, match_ids="basename")
    with pytest.raises(DataError, match="the references 'v1' and 'V1' would be the same item"):
        matched_ids("casefold", ["v1"], ["v1", "V1"])
    with pytest.raises(UnknownNameError, match="Did you mean 'basename'"):
        score(CAPTIONS, REFERENCES, match_ids="basenames")
    with pytest.raises(DataError, match="match_ids is empty; expected one of basename"):
        score(CAPTIONS, REFERENCES, match_ids=",")


def test_systems_that_write_ids_differently():
    systems = {
        "plain": CAPTIONS,
        "files": respelled(CAPTIONS, SPELLINGS["basename"]),
        "few": respelled(dict(list(CAPTIONS.items())[:3]), SPELLINGS["basename"]),
    }
    table = score_systems(systems, REFERENCES, "rouge_l", match_ids="basename", common=True)
    assert table["files"]["rouge_l"].items.to_dict() == table["plain"]["rouge_l"].items.to_dict()
    assert list(table["few"]["rouge_l"].items) == ["v1", "v2", "v3"]
    assert table.sources.captions["files"]["v1"] == CAPTIONS["v1"]


def test_captions_that_are_skipped_stay_so():
    candidates = {**respelled(CAPTIONS, SPELLINGS["basename"]), "clips/other.mp4": "a cat"}
    results = score(candidates, REFERENCES, "rouge_l", match_ids="basename", missing="skip")
    assert "1 candidate has no references: skipped." in results.notes
    results = score({**CAPTIONS, "V6": "a cat"}, {**REFERENCES, "v6": ["a cat"]}, missing="skip")
    assert results.notes[-1] == (
        'Ids match without regard to capital letters (1 of 1): pass match_ids="casefold".'
    )


def tables():
    one = score_systems({"one": CAPTIONS}, REFERENCES, "rouge_l,bleu")
    spell = SPELLINGS["basename"]
    other = respelled({**CAPTIONS, "v1": "a cat"}, spell)
    return one, score_systems({"two": other}, respelled(REFERENCES, spell), "rouge_l,bleu")


def test_stored_tables_are_merged():
    with pytest.raises(DataError, match='pass match_ids="basename"'):
        compare(merge_tables(tables()))
    merged = merge_tables(tables(), match_ids="basename")
    assert merged["two"]["rouge_l"].items["v2"] == merged["one"]["rouge_l"].items["v2"]
    assert merged["two"]["bleu_4"].signature.endswith("|ids:basename")
    assert not merged["one"]["bleu_4"].signature.endswith("|ids:basename")
    names = [each.metric for each in compare(merged, tests=["bootstrap"])]
    assert names == ["rouge_l", "bleu_1", "bleu_2", "bleu_3", "bleu_4"]


@pytest.fixture
def judgments(tmp_path):
    path = tmp_path / "people.csv"
    rows = [f"{system},v{k}.mp4,{k}" for system in ("one", "two") for k in range(1, 6)]
    path.write_text("\n".join(["system,item,score", *rows]) + "\n")
    return path


def test_people_who_write_ids_differently(judgments):
    people = ScoreTable.read(judgments)
    table = score_systems({"one": CAPTIONS, "two": CAPTIONS}, REFERENCES, "rouge_l")
    with pytest.raises(DataError, match=r'no item in common.*pass match_ids="basename"'):
        evaluate_metrics(table, people, level="pooled")
    evaluation = evaluate_metrics(table, people, level="pooled", match_ids="basename")
    assert len(evaluation.cells.items) == 5
    assert "Ids were matched without folders and file endings." in evaluation.cells.notes
    report = report_of(table, people, match_ids="basename")
    assert list(report.table["one"]["people"].items) == list(REFERENCES)


def test_stories_by_matching_videos():
    story = [{"sentence": "a man walks", "timestamp": [0, 4]}]
    truth, other = {"clip_a": story, "clip_b": story}, {"CLIP_A": story, "CLIP_B": story}
    with pytest.raises(DataError, match=r'no video in common.*pass match_ids="casefold"'):
        score_stories(other, truth, "soda_c")
    results = score_stories(other, truth, "soda_c", match_ids="casefold")
    assert results["soda_c"].items.to_dict() == {"clip_a": 1.0, "clip_b": 1.0}
    assert "|ids:casefold|" in results["soda_c"].signature
    assert results.notes[0] == "Ids were matched without regard to capital letters."


def test_rewards_keep_exact_ids():
    with pytest.raises(DataError, match="items without references"):
        Reward("rouge_l", REFERENCES)(["V1"], ["a man"])
