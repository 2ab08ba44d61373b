"""The memory of a command begins with large pages, where Linux has some."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAP = """
from pathlib import Path
from reelscore import _native

def advised():
    # what Python has used already is a mapping of its own, the first
    heap = Path("/proc/self/smaps").read_text().rpartition("[heap]")[2]
    return "hg" in heap.partition("VmFlags:")[2].partition("\\n")[0].split()

before = advised()
_native.begin_heap_with_large_pages(16 << 20)
print(before, advised())
"""

OBJECTS = """
import gc
from pathlib import Path
from reelscore import _native

def advised():
    flags = [line for line in Path("/proc/self/smaps").open() if line.startswith("VmFlags:")]
    return any("hg" in line.split() for line in flags)

before = advised()
_native.begin_objects_with_large_pages(4 << 20)
_native.begin_objects_with_large_pages(4 << 20)  # once is enough
kept = []
for _ in range(3):  # more than there is room for, given back and taken again
    numbers = [[k] for k in range(300_000)]
    kept += numbers[::30_000]
    del numbers
    gc.collect()
print(before, advised(), sum(number for [number] in kept) == 3 * sum(range(0, 300_000, 30_000)))
"""

linux = pytest.mark.skipif(
    not Path("/sys/kernel/mm/transparent_hugepage").is_dir(), reason="needs Linux's large pages"
)


def output(script):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@linux
def test_the_heap():
    assert output(HEAP) == ["False", "True"]


@linux
def test_objects():
    assert output(OBJECTS) == ["False", "True", "True"]
