"""Frames of a video, evenly spread: the middles of equal parts, so never a black first frame.

A video is a file, or a part of one: ``film.mp4#12.5,20`` is what is shown from second 12.5 to 20.
"""

from __future__ import annotations

import bisect
import hashlib
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore._packages import need
from reelscore.data.checks import first_few
from reelscore.errors import DataError

TYPES = (".mp4", ".webm", ".mkv", ".avi", ".mov", ".m4v", ".mpg", ".mpeg", ".ogv", ".gif")
_PART = re.compile(r"(.+)#(\d+(?:\.\d+)?),(\d+(?:\.\d+)?)$")


@dataclass(frozen=True)
class Sampling:
    """Which frames to take, and how large.

    Attributes:
        count: How many frames; fewer where the video has fewer.
        side: The longer side in pixels, of larger frames; 0 leaves them as they are.

    >>> Sampling(4).places(10)
    [1, 3, 6, 8]
    >>> Sampling(4).places(2)
    [0, 1]
    """

    count: int = 8
    side: int = 512

    def __post_init__(self) -> None:
        if self.count < 1 or self.side < 0:
            raise DataError(
                f"{self.count} frames with a side of {self.side}; expected at least one frame, "
                "and a side in pixels, or 0 for that of the video."
            )

    def places(self, frames: int) -> list[int]:
        """Return the numbers of the frames to take, of so many."""
        count = min(self.count, frames)
        return [(2 * k + 1) * frames // (2 * count) for k in range(count)]


class Frames(NamedTuple):
    """Frames of a video.

    Attributes:
        pictures: Height × width × 3 bytes, each.
        numbers: Their numbers among the frames of the video, or of the part.
        times: When they are shown, in seconds.
        duration: How long the video, or the part, is, in seconds.

    >>> Frames([], [], []).pictures
    []
    """

    pictures: list[NDArray[np.uint8]]
    numbers: list[int]
    times: list[float]
    duration: float = 0.0

    def jpegs(self, quality: int = 90) -> list[bytes]:
        """Write the pictures as JPEG."""
        image = _need("PIL.Image")
        written = []
        for picture in self.pictures:
            file = io.BytesIO()
            image.fromarray(picture).save(file, "JPEG", quality=quality)
            written.append(file.getvalue())
        return written


def find_videos(folder: str | Path, items: Iterable[str]) -> dict[str, Path]:
    """Find the video of each item: the file in a folder that has its id as name.

    Raises:
        DataError: If there is no such folder, or an item has no video, or several.
    """
    if not Path(folder).is_dir():
        raise DataError(f"{folder}: there is no such folder; name the one that has the videos.")
    files: dict[str, list[Path]] = {}
    for path in videos_in(Path(folder)):
        files.setdefault(path.stem, []).append(path)
    items = list(items)
    missing = [item for item in items if item not in files]
    if missing:
        raise DataError(
            f"{folder}: {len(missing)} of {len(items)} items have no video ({first_few(missing)}); "
            f"expected a file named after each item, such as {missing[0]}.mp4."
        )
    twice = next((item for item in items if len(files[item]) > 1), None)
    if twice is not None:
        names = " and ".join(path.name for path in files[twice][:2])
        raise DataError(f"{folder}: item {twice!r} has several videos ({names}); keep one.")
    return {item: files[item][0] for item in items}


def videos_in(folder: Path) -> list[Path]:
    """List the videos of a folder, by their names."""
    return [path for path in sorted(folder.iterdir()) if path.suffix.lower() in TYPES]


def video_key(video: str | Path) -> str:
    """Return what tells a video from others: a hash of its content, and the part.

    Raises:
        DataError: If it cannot be read.
    """
    path, start, end = video_part(video)
    try:
        state = path.stat()
        digest = _content_hash(str(path), state.st_size, state.st_mtime_ns)
    except OSError as error:
        raise DataError(f"{path}: the video cannot be read ({error.strerror}).") from error
    return digest if end is None else f"{digest}#{start:g},{end:g}"


@lru_cache(maxsize=100_000)
def _content_hash(path: str, size: int, changed: int) -> str:
    digest = hashlib.blake2b(digest_size=16)
    with Path(path).open("rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def read_frames(video: str | Path, sampling: Sampling = Sampling()) -> Frames:  # noqa: B008
    """Decode frames of a video.

    Args:
        video: A file, or a part of one.
        sampling: Which frames.

    Raises:
        DataError: If it cannot be decoded, or the part has no frame.
        MissingExtraError: If PyAV or Pillow is not installed.
    """
    av = _need("av")
    _need("PIL.Image")
    path, start, end = video_part(video)
    try:
        with av.open(str(path)) as container:
            if not container.streams.video:
                raise DataError(f"{path}: the file has no video stream, only sound or data.")
            base = float(container.streams.video[0].time_base)
            moments, keys = _moments(container)
        first = moments[0] if moments else 0
        inside = [m for m in moments if end is None or start <= (m - first) * base < end]
        numbers = sampling.places(len(inside))
        wanted = [inside[number] for number in numbers]
        # containers without an index may lead astray: those are decoded from their beginning
        shown = _decoded(path, wanted, keys) or _decoded(path, wanted, [])
    except (av.FFmpegError, OSError) as error:
        reason = error.strerror or str(error)
        raise DataError(f"{path}: the video cannot be decoded ({reason}).") from None
    if not shown:
        raise DataError(f"{video}: there are no frames; the video is shorter, or is broken.")
    pictures = [_picture(frame, sampling.side) for frame in shown]
    # the last frame is shown as long as frames are on average
    shares = len(inside) / max(1, len(inside) - 1)
    duration = (inside[-1] - inside[0]) * base * shares
    return Frames(pictures, numbers, [(moment - first) * base for moment in wanted], duration)


def _decoded(path: Path, moments: list[int], keys: list[int]) -> list[Any]:
    """Decode the frames shown at some moments, or next; none where seeking leads to others."""
    with _need("av").open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        frames, shown = container.decode(stream), []
        current, frame = keys[0] if keys else 0, None
        for moment in moments:
            if bisect.bisect_right(keys, moment) > bisect.bisect_right(keys, current):
                container.seek(moment, stream=stream)
                frames = container.decode(stream)
            while frame is None or current < moment:
                following = next(frames, None)
                if following is None:
                    break
                frame, current = following, current if following.pts is None else following.pts
            if frame is None or (keys and current != moment):
                return []
            shown.append(frame)
    return shown


def _moments(container: Any) -> tuple[list[int], list[int]]:
    """When frames are shown, and which of them can be decoded by themselves; nothing is decoded."""
    moments, keys = [], []
    for packet in container.demux(container.streams.video[0]):
        if packet.pts is not None and packet.size:
            moments.append(packet.pts)
            if packet.is_keyframe:
                keys.append(packet.pts)
    return sorted(moments), sorted(keys)


def _picture(frame: Any, side: int) -> NDArray[np.uint8]:
    longest = max(frame.width, frame.height)
    image = frame.to_image()
    if side and longest > side:
        size = [max(1, round(length * side / longest)) for length in (frame.width, frame.height)]
        image = image.resize(size, _need("PIL.Image").Resampling.BICUBIC)
    picture: NDArray[np.uint8] = np.asarray(image.convert("RGB"))
    return picture


def video_part(video: str | Path) -> tuple[Path, float, float | None]:
    """Divide ``file#start,end`` into the file, its start, and its end, ``None`` for a whole file.

    >>> video_part("film.mp4#12.5,20")[1:]
    (12.5, 20.0)
    """
    part = _PART.match(str(video))
    if part is None or Path(video).exists():
        return Path(video), 0.0, None
    start, end = float(part[2]), float(part[3])
    if not start < end:
        raise DataError(f"{video}: the part ends before it begins; expected FILE#START,END.")
    return Path(part[1]), start, end


def _need(module: str) -> ModuleType:
    package = {"av": "PyAV", "PIL.Image": "Pillow"}[module]
    return need(module, "reelscore[files]", "Frames of videos need", package)
