"""SODA and the ActivityNet scorer written the slow and obvious way, to check the fast one by."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from reelscore import score
from reelscore.compat.coco import Bleu, Cider, Meteor, PTBTokenizer, Rouge

TIOUS = (0.3, 0.5, 0.7, 0.9)


def iou(one, other, epsilon=0.0):
    intersection = min(one[1], other[1]) - max(one[0], other[0])
    if intersection <= 0:
        return 0.0
    return intersection / (max(one[1], other[1]) - min(one[0], other[0]) + epsilon)


def best_matching(costs, bonuses):
    """Try every order-keeping matching; of equal costs the larger bonus."""
    rows, columns = costs.shape
    best = (0.0, 0.0, ())
    for size in range(1, min(rows, columns) + 1):
        for chosen in combinations(range(rows), size):
            for partners in combinations(range(columns), size):
                pairs = tuple(zip(chosen, partners, strict=True))
                if any(costs[pair] <= 0 for pair in pairs):
                    continue
                cost = sum(costs[pair] for pair in pairs)
                bonus = sum(bonuses[pair] for pair in pairs)
                if cost > best[0] + 1e-11 or (cost > best[0] - 1e-11 and bonus > best[1] + 1e-11):
                    best = (cost, bonus, pairs)
    return best


def table_matching(costs, bonuses):
    """The recurrence over the whole table, for stories too long to try everything."""
    rows, columns = costs.shape
    table = [[(0.0, 0.0)] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows):
        for j in range(columns):
            options = [table[i][j + 1], table[i + 1][j]]
            if costs[i, j] > 0:
                above = table[i][j]
                options.append((above[0] + costs[i, j], above[1] + bonuses[i, j]))
            top = max(option[0] for option in options)
            near = [option for option in options if option[0] > top - 1e-12]
            table[i + 1][j + 1] = max(near, key=lambda option: option[1])
    return table[rows][columns]


def meteor(candidate, reference):
    return score({"v": candidate}, {"v": [reference]}, "meteor", empty="zero")["meteor"].score


def in_order(captions):
    return sorted(captions, key=lambda each: (*each[0], each[1]))


def published_f(candidate, reference):
    """METEOR as published SODA numbers have it: arguments exchanged, ASCII alone."""
    return meteor(_ascii(reference), _ascii(candidate))


def soda(candidates, references, name, f=meteor, order=in_order):
    """Precision, recall, F1 of one video; captions are (segment, sentence)."""
    ours, theirs = in_order(candidates), order(references)
    overlap = np.array([[iou(p[0], g[0]) for g in theirs] for p in ours])
    scores = np.array([[f(p[1], g[1]) for g in theirs] for p in ours])
    scores_by_tiou = []
    for tiou in TIOUS if name == "soda_a" else (0.0,):
        if name == "soda_c":
            total = table_matching(overlap * scores, scores)[0]
        else:
            total = table_matching(np.where(overlap >= tiou, overlap, 0.0), scores)[1]
        precision, recall = total / len(ours), total / len(theirs)
        below = precision + recall
        scores_by_tiou.append((precision, recall, 2 * precision * recall / below if below else 0.0))
    return np.mean(scores_by_tiou, axis=0)


def activitynet(candidates, references, tiou, nonsense="qwertzuiopas", limit=1000):
    """The official procedure for one threshold: scores of each video, by metric."""
    scorers = {"bleu": Bleu(4), "meteor": Meteor(), "rouge_l": Rouge(), "cider": Cider()}
    videos = list(dict.fromkeys(video for truth in references for video in truth))
    ours, theirs, numbers = {}, {}, {video: [] for video in videos}

    def add(video, sentence, reference):
        number = len(ours)
        ours[number] = [{"caption": _ascii(sentence)}]
        theirs[number] = [{"caption": _ascii(reference)}]
        numbers[video].append(number)

    for video in videos:
        for segment, sentence in candidates.get(video, [])[:limit]:
            near = [
                reference
                for truth in references
                for other, reference in truth.get(video, [])
                if iou(segment, other, 1e-8) >= tiou
            ]
            for reference in near or ([nonsense] if nonsense else []):
                add(video, sentence, reference)
    tokens, their_tokens = PTBTokenizer().tokenize(ours), PTBTokenizer().tokenize(theirs)
    results = {}
    for name, scorer in scorers.items():
        results[name] = {}
        for video, own in numbers.items():
            res = {k: tokens[k] for k in own}
            gts = {k: their_tokens[k] for k in own}
            if name == "bleu":
                value = scorer.compute_score(gts, res, verbose=0)[0][3] if own else 0.0
            else:
                value = scorer.compute_score(gts, res)[0] if own else 0.0
            results[name][video] = float(value)
    return results


def _ascii(text):
    return "".join(c if ord(c) < 128 else " " for c in text)
