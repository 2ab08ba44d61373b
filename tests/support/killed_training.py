"""A training of BERTHA, killed with -9 and taken up again, beside one that nobody disturbed.

    python killed_training.py JUDGED.jsonl FOLDER --device cuda [--encoder NAME]

Prints the largest difference of the two models' scores of the captions, and how much scores of
another seed differ. On a GPU, torch is told to take kernels that repeat themselves.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from reelscore.learned.judged_captions import read_captions
from reelscore.learned.networks.pair_scores import PairScorer

_MAIN = """
import torch
if torch.cuda.is_available():
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cuda.enable_flash_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.backends.cuda.enable_cudnn_sdp(False)
from reelscore.cli.main import main
main()
"""
_REPEATABLE = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}


class Training:
    """Trainings of the same captions, each in a folder of its own.

    Args:
        judged: The captions, as ``reelscore bertha prepare`` writes them.
        folder: Where to train.
        device: ``cpu`` or ``cuda``.
        encoder: The encoder to start from, by name or path.
    """

    def __init__(self, judged: Path, folder: Path, device: str, encoder: str | None) -> None:
        self._judged, self._folder = judged, folder
        self._options = ["--recipe", "plain-ma", "--device", device, "--every", "3"]
        self._options += ["--encoder", encoder] if encoder else []

    def start(self, name: str, seed: int = 7) -> subprocess.Popen[str]:
        """Begin a training, or go on with it."""
        words = ["bertha", "train", str(self._judged), str(self._folder / name)]
        return subprocess.Popen(
            [sys.executable, "-c", _MAIN, *words, *self._options, "--seed", str(seed)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **_REPEATABLE},
        )

    def stop(self, process: subprocess.Popen[str], name: str, how: signal.Signals) -> str:
        """Wait for a training's first checkpoint and stop it; give what it said."""
        checkpoint = self._folder / name / "checkpoints" / "checkpoint.safetensors"
        while not checkpoint.exists():
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.02)
        process.send_signal(how)
        return process.communicate(timeout=120)[1]

    def scores(self, name: str) -> np.ndarray:
        """Scores of the captions by a trained model."""
        captions = read_captions(self._judged)
        pairs = [c.candidate for c in captions], [c.references[0] for c in captions]
        return PairScorer(str(self._folder / name / "model"), "float32").score(*pairs)


def finish(*processes: subprocess.Popen[str]) -> None:
    """Wait until trainings have come to their end."""
    for process in processes:
        _, complaint = process.communicate(timeout=600)
        assert process.returncode == 0, complaint


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("judged", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--encoder")
    options = parser.parse_args()
    training = Training(options.judged, options.folder, options.device, options.encoder)
    others = [training.start("whole"), training.start("again"), training.start("other", seed=8)]
    killed = training.start("killed")
    training.stop(killed, "killed", signal.SIGKILL)
    print(f"killed with status {killed.returncode}, no model: ", end="")
    print(not (options.folder / "killed" / "model").exists(), flush=True)
    finish(training.start("killed"), *others)
    whole = training.scores("whole")
    for name in ("killed", "again", "other"):
        apart = np.abs(training.scores(name) - whole).max()
        print(f"{name:7} differs from the undisturbed training by {apart:.1e} at most", flush=True)


if __name__ == "__main__":
    main()
