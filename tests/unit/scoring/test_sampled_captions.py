"""Several candidates an item: mean, best, spread and diversity, against plain computations."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest

from reelscore import score, tokenize
from reelscore.compat.coco import Bleu
from reelscore.errors import DataError
from reelscore.examples import clips
from reelscore.scoring import score_samples

REFERENCES = {item: tokenize(texts) for item, texts in clips()[1].items()}
PLAIN = {"tokenizer": "none"}


@pytest.fixture(scope="module")
def samples():
    """Four of all captions for each item, with some repeated."""
    rng = random.Random(7)
    texts = [text for own in REFERENCES.values() for text in own]
    drawn = {item: [rng.choice(texts) for _ in range(3)] for item in REFERENCES}
    again = {item: own[0] if k % 3 else "a man" for k, (item, own) in enumerate(drawn.items())}
    return {item: [*own, again[item]] for item, own in drawn.items()}


@pytest.fixture(scope="module")
def table(samples):
    return score_samples({"ours": samples}, REFERENCES, "bleu,rouge_l,cider", **PLAIN)["ours"]


@pytest.mark.parametrize("name", ["rouge_l", "cider"])
def test_each_candidate_scores_as_it_would_alone(samples, table, name):
    rounds = [{item: own[k] for item, own in samples.items()} for k in range(4)]
    alone = np.array([score(each, REFERENCES, name, **PLAIN)[name].items.array for each in rounds])
    assert table[name].items.array == pytest.approx(alone.mean(axis=0))
    assert table[name].score == pytest.approx(alone.mean())
    assert table[f"{name}_best"].items.array == pytest.approx(alone.max(axis=0))
    assert table[f"{name}_spread"].items.array == pytest.approx(alone.std(axis=0))
    assert table[f"{name}_spread"].score == pytest.approx(alone.std(axis=0).mean())


def test_bleu_is_that_of_the_best_together(samples, table):
    best = {}
    for item, own in samples.items():
        alone = [
            score({item: t}, {item: REFERENCES[item]}, "bleu", **PLAIN)["bleu_4"].score for t in own
        ]
        best[item] = own[int(np.argmax(alone))]
    expected = score(best, REFERENCES, "bleu", **PLAIN)["bleu_4"].score
    assert table["bleu_4_best"].score == pytest.approx(expected)


def test_diversity(samples, table):
    words = {item: [text.split() for text in own] for item, own in samples.items()}
    div = [
        len({tuple(w[k : k + 2]) for w in own for k in range(len(w) - 1)}) / sum(map(len, own))
        for own in words.values()
    ]
    assert table["div_2"].items.array == pytest.approx(div)
    rounds = [
        Bleu(4).compute_score(
            {item: [*own[:k], *own[k + 1 :]] for item, own in samples.items()},
            {item: [own[k]] for item, own in samples.items()},
            verbose=0,
        )[0][3]
        for k in range(4)
    ]
    assert table["mbleu_4"].score == pytest.approx(np.mean(rounds))


def test_self_cider_is_that_of_singular_values(samples, table):
    """The kernel is a product of vectors, whose singular values are the roots of its own."""
    documents: dict[tuple, int] = {}
    for own in REFERENCES.values():
        tokens = [text.split() for text in own]
        grams = {tuple(w[k : k + n]) for w in tokens for n in range(1, 5) for k in range(len(w))}
        for gram in grams:
            documents[gram] = documents.get(gram, 0) + 1
    item, own = next(iter(samples.items()))
    columns: list[np.ndarray] = []
    for n in range(1, 5):
        lists = [[tuple(t.split()[k : k + n]) for k in range(len(t.split()) - n + 1)] for t in own]
        known = sorted({gram for grams in lists for gram in grams})
        weights = [math.log(len(REFERENCES)) - math.log(max(1, documents.get(g, 0))) for g in known]
        matrix = np.array([[grams.count(g) for g in known] for grams in lists]) * weights
        columns.append(matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12))
    values = np.linalg.svd(np.hstack(columns) / 2, compute_uv=False)
    expected = -math.log(values[0] / values.sum()) / math.log(len(own))
    assert table["self_cider"].items[item] == pytest.approx(expected, abs=1e-6)


def test_signatures_say_how_many(table, samples):
    assert all("|candidates:4" in result.signature for result in table.values())
    more = {item: own * (1 + k % 2) for k, (item, own) in enumerate(samples.items())}
    uneven = score_samples({"ours": more}, REFERENCES, "rouge_l")["ours"]
    assert "|candidates:4-8|" in uneven["rouge_l"].signature


def test_what_is_no_set_of_samples(samples):
    with pytest.raises(DataError, match="ours: 15 items have one candidate alone"):
        score_samples({"ours": {item: own[:1] for item, own in samples.items()}}, REFERENCES)
    with pytest.raises(DataError, match="1 item has no candidates"):
        score_samples({"ours": dict(list(samples.items())[1:])}, REFERENCES)
    with pytest.raises(DataError, match="self_bleu looks at all captions together"):
        score_samples({"ours": samples}, REFERENCES, "self_bleu")


def test_files_may_name_them_as_references_are(samples, table, tmp_path):
    path = tmp_path / "ours.json"
    path.write_text(json.dumps([{"image_id": i, "captions": own} for i, own in samples.items()]))
    again = score_samples({"ours": path}, REFERENCES, "rouge_l", **PLAIN)["ours"]
    assert again["rouge_l_best"].score == table["rouge_l_best"].score


def test_ids_are_matched_and_numbers_of_entries_are_none(samples, tmp_path):
    named = {f"clips/{item}.mp4": own for item, own in samples.items()}
    with pytest.raises(DataError, match='pass match_ids="basename"'):
        score_samples({"ours": named}, REFERENCES, "rouge_l")
    matched = score_samples({"ours": named}, REFERENCES, "rouge_l", match_ids="basename")
    assert "|ids:basename|" in matched["ours"]["rouge_l"].signature
    path = tmp_path / "ours.json"
    path.write_text(json.dumps(list(samples.values())))
    with pytest.raises(DataError, match='same order, pass match_ids="order"'):
        score_samples({"ours": path}, REFERENCES, "rouge_l")
    by_order = score_samples({"ours": path}, REFERENCES, "rouge_l", match_ids="order")
    assert by_order["ours"]["rouge_l"].score == matched["ours"]["rouge_l"].score
