"""Run commands one after another, each killed first while it puts a file in place.

    python killed_commands.py '[["corpus", "new", "films"], …]'

Prints a line for each: what the folder held before, after the kill, and the exit status of the
same command when it may finish. The interpreter is started once; commands run in forks of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import sys
import time
from pathlib import Path

import reelscore.cli.corpus.align
import reelscore.cli.corpus.anonymise
import reelscore.cli.corpus.export
import reelscore.cli.corpus.script
import reelscore.cli.corpus.segment
import reelscore.cli.corpus.split  # noqa: F401 (loaded once for all forks)
from reelscore.cli.main import main


def content() -> dict[str, str]:
    """Digest every file; what was written aside and never put in place does not count."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path().rglob("*"))
        if path.is_file() and path.suffix != ".tmp"
    }


def run(command: list[str], *, killed: bool) -> int:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        if killed:
            Path.replace = lambda self, target: (os.write(writer, b"x"), time.sleep(60))
        sys.argv = ["reelscore", *command]
        status = 0
        with contextlib.suppress(BaseException):
            try:
                main()
            except SystemExit as leaving:
                status = int(leaving.code or 0)
        os._exit(status)
    os.close(writer)
    if killed:
        assert os.read(reader, 1) == b"x", f"{command} wrote nothing"
        os.kill(child, signal.SIGKILL)
    os.close(reader)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    for words in json.loads(sys.argv[1]):
        before = content()
        ended = run(words, killed=True)
        after = content()
        line = {"before": before, "ended": ended, "after": after, "again": run(words, killed=False)}
        print(json.dumps({**line, "finally": content()}), flush=True)
