"""The engine of many machines: Ray places the work, notices losses and tells of them.

Native metrics are tasks: Ray runs one on each processor and keeps the processes, so that what is
shared is unpacked once in each, and the METEOR index is mapped once by each machine. With a
number of workers, or with GPUs, they are actors, which keep their weights and their device.

A batch whose worker or machine was lost is given out again. What this module adds to Ray is the
order of the results, a bounded number in flight, and the count of losses.
"""

from __future__ import annotations

import copy
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from reelscore.engines.engine import Engine, Shared
from reelscore.engines.ray_cluster import check_files, check_nodes, connect, first_line
from reelscore.errors import ClusterError, DataError, ReelscoreError

Batch = TypeVar("Batch")
Value = TypeVar("Value")
Result = TypeVar("Result")

_IN_FLIGHT = 3  # batches given out for each processor: one at work, the others on their way
_LOOK_EVERY = 5.0  # seconds between two looks at how many processors there are
_LOSSES = 8  # a batch that loses its worker so often is itself the cause


class Peak(NamedTuple):
    """The most memory that one process of a machine has used, in bytes."""

    node: str
    process: int
    memory: int


class Ray(Engine):
    """Workers on a Ray cluster.

    Attributes:
        workers: How many actors there are; ``None`` for tasks.
    """

    name = "ray"

    def __init__(
        self,
        name: str = name,
        address: str | None = None,
        workers: int | None = None,
        gpus_per_worker: float = 0.0,
        memory: float = 0.6,
    ) -> None:
        _check_numbers(workers, gpus_per_worker, memory)
        self._ray = connect(address)
        self.nodes = check_nodes(self._ray)
        self._peaks: dict[tuple[str, int], int] = {}  # of each process
        self._used: dict[str, int] = {}  # by the processes of each machine together
        self._largest = 0
        self._looked, self._limit = -math.inf, 0.0
        self._memory = memory
        self._gpus = gpus_per_worker
        if gpus_per_worker and workers is None:
            workers = int(sum(node.gpus for node in self.nodes) / gpus_per_worker)
        self.workers = workers
        self._check_room()

    def _check_room(self) -> None:
        """Refuse more than the cluster has: Ray would wait for ever."""
        gpus = sum(node.gpus for node in self.nodes)
        if self._gpus and not gpus:
            raise ClusterError("The Ray cluster has no GPU; give workers none.")
        if self._gpus and (not self.workers or self.workers * self._gpus > gpus):
            raise ClusterError(
                f"{self.workers or 1} workers with {self._gpus:g} GPUs each do not fit: the "
                f"cluster has {gpus:g} GPUs. Choose fewer workers, or fewer GPUs per worker."
            )
        processors = sum(node.processors for node in self.nodes)
        if (self.workers or 1) > processors:
            raise ClusterError(
                f"{self.workers or 1} workers do not fit: the cluster has {processors:g} "
                "processors. Choose fewer workers, or add machines."
            )

    def check_files(self, paths: Sequence[str]) -> None:
        """Refuse files that some machine does not see as they are here."""
        check_files(self._ray, paths)

    def broadcast(self, value: Value) -> Shared[Value]:
        """Store a value in the cluster; a worker fetches it when it first needs it."""
        return Shared(self._ray.put(value))

    def map(
        self,
        function: Callable[[Batch, Value], Result],
        batches: Iterable[Batch],
        shared: Shared[Value],
    ) -> Iterator[Result]:
        """Apply a function to each batch; a batch that is lost is given out again."""
        pool = self._pool()
        queue = _Queue(batches)
        directory = Path.cwd()
        flying: dict[Any, _Work] = {}
        results: dict[int, Result] = {}
        wanted = 0
        try:
            while True:
                while pool.is_free():
                    work = queue.take(more=len(flying) + len(results) < pool.limit())
                    if work is None:
                        break
                    call = pool.submit(function, [shared.value], work.batch, directory)
                    flying[call] = work
                if wanted in results:
                    yield results.pop(wanted)
                    wanted += 1
                elif flying or not queue.is_empty:
                    for call in pool.wait(list(flying)):
                        work = flying.pop(call)
                        try:
                            results[work.number] = self._result(call)
                            pool.free(call, alive=True)
                        except self._losses() as error:
                            pool.free(call, alive=False)
                            self._count_loss(work, error)
                            queue.lost.append(work._replace(losses=work.losses + 1))
                else:
                    return
        finally:
            pool.close(list(flying))
            self._add_up()

    def _pool(self) -> _Tasks | _Actors:
        if self.workers is None:
            return _Tasks(self)
        return _Actors(self._ray, self.workers, self._gpus, self.request())

    def _add_up(self) -> None:
        """Note what the processes of each machine have used together."""
        totals: Counter[str] = Counter()
        for (node, _), memory in self._peaks.items():
            totals[node] += memory
        self._used |= {node: max(used, self._used.get(node, 0)) for node, used in totals.items()}
        if self.workers is not None:
            self._peaks.clear()  # actors end with their work; processes of tasks stay

    def _result(self, call: Any) -> Any:
        """Fetch a result; an error of the work itself is raised as the worker raised it.

        It is copied: arrays as Ray gives them lie in its store, which has no room for the results
        of a large set; Ray would then wait for ever.
        """
        try:
            result, peak = self._ray.get(call)
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, ReelscoreError):
                raise error.cause from None
            raise
        self._peaks[peak[:2]] = max(peak.memory, self._peaks.get(peak[:2], 0))
        self._largest = max(self._largest, peak.memory)
        return copy.deepcopy(result)

    def _losses(self) -> tuple[type[Exception], ...]:
        """What Ray raises where a worker, its machine or its result is no more."""
        errors = self._ray.exceptions
        return (
            errors.WorkerCrashedError,
            errors.NodeDiedError,
            errors.RayActorError,
            errors.ObjectLostError,
            errors.OutOfMemoryError,
            errors.LocalRayletDiedError,
        )

    def _count_loss(self, work: _Work, error: Exception) -> None:
        self.retries += 1
        if work.losses + 1 == _LOSSES:
            raise ClusterError(
                f"A batch lost its worker {_LOSSES} times ({first_line(error)}). Perhaps the "
                "machines have too little memory: give fewer workers, or larger machines."
            ) from error

    def request(self) -> int:
        """Memory that Ray is to keep free for a worker: what the largest has used so far.

        Ray counts in its own units, a part of each machine; ours is another part.
        """
        parts = [node.ray_memory / (self._memory * node.memory) for node in self.nodes]
        limit = min(node.ray_memory for node in self.nodes)
        return int(min(self._largest * max(parts), limit))

    def limit(self) -> float:
        """How many batches may be under way; machines come and go."""
        now = time.monotonic()
        if now > self._looked + _LOOK_EVERY:
            self._looked = now
            processors = self._ray.cluster_resources().get("CPU", 0)
            self._limit = _IN_FLIGHT * max(1.0, processors)
        return self._limit

    def summary(self) -> str:
        """Return what the work took: machines, retries, and the memory of the fullest machine."""
        nodes = f"{len(self._used)} machine{'s' if len(self._used) != 1 else ''}"
        largest = max(self._used.values(), default=0) / 2**20
        limit = min(node.memory for node in self.nodes) * self._memory / 2**20
        return (
            f"Ray: {nodes}, {self.retries} retries; workers used up to {largest:,.0f} MB of a "
            f"machine, of {limit:,.0f} MB."
        )


