"""The four metrics from file to table, and METEOR by itself."""

from __future__ import annotations

import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from pycocoevalcap.meteor.meteor import Meteor as Jar

from benchmarks.data import read_lines, trecvid_2020
from benchmarks.installed import installed_program
from benchmarks.measuring import cpu_of, side_by_side
from reelscore import tokenize
from reelscore.metrics.meteor import Meteor
from reelscore.text.tokens import thread_count
from reelscore.text.words import CaptionBatch, Captions, Pairing, pack


def main() -> None:
    candidates, references = trecvid_2020()
    refs = [argument for path in references for argument in ("--refs", str(path))]
    ours = [installed_program(), "score", str(candidates), *refs, "--format", "lines"]

    print("BLEU, METEOR, ROUGE-L, CIDEr of 1,700 captions with 5 references, file to table")
    cost, peer = side_by_side(ours, _peer(candidates, references), 3)
    print(f"  pycocoevalcap    {peer}")
    print(f"  reelscore        {cost}")
    print(f"  ratio of CPU     {peer.cpu / cost.cpu:8.1f}")

    systems = [path for path in candidates.parent.iterdir() if "HUMAN" not in path.name]
    print(f"The same of {len(systems)} systems: a table, by one command and by one for each system")
    all_of_ours = [*ours[:2], *map(str, systems), *ours[3:]]
    rounds = [side_by_side(all_of_ours, _peer(path, references), 1) for path in systems]
    peers = sum(peer.cpu for _, peer in rounds)
    print(f"  pycocoevalcap    {peers:8.2f} s CPU")
    cost = min((cost for cost, _ in rounds), key=lambda cost: cost.cpu)
    print(f"  reelscore        {cost}")
    print(f"  ratio of CPU     {peers / cost.cpu:8.1f}")

    print("METEOR alone, in process, captions tokenized, against the warmed-up jar")
    texts = tokenize(read_lines(candidates), "ptb-coco")
    rows = [tokenize(read_lines(path), "ptb-coco") for path in references]
    others = [tokenize(read_lines(path), "ptb-coco") for path in systems if path != candidates]
    jar_cpu = _warm_jar(texts, rows)
    print(f"  jar, second pass {jar_cpu:8.2f} s CPU")
    pairs = len(texts) * len(rows)
    for what, (cpu, wall) in (
        ("captions never seen", _first_times(texts, rows, others)),
        ("the same again", _meteor_times(_batch(texts, rows))),
    ):
        print(f"  reelscore        {cpu:8.3f} s CPU {wall:8.3f} s wall, {what}")
        print(f"  ratio of CPU     {jar_cpu / cpu:8.1f}")
        print(f"  pairs a second   {pairs / wall:8,.0f} on {thread_count(None)} cores")
    everything = [text for own in (texts, *others) for text in own]
    _, all_wall = _meteor_times(_batch(everything, [row * len(systems) for row in rows]))
    rate = pairs * len(systems) / all_wall
    print(f"  pairs a second   {rate:8,.0f} with {len(systems)} systems in one batch, again")


def _peer(candidates: Path, references: list[Path]) -> list[str]:
    return [sys.executable, "-m", "benchmarks.peer", str(candidates), *map(str, references)]


def _first_times(
    texts: list[str], rows: list[list[str]], others: list[list[str]]
) -> tuple[float, float]:
    """Lowest CPU and wall seconds of a first pass, in processes that have scored other captions."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, max_tasks_per_child=1) as pool:
        times = [pool.submit(_first_time, texts, rows, others).result() for _ in range(5)]
    return min(cpu for cpu, _ in times), min(wall for _, wall in times)


def _first_time(
    texts: list[str], rows: list[list[str]], others: list[list[str]]
) -> tuple[float, float]:
    Meteor().statistics(_batch(others[0], others[1:]), None)
    return _time(_batch(texts, rows))


def _batch(texts: list[str], rows: list[list[str]]) -> CaptionBatch:
    """Captions with a reference of each row."""
    flat = [row[k] for k in range(len(texts)) for row in rows]
    return CaptionBatch(
        Captions(pack(texts)),
        Captions(pack(flat)),
        Pairing.in_order(np.arange(len(texts) + 1, dtype=np.int64) * len(rows)),
        thread_count(None),
    )


def _meteor_times(batch: CaptionBatch) -> tuple[float, float]:
    """Lowest CPU and wall seconds of METEOR, the first run apart."""
    Meteor().statistics(batch, None)
    times = [_time(batch) for _ in range(7)]
    return min(cpu for cpu, _ in times), min(wall for _, wall in times)


def _time(batch: CaptionBatch) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    Meteor().statistics(batch, None)
    return time.process_time() - cpu, time.perf_counter() - wall


def _warm_jar(texts: list[str], rows: list[list[str]]) -> float:
    """CPU seconds of the jar for a second pass over the same captions."""
    gts = {k: [row[k] for row in rows] for k in range(len(texts))}
    res = {k: [text] for k, text in enumerate(texts)}
    jar = Jar()
    jar.compute_score(gts, res)
    begin = cpu_of(jar.meteor_p.pid)
    jar.compute_score(gts, res)
    return cpu_of(jar.meteor_p.pid) - begin
