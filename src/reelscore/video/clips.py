r"""Which video shows which item: a folder of videos, or a list of videos and parts of videos.

A line of a list is a video, whose item is the name without its ending, or an item, a tab and a
video. Parts of films, ``film.mp4#12.5,20``, need an item; paths are relative to the list.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from reelscore.errors import DataError
from reelscore.video.frames import TYPES, video_part, videos_in


class Clip(NamedTuple):
    """An item, and the video that shows it.

    Attributes:
        item: The item's id.
        video: The file, or a part of it: ``film.mp4#12.5,20``.

    >>> Clip("clip01", "films/a.mp4#2,4.5").file.as_posix()
    'films/a.mp4'
    """

    item: str
    video: str

    @property
    def file(self) -> Path:
        """The file of the video."""
        return video_part(self.video)[0]

    @property
    def is_part(self) -> bool:
        """Whether it is only a part of the file."""
        return video_part(self.video)[2] is not None


def find_clips(source: str | Path) -> list[Clip]:
    """Find the clips of a folder, whose videos are named after their items, or read a list."""
    place = Path(source)
    if place.is_dir():
        clips = [Clip(path.stem, str(path)) for path in videos_in(place)]
        remedy = f"expected files that end in {', '.join(TYPES)}"
    else:
        clips = _listed(place)
        remedy = "expected a video in each line, or an item, a tab and a video"
    if not clips:
        raise DataError(f"{source}: there are no videos; {remedy}.")
    seen: dict[str, str] = {}
    for clip in clips:
        if clip.item in seen:
            first, second = Path(seen[clip.item]).name, Path(clip.video).name
            raise DataError(
                f"{source}: item {clip.item!r} has several videos ({first} and {second}); keep "
                "one, or name the items in a list: ITEM, a tab, VIDEO."
            )
        seen[clip.item] = clip.video
    return clips


def _listed(file: Path) -> list[Clip]:
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise DataError(
            f"{file}: neither a folder of videos nor a list of them ({reason})."
        ) from None
    clips = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        item, tab, video = line.rpartition("\t")
        path = file.parent / video.strip()
        if video_part(path)[2] is not None and not tab:
            raise DataError(
                f"{file}:{number}: a part of a film needs an item; expected ITEM, a tab, "
                f"{line.strip()}."
            )
        clips.append(Clip(item.strip() or path.stem, str(path)))
    return clips
