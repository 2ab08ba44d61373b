"""Small pictures of clips for a report: a few frames side by side, of which the page shows one.

A page plays them one after the other when somebody points at them. Small ones lie in the page, and
those of many clips in a folder beside it. A strip is made once and kept in the cache directory.
"""

from __future__ import annotations

import io
import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from reelscore._cache import cache_directory, keep_in_cache
from reelscore._progress import Progress
from reelscore.errors import DataError
from reelscore.video.clips import Clip
from reelscore.video.frames import Sampling, read_frames, video_key, video_part

_FRAMES, _SIDE, _QUALITY = 6, 160, 55
_THREADS = 4


class Preview(NamedTuple):
    """Frames of a clip side by side, in one WebP file.

    Attributes:
        content: The file.
        frames: How many frames it shows.
        width: Of one frame, in pixels.
        height: Likewise.
    """

    content: bytes
    frames: int
    width: int
    height: int

    @classmethod
    def of(cls, pictures: Sequence[NDArray[np.uint8]], quality: int = _QUALITY) -> Preview:
        """Put pictures of one size side by side.

        Args:
            pictures: Height × width × 3 bytes, each.
            quality: Of the file, from 1 to 100.

        >>> preview = Preview.of([np.zeros((36, 48, 3), np.uint8)] * 4)
        >>> preview.frames, preview.width, preview.content[8:12]
        (4, 48, b'WEBP')
        """
        from PIL import Image

        height, width, _ = pictures[0].shape
        file = io.BytesIO()
        Image.fromarray(np.concatenate(pictures, axis=1)).save(file, "WEBP", quality=quality)
        return cls(file.getvalue(), len(pictures), width, height)

    @classmethod
    def read(cls, video: str) -> Preview:
        """Make the preview of a video, or of a part of one.

        Raises:
            DataError: If it cannot be read.
        """
        from PIL import Image

        name = f"{video_key(video).replace('#', '_')}-{_FRAMES}-{_SIDE}-{_QUALITY}.webp"
        kept = cache_directory() / "previews" / name
        if kept.is_file():
            content = kept.read_bytes()
            width, height = Image.open(io.BytesIO(content)).size
            return cls(content, _FRAMES, width // _FRAMES, height)
        pictures = read_frames(video, Sampling(_FRAMES, _SIDE)).pictures
        # those of a video with fewer frames are shown longer
        preview = cls.of([pictures[k * len(pictures) // _FRAMES] for k in range(_FRAMES)])
        keep_in_cache(kept, preview.content)
        return preview


class Previews(NamedTuple):
    """Previews of the items of a report, and where their videos are."""

    pictures: Mapping[str, Preview]  # the preview of each item that has one
    videos: Mapping[str, str]  # addresses of the videos, for the page's player
    notes: Sequence[str]  # which items have no video, or one that cannot be read


def read_previews(
    clips: Sequence[Clip],
    items: Sequence[str],
    page: str | Path,
    progress: Progress | None = None,
) -> Previews:
    """Make the previews of a report's items, several at a time.

    Args:
        clips: The clips; those of other items are left out.
        items: The items of the report.
        page: The file of the report, which addresses of videos are relative to.
        progress: Called after each preview.

    Raises:
        DataError: If no item has a video.
        MissingExtraError: If PyAV or Pillow is not installed.
    """
    wanted = set(items)
    videos = {clip.item: clip.video for clip in clips if clip.item in wanted}
    if not videos:
        raise DataError(
            f"None of the {len(items):,} items has a video: items are such as {items[0]!r}, and "
            f"videos are of {clips[0].item!r}. Name the videos after the items, or list them: "
            "ITEM, a tab, FILE."
        )
    pictures, broken = {}, []
    with ThreadPoolExecutor(_THREADS) as pool:
        made = {item: pool.submit(Preview.read, video) for item, video in videos.items()}
        for done, (item, future) in enumerate(made.items(), start=1):
            try:
                pictures[item] = future.result()
            except DataError as error:
                broken.append(str(error))
            if progress is not None:
                progress(done, len(videos))
    notes = []
    if len(videos) < len(wanted):
        missing = next(item for item in items if item not in videos)
        count = len(wanted) - len(videos)
        notes.append(f"{count:,} of {len(wanted):,} items have no video (first: {missing!r}).")
    if broken:
        notes.append(f"{len(broken):,} videos cannot be shown (first: {broken[0]})")
    folder = Path(page).resolve().parent
    addresses = {item: _address(video, folder) for item, video in videos.items()}
    return Previews(pictures, addresses, notes)


def _address(video: str, folder: Path) -> str:
    """Return the address of a video for a page in a folder; a part becomes a media fragment."""
    path, start, end = video_part(video)
    try:
        relative = Path(os.path.relpath(path.resolve(), folder)).as_posix()
    except ValueError:  # another drive
        return path.resolve().as_uri()
    return quote(relative) + (f"#t={start:g},{end:g}" if end is not None else "")


def picture_folder(page: str | Path) -> Path:
    """Name the folder of a page's pictures.

    >>> picture_folder("out/report.html").as_posix()
    'out/report_previews'
    """
    target = Path(page)
    return target.with_name(f"{target.stem}_previews")


def write_pictures(page: Path, items: Sequence[str], pictures: Mapping[str, Preview]) -> str:
    """Write pictures into the folder beside a page, all or nothing; an earlier one is replaced."""
    folder = picture_folder(page)
    if folder.exists() and not all(path.suffix == ".webp" for path in folder.iterdir()):
        raise DataError(
            f"{folder}: the pictures of the report belong there, but it holds other files; move "
            "them, or give the report another name."
        )
    aside = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp")
    try:
        aside.mkdir()
        for number, item in enumerate(items):
            if item in pictures:
                (aside / f"{number:06}.webp").write_bytes(pictures[item].content)
        if folder.exists():
            shutil.rmtree(folder)
        aside.rename(folder)
    except OSError as error:
        raise DataError(f"{folder}: cannot be written ({error.strerror}).") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return folder.name
