"""Videos of every kind, good and bad, made for tests."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np

from reelscore.examples.drawn_videos import draw_videos

# name: (encoder, container, whether browsers play it)
KINDS = {
    "h264.mp4": ("libx264", "mp4", True),
    "h264.mov": ("libx264", "mov", True),
    "vp9.webm": ("libvpx-vp9", "webm", True),
    "vp8.ogv": ("libvpx", "ogg", True),
    "hevc.mp4": ("libx265", "mp4", False),
    "divx.mp4": ("mpeg4", "mp4", False),
    "avi.mp4": ("libx264", "avi", False),
    "stream.mp4": ("libx264", "mpegts", False),
}
_QUIET = {"libx265": {"x265-params": "log-level=none"}}


def film(file: Path, codec: str, container: str) -> None:
    """Make a video of half a second."""
    with av.open(str(file), "w", format=container) as target:
        stream = target.add_stream(codec, rate=12, options=_QUIET.get(codec, {}))
        stream.width, stream.height, stream.pix_fmt = 160, 96, "yuv420p"
        for k in range(6):
            picture = np.full((96, 160, 3), 40 * k, np.uint8)
            target.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        target.mux(stream.encode())


def sound_alone(file: Path) -> None:
    """Make a file that has a sound and no picture."""
    with av.open(str(file), "w", format="mp4") as target:
        stream = target.add_stream("aac", rate=44100)
        silence = np.zeros((2, 1024), np.float32)
        frame = av.AudioFrame.from_ndarray(silence, format="fltp", layout="stereo")
        frame.sample_rate = 44100
        target.mux(stream.encode(frame))
        target.mux(stream.encode())


def bad_folder(folder: Path) -> dict[str, str]:
    """Fill a folder for clip01 to clip06; tell what is wrong with all but the first."""
    draw_videos(folder, ["clip01", "clip05"], seconds=1.0)
    (folder / "clip02.mp4").write_bytes(b"this is no video")
    (folder / "clip03.mp4").write_bytes(b"")
    sound_alone(folder / "clip04.mp4")
    whole = (folder / "clip05.webm").read_bytes()
    (folder / "clip05.webm").write_bytes(whole[: len(whole) // 2])
    return {
        "clip02": "cannot be read",
        "clip03": "is empty",
        "clip04": "no video stream",
        "clip05": "cut off",
        "clip06": "there is no file",
    }
