"""Metrics of pairs of texts on captions of several sentences."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import reelscore
from reelscore.learned.metrics.bertha import Bertha
from reelscore.learned.metrics.over_references import Several
from reelscore.learned.metrics.sentence_pairs import SentencePairs
from reelscore.learned.metrics.sts import Sts
from reelscore.learned.model_files import SMALL
from reelscore.learned.networks.pair_scores import pair_scorer
from reelscore.metrics.base import mean_of_first, with_count
from reelscore.metrics.sentences import Sentences
from reelscore.report.sentences import sentence_matches

WORDS = "ant bee cat dog eel fox gnu hen"
WORD_PAIRS = [(one, other) for one in WORDS.split()[:5] for other in WORDS.split()[6:]]


@dataclass(frozen=True)
class Common(SentencePairs):
    """The share of a sentence's words that the other has; vectors are counts of letters."""

    references: Several = "blend"
    sentences: Sentences = "precision"
    choose: bool = True
    name: ClassVar[str] = "common"

    def pair_scores(self, ours, theirs, pairs, threads):
        texts = ours.texts, theirs.parts.texts
        return np.array([common(texts[0][a], texts[1][b]) for a, b in pairs.T.tolist()], float)

    def vectors(self, texts, threads):
        rows = [[text.split().count(word) for word in WORDS.split()] for text in texts]
        return np.array(rows, dtype=float) if self.choose else None

    def statistics(self, batch, prepared):
        return with_count(self.caption_scores(batch, prepared))

    def scores(self, totals):
        return mean_of_first(totals)


def common(one, other):
    words = one.split()
    return sum(word in other.split() for word in words) / len(words)


def paragraphs(rng, count):
    def sentence():
        return " ".join(rng.choice(WORDS.split(), size=rng.integers(1, 5)))

    return [". ".join(sentence() for _ in range(rng.integers(1, 7))) for _ in range(count)]


def expected(candidate, references, how):
    ours = candidate.split(". ")
    theirs = [text.split(". ") for text in references]
    borne_out = np.array([[max(common(a, b) for b in own) for own in theirs] for a in ours])
    told = np.array([np.mean([max(common(a, b) for a in ours) for b in own]) for own in theirs])
    precision = np.mean(2 / 3 * borne_out.mean(axis=1) + 1 / 3 * borne_out.max(axis=1))
    recall = 2 / 3 * told.mean() + 1 / 3 * told.max()
    return {"precision": precision, "recall": recall, "both": (precision + recall) / 2}[how]


@pytest.mark.parametrize("how", ["precision", "recall", "both"])
def test_scores_and_matches_are_those_of_the_definition(how):
    rng = np.random.default_rng(1)
    captions, references = paragraphs(rng, 30), [paragraphs(rng, 3) for _ in range(30)]
    metric = Common(sentences=how, choose=False)
    named = {str(k): text for k, text in enumerate(captions)}
    known = {str(k): own for k, own in enumerate(references)}
    items = reelscore.score(named, known, [metric])["common"].items
    found = sentence_matches(metric, "ptb", captions, references)
    for k, each in enumerate(found):
        value = expected(captions[k], references[k], how)
        assert items[str(k)] == pytest.approx(value, abs=1e-12)
        assert each.score == items[str(k)]
        assert [match.text for match in each.told] == captions[k].split(". ")
        nearest = references[k][each.reference].split(". ")
        assert [match.text for match in each.asked] == nearest
        for match in each.asked:
            assert match.score == common(match.match, match.text)
        if how == "precision":
            assert np.mean([match.score for match in each.told]) == pytest.approx(each.score)


def test_vectors_choose_three_sentences():
    """The fourth nearest sentence is the best by the score, and is not met."""
    candidate = "ant bee. cat dog"
    reference = "ant ant ant. bee bee bee. ant ant. ant bee"
    chosen, all_of_them = (
        reelscore.score({"v": candidate}, {"v": [reference]}, [Common(choose=choose)])["common"]
        for choose in (True, False)
    )
    assert (chosen.score, all_of_them.score) == (0.25, 0.5)


