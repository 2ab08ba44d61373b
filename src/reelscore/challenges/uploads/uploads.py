"""From an upload to captions of the right items, in a process that has no references.

The process gets the file, the ids of the items and the limits; it gives back captions in the order
of the splits, or a report that says what is wrong and where. The report holds nothing but what
stands in the file and the ids of items: there is nothing else that it could hold.
"""

from __future__ import annotations

import hashlib
import json
import math
import queue
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from reelscore._records import resolved
from reelscore.challenges.definition.records import Kind, ScoringLimits
from reelscore.challenges.queue.processes import Helper, Message, ProcessFault
from reelscore.challenges.uploads.archives import printed_name, unpack
from reelscore.data.checks import SHOWN, Problems, candidate_fault, has_words, id_fault
from reelscore.data.formats import get_format
from reelscore.data.json_documents import section_for
from reelscore.data.reading import Reading, Request
from reelscore.data.source import PARQUET, Source
from reelscore.data.stories import SPARE_TIME, StoryPolicies
from reelscore.errors import DataError, ReelscoreError, RefusedError

SECONDS, MEMORY = 60.0, 2 << 30
RECORDS = 2_000_000
_USES = 100  # files after which a reader is replaced
PATIENCE = 30.0  # seconds to wait for a reader that is free
_LONGEST = 300  # characters of one problem in a report


@dataclass(frozen=True)
class UploadReport:
    """What is wrong with an upload."""

    message: str  # all of it in one sentence
    problems: tuple[str, ...] = ()  # the first few, each with its place
    count: int = 1  # how many there are
    notes: tuple[str, ...] = ()  # what was passed over

    def to_json(self) -> str:
        """Return it as it is kept and sent; at most 8 kB."""
        return msgspec.json.encode(self).decode()


@dataclass(frozen=True)
class Accepted:
    """Captions of an upload that can be scored."""

    # as JSON, by split: texts in the order of its items, or timed captions by video
    captions: bytes
    notes: tuple[str, ...] = ()  # what was passed over

    @property
    def content(self) -> str:
        """A digest of the captions, whatever the file looked like."""
        return hashlib.sha256(self.captions).hexdigest()


@dataclass(frozen=True)
class ItemList:
    """The items of a split, as a reader may know them."""

    split: str  # the split's id
    items: Sequence[str]  # the ids
    # of stories, how long each video is, where that is known
    durations: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, split: str, items: bytes) -> ItemList:
        """Make the list of what is kept of a split's items."""
        kept = msgspec.json.decode(items)
        return cls(split, kept["items"], kept.get("durations", {}))


@dataclass(frozen=True)
class Expected:
    """What an upload has to hold."""

    kind: Kind  # captions or stories
    splits: Sequence[ItemList]  # the items of each split of the phase
    limits: ScoringLimits = field(default_factory=ScoringLimits)  # how much is too much
    missing: str = "error"  # of stories, whether a video may have none: ``error`` or ``zero``


