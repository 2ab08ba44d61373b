"""Processes that work side by side, and end with the work of the one that started them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import Any

from reelscore.errors import DataError


@contextmanager
def process_pool(jobs: int) -> Iterator[Callable[..., Iterable[Any]]]:
    """Yield what maps a function to tasks, results in their order: here, or in processes."""
    if jobs == 1:
        yield map
        return
    context, others = get_context("spawn"), set(active_children())
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_end_with_parent) as pool:
        try:
            yield pool.map
        except BrokenProcessPool:
            raise DataError(
                "A process was killed, perhaps since memory ran out. Give the command again to go "
                "on, with fewer --jobs."
            ) from None
        except BaseException:
            # Else the pool would finish all tasks first, those that wait too.
            for process in set(active_children()) - others:
                process.terminate()
            raise


def _end_with_parent() -> None:
    """End this process when the one that started it is gone: nobody waits for its work then."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    Thread(target=watch, daemon=True).start()
