"""Writes tests/golden/coco_scores.json: captions of our own, and what pycocoevalcap scores them.

    python tools/make_golden_scores.py        (needs Java)

The captions come from the small grammar below, so that anybody may have them: 220 items with one
to five references, written as people and captioners write, slips and odd characters included.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.meteor.meteor import Meteor
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "coco_scores.json"
ITEMS = 220
SEED = 20261116

WHO = [
    ["a man", "a guy", "an old man", "someone", "a man in a red shirt"],
    ["a woman", "a lady", "a young woman", "the woman", "a female chef"],
    ["two children", "a couple of kids", "2 children", "some kids", "a boy and a girl"],
    ["a brown dog", "a dog", "a puppy", "the small dog", "an animal"],
    ["people", "a crowd", "a group of people", "several persons", "the audience"],
    ["a player", "a soccer player", "an athlete", "the goalkeeper", "a footballer"],
]
DOES = [
    [("is running across", "runs across", "sprinted over"), ("a field", "the grass", "a meadow")],
    [("is cooking", "prepares", "cooks"), ("a meal", "some food", "pasta in a pan")],
    [("throws", "is throwing", "tosses"), ("a ball", "the ball", "a frisbee into the air")],
    [("plays", "is playing", "performs on"), ("the guitar", "a guitar", "an electric guitar")],
    [("rides", "is riding", "cycles on"), ("a bicycle", "a bike", "a mountain-bike")],
    [("talks to", "is speaking with", "chats with"), ("a friend", "somebody", "the camera")],
    [("washes", "is washing", "cleans"), ("a car", "the car", "an automobile")],
    [("jumps over", "is jumping over", "leaps across"), ("a fence", "the wall", "a puddle")],
]
WHERE = [
    ["in a park", "outdoors", "in the park", "near some trees"],
    ["in a kitchen", "at home", "inside the house", "next to a stove"],
    ["on a stage", "in front of an audience", "at a concert", "on stage"],
    ["on the street", "along a road", "beside a parked truck", "downtown"],
    ["at the beach", "by the sea", "on the sand", "close to the water"],
]
ODD = [
    "{} , and it's raining",
    "{} (shot from above)",
    "{}... then stops!",
    'somebody says "hello" while {}',
    "{} at 10:30 a.m.",
    "don't look: {}",
    "{} -- 3/4 of the crowd cheers",
    "{} for $5.00",
    "{}; the U.S. flag waves",
    "a café's sign is seen as {}",
    "{} & smiles",
    "{} {}",
]


def sentence(rng: random.Random, who: Sequence[str], does: Sequence, where: Sequence[str]) -> str:
    verb, thing = rng.choice(does[0]), rng.choice(does[1])
    text = f"{rng.choice(who)} {verb} {thing} {rng.choice(where)}"
    if rng.random() < 0.15:
        text = text.replace(rng.choice(text.split()) + " ", "", 1)
    if rng.random() < 0.2:
        text = rng.choice(ODD).format(text, text)
    if rng.random() < 0.5:
        text = text[0].upper() + text[1:]
    return text + ("." if rng.random() < 0.5 else "")


def captions() -> tuple[dict[str, str], dict[str, list[str]]]:
    """Write the candidates and references."""
    rng = random.Random(SEED)
    candidates, references = {}, {}
    for k in range(ITEMS):
        scene = rng.choice(WHO), rng.choice(DOES), rng.choice(WHERE)
        references[f"clip{k:03}"] = [sentence(rng, *scene) for _ in range(rng.randint(1, 5))]
        other = rng.choice(WHO), rng.choice(DOES), rng.choice(WHERE)
        mixed = [
            rng.choice([mine, mine, theirs]) for mine, theirs in zip(scene, other, strict=True)
        ]
        candidates[f"clip{k:03}"] = sentence(rng, *mixed)
    return candidates, references


def scores(
    candidates: dict[str, str], references: dict[str, list[str]]
) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Score as COCO's evaluation does: PTB tokens, then each scorer."""
    tokenizer = PTBTokenizer()
    gts = tokenizer.tokenize({k: [{"caption": c} for c in v] for k, v in references.items()})
    res = tokenizer.tokenize({k: [{"caption": v}] for k, v in candidates.items()})
    bleu, bleus = Bleu(4).compute_score(gts, res, verbose=0)
    whole = {f"bleu_{k + 1}": bleu[k] for k in range(4)}
    items = {f"bleu_{k + 1}": bleus[k] for k in range(4)}
    for name, scorer in (("meteor", Meteor()), ("rouge_l", Rouge()), ("cider", Cider())):
        whole[name], items[name] = scorer.compute_score(gts, res)
    return (
        {name: float(value) for name, value in whole.items()},
        {name: [float(value) for value in values] for name, values in items.items()},
    )


def main() -> None:
    candidates, references = captions()
    whole, items = scores(candidates, references)
    java = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    golden = {
        "provenance": {
            "tool": f"pycocoevalcap {version('pycocoevalcap')}: its PTB tokenizer and METEOR 1.5 "
            "in Java, its BLEU, ROUGE-L and CIDEr in Python",
            "java": java.splitlines()[0],
            "command": "python tools/make_golden_scores.py",
            "texts": "written for this test, by the grammar in that file",
        },
        "candidates": candidates,
        "references": references,
        "scores": whole,
        "items": items,
    }
    GOLDEN.write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
