"""Align a described track with its film: a time map, and what to know about it.

Features find the rate and the stretches that belong together, in whatever order of speed, cut or
insertion; where the waveforms agree, they place each stretch to a fraction of a sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from reelscore._progress import Progress, Steps
from reelscore.corpus.sound.audio import Floats, Samples
from reelscore.corpus.sound.film_anchors import (
    CHUNK,
    SAME_LAG,
    Anchors,
    RateChoice,
    estimate_rate,
    find_anchors,
)
from reelscore.corpus.sound.sound_features import FRAME, running_mean, sound_features, stretched
from reelscore.corpus.sound.waveforms import (
    MINUTE,
    AlignedStretch,
    best_edges,
    fitted,
    phase_agreement,
)
from reelscore.corpus.time_map import Piece, TimeMap, within_film

RELATED = 0.12
"""The confidence from which on two tracks belong to the same film."""

COHERENT = 0.15
"""The phase agreement from which on two waveforms are of the same recording."""

_MARGIN = round(10 / FRAME)  # frames around the chunks in which a stretch may begin or end
_EXTENDED = 3.0  # seconds left at an end of the track belong to the stretch beside them
_SHORTEST = 0.5  # seconds of a piece; what is shorter is an accident
_NONE = 0.06  # agreement from which on a frame counts for a line; half of it for features
_CHANGE = 5.0  # what a cut and an insertion at one place cost: five frames of full agreement
_FEATURE_SMOOTHING = round(1 / FRAME)  # frames: features vary more than waveforms


@dataclass(frozen=True)
class FilmAlignment:
    """A described track on the film's time."""

    map: TimeMap  # which time of the film each time of the track shows; without pieces if none does
    rate: float  # film seconds for each second of the track
    confidence: float  # how well they fit, from 0 to 1; below 0.12 they are of different films
    coherent: float  # how well the phases of the waveforms agree, up to 1
    rate_at_edge: bool  # whether the best rate is the lowest or the highest that was tried
    residual: float  # how far measured places lie from the map, in seconds, where they do so most
    residual_at: float  # when that stretch of the track begins
    film_seconds: float  # the length of the film
    ad_seconds: float  # the length of the track

    @property
    def related(self) -> bool:
        """Whether both are of the same film."""
        return bool(self.map.pieces)

    @property
    def stretched(self) -> bool:
        """Whether the track was changed in speed but not in pitch, so that waveforms differ."""
        return self.related and self.coherent <= COHERENT


