"""SODA (c) and the ActivityNet scorer with METEOR, beside the same job through the Java METEOR.

And the ActivityNet scorer with all its metrics, beside the same with the COCO tools.
``python -m benchmarks.stories --whole`` runs the Java side on all videos of BMT too, once.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.data import ROOT
from benchmarks.installed import installed_program
from benchmarks.measuring import best, run, side_by_side

DENSE = ROOT.parent / "shared" / "data" / "dense"
SAMPLE = 500  # videos of BMT for the Java side, whose time grows with their number
TIMES = 3


def main() -> None:
    bmt = "bmt_gtprop_val_1", "anet_val_1", "anet_val_2"
    run(_ours(*map(str, map(_path, bmt))))  # builds the METEOR index where there is none
    print("SODA (c) and ActivityNet scorer, METEOR, file to table; the best of several runs each")
    videos = sorted(read(bmt[1]))
    part = sorted(random.Random(0).sample(videos, SAMPLE))
    _beside_java(f"BMT, two annotators, {SAMPLE} videos", bmt, part)
    _beside_java("The same videos, ActivityNet scorer with all metrics", bmt, part, with_all=True)
    title = f"BMT, all {len(videos):,} videos"
    if "--whole" in sys.argv:
        _beside_java(title, bmt, videos, times=1)
        title = "The same videos, ActivityNet scorer with all metrics"
        _beside_java(title, bmt, videos, with_all=True, times=1)
    else:
        print(f"{title}\n  reelscore      {best(_ours(*map(str, map(_path, bmt))), TIMES)}")
    timechat = "timechat_yc2_pred_anet_format", "yc2_val"
    _beside_java("TimeChat on YouCook2, all videos", timechat, sorted(read(timechat[1])))


def _beside_java(
    title: str,
    names: tuple[str, ...],
    videos: list[str],
    *,
    with_all: bool = False,
    times: int = TIMES,
) -> None:
    """Measure both on some videos: the Java side ``times`` times, and the best run of each."""
    print(title)
    candidates, *truths = map(read, names)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{name}.json") for name in names]
        part = {"results": {v: candidates["results"].get(v, []) for v in videos}}
        paths[0].write_text(json.dumps(part))
        for path, truth in zip(paths[1:], truths, strict=True):
            path.write_text(json.dumps({v: truth[v] for v in videos if v in truth}))
        peer = [sys.executable, "-m", "benchmarks.stories_peer", *(["--all"] if with_all else [])]
        ours, theirs = side_by_side(
            _ours(*map(str, paths), with_all=with_all), [*peer, *map(str, paths)], times
        )
    print(f"  reelscore      {ours}")
    print(f"  {'COCO tools ' if with_all else 'Java METEOR'}    {theirs}")
    print(f"  ratio of CPU   {theirs.cpu / ours.cpu:8.1f}")


def read(name: str) -> dict[str, Any]:
    """One of the files of real dense captions."""
    path = _path(name)
    if not path.exists():
        sys.exit(f"The benchmark needs dense captions; they are not at {DENSE}.")
    document: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return document


def _path(name: str) -> Path:
    return DENSE / f"{name}.json.gz"


def _ours(candidates: str, *truths: str, with_all: bool = False) -> list[str]:
    refs = [argument for path in truths for argument in ("--refs", path)]
    # TimeChat has segments that end before they start; they overlap nothing
    scores, protocol = "soda_c,activitynet", "metrics:meteor|reversed_segments:zero"
    if with_all:
        scores, protocol = "activitynet", "reversed_segments:zero"
    choices = ["--scores", scores, "--protocol", protocol]
    return [installed_program(), "stories", candidates, *refs, *choices]


if __name__ == "__main__":
    main()
