"""Captions of any program: started for each clip, or once, with a line of JSON for each clip."""

from __future__ import annotations

import json
import os
import queue
import re
import shlex
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, ClassVar

from reelscore.captioners.adapters.adapter import Adapter, ClipError, ShownClip
from reelscore.endpoint.chat import ChatReply
from reelscore.endpoint.http import check_timeout, shortened
from reelscore.errors import DataError

_FIELD = re.compile(r"\{(frames|video|prompt)\}")
_LONGEST = 1 << 20  # bytes of an answer
_DEATHS = 3  # how often a server may die, one clip after the other


@dataclass
class CommandAdapter(Adapter):
    """A program that prints a caption."""

    # the program and its arguments; no shell reads them. ``{frames}`` stands for a folder of JPEG
    # files, ``{video}`` for the video, ``{prompt}`` for the question.
    words: Sequence[str] = ()
    server: bool = False  # whether it is started once, and reads and writes lines of JSON
    timeout: float = 120.0  # seconds that a clip may take
    kind: ClassVar[str] = "command"
    _process: _Server | None = field(default=None, init=False, repr=False)
    _running: set[subprocess.Popen[bytes]] = field(default_factory=set, init=False, repr=False)
    _deaths: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        text = " ".join(self.words)
        if not self.words:
            raise DataError("The command is empty; expected command:'PROGRAM {frames} {video}'.")
        if not self.server and not ("{frames}" in text or "{video}" in text):
            raise DataError(
                f"{text!r} is told nothing of the clip; put {{frames}} or {{video}} among its "
                "arguments, or let it read lines of JSON: --server."
            )
        check_timeout(self.timeout)
        self.parallel = 1 if self.server else self.parallel
        self.needs_frames = self.server or "{frames}" in text
        self.needs_prompt = self.server or "{prompt}" in text

    @property
    def identity(self) -> str:
        """The command."""
        return f"command:{shlex.join(self.words)}{' --server' if self.server else ''}"

    def describe(self, batch: Sequence[ShownClip]) -> list[ChatReply]:
        """Describe clips, one after the other."""
        return [self._answer(shown) for shown in batch]

    def _answer(self, shown: ShownClip) -> ChatReply:
        started = time.monotonic()
        with _frames_folder(shown if self.needs_frames else None) as folder:
            said = (self._line if self.server else self._once)(shown, folder)
        return ChatReply(said, seconds=time.monotonic() - started)

    def _once(self, shown: ShownClip, folder: str) -> str:
        values = {"frames": folder, "video": shown.clip.video, "prompt": shown.question}
        words = [_FIELD.sub(lambda name: values[name[1]], word) for word in self.words]
        process = _started(words, subprocess.DEVNULL)
        self._running.add(process)
        try:
            out, err = process.communicate(timeout=self.timeout)
        except subprocess.TimeoutExpired:
            raise ClipError(f"no caption within {self.timeout:g} seconds") from None
        finally:
            _end(process)
            self._running.discard(process)
        if process.returncode:
            raise ClipError(f"{words[0]} ended with {_status(process.returncode)}{_last(err)}")
        return out[:_LONGEST].decode(errors="replace")

    def _line(self, shown: ShownClip, folder: str) -> str:
        if self._process is None:
            self._process = _Server(self.words)
        files = sorted(map(str, Path(folder).iterdir()))
        request = {
            "item": shown.clip.item,
            "video": shown.clip.video,
            "frames": files,
            "prompt": shown.question,
        }
        try:
            answer = self._process.ask(request, self.timeout)
        except ClipError as error:
            self.close()
            self._deaths += 1
            if self._deaths >= _DEATHS:
                raise DataError(
                    f"{self.words[0]} failed {_DEATHS} times one after the other; the last: {error}"
                ) from None
            raise
        self._deaths = 0
        if "error" in answer:
            raise ClipError(shortened(str(answer["error"])))
        return str(answer["caption"])

    def record(self) -> dict[str, Any]:
        """Return the command as it was given."""
        return {
            "adapter": self.kind,
            "model": shlex.join(self.words),
            "server_lines": self.server,
            "timeout": self.timeout,
        }

    def close(self) -> None:
        """Let the program end, and those that were not waited for."""
        for process in list(self._running):
            _kill(process)
        if self._process is not None:
            self._process.close()
            self._process = None


class _Server:
    """A program that answers a line with a line; it is read in a thread, so that it can be late."""

    def __init__(self, words: Sequence[str]) -> None:
        self.name = words[0]
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        self.process = _started(words, subprocess.PIPE, self.errors)
        self.lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        output: IO[bytes] = self.process.stdout  # type: ignore[assignment]
        with suppress(ValueError):  # closed meanwhile
            while line := output.readline(_LONGEST):
                self.lines.put(line)
        self.lines.put(b"")

    def ask(self, request: dict[str, Any], timeout: float) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        pipe: IO[bytes] = self.process.stdin  # type: ignore[assignment]
        with suppress(BrokenPipeError):  # what it said before is read below
            pipe.write(json.dumps(request).encode() + b"\n")
            pipe.flush()
        try:
            line = self.lines.get(timeout=timeout)
        except queue.Empty:
            raise ClipError(f"no caption within {timeout:g} seconds") from None
        if not line:
            self.errors.seek(0)
            status = _status(self.process.wait())
            raise ClipError(f"{self.name} ended with {status}{_last(self.errors.read())}")
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or not ("caption" in answer or "error" in answer):
            said = shortened(line.decode(errors="replace"))
            raise ClipError(
                f"{self.name} said {said!r}; expected a line of JSON with 'caption' or 'error'"
            )
        if answer.get("item", request["item"]) != request["item"]:
            raise ClipError(f"{self.name} answered about another item, {answer['item']!r}")
        return answer

    def close(self) -> None:
        """Close its input, and end it."""
        with suppress(OSError):
            self.process.stdin.close()  # type: ignore[union-attr]
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=2)
        _end(self.process)
        self.process.stdout.close()  # type: ignore[union-attr]
        self.errors.close()


def _started(
    words: Sequence[str], stdin: int, stderr: int | IO[bytes] = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    try:
        # in a session of its own, so that Ctrl-C lets it finish
        return subprocess.Popen(
            words, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, start_new_session=True
        )
    except OSError as error:
        raise DataError(
            f"The program {words[0]!r} cannot be started ({error.strerror}); name another, or "
            "its full path."
        ) from None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program, and wait for it."""
    if process.poll() is None:
        _kill(process)
        process.communicate()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and what it started."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


@contextmanager
def _frames_folder(shown: ShownClip | None) -> Iterator[str]:
    """Write frames as 001.jpg, 002.jpg and so on, for as long as the program needs them."""
    with tempfile.TemporaryDirectory(prefix="reelscore-frames-") as folder:
        for number, jpeg in enumerate(shown.jpegs() if shown else (), start=1):
            Path(folder, f"{number:03}.jpg").write_bytes(jpeg)
        yield folder


def _status(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"status {code}"


def _last(errors: bytes) -> str:
    """Return the last line that a program wrote to its standard error."""
    lines = errors[-4096:].decode(errors="replace").strip().splitlines()
    return f": {shortened(lines[-1])}" if lines else ""
