"""BLEU, ROUGE-L and CIDEr against pycocoevalcap itself, per item and for the corpus."""

from __future__ import annotations

import random

import pytest
from jars import trecvid
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge

from reelscore import score, tokenize

pytestmark = pytest.mark.parity
CLOSE = {"rel": 0, "abs": 1e-12}


def compare(candidates, references, report, what):
    items = [str(k) for k in range(len(candidates))]
    gts = dict(zip(items, references, strict=True))
    res = {item: [text] for item, text in zip(items, candidates, strict=True)}
    results = score(
        {item: texts[0] for item, texts in res.items()},
        gts,
        "bleu,rouge_l,cider",
        tokenizer="none",
        empty="zero",
    )
    bleu, bleus = Bleu(4).compute_score(gts, res, verbose=0)
    expected = {f"bleu_{k + 1}": (bleu[k], bleus[k]) for k in range(4)}
    expected["rouge_l"] = Rouge().compute_score(gts, res)
    expected["cider"] = Cider().compute_score(gts, res)
    furthest = 0.0
    for name, (corpus, scores) in expected.items():
        assert results[name].score == pytest.approx(corpus, **CLOSE), name
        mine = results[name].items.array.tolist()
        assert mine == pytest.approx(list(scores), **CLOSE), name
        if name.startswith("bleu"):
            assert (results[name].score, mine) == (corpus, scores), name
        furthest = max(furthest, *(abs(a - float(b)) for a, b in zip(mine, scores, strict=True)))
    report(f"{what}: {len(candidates):,} items, furthest apart {furthest:.1e}")


@pytest.mark.shared
@pytest.mark.parametrize("year", [2020, 2017])
def test_trecvid(shared, full, report, year):
    systems, references = trecvid(shared, year)
    references = [tokenize(texts) for texts in references]
    for name, captions in systems.items() if full else list(systems.items())[:1]:
        step = 1 if full else 5
        compare(tokenize(captions)[::step], references[::step], report, f"{year} {name}")


def test_random_captions(report):
    rng = random.Random(4)
    words = ["a", "man", "the", "dog", "runs", "x\u00a0y", "1/2", "é"]

    def caption(least):
        return " ".join(rng.choices(words, k=rng.randint(least, 12)))

    references = [[caption(1) for _ in range(rng.randint(1, 5))] for _ in range(300)]
    compare([caption(0) for _ in references], references, report, "random captions")
