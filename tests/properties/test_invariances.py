"""What must not change a score: order, threads, batches, the rest of the corpus."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import captions, corpora

from reelscore import Scorer, score
from reelscore.examples import clips
from reelscore.scoring import prepared

METRICS = "bleu,meteor,rouge_l,cider,sent_bleu"
ALONE = "self_bleu,diversity"  # these need no references and look at all captions together
LENIENT = {"empty": "zero"}


def numbers(scores):
    """All scores, exactly: NaN would differ from itself."""
    return {name: (result.score, result.items.to_dict()) for name, result in scores.items()}


@given(st.lists(captions(), min_size=2, max_size=5))
def test_identity_is_maximal(texts):
    references = {f"v{k}": [text] for k, text in enumerate(texts)}
    same = score(
        {item: each[0] for item, each in references.items()}, references, METRICS, **LENIENT
    )
    other = score(
        dict(zip(references, [*texts[1:], texts[0]], strict=True)), references, METRICS, **LENIENT
    )
    for name in ("rouge_l", "meteor", "sent_bleu", "bleu_1", "bleu_2", "bleu_4", "cider"):
        highest = {"cider": 10.0, "sent_bleu": 100.0}.get(name, 1.0)
        for item in references:
            # the COCO tools' BLEU of an empty caption is not quite 0
            assert other[name].items[item] <= same[name].items[item] + 1e-8, (name, item)
            assert 0 <= same[name].items[item] <= highest + 1e-9, (name, item)


IDENTICAL = [
    # caption, scores that are highest, why the others are not
    ("a man rides a horse", "bleu_1 bleu_4 rouge_l meteor sent_bleu", "nothing is missing"),
    ("a man", "bleu_1 bleu_2 rouge_l meteor sent_bleu", "too short for orders 3 and 4 of bleu"),
    ("a", "bleu_1 rouge_l meteor sent_bleu", "one word"),
]


@pytest.mark.parametrize(("caption", "names", "why"), IDENTICAL)
def test_identity_reaches_the_maximum(caption, names, why):
    scores = score({"v1": caption}, {"v1": [caption]}, METRICS)
    for name in names.split():
        highest = 100.0 if name == "sent_bleu" else 1.0
        assert scores[name].score == pytest.approx(highest, rel=1e-8), (name, why)


@given(corpora(), st.randoms(use_true_random=False))
def test_order_of_references_is_irrelevant(corpus, rng):
    candidates, references = corpus
    shuffled = {item: rng.sample(texts, len(texts)) for item, texts in references.items()}
    # METEOR's corpus score adds up the statistics of the first among equally good references, so
    # only its scores of the items are free of the order
    one = score(candidates, references, METRICS, **LENIENT)
    two = score(candidates, shuffled, METRICS, **LENIENT)
    for name in one:
        first, second = one[name].items.array, two[name].items.array
        assert first.tolist() == pytest.approx(second.tolist(), rel=1e-12, abs=1e-15), name
        if name != "meteor":
            assert one[name].score == pytest.approx(two[name].score, rel=1e-12, abs=1e-15), name


@given(corpora(), st.randoms(use_true_random=False))
def test_order_of_items_is_irrelevant(corpus, rng):
    candidates, references = corpus
    items = rng.sample(list(candidates), len(candidates))
    one = score(candidates, references, METRICS, **LENIENT)
    two = score(
        {item: candidates[item] for item in reversed(items)},
        {item: references[item] for item in items},
        METRICS,
        **LENIENT,
    )
    for name in one:
        assert one[name].items.to_dict() == two[name].items.to_dict(), name
        assert one[name].score == pytest.approx(two[name].score, rel=1e-12, abs=1e-15), name
        assert list(two[name].items) == items  # in the order of the references


@pytest.fixture(scope="module")
def many():
    """600 captions with 1 to 5 references: more than one block of work for every thread."""
    rng = random.Random(7)
    systems, references = clips()
    pool = [caption for each in systems.values() for caption in each.values()]
    pool += [caption for each in references.values() for caption in each]
    items = [f"v{k}" for k in range(600)]
    return (
        {item: rng.choice(pool) for item in items},
        {item: rng.choices(pool, k=rng.randint(1, 5)) for item in items},
    )


@pytest.mark.parametrize("threads", [2, 7, 1000])
def test_threads_change_no_bit(many, threads):
    metrics = f"{METRICS},{ALONE}"
    assert numbers(score(*many, metrics, threads=threads)) == numbers(
        score(*many, metrics, threads=1)
    )


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces these limits")
@pytest.mark.parametrize("started", [0, 2])
def test_threads_that_cannot_start_change_no_bit(many, started, tmp_path):
    # The stack of a thread is as large as ulimit says: the address space has no room for all.
    gibibyte = 1024**2  # in the KiB that ulimit counts
    stack, space = 4 * gibibyte, (4 * started + 2) * gibibyte
    corpus, scores = tmp_path / "corpus.pickle", tmp_path / "scores.pickle"
    corpus.write_bytes(pickle.dumps(many))
    program = (
        "import pickle, sys; from pathlib import Path; from reelscore import score\n"
        "many = pickle.loads(Path(sys.argv[1]).read_bytes())\n"
        "scores = score(*many, sys.argv[3], threads=8)\n"
        "rows = {name: (one.score, one.items.to_dict()) for name, one in scores.items()}\n"
        "Path(sys.argv[2]).write_bytes(pickle.dumps(rows))"
    )
    limited = f'ulimit -S -s {stack} && ulimit -S -v {space} && exec "$@"'
    command = ["sh", "-c", limited, "sh", sys.executable, "-c", program]
    subprocess.run(
        [*command, corpus, scores, METRICS],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        check=True,
    )
    assert pickle.loads(scores.read_bytes()) == numbers(score(*many, METRICS, threads=1))


@pytest.mark.parametrize("size", [1, 7, 599, 600, 601])
def test_batches_change_no_bit(many, size, monkeypatch):
    metrics = f"{METRICS},{ALONE}"
    whole = numbers(score(*many, metrics))
    monkeypatch.setattr(prepared, "_BATCH", size)
    assert numbers(score(*many, metrics)) == whole


@pytest.mark.parametrize("seed", range(4))
def test_scorer_in_any_batches_is_score(many, seed):
    candidates, references = many
    rng = random.Random(seed)
    items = rng.sample(list(candidates), len(candidates))
    scorers = [Scorer(references, METRICS, threads=1 + seed % 3) for _ in range(3)]
    while items:
        batch = [items.pop() for _ in range(min(len(items), rng.choice([1, 2, 50, 200])))]
        rng.choice(scorers).update({item: candidates[item] for item in batch})
    first, *others = scorers
    first.merge(*(pickle.loads(pickle.dumps(each.state())) for each in others))
    scores = first.compute()
    whole = score(candidates, references, METRICS)
    assert numbers(scores) == numbers(whole)
    assert [r.signature for r in scores.values()] == [r.signature for r in whole.values()]


@settings(max_examples=30)
@given(corpora(), captions(), st.lists(captions(), min_size=1, max_size=3))
def test_a_row_is_independent_of_other_items(corpus, candidate, others):
    # ... for all metrics but CIDEr, whose document frequencies come from all references
    candidates, references = corpus
    metrics = "bleu,meteor,rouge_l,sent_bleu"
    more = score(
        {**candidates, "more": candidate}, {**references, "more": others}, metrics, **LENIENT
    )
    fewer = score(candidates, references, metrics, **LENIENT)
    for one, two in zip(more.measurements, fewer.measurements, strict=True):
        assert np.array_equal(one.statistics[:-1], two.statistics)
