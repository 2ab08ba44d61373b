"""Narrators whose times are known, mixed over films, and how well they are found.

The films and described tracks of the movie-description paper are not public. Here people who
describe pictures, or any recordings of voices, are mixed over the sound of films as narrators are:
the film is quieter meanwhile, and the track goes through a codec. Then the commands align and
segment are measured against the times of the words.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import av
import numpy as np
from numpy.typing import NDArray

from reelscore._progress import Progress
from reelscore.corpus.project_files import NarrationSegments
from reelscore.corpus.sound.audio import RATE, find_track, read_samples
from reelscore.corpus.sound.sound_steps import align, find_pair, segment
from reelscore.corpus.sound.voices import Detector
from reelscore.errors import DataError
from reelscore.report.tables.grid import Cell, Grid
from reelscore_studies.demo_films import signal_module

Floats = NDArray[np.float32]
Spans = list[tuple[float, float]]

SUFFIXES = {"aac": ".m4a", "libmp3lame": ".mp3", "libopus": ".ogg", "flac": ".flac"}
"""Codecs of described tracks, and the files they are written to."""

_PAUSE = 0.5  # seconds: shorter pauses do not part two passages of the narrator
_APART = 4.0  # seconds of film between two recordings
_FADE = 320  # samples: 20 ms in which a recording begins and ends
_DUCKED, _EARLIER, _LATER = 8.0, 0.15, 0.3  # dB that the film is quieter, seconds around the voice
_AUDIBLE = 35.0  # dB below the loud parts: where recordings without times are spoken
_FRAME = 160  # samples: 10 ms
_ALIKE = 0.5  # intersection over union of a passage that is found


class Recording(NamedTuple):
    """A voice, silent but for its passages."""

    sound: Floats
    spoken: Spans  # in seconds


class Narrated(NamedTuple):
    """A film and its described track as files, and when the narrator speaks."""

    name: str
    film: Path
    ad: Path
    said: Spans
    kind: str  # what it is a mean of in the table


class Found(NamedTuple):
    """How well the narration of a track was found."""

    name: str
    kind: str
    detector: str  # what heard voices; empty without
    match: bool  # whether the track was taken for that of the film
    frame_f1: float  # of frames of 10 ms; not a number without a narrator
    segment_f1: float  # of passages, by an intersection over union of 0.5
    false_alarm: float  # seconds found where nobody speaks


def read_sound(path: Path) -> Floats:
    """Read a file's sound, in 16 kHz and one channel."""
    with read_samples(find_track(path)) as samples:
        return samples.read(0, samples.count)


