"""Scorers at work: each thread has a scoring process; only this process talks to the database."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from reelscore._version import __version__
from reelscore.challenges.challenge import Challenges
from reelscore.challenges.queue import jobs
from reelscore.challenges.queue.job_results import Claim, OtherSignature
from reelscore.challenges.queue.processes import Helper, Message, ProcessFault
from reelscore.challenges.queue.queue_state import capabilities, other_versions, seen
from reelscore.challenges.queue.scorers import unpacked
from reelscore.errors import DataError, ReelscoreError
from reelscore.store.database import Database
from reelscore.text.tokens import thread_count

logger = logging.getLogger("reelscore.challenges")
SWEEP = 10.0  # seconds
_IDLE = 0.5  # seconds between two looks at an empty queue
_LONGEST_PAUSE = 30.0  # seconds between two tries of a database that does not answer
_NICENESS = 10  # a score may wait a moment; pages and uploads, somebody waits for
_TARGET = "reelscore.challenges.queue.scorers:answer"


def default_scorers() -> int:
    """Return how many scorers there are unless somebody says so: all cores but one."""
    return max(1, thread_count(None) - 1)


@contextmanager
def alone_on(database: Database) -> Iterator[None]:
    """Hold the lock of a SQLite file: one process scores for it; PostgreSQL needs no lock.

    The system frees the lock when the process ends, however it ends.
    """
    try:
        import fcntl
    except ImportError:  # Windows: nobody checks there
        fcntl = None  # type: ignore[assignment]
    if not database.is_sqlite or fcntl is None:
        yield
        return
    path = Path(f"{database.place}.lock")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
            raise DataError(
                f"{database.place}: another process serves or scores it; a SQLite file has one. "
                "Stop that one, or move to PostgreSQL."
            ) from None
        yield
    finally:
        os.close(descriptor)


class Workers:
    """A pool of scorers.

    Use it as a context: entering starts the threads, leaving stops them; what they had begun goes
    back to the queue.
    """

    def __init__(
        self,
        challenges: Challenges,
        scorers: int | None = None,
        *,
        device: str = "cpu",
        target: str = _TARGET,
    ) -> None:
        """Prepare the scorers: all cores but one by default.

        With 0, what dead workers held is taken back, and nothing scored.
        """
        self.challenges = challenges
        self.count = default_scorers() if scorers is None else scorers
        self.name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
        self.able = capabilities(device)
        self._helpers = [
            Helper(target, niceness=_NICENESS, device=device) for _ in range(self.count)
        ]
        self._threads: list[threading.Thread] = []
        self._stop = threading.Event()
        self._wake = threading.Condition()

    def __enter__(self) -> Workers:
        """Start the scorers; leases of a SQLite file are void, since nobody else can hold one."""
        jobs.sweep(self.challenges, all_leases=self.challenges.database.is_sqlite)
        self._say_hello()
        self._threads = [
            threading.Thread(target=self._work, args=(helper,), daemon=True)
            for helper in self._helpers
        ]
        self._threads.append(threading.Thread(target=self._look_after, daemon=True))
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the scorers."""
        self._stop.set()
        self.wake()
        for thread in self._threads:
            thread.join()
        for helper in self._helpers:
            helper.close()

    def wake(self) -> None:
        """Let idle scorers look at the queue at once: something was put into it."""
        with self._wake:
            self._wake.notify_all()

    def run_until_idle(self) -> int:
        """Score everything that waits, in this thread, without starting others."""
        seen(self.challenges, self.name, self.able, self.count)
        count = 0
        try:
            while (own := jobs.claim(self.challenges, self.name, self.able)) is not None:
                self._score(self._helpers[0], own)
                count += 1
        finally:
            self._helpers[0].close()
        return count

    def _work(self, helper: Helper) -> None:
        pause = 0.0
        while not self._stop.is_set():
            try:
                own = jobs.claim(self.challenges, self.name, self.able)
                if own is None:
                    self._nap()
                else:
                    self._score(helper, own)
                pause = 0.0
            except OtherSignature:
                pause = 0.0  # the job is put aside
            except (SQLAlchemyError, ReelscoreError, OSError) as error:
                # the database does not answer; what was begun is taken back by its lease
                pause = min(_LONGEST_PAUSE, 2 * pause or 0.5)
                logger.warning("waiting for the database: %s", type(error).__name__)
                self._stop.wait(pause)

    def _nap(self) -> None:
        with self._wake:
            if not self._stop.is_set():
                self._wake.wait(_IDLE)

    def _look_after(self) -> None:
        """Take back what dead workers held, and say that this one is there."""
        told: list[str] = []
        while not self._stop.wait(SWEEP):
            with contextlib.suppress(SQLAlchemyError, ReelscoreError, OSError):
                if jobs.sweep(self.challenges):
                    self.wake()
                self._say_hello()
                waiting = self.left_to_others()
                for message in [each for each in waiting if each not in told]:
                    logger.warning("%s", message)
                told = waiting

    def left_to_others(self) -> list[str]:
        """Return what waits that this version must not score, in a sentence each."""
        return [
            f"Submissions wait for version {version}, which scored the others; this is "
            f"{__version__}. Run that one, or score all again: reelscore challenge rescore."
            for version in other_versions(self.challenges)
        ]

    def _say_hello(self) -> None:
        """Note that this one is there, unless it only looks after others."""
        if self.count:
            seen(self.challenges, self.name, self.able, self.count)

    def _score(self, helper: Helper, own: Claim) -> None:
        """Score one job, and keep its result or what went wrong."""
        try:
            answered = self._ask(helper, own)
        except ProcessFault as fault:
            if fault.kind == "abandoned":
                if self._stop.is_set():
                    jobs.give_back(self.challenges, own, "its worker stopped")
                return
            logger.warning("scoring failed: %s", fault)
            jobs.fault(self.challenges, own, f"its scorer failed: {fault}")
            return
        if "defect" in answered:
            number = secrets.token_hex(4)
            logger.error("defect %s in a scorer: %s", number, answered["defect"])
            jobs.defect(self.challenges, own, number)
            return
        try:
            jobs.finish(self.challenges, own, unpacked(answered))
        except OtherSignature as error:
            logger.error("a result was not kept: %s", error)
            jobs.put_aside(self.challenges, own, str(error))
            raise

    def _ask(self, helper: Helper, own: Claim) -> Message:
        limits = own.settings["limits"]
        memory = int(limits["memory_gb"] * 1e9)
        request: Message = {
            "settings": dict(own.settings),
            "captions": own.captions,
            "digests": {id: digest for _, id, digest in own.splits},
            "threads": max(1, thread_count(None) // self.count),
            "content": {},
        }
        meanwhile = self._renewal(own)
        answered = helper.ask(request, limits["seconds"], memory, meanwhile)
        if "missing" in answered:
            keys = {digest: key for key, _, digest in own.splits}
            try:
                for digest in answered["missing"]:
                    request["content"][digest] = jobs.references_of(self.challenges, keys[digest])
            except DataError as error:  # an import without references, or a damaged file
                return {"defect": f"references: {error}"}
            answered = helper.ask(request, limits["seconds"], memory, meanwhile)
        return answered

    def _renewal(self, own: Claim) -> Callable[[], bool]:
        last = time.monotonic()

        def renewed() -> bool:
            nonlocal last
            if self._stop.is_set():
                return False
            if time.monotonic() - last < jobs.RENEWAL:
                return True
            last = time.monotonic()
            with contextlib.suppress(SQLAlchemyError, ReelscoreError, OSError):
                return jobs.renew(self.challenges, own)  # else tried again before the lease is over
            return True

        return renewed
