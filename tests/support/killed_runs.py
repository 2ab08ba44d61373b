"""Run a command in a fork of this process, killed with -9 while it puts a file in place."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from pathlib import Path

from reelscore.cli.main import main


def run(command: list[str], files: int | None) -> int:
    """Run a command; it is killed when one more file than given would be renamed.

    Gives its exit status, and -9 if it was killed.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        if files is not None:
            _stop_after(files, writer)
        sys.argv = ["reelscore", *command]
        status = 0
        with contextlib.suppress(BaseException):
            try:
                main()
            except SystemExit as leaving:
                status = int(leaving.code or 0)
        os._exit(status)
    os.close(writer)
    if files is not None and os.read(reader, 1) == b"x":
        os.kill(child, signal.SIGKILL)
    os.close(reader)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _stop_after(files: int, writer: int) -> None:
    replace, lock, done = Path.replace, threading.Lock(), [0]

    def stopping(self, target):
        with lock:
            if done[0] == files:
                os.write(writer, b"x")
                time.sleep(60)
            done[0] += 1
            return replace(self, target)

    Path.replace = stopping
