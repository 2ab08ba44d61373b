"""Small films made on the spot from the scripts of the examples: pictures, sound, a narrator.

Nothing is recorded: the voices are vowels and hisses, one syllable after another, over wind and
plucked notes. They say nothing, but begin and end as speech does, so every step of a corpus can be
tried on them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from reelscore._packages import need
from reelscore.corpus.project_files import Element
from reelscore.corpus.scripts.formats import read_script
from reelscore.examples import path as example
from reelscore.text.parser.sentences import split_sentences

Floats = NDArray[np.float32]

RATE = 16_000
"""Samples a second of films and described tracks."""

NARRATOR = "NARRATOR"
_OPENING, _SCENE, _PAUSE = 3.0, 3.5, 0.7  # seconds
_SYLLABLE, _WORD = 0.2, 0.08
_PITCH = {NARRATOR: 105.0}
# The first three formants of vowels, in hertz.
_VOWELS = {
    "a": (730, 1090, 2440),
    "e": (530, 1840, 2480),
    "i": (270, 2290, 3010),
    "o": (570, 840, 2410),
    "u": (300, 870, 2240),
    "y": (300, 1990, 2600),
}
_QUICK = {
    "libopus": {"compression_level": "0", "b": "64k", "frame_duration": "60"},
    "libvpx": {"deadline": "realtime", "cpu-used": "8", "threads": "1"},
}
_WIDTH, _HEIGHT, _PICTURES = 160, 90, 4


@dataclass(frozen=True)
class DemoFilm:
    """How one of the films is made.

    Attributes:
        id: Its id, and the name of its script.
        title: Its title.
        genre: Its genre.
        rate: Film seconds for each second of its described track.
        lead: Seconds of silence before the described track.
        missing: Seconds of the film's opening that the described track lacks.
        change: What that is like, in words.
    """

    id: str
    title: str
    genre: str
    rate: Fraction
    lead: float
    missing: float
    change: str

    def in_track(self, time: float) -> float:
        """Return the described track's time of a time of the film."""
        return self.lead + (time - self.missing) / float(self.rate)


FILMS = (
    DemoFilm("lighthouse", "The Lighthouse", "drama", Fraction(1), 0.8, 0.0, "starts later"),
    DemoFilm("station", "The Last Train", "drama", Fraction(25, 24), 0.0, 0.0, "plays faster"),
    DemoFilm("kitchen", "Soup for Nine", "comedy", Fraction(1), 0.0, 2.5, "lacks the opening"),
    DemoFilm("kite", "The Red Kite", "comedy", Fraction(1), 0.3, 0.0, "starts later"),
)
"""The films of the demo."""


@dataclass(frozen=True)
class Spoken:
    """What somebody says in a film, and when.

    >>> Spoken(3.0, 4.2, "ANNA", "Who is there?").who
    'ANNA'
    """

    start: float
    end: float
    who: str
    text: str


def make_film(film: DemoFilm, folder: Path) -> list[Spoken]:
    """Make a film with its described track, script, subtitles, and what a recogniser would hear."""
    source = example(f"films/{film.id}.fountain")
    elements = read_script(source).elements
    spoken, scenes, seconds = _schedule(elements)
    rng = np.random.default_rng(list(film.id.encode()))
    voices = {each: _voice(each, rng) for each in spoken}
    sound = 0.5 * _background(seconds, scenes, rng)
    for each in spoken:
        if each.who != NARRATOR:
            _add(sound, voices[each], each.start)
    described = sound * _ducking(sound.shape[1], [each for each in spoken if each.who == NARRATOR])
    for each in spoken:
        if each.who == NARRATOR:
            _add(described, 1.2 * voices[each], each.start)
    described = described[:, round(film.missing * RATE) :]
    if film.rate != 1:  # as a transfer to another frame rate: faster and higher
        described = signal_module().resample_poly(
            described, film.rate.denominator, film.rate.numerator, axis=1
        )
    described = np.pad(described, ((0, 0), (round(film.lead * RATE), 0)))
    folder.mkdir(parents=True, exist_ok=True)
    _write_media(folder / "film.webm", sound, scenes)
    _write_media(folder / "described.ogg", described)
    (folder / "script.fountain").write_bytes(source.read_bytes())
    lines = [each for each in spoken if each.who != NARRATOR]
    (folder / "subtitles.srt").write_text(_srt(lines), encoding="utf-8")
    heard = [
        {
            "start": round(film.in_track(each.start), 2),
            "end": round(film.in_track(each.end), 2),
            "text": each.text,
        }
        for each in spoken
    ]
    (folder / "heard.json").write_bytes(msgspec.json.format(msgspec.json.encode(heard), indent=1))
    return spoken