def passages(spans: Sequence[Sequence[float]]) -> Spans:
    """Join what is spoken with hardly a pause.

    >>> passages([(0.5, 1), (1.25, 2), (3, 4)])
    [(0.5, 2), (3, 4)]
    """
    joined: Spans = []
    for start, end in sorted((span[0], span[1]) for span in spans):
        if joined and start - joined[-1][1] < _PAUSE:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def audible(sound: Floats) -> Spans:
    """Find where a clean recording is spoken, by its loudness."""
    frames = sound[: len(sound) // _FRAME * _FRAME].reshape(-1, _FRAME)
    level = 10 * np.log10(np.mean(frames**2, axis=1) + 1e-12)
    loud = np.flatnonzero(level > np.percentile(level, 95) - _AUDIBLE) * _FRAME / RATE
    return passages([(time, time + _FRAME / RATE) for time in loud.tolist()])


def recorded(path: Path, spoken: Sequence[Sequence[float]] | None = None) -> Recording:
    """Read a voice, of a loudness of 1; where it is spoken is heard if it is not told."""
    sound = read_sound(path)
    spans = passages(spoken) if spoken else audible(sound)
    if not spans:
        raise DataError(f"{path}: nothing is heard in this recording.")
    gate = np.zeros(len(sound), np.float32)
    for start, end in spans:
        gate[max(0, int((start - 0.03) * RATE)) : int((end + 0.03) * RATE)] = 1
    faded = np.convolve(gate, np.ones(_FADE) / _FADE, "same")
    sound = (sound * faded / np.sqrt(np.mean(sound[faded > 0.9] ** 2))).astype(np.float32)
    return Recording(sound[: int((spans[-1][1] + 0.1) * RATE)], spans)


def described_pictures(folder: Path) -> dict[str, list[Recording]]:
    """Read the people who describe pictures, by the set they are of: their words have times."""
    words = {}
    for line in (folder / "sample_combined.jsonl").read_text().splitlines():
        for told in json.loads(line)["actor_narratives"]:
            name = told["recording_filename"].removeprefix("recordings/").replace("/", "_")
            words[name] = [
                (word["start_ms"] / 1000, word["end_ms"] / 1000) for word in told["time_alignment"]
            ]
    voices: dict[str, list[Recording]] = {}
    for path in sorted(folder.glob("*.webm")):
        voices.setdefault(path.name.split("_")[0], []).append(recorded(path, words[path.name]))
    return voices


def narrated(film: Floats, voices: Sequence[Recording], decibels: float) -> tuple[Floats, Spans]:
    """Mix voices over a film, so many decibels louder than it is on average."""
    spoken, at, said = np.zeros_like(film), _APART, Spans()
    for voice in voices:
        first, end = round(at * RATE), round(at * RATE) + len(voice.sound)
        if end > len(film):
            break
        spoken[first:end] = voice.sound
        said += [(at + start, at + stop) for start, stop in voice.spoken]
        at += voice.spoken[-1][1] + _APART
    ducked = np.zeros_like(film)
    for start, stop in said:
        ducked[max(0, int((start - _EARLIER) * RATE)) : int((stop + _LATER) * RATE)] = _DUCKED
    slope = np.hanning(0.3 * RATE)
    ducked = signal_module().fftconvolve(ducked, slope / slope.sum(), "same")
    loud = np.sqrt(np.mean(film**2)) * 10 ** (decibels / 20)
    track = film * 10 ** (-ducked / 20) + spoken * loud
    return (0.9 * track / np.abs(track).max()).astype(np.float32), said


def write_track(path: Path, sound: Floats, codec: str) -> Path:
    """Write samples of 16 kHz through a codec, in 48 kHz."""
    louder = signal_module().resample_poly(sound, 3, 1).astype(np.float32)[None]
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=3 * RATE, layout="mono")
        resampler = av.AudioResampler(
            format=stream.format.name,
            layout="mono",
            rate=3 * RATE,
            frame_size=stream.frame_size or 1024,
        )
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(louder), format="fltp", layout="mono"
        )
        frame.sample_rate, frame.time_base, frame.pts = 3 * RATE, Fraction(1, 3 * RATE), 0
        for part in (*resampler.resample(frame), *resampler.resample(None)):
            container.mux(stream.encode(part))
        container.mux(stream.encode(None))
    return path


def mixed_tracks(
    films: dict[str, Floats],
    voices: dict[str, list[Recording]],
    folder: Path,
    decibels: Sequence[float] = (0.0, -9.0),
    codecs: Sequence[str] = ("aac", "libmp3lame"),
) -> Iterator[Narrated]:
    """Write each film with each group of voices over it, through the codecs in turn."""
    number = 0
    for film, sound in films.items():
        clean = write_track(folder / f"{film}.flac", sound, "flac")
        for voice, recordings in voices.items():
            codec = codecs[number % len(codecs)]
            number += 1
            for louder in decibels:
                track, said = narrated(sound, recordings, louder)
                name = f"{film}, {voice}, {louder:+.0f} dB"
                path = write_track(folder / f"{name}{SUFFIXES[codec]}", track, codec)
                yield Narrated(name, clean, path, said, f"{louder:+.0f} dB")


def given_tracks(folder: Path) -> Iterator[Narrated]:
    """Yield the pairs of a folder with their truth: ID.film.ogg, ID.ad.ogg, ID.json."""
    for path in sorted(folder.glob("*.json")):
        truth = json.loads(path.read_text())
        if "narration" in truth:
            said = [(each["start"], each["end"]) for each in truth["narration"]]
            film, ad = (path.with_suffix(f".{track}.ogg") for track in ("film", "ad"))
            kind = ("pairs" if said else "no narrator") if truth["match"] else "other film"
            yield Narrated(path.stem, film, ad, said, kind)


def measure(tracks: Narrated, detectors: Sequence[Detector]) -> list[Found]:
    """Align a track with its film, segment it, and compare what is found with what is said."""
    pair = find_pair(tracks.film, tracks.ad)
    aligned = align(pair)
    if not aligned.match:
        return [compared(tracks, None)]
    return [compared(tracks, segment(pair, aligned, detector=detector)) for detector in detectors]


