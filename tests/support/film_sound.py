"""A film's sound and its described version, made by numpy in a moment, with the truth."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from scipy.signal import butter, resample_poly, sosfilt

from reelscore.corpus.project_files import AudioTrack
from reelscore.corpus.sound.audio import Samples

RATE = 16_000
NARRATION = ((6.0, 8.5), (14.0, 17.0), (24.0, 25.6), (33.0, 36.0))


@dataclass(frozen=True)
class Pair:
    film: Path
    ad: Path
    narration: tuple[tuple[float, float], ...]


def samples_of(sound: np.ndarray, channels: int = 1) -> Samples:
    """Samples of a sound; with three channels, a stereo picture of which a part is on one side."""
    track = AudioTrack("made.wav", 0, "pcm_s16le", "mono", RATE, None, "only", len(sound) / RATE)
    samples = Samples(track, None, channels)
    sound = np.asarray(sound, np.float32)
    samples.append(np.stack([sound, 0.3 * sound, 0 * sound][:channels]))
    return samples


def film_sound(seconds: float, seed: int = 1) -> np.ndarray:
    """Noise in bands that come and go, as scenes do: nothing in it repeats."""
    rng = np.random.default_rng(seed)
    count = int(seconds * RATE)
    sound = np.zeros(count, np.float32)
    for low in (120, 300, 700, 1500, 3000):
        noise = sosfilt(
            butter(2, [low, 2 * low], "band", fs=RATE, output="sos"), rng.standard_normal(count)
        )
        steps = rng.choice([0.05, 0.3, 1.0], size=count // (RATE // 5) + 2)
        gains = np.interp(np.arange(count) / (RATE / 5), np.arange(len(steps)), steps)
        sound += (noise / noise.std() * gains).astype(np.float32)
    return 0.05 * sound


def voice(seconds: float, seed: int = 2) -> np.ndarray:
    """A voice-like sound: harmonics of a wandering pitch, five syllables a second."""
    rng = np.random.default_rng(seed)
    time = np.arange(int(seconds * RATE)) / RATE
    pitch = 140 + 25 * np.sin(2 * np.pi * 0.7 * time + rng.uniform(0, 6))
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    sound = sum(np.sin(k * phase + rng.uniform(0, 6)) / k**0.7 for k in range(1, 25))
    return (sound * (0.55 - 0.45 * np.cos(2 * np.pi * 5 * time))).astype(np.float32)


def described(film: np.ndarray, narration=NARRATION, duck: float = 0.5) -> np.ndarray:
    """The film with a narrator over it, and quieter there."""
    track = film.copy()
    for number, (start, end) in enumerate(narration):
        first, last = int(start * RATE), int(end * RATE)
        track[first:last] *= duck
        track[first:last] += 0.2 * voice(end - start, 10 + number)[: last - first]
    return track


def write_sound(path: Path, sound: np.ndarray, rate: int = RATE, codec: str | None = None) -> Path:
    """Write samples, or rows of channels, into the container that the path names."""
    codecs = {".wav": "pcm_s16le", ".m4a": "aac", ".mp4": "aac", ".mp3": "libmp3lame"}
    codecs |= {".mkv": "flac", ".flac": "flac", ".ogg": "vorbis"}
    rows = np.atleast_2d(sound).astype(np.float32)
    layout = {1: "mono", 2: "stereo", 6: "5.1"}[len(rows)]
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec or codecs[path.suffix], rate=rate, layout=layout)
        write_frames(container, stream, rows, rate, layout)
    return path


def write_frames(container, stream, rows: np.ndarray, rate: int, layout: str, start=0.0) -> None:
    """Encode rows of channels from a time on; the encoder is emptied at the end."""
    resampler = av.AudioResampler(
        format=stream.format.name, layout=layout, rate=rate, frame_size=stream.frame_size or 1024
    )
    frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(rows), format="fltp", layout=layout)
    frame.sample_rate, frame.time_base = rate, Fraction(1, rate)
    frame.pts = round(start * rate)
    for part in [*resampler.resample(frame), *resampler.resample(None)]:
        container.mux(stream.encode(part))
    container.mux(stream.encode(None))


def made_pair(folder: Path, *, seconds: float = 40.0, lead: float = 0.73, seed: int = 1) -> Pair:
    """A film of seconds and its described track, which begins with silence."""
    film = film_sound(seconds, seed)
    track = np.concatenate([np.zeros(int(lead * RATE), np.float32), described(film)])
    return Pair(
        write_sound(folder / "film.wav", film),
        write_sound(folder / "ad.wav", track),
        NARRATION,
    )


def faster(sound: np.ndarray, up: int = 24, down: int = 25) -> np.ndarray:
    """Play a sound faster and higher, as PAL transfers do."""
    return resample_poly(sound, up, down).astype(np.float32)
