"""BERTHA on a GPU: our scorer, workers that share the GPU, and plain transformers, in one run.

Plain is what a user writes with transformers: single precision, batches of 256 in the order given,
padded to the longest, each different text embedded once, for the first pairs. All others get all
pairs: captions of the systems of TRECVid 2020, each with the references of its clip and of the
clips after it. Loading is not counted. Where the time goes is measured in a pass of its own that
waits for the GPU after each step. The limit is what the card's large products of matrices allow.

``python -m benchmarks.gpu --device cpu --pairs 600`` tries it without a GPU. ``--share`` chooses
how workers are started: by the engine ray, or as plain processes where Ray is not installed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import islice
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from benchmarks.data import read_lines, trecvid_2020
from benchmarks.learned import plain

PAIRS, PAIRS_CPU, ROUNDS, WARM_UP = 100_000, 600, 2, 2_000
PLAIN_PAIRS = 20_000  # by transformers, which takes long
_REFERENCES = 10  # of each clip: its own five, and those of the next
_SHARING = ((1, 400), (2, 100), (2, 400))  # workers, and captions that one gets at once
_MODEL = "reelscore-bertha"
_DTYPE = "float16"
METRIC = f"bertha|dtype:{_DTYPE}|references:mean"


class Captions(NamedTuple):
    """Captions of systems with the references of each item."""

    systems: dict[str, dict[str, str]]
    references: dict[str, list[str]]

    def pairs(self) -> tuple[list[str], list[str]]:
        """Candidates and references, pair by pair: system, item, reference."""
        rows = [
            (text, reference)
            for own in self.systems.values()
            for item, text in own.items()
            for reference in self.references[item]
        ]
        return [a for a, _ in rows], [b for _, b in rows]


def captions_of(pairs: int) -> Captions:
    """Captions of TRECVid 2020 that make about a number of pairs, all different."""
    system, files = trecvid_2020()
    names = [path.name for path in sorted(system.parent.iterdir()) if "HUMAN" not in path.name]
    texts = {name: read_lines(system.parent / name) for name in names}
    columns = [read_lines(path) for path in files]
    count = len(columns[0])
    wanted = max(1, round(pairs / len(names) / _REFERENCES))
    spoken = (k for k in range(count) if all(own[k].strip() for own in texts.values()))
    items = list(islice(spoken, wanted))
    after = _REFERENCES // len(columns)
    references = {
        str(k): [column[(k + step) % count] for step in range(after) for column in columns]
        for k in items
    }
    systems = {name: {str(k): own[k] for k in items} for name, own in texts.items()}
    return Captions(systems, references)


# Our scorer


def open_scorer(dtype: str, device: str) -> Any:
    """Our scorer as it runs on a GPU, on any device."""
    from reelscore.learned.networks import pair_scores
    from reelscore.learned.networks.bert_torch import TorchBert

    def by_torch(tensors, config, dtype, pooling, head, device):
        return TorchBert(tensors, config, dtype, pooling, head, device)

    with patch.object(pair_scores, "open_bert", by_torch):
        return pair_scores.PairScorer(_MODEL, dtype, device)


def ours(scorer: Any) -> Callable[[Sequence[str], Sequence[str]], Any]:
    """Score pairs as if for the first time: no vectors are kept from before."""

    def work(candidates, references):
        scorer._vectors.clear()
        return scorer.score(candidates, references, len(os.sched_getaffinity(0)))

    return work


class Stopwatch:
    """Seconds of some functions, one inside another counted once."""

    def __init__(self, wait: Callable[[], None]) -> None:
        self.seconds: dict[str, float] = {}
        self._wait = wait

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function; what functions inside it take is taken off."""

        def run(*arguments: Any, **options: Any) -> Any:
            before, begin = sum(self.seconds.values()), time.perf_counter()
            result = function(*arguments, **options)
            self._wait()
            inside = sum(self.seconds.values()) - before
            own = time.perf_counter() - begin - inside
            self.seconds[name] = self.seconds.get(name, 0.0) + own
            return result

        return run


def shares(scorer: Any, device: str, pairs: tuple[list[str], list[str]]) -> dict[str, float]:
    """Seconds of one pass, by step; it waits for the GPU after each."""
    import torch

    watch = Stopwatch(torch.cuda.synchronize if device == "cuda" else lambda: None)
    for step, owner, name in (
        ("word pieces", scorer.tokens, "numbers"),
        ("lists of tokens", scorer.tokens, "framed"),
        ("network of pairs", scorer, "_rows"),
        ("network of vectors", scorer, "_means"),
        ("cosines", scorer, "_cosines"),
    ):
        setattr(owner, name, watch.timed(step, getattr(owner, name)))
    begin = time.perf_counter()
    ours(scorer)(*pairs)
    total = time.perf_counter() - begin
    return {**watch.seconds, "other Python": total - sum(watch.seconds.values())}


