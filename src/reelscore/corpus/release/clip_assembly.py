"""Clips from sentences: those that nobody rejected, with the times they have and longer ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from reelscore.corpus.pipeline import StepWork
from reelscore.corpus.project_files import (
    CorpusClips,
    FilmClip,
    FilmSentence,
    Remark,
    TimedSentence,
    segment_id,
)
from reelscore.errors import DataError

Expansion = Literal["symmetric", "tail", "none"]

TRIMMED = "introduction or ending"
"""Why sentences at the ends of a film are left out."""

_TAIL = 2.0  # seconds that M-VAD adds at the end


def assemble(
    film_id: str,
    sentences: Sequence[TimedSentence],
    *,
    seconds: float | None = None,
    expand: Expansion = "symmetric",
    min_clip: float = 2.0,
) -> list[FilmClip]:
    """Make the clips of a film.

    Sentences that are rejected or have no time are left out; clips stay inside the film. Short
    clips become longer at both sides up to `min_clip` seconds (`symmetric`), all clips 2 seconds
    longer at the end (`tail`), or all stay as they are (`none`).
    """
    groups: dict[tuple[float, float], list[TimedSentence]] = {}
    for sentence in sentences:
        if sentence.state != "rejected" and sentence.start is not None and sentence.end is not None:
            start, end = round(max(0.0, sentence.start), 3), round(sentence.end, 3)
            if seconds is not None:
                end = min(end, round(seconds, 3))
            if start <= end:
                groups.setdefault((start, end), []).append(sentence)
    clips = []
    for (start, end), members in sorted(groups.items()):
        origin: Literal["ad", "script"] = (
            "script" if any(each.origin == "script" for each in members) else "ad"
        )
        longer = _expanded(start, end, expand, min_clip, seconds)
        ids = tuple(each.id for each in members)
        clips.append(
            FilmClip(
                f"{film_id}_{segment_id(start)[1:]}-{segment_id(end)[1:]}",
                film_id,
                start,
                end,
                *longer,
                ids,
                origin,
            )
        )
    return clips


def _expanded(
    start: float, end: float, expand: Expansion, least: float, seconds: float | None
) -> tuple[float, float]:
    if expand == "none":
        return start, end
    if expand == "tail":
        longer = end + _TAIL
        return start, round(longer if seconds is None else max(end, min(longer, seconds)), 3)
    if end - start >= least:
        return start, end
    first = (start + end - least) / 2
    if seconds is not None:
        first = min(first, seconds - least)  # moved inside the film
    first = round(max(0.0, first), 3)
    return first, round(first + least, 3)


def trimmed(
    sentences: Sequence[TimedSentence], seconds: float | None, trim_start: float, trim_end: float
) -> list[TimedSentence]:
    """Reject the sentences in the first and the last seconds of a film: logos and cast."""
    last = float("inf") if seconds is None else seconds - trim_end
    return [
        replace(each, state="rejected", flags=(*each.flags, TRIMMED))
        if each.start is not None
        and (each.start < trim_start or (each.end or 0.0) > last)
        and each.state != "rejected"
        else each
        for each in sentences
    ]


def corpus_clips(
    work: StepWork,
    *,
    expand: Expansion = "symmetric",
    min_clip: float = 2.0,
    trim_start: float = 0.0,
    trim_end: float = 0.0,
    reviewed: bool = False,
) -> CorpusClips:
    """Make the clips of all films of a project, as `assemble` does."""
    project = work.project
    clips: list[FilmClip] = []
    sentences: list[FilmSentence] = []
    untimed = unreviewed = 0
    for film_id in project.films:
        seconds = project.seconds(film_id)
        of_film = trimmed(project.reviewed(film_id).sentences, seconds, trim_start, trim_end)
        chosen = [each for each in of_film if not reviewed or each.state in ("accepted", "edited")]
        clips += assemble(film_id, chosen, seconds=seconds, expand=expand, min_clip=min_clip)
        sentences += [FilmSentence(**vars(each), film=film_id) for each in of_film]
        untimed += sum(each.start is None or each.end is None for each in chosen)
        unreviewed += sum(each.state == "proposed" for each in chosen)
    if not clips:
        raise DataError(
            f"{project.folder}: there are no sentences with times; give them with 'reelscore "
            "corpus transcript', or align a script."
        )
    remarks = []
    if untimed:
        remarks.append(Remark("untimed", f"{untimed} sentences have no time and no clip."))
    if unreviewed:
        remarks.append(Remark("unreviewed", f"Nobody has looked at {unreviewed} sentences yet."))
    return CorpusClips(clips=tuple(clips), sentences=tuple(sentences), report=tuple(remarks))
