"""Pictures of a few seconds of a film: spectrogram, waveform, and a still of the video."""

from __future__ import annotations

import struct
import zlib
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reelscore.corpus.sound.audio import RATE, Floats, open_media
from reelscore.corpus.sound.sound_features import fft, hann_window

if TYPE_CHECKING:
    from av.container import InputContainer

Bytes = NDArray[np.uint8]

LOWEST, HIGHEST = 80.0, 8000.0
"""The frequencies of a spectrogram, in hertz."""

_WINDOW = 1024
_RANGE = 65.0  # dB from the darkest to the brightest
_LOUDEST = (-55.0, -15.0)  # dB: what is bright in quiet and in loud films
# Night blue to warm white: each step brighter than the last, for eyes of all kinds.
_COLOURS = ("#0b0f1e", "#1b2350", "#4a2a7c", "#93357f", "#d95763", "#f79a4b", "#fce0a0")


def spectrogram(sound: Floats, width: int = 900, height: int = 160) -> bytes:
    """Draw the spectrogram of a sound, 80 to 8000 Hz on a logarithmic scale, as PNG.

    >>> spectrogram(np.zeros(16_000, np.float32), 30, 20)[1:4]
    b'PNG'
    """
    window = hann_window(_WINDOW)
    padded = np.pad(sound, _WINDOW // 2)
    starts = np.linspace(0, max(0, len(padded) - _WINDOW), width).astype(np.intp)
    cut = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[starts]
    spectra = fft.rfft(cut * window, axis=1)
    power = (spectra.real**2 + spectra.imag**2) * (4 / float(window.sum()) ** 2)
    level = 10 * np.log10(power @ _rows(height) + 1e-12)
    top = float(np.clip(np.percentile(level, 99.5), *_LOUDEST))
    shades = np.clip((level - top) / _RANGE + 1, 0, 1) * 255
    return png(np.ascontiguousarray(shades.T[::-1]).astype(np.uint8), _palette())


@cache
def _rows(height: int) -> Floats:
    """Return the matrix from bins of a spectrum to rows: the mean of a row's bins.

    Or between two.
    """
    edges = np.geomspace(LOWEST, HIGHEST, height + 1) * _WINDOW / RATE
    bins = np.arange(_WINDOW // 2 + 1)
    matrix = np.zeros((len(bins), height), np.float32)
    for row, (low, high) in enumerate(pairwise(edges)):
        inside = (bins >= low) & (bins < high)
        if inside.any():
            matrix[inside, row] = 1 / inside.sum()
        else:
            middle = (low + high) / 2
            below = int(middle)
            matrix[below, row], matrix[below + 1, row] = below + 1 - middle, middle - below
    return matrix


@cache
def _palette() -> Bytes:
    stops = [[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in _COLOURS]
    places = np.linspace(0, 255, len(stops))
    channels = [np.interp(np.arange(256), places, channel) for channel in zip(*stops, strict=True)]
    palette: Bytes = np.stack(channels, axis=1).round().astype(np.uint8)
    return palette


def peaks(sound: Floats, count: int = 600) -> list[int]:
    """Return the loudest sample of each of many equal parts, from 0 to 100.

    >>> peaks(np.array([0.0, 0.5, -1.0, 0.0], np.float32), 2)
    [50, 100]
    """
    edges = np.linspace(0, len(sound), count + 1).astype(np.intp)[:-1]
    highest = np.maximum.reduceat(np.abs(sound), edges) if len(sound) else np.zeros(count)
    return [int(value) for value in np.clip(highest * 100, 0, 100).round()]


def png(pixels: Bytes, palette: Bytes | None = None) -> bytes:
    """Write a picture as PNG.

    >>> png(np.zeros((2, 3, 3), np.uint8))[1:4]
    b'PNG'
    """
    height, width = pixels.shape[:2]
    kind = 2 if palette is None else 3
    rows = pixels.reshape(height, -1)
    lines = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1).tobytes()
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0))]
    if palette is not None:
        chunks.append((b"PLTE", palette.tobytes()))
    chunks += [(b"IDAT", zlib.compress(lines, 4)), (b"IEND", b"")]
    parts = [b"\x89PNG\r\n\x1a\n"]
    for name, content in chunks:
        parts += [struct.pack(">I", len(content)), name, content]
        parts.append(struct.pack(">I", zlib.crc32(name + content)))
    return b"".join(parts)


def has_video(path: Path) -> bool:
    """Return whether a file has pictures that move; the cover of an album is none."""
    with open_media(path) as container:
        return _video(container) is not None


def still(path: Path, time: float, width: int = 320) -> bytes | None:
    """Return the picture of a video at a time, as PNG; None where there is none."""
    with open_media(path) as container:
        stream = _video(container)
        if stream is None:
            return None
        stream.thread_type = "AUTO"
        time += (container.start_time or 0) / 1e6
        container.seek(int(max(0.0, time) / stream.time_base), stream=stream)
        last: Any = None
        for frame in container.decode(stream):
            if last is not None and frame.time is not None and frame.time > time:
                break
            last = frame
        if last is None:
            return None
        height = max(2, round(width * last.height / last.width / 2) * 2)
        return png(last.reformat(width, height, "rgb24").to_ndarray())


def _video(container: InputContainer) -> Any:
    for stream in container.streams.video:
        if not stream.disposition & type(stream.disposition).attached_pic:
            return stream
    return None
