"""Run the benchmarks named on the command line, or all."""

from __future__ import annotations

import importlib
import sys

PARTS = (
    *("sentences", "scale", "meta", "stories", "stories-scale", "learned", "stress"),
    *("scale-ray", "gpu", "long-captions"),
    *("reports", "rewards", "bertscore", "overfitting", "battles"),
    *("trecvid-challenge", "stories-challenge", "board", "challenge", "challenge-load"),
    *("set-up", "captioners"),
)


def main() -> None:
    for part in sys.argv[1:] or PARTS:
        if part not in PARTS:
            sys.exit(f"Unknown part {part!r}; known: {', '.join(PARTS)}.")
        importlib.import_module(f"benchmarks.{part.replace('-', '_')}").main()
        print()


if __name__ == "__main__":
    main()
