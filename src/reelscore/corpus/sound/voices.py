"""Whether a voice is heard in a sound: by silero-vad, a small network, where that is installed."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import numpy as np

from reelscore.corpus.sound.audio import Floats
from reelscore.errors import MissingExtraError, check_choice

Detector = Literal["auto", "silero", "none"]
DETECTORS = ("auto", "silero", "none")

_WINDOW, _BEFORE = 512, 64  # samples that the network hears at once, and those before them
_CERTAIN = 0.8  # probability
_LOUDNESS, _MOST = 0.5, 100.0  # peak that the network hears, and how much louder it is made


class VoiceDetector:
    """The network of silero-vad, computed by onnxruntime; its package brings the weights."""

    def __init__(self) -> None:
        runtime = import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        package = find_spec("silero_vad")
        assert package is not None
        assert package.origin is not None
        weights = Path(package.origin).with_name("data") / "silero_vad.onnx"
        providers = ["CPUExecutionProvider"]
        self._session = runtime.InferenceSession(weights, options, providers=providers)
        self.name = f"silero-vad {version('silero-vad')}"

    def hears_voice(self, sound: Floats) -> bool:
        """Return whether there is a voice in a sound of 16 kHz."""
        peak = float(np.abs(sound).max(initial=0.0))
        louder = sound * min(_MOST, _LOUDNESS / max(peak, 1e-9))
        windows = np.pad(louder, (_BEFORE, -len(sound) % _WINDOW)).astype(np.float32)
        state = np.zeros((2, 1, 128), np.float32)
        for begin in range(0, len(windows) - _BEFORE, _WINDOW):
            heard = windows[None, begin : begin + _BEFORE + _WINDOW]
            inputs = {"input": heard, "state": state, "sr": np.array(16_000)}
            probability, state = self._session.run(None, inputs)
            if probability[0, 0] > _CERTAIN:
                return True
        return False


def voice_detector(wanted: Detector) -> VoiceDetector | None:
    """Return the detector, if it is wanted; with `auto` if it is installed."""
    check_choice("detector", wanted, DETECTORS)
    if wanted == "none":
        return None
    if all(find_spec(package) for package in ("silero_vad", "onnxruntime")):
        return VoiceDetector()
    if wanted == "auto":
        return None
    raise MissingExtraError.of(
        "Detecting voices needs silero-vad", "--no-deps", "silero-vad", "onnxruntime"
    )
