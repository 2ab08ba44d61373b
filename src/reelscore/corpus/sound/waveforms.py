"""Where the waveforms of a track and a film agree: exact times, and from when to when.

A *line* says which time of the film a time of the track shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reelscore._progress import Steps
from reelscore.corpus.sound.audio import RATE, Doubles, Samples
from reelscore.corpus.sound.film_anchors import STANDARD_RATES
from reelscore.corpus.sound.sound_features import (
    FRAME,
    HOP,
    fft,
    hann_window,
    running_mean,
    windowed_spectra,
)

MINUTE = 3000
"""Frames of 20 ms that are read at once."""

_WINDOW = 2 * RATE  # samples that are compared at once
_FINER = 4  # places read between two samples
_REACH = round(0.06 * RATE)  # samples: anchors are right to about 50 ms
_LOWEST, _HIGHEST = 80.0, 6000.0  # hertz: hum below and what codecs drop above say nothing
_WHITENING = 0.8  # exponent of the power taken out: peaks are sharp, and noise does not decide
_CLEAR = 8.0  # times the spread of the correlation: a peak that is no accident
_TRIALS = 200  # pairs of windows: a few hit the line even where one window in ten lies on it
_STEEPEST = 0.002  # relative change of the rate: clocks wander by less
_INLIER = 0.0006  # seconds, ten samples: how far a window may lie from its line
_FEWEST = 4  # windows on a line: fewer agree by accident
_MOST = 0.75  # of windows in a row that make a line of their own
_PROBES = 12  # windows that choose between two rates
_LONG, _STRETCH = 600.0, 300.0  # seconds: longer lines may bend, about every five minutes

_PHASE_WINDOW = 512  # samples: 32 ms
_PHASE_BINS = slice(3, 161)  # 94 Hz to 5 kHz
_SMOOTH = round(0.2 / FRAME)  # frames: single ones are too noisy to decide


@dataclass(frozen=True)
class AlignedStretch:
    """A stretch of the track and the film's times of it: a straight line, or several joined.

    >>> AlignedStretch(np.array([0.0, 10.0]), np.array([5.0, 15.0])).film_at(np.array([2.0, 11.0]))
    array([ 7., 16.])
    """

    ad: Doubles  # the times of the track at which the line bends, and its ends, rising
    film: Doubles  # the times of the film there
    residual: float = 0.0  # how far the measured places lie from the line, in seconds: the median
    windows: int = 0  # how many measured places it rests on; 0 where waveforms do not agree

    @property
    def length(self) -> float:
        """How long the stretch of the track is, in seconds."""
        return float(self.ad[-1] - self.ad[0])

    @property
    def rate(self) -> float:
        """Film seconds for each second of the track, over the whole stretch."""
        return float(self.film[-1] - self.film[0]) / self.length

    def film_at(self, ad: Doubles) -> Doubles:
        """Return the film's times of times of the track, beyond the ends too."""
        part = np.clip(np.searchsorted(self.ad, ad, side="right") - 1, 0, len(self.ad) - 2)
        slopes = np.diff(self.film) / np.diff(self.ad)
        times: Doubles = self.film[part] + (ad - self.ad[part]) * slopes[part]
        return times


def fitted(
    ad: Samples, film: Samples, line: AlignedStretch, step: Steps | None = None
) -> list[AlignedStretch]:
    """Fit lines to the waveforms: every two seconds the delay at which they agree best.

    The straight line that is given says where they are to about 50 ms.
    """
    rate = _clearest_rate(ad, film, line)
    times, places = [], []
    for start in _window_starts(line):
        middle, place, clarity = _measured(ad, film, line, rate, start)
        if clarity >= _CLEAR:
            times.append(middle)
            places.append(place)
        if step:
            step()
    return _lines_through(np.array(times), np.array(places), line)


def _window_starts(line: AlignedStretch) -> Doubles:
    return np.arange(line.ad[0], max(line.ad[0], line.ad[-1] - 2.0) + 1e-9, 2.0)