def _check_numbers(workers: int | None, gpus: float, memory: float) -> None:
    """Refuse what Ray would wait for ever for, or fail on later."""
    if workers is not None and workers < 1:
        raise DataError(f"workers={workers}: at least one is needed.")
    if not 0 <= gpus < math.inf:
        raise DataError(f"gpus_per_worker={gpus}: expected a number from 0 on, such as 0.5.")
    if not 0 < memory <= 1:
        raise DataError(f"memory={memory}: expected a part of a machine's memory, such as 0.6.")


class _Work(NamedTuple):
    """A batch, its number, and how often its worker was lost."""

    number: int
    batch: Any
    losses: int = 0


class _Queue:
    """What is to be done: batches as they come, and those that were lost, which go first."""

    def __init__(self, batches: Iterable[Any]) -> None:
        self.lost: list[_Work] = []
        self._coming = enumerate(batches)
        self._ended = False

    @property
    def is_empty(self) -> bool:
        return self._ended and not self.lost

    def take(self, *, more: bool) -> _Work | None:
        """Return a batch that was lost, or a new one if there may be more under way."""
        if self.lost:
            return self.lost.pop()
        if not more:
            return None
        for number, batch in self._coming:
            return _Work(number, batch)
        self._ended = True
        return None


class _Tasks:
    """Tasks, as many as Ray finds processors for."""

    def __init__(self, engine: Ray) -> None:
        self._engine = engine
        self._ray = engine._ray
        self._task = self._ray.remote(_apply)

    def is_free(self) -> bool:
        return True

    def limit(self) -> float:
        return self._engine.limit()

    def submit(self, *arguments: Any) -> Any:
        # Our own count of losses is shown, so Ray does not retry by itself.
        options = {"max_retries": 0, "num_cpus": 1, "memory": self._engine.request() or None}
        return self._task.options(**options).remote(*arguments)

    def wait(self, flying: list[Any]) -> list[Any]:
        return list(self._ray.wait(flying, num_returns=1)[0])

    def free(self, call: Any, *, alive: bool) -> None:
        pass

    def close(self, flying: list[Any]) -> None:
        for call in flying:
            self._ray.cancel(call, force=True)


