"""Clips as files of their own, cut out of their films by ffmpeg."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from reelscore._progress import Progress
from reelscore.corpus.pipeline import ASSEMBLE, fingerprint
from reelscore.corpus.project import Project
from reelscore.corpus.sound.audio import open_media
from reelscore.errors import DataError


class Cut(NamedTuple):
    """A clip to cut: ffmpeg's arguments without the file to write, that file, and its mark."""

    arguments: list[str]
    file: Path
    mark: str  # written into the file: another film, or other times, have another one

    def command(self, file: Path | None = None) -> list[str]:
        """Return the command that cuts the clip, into another file if one is given."""
        return ["ffmpeg", "-v", "error", "-nostdin", "-y", *self.arguments, str(file or self.file)]

    @property
    def is_done(self) -> bool:
        """Whether the file is there, cut from this film at these times."""
        if not self.file.is_file():
            return False
        try:
            with open_media(self.file) as container:
                return bool(container.metadata.get("comment") == self.mark)
        except DataError:  # not a film: cut it again
            return False


def cuts_of(project: Project, films: Sequence[str], folder: Path) -> Iterator[Cut]:
    """Yield the clips of films as they are shown to viewers, with the film's own sound."""
    clips = [clip for clip in project.needed(ASSEMBLE).clips if clip.film in films]
    for film_id in dict.fromkeys(clip.film for clip in clips):
        film = project.film(film_id).film
        if film is None:
            raise DataError(f"Film {film_id!r} has no file to cut; name it with --film.")
        path, stream = project.folder / film, project.streams(film_id)[0] or 0
        content = fingerprint(path).sha256[:16]
        for clip in clips:
            if clip.film != film_id:
                continue
            start, seconds = clip.expanded_start, clip.expanded_end - clip.expanded_start
            mark = f"{content} {start:.3f} {seconds:.3f}"
            arguments = ["-ss", f"{start:.3f}", "-i", str(path), "-t", f"{seconds:.3f}"]
            arguments += ["-map", "0:v:0?", "-map", f"0:a:{stream}?"]
            arguments += ["-metadata", f"comment={mark}"]
            yield Cut(arguments, folder / f"{clip.id}.mp4", mark)


def cut_clips(cuts: Sequence[Cut], progress: Progress | None = None) -> int:
    """Cut clips, those left out that are done; return how many were cut.

    Raises:
        DataError: If ffmpeg is not there, or cannot cut a clip; files are whole, or not there.
    """
    count = 0
    for number, cut in enumerate(cuts, start=1):
        if not cut.is_done:
            _cut(cut)
            count += 1
        if progress:
            progress(number, len(cuts))
    return count


def _cut(cut: Cut) -> None:
    part = cut.file.with_name(f".{cut.file.stem}.part.mp4")
    try:
        done = subprocess.run(cut.command(part), capture_output=True, text=True, check=False)
        if done.returncode:
            said = done.stderr.strip().splitlines()[-1:] or ["it says nothing"]
            raise DataError(f"{cut.file.name} could not be cut; ffmpeg: {said[0]}")
        part.replace(cut.file)
    except FileNotFoundError:
        raise DataError(
            "Cutting needs ffmpeg, and there is none; install it, or run what --dry-run prints "
            "where it is."
        ) from None
    finally:
        part.unlink(missing_ok=True)
