"""Captions of any captioner, for all clips of a folder or list, with a journal to go on from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from reelscore._progress import Progress
from reelscore.captioners.adapters import adapter_of
from reelscore.captioners.adapters.base import Adapter, Answer, ClipError, Sent, Shown, cleaned
from reelscore.captioners.adapters.prompts import CaptionPrompt, read_caption_prompt
from reelscore.captioners.run_record import (
    Parameters,
    Run,
    check_candidates_target,
    write_candidates,
)
from reelscore.data.atomic_files import check_target
from reelscore.endpoint.journal import Journal, Record
from reelscore.endpoint.workers import Workers
from reelscore.errors import DataError, check_choice
from reelscore.video.clips import Clip, find_clips
from reelscore.video.frames import Frames, Sampling, read_frames, video_key

Empty = Literal["error", "keep"]
_LISTED = 10  # clips that a message names


@dataclass(frozen=True)
class CaptionSettings(Parameters):
    """What decides the captions of a run, besides the captioner.

    Attributes:
        prompt: ``plain``, ``audio-description``, or a text file.
        frames: How many frames of each clip are shown.
        side: The longer side of a frame, in pixels.
        quality: Of the JPEG files.
        sent: Whether ``images`` or the ``video`` are sent.
        max_tokens: Tokens that an answer may have.
        seed: Random seed, for servers that use one.

    >>> CaptionSettings(frames=4).signature(model="hf:some-folder")
    'caption_run|prompt:plain|frames:4|side:512|quality:90|sent:images|max_tokens:64|seed:12345|...'
    """

    prompt: str = "plain"
    frames: int = 8
    side: int = 512
    quality: int = 90
    sent: Sent = "images"
    max_tokens: int = 64
    seed: int = 12345
    name: ClassVar[str] = "caption_run"

    @property
    def sampling(self) -> dict[str, Any]:
        """What decides the words: the most likely one is taken each time."""
        return {"temperature": 0, "seed": self.seed, "max_tokens": self.max_tokens}


@dataclass(frozen=True)
class CaptionRun:
    """What came out of a run.

    Attributes:
        captions: The caption of each clip that has one.
        record: As written to ``OUT.run.json``.
        notes: What the user should know.
        interrupted: Whether the user ended it, with clips left to describe.
    """

    captions: Mapping[str, str]
    record: Mapping[str, Any]
    notes: Sequence[str] = ()
    interrupted: bool = False


def run(
    model: str,
    videos: str | Path,
    output: str | Path,
    settings: CaptionSettings = CaptionSettings(),  # noqa: B008
    *,
    empty: Empty = "error",
    partial: bool = False,
    restart: bool = False,
    grace: float = 10.0,
    progress: Progress | None = None,
    **adapter: Any,
) -> CaptionRun:
    """Describe clips with any captioner, and write the captions when all are there.

    Every answer goes into ``OUT.journal.jsonl`` at once. A run that was killed or interrupted goes
    on from there, and asks for no caption that the journal has.

    Args:
        model: ``openai:NAME@URL``, ``hf:FOLDER`` or ``command:PROGRAM {frames} {video}``.
        videos: A folder of videos, or a list: see `reelscore.video.find_clips`.
        output: The captions file, ``OUT.json``.
        settings: Prompt, frames and sampling.
        empty: Whether empty and refused answers are an ``error`` at the end, or ``keep`` lets the
            file have an empty caption.
        partial: Write the captions that are there, although others are missing.
        restart: Ask for all captions again; the journal is kept as ``.old``.
        grace: Seconds that requests in flight get after an interruption.
        progress: Called after each caption.
        adapter: Further arguments of `reelscore.captioners.adapters.adapter_of`.

    Raises:
        DataError: If captions are missing at the end, or the journal was begun otherwise.
        EndpointError: If the server refuses requests, or does not answer.
    """
    check_choice("value of empty", empty, ("error", "keep"))
    timing, output = Run(), Path(output)
    check_candidates_target(output)
    journal_path = journal_of(output)
    check_target(journal_path)
    prompt = read_caption_prompt(settings.prompt)
    Sampling(settings.frames, settings.side)
    clips = find_clips(videos)
    chosen = adapter_of(model, sent=settings.sent, sampling=settings.sampling, **adapter)
    try:
        _check_clips(clips, prompt, chosen)
        with Journal(journal_path) as journal:
            if restart:
                journal.clear()
            work = _Work(chosen, prompt, settings, journal, clips)
            work.describe(grace, partial, progress)
    finally:
        chosen.close()
    return _written(work, output, timing, empty, partial)


def journal_of(output: Path) -> Path:
    """Name the journal of a captions file.

    >>> journal_of(Path("out/captions.json")).as_posix()
    'out/captions.journal.jsonl'
    """
    return output.with_name(f"{output.name.removesuffix('.json')}.journal.jsonl")


def _check_clips(clips: Sequence[Clip], prompt: CaptionPrompt, adapter: Adapter) -> None:
    part = next((clip for clip in clips if clip.is_part), None)
    if adapter.kind == "openai" and adapter.sent == "video" and part is not None:
        raise DataError(
            f'{part.video} is a part of a film, and as="video" sends whole files; cut it out, '
            "or send images."
        )
    if prompt.needs_order and adapter.needs_prompt and len({c.file for c in clips}) == len(clips):
        raise DataError(
            f"The prompt {prompt.name!r} shows the caption of the clip before ({{previous}}), but "
            "no video has several clips; list parts of films, FILE#START,END, or use another "
            "prompt."
        )


@dataclass
class _Work:
    """The clips of a run, those described already, and those that cannot be."""

    adapter: Adapter
    prompt: CaptionPrompt
    settings: CaptionSettings
    journal: Journal
    clips: Sequence[Clip]
    done: dict[str, Record] = field(default_factory=dict)
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
        self._take_journal()
        self.reused = len(self.done)

    def _take_journal(self) -> None:
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
            if item in videos:
                self.done[item] = record

    def describe(self, grace: float, partial: bool, progress: Progress | None) -> None:
        """Describe the clips that are not described yet."""
        workers = Workers(self.adapter.parallel, grace)
        total = len(self.clips)

        def step() -> None:
            if progress is not None:
                progress(len(self.done) + len(self.failed), total)

        step()
        try:
            with closing(workers.results(self._described, self._tasks())) as results:
                for item, result in results:
                    if isinstance(result, Record):
                        self.done[item] = result
                    else:
                        self.failed[item] = result
                    step()
        except KeyboardInterrupt:
            self._take_journal()  # answers that came after the interruption
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

    def _described(self, batches: Sequence[Sequence[Clip]]) -> Iterator[tuple[str, Record | str]]:
        previous = ""
        for batch in batches:
            if batch[0].item in self.done:  # only where the order matters
                previous = self.done[batch[0].item].caption
                continue
            for item, result in self._answers(batch, previous):
                yield item, result
                if isinstance(result, Record):
                    previous = result.caption

    def _answers(self, batch: Sequence[Clip], previous: str) -> Iterator[tuple[str, Record | str]]:
        shown, keys = [], []
        for clip in batch:
            try:
                keys.append(video_key(clip.video))
                shown.append(self._shown(clip, previous))
            except DataError as error:
                del keys[len(shown) :]
                yield clip.item, str(error)
        try:
            answers = self.adapter.describe(shown) if shown else []
        except ClipError as error:
            yield shown[0].clip.item, f"{shown[0].clip.video}: {error}"
            return
        records = [self._record(*each) for each in zip(shown, keys, answers, strict=True)]
        for record in records:
            self.journal.add(record)
        for own, record in zip(shown, records, strict=True):
            yield own.clip.item, record

    def _shown(self, clip: Clip, previous: str) -> Shown:
        frames = Frames([], [], [])
        if self.adapter.needs_frames or "duration" in self.prompt.fields:
            frames = read_frames(clip.video, Sampling(self.settings.frames, self.settings.side))
        quality = self.settings.quality
        task, question = self.prompt.about(frames.duration, previous)
        return Shown(clip, frames, lambda: frames.jpegs(quality), task, question)

    def _record(self, shown: Shown, video: str, answer: Answer) -> Record:
        item, made_of = shown.clip.item, {**self.made_of, "video": video}
        refused = answer.finish == "refusal"
        looked = shown.frames if self.adapter.needs_frames else Frames([], [], [])
        return Record(
            hashlib.sha256(json.dumps([item, sorted(made_of.items())]).encode()).hexdigest(),
            answer.content,
            "",
            answer.finish,
            answer.model,
            answer.fingerprint,
            answer.tokens_in,
            answer.tokens_out,
            answer.tries,
            round(answer.seconds, 3),
            {"item": item},
            "" if refused else cleaned(answer.content),
            made_of,
            looked.numbers,
            [round(time, 3) for time in looked.times],
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


def _written(work: _Work, output: Path, timing: Run, empty: Empty, partial: bool) -> CaptionRun:
    """Write the captions, or say which are missing."""
    records = {clip.item: work.done[clip.item] for clip in work.clips if clip.item in work.done}
    silent = [item for item, record in records.items() if not record.caption]
    left = [c.item for c in work.clips if c.item not in records and c.item not in work.failed]
    wanting = {**work.failed, **dict.fromkeys(left, "the run was interrupted before it")}
    if empty == "error":
        wanting |= {item: _silence(records[item]) for item in silent}
    notes = []
    if work.journal.cut_off:
        notes.append(f"{work.journal.path}: the last line was cut off, and was dropped.")
    if wanting:
        told = _missing(wanting, len(work.clips), work.journal.path, silent)
        if not partial:
            raise DataError(told)
        notes.append(f"Warning: {told}")
    captions = {item: record.caption for item, record in records.items() if item not in wanting}
    servers = _servers(records.values())
    if len(servers) > 1:
        names = ", ".join(f"{each['model']} ({each['fingerprint']})" for each in servers)
        notes.append(f"Warning: the server answered as several models: {names}.")
    record = _record_of(work, records, silent, timing)
    write_candidates(output, captions, record)
    return CaptionRun(captions, record, notes, work.interrupted)


def _servers(records: Iterable[Record]) -> list[dict[str, str | None]]:
    """What the answers say of the model that gave them, each once."""
    names = {(each.model, each.fingerprint): None for each in records}
    return [{"model": model, "fingerprint": mark or None} for model, mark in names if model or mark]


def _silence(record: Record) -> str:
    return "the model refuses" if record.finish == "refusal" else "the answer is empty"


def _missing(wanting: Mapping[str, str], clips: int, journal: Path, silent: Sequence[str]) -> str:
    listed = [f"  {item!r}: {reason}" for item, reason in list(wanting.items())[:_LISTED]]
    if len(wanting) > _LISTED:
        listed.append(f"  and {len(wanting) - _LISTED:,} more")
    remedies = ["run it again to try those that failed", "leave them out with partial=True"]
    if silent:
        remedies.insert(1, 'keep empty captions with empty="keep"')
    return (
        f"{len(wanting):,} of {clips:,} clips have no caption:\n" + "\n".join(listed) + "\n"
        f"All others are in {journal}: {', or '.join(remedies)}."
    )


def _record_of(
    work: _Work, records: Mapping[str, Record], silent: Sequence[str], timing: Run
) -> dict[str, Any]:
    adapter, settings, prompt = work.adapter, work.settings, work.prompt
    own = records.values()
    servers = _servers(own)
    details: dict[str, Any] = {
        **adapter.record(),
        "server": servers[-1] if servers else None,
        **({"servers": servers} if len(servers) > 1 else {}),
        "prompt": {"name": prompt.name, "text": prompt.text, "sha256": prompt.sha256}
        if adapter.needs_prompt
        else None,
        "sampling": dict(adapter.sampling),
        "frames": {
            "count": settings.frames,
            "side": settings.side,
            "quality": settings.quality,
            "rule": "midpoints",
        }
        if adapter.needs_frames
        else None,
        "as": adapter.sent,
        "items": len(records),
        "reused": work.reused,
        "retried": sum(each.tries - 1 for each in own),
        "cut_short": sum(each.finish == "length" for each in own),
        "empty": list(silent),
        "failed": dict(work.failed),
        "tokens_in": sum(each.tokens_in for each in own),
        "tokens_out": sum(each.tokens_out for each in own),
        "seconds": round(sum(each.seconds for each in own), 3),
    }
    videos = "\n".join(f"{item} {record.made_of['video']}" for item, record in records.items())
    data = {"videos": hashlib.sha256(videos.encode()).hexdigest()[:8]}
    signature = settings.signature(
        model=adapter.identity, revision=prompt.revision, data=data["videos"]
    )
    return timing.record(
        signature, seed=settings.seed, data=data, libraries=adapter.libraries, **details
    )
