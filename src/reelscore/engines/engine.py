"""The one interface of all engines, and the choice among them by name."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from typing import Any, ClassVar, Generic, TypeVar

from reelscore.errors import check_choice
from reelscore.text.tokens import thread_count

Batch = TypeVar("Batch")
Value = TypeVar("Value")
Result = TypeVar("Result")

# The class of each engine, in a module that is imported when it is chosen.
ENGINES = {
    "threads": "reelscore.engines.engine:Threads",
    "ray": "reelscore.engines.ray:Ray",
}


class Shared(Generic[Value]):
    """A value that every worker can use, as `Engine.broadcast` gave it."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Engine:
    """Where work is done, chosen by name; the results are the same to the last bit.

    Args:
        name: ``threads``, for threads of this process, or ``ray``, for a Ray cluster.
        options: Of ``threads``: ``workers``, how many; all cores by default. Of ``ray``:
            ``address``, ``workers``, ``gpus_per_worker`` and ``memory``, as of
            `reelscore.engines.ray.Ray`.

    Attributes:
        name: Its name.
        retries: How many batches were given out again, since their worker was lost.

    Raises:
        UnknownNameError: If there is no such engine.
        MissingExtraError: If Ray is asked for and not installed.
        ClusterError: If a cluster cannot be reached, or a machine of it lacks something.

    >>> engine = Engine("threads", workers=2)
    >>> ten = engine.broadcast(10)
    >>> list(engine.map(lambda batch, factor: factor * sum(batch), [[1, 2], [3]], ten))
    [30, 30]
    """

    name: ClassVar[str]
    retries: int = 0

    def __new__(cls, name: str = "threads", **options: Any) -> Engine:
        """Make the engine of a name, which takes the options."""
        check_choice("engine", name, ENGINES)
        module, _, kind = ENGINES[name].partition(":")
        own: type[Engine] = getattr(import_module(module), kind) if cls is Engine else cls
        return super().__new__(own)

    def __repr__(self) -> str:
        return f"<Engine {self.name}>"

    @property
    def is_local(self) -> bool:
        """Whether all work is done in this process, whose kernels use all threads themselves."""
        return self.name == "threads"

    def check_files(self, paths: Sequence[str]) -> None:
        """Refuse files that some worker does not see as they are here.

        Raises:
            ClusterError: With the machine and the file.
        """

    def summary(self) -> str:
        """Return what the work took, in a sentence; empty for work in this process."""
        return ""

    def broadcast(self, value: Value) -> Shared[Value]:
        """Bring a value to all workers, once for all calls of `map`; nobody changes it."""
        return Shared(value)

    def map(
        self,
        function: Callable[[Batch, Value], Result],
        batches: Iterable[Batch],
        shared: Shared[Value],
    ) -> Iterator[Result]:
        """Apply a function to each batch; results come in the order of the batches.

        Batches are taken as workers become free, so that only a few are in memory. A function
        may be applied to a batch more than once, where a worker was lost: what it writes is
        written aside and renamed. It also takes the value that `broadcast` shared.
        """
        raise NotImplementedError


class Threads(Engine):
    """Threads of this process, which see what it sees."""

    name = "threads"

    def __init__(self, name: str = name, workers: int | None = None) -> None:
        self._workers = thread_count(workers)

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
