"""What two recordings of the same film have in common, whatever their levels: 50 frames a second.

For each frame the loudness of 24 bands, less its mean over a second, so that equalisers, gain and
ducking leave no trace, and scaled to the spread of its neighbourhood.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reelscore._progress import Progress
from reelscore.corpus.sound.audio import RATE, Floats, Samples
from reelscore.errors import MissingExtraError

try:
    from scipy import fft as fft
    from scipy.ndimage import correlate1d as correlate1d
    from scipy.ndimage import maximum_filter1d as maximum_filter1d
    from scipy.ndimage import uniform_filter1d as uniform_filter1d
except ModuleNotFoundError:
    raise MissingExtraError.of("Analysing sound needs scipy", "reelscore[corpus]") from None

Spectra = NDArray[np.complex64]

FRAME = 0.02
"""Seconds between two frames."""

HOP = round(FRAME * RATE)
_WINDOW = 1024  # samples: 64 ms
_BANDS = 24
_LOWEST, _HIGHEST = 100.0, 6000.0  # hertz
_FRAMES_PER_BLOCK = 1500  # half a minute in memory
_FLOOR = 1e-7  # power added to each band: silence has a loudness too
_LARGEST = 3.0  # loudness (natural logarithm) beyond the mean: more, at shots, does not count
_LEAST_SPREAD = 0.15  # added to the spread: noise in silence is not blown up


def sound_features(samples: Samples, progress: Progress | None = None) -> Floats:
    """Compute the features of a whole track; frame k is centred at `k * FRAME` seconds."""
    frames = samples.count // HOP + 1
    loudness = np.empty((frames, _BANDS), np.float32)
    window = hann_window(_WINDOW)
    bands = band_matrix(_BANDS, _LOWEST, _HIGHEST, _WINDOW)
    for begin in range(0, frames, _FRAMES_PER_BLOCK):
        end = min(begin + _FRAMES_PER_BLOCK, frames)
        first = begin * HOP - _WINDOW // 2
        sound = samples.read(first, first + (end - begin - 1) * HOP + _WINDOW)
        spectra = windowed_spectra(sound, window, HOP)
        power = spectra.real**2 + spectra.imag**2
        loudness[begin:end] = np.log(power @ bands + _FLOOR)
        if progress:
            progress(end, frames)
    return normalized(loudness)


def hann_window(length: int) -> Floats:
    """Return the weights of a window whose shifted copies sum to the same everywhere."""
    return np.hanning(length + 1)[:-1].astype(np.float32)


def windowed_spectra(sound: Floats, window: Floats, hop: int) -> Spectra:
    """Return the spectrum of each window of a sound, `hop` samples apart."""
    cut = np.lib.stride_tricks.sliding_window_view(sound, len(window))[::hop]
    spectra: Spectra = fft.rfft(cut * window, axis=1)
    return spectra


def band_matrix(count: int, lowest: float, highest: float, window: int) -> Floats:
    """Return the matrix that sums the bins of a spectrum to bands of equal ratio, in hertz.

    >>> band_matrix(2, 0.5 * RATE / 8, 4 * RATE / 8, 8).T
    array([[0., 1., 0., 0., 0.], [0., 0., 1., 1., 0.]], dtype=float32)
    """
    frequencies = np.arange(window // 2 + 1) * RATE / window
    edges = np.geomspace(lowest, highest, count + 1)
    matrix = np.zeros((len(frequencies), count), np.float32)
    for band, (low, high) in enumerate(pairwise(edges)):
        inside = (frequencies >= low) & (frequencies < high)
        if not inside.any():  # narrower than a bin: the nearest
            inside[np.argmin(np.abs(frequencies - np.sqrt(low * high)))] = True
        matrix[inside, band] = 1
    return matrix


def normalized(loudness: Floats) -> Floats:
    """Take the mean of a second out of each band, and scale it to its spread over four seconds.

    The memory of the loudness, frames × bands, is used for the result.
    """
    second = round(1 / FRAME)
    for band in range(loudness.shape[1]):
        values = loudness[:, band].astype(np.float64)
        values = np.clip(values - running_mean(values, second), -_LARGEST, _LARGEST)
        spread = np.sqrt(np.maximum(running_mean(values**2, 4 * second), 0))
        loudness[:, band] = values / (spread + _LEAST_SPREAD)
    return loudness


def running_mean(values: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """Average over a window around each value; at the ends over what there is of it.

    >>> running_mean(np.array([0.0, 3.0, 0.0, 0.0]), 3)
    array([1.5, 1. , 1. , 0. ])
    """
    sums = np.concatenate([[0.0], np.cumsum(values)])
    places = np.arange(len(values))
    low = np.maximum(places - length // 2, 0)
    high = np.minimum(places - length // 2 + length, len(values))
    means: NDArray[np.float64] = (sums[high] - sums[low]) / (high - low)
    return means


def stretched(features: Floats, rate: float) -> Floats:
    """Return the features of the same sound at another speed, `rate` frames for each one.

    >>> stretched(np.array([[0.0], [2.0], [4.0]], np.float32), 2.0).ravel()
    array([0., 1., 2., 3., 4.], dtype=float32)
    """
    if rate == 1:
        return features
    count = int((len(features) - 1) * rate) + 1
    places = np.arange(count) / rate
    low = np.minimum(places.astype(np.intp), max(0, len(features) - 2))
    share = (places - low).astype(np.float32)[:, None]
    high = np.minimum(low + 1, len(features) - 1)
    result: Floats = features[low] * (1 - share) + features[high] * share
    return result