class _Actors:
    """A number of actors that keep what they have loaded; one that dies is replaced."""

    def __init__(self, ray: Any, count: int, gpus: float, memory: int) -> None:
        self._ray = ray
        self._count = count
        needs = {"num_cpus": 1, "num_gpus": gpus, "memory": memory or None}
        self._kind = ray.remote(_Actor).options(**needs)
        self._starting: dict[Any, Any] = {}
        self._idle: list[Any] = []
        self._busy: dict[Any, Any] = {}
        for _ in range(count):
            self._start()

    def _start(self) -> None:
        actor = self._kind.remote()
        self._starting[actor.is_ready.remote()] = actor

    def is_free(self) -> bool:
        return bool(self._idle)

    def limit(self) -> float:
        return _IN_FLIGHT * self._count

    def submit(self, *arguments: Any) -> Any:
        actor = self._idle.pop()
        call = actor.apply.remote(*arguments)
        self._busy[call] = actor
        return call

    def wait(self, flying: list[Any]) -> list[Any]:
        """Wait for a result, or for an actor to be ready: only such get work."""
        done = self._ray.wait([*flying, *self._starting], num_returns=1)[0]
        for call in done:
            if call in self._starting:
                actor = self._starting.pop(call)
                try:
                    self._ray.get(call)
                except self._ray.exceptions.RayActorError:
                    self._start()
                else:
                    self._idle.append(actor)
        return [call for call in done if call in self._busy]

    def free(self, call: Any, *, alive: bool) -> None:
        actor = self._busy.pop(call)
        if alive:
            self._idle.append(actor)
        else:
            self._ray.kill(actor)
            self._start()

    def close(self, flying: list[Any]) -> None:
        for actor in [*self._starting.values(), *self._idle, *self._busy.values()]:
            self._ray.kill(actor)


class _Actor:
    """A worker that stays."""

    def is_ready(self) -> bool:
        return True

    def apply(self, *arguments: Any) -> Any:
        return _apply(*arguments)


_unpacked: dict[Any, Any] = {}  # of this worker: the value that was shared last


def unpacked(shared: list[Any]) -> Any:
    """Return a shared value on a worker; it is unpacked once for all batches."""
    import ray

    [reference] = shared
    if reference not in _unpacked:
        _unpacked.clear()
        _unpacked[reference] = ray.get(reference)
    return _unpacked[reference]


def _apply(function: Callable[..., Any], shared: list[Any], batch: Any, directory: Path) -> Any:
    """Run on a worker: apply a function, and say how much memory the process has used."""
    import resource

    import ray

    with suppress(OSError):  # names of files mean the same as on the driver, if it has any
        os.chdir(directory)
    result = function(batch, unpacked(shared))
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return result, Peak(ray.get_runtime_context().get_node_id(), os.getpid(), used)
