"""How things are measured: CPU seconds and peak memory of whole processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """What a process and all processes it started have used."""

    cpu: float
    wall: float
    peak_mb: float

    def __str__(self) -> str:
        return f"{self.cpu:8.2f} s CPU {self.wall:8.2f} s wall {self.peak_mb:7.0f} MB peak"


def run(command: list[str], **variables: str) -> Cost:
    """Run a command to its end; its output goes to nowhere, its errors to ours."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, **variables})
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    if status:
        sys.exit(f"failed: {' '.join(command)}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def best(command: list[str], times: int, **variables: str) -> Cost:
    """The cheapest of several runs: what else the machine does only ever adds."""
    return min((run(command, **variables) for _ in range(times)), key=lambda cost: cost.cpu)


def cpu_of(pid: int) -> float:
    """CPU seconds a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
