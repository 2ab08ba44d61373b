"""Captions of several sentences: what reading them sentence by sentence costs, and what it loses.

Captions of about 200 words, each made of what people wrote of one clip after the other, against
references of other people's captions of the same clips. The unit is what one pair of two of these
sentences costs. Then, where judged paragraphs lie beside the checkout: agreement with people by
how many sentences of a reference each sentence meets, chosen by their vectors.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from unittest.mock import patch

import numpy as np

from benchmarks.data import ROOT, read_lines, trecvid_2020
from reelscore import score
from reelscore.learned.metrics import sentence_pairs
from reelscore.learned.networks.pair_scores import pair_scorer
from reelscore.metrics.sentences import SentenceList

WORDS, CAPTIONS, ROUNDS = 200, 40, 3
JUDGED = ROOT.parent / "shared" / "data" / "judged" / "factvc_youcook2.jsonl.gz"


def long_texts(lines: Sequence[str], first: int) -> list[str]:
    """Captions of WORDS words and a few more, from the captions behind the first."""
    texts: list[str] = []
    parts: list[str] = []
    for line in lines[first:]:
        parts.append(line.strip().rstrip("."))
        text = ". ".join(parts) + "."
        if len(text.split()) >= WORDS:
            texts.append(text)
            parts = []
    return texts[:CAPTIONS]


def cpu(work: Callable[[], object]) -> float:
    """The CPU seconds of the cheapest of some rounds; vectors are computed anew in each."""
    times = []
    for _ in range(ROUNDS):
        for name in ("reelscore-bertha", "reelscore-bertha-small"):
            pair_scorer(name, "int8")._vectors.clear()
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def main() -> None:
    candidates, references = (long_texts(read_lines(path), 0) for path in trecvid_2020()[1][:2])
    ours, theirs = SentenceList(candidates), SentenceList(references)
    words = np.mean([len(text.split()) for text in candidates])
    print(
        f"{len(candidates)} captions of {words:.0f} words, {len(ours.texts) / len(candidates):.1f} "
        f"sentences, a reference each; CPU time a sentence of a caption, in sentence pairs"
    )
    ones = {str(k): text for k, text in enumerate(ours.texts)}
    others = {str(k): [theirs.texts[k % len(theirs.texts)]] for k in range(len(ones))}
    whole = {str(k): text for k, text in enumerate(candidates)}
    beside = {str(k): [text] for k, text in enumerate(references)}
    for name in ("bertha", "bertha-small"):
        score({"0": "a"}, {"0": ["b"]}, name)  # loaded
        pair = cpu(lambda name=name: score(ones, others, name)) / len(ones)
        print(f"  {name:12} {1e3 * pair:6.2f} ms a pair", end="")
        for nearest in (1, 3, 1000):
            with patch.object(sentence_pairs, "_NEAREST", nearest):
                cost = cpu(lambda name=name: score(whole, beside, name)) / len(ones)
            met = "all" if nearest == 1000 else nearest
            print(f"   meets {met}: {cost / pair:4.1f}", end="")
        both = cpu(lambda name=name: score(whole, beside, f"{name}|sentences:both")) / len(ones)
        text = cpu(lambda name=name: score(whole, beside, f"{name}|sentences:whole")) / len(ones)
        print(f"   both: {both / pair:.1f}   whole, cut to 128 tokens: {text / pair:.1f}")
    agreement()


def agreement() -> None:
    """How the number of sentences that are met changes agreement with people."""
    if not JUDGED.exists():
        print("  Agreement is not measured: there are no judged paragraphs beside the checkout.")
        return
    from reelscore_studies.judged.judged_sets import read_judged_set

    rated = read_judged_set(JUDGED).rated
    people = [np.mean(row.ratings) for row in rated]
    items = {str(k): row.caption for k, row in enumerate(rated)}
    references = {str(k): row.references for k, row in enumerate(rated)}
    for name in ("bertha", "bertha-small"):
        print(f"  FactVC YouCook2, {name}", end="")
        for nearest in (1, 2, 3, 1000):
            with patch.object(sentence_pairs, "_NEAREST", nearest):
                result = next(iter(score(items, references, name).values()))
            r = np.corrcoef([result.items[item] for item in items], people)[0, 1]
            print(f"   meets {'all' if nearest == 1000 else nearest}: r {r:.3f}", end="")
        print()
    for sentences in ("whole", "precision"):
        result = score(items, references, f"bertha|sentences:{sentences}")
        print(f"  {sentences}: {'; '.join(result.notes) or 'no pair was cut'}")


if __name__ == "__main__":
    main()
