"""What of a described track the film does not explain, and the segments in which it is loud.

The default, `residual`, asks of each bin of the spectrum how much the film's sound predicts of the
track's, whatever gain, equaliser and ducking did; the rest is codec noise or the narrator. Where
waveforms do not agree, `power` compares loudness alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reelscore._progress import Progress
from reelscore.corpus.sound.audio import RATE, Floats, SampleReader, Samples
from reelscore.corpus.sound.sound_features import (
    Spectra,
    band_matrix,
    correlate1d,
    fft,
    hann_window,
    maximum_filter1d,
    uniform_filter1d,
    windowed_spectra,
)
from reelscore.corpus.time_map import TimeMap

HOP = 128
"""Samples from one frame to the next: 8 ms."""

_WINDOW = 512  # samples: 32 ms
_FRAMES_PER_BLOCK = 7500  # a minute in memory
_MARGIN = 16  # frames around a block that smoothing looks at
_TIME, _BINS = 15, 5  # frames (0.12 s) and bins over which spectra are averaged
_SLOPE = np.arange(_TIME, dtype=np.float32) - _TIME // 2
_BANDS, _LOWEST, _HIGHEST = 18, 200.0, 5500.0  # hertz: where voices are
_CODEC_NOISE, _LOUDER = 8.0, 2.5  # times the usual ratio: what counts as more than noise
_QUIET, _SPREAD = 10, 10.0  # per cent of frames; most of the codec's noise is within so many times
_SMOOTHING = 9  # frames: 72 ms
_TINY = 1e-12  # power: instead of a division by zero
_SILENT = 1e-9  # power of a band below which nothing is learnt from it
_AROUND = RATE // 2  # samples around a piece of sound that its residual looks at
_REACH = 4  # frames: 32 ms by which stretched sounds may be early or late


@dataclass(frozen=True)
class BandPowers:
    """The power of each band in each frame of the film's time, 125 frames a second."""

    unexplained: Floats  # what the film does not explain; of the method `power`, all there is
    explained: Floats  # what the film explains; of the method `power`, what the film has
    level: Floats  # the power of the track, over all bands
    film_level: Floats  # the power of the film, over all bands


def warped(ad: SampleReader, time_map: TimeMap, first: int, last: int, channel: int = 0) -> Floats:
    """Read a described track on the film's time, by the film's samples from first to last.

    There is silence where the track lacks the film.
    """
    sound = np.zeros(last - first, np.float32)
    for piece in time_map.pieces:
        low = max(first, int(np.ceil(piece.film_start * RATE)))
        high = min(last, int(np.floor(piece.film_end * RATE)))
        if low < high:
            place = piece.ad_start * RATE + (low - piece.film_start * RATE) / piece.rate
            sound[low - first : high - first] = ad.resampled(
                place, 1 / piece.rate, high - low, channel
            )
    return sound


def band_powers(
    ad: Samples,
    film: Samples,
    time_map: TimeMap,
    *,
    stretched: bool = False,
    progress: Progress | None = None,
) -> BandPowers:
    """Compare a described track with its film, by loudness alone if it was stretched."""
    frames = film.count // HOP + 1
    bands = spectrum_bands()
    analysis = _loudness if stretched else _residual
    unexplained = np.empty((frames, bands.shape[1]), np.float32)
    explained = np.empty((frames, bands.shape[1]), np.float32)
    level, film_level = np.empty(frames, np.float32), np.empty(frames, np.float32)
    for begin, end, track, sound in spectrum_blocks(ad, film, time_map, len(bands)):
        inner = slice(_MARGIN, _MARGIN + end - begin)
        rest, known = analysis(track, sound)
        unexplained[begin:end] = rest[inner] @ bands
        explained[begin:end] = known[inner] @ bands
        level[begin:end] = (_power(track[inner]) @ bands).sum(axis=1)
        film_level[begin:end] = (_power(sound[inner]) @ bands).sum(axis=1)
        if progress:
            progress(end, frames)
    return BandPowers(unexplained, explained, level, film_level)


