"""Score shards again and again, killed with -9 while a file is put in place, then to the end.

    python killed_scoring.py '["score", "captions", "--refs", "references", "--parts", "out"]' 3 4 9

Each number says how many files of a run come into place before it is killed. Prints a line for
each kill: what the folder shows, and which parts the manifest has, with their inodes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow.parquet  # noqa: F401 (loaded once for all forks)

from reelscore.scoring.shards import partitions


def shown(folder: Path) -> dict[str, int]:
    """The files that somebody sees, with their inodes: a file written again has another."""
    return {
        str(path.relative_to(folder)): path.stat().st_ino
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }


if __name__ == "__main__":
    from killed_runs import run  # which lies in this folder

    partitions._ROWS = 300
    words = json.loads(sys.argv[1])
    out = Path(words[words.index("--parts") + 1])
    for number in map(int, sys.argv[2:]):
        ended = run(words, number)
        manifest = json.loads((out / "manifest.json").read_text())
        parts = [entry["name"] for entry in manifest["parts"]]
        print(json.dumps({"ended": ended, "shown": shown(out), "parts": parts}), flush=True)
    print(json.dumps({"ended": run(words, None), "shown": shown(out)}), flush=True)
