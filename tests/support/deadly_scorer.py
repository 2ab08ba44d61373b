"""A scorer that some captions kill, for tests; all others are scored as always."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def answer(request):
    captions = request["captions"]
    if b"KILL" in captions:
        os.kill(os.getpid(), signal.SIGKILL)
    if b"SLEEP" in captions:
        time.sleep(600)
    if b"EAT" in captions:
        eaten = []
        while True:
            eaten.append(b"x" * 50_000_000)
            time.sleep(0.01)
    if b"DEFECT" in captions:
        return {"defect": "TypeError\nnowhere.py:1"}
    from reelscore.challenges.queue import scorers  # most tests do not come here

    return scorers.answer(request)


def gpus(request):
    return {"hidden": os.environ.get("CUDA_VISIBLE_DEVICES") == ""}


def niceness(request):
    session = Path("/proc/self/autogroup").read_text()
    return {"own": os.nice(0), "session": int(session.split()[-1])}


def slow_echo(request):
    time.sleep(0.3)
    return request
