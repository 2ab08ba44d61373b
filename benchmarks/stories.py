"""SODA (c) and the ActivityNet scorer with METEOR, beside the same job through the Java METEOR."""

from __future__ import annotations

import gzip
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.data import ROOT
from benchmarks.measuring import best, run

DENSE = ROOT.parent / "shared" / "data" / "dense"
SAMPLE = 500  # videos of the Java side, whose time grows with their number


def main() -> None:
    candidates = read("bmt_gtprop_val_1")
    truths = [read("anet_val_1"), read("anet_val_2")]
    run(_ours(*_sources()))  # builds the language index where there is none
    print("SODA (c) and ActivityNet scorer, METEOR, two annotators, file to table: BMT val_1")
    whole = best(_ours(*_sources()), 3)
    print(f"  reelscore, all {len(truths[0]):,} videos   {whole}")
    videos = sorted(random.Random(0).sample(sorted(truths[0]), SAMPLE))
    with tempfile.TemporaryDirectory() as folder:
        part = {"results": {v: candidates["results"].get(v, []) for v in videos}}
        paths = [Path(folder, "candidates.json")]
        paths[0].write_text(json.dumps(part))
        for k, truth in enumerate(truths):
            paths.append(Path(folder, f"truth_{k}.json"))
            paths[-1].write_text(json.dumps({v: truth[v] for v in videos if v in truth}))
        ours = best(_ours(*map(str, paths)), 3)
        theirs = run([sys.executable, "-m", "benchmarks.stories_peer", *map(str, paths)])
    print(f"  reelscore, {SAMPLE} of them      {ours}")
    print(f"  Java METEOR, the same {SAMPLE}   {theirs}")
    print(f"  ratio of CPU               {theirs.cpu / ours.cpu:8.1f}")
    rates = SAMPLE / theirs.cpu, len(truths[0]) / whole.cpu
    print(
        f"  videos a CPU second        {rates[0]:8.1f} Java {rates[1]:8.0f} reelscore, all videos"
    )


def read(name: str) -> dict[str, Any]:
    """One of the files of real dense captions."""
    path = DENSE / f"{name}.json.gz"
    if not path.exists():
        sys.exit(f"The benchmark needs dense captions; they are not at {DENSE}.")
    document: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return document


def _sources() -> list[str]:
    return [
        str(DENSE / f"{name}.json.gz") for name in ("bmt_gtprop_val_1", "anet_val_1", "anet_val_2")
    ]


def _ours(candidates: str, *truths: str) -> list[str]:
    refs = [argument for path in truths for argument in ("--refs", path)]
    scores = ["--scores", "soda_c,activitynet", "--metrics", "meteor"]
    return [f"{sys.prefix}/bin/reelscore", "stories", candidates, *refs, *scores]
