"""Align a described track with its film: a time map, and what to know about it.

Features find the rate and the stretches that belong together, in whatever order of speed, cut or
insertion; where the waveforms agree, they place each stretch to a fraction of a sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reelscore._progress import Progress, Steps
from reelscore.corpus.anchors import (
    CHUNK,
    SAME_LAG,
    Anchors,
    RateChoice,
    estimate_rate,
    find_anchors,
)
from reelscore.corpus.audio import Samples
from reelscore.corpus.features import FRAME, running_mean, sound_features, stretched
from reelscore.corpus.records import Piece
from reelscore.corpus.time_map import TimeMap, within_film
from reelscore.corpus.waveforms import MINUTE, Line, best_edges, fitted, phase_agreement

Floats = NDArray[np.float32]

RELATED = 0.12
"""The confidence from which on two tracks belong to the same film."""

COHERENT = 0.15
"""The phase agreement from which on two waveforms are of the same recording."""

_MARGIN = round(10 / FRAME)  # frames around the chunks in which a stretch may begin or end
_EXTENDED = 3.0  # seconds left at an end of the track belong to the stretch beside them
_NONE, _CHANGE = 0.06, 5.0
_FEATURE_SMOOTHING = round(1 / FRAME)


@dataclass(frozen=True)
class Alignment:
    """A described track on the film's time.

    Attributes:
        map: Which time of the film each time of the track shows; without pieces if none does.
        rate: Film seconds for each second of the track.
        confidence: How well they fit, from 0 to 1; below 0.12 they are of different films.
        coherent: How well the phases of the waveforms agree, up to 1.
        rate_at_edge: Whether the best rate is the lowest or the highest that was tried.
        residuals: For each piece how far its measured places lie from it, in seconds.
        film_seconds: The length of the film.
        ad_seconds: The length of the track.
    """

    map: TimeMap
    rate: float
    confidence: float
    coherent: float
    rate_at_edge: bool
    residuals: tuple[float, ...]
    film_seconds: float
    ad_seconds: float

    @property
    def related(self) -> bool:
        """Whether both are of the same film."""
        return bool(self.map.pieces)

    @property
    def stretched(self) -> bool:
        """Whether the track was changed in speed but not in pitch, so that waveforms differ."""
        return self.related and self.coherent <= COHERENT


@dataclass(frozen=True)
class _Run:
    """Neighbouring anchors with the same lag: numbers of the first and the last chunk."""

    first: int
    last: int


def align_samples(
    ad: Samples,
    film: Samples,
    *,
    rate: float | None = None,
    search: float | None = 60.0,
    progress: Progress | None = None,
) -> Alignment:
    """Align the samples of a described track with those of its film.

    Args:
        ad: The described track.
        film: The film.
        rate: Film seconds for each second of the track; found if not given.
        search: How many seconds around the expected place to look; None for the whole film.
        progress: Called with the work done and the work there is.
    """
    work = _Shares(progress)
    ad_features = sound_features(ad, work.share(10))
    film_features = sound_features(film, work.share(10))
    choice = RateChoice(rate, 0.0) if rate else None
    choice = choice or estimate_rate(ad_features, film_features, work.share(10))
    anchors = find_anchors(
        ad_features,
        film_features,
        choice.rate,
        search=search,
        steady=rate is not None,
        progress=work.share(15),
    )
    pieces: list[Piece] = []
    residuals: list[float] = []
    coherent = 0.0
    runs = _runs(anchors)
    if anchors.confidence >= RELATED and runs:
        rough = [_rough_line(anchors, run) for run in runs]
        windows = sum(line.ad[-1] - line.ad[0] for line in rough) / 2
        step = Steps(work.share(30), max(1, int(windows)))
        lines = [fitted(ad, film, line, step) for line in rough]
        spans = _spans(anchors, runs, int(ad.seconds * anchors.rate / FRAME) + 1)
        cores = [_core(anchors, run, span) for run, span in zip(runs, spans, strict=True)]
        step = Steps(work.share(25), sum(-((low - high) // MINUTE) for low, high in spans))
        agreements = [
            2 * phase_agreement(ad, film, line, anchors.rate, span, step)
            for line, span in zip(lines, spans, strict=True)
        ]
        inside = [
            values[low - first : high - first]
            for values, (first, _), (low, high) in zip(agreements, spans, cores, strict=True)
        ]
        coherent = float(np.median(np.concatenate(inside))) / 2
        none = _NONE
        if coherent <= COHERENT:
            at_rate, lines, none = stretched(ad_features, anchors.rate), rough, _NONE / 2
            agreements = [
                _feature_agreement(at_rate, film_features, line, anchors.rate, span)
                for line, span in zip(lines, spans, strict=True)
            ]
        jumps = _jumps(lines, cores, anchors.rate)
        firsts = [first for first, _ in spans]
        edges = best_edges(agreements, firsts, cores, jumps, none=none, cost=_CHANGE)
        pieces, residuals = _pieces(lines, edges, anchors.rate, ad.seconds)
    time_map = within_film(pieces, ad.seconds, film.seconds)
    length = sum(piece.ad_end - piece.ad_start for piece in time_map.pieces)
    shown = sum(piece.film_end - piece.film_start for piece in time_map.pieces)
    return Alignment(
        map=time_map,
        rate=shown / length if length else anchors.rate,
        confidence=anchors.confidence,
        coherent=coherent,
        rate_at_edge=choice.at_edge,
        residuals=tuple(residuals),
        film_seconds=film.seconds,
        ad_seconds=ad.seconds,
    )


class _Shares:
    """Divides a progress of 100 among several kinds of work."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress, self._begin = progress, 0

    def share(self, size: int) -> Progress | None:
        if self._progress is None:
            return None
        begin, show = self._begin, self._progress
        self._begin += size
        return lambda done, total: show(begin + size * min(done, total) // total, 100)


def _runs(anchors: Anchors) -> list[_Run]:
    """Group the chunks by lag; chunks without a match do not part those around them."""
    runs: list[_Run] = []
    for number, lag in enumerate(anchors.lags):
        if np.isnan(lag):
            continue
        if runs and abs(lag - anchors.lags[runs[-1].last]) <= SAME_LAG:
            runs[-1] = _Run(runs[-1].first, number)
        else:
            runs.append(_Run(number, number))
    return runs


def _rough_line(anchors: Anchors, run: _Run) -> Line:
    """Put a straight line through the anchors of a run."""
    numbers = np.arange(run.first, run.last + 1)
    numbers = numbers[~np.isnan(anchors.lags[numbers])]
    middles = anchors.starts[numbers] + CHUNK / 2
    lags = anchors.lags[numbers]
    low = float(anchors.starts[run.first])
    high = float(anchors.starts[run.last] + CHUNK)
    slope, level = 0.0, float(np.median(lags))
    if len(numbers) >= 6:
        for _ in range(3):
            slope, level = np.polyfit(middles, lags, 1)
            away = np.abs(slope * middles + level - lags)
            near = away <= max(0.25, 2.5 * float(np.median(away)))
            middles, lags = middles[near], lags[near]
    ends = np.array([low, high])
    return Line(ends * FRAME / anchors.rate, (ends + level + slope * ends) * FRAME)


def _spans(anchors: Anchors, runs: list[_Run], frames: int) -> list[tuple[int, int]]:
    """Give for each run the frames in which it may apply: into its neighbours' outer chunks."""
    spans = []
    for number in range(len(runs)):
        low, high = 0, frames
        if number > 0:
            low = max(0, int(anchors.starts[runs[number - 1].last]) - _MARGIN)
        if number < len(runs) - 1:
            end = int(anchors.starts[runs[number + 1].first]) + CHUNK + _MARGIN
            high = min(frames, end)
        spans.append((low, high))
    return spans


def _core(anchors: Anchors, run: _Run, span: tuple[int, int]) -> tuple[int, int]:
    """Give two frames between which a run applies for certain."""
    first, last = int(anchors.starts[run.first]), int(anchors.starts[run.last])
    middle = min((first + last + CHUNK) // 2, (first + span[1]) // 2)
    return min(first + CHUNK + _MARGIN, middle), max(last - _MARGIN, middle + 1)


def _jumps(lines: list[Line], cores: list[tuple[int, int]], rate: float) -> list[int]:
    """Give how many frames the film goes on where one line takes over from another."""
    jumps = []
    for number, (left, right) in enumerate(pairwise(lines)):
        middle = (cores[number][1] + cores[number + 1][0]) / 2
        time = np.array([middle * FRAME / rate])
        jumps.append(round(float(right.film_at(time)[0] - left.film_at(time)[0]) / FRAME))
    return jumps


def _feature_agreement(
    track: Floats, film: Floats, line: Line, rate: float, span: tuple[int, int]
) -> Floats:
    """Measure frame by frame how well features agree along a line."""
    places = np.arange(span[0], span[1])
    times = (places * FRAME / rate).astype(np.float64)
    there = np.rint(line.film_at(times) / FRAME).astype(np.int64)
    valid = (places < len(track)) & (there >= 0) & (there < len(film))
    values = np.zeros(len(places))
    values[valid] = (track[places[valid]] * film[there[valid]]).mean(axis=1)
    return running_mean(values, _FEATURE_SMOOTHING).astype(np.float32)


def _pieces(
    lines: list[Line], edges: list[tuple[int, int]], rate: float, seconds: float
) -> tuple[list[Piece], list[float]]:
    """Cut the lines to their edges, in seconds of the track."""
    pieces, residuals = [], []
    for number, (line, (begin, end)) in enumerate(zip(lines, edges, strict=True)):
        low, high = begin * FRAME / rate, end * FRAME / rate
        if number == 0 and low < _EXTENDED:
            low = 0.0
        if number == len(lines) - 1 and seconds - high < _EXTENDED:
            high = seconds
        if high <= low:
            continue
        knots = np.array([low, *(time for time in line.ad[1:-1] if low < time < high), high])
        for start, stop, there, then in zip(
            knots[:-1], knots[1:], line.film_at(knots[:-1]), line.film_at(knots[1:]), strict=True
        ):
            slope = float((then - there) / (stop - start))
            pieces.append(Piece(float(start), float(stop), float(there), slope))
            residuals.append(line.residual)
    return pieces, residuals
