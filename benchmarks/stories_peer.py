"""The same job through the COCO tools, as users write it: SODA (c) and ActivityNet with METEOR.

With --all, the ActivityNet scorer alone, with all its metrics. One JVM tokenizes all captions,
another scores all pairs with METEOR; matching and overlaps are plain Python.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path
from typing import Any

from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.meteor.meteor import Meteor
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

TIOUS = (0.3, 0.5, 0.7, 0.9)
Segment = list[float]


def main() -> None:
    with_all = sys.argv[1] == "--all"
    candidates, *truths = (json.loads(Path(path).read_text()) for path in sys.argv[1 + with_all :])
    results = candidates["results"]
    sides = {"system": results, **{f"truth {k}": truth for k, truth in enumerate(truths)}}
    tokens = _tokenized({name: _captions(side) for name, side in sides.items()})
    meteor = Meteor()
    scorers = [Bleu(4), meteor, Rouge(), Cider()] if with_all else [meteor]
    soda, activitynet = [], []
    videos = {video for truth in truths for video in truth}
    for video in videos:
        ours = [(e["timestamp"], text) for e, text in _of(results, tokens["system"], video)]
        annotators = [
            list(zip(truth[video]["timestamps"], tokens[f"truth {k}"][video], strict=True))
            for k, truth in enumerate(truths)
            if video in truth
        ]
        if not with_all:
            each = [_soda_c(sorted(ours), sorted(theirs), meteor) for theirs in annotators]
            soda.append(sum(each) / len(each))
        activitynet.append(_activitynet(ours, [c for each in annotators for c in each], scorers))
    print(*(sum(column) / len(activitynet) for column in zip(*activitynet, strict=True)))
    if soda:
        print(sum(soda) / len(soda))


def _captions(side: dict[str, Any]) -> dict[str, list[str]]:
    return {
        video: value["sentences"] if isinstance(value, dict) else [e["sentence"] for e in value]
        for video, value in side.items()
    }


def _tokenized(sides: dict[str, dict[str, list[str]]]) -> dict[str, dict[str, list[str]]]:
    flat = {
        (side, video): [{"caption": " ".join(text.split())} for text in texts]
        for side, videos in sides.items()
        for video, texts in videos.items()
    }
    tokenized: dict[str, dict[str, list[str]]] = {side: {} for side in sides}
    for (side, video), texts in PTBTokenizer().tokenize(flat).items():
        tokenized[side][video] = texts
    return tokenized


def _of(results: dict[str, Any], tokens: dict[str, list[str]], video: str) -> list[Any]:
    return list(zip(results.get(video, []), tokens.get(video, []), strict=True))


def _iou(one: Segment, other: Segment) -> float:
    overlap = max(0.0, min(one[1], other[1]) - max(one[0], other[0]))
    union = max(one[1], other[1]) - min(one[0], other[0])
    return overlap / union if union else 0.0


def _soda_c(ours: list[Any], theirs: list[Any], meteor: Meteor) -> float:
    pairs = list(product(range(len(ours)), range(len(theirs))))
    if not pairs:
        return 0.0
    gts = {k: [theirs[j][1]] for k, (_, j) in enumerate(pairs)}
    res = {k: [ours[i][1]] for k, (i, _) in enumerate(pairs)}
    _, scores = meteor.compute_score(gts, res)
    best = [[0.0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for (i, j), f in zip(pairs, scores, strict=True):
        cost = f * _iou(ours[i][0], theirs[j][0])
        best[i + 1][j + 1] = max(best[i][j + 1], best[i + 1][j], best[i][j] + cost)
    precision, recall = best[-1][-1] / len(ours), best[-1][-1] / len(theirs)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _activitynet(ours: list[Any], theirs: list[Any], scorers: list[Any]) -> list[float]:
    totals = [0.0] * len(scorers)
    for tiou in TIOUS:
        pairs = []
        for segment, text in ours:
            hits = [other for where, other in theirs if _iou(segment, where) >= tiou]
            pairs += [(text, other) for other in hits or ["qzxjkvwqzxjkv"]]
        if pairs:
            res = {k: [text] for k, (text, _) in enumerate(pairs)}
            gts = {k: [other] for k, (_, other) in enumerate(pairs)}
            for k, scorer in enumerate(scorers):
                score = scorer.compute_score(gts, res)[0]
                totals[k] += score[-1] if isinstance(score, list) else score  # of BLEU, BLEU-4
    return [total / len(TIOUS) for total in totals]


if __name__ == "__main__":
    main()
