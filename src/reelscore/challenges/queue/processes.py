"""Work in a process of its own, with limits of time and memory, replaced when it breaks one.

Requests and answers are MessagePack, never pickles: a process that reads what strangers sent must
not be able to run anything in the one that asked it.
"""

from __future__ import annotations

import importlib
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import msgspec

Message = dict[str, Any]  # a request or an answer, as MessagePack has it
_LENGTH = struct.Struct("<Q")
_NAP = 0.05  # seconds between two looks at a process
_DATABASES = ("PG", "DATABASE")
_SECRETS = ("SECRET", "TOKEN", "PASSWORD", "CREDENTIAL", "SMTP")
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class ProcessFault(Exception):
    """A process that did not answer: it died, or was ended since it broke a limit.

    Attributes:
        kind: ``died``, ``time``, ``memory`` or ``abandoned``.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Helper:
    """A process that answers one request at a time."""

    def __init__(self, target: str, uses: int = 0, niceness: int = 0, device: str = "cpu") -> None:
        """Prepare a process; it is started when it is first asked."""
        self._target = target
        self._uses = uses
        self._niceness = niceness
        self._hidden = {"CUDA_VISIBLE_DEVICES": ""} if device == "cpu" else {}
        self._answered = 0
        self._process: subprocess.Popen[bytes] | None = None

    def ask(
        self,
        request: Message,
        seconds: float,
        memory: int,
        meanwhile: Callable[[], bool] = lambda: True,
    ) -> Message:
        """Send a request and wait for its answer."""
        process = self._running()
        begun = time.monotonic()
        answer: list[bytes] = []
        # the exchange blocks, so it has a thread; killing the process ends it
        exchange = threading.Thread(target=_exchange, args=(process, request, answer), daemon=True)
        exchange.start()
        try:
            while exchange.is_alive():
                exchange.join(_NAP)
                if not exchange.is_alive():
                    break
                if time.monotonic() - begun > seconds:
                    raise ProcessFault("time", f"it took more than {seconds:g} seconds")
                if (size := resident(process.pid)) > memory:
                    raise ProcessFault("memory", f"it took {size / 1e9:.1f} GB of memory")
                if not meanwhile():
                    raise ProcessFault("abandoned", "somebody else does it now")
        except BaseException:
            # its answer would else be taken for that to the next request
            self._end(process, exchange)
            raise
        if not answer:
            self._end(process, exchange)
            raise ProcessFault("died", _ending(process))
        self._answered += 1
        if self._uses and self._answered >= self._uses:
            self.close()
        result: Message = msgspec.msgpack.decode(answer[0])
        return result

    def _end(self, process: subprocess.Popen[bytes], exchange: threading.Thread) -> None:
        process.kill()
        exchange.join()
        self.close()

    def close(self) -> None:
        """End the process, if it runs."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):  # what was not read yet
                pipe.close()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._answered = 0
            program = [sys.executable, "-m", "reelscore.challenges.queue.processes"]
            command = [*program, self._target, str(self._niceness)]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
                env=harmless_environment() | self._hidden,
            )
        return self._process


def _exchange(process: subprocess.Popen[bytes], request: Message, answer: list[bytes]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        _send(process.stdin, request)
        message = _receive(process.stdout)
    except (OSError, ValueError):  # it died, or was killed and its pipes closed
        return
    if message is not None:
        answer.append(message)


def _send(pipe: IO[bytes], message: Message) -> None:
    content = msgspec.msgpack.encode(message)
    pipe.write(_LENGTH.pack(len(content)))
    pipe.write(content)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes | None:
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    content = pipe.read(length)
    return content if len(content) == length else None


def _ending(process: subprocess.Popen[bytes]) -> str:
    """Return how a process ended."""
    code = process.returncode
    if code is not None and code < 0:
        return f"it was ended by {signal.Signals(-code).name}"
    return f"it ended with status {code}"


def harmless_environment() -> dict[str, str]:
    """Return the environment without what a process that reads strangers' files must not know."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_DATABASES) and not any(word in name for word in _SECRETS)
    }


def resident(pid: int) -> int:
    """Return the resident size of a process in bytes; 0 where the system does not tell.

    >>> resident(os.getpid()) > 0 or not Path("/proc/self/statm").exists()
    True
    """
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0


def main() -> None:
    """Answer requests from standard input, until it ends or the process that asks is gone."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anything prints must not look like an answer
    parent = os.getppid()
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    _stand_back(int(sys.argv[2]))
    module, _, name = sys.argv[1].partition(":")
    answer = getattr(importlib.import_module(module), name)
    with suppress(BrokenPipeError):  # nobody waits for the answer any more
        while (message := _receive(requests)) is not None:
            _send(answers, answer(msgspec.msgpack.decode(message)))


def _stand_back(niceness: int) -> None:
    """Let others have the processor first.

    This process is a session of its own. Linux may share processors among sessions, and then
    niceness counts among the processes of one alone: so the whole session stands back, too.
    """
    if not niceness:
        return
    if hasattr(os, "nice"):
        os.nice(niceness)
    for _ in range(10):
        try:
            Path("/proc/self/autogroup").write_text(str(niceness))
            return
        except BlockingIOError:  # one such request of all users in a tenth of a second
            time.sleep(0.1)
        except OSError:  # other systems, and kernels that do not group sessions
            return


def _watch(parent: int) -> None:
    """End this process when the one that asks is gone, even in the middle of work."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


if __name__ == "__main__":
    main()
