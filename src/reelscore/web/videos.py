"""The videos of a folder, under names that tell raters nothing.

A request names a video by a word derived from its item with the server's secret, and that word is
looked up among the files that are there: no path is ever made of what a browser sends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from reelscore.web.security import Signer

TYPES = {
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".webm": "video/webm",
    ".ogv": "video/ogg",
    ".mov": "video/quicktime",
}


@dataclass(frozen=True)
class Videos:
    """The files of one folder, found by item.

    Attributes:
        folder: Where they lie; None for a server without videos.
        signer: Makes their public names.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "clip1.mp4").write_bytes(b"")
    ...     videos = Videos(Path(folder), Signer("a secret"))
    ...     name = videos.name("dogs", "clip1")
    ...     name, videos.file("dogs", name).name, videos.file("dogs", "clip1.mp4")
    ('9fYKQHkinF8jISlvTu4X', 'clip1.mp4', None)
    """

    folder: Path | None
    signer: Signer
    _found: dict[str, tuple[int, dict[str, Path]]] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def name(self, campaign: str, item: str) -> str | None:
        """Give the public name of an item's video; None where there is no such file."""
        name = self.signer.name("media", campaign, item, length=20)
        return name if self.file(campaign, name) else None

    def file(self, campaign: str, name: str) -> Path | None:
        """Give the file of a public name; None where there is none."""
        if self.folder is None:
            return None
        with self._lock:
            changed = self.folder.stat().st_mtime_ns
            known = self._found.get(campaign)
            if known is None or known[0] != changed:  # files came or went
                known = self._found[campaign] = (changed, self._scan(campaign))
            return known[1].get(name)

    def _scan(self, campaign: str) -> dict[str, Path]:
        assert self.folder is not None
        files = video_files(self.folder)
        return {
            self.signer.name("media", campaign, item, length=20): file
            for item, file in files.items()
        }


def video_files(folder: Path) -> dict[str, Path]:
    """Find the videos of a folder by item."""
    inside = folder.resolve()
    files = sorted(each for each in inside.iterdir() if each.suffix.lower() in TYPES)
    # a link may lead anywhere; what lies outside the folder is not for raters
    kept = [each for each in files if each.resolve().is_relative_to(inside) and each.is_file()]
    return {each.stem: each for each in kept}