class Readers:
    """A pool of reader processes; each is replaced after some files, or when it breaks a limit."""

    def __init__(self, count: int, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._free: queue.SimpleQueue[Helper] = queue.SimpleQueue()
        self._all = [
            Helper("reelscore.challenges.uploads.uploads:answer", _USES) for _ in range(count)
        ]
        self._limits = (seconds, memory)
        for helper in self._all:
            self._free.put(helper)

    def read(self, name: str, content: bytes, expected: Expected) -> Accepted | UploadReport:
        """Read an upload."""
        request = {"name": shown_name(name), "content": content, **msgspec.to_builtins(expected)}
        try:
            helper = self._free.get(timeout=PATIENCE)
        except queue.Empty:
            raise busy() from None
        try:
            answer = self._ask(helper, request)
        except ProcessFault as fault:
            return UploadReport(f"{request['name']}: reading it was ended: {fault}.")
        finally:
            self._free.put(helper)
        if "captions" in answer:
            return Accepted(answer["captions"], tuple(answer["notes"]))
        return msgspec.convert(answer, resolved(UploadReport))

    def __enter__(self) -> Readers:
        """Return the readers themselves; leaving ends their processes."""
        return self

    def __exit__(self, *_: object) -> None:
        """End all processes."""
        self.close()

    def close(self) -> None:
        """End all processes."""
        for helper in self._all:
            helper.close()

    def _ask(self, helper: Helper, request: Message) -> Message:
        """Ask a reader; one that died is asked once more, since the file may not be to blame."""
        try:
            return helper.ask(request, *self._limits)
        except ProcessFault as fault:
            if fault.kind != "died":
                raise
            return helper.ask(request, *self._limits)


def busy() -> RefusedError:
    """Return the message that no reader became free in time."""
    return RefusedError("busy", "Many files are being read; try again in a minute.")


def shown_name(name: str) -> str:
    r"""Return the name of an upload for messages: without folders, short, on one line.

    >>> shown_name("C:\\runs\\a\nb.json")
    'a?b.json'
    """
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return printed_name(last.strip(" ")) or "captions"


# In the reader's process


def answer(request: Message) -> Message:
    """Read one upload; called in a process of its own."""
    name, content = request.pop("name"), request.pop("content")
    expected = msgspec.convert(request, resolved(Expected))
    reading = _UploadReading(name, expected)
    try:
        captions = reading.read(content)
    except ReelscoreError as error:
        return reading.report(str(error))
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, MemoryError) as error:
        # a file of which no reader thought; whatever it is, it is not captions
        return reading.report(f"{name}: cannot be read as captions ({type(error).__name__}).")
    if captions is None:
        return reading.report()
    return {"captions": msgspec.json.encode(captions), "notes": reading.notes}


_STRANGE = (
    "No id of the file is in the test set: is it the right file, and the right phase? The sample "
    "file of the phase has the ids."
)


