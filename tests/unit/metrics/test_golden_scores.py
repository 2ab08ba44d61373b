"""All four classical metrics against stored answers of the COCO tools (tests/golden).

This proves exactness in any checkout: no Java, no data set beside it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reelscore import score

GOLDEN = json.loads(
    (Path(__file__).parents[2] / "golden" / "coco_scores.json").read_text(encoding="utf-8")
)


@pytest.fixture(scope="module")
def scores():
    return score(
        GOLDEN["candidates"],
        GOLDEN["references"],
        "bleu,meteor,rouge_l,cider",
        tokenizer="ptb-coco",
    )


@pytest.mark.parametrize("name", GOLDEN["scores"])
def test_equals_the_coco_tools(scores, name):
    items = scores[name].items
    assert list(items) == list(GOLDEN["candidates"])
    # METEOR bit for bit; numpy's order of summation may differ in the last place of the others
    tolerance = 0 if name == "meteor" else 1e-13
    expected = GOLDEN["items"][name]
    assert items.array.tolist() == pytest.approx(expected, rel=0, abs=tolerance)
    assert scores[name].score == pytest.approx(GOLDEN["scores"][name], rel=0, abs=tolerance)
    assert len(set(expected)) > 50  # the captions tell metrics apart
