"""Rewards by learned metrics."""

from __future__ import annotations

import pickle

import pytest

from reelscore import Reward, score

REFERENCES = {"v1": ["a man runs", "the man is running"], "v2": ["a dog sleeps"]}


def test_bertha_rewards_are_the_scores_of_items(model):
    metric = f"bertha|model:{model}"
    reward = Reward({metric: 1.0}, REFERENCES)
    samples = [{"v1": "a man", "v2": "a dog"}, {"v1": "the dog", "v2": "a dog sleeps"}]
    tables = [score(captions, REFERENCES, metric)["bertha"].items for captions in samples]
    expected = [tables[1]["v2"], tables[0]["v1"], tables[0]["v2"], tables[1]["v1"]]
    ids, captions = ["v2", "v1", "v2", "v1"], ["a dog sleeps", "a man", "a dog", "the dog"]
    rewards = reward(ids, captions)
    assert max(expected) - min(expected) > 1e-4
    assert rewards.tolist() == pytest.approx(expected, abs=1e-5)  # rounded as its batch is
    assert pickle.loads(pickle.dumps(reward))(ids, captions).tolist() == rewards.tolist()
