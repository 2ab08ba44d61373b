"""Stories of 200 captions: 5,000 videos, two annotators, seven million pairs."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

from benchmarks.installed import installed_program
from benchmarks.measuring import run
from benchmarks.stories import read

VIDEOS, CANDIDATES = 5_000, 200


def main() -> None:
    rng = random.Random(0)
    truths = [read("anet_val_1"), read("anet_val_2")]
    results = read("bmt_gtprop_val_1")["results"]
    sentences = sorted({each["sentence"] for story in results.values() for each in story})
    videos = sorted(truths[0])
    copies = [(video, k) for k in range(2) for video in videos][:VIDEOS]
    system, pairs = {}, 0
    copied: list[dict[str, object]] = [{}, {}]
    for video, k in copies:
        duration = truths[0][video]["duration"]
        system[f"{video}.{k}"] = [
            {
                "sentence": rng.choice(sentences),
                "timestamp": sorted(rng.uniform(0, duration) for _ in range(2)),
            }
            for _ in range(CANDIDATES)
        ]
        for truth, copy in zip(truths, copied, strict=True):
            if video in truth:
                copy[f"{video}.{k}"] = truth[video]
                pairs += CANDIDATES * len(truth[video]["sentences"])
    print(f"{VIDEOS:,} videos × {CANDIDATES} candidates × 2 annotators: {pairs / 1e6:.1f} M pairs")
    with tempfile.TemporaryDirectory() as folder:
        command = [installed_program(), "stories"]
        for name, data in (("system", {"results": system}), ("1", copied[0]), ("2", copied[1])):
            path = Path(folder, f"{name}.json")
            path.write_text(json.dumps(data))
            command += [str(path)] if name == "system" else ["--refs", str(path)]
        cost = run([*command, "--scores", "soda_c,activitynet", "--metrics", "meteor"])
    print(f"  SODA (c) and ActivityNet scorer, METEOR, file to table: {cost}")
    print(f"  pairs a CPU second: {pairs / cost.cpu:,.0f}")
