"""Frames of videos: the right ones, at the right size, from any container."""

from __future__ import annotations

import av
import numpy as np
import pytest

from reelscore.errors import DataError
from reelscore.video import Sampling, read_frames
from reelscore.video.frames import find_videos, video_key
from support.footage import KINDS, film, sound_alone


def ramp(file, frames, keys=5, rate=10):
    """Make a video whose frame k is grey, of brightness 2 k."""
    with av.open(str(file), "w") as target:
        options = {"g": str(keys), "bf": "2", "crf": "5"}
        stream = target.add_stream("libx264", rate=rate, options=options)
        stream.width, stream.height, stream.pix_fmt = 64, 32, "yuv420p"
        for k in range(frames):
            picture = np.full((32, 64, 3), 2 * k, np.uint8)
            target.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        target.mux(stream.encode())


@pytest.mark.parametrize("keys", [1, 5, 1000])
@pytest.mark.parametrize("count", [1, 4, 8, 60])
def test_the_frames_asked_for(tmp_path, count, keys):
    ramp(tmp_path / "v.mp4", 60, keys)
    frames = read_frames(tmp_path / "v.mp4", Sampling(count))
    expected = [(2 * k + 1) * 60 // (2 * count) for k in range(count)]
    assert frames.numbers == expected
    assert np.allclose(frames.times, np.array(expected) / 10)
    shown = [float(picture.mean()) for picture in frames.pictures]
    assert np.allclose(shown, 2 * np.array(expected), atol=1.9)


def test_more_frames_than_there_are(tmp_path):
    ramp(tmp_path / "v.mp4", 3)
    assert read_frames(tmp_path / "v.mp4", Sampling(8)).numbers == [0, 1, 2]


def test_a_part(tmp_path):
    ramp(tmp_path / "v.mp4", 60)
    frames = read_frames(f"{tmp_path}/v.mp4#2,4", Sampling(2))
    assert frames.times == [2.5, 3.5]
    assert frames.duration == pytest.approx(2.0)
    assert read_frames(f"{tmp_path}/v.mp4").duration == pytest.approx(6.0)
    assert np.allclose([picture.mean() for picture in frames.pictures], [50, 70], atol=1.9)
    assert video_key(f"{tmp_path}/v.mp4#2,4") == video_key(tmp_path / "v.mp4") + "#2,4"
    with pytest.raises(DataError, match="there are no frames"):
        read_frames(f"{tmp_path}/v.mp4#20,30")
    with pytest.raises(DataError, match="ends before it begins"):
        read_frames(f"{tmp_path}/v.mp4#4,2")


@pytest.mark.parametrize("name", KINDS)
def test_all_containers(tmp_path, name):
    codec, container, _ = KINDS[name]
    film(tmp_path / name, codec, container)
    frames = read_frames(tmp_path / name, Sampling(2, side=80))
    assert [picture.shape for picture in frames.pictures] == [(48, 80, 3)] * 2
    assert all(jpeg[:2] == b"\xff\xd8" for jpeg in frames.jpegs())


def test_files_that_are_no_videos(tmp_path):
    (tmp_path / "text.mp4").write_text("no video")
    sound_alone(tmp_path / "sound.mp4")
    with pytest.raises(DataError, match=r"text.mp4: the video cannot be decoded"):
        read_frames(tmp_path / "text.mp4")
    with pytest.raises(DataError, match="no video stream"):
        read_frames(tmp_path / "sound.mp4")
    with pytest.raises(DataError, match="cannot be read"):
        video_key(tmp_path / "none.mp4")


def test_which_file_shows_which_item(tmp_path):
    for name in ("a.mp4", "b.WEBM", "b.txt", "c.mp4", "c.mkv"):
        (tmp_path / name).write_bytes(b"x")
    assert {item: path.name for item, path in find_videos(tmp_path, "ab").items()} == {
        "a": "a.mp4",
        "b": "b.WEBM",
    }
    with pytest.raises(DataError, match=r"several videos \(c.mkv and c.mp4\)"):
        find_videos(tmp_path, "abc")
