"""Threads that share work, and stop together: one for each request in flight."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class TaskThreads:
    """Threads that take tasks from a queue; they die with the process.

    When one fails, or the user interrupts, no task is begun, and tasks in flight get some seconds
    to come to their end.

    >>> sorted(TaskThreads(parallel=2).results(lambda task: [task, -task], [1, 2]))
    [-2, -1, 1, 2]
    """

    def __init__(
        self,
        parallel: int = 8,
        grace: float = 10.0,
        on_interrupt: Callable[[], object] | None = None,
    ) -> None:
        self.parallel, self.grace, self.on_interrupt = parallel, grace, on_interrupt
        self.stopped = threading.Event()

    def results(
        self, work: Callable[[Task], Iterable[Result]], tasks: Iterable[Task]
    ) -> Generator[Result, None, None]:
        """Yield results as they come; close it to wait for what is in flight."""
        waiting: queue.SimpleQueue[Task] = queue.SimpleQueue()
        for task in tasks:
            waiting.put(task)
        # a result; what went wrong; or nothing, when a thread comes to its end
        results: queue.SimpleQueue[tuple[Result] | BaseException | None] = queue.SimpleQueue()

        def take() -> None:
            try:
                while not self.stopped.is_set():
                    for result in work(waiting.get_nowait()):
                        results.put((result,))
                        if self.stopped.is_set():
                            break
            except queue.Empty:
                pass
            except BaseException as error:  # the main thread raises it
                self.stopped.set()
                results.put(error)
            results.put(None)

        threads = [
            threading.Thread(target=take, daemon=True)
            for _ in range(min(self.parallel, waiting.qsize()))
        ]
        for thread in threads:
            thread.start()
        try:
            working = len(threads)
            while working:
                result = results.get()
                if isinstance(result, BaseException):
                    raise result
                if result is None:
                    working -= 1
                else:
                    yield result[0]
        except KeyboardInterrupt:
            self.stopped.set()
            if self.on_interrupt is not None:
                self.on_interrupt()
            raise
        finally:
            self.stopped.set()
            deadline = time.monotonic() + self.grace
            for thread in threads:
                thread.join(max(0.0, deadline - time.monotonic()))
