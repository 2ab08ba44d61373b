"""The sound of files as samples: right times in every container, and clear refusals."""

from __future__ import annotations

import wave

import av
import numpy as np
import pytest

from reelscore.corpus.sound.audio import RATE, find_track, read_samples
from reelscore.corpus.sound.narration import warped
from reelscore.corpus.time_map import Piece, TimeMap
from reelscore.errors import DataError
from support.film_sound import film_sound, samples_of, write_frames, write_sound


def bursts(seconds=4.0, rate=48_000):
    sound = np.zeros(int(seconds * rate), np.float32)
    time = np.arange(480) / rate
    sound[2 * rate : 2 * rate + 480] = 0.5 * np.sin(2 * np.pi * 1000 * time)
    return sound


@pytest.mark.parametrize("ending", ["wav", "flac", "mkv", "m4a", "mp3"])
def test_codec_delays_are_taken_out(tmp_path, ending):
    path = write_sound(tmp_path / f"a.{ending}", bursts(), 48_000)
    samples = read_samples(find_track(path))
    sound = samples.read(0, samples.count)
    loud = np.flatnonzero(np.abs(sound) > 0.1)
    assert loud[0] / RATE == pytest.approx(2.0, abs=0.001)
    assert samples.seconds == pytest.approx(4.0, abs=0.06)


def test_gaps_in_time_stamps_are_filled_with_silence(tmp_path):
    path = tmp_path / "a.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=RATE, layout="mono")
        for start in (0.0, 3.0):
            sound = np.full((1, RATE), 0.25, np.float32)
            frame = av.AudioFrame.from_ndarray(
                (sound * 32767).astype(np.int16), format="s16", layout="mono"
            )
            frame.sample_rate, frame.pts = RATE, round(start * RATE)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    samples = read_samples(find_track(path))
    assert [(gap.start, gap.seconds) for gap in samples.gaps] == [(1.0, 2.0)]
    assert samples.seconds == pytest.approx(4.0, abs=0.001)
    sound = samples.read(0, samples.count)
    assert np.abs(sound[RATE + 200 : 3 * RATE - 200]).max() == 0
    assert sound[3 * RATE + 500] == pytest.approx(0.25, abs=0.01)


def test_six_channels_are_mixed_and_the_centre_is_kept(tmp_path):
    rows = np.zeros((6, RATE), np.float32)
    rows[2] = 0.5 * np.sin(2 * np.pi * 440 * np.arange(RATE) / RATE)  # FL FR FC LFE BL BR
    rows[3] = 0.4
    path = write_sound(tmp_path / "a.flac", rows)
    samples = read_samples(find_track(path), channels=3)
    assert samples.has_centre
    assert samples.mono
    middle = slice(4000, 12000)
    centre, mid = (samples.read(0, RATE, channel)[middle] for channel in (2, 0))
    assert np.abs(centre).max() == pytest.approx(0.5, abs=0.01)
    assert mid == pytest.approx(centre / np.sqrt(2) / (1 + np.sqrt(2)), abs=0.001)


def test_two_channels_without_names_are_left_and_right(tmp_path):
    """As soundfile, sox and ffmpeg write them: a plain WAV header has no mask of speakers."""
    left, right = film_sound(3.0), film_sound(3.0, seed=8)
    path = tmp_path / "a.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, RATE, len(left), "NONE", ""))
        file.writeframes((32767 * np.stack([left, right], 1)).astype("<i2").tobytes())
    track = find_track(path)
    assert track.layout == "stereo"
    samples = read_samples(track, channels=3)
    assert not samples.mono
    inner = slice(100, -100)
    mid, side = (samples.read(0, len(left), channel)[inner] for channel in (0, 1))
    assert np.abs(mid - (left + right)[inner] / 2).max() < 1e-3
    assert np.abs(side - (left - right)[inner]).max() < 1e-3


