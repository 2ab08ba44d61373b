"""Rewards: equal to the scores of items, for captions in any number and order."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from reelscore import DataError, Reward, UnknownNameError, score
from reelscore.metrics.cider import Cider

REFERENCES = {
    "v1": ["a man is riding a brown horse", "someone rides a horse"],
    "v2": ["two dogs play in the snow"],
    "v3": ["a woman slices an onion with a knife", "a woman is cooking", "onions are cut"],
}
ROUNDS = [
    {"v1": "a man rides a horse", "v2": "two dogs play in the snow", "v3": "a woman cuts onions"},
    {"v1": "a horse.", "v2": "the cat sleeps", "v3": "a woman slices an onion with a knife"},
    {"v1": "a brown horse is riding a man", "v2": "dogs", "v3": "Someone's knife isn't there!"},
]


@pytest.mark.parametrize(
    ("metric", "output"),
    [
        ("cider|variant:d", "cider"),
        ("cider|variant:plain|n:3", "cider"),
        ("bleu_4", "bleu_4"),
        ("bleu_2|n:2", "bleu_2"),
        ("meteor", "meteor"),
        ("rouge_l", "rouge_l"),
        ("sent_bleu", "sent_bleu"),
        ("fusion", "fusion"),
    ],
)
def test_a_reward_is_the_score_of_the_item(metric, output):
    """Samples in mixed order have exactly the scores their items have one system at a time."""
    samples = [(item, captions[item]) for item in REFERENCES for captions in ROUNDS]
    order = np.random.default_rng(5).permutation(len(samples))
    ids, captions = zip(*(samples[k] for k in order), strict=True)
    rewards = Reward(metric, REFERENCES, threads=2)(ids, captions)
    name = metric.replace(output, "bleu") if output.startswith("bleu_") else metric
    tables = [score(candidates, REFERENCES, name)[output].items for candidates in ROUNDS]
    expected = [tables[k % len(ROUNDS)][samples[k][0]] for k in order]
    assert rewards.dtype == np.float64
    assert rewards.tolist() == expected


def test_a_mixed_reward_is_the_weighted_sum():
    reward = Reward({"cider|variant:d": 1.0, "bleu4": 0.5, "BLEU-1": -1}, REFERENCES)
    ids, captions = ["v1", "v2"], ["a man rides", "two dogs play"]
    parts = reward.parts(ids, captions)
    assert list(parts) == ["cider|variant:d", "bleu4", "BLEU-1"]
    cider, bleu_4, bleu_1 = parts.values()
    assert reward(ids, captions) == pytest.approx(cider + 0.5 * bleu_4 - bleu_1, abs=1e-15)
    assert bleu_1[0] > bleu_4[0]
    assert parts["bleu4"].tolist() == Reward("bleu_4", REFERENCES)(ids, captions).tolist()


def test_weights_may_be_of_metrics():
    by_name = Reward({"cider|n:2": 2.0}, REFERENCES)
    by_metric = Reward({Cider(n=2): 2.0}, REFERENCES)
    assert by_metric(["v1"], ["a horse"]).tolist() == by_name(["v1"], ["a horse"]).tolist()


def test_a_pickled_reward_is_the_same():
    reward = Reward({"cider": 1.0, "meteor": 2.0}, REFERENCES)
    ids, captions = ["v3", "v1", "v3"], ["an onion", "a new word", "a woman is cooking"]
    before = reward(ids, captions)
    again = pickle.loads(pickle.dumps(reward))
    assert again(ids, captions).tolist() == before.tolist()
    assert repr(again) == repr(reward) == "<Reward {'cider': 1.0, 'meteor': 2.0}, 3 items>"


def test_several_threads_may_call_one_reward():
    reward = Reward("cider", REFERENCES, threads=1)
    ids = list(REFERENCES) * 20
    batches = [[f"word{n}x{k} a man rides a horse" for k in range(60)] for n in range(16)]
    alone = [reward(ids, captions).tolist() for captions in batches]
    fresh = Reward("cider", REFERENCES, threads=1)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda captions: fresh(ids, captions).tolist(), batches))
    assert together == alone


def test_ids_may_be_integers_and_arrays():
    reward = Reward("rouge_l", {7: ["a man"], 8: ["a dog"]})
    captions = ["a man", "a dog", "a man"]
    expected = [1.0, 1.0, 1.0]
    assert reward([7, "8", 7], captions).tolist() == expected
    assert reward(np.array([7, 8, 7]), captions).tolist() == expected


def test_samples_without_words_have_a_reward():
    reward = Reward({"cider": 1, "bleu_4": 1, "meteor": 1, "rouge_l": 1}, REFERENCES)
    assert reward(["v1", "v2"], ["", "..."]).tolist() == [0.0, 0.0]
    assert reward([], []).tolist() == []


@pytest.mark.parametrize(
    ("ids", "captions", "message"),
    [
        (["v1", "v2"], ["a man"], "2 ids and 1 captions"),
        (["v1", "v9"], ["a man", "a dog"], r"without references \(first: 'v9'\)"),
        (["v1"], [None], "caption of item 'v1' is null"),
        ([1.5], ["a man"], "id 1 is a number"),
        ("v1", ["a man"], "ids are a text"),
    ],
)
def test_bad_samples(ids, captions, message):
    with pytest.raises(DataError, match=message):
        Reward("rouge_l", REFERENCES)(ids, captions)


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("bleu", "name one of them as the reward: bleu_1, bleu_2, bleu_3, bleu_4"),
        ("self_bleu", "no reward by it"),
        ({}, "No metric given"),
        ({"cider": float("nan")}, "weight of 'cider' is nan"),
        ({"cider": "1"}, "weight of 'cider' is '1'"),
        ({"v1": ["a man"]}, "seem to be the references; give the metric first"),
    ],
)
def test_bad_rewards(metrics, message):
    with pytest.raises(DataError, match=message):
        Reward(metrics, REFERENCES)


def test_unknown_names_and_tokenizers():
    with pytest.raises(UnknownNameError, match="Did you mean 'cider'"):
        Reward("cidr", REFERENCES)
    with pytest.raises(DataError, match="ptb-coco"):
        Reward("cider", REFERENCES, tokenizer="ptb-coco")
