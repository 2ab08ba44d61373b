"""The videos of a server: which files there are, whether browsers play them, and sending them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from fastapi.responses import FileResponse
from starlette.exceptions import HTTPException

from reelscore.errors import DataError, MissingExtraError
from reelscore.web.security import Signer

TYPES = {
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".webm": "video/webm",
    ".ogv": "video/ogg",
    ".mov": "video/quicktime",
}

# What Chromium plays; tests let it play one file of each kind, and of some others.
_CONTAINERS = ("mp4", "webm", "ogg")
_CODECS = ("h264", "vp8", "vp9", "av1")
_CUT = 0.9  # of the length a file claims; players end a little early or late


def video_files(folder: Path) -> dict[str, Path]:
    """Find the videos of a folder by item."""
    inside = folder.resolve()
    files = sorted(each for each in inside.iterdir() if each.suffix.lower() in TYPES)
    # a link may lead anywhere; what lies outside the folder is not for raters
    kept = [each for each in files if each.resolve().is_relative_to(inside) and each.is_file()]
    return {each.stem: each for each in kept}


@dataclass(frozen=True)
class Videos:
    """The videos of a folder, under names that tell raters nothing.

    A request names a video by a word derived from its item with the server's secret, and that word
    is looked up among the files that are there: no path is ever made of what a browser sends.
    """

    folder: Path | None  # where they lie; None for a server without videos
    signer: Signer  # makes their public names
    _files: dict[str, tuple[int, dict[str, Path]]] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def name(self, campaign: str, item: str) -> str | None:
        """Return the public name of an item's video; None where there is no such file."""
        name = self._name(campaign, item)
        return name if self.file(campaign, name) else None

    def file(self, campaign: str, name: str) -> Path | None:
        """Return the file of a public name; None where there is none."""
        if self.folder is None:
            return None
        with self._lock:
            changed = self.folder.stat().st_mtime_ns
            scanned = self._files.get(campaign)
            if scanned is None or scanned[0] != changed:  # files came or went
                files = video_files(self.folder)
                named = {self._name(campaign, item): file for item, file in files.items()}
                scanned = self._files[campaign] = (changed, named)
            return scanned[1].get(name)

    def send(self, campaign: str, name: str | None) -> FileResponse:
        """Send a video by its public name, or the part of it that is asked for."""
        file = None if name is None else self.file(campaign, name)
        if file is None:
            raise HTTPException(404, "There is no such video.")
        return FileResponse(
            file,
            media_type=TYPES[file.suffix.lower()],
            headers={"cache-control": "private, max-age=86400"},
        )

    def _name(self, campaign: str, item: str) -> str:
        return self.signer.name("media", campaign, item, length=20)


def check_video(file: Path) -> float:
    """Look at a video as a browser would: container, codec, the first and the last picture."""
    try:
        import av
    except ImportError:
        raise MissingExtraError.of("Checking videos needs PyAV", "reelscore[web]") from None
    try:
        if file.stat().st_size == 0:
            raise DataError("the file is empty; copy it again.")
        with av.open(str(file)) as container:
            return _playable(container)
    except (av.FFmpegError, OSError) as error:
        raise DataError(f"the file cannot be read ({error.strerror}); copy it again.") from None


def _playable(container: Any) -> float:
    names = container.format.name.split(",")
    if not any(name in _CONTAINERS for name in names):
        raise DataError(
            f"browsers do not play the container {names[0]}, whatever the file is called; "
            "convert it to mp4."
        )
    if not container.streams.video:
        raise DataError("the file has no video stream, only sound or data.")
    stream = container.streams.video[0]
    codec = stream.codec.canonical_name
    if codec not in _CODECS:
        raise DataError(f"browsers do not play the codec {codec}; convert it to h264.")
    first = next(container.decode(stream), None)
    if first is None:
        raise DataError("the video has no pictures.")
    # the length that the file says it has; 0 where it says none
    claimed = (container.duration or 0) / 1e6
    if stream.duration is not None:
        claimed = float(stream.duration * stream.time_base)
    seen = _last_moment(container, stream, claimed)
    if max(claimed, seen) <= 0:
        raise DataError("the video has no length: one picture, or none.")
    if seen < _CUT * claimed:
        raise DataError(
            f"the file is cut off: it says {claimed:.1f} seconds and ends after {seen:.1f}."
        )
    return round(max(claimed, seen), 3)


def _last_moment(container: Any, stream: Any, claimed: float) -> float:
    """Find when the last picture ends, going to the end where the file allows it."""
    start = float((stream.start_time or 0) * stream.time_base)
    container.seek(int(claimed * 1e6) if claimed else 0)
    end = 0.0
    for packet in container.demux(stream):
        if packet.pts is not None:
            end = max(end, float((packet.pts + (packet.duration or 0)) * packet.time_base))
    return end - start
