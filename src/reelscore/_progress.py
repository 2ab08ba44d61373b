"""How long work says how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called now and then with how much is done, of how much.

With 0 where what is counted begins after other work: the rate is that from then on.
"""


class Steps:
    """Counts equal steps of work for a progress bar."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._done, self._total = progress, 0, total

    def __call__(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)


class ProgressLines:
    """Says every ten seconds, in a line, how far work is: where nobody sees a bar, as in a log."""

    def __init__(
        self,
        what: str,
        write: Callable[[str], object],
        *,
        every: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
        more: Callable[[], str] = str,
    ) -> None:
        self._what, self._write, self._every, self._clock = what, write, every, clock
        self._more = more
        self._start = self._last = self._begun = clock()

    def __call__(self, done: int, total: int) -> None:
        """Print how far the work is, if it is time to."""
        now = self._clock()
        if not done:
            self._begun = now
        if now - self._last < self._every:
            return
        self._last = now
        share = f" of {total:,} ({done / total:.0%})" if total else ""
        seconds = now - self._begun
        facts = [f"after {_duration(now - self._start)}"]
        facts += [_rate(done, seconds), _left(done, total, seconds)]
        self._write(f"{self._what}: {done:,}{share} {_listed(*facts, self._more())}")


class ProgressBar:
    r"""Draws a bar into one line of a terminal, at most ten times a second."""

    _WIDTH = 30

    def __init__(
        self,
        what: str,
        write: Callable[[str], object],
        *,
        clock: Callable[[], float] = time.monotonic,
        more: Callable[[], str] = str,
    ) -> None:
        self._what, self._write, self._clock, self._more = what, write, clock, more
        self._begun, self._last = clock(), -1.0

    def __call__(self, done: int, total: int) -> None:
        """Draw how far the work is, if it is time to."""
        now = self._clock()
        if not done:
            self._begun = now
        if now - self._last < 0.1:
            return
        self._last = now
        line = f"{self._what} {done:,}"
        if total:
            share = min(1.0, done / total)
            seconds = now - self._begun
            facts = [f"{'━' * round(share * self._WIDTH):{self._WIDTH}} {share:4.0%}"]
            facts += [_rate(done, seconds), _left(done, total, seconds)]
            line = f"{self._what} {_listed(*facts, self._more())}"
        self._write(f"\r\x1b[K{line}")

    def clear(self) -> None:
        """Leave the line empty."""
        self._write("\r\x1b[K")


def _listed(*facts: str) -> str:
    """Put what there is to say into one text."""
    return ", ".join(filter(None, facts))


def _rate(done: int, seconds: float) -> str:
    """Spell how much is done in a second, or a minute; empty before anything is.

    >>> _rate(1_000_000, 60), _rate(15, 10), _rate(5, 10), _rate(0, 3)
    ('16,667/s', '1.5/s', '30/min', '')
    """
    if not done or seconds <= 0:
        return ""
    rate, unit = (done / seconds, "s") if done >= seconds else (60 * done / seconds, "min")
    return f"{rate:,.0f}/{unit}" if rate >= 10 else f"{rate:.1f}/{unit}"


def _left(done: int, total: int, seconds: float) -> str:
    """Spell how long the rest takes at this rate; empty where that is unknown.

    >>> _left(400, 1000, 12), _left(0, 1000, 12), _left(400, 0, 12)
    ('18 s left', '', '')
    """
    return f"{_duration(seconds * max(0, total - done) / done)} left" if done and total else ""


def _duration(seconds: float) -> str:
    """Spell a time: seconds, then minutes, then hours.

    >>> _duration(12), _duration(75), _duration(7265)
    ('12 s', '1 min 15 s', '2 h 1 min')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
