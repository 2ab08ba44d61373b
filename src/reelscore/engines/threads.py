"""The engine of one machine: threads, since the kernels run without the interpreter's lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from reelscore.engines.engine import Shared
from reelscore.text.tokens import thread_count

Batch = TypeVar("Batch")
Value = TypeVar("Value")
Result = TypeVar("Result")


class Threads:
    """Threads of this process.

    Args:
        workers: How many; ``None`` for all cores.
    """

    retries = 0

    def __init__(self, workers: int | None = None) -> None:
        self._workers = thread_count(workers)

    def broadcast(self, value: Value) -> Shared[Value]:
        """Share a value: all threads see it as it is."""
        return Shared(value)

    def check_files(self, paths: Sequence[str]) -> None:
        """Refuse nothing: all threads see what this process sees."""

    def summary(self) -> str:
        """Return nothing: all went on here."""
        return ""

    def map(
        self,
        function: Callable[[Batch, Value], Result],
        batches: Iterable[Batch],
        shared: Shared[Value],
    ) -> Iterator[Result]:
        """Apply a function to each batch, one for each thread in flight."""
        if self._workers == 1:
            for batch in batches:
                yield function(batch, shared.value)
            return
        pool = ThreadPoolExecutor(self._workers)
        flying: deque[Future[Result]] = deque()
        try:
            for batch in batches:
                if len(flying) == self._workers:
                    yield flying.popleft().result()
                flying.append(pool.submit(function, batch, shared.value))
            while flying:
                yield flying.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
