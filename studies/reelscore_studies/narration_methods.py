"""The two methods of the paper "Movie Description" (2017), to compare with: spectrogram and LMS.

`spectrogram` is that of MPII-MD: the difference of two spectrograms against a threshold that is
set by hand. `lms` is our reading of that of M-VAD: the centre of the stereo picture is isolated on
both tracks, least mean squares cancel the film, and the film's squared signal is subtracted.
"""

from __future__ import annotations

import numpy as np

from reelscore._progress import Progress
from reelscore.corpus.sound.audio import RATE, Doubles, Floats, Samples
from reelscore.corpus.sound.narration import HOP, spectrum_bands, spectrum_blocks, warped
from reelscore.corpus.sound.segmentation import LevelMethod
from reelscore.corpus.sound.sound_features import fft, uniform_filter1d, windowed_spectra
from reelscore.corpus.time_map import TimeMap

_AVERAGED = 15  # frames: 0.12 s
_FLOOR = 1e-6  # of the power of a band: silence is no difference
_BLOCK = 512  # samples of the filter
_STEP = 0.3  # how fast the filter learns
_AHEAD = 128  # samples of the film that the filter may look into the future
_FORGETTING = 0.9  # of the power that scales its steps, from block to block
_MINUTE = 60 * RATE
_PICTURE = 1024  # samples of the windows in which the centre is isolated
_TINY = 1e-12


def spectrogram_difference(
    ad: Samples, film: Samples, time_map: TimeMap, progress: Progress | None = None
) -> Doubles:
    """Measure how far the spectrograms of a track and its film are apart, in dB."""
    frames = film.count // HOP + 1
    bands = spectrum_bands()
    louder = np.empty((frames, bands.shape[1]), np.float32)
    for begin, end, track, sound in spectrum_blocks(ad, film, time_map, len(bands)):
        margin = (len(track) - (end - begin)) // 2
        levels = [
            np.log10(uniform_filter1d(np.abs(spectra) ** 2 @ bands, _AVERAGED, axis=0) + _FLOOR)
            for spectra in (track, sound)
        ]
        louder[begin:end] = 10 * (levels[0] - levels[1])[margin : margin + end - begin]
        if progress:
            progress(end, frames)
    usual = np.median(louder, axis=0)
    difference: Doubles = np.maximum(louder - usual, 0).mean(axis=1, dtype=np.float64)
    return difference


def lms_level(
    ad: Samples, film: Samples, time_map: TimeMap, progress: Progress | None = None
) -> Doubles:
    """Measure what is left of the track when the film is cancelled, in dB."""
    frames = film.count // HOP + 1
    left, film_power, track_power = (np.zeros(frames) for _ in range(3))
    canceller = _Canceller()
    for begin in range(0, film.count, _MINUTE):
        end = min(begin + _MINUTE, film.count)
        track = _centre(ad, begin, end, time_map)
        sound = _centre(film, begin + _AHEAD, end + _AHEAD, None)
        rest = canceller(sound, track)
        first = begin // HOP
        for power, signal in ((left, rest), (film_power, sound), (track_power, track)):
            whole = signal[: len(signal) // HOP * HOP].reshape(-1, HOP)
            power[first : first + len(whole)] = np.square(whole).mean(axis=1)
        if progress:
            progress(end, film.count)
    left, film_power = (uniform_filter1d(power, _AVERAGED) for power in (left, film_power))
    sounding = track_power > _TINY
    loud = float(np.percentile(track_power[sounding], 95)) if sounding.any() else 1.0
    level: Doubles = 10 * np.log10(np.maximum(left - film_power, 0) + _TINY) - 10 * np.log10(loud)
    return level


class _Canceller:
    """Least mean squares in the frequency domain, block by block (512 samples, step 0.3)."""

    def __init__(self) -> None:
        self._weights = np.zeros(_BLOCK + 1, np.complex64)
        self._power = np.full(_BLOCK + 1, _TINY, np.float32)
        self._before = np.zeros(_BLOCK, np.float32)

    def __call__(self, source: Floats, target: Floats) -> Floats:
        """Return what is left of the target when all is taken out that the source predicts."""
        rest = np.zeros_like(target)
        for begin in range(0, len(target) - _BLOCK + 1, _BLOCK):
            block = source[begin : begin + _BLOCK]
            spectrum = fft.rfft(np.concatenate([self._before, block]))
            predicted = fft.irfft(self._weights * spectrum)[_BLOCK:]
            error = target[begin : begin + _BLOCK] - predicted
            rest[begin : begin + _BLOCK] = error
            self._power *= _FORGETTING
            self._power += (1 - _FORGETTING) * np.abs(spectrum) ** 2
            padded = np.concatenate([np.zeros(_BLOCK, np.float32), error])
            gradient = fft.irfft(spectrum.conj() * fft.rfft(padded) / (self._power + 1e-6))
            gradient[_BLOCK:] = 0  # a filter no longer than a block
            self._weights += _STEP * fft.rfft(gradient)
            self._before = block
        return rest


def _centre(samples: Samples, first: int, last: int, time_map: TimeMap | None) -> Floats:
    """Read the centre of the stereo picture: its own channel, or what the sides do not explain."""

    def read(low: int, high: int, channel: int) -> Floats:
        if time_map is None:
            return samples.read(low, high, channel)
        return warped(samples, time_map, low, high, channel)

    if samples.has_centre:
        return read(first, last, 2)
    if samples.mono:
        return read(first, last, 0)
    low, high = first - _PICTURE, last + _PICTURE
    mid, side = read(low, high, 0), read(low, high, 1)
    hop = _PICTURE // 2
    window = np.sqrt(np.hanning(_PICTURE + 1)[:-1]).astype(np.float32)
    spectra = [windowed_spectra(each, window, hop) for each in (mid, side)]
    cross = spectra[0] * spectra[1].conj()
    share = uniform_filter1d(cross.real, 7, axis=0) + 1j * uniform_filter1d(cross.imag, 7, axis=0)
    share /= uniform_filter1d(np.abs(spectra[1]) ** 2, 7, axis=0) + _TINY
    windows = fft.irfft(spectra[0] - share * spectra[1], axis=1) * window
    sound = np.zeros(len(mid), np.float32)
    for number, part in enumerate(windows):
        sound[number * hop : number * hop + _PICTURE] += part
    return sound[_PICTURE : _PICTURE + last - first]


SPECTROGRAM = LevelMethod(spectrogram_difference, (2.5, 2.5), least=1.0)  # a difference, in dB too
LMS = LevelMethod(lms_level, (-10.0, -16.0), channels=3)
