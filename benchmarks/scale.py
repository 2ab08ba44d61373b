"""From ten thousand to ten million candidates with one reference each: time and memory.

In memory from JSON Lines up to a million, and in blocks from Parquet shards with ``--parts``. Ten
million take minutes, and are not part of ``make bench``: python -m benchmarks.scale 10000000
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.data import all_captions
from benchmarks.installed import installed_program
from benchmarks.measuring import run

_SHARD = 100_000  # rows


def main() -> None:
    captions = all_captions()
    rng = random.Random(0)
    print("BLEU, METEOR, ROUGE-L, CIDEr of sampled captions with 1 reference, JSONL to table")
    with tempfile.TemporaryDirectory() as folder:
        for size in (10_000, 100_000, 1_000_000):
            files = []
            for name in ("candidates", "references"):
                path = Path(folder, f"{name}.jsonl")
                with path.open("w") as file:
                    for k in range(size):
                        file.write(json.dumps({"id": k, "caption": rng.choice(captions)}) + "\n")
                files.append(str(path))
            _measure(size, [installed_program(), "score", files[0], "--refs", files[1]])
    in_blocks([100_000, 1_000_000])


def in_blocks(sizes: list[int]) -> None:
    captions = pa.array(all_captions())
    print("the same from Parquet shards, in blocks: --parts")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            _write_shards(Path(folder), captions, size)
            names = [str(Path(folder, name)) for name in ("candidates", "references", "scores")]
            program = f"{sys.prefix}/bin/reelscore"  # Parquet needs pyarrow
            _measure(size, [program, "score", names[0], "--refs", names[1], "--parts", names[2]])


def _measure(size: int, command: list[str]) -> None:
    cost = run(command)
    print(f"  {size:10,} captions {cost}   {1e6 * cost.cpu / size:6.1f} µs CPU a caption")


def _write_shards(folder: Path, captions: pa.Array, size: int) -> None:
    rng = np.random.default_rng(0)
    for name in ("candidates", "references"):
        (folder / name).mkdir()
        for begin in range(0, size, _SHARD):
            rows = {
                "item": pa.array(np.arange(begin, begin + _SHARD)).cast(pa.string()),
                "caption": captions.take(pa.array(rng.integers(len(captions), size=_SHARD))),
            }
            if name == "candidates":
                rows["system"] = pa.array(["ours"] * _SHARD)
            pq.write_table(pa.table(rows), folder / name / f"{begin // _SHARD:05d}.parquet")


if __name__ == "__main__":
    in_blocks([int(size) for size in sys.argv[1:]])
