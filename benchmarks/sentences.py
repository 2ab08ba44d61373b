"""The four metrics from file to table, and METEOR by itself."""

from __future__ import annotations

import sys
import time

import numpy as np
from pycocoevalcap.meteor.meteor import Meteor as Jar

from benchmarks.data import read_lines, trecvid_2020
from benchmarks.measuring import best, cpu_of, run
from reelscore import tokenize
from reelscore.metrics.meteor import Meteor
from reelscore.text.packed import pack
from reelscore.text.tokens import thread_count
from reelscore.text.words import CaptionBatch, Captions


def main() -> None:
    candidates, references = trecvid_2020()
    refs = [argument for path in references for argument in ("--refs", str(path))]
    ours = [f"{sys.prefix}/bin/reelscore", "score", str(candidates), *refs, "--format", "lines"]
    run([*ours, "-m", "meteor"])  # builds the language index where there is none

    print("BLEU, METEOR, ROUGE-L, CIDEr of 1,700 captions with 5 references, file to table")
    peer = run([sys.executable, "-m", "benchmarks.peer", str(candidates), *map(str, references)])
    print(f"  pycocoevalcap    {peer}")
    cost = best(ours, 5)
    print(f"  reelscore        {cost}")
    print(f"  ratio of CPU     {peer.cpu / cost.cpu:8.1f}")

    print("METEOR alone, in process, captions tokenized, against the warmed-up jar")
    texts = tokenize(read_lines(candidates), "ptb-coco")
    rows = [tokenize(read_lines(path), "ptb-coco") for path in references]
    jar_cpu = _warm_jar(texts, rows)
    our_cpu, our_wall = _meteor_times(texts, rows)
    cores = thread_count(None)
    print(f"  jar, second pass {jar_cpu:8.2f} s CPU")
    print(f"  reelscore        {our_cpu:8.3f} s CPU {our_wall:8.3f} s wall")
    print(f"  ratio of CPU     {jar_cpu / our_cpu:8.1f}")
    pairs = len(texts) * len(rows)
    print(f"  pairs a second   {pairs / our_wall:8,.0f} on {cores} cores")
    systems = [path for path in candidates.parent.iterdir() if "HUMAN" not in path.name]
    everything = [text for path in systems for text in tokenize(read_lines(path), "ptb-coco")]
    _, all_wall = _meteor_times(everything, [row * len(systems) for row in rows])
    rate = pairs * len(systems) / all_wall
    print(f"  pairs a second   {rate:8,.0f} with {len(systems)} systems in one batch")


def _meteor_times(texts: list[str], rows: list[list[str]]) -> tuple[float, float]:
    """Lowest CPU and wall seconds of METEOR, the first run apart."""
    flat = [row[k] for k in range(len(texts)) for row in rows]
    batch = CaptionBatch(
        Captions(pack(texts)),
        Captions(pack(flat)),
        np.arange(len(texts), dtype=np.int64),
        np.arange(len(texts) + 1, dtype=np.int64) * len(rows),
        thread_count(None),
    )
    Meteor().statistics(batch, None)
    times = []
    for _ in range(7):
        wall, cpu = time.perf_counter(), time.process_time()
        Meteor().statistics(batch, None)
        times.append((time.process_time() - cpu, time.perf_counter() - wall))
    return min(cpu for cpu, _ in times), min(wall for _, wall in times)


def _warm_jar(texts: list[str], rows: list[list[str]]) -> float:
    """CPU seconds of the jar for a second pass over the same captions."""
    gts = {k: [row[k] for row in rows] for k in range(len(texts))}
    res = {k: [text] for k, text in enumerate(texts)}
    jar = Jar()
    jar.compute_score(gts, res)
    begin = cpu_of(jar.meteor_p.pid)
    jar.compute_score(gts, res)
    return cpu_of(jar.meteor_p.pid) - begin
