"""Which parts of a film the parts of another track come from, by their features.

First one rate for the whole track, then anchors: ten seconds every five, each with its lag, which
is the film's frame less the track's frame, both at the film's speed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reelscore._progress import Progress
from reelscore.corpus.sound.audio import Floats
from reelscore.corpus.sound.sound_features import FRAME, fft, stretched

STANDARD_RATES = {
    "same speed": 1.0,
    "PAL speed-up, 25/23.976": 25 / 23.976,
    "25/24": 25 / 24,
    "24/23.976": 24 / 23.976,
    "PAL slow-down, 23.976/25": 23.976 / 25,
    "24/25": 24 / 25,
    "23.976/24": 23.976 / 24,
}
"""The rates at which films are transferred: film seconds for each second of the track."""

CHUNK, HOP = round(10 / FRAME), round(5 / FRAME)
"""Frames in a chunk, and frames from one chunk to the next."""

SAME_LAG = 3
"""Frames by which the lags of two chunks may differ in an unbroken stretch."""

_GRID = np.round(np.arange(0.94, 1.06001, 0.0025), 4)  # rates that are tried
_NEAR = 0.0013  # half a step of the grid: the best rate stands for a standard rate so near,
_ALMOST = 0.97  # if that scores nearly as well
_RATE_CHUNKS = 12  # chunks that are looked for at each rate; the worst third does not count
_PEAKS = 5  # places kept for each chunk
_SUPPRESSED = round(0.5 / FRAME)  # frames between two of them
# What the best path through the chunks gains and pays, as correlations:
_NO_MATCH_GAIN = 0.09  # a chunk without a match: lower peaks are accidents
_JUMP_COST = 0.35  # another lag, by a cut or an insertion
_MATCH_COST = 0.05  # a match after none, or none after a match
_LEAST_PEAK = 0.12  # the correlation from which on a chunk is expected beside the last
_STEADY = 3e-5  # slope of the lag that is left as it is: 0.2 seconds in two hours
_LARGEST_SLOPE = 0.0013  # half a step of the grid


@dataclass(frozen=True)
class RateChoice:
    """The speed of a track against the film."""

    rate: float  # film seconds for each second of the track
    score: float  # how well the track fits at this rate: the mean of its best correlations
    at_edge: bool = False  # whether the best rate is the lowest or the highest that was tried


@dataclass(frozen=True)
class Anchors:
    """Where chunks of the track are in the film."""

    rate: float  # the rate they were found at
    starts: NDArray[np.int64]  # the frame in which each chunk begins, at the film's speed
    # The film's frame less the track's, between frames too; NaN without a match.
    lags: NDArray[np.float64]
    peaks: NDArray[np.float64]  # the correlation there, 0 without a match

    @property
    def confidence(self) -> float:
        """How well the whole track fits the film, from 0 to 1."""
        return float(self.peaks.mean()) if len(self.peaks) else 0.0


class FilmIndex:
    """Correlates chunks with any part of a film quickly: its spectra are computed once."""

    def __init__(self, film: Floats, chunk: int) -> None:
        self._chunk = chunk
        self._size = fft.next_fast_len(8 * chunk, real=True)
        self._useful = self._size - chunk + 1
        self.first, self.last = -chunk + 1, len(film) - 1  # places a chunk may begin at
        count = -(-(self.last - self.first + 1) // self._useful)
        spectra = np.empty((self._size // 2 + 1, count, film.shape[1]), np.complex64)
        for block in range(count):
            begin = self.first + block * self._useful
            part = np.zeros((self._size, film.shape[1]), np.float32)
            low, high = max(0, begin), min(len(film), begin + self._size)
            if low < high:
                part[low - begin : high - begin] = film[low:high]
            spectra[:, block] = fft.rfft(part, axis=0)
        self._spectra = spectra

    def correlate(
        self, chunk: Floats, low: int | None = None, high: int | None = None
    ) -> tuple[Floats, int]:
        """Return the mean product of a chunk and the film at places from `low` to `high`."""
        low = self.first if low is None else max(self.first, low)
        high = self.last if high is None else min(self.last, high)
        if low > high:
            return np.zeros(0, np.float32), low
        begin = (low - self.first) // self._useful
        end = (high - self.first) // self._useful + 1
        spectrum = fft.rfft(chunk, self._size, axis=0).conj()
        product = np.matmul(self._spectra[:, begin:end], spectrum[:, :, None])[:, :, 0]
        values = fft.irfft(product.T, self._size, axis=1)[:, : self._useful].ravel()
        offset = low - self.first - begin * self._useful
        values = values[offset : offset + high - low + 1] / chunk.size
        return values, low


def estimate_rate(track: Floats, film: Floats, progress: Progress | None = None) -> RateChoice:
    """Find the speed of a track against the film, by the features of both."""
    coarse_track, coarse_film = coarse_features(track), coarse_features(film)
    chunk = min(CHUNK // 2, max(1, len(coarse_track) - 1))
    index = FilmIndex(coarse_film, chunk)
    rates = np.unique(np.concatenate([_GRID, list(STANDARD_RATES.values())]))
    scores = np.empty(len(rates))
    for number, rate in enumerate(rates):
        at_rate = stretched(coarse_track, float(rate))
        starts = np.linspace(0, max(0, len(at_rate) - chunk), _RATE_CHUNKS).astype(int)
        peaks = [float(index.correlate(at_rate[k : k + chunk])[0].max()) for k in starts]
        scores[number] = np.mean(np.sort(peaks)[_RATE_CHUNKS // 3 :])
        if progress:
            progress(number + 1, len(rates))
    best = int(np.argmax(scores))
    at_edge = bool(rates[best] in (_GRID[0], _GRID[-1]))
    for rate in sorted(STANDARD_RATES.values(), key=lambda rate: abs(rate - rates[best])):
        score = float(scores[np.searchsorted(rates, rate)])
        if abs(rate / rates[best] - 1) <= _NEAR and score >= _ALMOST * scores[best]:
            return RateChoice(rate, score)
    return RateChoice(float(rates[best]), float(scores[best]), at_edge)


def coarse_features(features: Floats) -> Floats:
    """Average pairs of frames and groups of three bands: 40 ms, 8 bands."""
    frames, bands = len(features) // 2, features.shape[1] // 3
    grouped = features[: 2 * frames].reshape(frames, 2, bands, 3)
    result: Floats = grouped.mean(axis=(1, 3))
    return result


def find_anchors(
    track: Floats,
    film: Floats,
    rate: float,
    *,
    search: float | None = 60.0,
    steady: bool = False,
    progress: Progress | None = None,
) -> Anchors:
    """Find where the chunks of a track are in the film, by the features of both.

    The rate is corrected by them unless it is to stay `steady`. Chunks are looked for `search`
    seconds around the place expected, or in the whole film.
    """
    index = FilmIndex(film, min(CHUNK, len(track)))
    for attempt in range(4):
        at_rate = stretched(track, rate)
        anchors = _matched(at_rate, index, rate, search, progress)
        slope = _slope(anchors)
        if steady or abs(slope) <= _STEADY or attempt == 3:
            break
        rate *= 1 + slope
    return anchors


def _matched(
    track: Floats, index: FilmIndex, rate: float, search: float | None, progress: Progress | None
) -> Anchors:
    starts = np.arange(0, max(1, len(track) - CHUNK // 2), HOP)
    reach = None if search is None else round(search / FRAME)
    candidates: list[list[tuple[float, float]]] = []
    expected: float | None = None
    usual: list[float] = []
    for number, start in enumerate(starts.tolist()):
        chunk = track[start : start + CHUNK]
        peaks: list[tuple[float, float]] = []
        enough = max(_LEAST_PEAK, 0.5 * float(np.median(usual))) if usual else np.inf
        if reach is not None and expected is not None:
            centre = round(start + expected)
            peaks = _peaks(*index.correlate(chunk, centre - reach, centre + reach), start)
        if not peaks or peaks[0][1] < enough:
            peaks = _peaks(*index.correlate(chunk), start)
        if peaks and peaks[0][1] >= max(_LEAST_PEAK, enough if usual else 0):
            expected = peaks[0][0]
            usual.append(peaks[0][1])
        candidates.append(peaks)
        if progress:
            progress(number + 1, len(starts))
    chosen = _best_path(candidates)
    lags = np.array([peaks[k][0] if k >= 0 else np.nan for k, peaks in chosen])
    heights = np.array([peaks[k][1] if k >= 0 else 0.0 for k, peaks in chosen])
    return Anchors(rate, starts, lags, heights)


def _peaks(values: Floats, first: int, start: int) -> list[tuple[float, float]]:
    """List the highest places as lag and height, each half a second from the others."""
    values = values.copy()
    peaks = []
    for _ in range(_PEAKS):
        if not len(values):
            break
        top = int(np.argmax(values))
        height = float(values[top])
        if height <= 0:
            break
        shift = 0.0
        if 0 < top < len(values) - 1 and values[top - 1] > -np.inf < values[top + 1]:
            left, right = float(values[top - 1]), float(values[top + 1])
            bend = left - 2 * height + right
            shift = 0.5 * (left - right) / bend if bend < 0 else 0.0
        peaks.append((first + top + float(np.clip(shift, -0.5, 0.5)) - start, height))
        values[max(0, top - _SUPPRESSED) : top + _SUPPRESSED + 1] = -np.inf
    return peaks


def _best_path(
    candidates: list[list[tuple[float, float]]],
) -> list[tuple[int, list[tuple[float, float]]]]:
    """Choose a peak, or none (-1), for each chunk, so that the lag changes where it must only."""
    totals = np.zeros(1)
    lags = np.array([np.nan])
    pointers: list[NDArray[np.intp]] = []
    for peaks in candidates:
        new_lags = np.array([np.nan] + [lag for lag, _ in peaks])
        gains = np.array([_NO_MATCH_GAIN] + [height for _, height in peaks])
        apart = np.abs(new_lags[:, None] - lags[None, :])
        none_new, none_old = np.isnan(new_lags)[:, None], np.isnan(lags)[None, :]
        cost = np.where(apart > SAME_LAG, _JUMP_COST, 0.0)
        cost = np.where(none_new | none_old, np.where(none_new & none_old, 0.0, _MATCH_COST), cost)
        reached = totals[None, :] - cost
        best = np.argmax(reached, axis=1)
        pointers.append(best)
        totals = reached[np.arange(len(best)), best] + gains
        lags = new_lags
    state = int(np.argmax(totals))
    path: list[tuple[int, list[tuple[float, float]]]] = []
    for peaks, best in zip(reversed(candidates), reversed(pointers), strict=True):
        path.append((state - 1, peaks))
        state = int(best[state])
    return path[::-1]


def _slope(anchors: Anchors) -> float:
    """Estimate how fast the lag grows with time: the median over pairs of anchors.

    Pairs with a cut or an insertion between them say nothing about it.
    """
    slopes = [np.zeros(0)]
    for apart in range(4, 13):
        if apart < len(anchors.lags):
            change = anchors.lags[apart:] - anchors.lags[:-apart]
            length = anchors.starts[apart:] - anchors.starts[:-apart]
            unbroken = np.abs(change) <= 1 + _LARGEST_SLOPE * length
            slopes.append(change[unbroken] / length[unbroken])
    values = np.concatenate(slopes)
    return float(np.median(values)) if len(values) else 0.0
