"""The retrieval upper bound: exactly what scoring all pairs gives."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reelscore
from reelscore import _native
from reelscore.errors import DataError
from reelscore.metrics.meteor import Meteor
from reelscore.text.meteor_data import meteor_index
from reelscore.text.tokens import tokenize
from reelscore.text.words import pack
from reelscore_studies.baselines.retrieval.best_sentences import Bound, BoundSearch, bound
from reelscore_studies.judged import trecvid_ha


def all_pairs(candidates, items, metric=None):
    """The best candidate of each item and its score, by aligning every pair."""
    metric = metric or Meteor()
    references = [text for texts in items for text in texts]
    numbers = np.arange(len(candidates)), np.arange(len(references))
    pairs = [own.ravel() for own in np.meshgrid(*numbers, indexing="ij")]
    parameters = (metric.alpha, metric.beta, metric.gamma, metric.delta)
    scores = _native.meteor_pairs(
        meteor_index(), pack(candidates), pack(references), *pairs, parameters, 1
    ).reshape(len(candidates), len(references))
    ends = np.cumsum([0, *map(len, items)])
    by_item = np.stack([scores[:, a:b].max(axis=1) for a, b in pairwise(ends)], axis=1)
    return by_item.argmax(axis=0), by_item.max(axis=0)


def pruned(candidates, items, metric=None, threads=1):
    references = [text for texts in items for text in texts]
    offsets = np.cumsum([0, *map(len, items)])
    return (metric or Meteor()).best_candidates(
        pack(candidates), pack(references), offsets, threads
    )


@pytest.fixture(scope="module")
def captions(trecvid_folder):
    """Real captions: of 2016 and 2018, the latter with five references each."""
    early = trecvid_ha.load(trecvid_folder, "SA-2016").references()
    late = trecvid_ha.load(trecvid_folder, "SA-2018").references()
    return early, late


def test_the_bound_is_that_of_all_pairs_on_real_captions(captions):
    early, late = captions
    sentences = tokenize([texts[0] for texts in list(early.values())[:500]])
    items = [tokenize(texts[:1]) for texts in list(late.values())[:200]]
    places, scores = all_pairs(sentences, items)
    best = pruned(sentences, items)
    assert best.candidates.tolist() == places.tolist()
    assert best.scores.tolist() == scores.tolist()
    assert best.aligned.sum() < 0.05 * len(sentences) * len(items)


def test_the_bound_is_that_of_all_pairs_with_several_references(captions):
    early, late = captions
    sentences = tokenize([texts[0] for texts in list(early.values())[500:700]])
    items = [tokenize(texts) for texts in list(late.values())[200:240]]
    for metric in (Meteor(), Meteor(alpha=0.5, beta=1.0, gamma=0.3, delta=0.5)):
        places, scores = all_pairs(sentences, items, metric)
        best = pruned(sentences, items, metric, threads=2)
        assert best.candidates.tolist() == places.tolist()
        assert best.scores.tolist() == scores.tolist()


@pytest.mark.full
def test_the_bound_is_that_of_all_pairs_on_many_captions(captions):
    early, late = captions
    sentences = tokenize([texts[0] for texts in early.values()])
    items = [tokenize(texts) for texts in list(late.values())[:400]]
    places, scores = all_pairs(sentences, items)
    best = pruned(sentences, items, threads=2)
    assert best.candidates.tolist() == places.tolist()
    assert best.scores.tolist() == scores.tolist()


# words that repeat, with stems, synonyms and paraphrases among them
WORDS = "a a the man men guy person car automobile cars runs running run in front of at night on"
CAPTION = st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join)


@given(
    st.lists(CAPTION, min_size=1, max_size=12),
    st.lists(st.lists(CAPTION, min_size=1, max_size=3), min_size=1, max_size=3),
    st.sampled_from([0.0, 0.25, 0.85, 1.0]),
    st.sampled_from([0.0, 0.2, 2.0]),
    st.sampled_from([0.0, 0.6, 1.0]),
    st.sampled_from([0.0, 0.75, 1.0]),
)
def test_no_pair_passes_its_bound(candidates, items, alpha, beta, gamma, delta):
    metric = Meteor(alpha, beta, gamma, delta)
    places, scores = all_pairs(candidates, items, metric)
    best = pruned(candidates, items, metric)
    assert best.scores.tolist() == scores.tolist()
    assert best.candidates.tolist() == places.tolist()


def test_captions_longer_than_the_bounds_reach():
    long = " ".join(["a man runs in front of a car"] * 9)  # 72 words
    candidates = ["a dog", long, "a man runs"]
    items = [[long], ["a man runs"], ["a cat", long + " at night"]]
    places, scores = all_pairs(candidates, items)
    best = pruned(candidates, items)
    assert best.candidates.tolist() == places.tolist() == [1, 2, 1]
    assert best.scores.tolist() == scores.tolist()


def test_scores_are_those_of_score():
    training = {"t1": ["A man runs down a street.", "a dog"], "t2": ["A cat sleeps, at night."]}
    references = {"v1": ["the man is running", "he runs"], "v2": ["cats are asleep"]}
    best = BoundSearch().best(training, references)
    result = reelscore.score(best.captions, references, "meteor")["meteor"]
    assert best.scores == result.items.to_dict()
    assert isinstance(best, Bound)
    assert (best.sentences, best.pairs) == (3, 9)


def test_training_captions_that_hold_the_answers_give_the_self_score():
    references = {f"v{k}": [f"a man number {k} runs"] for k in range(12)}
    best = BoundSearch().best(references, references)
    assert best.captions == {item: texts[0] for item, texts in references.items()}
    assert set(best.scores.values()) == {1.0}


def test_equal_sentences_are_one_and_the_first_of_equals_counts():
    training = {"t1": ["A man!", "a dog"], "t2": ["a man", "dogs", "A dog."]}
    assert bound(training, {"v": ["a man"], "w": ["a dog"], "x": ["zzz"]}) == {
        "v": "A man!",
        "w": "a dog",
        "x": "A man!",  # nothing matches: the first
    }
    assert BoundSearch().best(training, {"v": ["a man"]}).sentences == 3


@pytest.mark.parametrize("metric", ["bleu_2", "cider", "rouge_l", "meteor|alpha:0.5"])
def test_other_metrics_score_all_pairs(metric):
    training = {"t": ["a man runs down a street", "a dog sleeps", "the cat"]}
    references = {"v": ["the man runs down the street"], "w": ["the dog sleeps", "a dog"]}
    found = bound(training, references, metric=metric)
    for item, texts in references.items():
        by_hand = {
            text: reelscore.score(
                {**dict.fromkeys(references, "x"), item: text}, references, metric
            )
            for text in training["t"]
        }
        values = {text: [*own.values()][-1].items[item] for text, own in by_hand.items()}
        assert values[found[item]] == max(values.values())
        assert texts


def test_a_bound_needs_sentences_and_one_score():
    with pytest.raises(DataError, match="have no sentence with a word"):
        bound({"t": ["..."]}, {"v": ["a man"]})
    with pytest.raises(DataError, match="'bleu' is several scores"):
        bound({"t": ["a man"]}, {"v": ["a man"]}, metric="bleu")


def test_the_signature_says_oracle():
    assert BoundSearch().signature(seed=1).startswith("bound|metric:meteor|oracle:yes|seed:1|v:")


def test_baselines_load_no_learning_library():
    modules = [
        "reelscore_studies.baselines.clip_features",
        "reelscore_studies.baselines.retrieval.search",
        "reelscore_studies.baselines.retrieval.neighbours",
        "reelscore_studies.baselines.retrieval.best_sentences",
        "reelscore_studies.baselines.labels.visual_labels",
        "reelscore_studies.baselines.labels.classifiers",
        "reelscore_studies.baselines.labels.label_set",
    ]
    imports = ", ".join(modules)
    script = f"import sys, {imports}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded & {"torch", "sklearn", "faiss", "h5py", "nltk", "transformers"} == set()
