"""From ten thousand to a million candidates with one reference each: time and memory."""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path

from benchmarks.data import all_captions
from benchmarks.measuring import run


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
            cost = run([f"{sys.prefix}/bin/reelscore", "score", files[0], "--refs", files[1]])
            print(f"  {size:9,} captions {cost}   {1e6 * cost.cpu / size:6.1f} µs CPU a caption")