class _UploadReading:
    """One upload on its way to captions."""

    def __init__(self, name: str, expected: Expected) -> None:
        self.name = name
        self.notes: list[str] = []
        self._expected = expected
        self._problems = Problems(name)
        self._split_of = {item: split.split for split in expected.splits for item in split.items}
        self._places: dict[str, str] = {}
        self._files: Mapping[str, bytes] = {}

    def read(self, content: bytes) -> dict[str, object] | None:
        """Return captions by split, or ``None`` where there are problems."""
        unpacked = unpack(self.name, content)
        self.notes += unpacked.notes
        self._files = unpacked.files
        found: dict[str, Any] = {}
        for name, text in unpacked.files.items():
            if text.startswith(PARQUET):
                raise DataError(f"{name}: is Parquet; send JSON, JSON Lines or CSV.")
            if max(text.count(mark) for mark in (b"\n", b"{", b'":')) > RECORDS:
                raise DataError(f"{name}: holds more than {RECORDS:,} records.")
            with Source(name, content=text) as source:
                if self._expected.kind == "captions":
                    self._captions(source, found)
                else:
                    self._stories(source, found)
        self._check_missing(found)
        if self._problems.count:
            if not found:
                self.notes.append(_STRANGE)
            return None
        return {split.split: self._in_order(split, found) for split in self._expected.splits}

    def _in_order(self, split: ItemList, found: Mapping[str, object]) -> object:
        if self._expected.kind == "captions":
            return [found[item] for item in split.items]
        return {item: found[item] for item in split.items if item in found}

    def report(self, message: str = "") -> Message:
        """Return what is wrong, in few words however much it is."""
        problems = self._said(self._problems.first)
        count = self._problems.count + bool(message)
        if message:
            lines = self._said([line.strip() for line in message.splitlines()[: SHOWN + 1]])
            message, problems = lines[0], [*lines[1 : SHOWN + 1], *problems][:SHOWN]
        elif count == 1:
            message, problems = problems[0], []
        else:
            message = f"{self.name}: {count:,} problems; nothing was charged."
        notes = [_short(note) for note in self.notes[:SHOWN]]
        return {"message": message, "problems": problems, "count": count, "notes": notes}

    def _said(self, problems: Sequence[str]) -> list[str]:
        """Name the lines of problems where the file has lines, and cut them to size."""
        for name, content in self._files.items():
            problems = with_lines(problems, name, content)
        return [_short(problem) for problem in problems]

    def _captions(self, source: Source, found: dict[str, Any]) -> None:
        from reelscore.data.captions.caption_files import caption_file

        file = caption_file(source, Reading())
        reader = get_format(file.format)
        request = Request("candidates", self._problems, Reading())
        place = partial(reader.place, source.path)
        count = 0
        for number, item, caption in reader.read(source, request):
            count += 1
            if count > RECORDS:
                raise DataError(f"{source.path}: holds more than {RECORDS:,} records.")
            if type(item) is int:
                item = str(item)
            if type(caption) is list and len(caption) == 1:
                caption = caption[0]
            fault = self._item_fault(item) or self._caption_fault(item, caption)
            if fault:
                self._problems.add(f"{place(number)}: {fault}.")
            if isinstance(item, str) and item in self._split_of and item not in found:
                found[item] = caption  # also where it is bad, so that it is not missing besides
                self._places[item] = place(number)
        if not count and not self._problems.count:
            raise DataError(f"{source.path}: the file holds no captions.")

    def _item_fault(self, item: Any) -> str:
        if fault := id_fault(item):
            return f"the item id {fault}"
        if item not in self._split_of:
            return f"item {_name(item)} is not in the test set"
        if item in self._places:
            return f"item {_name(item)} has a caption already, at {self._places[item]}"
        return ""

    def _caption_fault(self, item: Any, caption: Any) -> str:
        if fault := candidate_fault(item, caption):
            return fault
        longest = self._expected.limits.caption_characters
        if len(caption) > longest:
            return f"item {_name(item)}: the caption has {len(caption):,} characters; at most " + (
                f"{longest:,} are taken"
            )
        if not has_words(caption):
            return f"item {_name(item)}: the caption is empty"
        return ""

    def _stories(self, source: Source, found: dict[str, list[list[Any]]]) -> None:
        from reelscore.data.story_files import stories_in

        durations = {
            video: seconds
            for split in self._expected.splits
            for video, seconds in split.durations.items()
        }
        limits = self._expected.limits
        for video, story in stories_in(source, StoryPolicies()).items():
            item = self._known_video(video)
            where = f"{source.path}: video {_name(video)}"
            if item is None:
                self._problems.add(f"{where} is not in the test set.")
                continue
            if item in found:
                self._problems.add(f"{where} has captions already, at {self._places[item]}.")
                continue
            self._places[item] = source.path
            found[item] = []
            if len(story) > limits.captions_per_story:
                self._problems.add(
                    f"{where} has {len(story):,} captions; at most {limits.captions_per_story:,} "
                    "are taken."
                )
                continue
            end = durations.get(item, math.inf)
            rows = zip(story.segments.tolist(), story.sentences, strict=True)
            for rank, ((start, stop), sentence) in enumerate(rows, start=1):
                if len(sentence) > limits.caption_characters:
                    self._problems.add(
                        f"{where}, caption {rank}: has {len(sentence):,} characters; at most "
                        f"{limits.caption_characters:,} are taken."
                    )
                if stop > end + SPARE_TIME:
                    self._problems.add(
                        f"{where}, caption {rank}: ends at {stop:.2f} s, the video at {end:.2f} s."
                    )
                found[item].append([start, stop, sentence])

    def _known_video(self, video: str) -> str | None:
        """Return the item that a video id names: ActivityNet's may lack their beginning."""
        for name in (video, f"v_{video}", video.removeprefix("v_")):
            if name in self._split_of:
                return name
        return None

    def _check_missing(self, found: Mapping[str, object]) -> None:
        if self._expected.kind == "stories" and self._expected.missing == "zero":
            if not found and not self._problems.count:
                raise DataError(f"{self.name}: holds no video of the test set.")
            for split in self._expected.splits:
                count = sum(item not in found for item in split.items)
                if count:
                    self.notes.append(missing_note(f"Of {split.split}", count, len(split.items)))
            return
        missing = [item for item in self._split_of if item not in found]
        if missing:
            things = "item has" if len(missing) == 1 else "items have"
            first = ", ".join(map(_name, missing[:SHOWN]))
            self._problems.add(
                f"{self.name}: {len(missing):,} {things} no caption (first: {first})."
            )


