"""Captions of several sentences, read sentence by sentence."""

from __future__ import annotations

import numpy as np
import pytest

from reelscore import parse_signature, score
from reelscore.errors import ReelscoreError
from reelscore.metrics.meteor import Meteor
from reelscore.metrics.sentences import BySentence, SentenceList, means
from reelscore.report.sentences import sentence_matches
from reelscore.text.paragraphs import compared_sentences

LONG = "A man rides a horse. The dog barks. A woman waters the flowers."
TWO = "The brown dog barks. A man rides a horse."


def meteor(candidate, *references):
    return score({"v": candidate}, {"v": list(references)}, "meteor")["meteor"].score


def by_sentence(how, candidate, *references):
    name = f"meteor|sentences:{how}"
    return score({"v": candidate}, {"v": list(references)}, [name])["meteor"].score


def best(sentence, others):
    return max(meteor(sentence, other) for other in others)


def test_precision_is_the_mean_of_the_best_matches():
    ours, theirs = compared_sentences(LONG), compared_sentences(TWO)
    expected = np.mean([best(each, theirs) for each in ours])
    assert by_sentence("precision", LONG, TWO) == pytest.approx(expected, abs=1e-15)


def test_recall_asks_the_other_way_round():
    ours, theirs = compared_sentences(LONG), compared_sentences(TWO)
    expected = np.mean([best(each, ours) for each in theirs])
    assert by_sentence("recall", LONG, TWO) == pytest.approx(expected, abs=1e-15)


def test_both_is_their_mean():
    sides = [by_sentence(how, LONG, TWO, "a cat sleeps") for how in ("precision", "recall")]
    both = by_sentence("both", LONG, TWO, "a cat sleeps")
    assert both == pytest.approx(np.mean(sides), abs=1e-15)


def test_captions_of_one_sentence_score_as_ever():
    candidates = {"a": "a man rides a horse", "b": "Two dogs, Mr. Lee says, are barking."}
    references = {"a": ["a man is riding", "a person on a horse."], "b": ["dogs bark at night"]}
    plain = score(candidates, references, "meteor,rouge_l")
    for name in ("meteor", "rouge_l"):
        own = score(candidates, references, [f"{name}|sentences:precision"])[name].items
        assert dict(own) == dict(plain[name].items)


def test_other_tokenizers_cut_sentences_too():
    own = score({"v": LONG}, {"v": [TWO]}, ["rouge_l|sentences:precision"], tokenizer="none")
    assert 0 < own["rouge_l"].score < 1


def test_signatures_go_round():
    metric = parse_signature("meteor|sentences:both")
    assert metric == BySentence(Meteor(), "both")
    assert parse_signature(metric.signature(tok="ptb")) == metric
    assert parse_signature("meteor|sentences:whole") == Meteor()
    results = score({"v": LONG}, {"v": [TWO]}, "meteor,meteor|sentences:recall")
    assert list(results) == ["meteor", "meteor|sentences:recall"]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("cider|sentences:precision", "cider cannot be asked sentence by sentence"),
        ("self_bleu|sentences:recall", "self_bleu cannot be asked"),
        ("meteor|sentences:all", "Unknown value of meteor.sentences 'all'"),
    ],
)
def test_what_cannot_be_asked_is_refused(name, complaint):
    with pytest.raises(ReelscoreError, match=complaint):
        parse_signature(name)


def test_matches_show_what_bears_out_which():
    metric = BySentence(Meteor(), "precision")
    [found] = sentence_matches(metric, "ptb", [LONG], [["a cat sleeps", TWO]])
    assert found.score == by_sentence("precision", LONG, "a cat sleeps", TWO)
    assert found.reference == 1
    assert [each.match for each in found.told][:2] == ["A man rides a horse", "The brown dog barks"]
    assert [each.match for each in found.asked] == ["The dog barks", "A man rides a horse"]


def test_means_of_runs():
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert means(rows, np.array([2, 1])).tolist() == [[2.0, 3.0], [5.0, 6.0]]
    assert SentenceList([]).texts == []
