"""Run commands one after another, each killed first while it puts a file in place.

    python killed_commands.py '[["corpus", "new", "films"], …]'

Prints a line for each: what the folder held before, after the kill, and the exit status of the
same command when it may finish. The interpreter is started once; commands run in forks of it.
"""

from __future__ import annotations

import hashlib
import json
import signal
import sys
from pathlib import Path

import reelscore.corpus.commands.clip_commands
import reelscore.corpus.commands.release_commands
import reelscore.corpus.commands.sound_commands
import reelscore.corpus.commands.word_commands  # noqa: F401 (loaded once for all forks)


def content() -> dict[str, str]:
    """Digest every file; what was written aside and never put in place does not count."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path().rglob("*"))
        if path.is_file() and path.suffix != ".tmp"
    }


if __name__ == "__main__":
    from killed_runs import run  # which lies in this folder

    for words in json.loads(sys.argv[1]):
        before = content()
        ended = run(words, files=0)
        assert ended == -signal.SIGKILL, f"{words} wrote nothing"
        after = content()
        line = {"before": before, "ended": ended, "after": after, "again": run(words, files=None)}
        print(json.dumps({**line, "finally": content()}), flush=True)