def spectrum_bands() -> Floats:
    """Return the matrix that sums the lower bins of a spectrum to 18 bands, 200 Hz to 5.5 kHz."""
    bands = band_matrix(_BANDS, _LOWEST, _HIGHEST, _WINDOW)
    return bands[: int(np.flatnonzero(bands.any(axis=1))[-1]) + _BINS]


def spectrum_blocks(
    ad: Samples, film: Samples, time_map: TimeMap, bins: int
) -> Iterator[tuple[int, int, Spectra, Spectra]]:
    """Go through a described track and its film together, a minute at a time."""
    frames = film.count // HOP + 1
    window = hann_window(_WINDOW)
    for begin in range(0, frames, _FRAMES_PER_BLOCK):
        end = min(begin + _FRAMES_PER_BLOCK, frames)
        first = (begin - _MARGIN) * HOP - _WINDOW // 2
        last = (end - 1 + _MARGIN) * HOP + _WINDOW // 2
        track = windowed_spectra(warped(ad, time_map, first, last), window, HOP)[:, :bins]
        other = windowed_spectra(film.read(first, last), window, HOP)[:, :bins]
        yield begin, end, track, other


def _power(spectra: Spectra) -> Floats:
    power: Floats = spectra.real**2 + spectra.imag**2
    return power


def _averaged(values: Floats, weights: Floats | None = None) -> Floats:
    """Average over a few frames, weighted if that is asked for, and a few bins."""
    if weights is None:
        over_time = uniform_filter1d(values, _TIME, axis=0, mode="nearest")
    else:
        over_time = correlate1d(values, weights / _TIME, axis=0, mode="nearest")
    averaged: Floats = uniform_filter1d(over_time, _BINS, axis=1, mode="nearest")
    return np.maximum(averaged, 0) if values.min(initial=0) >= 0 and weights is None else averaged


def _residual(track: Spectra, film: Spectra) -> tuple[Floats, Floats]:
    """Divide the power of the track into what the film's waveform does not explain and does.

    The film's gain may change evenly in a window, as where a narrator begins to be faded in.
    """
    cross = track * film.conj()
    power, source = _averaged(_power(track)), _power(film)
    steady, sloped, spread = (_averaged(source, weights) for weights in (None, _SLOPE, _SLOPE**2))
    parts = [np.ascontiguousarray(part) for part in (cross.real, cross.imag)]
    slope = sloped / (steady + _TINY)
    explained = np.zeros_like(power)
    rest = np.maximum(spread - slope * sloped, 0) + _TINY
    for part in parts:
        shared = _averaged(part)
        explained += shared**2 / (steady + _TINY)
        explained += (_averaged(part, _SLOPE) - slope * shared) ** 2 / rest
    explained = np.minimum(explained, power)
    return power - explained, explained


def _loudness(track: Spectra, film: Spectra) -> tuple[Floats, Floats]:
    """Return the power of the track, and the most that the film has nearby."""
    # Averaged first: the maximum of noise is far above its mean, that of a voice is not.
    most = maximum_filter1d(_averaged(_power(film)), 2 * _REACH + 1, axis=0, mode="nearest")
    most = maximum_filter1d(most, 3, axis=1, mode="nearest")
    return _averaged(_power(track)), most


def residual_sound(track: Floats, film: Floats, *, stretched: bool = False) -> Floats:
    """Take out of a described track what the film explains, to listen to the rest.

    Both are samples on the film's time. On stretched tracks, what is not louder than usual beside
    the film is made quiet.
    """
    window = hann_window(_WINDOW)
    padded = (_WINDOW, _WINDOW + (-len(track)) % HOP)
    spectra, source = (
        windowed_spectra(np.pad(sound, padded), window, HOP) for sound in (track, film)
    )
    if stretched:
        power, most = _loudness(spectra, source)
        usual = np.median(power / (most + _TINY), axis=0)
        share = 1 - _LOUDER * usual * most / (power + _TINY)
        rest = spectra * np.sqrt(np.clip(share, 0, 1))
    else:
        cross = spectra * source.conj()
        gain = _averaged(cross.real) + 1j * _averaged(cross.imag)
        rest = spectra - gain / (_averaged(_power(source)) + _TINY) * source
    pieces = fft.irfft(rest, _WINDOW, axis=1) * window
    sound = np.zeros((len(pieces) - 1) * HOP + _WINDOW, np.float32)
    for number, piece in enumerate(pieces):
        sound[number * HOP : number * HOP + _WINDOW] += piece
    sound *= HOP / float(np.sum(window**2))
    return sound[_WINDOW : _WINDOW + len(track)]


