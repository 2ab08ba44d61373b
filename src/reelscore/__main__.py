"""The program ``reelscore``, also as ``python -m reelscore``: one process for one command."""

from __future__ import annotations

import gc
import os


def run() -> None:
    """Run the command line in a process that is prepared for it."""
    # Idle threads of numpy's linear algebra spin; the work here has threads of its own.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Captions make no reference cycles: looking for some after every 700 objects finds nothing.
    gc.set_threshold(100_000, 20, 20)
    from reelscore.cli.main import main

    main()


if __name__ == "__main__":
    run()