def operations(scorer: Any, pairs: tuple[list[str], list[str]]) -> float:
    """Multiplications and additions that the networks cannot do without for different pairs."""
    different = list(dict.fromkeys(zip(*pairs, strict=True)))
    candidates, references = [a for a, _ in different], [b for _, b in different]
    texts = list(dict.fromkeys([*candidates, *references]))
    of_pairs, of_texts = (
        lists.lengths.astype(float)
        for lists in (scorer.tokens.pairs(candidates, references), scorer.tokens.singles(texts))
    )
    scorer.tokens.forget()
    network = scorer._rows
    width = network.weights["embeddings.LayerNorm.weight"].shape[0]

    def layer(lengths: Any, asked: Any) -> float:
        """Keys and values of all tokens; the rest of those that are asked for."""
        return float(np.sum(4 * lengths * width**2 + asked * (20 * width**2 + 4 * lengths * width)))

    first = layer(of_pairs, 1.0)  # the last layer of pairs computes the first token alone
    whole = layer(of_pairs, of_pairs) * (network.layers - 1)
    return first + whole + layer(of_texts, of_texts) * scorer._means.layers


def products_a_second() -> float:
    """Operations a second of the GPU in large products of matrices of ``bfloat16``."""
    import torch

    size, rounds = 8192, 10
    matrix = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)
    for _ in range(3):
        matrix @ matrix
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(rounds):
        matrix @ matrix
    torch.cuda.synchronize()
    return rounds * 2 * size**3 / (time.perf_counter() - begin)


def gpu_seconds(work: Callable[[], Any]) -> tuple[float, float, float]:
    """Of one pass: the seconds, and those in which the GPU computed and copied."""
    import torch

    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        begin = time.perf_counter()
        work()
        torch.cuda.synchronize()
        total = time.perf_counter() - begin
    kernels = copies = 0.0
    for event in profile.key_averages():
        if event.key.startswith(("Memcpy", "Memset")):
            copies += event.self_device_time_total / 1e6
        else:
            kernels += event.self_device_time_total / 1e6
    return total, kernels, copies


# Workers that share the GPU


class Shared(NamedTuple):
    """What several workers did: scores of items, pairs a second, seconds with the start."""

    scores: Any
    rate: float
    seconds: float


def by_ray(captions: Captions, workers: int, device: str, sent: int) -> Shared:
    """Score by the engine ray; the rate is that from the first result to the last."""
    import reelscore

    marks: list[tuple[float, int]] = []
    begin = time.perf_counter()
    gpus = 1 / workers if device == "cuda" else 0
    engine = reelscore.Engine("ray", workers=workers, gpus_per_worker=gpus)
    with patch("reelscore.scoring.prepared._SENT_SLOWLY", sent):
        table = reelscore.score_systems(
            *captions,
            METRIC,
            engine=engine,
            progress=lambda done, _: marks.append((time.perf_counter(), done)),
        )
    scores = np.concatenate([table[name]["bertha"].items.array for name in captions.systems])
    (first, some), (last, every) = marks[0], marks[-1]
    if some < every:
        rate = (every - some) * _REFERENCES / (last - first)
    else:
        rate = every * _REFERENCES / (last - begin)
    return Shared(scores, rate, last - begin)


def _process(part: Captions, device: str, ready: Any, results: Any) -> None:
    from reelscore.learned.networks.pair_scores import PairScorer

    scorer = PairScorer(_MODEL, _DTYPE, device)
    pairs = part.pairs()
    scorer.score(*(side[:WARM_UP] for side in pairs))
    scorer._vectors.clear()
    ready.wait()
    begin = time.perf_counter()
    scores = scorer.score(*pairs)
    results.put((list(part.systems), scores, begin, time.perf_counter()))


def by_processes(captions: Captions, workers: int, device: str) -> Shared:
    """Score by plain processes, each with some of the systems."""
    names = list(captions.systems)
    context = multiprocessing.get_context("spawn")
    ready, results = context.Barrier(workers), context.Queue()
    start = time.perf_counter()
    for k in range(workers):
        part = Captions(
            {name: captions.systems[name] for name in names[k::workers]}, captions.references
        )
        context.Process(target=_process, args=(part, device, ready, results)).start()
    parts = [results.get(timeout=600) for _ in range(workers)]
    rows = {}
    for own, scores, _, _ in parts:
        for name, of_system in zip(own, np.split(scores, len(own)), strict=True):
            rows[name] = of_system.reshape(-1, _REFERENCES).mean(axis=1)
    seconds = max(end for *_, end in parts) - min(begin for _, _, begin, _ in parts)
    count = len(captions.pairs()[0])
    scores = np.concatenate([rows[name] for name in names])
    return Shared(scores, count / seconds, time.perf_counter() - start)


