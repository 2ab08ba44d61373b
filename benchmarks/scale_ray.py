"""What the engine ray costs: the same shards by threads and by Ray on this machine, in one run.

CPU seconds are those of all processes: for Ray also of its daemons. Other sizes:
``python -m benchmarks.scale_ray 10000000``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.data import all_captions

SIZES = (100_000, 1_000_000)
_SHARD = 250_000


def write_shards(folder: Path, size: int) -> None:
    """Write sampled captions with one reference each."""
    captions = pa.array(all_captions())
    chance = np.random.default_rng(0)
    for name in ("captions", "references"):
        (folder / name).mkdir()
        for begin in range(0, size, _SHARD):
            numbers = np.arange(begin, min(begin + _SHARD, size))
            items = pa.array([f"clip {k}" for k in numbers])
            texts = captions.take(pa.array(chance.integers(len(captions), size=len(numbers))))
            columns = {"item": items, "caption": texts}
            if name == "captions":
                columns["system"] = pa.array(["ours"] * len(numbers)).dictionary_encode()
            pq.write_table(pa.table(columns), folder / name / f"{begin // _SHARD:04d}.parquet")


def processes() -> dict[int, tuple[int, float, float]]:
    """Of every process: its parent, its CPU seconds with dead children, and its peak in MB."""
    ticks = os.sysconf("SC_CLK_TCK")
    there = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rpartition(")")[2].split()
            status = (path / "status").read_text()
        except OSError:
            continue  # gone meanwhile
        peak = status.partition("VmHWM:")[2].split()
        cpu = sum(map(int, fields[11:15])) / ticks
        there[int(path.name)] = int(fields[1]), cpu, int(peak[0]) / 1024 if peak else 0.0
    return there


def spent() -> tuple[float, float]:
    """CPU seconds of this process and all below it, and the largest peak among them."""
    there = processes()
    own = {os.getpid()}
    while more := {pid for pid, (parent, *_) in there.items() if parent in own} - own:
        own |= more
    return sum(there[pid][1] for pid in own), max(there[pid][2] for pid in own)


def score(engine: str) -> None:
    """Score the shards of the working folder in this process, and print what it took."""
    from reelscore import Engine
    from reelscore.scoring.shards.pipeline import score_files

    begin = time.perf_counter()
    workers = Engine(engine)
    started = spent()[0]
    score_files(["captions"], ["references"], engine=workers, out=f"scores-{engine}")
    cpu, peak = spent()
    print(cpu, started, time.perf_counter() - begin, peak)


def main(sizes: Sequence[int] = SIZES) -> None:
    print("BLEU, METEOR, ROUGE-L, CIDEr from Parquet with 1 reference, by threads and by Ray")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            write_shards(Path(folder), size)
            rates = {}
            for engine in ("threads", "ray"):
                command = [
                    sys.executable,
                    "-c",
                    f"from benchmarks import scale_ray\nscale_ray.score({engine!r})",
                ]
                root = str(Path(__file__).resolve().parents[1])
                output = subprocess.run(
                    command,
                    cwd=folder,
                    env={**os.environ, "PYTHONPATH": root},
                    stdout=subprocess.PIPE,
                    text=True,
                    check=True,
                ).stdout
                cpu, started, wall, peak = map(float, output.split())
                rates[engine] = size / cpu
                print(
                    f"  {size:11,} {engine:8} {cpu:8.1f} s CPU ({started:4.1f} to start) "
                    f"{wall:8.1f} s wall {peak:6.0f} MB at most a process {size / cpu:9,.0f}/s",
                    flush=True,
                )
            names = ("scores.json", "manifest.json")  # the manifest has checksums of all items
            one, other = (
                [Path(folder, f"scores-{engine}", name).read_bytes() for name in names]
                for engine in ("threads", "ray")
            )
            same = "the same" if one == other else "OTHER"
            kept = rates["ray"] / rates["threads"]
            print(f"  {'':11} Ray keeps {kept:.0%}; {same} scores of items and systems")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or SIZES)