def _clearest_rate(ad: Samples, film: Samples, line: AlignedStretch) -> float:
    """Choose between the rate of a line and the standard rate beside it.

    A little that was cut tilts the line; waveforms at the wrong rate agree less.
    """
    rate = line.rate
    near = [each for each in STANDARD_RATES.values() if 0 < abs(rate / each - 1) < _STEEPEST]
    starts = _window_starts(line)
    starts = starts[np.linspace(0, len(starts) - 1, _PROBES).astype(int)]
    clarity = {
        each: float(np.mean([_measured(ad, film, line, each, start)[2] for start in starts]))
        for each in [rate, *near]
        if near
    }
    return max(clarity, key=lambda each: clarity[each]) if clarity else rate


def _measured(
    ad: Samples, film: Samples, line: AlignedStretch, rate: float, start: float
) -> tuple[float, float, float]:
    """Compare a window of the track with the film: its middle, that in the film, how clearly."""
    about = float(line.film_at(np.array([start]))[0])
    first = round(about * RATE)
    exact = start + (first / RATE - about) / rate  # the track's time of that sample
    delay, clarity = _delay(ad.resampled(exact * RATE, 1 / rate, _WINDOW), film, first)
    return exact + 1 / rate, first / RATE + 1 + delay, clarity


def _delay(sound: NDArray[np.float32], film: Samples, first: int) -> tuple[float, float]:
    """Find how much later the film has a sound than at a sample, in seconds, and how clearly."""
    other = film.read(first, first + _WINDOW)
    if not sound.any() or not other.any():
        return 0.0, 0.0
    size = 2 * _WINDOW
    product = fft.rfft(other, size) * fft.rfft(sound, size).conj()
    product /= np.abs(product) ** _WHITENING + 1e-12
    frequencies = np.arange(len(product)) * RATE / size
    product[(frequencies < _LOWEST) | (frequencies > _HIGHEST)] = 0
    finer = np.zeros(_FINER * size // 2 + 1, product.dtype)
    finer[: len(product)] = product
    wave = fft.irfft(finer, _FINER * size)
    reach = _FINER * _REACH
    near = np.concatenate([wave[-reach:], wave[: reach + 1]])
    top = int(np.argmax(near))
    if not 0 < top < len(near) - 1:
        return 0.0, 0.0
    left, middle, right = (float(value) for value in near[top - 1 : top + 2])
    between = 0.5 * (left - right) / (left - 2 * middle + right)
    clarity = middle / (float(np.sqrt(np.mean(near**2))) + 1e-30)
    return (top + between - reach) / _FINER / RATE, clarity


def _lines_through(times: Doubles, places: Doubles, line: AlignedStretch) -> list[AlignedStretch]:
    """Fit the line that most windows agree on; a long one may bend, since clocks wander.

    Windows in a row that agree on another line are fitted apart.
    """
    parts = max(1, round(line.length / _STRETCH)) if line.length > _LONG else 1
    knots = np.linspace(line.ad[0], line.ad[-1], parts + 1)
    fits = np.zeros(len(times), bool)
    for low, high in pairwise(knots):
        inside = (times >= low) & (times <= high)
        fits[inside] = _agreed(times[inside], places[inside], line.rate)
    if fits.sum() < _FEWEST:
        return [line]
    if apart := _apart(times, places, fits, line.rate):
        bounds = [0, *apart, len(times)]
        edges = [line.ad[0], *((times[k - 1] + times[k]) / 2 for k in apart), line.ad[-1]]
        lines = []
        for (first, last), ends in zip(pairwise(bounds), pairwise(edges), strict=True):
            own = AlignedStretch(np.array(ends), line.film_at(np.array(ends)))
            lines += _lines_through(times[first:last], places[first:last], own)
        return lines
    times, places = times[fits], places[fits]
    hats = np.stack([np.interp(times, knots, unit) for unit in np.eye(len(knots))], axis=1)
    # Knots without windows near them keep the slope of their neighbours.
    bends = 1e-3 * np.diff(np.eye(len(knots)), n=2, axis=0)
    wanted = np.concatenate([places - line.film_at(times), np.zeros(len(bends))])
    change, *_ = np.linalg.lstsq(np.vstack([hats, bends]), wanted, rcond=None)
    film = line.film_at(knots) + change
    residual = float(np.median(np.abs(np.interp(times, knots, film) - places)))
    return [AlignedStretch(knots, film, residual, int(fits.sum()))]


def _apart(times: Doubles, places: Doubles, fits: NDArray[np.bool_], rate: float) -> list[int]:
    """Find windows in a row that lie on a line of their own: where they begin and end."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], ~fits, [0]])))
    for first, last in edges.reshape(-1, 2).tolist():
        own = _agreed(times[first:last], places[first:last], rate)
        if last - first >= _FEWEST and own.mean() >= _MOST:
            return [k for k in (first, last) if 0 < k < len(times)]
    return []


def _agreed(times: Doubles, places: Doubles, rate: float) -> NDArray[np.bool_]:
    """Mark the windows on the line that most of them lie on, by random pairs of them."""
    if len(times) < 2:
        return np.ones(len(times), bool)
    random = np.random.default_rng(0)
    best = np.zeros(len(times), bool)
    for _ in range(_TRIALS):
        one, other = random.choice(len(times), 2, replace=False)
        slope = (places[other] - places[one]) / (times[other] - times[one])
        if abs(slope / rate - 1) < _STEEPEST:
            near = np.abs(places[one] + slope * (times - times[one]) - places) < _INLIER
            best = near if near.sum() > best.sum() else best
    return best


def phase_agreement(
    ad: Samples,
    film: Samples,
    line: AlignedStretch,
    rate: float,
    frames: tuple[int, int],
    step: Steps | None = None,
) -> NDArray[np.float32]:
    """Measure frame by frame how well the waveforms agree along a line."""
    window = hann_window(_PHASE_WINDOW)
    first, last = frames
    values = np.empty(last - first, np.float32)
    for begin in range(first, last, MINUTE):
        count = min(MINUTE, last - begin)
        middle = (begin + count / 2) * FRAME / rate
        around = line.film_at(np.array([middle - 1, middle + 1]))
        slope = float(around[1] - around[0]) / 2
        start = round((float(around.mean()) - (count / 2) * FRAME) * RATE) - _PHASE_WINDOW // 2
        place = middle + (start / RATE - float(around.mean())) / slope
        length = (count - 1) * HOP + _PHASE_WINDOW
        one, other = (
            windowed_spectra(sound, window, HOP)[:, _PHASE_BINS]
            for sound in (
                ad.resampled(place * RATE, 1 / slope, length),
                film.read(start, start + length),
            )
        )
        product = one * other.conj()
        product /= np.abs(product) + 1e-12
        values[begin - first : begin - first + count] = product.real.mean(axis=1)
        if step:
            step()
    return running_mean(values.astype(np.float64), _SMOOTH).astype(np.float32)


def best_edges(
    agreements: Sequence[NDArray[np.float32]],
    firsts: Sequence[int],
    cores: Sequence[tuple[int, int]],
    jumps: Sequence[int],
    *,
    none: float,
    cost: float,
) -> list[tuple[int, int]]:
    """Decide from which frame to which each stretch applies.

    The sum of agreement less `none` is made as large as can be. Between two stretches either the
    film was cut, and one follows the other at once; or something was inserted, exactly as long
    as the lag says; or, at a cost, both happened.
    """
    sums = [np.concatenate([[0.0], np.cumsum(values - none)]) for values in agreements]
    begins = [firsts[0] + int(np.argmin(sums[0][: cores[0][0] - firsts[0] + 1]))]
    ends = []
    for number, jump in enumerate(jumps):
        low, high = cores[number][1], cores[number + 1][0]
        left = _between(sums[number], firsts[number], low, high)
        right = _between(sums[number + 1], firsts[number + 1], low, high)
        inserted = min(max(0, -jump), len(left) - 1)
        tied = left[: len(left) - inserted] - right[inserted:]
        free = np.maximum.accumulate(left) - right - cost
        if tied.max() >= free.max():
            end = int(np.argmax(tied))
            begin = end + inserted
        else:
            begin = int(np.argmax(free))
            end = int(np.argmax(left[: begin + 1]))
        ends.append(low + end)
        begins.append(low + begin)
    ends.append(cores[-1][1] + int(np.argmax(sums[-1][cores[-1][1] - firsts[-1] :])))
    return list(zip(begins, ends, strict=True))


def _between(sums: Doubles, first: int, low: int, high: int) -> Doubles:
    """Cumulative sums from one frame to another; outside of what was measured they stay."""
    places = np.clip(np.arange(low, high + 1) - first, 0, len(sums) - 1)
    values: Doubles = sums[places]
    return values