# The run


def measure(captions: Captions, device: str, share: str) -> None:
    """Measure and print, line by line."""
    import torch

    pairs = captions.pairs()
    count = len(pairs[0])
    where = torch.cuda.get_device_name() if device == "cuda" else "the processor"
    print(f"BERTHA on {where}, torch {torch.__version__}: {count:,} pairs of TRECVid 2020")
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    base, rates = np.zeros(0), dict[str, float]()
    for name in ("transformers", "float32", "int8", "float16"):
        with tempfile.TemporaryDirectory() as folder:
            if name == "transformers":
                from reelscore.learned.model_files import export_model

                export_model(_MODEL, folder)
                batch = 256 if device == "cuda" else 32
                work = plain(folder, len(os.sched_getaffinity(0)), device, batch)
            else:
                scorer = open_scorer(name, device)
                work = ours(scorer)
        some = [side[: PLAIN_PAIRS if name == "transformers" else count] for side in pairs]
        work(*(side[:WARM_UP] for side in some))
        seconds = np.inf
        for _ in range(ROUNDS):
            wait()
            begin = time.perf_counter()
            scores = work(*some)
            seconds = min(seconds, time.perf_counter() - begin)
        differences = np.abs(scores[: len(base)] - base) if rates else np.zeros(1)
        rates[name] = len(scores) / seconds
        # ours in single precision beside plain ones, then all others beside ours
        base = scores if name in ("transformers", "float32") else base
        print(
            f"  {name:13} {rates[name]:9,.0f} pairs/s"
            f"  differs by {differences.max():.1e} (mean {differences.mean():.1e})",
            flush=True,
        )
    _print_shares(scorer, device, pairs, rates["float16"])
    means = scores.reshape(-1, _REFERENCES).mean(axis=1)
    for workers, sent in _SHARING if share == "ray" else ((1, 0), (2, 0)):
        if share == "ray":
            result = by_ray(captions, workers, device, sent)
            name = f"{workers} of ray, {sent} captions at once"
        else:
            result = by_processes(captions, workers, device)
            name = f"{workers} plain {'process' if workers == 1 else 'processes'}"
        print(
            f"  {name:30} {result.rate:9,.0f} pairs/s ({result.seconds:.1f} s with the start)"
            f"  differs by {np.abs(result.scores - means).max():.1e}",
            flush=True,
        )


def _print_shares(
    scorer: Any, device: str, pairs: tuple[list[str], list[str]], rate: float
) -> None:
    """Say where the time of our scorer goes, and how far it is from what the GPU could do."""
    seconds = shares(scorer, device, pairs)
    total = sum(seconds.values())
    parts = ", ".join(f"{name} {own / total:.0%}" for name, own in seconds.items())
    most = max(seconds, key=seconds.__getitem__)
    print(f"  time of float16, step by step: {parts}")
    print(f"  bottleneck: {most}", flush=True)
    if device == "cuda":
        scorer = open_scorer("float16", device)
        work = ours(scorer)
        work(*(side[:WARM_UP] for side in pairs))
        whole, kernels, copies = gpu_seconds(lambda: work(*pairs))
        print(f"  the GPU computes {kernels / whole:.0%} of the time, copies {copies / whole:.1%}")
        limit = len(pairs[0]) * products_a_second() / operations(scorer, pairs)
        print(f"  its products alone allow {limit:,.0f} pairs/s; share reached {rate / limit:.0%}")


def main(arguments: Sequence[str] = ()) -> None:
    """Measure on the GPU; say so and leave where there is none."""
    parser = argparse.ArgumentParser(prog="benchmarks.gpu")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--pairs", type=int, help=f"{PAIRS:,}; {PAIRS_CPU} without a GPU")
    parser.add_argument(
        "--share",
        choices=["ray", "processes"],
        default="ray" if find_spec("ray") else "processes",
    )
    options = parser.parse_args(arguments)
    if not (find_spec("torch") and find_spec("transformers")):
        print("BERTHA on a GPU: needs torch and transformers, reelscore[torch]; left out")
        return
    import torch

    if options.device == "cuda" and not torch.cuda.is_available():
        print("BERTHA on a GPU: there is none; left out (--device cpu tries it without)")
        return
    pairs = options.pairs or (PAIRS if options.device == "cuda" else PAIRS_CPU)
    measure(captions_of(pairs), options.device, options.share)


if __name__ == "__main__":
    main(sys.argv[1:])
