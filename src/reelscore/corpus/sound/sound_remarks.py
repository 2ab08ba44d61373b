"""What to know about an alignment or a segmentation, as codes with words.

A finding that is not trusted makes the command end with exit status 3: it ran, and its result must
not be used as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np

from reelscore.corpus.project_files import Remark
from reelscore.corpus.sound.audio import RATE, Samples
from reelscore.corpus.sound.film_alignment import FilmAlignment
from reelscore.corpus.sound.film_anchors import STANDARD_RATES
from reelscore.corpus.sound.segmentation import Segmentation
from reelscore.corpus.time_map import clock
from reelscore.data.checks import counted

_SAME_RATE = 1e-5  # relative: 0.07 seconds in two hours
_NAMED_RATE = 2e-5  # relative distance from a standard rate that has its name
_PART = 3.0  # seconds of sound that one of the tracks lacks
_SHORT = 10.0  # seconds of sound that the film has before or after the described track
_SILENT = 1e-3  # root of the mean square of a tenth of a second: 60 dB below full scale
_DRIFT = 0.005  # seconds from the fitted lines
_MUCH = 0.6  # share of the film that is narrated
_LENGTHS = 1.5  # times as long
_CLIPPED = 1e-4  # share of the samples
_SWAPPED = -3.0  # dB
_PLACED = 0.02  # seconds to which tracks are placed whose waveforms differ
_SPECTROGRAM = " Of the same language, reverberant ones are read with --method spectrogram."
_OTHER_METHOD = {"residual": _SPECTROGRAM, "power": _SPECTROGRAM}


def _track_remarks(film: Samples, ad: Samples) -> Iterator[Remark]:
    """Yield what is special about the tracks themselves."""
    for name, samples in (("film", film), ("described track", ad)):
        if samples.mono:
            yield Remark("mono", f"Left and right of the {name} are equal.")
        if samples.clipped > _CLIPPED:
            yield Remark("clipped", f"The {name} is clipped in {samples.clipped:.2%} of its time.")
        if samples.gaps:
            total = sum(gap.seconds for gap in samples.gaps)
            yield Remark(
                "gap",
                f"The {name} has {len(samples.gaps)} gaps in its time stamps, {total:.1f} "
                f"seconds in all, the first at {clock(samples.gaps[0].start)}; they were "
                "filled with silence.",
                details=tuple(asdict(gap) for gap in samples.gaps[:100]),
            )


def alignment_remarks(alignment: FilmAlignment, film: Samples, ad: Samples) -> Iterator[Remark]:
    """Yield what there is to know about an alignment."""
    yield from _track_remarks(film, ad)
    if alignment.rate_at_edge:
        yield Remark(
            "rate-edge",
            f"The best rate, {alignment.rate:.4f}, is the last one tried; give the right one "
            "with --rate.",
            trusted=False,
        )
    if not alignment.related:
        longer, shorter = max(film.seconds, ad.seconds), min(film.seconds, ad.seconds)
        if longer > _LENGTHS * shorter:
            yield Remark(
                "lengths",
                f"The film lasts {clock(film.seconds)} and the described track "
                f"{clock(ad.seconds)}: are these the right files?",
            )
        names = [Path(samples.track.path).name for samples in (ad, film)]
        yield Remark(
            "no-match",
            f"{names[0]} ({clock(ad.seconds)}) does not belong to {names[1]} "
            f"({clock(film.seconds)}): confidence {alignment.confidence:.2f}, and 0.12 is "
            "needed. Another film, another language, or the wrong stream (--stream)?",
            trusted=False,
        )
        return
    yield from _map_remarks(alignment)
    yield from _coverage_remarks(alignment, film, ad)
    if alignment.residual > _DRIFT:
        yield Remark(
            "drift",
            f"The clocks of the tracks wander: from {clock(alignment.residual_at)} of the "
            f"described track on, times are {1000 * alignment.residual:.0f} ms off.",
        )


def _map_remarks(alignment: FilmAlignment) -> Iterator[Remark]:
    drift = abs(alignment.rate - 1) * alignment.ad_seconds
    is_same_speed = alignment.stretched and drift < _PLACED  # no better than places are known
    if abs(alignment.rate - 1) > _SAME_RATE and not is_same_speed:
        yield Remark(
            "rate",
            f"A second of the described track is {alignment.rate:.6f} seconds of the film"
            f"{_rate_name(alignment.rate)}; without this, times would be {drift:.3g} seconds "
            "off at the end.",
        )
    if alignment.stretched:
        mix = "The film inside the described track is another mix, or reverberant"
        speed = "The described track was changed in speed at the same pitch, or is another mix"
        yield Remark(
            "other-mix" if is_same_speed else "stretched",
            f"{mix if is_same_speed else speed}: the waveforms differ, and the narration is found "
            "by loudness, with coarser edges.",
        )
    breaks = alignment.map.breaks(alignment.ad_seconds, alignment.film_seconds)
    pieces = alignment.map.pieces
    inner = [b for b in breaks if pieces[0].ad_start < b.ad < pieces[-1].ad_end]
    if inner:
        kinds = [b.kind for b in inner]
        yield Remark(
            "cuts",
            f"In the middle of the described track, {counted(kinds.count('cut'), 'part')} of "
            f"the film missing, {counted(kinds.count('insertion'), 'part')} added.",
            details=tuple(asdict(b) for b in breaks),
        )


def _coverage_remarks(alignment: FilmAlignment, film: Samples, ad: Samples) -> Iterator[Remark]:
    """Yield what one of the tracks has and the other lacks, silence aside."""
    breaks = alignment.map.breaks(alignment.ad_seconds, alignment.film_seconds)
    inserted = [
        _sounding(ad, part.ad, part.ad + part.seconds)
        for part in breaks
        if part.kind == "insertion"
    ]
    parts = [(start, end) for start, end in inserted if end - start >= _PART]
    if parts:
        times = [f"{clock(start)} to {clock(end)}" for start, end in parts]
        more = f" and {len(parts) - 5} more" if len(parts) > 5 else ""
        share = sum(end - start for start, end in parts) / alignment.ad_seconds
        yield Remark(
            "uncovered",
            f"{share:.1%} of the described track is nowhere in the film: "
            f"{', '.join(times[:5])}{more}.",
            details=tuple({"start": start, "end": end} for start, end in parts),
        )
    pieces = alignment.map.pieces
    for start, end, words in (
        (0.0, pieces[0].film_start, "begins late: the film's first {} have no described sound."),
        (
            pieces[-1].film_end,
            alignment.film_seconds,
            "is cut short: the film's last {} have no described sound.",
        ),
    ):
        first, last = _sounding(film, start, end)
        if last - first >= _SHORT:
            message = f"The described track {words.format(f'{end - start:.1f} seconds')}"
            yield Remark("cut-short", message, details=({"start": start, "end": end},))


def _sounding(samples: Samples, start: float, end: float) -> tuple[float, float]:
    """Return a stretch of a track without the silence around it."""
    step = RATE // 10
    times = np.arange(round(start * RATE), round(end * RATE), step)
    loud = [t for t in times.tolist() if np.mean(samples.read(t, t + step) ** 2) > _SILENT**2]
    return (loud[0] / RATE, min(end, (loud[-1] + step) / RATE)) if loud else (start, start)


def _rate_name(rate: float) -> str:
    names = [
        name for name, standard in STANDARD_RATES.items() if abs(rate / standard - 1) < _NAMED_RATE
    ]
    return f" ({names[0]})" if names and names[0] != "same speed" else ""


def segmentation_remarks(segmentation: Segmentation) -> Iterator[Remark]:
    """Yield what there is to know about a segmentation."""
    if not segmentation.segments:
        yield Remark(
            "no-narration",
            "No narration was found; the loudest sound that the film does not explain is at "
            f"{clock(segmentation.loudest_at)} ({segmentation.loudest:.1f} dB; a segment has "
            f"{segmentation.thresholds[0]:.0f} dB or more, and is longer).",
        )
    elif segmentation.side_db < _SWAPPED:
        yield Remark(
            "swapped",
            "Where they differ, the film seems to be the track with a narrator, and not the "
            "other way round: exchange --film and --ad.",
            trusted=False,
        )
    if segmentation.share > _MUCH:
        yield Remark(
            "too-much",
            f"{segmentation.share:.0%} of the film would be narrated: probably these are "
            f"different mixes or languages.{_OTHER_METHOD.get(segmentation.method, '')}",
            trusted=False,
        )
