"""Whether the videos of a campaign can be played, before anybody is asked to watch them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread

from reelscore._progress import Progress
from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.pages.rater_pages import Pages, read_pages
from reelscore.errors import DataError, ReelscoreError
from reelscore.web.media import TYPES, check_video, video_files

KEY = "media"  # of a campaign's settings: the seconds of each item's video
CONVERT = "ffmpeg -i OLD -c:v libx264 -pix_fmt yuv420p -c:a aac -movflags +faststart NEW.mp4"
Check = Callable[[Path], float]


@dataclass(frozen=True)
class Fault:
    """Why raters could not watch a video: its item, the file if there is one, and what is wrong."""

    item: str
    file: str
    what: str

    def __str__(self) -> str:
        return f"{self.item}: {self.what}"


@dataclass(frozen=True)
class MediaReport:
    """What was found out about the videos of a campaign."""

    seconds: Mapping[str, float]  # how long each video lasts that can be played
    faults: tuple[Fault, ...]  # those that cannot
    elsewhere: int  # items whose videos lie on another site, which nobody has looked at
    without: int  # items that have a text instead of a video, or nothing

    def __str__(self) -> str:
        wrong = len(self.faults)
        total = f"{len(self.seconds) + wrong:,} videos: {len(self.seconds):,} can be played"
        parts = [f"{total} ({_duration(sum(self.seconds.values()))}), {wrong:,} cannot."]
        if self.elsewhere:
            parts.append(
                f"{self.elsewhere:,} lie on another site and were not checked; watch a few in the "
                "preview of HITs."
            )
        if self.without:
            parts.append(f"{self.without:,} items are shown without a video.")
        return " ".join(parts)


def needed_videos(campaign: Campaign, pages: Pages) -> dict[str, bool]:
    """Return the items that raters are to see, and whether a text may stand in for the video.

    Those of all HITs come first, then those of the practice.
    """
    needs = {item: item in pages.contexts for item in campaign.items()}
    practice = {each.item: bool(each.context) for each in pages.practice_for(campaign.protocol)}
    return needs | {item: practice[item] for item in practice if item and item not in needs}


def check_media(
    campaign: Campaign,
    folder: Path | None,
    check: Check = check_video,
    progress: Progress | None = None,
) -> MediaReport:
    """Look at every video of a campaign, and note in its settings how long each lasts."""
    pages = read_pages(campaign.settings)
    files = {} if folder is None else video_files(folder)
    others = {} if folder is None else {each.stem: each.name for each in folder.iterdir()}
    seconds: dict[str, float] = {}
    faults: list[Fault] = []
    elsewhere = without = 0
    needs = needed_videos(campaign, pages)
    kinds = ", ".join(TYPES)
    for number, (item, has_text) in enumerate(needs.items(), start=1):
        file, other = files.get(item), others.get(item, "")
        if file is not None:
            try:
                seconds[item] = check(file)
            except DataError as error:
                faults.append(Fault(item, file.name, str(error)))
        elif pages.video_url:
            elsewhere += 1
        elif has_text or folder is None:
            without += 1
        elif other:
            what = f"{other} is not served, only {kinds}; convert it to mp4."
            faults.append(Fault(item, other, what))
        else:
            what = f"there is no file of this name, with the ending {kinds}."
            faults.append(Fault(item, "", what))
        if progress:
            progress(number, len(needs))
    if seconds != campaign.settings.get(KEY, {}):
        campaign.change_settings({KEY: seconds})
    return MediaReport(seconds, tuple(faults), elsewhere, without)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


def named(faults: Iterable[Fault], most: int = 20) -> str:
    """Name the items of faults, for the log.

    >>> named([Fault("clip1", "", "is missing."), Fault("clip2", "", "is missing.")], most=1)
    'clip1 and 1 more'
    """
    items = [fault.item for fault in faults]
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


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

        def advance(done: int, total: int) -> None:
            self.done, self.total = done, total

        try:
            self.report = check_media(campaign, folder, check, advance)
        except ReelscoreError as error:
            self.error = str(error)
        except OSError as error:  # the folder has gone
            self.error = f"The videos cannot be read: {error.strerror}."
        finally:
            self._ended.set()


@dataclass(frozen=True)
class Preflight:
    """The checks of all campaigns; files that have not changed are looked at once."""

    folder: Path | None  # where the videos lie; None for a server without
    check: Check = check_video  # what looks at a file
    _inspections: dict[str, Inspection] = field(default_factory=dict, repr=False)
    _known: dict[tuple[Path, int, int], float | str] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def last(self, campaign: str) -> Inspection | None:
        """Return the newest check of a campaign, perhaps still running."""
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
        status = file.stat()
        key = (file, status.st_mtime_ns, status.st_size)
        if key not in self._known:
            try:
                self._known[key] = self.check(file)
            except DataError as error:
                self._known[key] = str(error)
        result = self._known[key]
        if isinstance(result, str):
            raise DataError(result)
        return result
