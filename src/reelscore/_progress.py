"""How long work says how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called now and then with how much is done, of how much."""


class Steps:
    """Counts equal steps of work for a progress bar.

    >>> steps = Steps(lambda done, total: print(done, "of", total), 2)
    >>> steps()
    1 of 2
    """

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._done, self._total = progress, 0, total

    def __call__(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)
