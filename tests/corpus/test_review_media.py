"""What review shows and plays: pieces of sound, spectrograms, waveforms, stills."""

from __future__ import annotations

import zlib

import av
import numpy as np
import pytest

from reelscore.corpus.review.pictures import has_video, peaks, spectrogram, still
from reelscore.corpus.review.sounds import TrackParts
from reelscore.corpus.sound.audio import find_track, read_samples
from reelscore.corpus.sound.narration import residual_sound
from support.film_sound import RATE, described, film_sound, write_sound


@pytest.fixture(scope="module")
def sound():
    return film_sound(24)


@pytest.mark.parametrize("name", ["a.wav", "a.m4a", "a.mp3", "a.mkv"])
def test_pieces_are_what_the_whole_track_has(tmp_path, name, sound):
    path = write_sound(tmp_path / name, sound)
    track = find_track(path)
    with read_samples(track) as whole:
        parts = TrackParts(track)
        for start, end in ((-0.5, 1.0), (9.0, 11.5), (22.0, 25.0), (19.9, 20.1), (50.0, 51.0)):
            first, last = round(start * RATE), round(end * RATE)
            wanted, piece = whole.read(first, last), parts.read(first, last)
            assert len(piece) == len(wanted)
            assert np.dot(wanted, piece) >= 0.9 * np.dot(wanted, wanted)


@pytest.mark.parametrize("stretched", [False, True])
def test_the_residual_is_the_narrator(stretched, sound):
    film = sound[: 8 * RATE]
    track = 0.7 * described(film, ((3.0, 5.0),), duck=1.0)
    rest = residual_sound(track, film, stretched=stretched)
    spoken, silent = rest[4 * RATE : 5 * RATE], rest[6 * RATE : 7 * RATE]
    assert len(rest) == len(track)
    assert np.std(silent) < 0.35 * np.std(track[6 * RATE : 7 * RATE])
    assert np.std(spoken) > 5 * np.std(silent)


def test_spectrograms_are_logarithmic():
    time = np.arange(2 * RATE) / RATE
    width, height = 40, 60
    for hertz in (160.0, 800.0, 4000.0):
        sound = (0.3 * np.sin(2 * np.pi * hertz * time)).astype(np.float32)
        pixels = _pixels(spectrogram(sound, width, height), width, height)
        row = height - 1 - int(np.argmax(pixels[::-1, width // 2]))
        wanted = height * (1 - np.log(hertz / 80) / np.log(100))
        assert row == pytest.approx(wanted, abs=2)


def _pixels(png, width, height):
    place = png.index(b"IDAT") + 4
    lines = np.frombuffer(zlib.decompress(png[place:-16]), np.uint8)
    return lines.reshape(height, width + 1)[:, 1:]


def test_peaks_show_where_it_is_loud():
    sound = np.zeros(RATE, np.float32)
    sound[RATE // 2 :] = -0.8
    assert peaks(sound, 4) == [0, 0, 80, 80]


def test_stills(tmp_path):
    path = tmp_path / "film.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 32, "yuv420p"
        for number in range(20):
            grey = np.full((32, 64, 3), 10 * number, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(grey, format="rgb24")))
        container.mux(stream.encode(None))
    assert has_video(path)
    for time in (0.0, 1.0, 9.0):
        picture = still(path, time, 16)
        lines = np.frombuffer(zlib.decompress(picture[picture.index(b"IDAT") + 4 : -16]), np.uint8)
        grey = lines.reshape(8, -1)[:, 1:].mean()
        assert grey == pytest.approx(min(10 * 10 * time, 190), abs=12)
    without = write_sound(tmp_path / "a.wav", np.zeros(RATE))
    assert not has_video(without)
    assert still(without, 0.5) is None