def _schedule(elements: Sequence[Element]) -> tuple[list[Spoken], list[float], float]:
    """Return each description and line its time; also when scenes begin, and how long it all is."""
    time, scenes = _OPENING, [0.0]
    spoken: list[Spoken] = []
    for element in elements:
        if element.kind == "heading" and spoken:
            time += _SCENE
            scenes.append(time)
        if element.kind in ("description", "dialogue"):
            narrated = element.kind == "description"
            for text in split_sentences(element.text) if narrated else [element.text]:
                length = round(_length(text), 2)
                who = NARRATOR if narrated else element.who or ""
                spoken.append(Spoken(round(time, 2), round(time + length, 2), who, text))
                time += length + _PAUSE
    return spoken, scenes, time + _SCENE


def _syllables(word: str) -> list[str]:
    return re.findall(r"[aeiouy]", re.sub(r"([aeiouy])[aeiouy]+", r"\1", word.lower())) or ["e"]


def _length(text: str) -> float:
    return sum(_SYLLABLE * len(_syllables(word)) + _WORD for word in text.split())


def _voice(line: Spoken, rng: np.random.Generator) -> Floats:
    """Speak a line: for each syllable a hiss, then a vowel of the speaker's pitch."""
    pitch = _PITCH.get(line.who) or 130.0 + 15 * (sum(line.who.encode()) % 8)
    hiss = round(0.05 * RATE)
    sound = np.zeros(round((line.end - line.start) * RATE), np.float32)
    time = 0.0
    for word in line.text.split():
        for vowel in _syllables(word):
            tone = rng.uniform(0.8, 1.2) * _vowel(vowel, pitch)
            tone[:hiss] += 0.5 * rng.standard_normal(hiss) * np.hanning(hiss)
            _add(sound, tone, time)
            time += _SYLLABLE
        time += _WORD
    sound *= 0.12 / np.sqrt(np.mean(sound**2))
    return sound


@cache
def _vowel(vowel: str, pitch: float) -> NDArray[np.float64]:
    """Sing a vowel: harmonics of a falling pitch, as loud as its formants are near."""
    seconds = np.arange(round(0.95 * _SYLLABLE * RATE)) / RATE
    phase = 2 * np.pi * pitch * (seconds - 0.3 * seconds**2)
    tone = np.zeros(len(seconds))
    for harmonic in range(1, int(4000 / pitch)):
        frequency = harmonic * pitch
        strength = sum(
            np.exp(-(((frequency - formant) / (60 + 0.06 * formant)) ** 2)) / (1 + number)
            for number, formant in enumerate(_VOWELS[vowel])
        )
        tone += (0.05 + strength) * np.sin(harmonic * phase) / harmonic**0.4
    sung: NDArray[np.float64] = tone * np.hanning(len(tone)) ** 0.5
    return sung


@cache
def _note(step: int) -> NDArray[np.float64]:
    """Pluck a string."""
    seconds = np.arange(round(1.2 * RATE)) / RATE
    frequency = 220.0 * 2 ** (step / 12)
    tone = sum(np.sin(2 * np.pi * frequency * k * seconds) / k**1.5 for k in range(1, 6))
    plucked: NDArray[np.float64] = tone * np.exp(-4 * seconds)
    return plucked


