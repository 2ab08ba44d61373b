"""Checks of videos that run beside the pages: a folder may hold thousands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread

from reelscore.errors import DataError, ReelscoreError
from reelscore.human.campaign import Campaign
from reelscore.web.media import MediaReport, check_media, check_video, named

Check = Callable[[Path], float]


@dataclass
class Inspection:
    """One check of a campaign's videos, as far as it is; it ends with a report or an error."""

    done: int = 0
    total: int = 0
    report: MediaReport | None = None
    error: str = ""
    _ended: Event = field(default_factory=Event, repr=False)

    @property
    def is_running(self) -> bool:
        """Whether there is more to come."""
        return not self._ended.is_set()

    @property
    def is_fine(self) -> bool:
        """Whether every video can be played."""
        return self.report is not None and not self.report.faults

    @property
    def warning(self) -> str:
        """What the log says of a campaign that opens as the videos are; empty if all are fine."""
        if self.report is not None and self.report.faults:
            return f"opened with videos that cannot be played: {named(self.report.faults)}"
        return "" if self.is_fine else "opened before all videos were checked"

    def wait(self, seconds: float) -> None:
        """Wait for the end, but not for longer."""
        self._ended.wait(seconds)

    def run(self, campaign: Campaign, folder: Path | None, check: Check) -> None:
        """Look at all videos."""
        try:
            self.report = check_media(campaign, folder, check, self._advance)
        except ReelscoreError as error:
            self.error = str(error)
        except OSError as error:  # the folder has gone
            self.error = f"The videos cannot be read: {error.strerror}."
        finally:
            self._ended.set()

    def _advance(self, done: int, total: int) -> None:
        self.done, self.total = done, total


@dataclass(frozen=True)
class Preflight:
    """The checks of all campaigns; files that have not changed are looked at once.

    Attributes:
        folder: Where the videos lie; None for a server without.
        check: What looks at a file.
    """

    folder: Path | None
    check: Check = check_video
    _inspections: dict[str, Inspection] = field(default_factory=dict, repr=False)
    _known: dict[tuple[Path, int, int], float | str] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def last(self, campaign: str) -> Inspection | None:
        """Give the newest check of a campaign, perhaps still running."""
        return self._inspections.get(campaign)

    def start(self, campaign: Campaign) -> Inspection:
        """Begin to check a campaign's videos, unless that is under way."""
        with self._lock:
            newest = self._inspections.get(campaign.id)
            if newest is not None and newest.is_running:
                return newest
            inspection = self._inspections[campaign.id] = Inspection()
        arguments = (campaign, self.folder, self._look)
        Thread(target=inspection.run, args=arguments, daemon=True).start()
        return inspection

    def _look(self, file: Path) -> float:
        found = file.stat()
        key = (file, found.st_mtime_ns, found.st_size)
        if key not in self._known:
            try:
                self._known[key] = self.check(file)
            except DataError as error:
                self._known[key] = str(error)
        result = self._known[key]
        if isinstance(result, str):
            raise DataError(result)
        return result