def compared(tracks: Narrated, found: NarrationSegments | None) -> Found:
    """Compare what was found with what is said; nothing was found in another film."""
    times = [(each.start, each.end) for each in found.segments] if found else []
    said, heard = (
        {frame for start, end in spans for frame in range(round(100 * start), round(100 * end))}
        for spans in (tracks.said, times)
    )
    frame_f1 = 2 * len(said & heard) / (len(said) + len(heard)) if said else np.nan
    return Found(
        tracks.name,
        tracks.kind,
        found.detector if found else "",
        found is not None,
        frame_f1,
        _passages_f1(passages(tracks.said), passages(times)) if said else np.nan,
        len(heard - said) / 100,
    )


def _passages_f1(said: Spans, heard: Spans) -> float:
    pairs = sorted(
        (
            (min(b, d) - max(a, c)) / (max(b, d) - min(a, c)),
            first,
            second,
        )
        for first, (a, b) in enumerate(said)
        for second, (c, d) in enumerate(heard)
    )
    left, right = set(range(len(said))), set(range(len(heard)))
    for alike, first, second in reversed(pairs):
        if alike >= _ALIKE and first in left and second in right:
            left.remove(first)
            right.remove(second)
    return 2 * (len(said) - len(left)) / (len(said) + len(heard))


def measure_narration(
    data: str | Path | None,
    detectors: Sequence[Detector] = ("none", "silero"),
    *,
    films: Sequence[Path] = (),
    voices: Sequence[Path] = (),
    decibels: Sequence[float] = (0.0, -9.0),
    progress: Progress | None = None,
) -> list[Found]:
    """Measure narrators over films, those of the public sounds or one's own.

    Args:
        data: A folder with `notld_audio`, `vidln_narration`, and in `ad` pairs with their truth.
        detectors: What hears voices.
        films: Files of sound in place of the public film.
        voices: Folders of clean recordings in place of the people who describe pictures.
        decibels: How much louder narrators are than the film.
        progress: Called with the work done and the work there is.
    """
    if data is None and not (films and voices):
        raise DataError("Name the folder of the public sounds with --data, or films and voices.")
    folder = Path(data or "")
    sounds = {path.stem: read_sound(path) for path in films} or _public_films(folder)
    people = {each.name: _recordings(each) for each in voices} or described_pictures(
        folder / "vidln_narration"
    )
    with tempfile.TemporaryDirectory() as made:
        tracks = list(mixed_tracks(sounds, people, Path(made), decibels))
        if not films and not voices:
            tracks += given_tracks(folder / "ad")
        results = []
        for number, each in enumerate(tracks):
            results += measure(each, detectors)
            if progress:
                progress(number + 1, len(tracks))
    return results


def _public_films(folder: Path) -> dict[str, Floats]:
    parts = sorted((folder / "notld_audio").glob("*.flac"))
    if not parts:
        raise DataError(f"{folder}: the sound of films is expected in notld_audio there.")
    sounds = [read_sound(each) for each in parts]
    return {f"film {first + 1}": np.concatenate(sounds[first::2]) for first in range(2)}


def _recordings(folder: Path) -> list[Recording]:
    found = [recorded(path) for path in sorted(folder.glob("*")) if path.is_file()]
    if not found:
        raise DataError(f"{folder}: recordings of a voice are expected there.")
    return found


def narration_grid(results: Sequence[Found]) -> Grid:
    """Lay out the means of each kind of track, with the worst, one row a detector."""
    rows = []
    for kind in dict.fromkeys(each.kind for each in results):
        for detector in dict.fromkeys(each.detector for each in results if each.kind == kind):
            group = [e for e in results if (e.kind, e.detector) == (kind, detector)]
            matched = sum(each.match for each in group)
            f1 = np.array([each.frame_f1 for each in group])
            cells = [kind, detector or "none", f"{matched} of {len(group)}"]
            if np.isnan(f1).all():
                cells += ["", "", ""]
            else:
                segment_f1 = np.mean([each.segment_f1 for each in group])
                cells += [f"{f1.mean():.3f}", f"{f1.min():.3f}", f"{segment_f1:.3f}"]
            worst = max(each.false_alarm for each in group)
            rows.append([Cell(text) for text in (*cells, f"{worst:.2f} s")])
    return Grid(
        ["narrator", "detector", "match", "frame F1", "worst", "segment F1", "too much"],
        rows,
        names=2,
    )