def test_models_without_vectors_choose_by_words(monkeypatch):
    """Three sentences of ten are read beside each, so that long captions cost no more."""
    asked = []
    scorer = pair_scorer(SMALL, "int8")

    def count(candidates, references, threads, cut):
        asked.extend(candidates)
        return np.zeros(len(candidates))

    monkeypatch.setattr(scorer, "score", count)
    text = ". ".join(f"a {animal} runs after the {other}" for animal, other in WORD_PAIRS)
    reelscore.score({"v": text}, {"v": [text]}, [Bertha(model=SMALL)])
    assert len(asked) == 3 * len(WORD_PAIRS)


def test_whole_captions_are_read_as_one():
    whole = Common(sentences="whole")
    score = reelscore.score({"v": "ant bee. cat"}, {"v": ["ant. dog. cat"]}, [whole])
    assert score["common"].score == pytest.approx(common("ant bee. cat", "ant. dog. cat"))


ONE = {
    "v1": "a man rides a horse.",
    "v2": "Dr. Lee opens the 3.5 m door... slowly",
    "v3": "* a woman slices onions",
}
REFERENCES = {
    "v1": ["a man is riding a horse", "Someone rides."],
    "v2": ["a doctor opens a door!"],
    "v3": ["a woman is cutting onions", "a cook at work"],
}


@pytest.mark.parametrize("metric", [Bertha, Sts])
def test_captions_of_one_sentence_score_as_whole_ones(metric):
    results = [
        reelscore.score(ONE, REFERENCES, [metric(sentences=how)])[metric.name].items
        for how in ("whole", "precision", "recall", "both")
    ]
    assert all(dict(own) == dict(results[0]) for own in results)


def test_an_invented_sentence_is_found():
    reference = "a man opens a door. he lights a fire in the stove. a dog lies on the carpet."
    candidate = "A man lights a fire. A cat knocks over a vase. A dog is lying on a rug."
    metric = Bertha()
    [found] = sentence_matches(metric, "ptb", [candidate], [[reference]])
    marks = [each.score >= metric.borne_out for each in found.told]
    assert marks == [True, False, True]
    assert [each.score >= metric.borne_out for each in found.asked] == [False, True, True]
    results = reelscore.score({"v": candidate}, {"v": [reference]}, [metric])["bertha"]
    assert results.score == pytest.approx(found.score, abs=1e-5)
    assert "sentences:precision" in results.signature


def test_percent_is_explained_in_percent():
    metric = Bertha(scale="percent")
    texts = ("a man lights a fire. a dog sleeps.", ["a dog sleeps by the fire. it snows."])
    [found] = sentence_matches(metric, "ptb", [texts[0]], [texts[1]])
    score = reelscore.score({"v": texts[0]}, {"v": texts[1]}, [metric])["bertha"].score
    assert found.score == pytest.approx(score, abs=1e-3)


def test_what_the_network_does_not_see_is_said():
    endless = "a man walks " * 60
    results = reelscore.score({"v": endless}, {"v": [endless]}, [Bertha()])
    assert [note for note in results.notes if "1 pair of texts cut to the 128 tokens" in note]
    sentences = ". ".join(["a man walks into the house"] * 40)
    assert not reelscore.score({"v": sentences}, {"v": [sentences]}, [Bertha()]).notes


@pytest.mark.parametrize(("metric", "least"), [("sts", 0.56), ("bertha", 0.555)])
def test_people_agree_on_paragraphs(metric, least, shared):
    """FactVC's judgments of paragraphs about cooking videos, which the model has never seen."""
    with gzip.open(shared / "judged/factvc_youcook2.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    captions = {str(k): ". ".join(row["sentences"]) + "." for k, row in enumerate(rows)}
    references = {str(k): [row["reference"]] for k, row in enumerate(rows)}
    items = reelscore.score(captions, references, metric)[metric].items
    people = [row["paragraph_score"] for row in rows]
    assert np.corrcoef(people, [items[str(k)] for k in range(len(rows))])[0, 1] >= least