def unexplained_sound(
    ad: SampleReader,
    film: SampleReader,
    time_map: TimeMap,
    first: int,
    last: int,
    *,
    stretched: bool = False,
) -> Floats:
    """Read what is left of a described track without the film, by the film's samples."""
    low, high = first - _AROUND, last + _AROUND
    track = warped(ad, time_map, low, high)
    rest = residual_sound(track, film.read(low, high), stretched=stretched)
    return rest[_AROUND : _AROUND + last - first]


def excess_level(
    powers: BandPowers, *, stretched: bool = False, outside: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """Measure how loud what the film does not explain is, in dB below the track's loud parts.

    The codec's noise is learnt from the frames `outside`, else from all that have sound.
    """
    excess = np.zeros(len(powers.level))
    for band in range(powers.explained.shape[1]):
        rest, known = powers.unexplained[:, band], powers.explained[:, band]
        sounding = known > _SILENT
        if outside is not None and (sounding & outside).any():
            sounding &= outside
        ratio = 0.0
        if sounding.any():
            low, usual = np.percentile(rest[sounding] / known[sounding], [_QUIET, 50])
            ratio = min(float(usual), _SPREAD * float(low))
        excess += np.maximum(0, rest - (_LOUDER if stretched else _CODEC_NOISE) * ratio * known)
    if stretched:  # single frames without excess are accidents there
        smooth = 10 * np.log10(uniform_filter1d(excess, _SMOOTHING, mode="nearest") + _TINY)
    else:
        smooth = uniform_filter1d(10 * np.log10(excess + _TINY), _SMOOTHING, mode="nearest")
    sounding = powers.level > _SILENT
    loud = float(np.percentile(powers.level[sounding], 95)) if sounding.any() else 1.0
    level: NDArray[np.float64] = smooth - 10 * np.log10(loud)
    return level


def narrator_side(powers: BandPowers, inside: NDArray[np.bool_]) -> float:
    """Return which of two tracks has the narrator, by what explains the other more steadily.

    Under a narrator, the track is still the film at a steady gain; the other way round, the gain
    goes up and down with every syllable.
    """
    there = inside & (powers.level > _SILENT) & (powers.film_level > _SILENT)
    if not there.any():
        return 0.0
    shared = powers.explained[there].sum(axis=1) + _TINY
    track = shared + powers.unexplained[there].sum(axis=1)
    film = uniform_filter1d(powers.film_level, _TIME)[there]
    gains = 10 * np.log10([shared / film, shared * film / track**2])
    low, high = np.percentile(gains, [25, 75], axis=1)
    to_track, to_film = high - low
    return float(to_film - to_track)


def loud_stretches(
    level: NDArray[np.float64], start: float, extend: float, *, gap: float, least: float
) -> list[tuple[int, int]]:
    """Find where a level rises above one threshold, as far as it stays above another, in dB.

    Gaps of fewer frames than `gap` are closed, stretches of fewer than `least` left out.
    """
    above = np.concatenate([[False], level > extend, [False]])
    edges = np.flatnonzero(above[1:] != above[:-1]).reshape(-1, 2)
    loud = ((begin, end) for begin, end in edges.tolist() if level[begin:end].max() > start)
    return [(begin, end) for begin, end in joined_stretches(loud, gap) if end - begin >= least]


def joined_stretches(stretches: Iterable[tuple[int, int]], gap: float) -> list[tuple[int, int]]:
    """Join stretches, in their order, with fewer frames than `gap` between them."""
    joined: list[tuple[int, int]] = []
    for begin, end in stretches:
        if joined and begin - joined[-1][1] < gap:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((begin, end))
    return joined
