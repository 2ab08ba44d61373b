"""The heap of a command begins with large pages, where Linux has some."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
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


@pytest.mark.skipif(
    not Path("/sys/kernel/mm/transparent_hugepage").is_dir(), reason="needs Linux's large pages"
)
def test_large_pages_are_asked_for():
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
