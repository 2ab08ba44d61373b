"""The benchmark of GPUs, tried on the processor."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from benchmarks import gpu

ROOT = Path(gpu.__file__).resolve().parents[1]


def test_time_inside_another_step_is_counted_once(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(gpu.time, "perf_counter", lambda: now[0])

    def spend(seconds):
        now[0] += seconds

    watch = gpu.Stopwatch(wait=lambda: spend(1.0))  # as if the GPU were a second behind
    copying = watch.timed("copies", lambda: spend(2.0))

    def forward():
        spend(4.0)
        copying()
        copying()

    watch.timed("forward pass", forward)()
    assert watch.seconds == {"copies": 6.0, "forward pass": 5.0}


@pytest.mark.shared
def test_pairs_are_as_many_as_asked_for_and_all_different(shared):
    pairs = list(zip(*gpu.captions_of(3_000).pairs(), strict=True))
    assert len(pairs) == 3_000
    assert len(set(pairs)) > 2_900  # some captions of systems are the same


def test_without_a_gpu_it_is_left_out(monkeypatch, capsys):
    nothing = SimpleNamespace(is_available=lambda: False)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=nothing))
    monkeypatch.setattr(gpu, "find_spec", lambda name: name)
    gpu.main()
    assert "there is none; left out" in capsys.readouterr().out


@pytest.mark.full
@pytest.mark.shared
def test_it_runs_on_the_processor(shared):
    pytest.importorskip("torch", reason="the benchmark needs torch: reelscore[torch]")
    pytest.importorskip("reelscore_bertha")
    command = [sys.executable, "-m", "benchmarks.gpu", "--device", "cpu", "--pairs", "60"]
    output = subprocess.run(
        [*command, "--share", "processes"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    differences = dict(re.findall(r"^  (\w+)  .*?differs by (\S+)", output, re.MULTILINE))
    assert float(differences["float32"]) < 1e-5
    assert float(differences["int8"]) < 0.1
    assert re.search(r"^  1 plain process .*\n  2 plain processes ", output, re.MULTILINE)
    assert "bottleneck: network of pairs" in output