def align_samples(
    ad: Samples,
    film: Samples,
    *,
    rate: float | None = None,
    search: float | None = 60.0,
    progress: Progress | None = None,
) -> FilmAlignment:
    """Align the samples of a described track with those of its film, as `align` does."""
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
    coherent = 0.0
    lines = [_rough_line(anchors, *run) for run in _runs(anchors)]
    if lines and anchors.confidence >= RELATED:
        step = Steps(work.share(30), int(sum(line.length for line in lines) / 2) + 1)
        exact = _in_order([line for rough in lines for line in fitted(ad, film, rough, step)])
        places = _Places(exact, anchors.rate, ad.seconds)
        minutes = sum(-((low - high) // MINUTE) for low, high in places.spans)
        step = Steps(work.share(25), minutes)
        agreements = [
            2 * phase_agreement(ad, film, line, anchors.rate, span, step)
            for line, span in zip(exact, places.spans, strict=True)
        ]
        coherent = places.usual(agreements) / 2
        none = _NONE
        if coherent > COHERENT:
            lines = exact
        else:
            none = _NONE / 2
            places = _Places(lines, anchors.rate, ad.seconds)
            at_rate = stretched(ad_features, anchors.rate)
            agreements = [
                _feature_agreement(at_rate, film_features, line, anchors.rate, span)
                for line, span in zip(lines, places.spans, strict=True)
            ]
        edges = best_edges(
            agreements,
            [first for first, _ in places.spans],
            places.cores,
            places.jumps,
            none=none,
            cost=_CHANGE,
        )
        pieces = _pieces(lines, edges, anchors.rate, ad.seconds)
    time_map = within_film(pieces, ad.seconds, film.seconds)
    length = sum(piece.ad_end - piece.ad_start for piece in time_map.pieces)
    shown = sum(piece.film_end - piece.film_start for piece in time_map.pieces)
    least_steady = max(lines, key=lambda line: line.residual, default=None)
    return FilmAlignment(
        map=time_map,
        rate=shown / length if length else anchors.rate,
        confidence=anchors.confidence,
        coherent=coherent,
        rate_at_edge=choice.at_edge,
        residual=least_steady.residual if least_steady else 0.0,
        residual_at=float(least_steady.ad[0]) if least_steady else 0.0,
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


def _runs(anchors: Anchors) -> list[tuple[int, int]]:
    """Group the chunks by lag, by the numbers of the first and the last.

    Chunks without a match do not part those around them.
    """
    runs: list[tuple[int, int]] = []
    for number, lag in enumerate(anchors.lags):
        if np.isnan(lag):
            continue
        if runs and abs(lag - anchors.lags[runs[-1][1]]) <= SAME_LAG:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def _rough_line(anchors: Anchors, first: int, last: int) -> AlignedStretch:
    """Put a straight line through the anchors of a run."""
    numbers = np.arange(first, last + 1)
    numbers = numbers[~np.isnan(anchors.lags[numbers])]
    middles = anchors.starts[numbers] + CHUNK / 2
    lags = anchors.lags[numbers]
    low = float(anchors.starts[first])
    high = float(anchors.starts[last] + CHUNK)
    slope, level = 0.0, float(np.median(lags))
    if len(numbers) >= 6:
        for _ in range(3):
            slope, level = np.polyfit(middles, lags, 1)
            away = np.abs(slope * middles + level - lags)
            near = away <= max(0.25, 2.5 * float(np.median(away)))
            middles, lags = middles[near], lags[near]
    ends = np.array([low, high])
    return AlignedStretch(ends * FRAME / anchors.rate, (ends + level + slope * ends) * FRAME)


def _in_order(lines: list[AlignedStretch]) -> list[AlignedStretch]:
    """Leave out lines that no waveform speaks for and that break the order of the film.

    Sounds that were inserted may resemble any part of the film by accident.
    """
    sure = [line for line in lines if line.windows]
    kept = []
    for line in lines:
        before = [each.film[-1] for each in sure if each.ad[0] < line.ad[0]]
        after = [each.film[0] for each in sure if each.ad[0] > line.ad[0]]
        follows = not before or line.film[0] >= before[-1] - CHUNK * FRAME
        precedes = not after or line.film[-1] <= after[0] + CHUNK * FRAME
        if line.windows or (follows and precedes):
            kept.append(line)
    return kept


class _Places:
    """In which frames of the track lines may apply, and in which they do for certain."""

    def __init__(self, lines: list[AlignedStretch], rate: float, seconds: float) -> None:
        count = int(seconds * rate / FRAME) + 1
        firsts = [round(line.ad[0] * rate / FRAME) for line in lines]
        lasts = [min(count, round(line.ad[-1] * rate / FRAME)) for line in lines]
        outer = CHUNK + _MARGIN
        lows = [0, *(max(0, last - outer) for last in lasts[:-1])]
        highs = [*(min(count, first + outer) for first in firsts[1:]), count]
        middles = [(first + last) // 2 for first, last in zip(firsts, lasts, strict=True)]
        # where each line may apply, into its neighbours' outer chunks; where it does for certain
        self.spans = list(zip(lows, highs, strict=True))
        self.cores = [
            (min(first + outer, middle), max(last - outer, middle + 1))
            for first, middle, last in zip(firsts, middles, lasts, strict=True)
        ]
        self.jumps = []  # frames that the film goes on where one line takes over from another
        for number, (left, right) in enumerate(pairwise(lines)):
            between = (self.cores[number][1] + self.cores[number + 1][0]) / 2
            time = np.array([between * FRAME / rate])
            jump = float(right.film_at(time)[0] - left.film_at(time)[0])
            self.jumps.append(round(jump / FRAME))

    def usual(self, agreements: list[Floats]) -> float:
        """Return the median of the agreement where lines apply for certain."""
        inside = [
            values[low - first : high - first]
            for values, (first, _), (low, high) in zip(
                agreements, self.spans, self.cores, strict=True
            )
        ]
        return float(np.median(np.concatenate(inside)))


def _feature_agreement(
    track: Floats, film: Floats, line: AlignedStretch, rate: float, span: tuple[int, int]
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
    lines: list[AlignedStretch], edges: list[tuple[int, int]], rate: float, seconds: float
) -> list[Piece]:
    """Cut the lines to their edges, in seconds of the track."""
    pieces = []
    for number, (line, (begin, end)) in enumerate(zip(lines, edges, strict=True)):
        low, high = begin * FRAME / rate, end * FRAME / rate
        if number == 0 and low < _EXTENDED:
            low = 0.0
        if number == len(lines) - 1 and seconds - high < _EXTENDED:
            high = seconds
        if high - low < _SHORTEST:
            continue
        knots = np.array([low, *(time for time in line.ad[1:-1] if low < time < high), high])
        for (start, stop), (there, then) in zip(
            pairwise(knots.tolist()), pairwise(line.film_at(knots).tolist()), strict=True
        ):
            pieces.append(Piece(start, stop, there, (then - there) / (stop - start)))
    return pieces
