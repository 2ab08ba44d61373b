"""The metric for torchmetrics: in one process as the scorer, in several as in one."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from reelscore import DataError, score

torch = pytest.importorskip("torch")
torchmetrics = pytest.importorskip("torchmetrics")

from reelscore.frameworks.torchmetrics import CaptionMetric  # noqa: E402

REFERENCES = {
    "v1": ["a man is riding a horse", "someone rides"],
    "v2": ["two dogs play in the snow"],
    "v3": ["a woman cooks"],
    "v4": ["a boy throws a ball"],
    "v5": ["the cat sleeps on a chair"],
}
CAPTIONS = {
    "v1": "a man rides a horse",
    "v2": "two dogs play",
    "v3": "a woman cooks",
    "v4": "a ball",
    "v5": "a cat sleeps on a chair",
}
METRICS = "bleu,cider,rouge_l"


def expected(ids=tuple(REFERENCES)):
    results = score({item: CAPTIONS[item] for item in ids}, REFERENCES, METRICS, missing="skip")
    return {name: result.score for name, result in results.items()}


def plain(scores):
    return {name: value.item() for name, value in scores.items()}


def filled(**settings):
    metric = CaptionMetric(REFERENCES, METRICS, **settings)
    metric.update(["v5", "v1", "v2"], [CAPTIONS[item] for item in ("v5", "v1", "v2")])
    metric.update(["v3", "v4", "v5"], [CAPTIONS[item] for item in ("v3", "v4", "v5")])
    return metric


def test_batches_give_the_scores_of_all():
    metric = filled()
    scores = metric.compute()
    assert plain(scores) == expected()
    assert all(value.dtype == torch.float64 for value in scores.values())


def test_precision_and_devices_change_no_score():
    assert plain(filled().half().to("cpu").set_dtype(torch.float16).compute()) == expected()


def test_reset_and_copies():
    metric = filled()
    copies = [metric.clone(), pickle.loads(pickle.dumps(metric))]
    metric.reset()
    for copy in copies:
        assert plain(copy.compute()) == expected()
    metric.update(list(CAPTIONS), list(CAPTIONS.values()))
    assert plain(metric.compute()) == expected()


def test_a_batch_has_scores_of_its_own():
    """`forward` scores the batch alone, with the document frequencies of all references."""
    metric = CaptionMetric(REFERENCES, METRICS)
    batch = plain(metric(["v1"], [CAPTIONS["v1"]]))
    assert batch["rouge_l"] == expected(["v1"])["rouge_l"]
    for item in list(REFERENCES)[1:]:
        metric([item], [CAPTIONS[item]])
    assert plain(metric.compute()) == expected()


def test_in_a_collection():
    """Two metrics with the same captions and other references are not taken for one."""
    others = {item: texts[:1] for item, texts in REFERENCES.items()}
    collection = torchmetrics.MetricCollection(
        {"all": CaptionMetric(REFERENCES, "rouge_l"), "one": CaptionMetric(others, "rouge_l")}
    )
    for _ in range(2):
        collection.update(list(CAPTIONS), list(CAPTIONS.values()))
    scores = collection.compute()
    assert len(scores) == 2
    assert sorted(map(float, scores.values())) == sorted(
        score(CAPTIONS, references, "rouge_l")["rouge_l"].score
        for references in (REFERENCES, others)
    )


def test_refusals():
    metric = CaptionMetric(REFERENCES, METRICS)
    metric.update(["v1"], ["a man"])
    with pytest.raises(DataError, match="4 items have no candidate"):
        metric.compute()
    metric.update(["v1"], ["a horse"])
    with pytest.raises(DataError, match="different captions"):
        metric.compute()


def test_two_processes(tmp_path):
    """Five items in two processes of three; one process without any; a gathered scorer."""
    worker = Path(__file__).with_name("distributed_worker.py")
    place = f"file://{tmp_path / 'meeting'}"
    data = json.dumps([REFERENCES, CAPTIONS])
    workers = [
        subprocess.Popen(
            [sys.executable, str(worker), place, str(rank), data], stdout=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    outputs = [process.communicate(timeout=120)[0] for process in workers]
    assert [process.returncode for process in workers] == [0, 0]
    for output in outputs:
        together, kept, alone, gathered, refusal = json.loads(output.splitlines()[-1])
        assert together == alone == gathered == expected()
        assert kept == 3
        assert "other references, metrics or settings" in refusal
