"""How things are measured: CPU seconds and peak memory of whole processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

# How often ours is run between two runs of another tool: it takes a fraction of a second.
_EACH = 4


@dataclass(frozen=True)
class Cost:
    """What a process and all processes it started have used."""

    cpu: float
    wall: float
    peak_mb: float

    def __str__(self) -> str:
        return f"{self.cpu:8.2f} s CPU {self.wall:8.2f} s wall {self.peak_mb:7.0f} MB peak"


def run(command: list[str], **variables: str) -> Cost:
    """Run a command to its end; its output goes to nowhere, its errors to ours.

    Python may keep what it compiles, as pip does: an installed package is not compiled again.
    """
    begin = time.perf_counter()
    environment = {**os.environ, **variables}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    if status:
        sys.exit(f"failed: {' '.join(command)}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def best(command: list[str], times: int, **variables: str) -> Cost:
    """The cheapest of several runs: what else the machine does only ever adds."""
    return min((run(command, **variables) for _ in range(times)), key=lambda cost: cost.cpu)


def side_by_side(ours: list[str], theirs: list[str], times: int) -> tuple[Cost, Cost]:
    """The cheapest run of ours and of theirs, which are run in turn: a machine has slow minutes."""
    own = [run(ours) for _ in range(_EACH)]
    other = []
    for _ in range(times):
        other.append(run(theirs))
        own += [run(ours) for _ in range(_EACH)]
    return min(own, key=lambda cost: cost.cpu), min(other, key=lambda cost: cost.cpu)


def cpu_of(pid: int) -> float:
    """CPU seconds a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tree_cost(pid: int) -> Cost:
    """What a running process and all processes it has started have used so far.

    The peak of memory is that of the process itself.
    """
    cpu = 0.0
    for place in Path("/proc").glob("[0-9]*"):
        try:
            fields = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(place.name) == pid or int(fields[1]) == pid:
            ended = sum(map(int, fields[13:15])) if int(place.name) == pid else 0
            cpu += (int(fields[11]) + int(fields[12]) + ended) / os.sysconf("SC_CLK_TCK")
    status = Path(f"/proc/{pid}/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    return Cost(cpu, 0.0, peak)
