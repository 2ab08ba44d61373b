"""Captions of any captioner, for all clips of a folder or list, with a journal to go on from."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from reelscore._progress import Progress
from reelscore.captioners.adapters import adapter_of
from reelscore.captioners.adapters.adapter import Adapter
from reelscore.captioners.adapters.clip_work import Budget, CaptionSettings, ClipWork
from reelscore.captioners.run_record import Run, check_candidates_target, write_candidates
from reelscore.data.atomic_files import check_target
from reelscore.endpoint.journal import AnswerRecord, Journal
from reelscore.endpoint.prompts import CaptionPrompt
from reelscore.errors import DataError, check_choice
from reelscore.video.clips import Clip, find_clips
from reelscore.video.frames import Sampling

Empty = Literal["error", "keep"]
_LISTED = 10  # clips that a message names


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
    prices: tuple[float, float] = (0.0, 0.0),
    budget: float | None = None,
    progress: Progress | None = None,
    on_interrupt: Callable[[], object] | None = None,
    **adapter: Any,
) -> CaptionRun:
    """Describe clips with any captioner, and write the captions when all are there.

    Every answer goes into ``OUT.journal.jsonl`` at once. A run that was killed or interrupted goes
    on from there, and asks for no caption that the journal has. Empty and refused answers are no
    captions: they are asked for again, unless they are to be kept.

    Args:
        model: ``openai:NAME@URL``, ``hf:FOLDER`` or ``command:PROGRAM {frames} {video}``.
        videos: A folder of videos, or a list: see `reelscore.video.clips.find_clips`.
        output: The captions file, ``OUT.json``.
        settings: Prompt, frames and sampling.
        empty: Whether empty and refused answers are an ``error`` at the end, or ``keep`` lets the
            file have an empty caption.
        partial: Write the captions that are there, although others are missing.
        restart: Ask for all captions again; the journal is kept as ``.old``.
        grace: Seconds that requests in flight get after an interruption.
        prices: Of a million tokens of questions, and of answers; the record then has the cost.
        budget: What all answers in the journal may cost; when it is spent, no more are asked for.
        progress: Called after each caption.
        on_interrupt: Called when the user interrupts, before requests in flight are waited for.
        adapter: Further arguments of `reelscore.captioners.adapters.adapter_of`.

    Raises:
        DataError: If captions are missing at the end, or the journal was begun otherwise.
        EndpointError: If the server refuses requests, or does not answer.
    """
    check_choice("value of empty", empty, ("error", "keep"))
    purse = Budget(prices, math.inf if budget is None else budget)
    timing, output = Run(), Path(output)
    check_candidates_target(output)
    journal_path = journal_of(output)
    check_target(journal_path)
    prompt = CaptionPrompt.read(settings.prompt)
    Sampling(settings.frames, settings.side)
    clips = find_clips(videos)
    chosen = adapter_of(model, sent=settings.sent, sampling=settings.sampling, **adapter)
    try:
        _check_clips(clips, prompt, chosen)
        with Journal(journal_path) as journal:
            if restart:
                journal.clear()
            work = ClipWork(chosen, prompt, settings, journal, clips, empty == "keep", purse)
            work.describe(grace, partial, progress, on_interrupt)
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
            f'{part.video} is a part of a film, and sent="video" sends whole files; cut it out, '
            "or send images."
        )
    if prompt.needs_order and adapter.needs_prompt and len({c.file for c in clips}) == len(clips):
        raise DataError(
            f"The prompt {prompt.name!r} shows the caption of the clip before ({{previous}}), but "
            "no video has several clips; list parts of films, FILE#START,END, or use another "
            "prompt."
        )


def _written(work: ClipWork, output: Path, timing: Run, empty: Empty, partial: bool) -> CaptionRun:
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
    if wanting and not partial:
        raise DataError(_missing(wanting, len(work.clips), work.journal.path, silent))
    if wanting:
        notes.append(f"Warning: {_counted(wanting, len(work.clips))}. Left out:")
        notes += [*_listed(wanting), "Run it again to try those that failed."]
    captions = {item: record.caption for item, record in records.items() if item not in wanting}
    servers = _servers(records.values())
    if len(servers) > 1:
        names = ", ".join(f"{each['model']} ({each['fingerprint']})" for each in servers)
        notes.append(f"Warning: the server answered as several models: {names}.")
    record = _record_of(work, records, silent, timing)
    write_candidates(output, captions, record)
    return CaptionRun(captions, record, notes, work.interrupted)


def _servers(records: Iterable[AnswerRecord]) -> list[dict[str, str | None]]:
    """Return what the answers say of the model that gave them, each once."""
    names = {(each.model, each.fingerprint): None for each in records}
    return [{"model": model, "fingerprint": mark or None} for model, mark in names if model or mark]


def _silence(record: AnswerRecord) -> str:
    return "the model refuses" if record.finish == "refusal" else "the answer is empty"


def _missing(wanting: Mapping[str, str], clips: int, journal: Path, silent: Sequence[str]) -> str:
    remedies = ["run it again to try those that failed", "leave them out with partial=True"]
    if silent:
        remedies.insert(1, 'keep empty captions with empty="keep"')
    others = f"All others are in {journal}: " if len(wanting) < clips else ""
    listed = "\n".join(f"  {line}" for line in _listed(wanting))
    remedy = ", or ".join(remedies)
    remedy = f"{others}{remedy}" if others else f"{remedy[0].upper()}{remedy[1:]}"
    return f"{_counted(wanting, clips)}:\n{listed}\n{remedy}."


def _counted(wanting: Mapping[str, str], clips: int) -> str:
    have = "has" if len(wanting) == 1 else "have"
    return f"{len(wanting):,} of {clips:,} clips {have} no caption"


def _listed(wanting: Mapping[str, str]) -> list[str]:
    """Return the first clips without a caption, and why they have none."""
    listed = [f"{item!r}: {reason}" for item, reason in list(wanting.items())[:_LISTED]]
    more = len(wanting) - _LISTED
    return [*listed, f"and {more:,} more"] if more > 0 else listed


def _record_of(
    work: ClipWork, records: Mapping[str, AnswerRecord], silent: Sequence[str], timing: Run
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
        **({"cost": round(work.budget.spent, 6)} if any(work.budget.prices) else {}),
        "seconds": round(sum(each.seconds for each in own), 3),
    }
    videos = "\n".join(f"{item} {record.made_of['video']}" for item, record in records.items())
    data = {"videos": hashlib.sha256(videos.encode()).hexdigest()[:8]}
    context = {"model": adapter.identity, "revision": prompt.revision, "data": data["videos"]}
    unused = [
        *(() if adapter.needs_prompt else ("prompt", "revision")),
        *(() if adapter.needs_frames else ("frames", "side", "quality")),
        *(() if adapter.sampling else ("sent", "max_tokens")),
    ]
    signature = settings.signature(**{**context, **dict.fromkeys(unused)})
    return timing.record(
        signature, seed=settings.seed, data=data, libraries=adapter.libraries, **details
    )
