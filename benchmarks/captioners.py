"""Baselines of captioners: the retrieval upper bound, nearest neighbours, and real floors.

Beside the clock it prints what the baselines score on TRECVid 2020, each against four of the five
annotators, with the fifth as the human; the mean of the five ways to leave one out.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from statistics import fmean
from typing import Any

import numpy as np

from benchmarks.data import TRECVID
from reelscore import _native, score
from reelscore.text.meteor_data import meteor_index
from reelscore.text.tokens import thread_count, tokenize
from reelscore.text.words import pack
from reelscore_studies.baselines.clip_features import Features
from reelscore_studies.baselines.retrieval.best_sentences import (
    BoundSearch,
    ConstantSearch,
    distinct_sentences,
)
from reelscore_studies.baselines.retrieval.search import nearest_rows, normalised
from reelscore_studies.judged import trecvid_ha

METEOR = (0.85, 0.2, 0.6, 0.75)
FULL = (60_000, 6_578, 4_096)  # training items, queries and features of the largest task
SAMPLE = (6_000, 512, 4_096)


def main() -> None:
    years = {year: trecvid_ha.load(TRECVID.parent, f"SA-{year}") for year in range(2016, 2021)}
    training = {
        f"{year}/{item}": texts
        for year, data in years.items()
        if year < 2020
        for item, texts in data.references().items()
    }
    test = years[2020].references()
    print(f"Retrieval upper bound by METEOR, TRECVid, {thread_count(None)} cores")
    bound_speed(training, test)
    print("Nearest neighbours by histogram intersection, faiss")
    search_speed()
    print("TRECVid 2020, METEOR and CIDEr times 100, leaving one annotator out")
    floors(training, years[2019].references(), years[2020])


def clocked(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """The result of some work, its CPU seconds and its wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    return result, time.process_time() - cpu, time.perf_counter() - wall


def bound_speed(training: dict[str, list[str]], test: dict[str, list[str]]) -> None:
    found, cpu, wall = clocked(lambda: BoundSearch().best(training, test))
    rate = found.pairs / cpu
    print(
        f"  pruned           {found.pairs:11,} pairs {cpu:8.2f} s CPU {wall:8.2f} s wall "
        f"{rate:11,.0f} pairs a CPU second; {found.aligned / found.pairs:.2%} aligned"
    )
    sentences = [text for text, _ in distinct_sentences(training)][:1000]
    items = dict(list(test.items())[:40])
    flat = [text for texts in items.values() for text in texts]
    ours, theirs = pack(tokenize(sentences)), pack(tokenize(flat))
    numbers = np.meshgrid(np.arange(len(sentences)), np.arange(len(flat)), indexing="ij")
    pairs = [own.ravel() for own in numbers]
    _, cpu, _ = clocked(
        lambda: _native.meteor_pairs(
            meteor_index(), ours, theirs, *pairs, METEOR, thread_count(None)
        )
    )
    kernel = len(pairs[0]) / cpu
    print(
        f"  all, batch kernel{len(pairs[0]):11,} pairs {cpu:8.2f} s CPU {rate / kernel:7.1f} times"
    )
    candidates = {f"{item}/{k}": text for item in items for k, text in enumerate(sentences)}
    references = {f"{item}/{k}": texts for item, texts in items.items() for k in range(1000)}
    _, cpu, _ = clocked(lambda: score(candidates, references, "meteor"))
    public = sum(map(len, references.values())) / cpu
    count = sum(map(len, references.values()))
    print(f"  all, by score    {count:11,} pairs {cpu:8.2f} s CPU {rate / public:7.1f} times")


def search_speed(size: tuple[int, int, int] = SAMPLE) -> None:
    count, queries, width = size
    draw = np.random.default_rng(0)
    items = tuple(map(str, range(count)))
    numbers = draw.random((count, width), dtype=np.float32)
    training = normalised(Features(items, numbers), overwrite=True).matrix
    asked = draw.random((queries, width), dtype=np.float32)
    asked /= asked.sum(axis=1, keepdims=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _, cpu, wall = clocked(lambda: nearest_rows(training, asked, backend="faiss"))
    extra = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    share = np.prod(FULL) / np.prod(size)
    print(
        f"  {count:,} × {width:,} against {queries:,}: {cpu:.1f} s CPU, {wall:.1f} s wall, "
        f"{extra:.0f} MB beside {training.nbytes / 2**20:.0f}; "
        f"{' × '.join(f'{n:,}' for n in FULL)} would be {share * cpu:.0f} s CPU"
    )


def floors(training: Any, validation: Any, data: trecvid_ha.Assessment) -> None:
    names = list(data.annotators)
    constant = ConstantSearch().best(training, validation)
    print(f'  constant sentence: "{constant.caption}"')
    rows: dict[str, list[tuple[float, float]]] = {}
    for left_out in names:
        references = data.references([name for name in names if name != left_out])
        systems = {
            "constant": dict.fromkeys(references, constant.caption),
            **data.candidates,
            "human": dict(data.annotators[left_out]),
            "upper bound (oracle)": BoundSearch().best(training, references).captions,
        }
        for name, captions in systems.items():
            own = score({item: captions[item] for item in references}, references, "meteor,cider")
            rows.setdefault(name, []).append((own["meteor"].score, own["cider"].score))
    systems_only = [name for name in rows if name in data.candidates]
    means = {
        name: tuple(100 * fmean(column) for column in zip(*own, strict=True))
        for name, own in rows.items()
    }
    ordered = sorted(systems_only, key=lambda name: means[name])
    for name in ["constant", ordered[0], ordered[-1], "human", "upper bound (oracle)"]:
        meteor, cider = means[name]
        print(f"  {name:32} METEOR {meteor:5.2f}  CIDEr {cider:6.1f}")


if __name__ == "__main__":
    main()
