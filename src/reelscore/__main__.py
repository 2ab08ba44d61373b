"""The program ``reelscore``, also as ``python -m reelscore``: one process for one command."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from contextlib import suppress

_HEAP = 32 << 20  # bytes; as much as a table of a few thousand captions takes
_OBJECTS = 16 << 20  # likewise, of Python's objects


def run() -> None:
    """Run the command line in a process that is prepared for it, and end the process."""
    # Idle threads of numpy's linear algebra spin; the work here has threads of its own.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Captions make no reference cycles: looking for some after every 700 objects finds nothing.
    gc.set_threshold(100_000, 20, 20)
    from reelscore import _native

    _native.begin_heap_with_large_pages(_HEAP)
    _native.begin_objects_with_large_pages(_OBJECTS)
    status: list[int] = []
    atexit.register(_leave, status)  # the first to be registered is the last to be called

    from reelscore.cli.main import main

    try:
        main()
        status.append(0)
    except SystemExit as end:
        if isinstance(end.code, int):
            status.append(end.code)
        raise


def _leave(status: list[int]) -> None:
    """End the process; to take it apart object by object would take longer than many a command.

    Where a command did not end as it should, or its output cannot be written, Python says so.
    """
    with suppress(OSError, ValueError, AttributeError):
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        if status:
            os._exit(status[0])


if __name__ == "__main__":
    run()
