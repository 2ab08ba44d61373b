"""Clips and their answers: those in the journal are taken, the others are asked for."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, ClassVar

import msgspec

from reelscore._progress import Progress
from reelscore.captioners.adapters.adapter import Adapter, ClipError, Sent, ShownClip, cleaned
from reelscore.captioners.run_record import Parameters
from reelscore.endpoint.chat import ChatReply
from reelscore.endpoint.journal import AnswerRecord, Journal
from reelscore.endpoint.prompts import CaptionPrompt
from reelscore.endpoint.questions import Usage
from reelscore.endpoint.threads import TaskThreads
from reelscore.errors import DataError
from reelscore.video.clips import Clip
from reelscore.video.frames import Frames, Sampling, read_frames, video_key


@dataclass(frozen=True)
class CaptionSettings(Parameters):
    """What decides the captions of a run, besides the captioner.

    Attributes:
        prompt: ``plain``, ``audio-description``, or a text file.
        frames: How many frames of each clip are shown.
        side: The longer side of a frame, in pixels; 0 for that it has.
        quality: Quality of the JPEG files.
        sent: Whether ``images`` or the ``video`` are sent.
        max_tokens: Tokens that an answer may have.
        seed: Random seed, for servers that use one.

    >>> CaptionSettings(frames=4).signature(model="hf:some-folder")
    'caption_run|prompt:plain|frames:4|side:512|quality:90|sent:images|max_tokens:64|seed:12345|...'
    """

    prompt: str = "plain"
    frames: Annotated[int, msgspec.Meta(ge=1)] = 8
    side: Annotated[int, msgspec.Meta(ge=0)] = 512
    quality: Annotated[int, msgspec.Meta(ge=1, le=100)] = 90
    sent: Sent = "images"
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] = 64
    seed: int = 12345
    name: ClassVar[str] = "caption_run"

    @property
    def sampling(self) -> dict[str, Any]:
        """What decides the words: the most likely one is taken each time."""
        return {"temperature": 0, "seed": self.seed, "max_tokens": self.max_tokens}


@dataclass
class Budget:
    """What the answers of a captions file cost, and whether another may be asked for.

    A request is held back if it could pass the limit, were it and all in flight as dear as the
    dearest so far.
    """

    prices: tuple[float, float] = (0.0, 0.0)  # of a million tokens of questions, and of answers
    limit: float = math.inf  # what all answers may cost, those of earlier runs included
    spent: float = 0.0
    _dearest: float = 0.0
    _open: int = 0
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        if self.limit < math.inf and not any(self.prices):
            raise DataError("A budget needs prices: give those of a million tokens, in and out.")

    def begin(self) -> bool:
        """Return whether a request may be sent, and count it as sent."""
        with self._lock:
            if self.spent + (self._open + 1) * self._dearest > self.limit:
                return False
            self._open += 1
            return True

    def end(self, tokens_in: int, tokens_out: int) -> None:
        """Add what an answer cost."""
        with self._lock:
            self._open -= 1
            self.add(tokens_in, tokens_out)

    def add(self, tokens_in: int, tokens_out: int) -> None:
        """Add what an answer of an earlier run cost."""
        cost = Usage(tokens_in=tokens_in, tokens_out=tokens_out).cost(*self.prices)
        self.spent += cost
        self._dearest = max(self._dearest, cost)


@dataclass
class ClipWork:
    """The clips of a run, those described already, and those that cannot be.

    Empty and refused answers of the journal are taken with ``keep_empty`` alone; else they are
    asked for again.
    """

    adapter: Adapter
    prompt: CaptionPrompt
    settings: CaptionSettings
    journal: Journal
    clips: Sequence[Clip]
    keep_empty: bool = False
    budget: Budget = field(default_factory=Budget)
    done: dict[str, AnswerRecord] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    reused: int = 0
    interrupted: bool = False

    def __post_init__(self) -> None:
        adapter, settings = self.adapter, self.settings
        shown = f"{settings.frames} × {settings.side} pixels, quality {settings.quality}"
        self.made_of = {
            "prompt": self.prompt.sha256 if adapter.needs_prompt else "",
            "model": adapter.identity,
            "sampling": ", ".join(f"{name} {value}" for name, value in adapter.sampling.items()),
            "frames": f"{shown}, sent as {adapter.sent}" if adapter.needs_frames else "",
        }
        self._take_journal(self.keep_empty)
        for record in self.journal:
            self.budget.add(record.tokens_in, record.tokens_out)
        self.reused = len(self.done)

    def _take_journal(self, with_empty: bool) -> None:
        """Take what the journal has, if it was made in the same way."""
        videos = {clip.item: clip.video for clip in self.clips}
        for record in self.journal:
            item = record.about.get("item", "")
            wanted = dict(self.made_of)
            if item in videos:
                wanted["video"] = video_key(videos[item])
            for name, value in wanted.items():
                before = record.made_of.get(name)
                if before != value:
                    raise DataError(_other(self.journal.path, name, before, value, item))
            if item in videos and (record.caption or with_empty):
                self.done[item] = record

    def describe(
        self,
        grace: float,
        partial: bool,
        progress: Progress | None = None,
        on_interrupt: Callable[[], object] | None = None,
    ) -> None:
        """Describe the clips that are not described yet; arguments as of `caption_run.run`."""
        workers = TaskThreads(self.adapter.parallel, grace, on_interrupt)
        total = len(self.clips)

        def step() -> None:
            if progress is not None:
                progress(len(self.done) + len(self.failed), total)

        step()
        try:
            with closing(workers.results(self._described, self._tasks())) as results:
                for item, result in results:
                    if isinstance(result, AnswerRecord):
                        self.done[item] = result
                    else:
                        self.failed[item] = result
                    step()
        except KeyboardInterrupt:
            self._take_journal(with_empty=True)  # answers that came after the interruption
            if not partial:
                raise
            self.interrupted = True

    def _tasks(self) -> list[list[list[Clip]]]:
        """Batches of clips, in lists whose batches must come one after the other."""
        if self.prompt.needs_order and self.adapter.needs_prompt:
            films: dict[Path, list[list[Clip]]] = {}
            for clip in self.clips:
                films.setdefault(clip.file, []).append([clip])
            return list(films.values())
        waiting = [clip for clip in self.clips if clip.item not in self.done]
        size = self.adapter.batch
        return [[waiting[k : k + size]] for k in range(0, len(waiting), size)]

    def _described(
        self, batches: Sequence[Sequence[Clip]]
    ) -> Iterator[tuple[str, AnswerRecord | str]]:
        previous = ""
        for batch in batches:
            if batch[0].item in self.done:  # only where the order matters
                previous = self.done[batch[0].item].caption
                continue
            for item, result in self._answers(batch, previous):
                yield item, result
                if isinstance(result, AnswerRecord):
                    previous = result.caption

    def _answers(
        self, batch: Sequence[Clip], previous: str
    ) -> Iterator[tuple[str, AnswerRecord | str]]:
        shown, keys = [], []
        for clip in batch:
            try:
                keys.append(video_key(clip.video))
                shown.append(self._shown(clip, previous))
            except DataError as error:
                del keys[len(shown) :]
                yield clip.item, str(error)
        if not self.budget.begin():
            spent = f"{self.budget.spent:,.4f} of {self.budget.limit:,g} is spent"
            yield from ((own.clip.item, f"{spent}; give a higher budget") for own in shown)
            return
        answers: Sequence[ChatReply] = []
        try:
            answers = self.adapter.describe(shown) if shown else []
        except ClipError as error:
            yield shown[0].clip.item, f"{shown[0].clip.video}: {error}"
            return
        finally:
            self.budget.end(
                sum(answer.tokens_in for answer in answers),
                sum(answer.tokens_out for answer in answers),
            )
        records = [self._record(*each) for each in zip(shown, keys, answers, strict=True)]
        for record in records:
            self.journal.add(record)
        for own, record in zip(shown, records, strict=True):
            yield own.clip.item, record

    def _shown(self, clip: Clip, previous: str) -> ShownClip:
        frames = Frames([], [], [])
        if self.adapter.needs_frames or "duration" in self.prompt.fields:
            frames = read_frames(clip.video, Sampling(self.settings.frames, self.settings.side))
        quality = self.settings.quality
        task, question = self.prompt.about(frames.duration, previous)
        return ShownClip(clip, frames, lambda: frames.jpegs(quality), task, question)

    def _record(self, shown: ShownClip, video: str, answer: ChatReply) -> AnswerRecord:
        item, made_of = shown.clip.item, {**self.made_of, "video": video}
        looked = shown.frames if self.adapter.needs_frames else Frames([], [], [])
        return AnswerRecord.of(
            hashlib.sha256(json.dumps([item, sorted(made_of.items())]).encode()).hexdigest(),
            answer,
            {"item": item},
            caption="" if answer.refusal else cleaned(answer.content),
            made_of=made_of,
            frames=looked.numbers,
            times=[round(time, 3) for time in looked.times],
        )


def _other(journal: Path, name: str, before: str | None, now: str, item: str) -> str:
    if name == "prompt":
        said = f"(sha {(before or 'none')[:8]}…, now {now[:8]}…)"
    elif name == "video":
        said = f"of item {item!r}"
    else:
        said = f"({before!r}, now {now!r})"
    what = {"sampling": "other sampling", "frames": "other frames"}.get(name, f"another {name}")
    return (
        f"{journal} was begun with {what} {said}. Use the old {name}, another output file, or "
        "pass restart=True."
    )