def test_the_described_stream_is_chosen(tmp_path):
    path = tmp_path / "a.mkv"
    with av.open(str(path), "w") as container:
        streams = [container.add_stream("flac", rate=RATE, layout="mono") for _ in range(3)]
        for stream, language in zip(streams, ("ger", "eng", "eng"), strict=True):
            stream.metadata["language"] = language
        streams[0].disposition = av.stream.Disposition.default
        streams[2].disposition = av.stream.Disposition.visual_impaired
        for stream in streams:
            write_frames(container, stream, np.zeros((1, RATE), np.float32), RATE, "mono")
    assert (track := find_track(path)).stream == 0
    assert track.chosen_by == "default"
    assert find_track(path, language="eng").stream == 1
    assert (track := find_track(path, role="ad")).stream == 2
    assert track.chosen_by == "disposition"
    assert find_track(path, role="ad", stream=1).chosen_by == "option"
    with pytest.raises(DataError, match="no stream 3; it has 3 streams"):
        find_track(path, stream=3)


def test_files_without_sound_are_refused(tmp_path):
    silent = tmp_path / "silent.mp4"
    with av.open(str(silent), "w") as container:
        stream = container.add_stream("mpeg4", rate=5)
        stream.width = stream.height = 64
        for _ in range(3):
            picture = np.zeros((64, 64, 3), np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture)))
        container.mux(stream.encode(None))
    empty, text = tmp_path / "empty.wav", tmp_path / "text.wav"
    empty.write_bytes(b"")
    text.write_text("no sound at all")
    for path, why in (
        (silent, "no sound"),
        (empty, "is empty"),
        (text, "cannot be read"),
        (tmp_path / "nowhere.wav", "no such file"),
    ):
        with pytest.raises(DataError, match=why):
            find_track(path)


def test_a_truncated_file_is_refused(tmp_path):
    whole = write_sound(tmp_path / "a.m4a", film_sound(20))
    # the index first, as streaming sites write it: the file opens, and ends early
    fast = tmp_path / "fast.mp4"
    with (
        av.open(str(whole)) as source,
        av.open(str(fast), "w", options={"movflags": "faststart"}) as target,
    ):
        stream = target.add_stream_from_template(source.streams.audio[0])
        for packet in source.demux(source.streams.audio[0]):
            if packet.dts is not None:
                packet.stream = stream
                target.mux(packet)
    fast.write_bytes(fast.read_bytes()[: fast.stat().st_size // 2])
    with pytest.raises(DataError, match=r"cut off|damaged"):
        read_samples(find_track(fast))
    whole.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    with pytest.raises(DataError, match="may be cut off: copy it again"):
        find_track(whole)


def test_samples_are_silent_outside():
    samples = samples_of(np.ones(100))
    part = samples.read(-5, 105)
    assert part[:5].tolist() == part[-5:].tolist() == [0] * 5
    assert part[5:-5].min() == 1
    assert samples.read(200, 210).max() == 0


@pytest.mark.parametrize("step", [1.0, 25 / 23.976, 0.9713])
def test_warping_and_back_returns_the_sound(step):
    sound = film_sound(3.0)
    spectrum = np.fft.rfft(sound)
    spectrum[int(len(spectrum) * 0.625) :] = 0  # up to 5 kHz, as everything here uses
    sound = np.fft.irfft(spectrum, len(sound)).astype(np.float32)
    there = TimeMap((Piece(0.0, 3.0, 0.25, step),))
    back = TimeMap((Piece(0.25, 0.25 + 3.0 * step, 0.0, 1 / step),))
    last = int(RATE * (0.25 + 3.0 * step))
    warped_once = warped(samples_of(sound), there, 0, last)
    returned = warped(samples_of(warped_once), back, 0, len(sound))
    inner = slice(200, -200)
    assert np.abs(returned[inner] - sound[inner]).max() < 1e-3 * np.abs(sound).max()