def missing_note(what: str, count: int, videos: int) -> str:
    """Return how many videos have no captions, and so count as zero.

    >>> missing_note("Of test", 1, 20)
    'Of test, 1 of 20 videos has no captions, and counts as zero.'
    """
    counts = "has no captions, and counts" if count == 1 else "have no captions, and count"
    return f"{what}, {count:,} of {videos:,} videos {counts} as zero."


def _name(item: object) -> str:
    return printed_name(repr(item))


# remedies for programmers, which participants cannot follow, such as: header="id,caption"
_ARGUMENT = r"""\b\w+=(?:"[^"]*"|'[^']*')"""
_REMEDIES = (
    *(rf" \([^()]*{_ARGUMENT}[^()]*\)", rf";[^;]*{_ARGUMENT}[^.;]*"),
    rf"(?:,? or|,)[^;,]*?{_ARGUMENT}[^.;]*",
)


def _short(text: str) -> str:
    r"""Cut a problem to size; what no terminal should print is spelled out.

    >>> _short("Add a header, or name the columns: header='id'; if it is lines, pass format='x'.")
    'Add a header.'
    """
    for remedy in _REMEDIES:
        text = re.sub(remedy, "", text)
    plain = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"


_LARGEST = 16 << 20  # bytes; in larger files entries are named by their number alone
_STORIES = ("results", "database")  # sections that hold them
_BETWEEN = re.compile(r"[\s,:]*")
_RECORDS = re.compile(r"\{|\[\s*\{")  # a value that may be a section: others are captions
_PLACE = r""": (?:(?:entry|record) (?P<number>\d+)|video (?P<video>'[^']*'|"[^"]*"))"""


def with_lines(messages: Sequence[str], name: str, content: bytes) -> list[str]:
    r"""Put the line where messages name an entry of a file by its number, or a video by its id.

    A file that is one line, or that cannot be followed, is named as before.

    >>> with_lines(["a.json: entry 2: it is empty."], "a.json", b'{"v1": "a",\n "v2": ""}')
    ['a.json:2: it is empty.']
    """
    pattern = re.compile(re.escape(name) + _PLACE)
    if not any(map(pattern.search, messages)):
        return list(messages)
    lines = _entry_lines(content)

    def place(match: re.Match[str]) -> str:
        number, video = match["number"], match["video"]
        line = lines.get(int(number) if number else video)
        if line is None:
            return match[0]
        return f"{name}:{line}" if number else f"{name}:{line}: video {video}"

    return [pattern.sub(place, message) for message in messages]


def _entry_lines(content: bytes) -> dict[int | str, int]:
    """Return the lines of entries by their numbers, and by their keys as messages write them."""
    if len(content) > _LARGEST or b"\n" not in content.strip():
        return {}
    try:
        text = content.decode("utf-8-sig")
        at = _section(text, _after(text, 0))
        lines: dict[int | str, int] = {}
        line, before = 1, 0
        for number, (key, start, _) in enumerate(_entries(text, at), start=1):
            line, before = line + text.count("\n", before, start), start
            lines[number] = line
            lines.setdefault(repr(key), line)
    except (ValueError, IndexError, RecursionError):
        return {}  # no JSON, or not all of it
    return lines


def _section(text: str, at: int) -> int:
    """Return where the list or object of captions begins: the whole, or a section of it."""
    if text[at] == "[":
        return at
    values = {key: value for key, _, value in _entries(text, at) if _RECORDS.match(text, value)}
    names = [name for name in (section_for("candidates", values), *_STORIES) if name in values]
    return values[names[0]] if names else at


def _entries(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """Yield the key, the beginning and the beginning of the value of each entry at a place."""
    decode = json.JSONDecoder().raw_decode
    is_list = text[at] == "["
    at = _after(text, at + 1)
    while text[at] not in "]}":
        start, key = at, ""
        if not is_list:
            key, end = decode(text, at)
            at = _after(text, end)
        yield key, start, at
        at = _after(text, decode(text, at)[1])


def _after(text: str, at: int) -> int:
    """Skip what stands between the parts of a document."""
    match = _BETWEEN.match(text, at)
    return match.end() if match else at
