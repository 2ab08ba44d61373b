"""Collects captions without trees, for `label.py`: tokenized, each once.

    python models/parser/captions.py OUT CAPTIONS... [--without GOLDEN...]

CAPTIONS are files with a caption a line. GOLDEN are files of the official tool's scores: what they
hold is left out, so that agreement with them is measured on captions that no training saw.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

from reelscore.text import tokenize


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("captions", type=Path, nargs="+")
    parser.add_argument("--without", type=Path, nargs="*", default=[])
    arguments = parser.parse_args()
    lines: dict[str, None] = {}
    for path in arguments.captions:
        lines.update(dict.fromkeys(path.read_text("utf-8", errors="replace").splitlines()))
    golden = set()
    for path in arguments.without:
        with gzip.open(path, "rt", encoding="utf-8") as records:
            for record in map(json.loads, records):
                golden.update([record["test"], *record["refs"]])
    left_out = set(tokenize(sorted(golden)))
    captions = dict.fromkeys(tokenize(list(lines)))
    kept = [text for text in captions if text and text not in left_out]
    arguments.out.write_text("".join(f"{text}\n" for text in kept), encoding="utf-8")
    print(f"{len(kept):,} captions, {len(captions) - len(kept):,} left out")


if __name__ == "__main__":
    main()
