"""Segment the narration of a described track: when the narrator speaks, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore._progress import Progress
from reelscore.corpus.project_files import Segment, segment_id
from reelscore.corpus.sound.audio import RATE, Doubles, Samples
from reelscore.corpus.sound.narration import (
    HOP,
    BandPowers,
    band_powers,
    excess_level,
    joined_stretches,
    loud_stretches,
    narrator_side,
    unexplained_sound,
)
from reelscore.corpus.sound.sound_features import maximum_filter1d
from reelscore.corpus.sound.voices import Detector, voice_detector
from reelscore.corpus.time_map import TimeMap
from reelscore.errors import check_choice
from reelscore.wings import load, wings

RESIDUAL = "residual"  # the method that is meant for films; the studies have those of the paper

FRAME = HOP / RATE
"""Seconds between two frames."""

_THRESHOLDS = {RESIDUAL: (-20.0, -32.0), "power": (-16.0, -26.0)}  # start and extend, in dB
_QUIETER, _SHORTER = 14.0, 0.2  # dB below the threshold, seconds: enough where a voice is heard
_SMEARED = 0.03  # seconds by which averaging makes an end too late
_BEGUN, _EARLY, _SMEARED_START = 20.0, 0.2, 0.04  # dB below the voice; seconds
_FADED, _FADING = 48.0, 120.0  # dB below the voice at which its end is, and how many in a second
_LONGEST_FADE = 0.3  # seconds
_OFTEN = 0.45  # the share of narration above which the codec's noise is learnt outside of it
_FADE = 0.3  # seconds around narration that say nothing about the rest
_USUAL_REST, _ABOVE_REST, _FURTHER = 99.0, 6.0, 12.0  # per cent of frames; dB
_TURN = 0.5  # seconds between two segments of one turn
_FULL_CONFIDENCE = 20.0  # dB above the lower threshold
_SYLLABLES = (3.0, 8.0)  # hertz
_SPEECH = 0.2  # share of the changes of loudness at the rate of syllables


class LevelMethod(NamedTuple):
    """Another way to find narration: where a level is high, from frame to frame."""

    level: Callable[[Samples, Samples, TimeMap, Progress | None], Doubles]  # track, film
    thresholds: tuple[float, float]  # start and extend, in dB
    least: float = 0.0  # the shortest segment, in seconds
    channels: int = 1  # of the sound


def _offered() -> dict[str, str]:
    """Return where the methods of wings are, by name."""
    return {
        name: target
        for wing in wings()
        for name, target in getattr(wing, "NARRATION_METHODS", {}).items()
    }


def method_names() -> tuple[str, ...]:
    """Return the names of all methods that are there."""
    return (RESIDUAL, *_offered())


def level_method(name: str) -> LevelMethod | None:
    """Find a method by its name; ``None`` for `RESIDUAL`, which does more than look at a level."""
    check_choice("method", name, method_names())
    if name == RESIDUAL:
        return None
    method: LevelMethod = load(_offered()[name])
    return method


@dataclass(frozen=True)
class Segmentation:
    """The narration of a track."""

    segments: tuple[Segment, ...]  # in their order
    method: (
        str  # how they were found: `residual`, `power` (stretched tracks), or by a `LevelMethod`
    )
    # Level in dB that a segment must reach, and above which it goes on.
    thresholds: tuple[float, float]
    loudest: float  # the highest level of all frames
    loudest_at: float  # when that is
    share: float  # how much of the film's time is narrated
    # Below 0 where the narrator is rather in the film, by how steadily each track follows the
    # other.
    side_db: float = 0.0
    detector: str = ""  # what heard the voices, where something did


def segment_samples(
    ad: Samples,
    film: Samples,
    time_map: TimeMap,
    *,
    stretched: bool = False,
    method: str = RESIDUAL,
    threshold: float | None = None,
    min_length: float = 0.4,
    gap: float = 0.35,
    detector: Detector = "auto",
    progress: Progress | None = None,
) -> Segmentation:
    """Find the narration in the samples of a described track, as `segment` does."""
    by_level = level_method(method)
    voices = voice_detector(detector) if by_level is None else None
    name = "power" if by_level is None and stretched else method
    start, extend = by_level.thresholds if by_level else _THRESHOLDS[name]
    if threshold is not None:
        start, extend = threshold, threshold + extend - start
    if by_level:
        min_length = max(min_length, by_level.least)
    least_confident = extend
    find = partial(
        loud_stretches, start=start, extend=extend, gap=gap / FRAME, least=min_length / FRAME
    )
    rest = partial(unexplained_sound, ad, film, time_map, stretched=stretched)

    def has_voice(begin: int, end: int) -> bool:
        return voices is not None and voices.hears_voice(rest(begin * HOP, end * HOP))

    side = 0.0
    if by_level:
        stretches = find(level := by_level.level(ad, film, time_map, progress))
    else:
        powers = band_powers(ad, film, time_map, stretched=stretched, progress=progress)
        level, stretches, extend, side = _unexplained(powers, find, extend, stretched)
        if voices and name == "residual":
            other = np.where(_marked(stretches, len(level)), -np.inf, level)
            least = _SHORTER / FRAME
            quieter = find(other, start=start - _QUIETER, extend=extend, gap=1, least=least)
            heard = [each for each in quieter if has_voice(*each)]
            stretches = joined_stretches(sorted([*stretches, *heard]), gap / FRAME)
    segments = []
    for number, (begin, end) in enumerate(stretches):
        levels, times = level[begin:end], (begin * FRAME, min(end * FRAME, film.seconds))
        if name == "residual":
            following = stretches[number + 1][0] * FRAME if number + 1 < len(stretches) else np.inf
            latest = min(following - _TURN, film.seconds)
            times = _speech_edges(level, begin, end, extend, latest)
        is_voice = _is_speech(levels) or has_voice(begin, end)
        segments.append(_segment(levels, *times, least_confident, is_voice, time_map))
    top = int(np.argmax(level))
    narrated = sum(segment.end - segment.start for segment in segments)
    return Segmentation(
        tuple(segments),
        name,
        (start, extend),
        float(level[top]),
        round(top * FRAME, 3),
        narrated / film.seconds,
        side,
        voices.name if voices else "",
    )


def _unexplained(
    powers: BandPowers,
    find: Callable[..., list[tuple[int, int]]],
    extend: float,
    stretched: bool,
) -> tuple[Doubles, list[tuple[int, int]], float, float]:
    """Find where the film does not explain the track: level, stretches, how far down, the side."""
    stretches = find(level := excess_level(powers, stretched=stretched))
    inside = _marked(stretches, len(level))
    if inside.mean() > _OFTEN:
        level = excess_level(powers, stretched=stretched, outside=~inside)
        stretches = find(level)
        inside = _marked(stretches, len(level))
    side = 0.0 if stretched else narrator_side(powers, inside)
    if stretches:
        extend = _lower_threshold(level, inside, extend)
        stretches = find(level, extend=extend)
    return level, stretches, extend, side


def _lower_threshold(level: Doubles, narrated: NDArray[np.bool_], extend: float) -> float:
    """Follow voices further down where the rest of the track is quiet: real ones fade slowly."""
    near = maximum_filter1d(narrated, 2 * round(_FADE / FRAME) + 1)
    if near.all():
        return extend
    rest = float(np.percentile(level[~near], _USUAL_REST))
    return float(np.clip(rest + _ABOVE_REST, extend - _FURTHER, extend))


def _marked(stretches: Sequence[tuple[int, int]], count: int) -> NDArray[np.bool_]:
    marked = np.zeros(count, bool)
    for begin, end in stretches:
        marked[begin:end] = True
    return marked


def _speech_edges(
    level: Doubles, begin: int, end: int, extend: float, latest: float
) -> tuple[float, float]:
    """Find when a voice begins, and follow it to where it has faded below the film and its codec.

    Codecs let sounds begin early, quietly. The less a voice is above the lower threshold, the more
    of its end is lost there. Pauses between turns stay as they are.
    """
    voice = float(np.percentile(level[begin:end], 90))
    above = level[begin : begin + round(_EARLY / FRAME)] > voice - _BEGUN
    begin += int(np.argmax(above)) if above.any() else 0
    fade = float(np.clip((_FADED - voice + extend) / _FADING, -_SMEARED, _LONGEST_FADE))
    usual = end * FRAME - _SMEARED
    return begin * FRAME + _SMEARED_START, max(usual, min(end * FRAME + fade, latest))


def _segment(
    inside: Doubles, start: float, stop: float, lower: float, is_voice: bool, time_map: TimeMap
) -> Segment:
    start, stop = round(start, 3), round(stop, 3)
    confidence = float(np.clip(np.maximum(inside - lower, 0).mean() / _FULL_CONFIDENCE, 0, 1))
    if not is_voice:
        confidence /= 2
    ad_start, ad_end = time_map.ad_span(start, stop)
    return Segment(
        id=segment_id(start),
        start=start,
        end=stop,
        ad_start=round(ad_start, 3),
        ad_end=round(ad_end, 3),
        level_db=round(float(10 * np.log10(np.mean(10 ** (inside / 10)))), 1),
        confidence=round(confidence, 3),
    )


def _is_speech(level: Doubles) -> bool:
    """Return whether loudness changes as syllables do: three to eight times a second."""
    envelope = 10 ** (np.maximum(level, level.max() - 60) / 20)
    envelope = (envelope - envelope.mean()) * np.hanning(len(envelope))
    power = np.abs(np.fft.rfft(envelope)) ** 2
    rates = np.arange(len(power)) / (len(envelope) * FRAME)
    total = power[rates > 0.4].sum()
    syllables = power[(rates >= _SYLLABLES[0]) & (rates <= _SYLLABLES[1])].sum()
    return bool(total > 0 and syllables / total >= _SPEECH)


def narration_turns(segments: Sequence[Segment]) -> tuple[tuple[str, ...], ...]:
    """Group segments that follow each other within half a second: one turn of the narrator."""
    turns: list[list[str]] = []
    last = -np.inf
    for segment in segments:
        if segment.start - last <= _TURN:
            turns[-1].append(segment.id)
        else:
            turns.append([segment.id])
        last = segment.end
    return tuple(map(tuple, turns))
