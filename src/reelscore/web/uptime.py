"""How long the server has run without a gap, whatever becomes of the machine's clock.

A laptop sleeps, a clock is set by hours, a server is down for a night: raters could not answer
meanwhile, and must not lose their HITs for it. A second clock that nobody can set tells such gaps
from hours in which the server was there.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from reelscore.web.logs import logger

GAP = 300.0  # seconds that the two clocks may differ; less is not worth a word
GRACE = 3600.0  # seconds after a start in which raters at work show that they are there


class Uptime:
    """Compares the clock with one that only goes forward, each time it is asked.

    Args:
        clock: The time in seconds since 1970; it may jump.
        steady: Seconds since whenever; they stop while the machine sleeps.

    >>> now, ticks = [1000.0], [0.0]
    >>> uptime = Uptime(lambda: now[0], lambda: ticks[0])
    >>> now[0] += 5 * 3600  # the clock is set
    >>> uptime.lasts(3600), uptime.time()
    (False, 1000.0)
    >>> now[0] += 3600
    >>> ticks[0] += 3600
    >>> uptime.lasts(3600), uptime.time()
    (True, 4600.0)
    """

    def __init__(self, clock: Callable[[], float], steady: Callable[[], float]) -> None:
        self._clock, self._steady = clock, steady
        self._begin, self._begin_ticks = clock(), steady()
        self._offset = self._begin - self._begin_ticks
        self._gap_ticks: float | None = None
        self._lock = Lock()

    def time(self) -> float:
        """Give the time as it was at the start, and what has passed since; it never jumps."""
        return self._begin + self._steady() - self._begin_ticks

    def lasts(self, hold: float) -> bool:
        """Tell whether raters who were not seen for the hold time had the chance to be seen.

        Args:
            hold: In seconds.

        Returns:
            Whether the server has run that long since the last gap, and some time since its start.
        """
        with self._lock:
            ticks = self._steady()
            jumped = self._clock() - ticks - self._offset
            self._offset += jumped  # small differences do not add up
            if abs(jumped) > GAP:
                logger.warning("clock jumped", extra={"details": {"seconds": round(jumped)}})
                self._gap_ticks = ticks
            is_past_gap = self._gap_ticks is None or ticks - self._gap_ticks >= hold
            return is_past_gap and ticks - self._begin_ticks >= min(hold, GRACE)