def _background(seconds: float, scenes: Sequence[float], rng: np.random.Generator) -> Floats:
    """Make wind that comes and goes, another in each scene, and notes from left and right."""
    sound = np.zeros((2, round(seconds * RATE)), np.float32)
    for start, end in zip(scenes, [*scenes[1:], seconds], strict=True):
        first, last = round(start * RATE), round(end * RATE)
        for lowest in rng.choice([120, 250, 500, 1000, 2000], size=3, replace=False):
            shape = signal_module().butter(2, [lowest, 2 * lowest], "band", fs=RATE, output="sos")
            noise = signal_module().sosfilt(shape, rng.standard_normal(last - first))
            steps = rng.choice([0.1, 0.4, 1.0], size=(last - first) // (RATE // 4) + 2)
            gains = np.interp(np.arange(last - first) / (RATE / 4), np.arange(len(steps)), steps)
            sound[:, first:last] += (0.02 * noise / noise.std() * gains).astype(np.float32)
    for time in np.arange(0.2, seconds - 1.3, 0.45):
        sides = 0.03 * rng.uniform(0.2, 1, size=(2, 1))
        _add(sound, sides * _note(int(rng.choice([-5, 0, 2, 4, 7, 9, 12]))), time)
    return sound


def _add(sound: Floats, part: NDArray[Any], time: float) -> None:
    first = round(time * RATE)
    part = part[..., : max(0, sound.shape[-1] - first)]
    sound[..., first : first + part.shape[-1]] += part


def _ducking(length: int, narration: Sequence[Spoken]) -> Floats:
    """Return the gain of the film under its narrator: half, with soft edges."""
    times = np.arange(length) / RATE
    gain = np.ones(length, np.float32)
    for each in narration:
        edges = [each.start - 0.3, each.start - 0.1, each.end + 0.1, each.end + 0.3]
        gain *= np.interp(times, edges, [1.0, 0.5, 0.5, 1.0]).astype(np.float32)
    return gain


def _write_media(path: Path, sound: Floats, scenes: Sequence[float] = ()) -> None:
    import av

    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libopus", rate=RATE, layout="stereo")
        stream.options = _QUICK["libopus"]
        pictures: Any = container.add_stream("libvpx", rate=_PICTURES) if scenes else None
        if pictures is not None:
            pictures.width, pictures.height, pictures.pix_fmt = _WIDTH, _HEIGHT, "yuv420p"
            pictures.options = _QUICK["libvpx"]
        resampler = av.AudioResampler(format=stream.format.name, layout="stereo", rate=RATE)
        for second in range(-(-sound.shape[1] // RATE)):
            block = np.ascontiguousarray(sound[:, second * RATE : (second + 1) * RATE])
            if pictures is not None:
                for number in range(second * _PICTURES, (second + 1) * _PICTURES):
                    image = _picture(number / _PICTURES, scenes)
                    frame = av.VideoFrame.from_ndarray(image, format="rgb24")
                    frame.pts, frame.time_base = number, Fraction(1, _PICTURES)
                    container.mux(pictures.encode(frame))
            part = av.AudioFrame.from_ndarray(
                block.astype(np.float32), format="fltp", layout="stereo"
            )
            part.sample_rate, part.time_base = RATE, Fraction(1, RATE)
            part.pts = second * RATE
            for converted in resampler.resample(part):
                container.mux(stream.encode(converted))
        for each in filter(None, (pictures, stream)):
            container.mux(each.encode(None))


def _picture(time: float, scenes: Sequence[float]) -> NDArray[np.uint8]:
    """Draw a sky, a ground in the colour of the scene, and a ball that crosses them."""
    scene = sum(start <= time for start in scenes)
    image = np.empty((_HEIGHT, _WIDTH, 3), np.uint8)
    image[: _HEIGHT * 2 // 3] = (200 - 50 * scene, 210 - 40 * scene, 235 - 25 * scene)
    image[_HEIGHT * 2 // 3 :] = (60 + 40 * scene, 110, 140 - 30 * scene)
    rows, columns = np.ogrid[0:_HEIGHT, 0:_WIDTH]
    x, y = (30 * time) % _WIDTH, _HEIGHT * 2 / 3 - 12 - 25 * abs(np.sin(2 * time))
    image[(columns - x) ** 2 + (rows - y) ** 2 < 100] = (230, 180, 40)
    return image


def _srt(lines: Sequence[Spoken]) -> str:
    def stamp(seconds: float) -> str:
        minutes, thousandths = divmod(round(seconds * 1000), 60_000)
        return f"00:{minutes:02}:{thousandths // 1000:02},{thousandths % 1000:03}"

    return "\n".join(
        f"{number}\n{stamp(line.start)} --> {stamp(line.end)}\n{line.text}\n"
        for number, line in enumerate(lines, start=1)
    )


def signal_module() -> ModuleType:
    """Return ``scipy.signal``, which is imported only where it is needed: that takes a while."""
    return need("scipy.signal", "reelscore[corpus]", "Making sounds needs", "scipy")
