"""Subtitles as cues: what is said and when, without styles, sounds and labels of speakers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from reelscore._packages import need
from reelscore.corpus.project_files import Cue, CueLine, Remark, Subtitles
from reelscore.corpus.scripts.elements import one_line, read_text
from reelscore.corpus.time_map import clock
from reelscore.errors import DataError

_LATE = 60.0  # seconds after the end of the film
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
_SPEAKER = re.compile(r"\ue000(.+?)\ue001\s*(.*)")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|\{\\[^}]*\}")
_SOUND = re.compile(r"\[[^\[\]]*\]|\([^()a-z]*\)|（[^（）]*）")
_WHOLE_LINE = re.compile(r"\s*[-–—]?\s*\([^()]*\)\s*")
_MUSIC = re.compile(r"[♩♪♫♬]+|(?<!\S)#(?!\S)|^\s*#|#\s*$")
_DASH = re.compile(r"\s*[-–—‐]\s*(?![-–—])")
_LABEL = re.compile(r"((?:[A-Z][\w.'’#-]*\s?){1,4}(?<!\s))\s*:\s+(?=\S)|([A-Z][A-Z .'’#\d-]+):\s*$")


def read_subtitles(
    path: str | Path,
    *,
    fps: float | None = None,
    encoding: str | None = None,
    shift: float = 0.0,
    scale: float = 1.0,
) -> Subtitles:
    """Read subtitles: SRT, WebVTT, ASS, SSA or MicroDVD.

    Args:
        path: The file.
        fps: Frames a second, for MicroDVD.
        encoding: Its encoding, if it is neither UTF-8 nor marked.
        shift: Seconds to add to all times, after scaling.
        scale: What all times are multiplied with.

    Raises:
        DataError: If it cannot be read, or has no cues.
        MissingExtraError: If pysubs2 is not installed.
    """
    pysubs2 = need("pysubs2", "reelscore[corpus]", "Reading subtitles needs")
    text = read_text(path, encoding)
    if text.lstrip().startswith("WEBVTT"):
        text = _VOICE.sub("\ue000\\1\ue001", text)
    try:
        content: Any = pysubs2.SSAFile.from_string(text, fps=fps)
    except pysubs2.exceptions.UnknownFPSError:
        raise DataError(
            f"{path}: MicroDVD counts frames; say how many a second has, such as --fps 25."
        ) from None
    except (pysubs2.exceptions.Pysubs2Error, ValueError, IndexError, KeyError) as error:
        raise DataError(
            f"{path}: cannot be read as subtitles ({one_line(str(error)) or 'malformed'}); "
            "expected SRT, WebVTT, ASS, SSA or MicroDVD."
        ) from None
    cues = [
        Cue(
            round(event.start / 1000 * scale + shift, 3),
            round(event.end / 1000 * scale + shift, 3),
            spoken_lines(event.plaintext),
        )
        for event in content
        if not event.is_comment
    ]
    if not cues:
        raise DataError(f"{path}: no cues; expected SRT, WebVTT, ASS, SSA or MicroDVD.")
    ordered = sorted(cues, key=lambda cue: cue.start)
    return Subtitles(
        format=str(content.format or "srt"),
        cues=tuple(ordered),
        report=tuple(_remarks(cues, ordered)),
    )


def check_end(what: str, last: float, whole: str, seconds: float | None, hint: str) -> None:
    """Refuse words that are said long after the end of their film or track."""
    if seconds is not None and last > seconds + _LATE:
        raise DataError(f"{what} ends at {clock(last)}, and {whole} at {clock(seconds)}. {hint}")


def spoken_lines(text: str) -> tuple[CueLine, ...]:
    r"""Part what is said in a cue by speakers, without styles, sounds and music signs."""
    lines: list[tuple[str | None, str]] = []
    for row in _SOUND.sub(" ", _TAG.sub("", text)).split("\n"):
        plain = "" if _WHOLE_LINE.fullmatch(row) else _MUSIC.sub(" ", row)
        dash = _DASH.match(plain)
        plain = plain[dash.end() :] if dash else plain
        who = None
        if speaker := _SPEAKER.match(plain.strip()):
            who, plain = one_line(speaker[1]), speaker[2]
        elif (label := _LABEL.match(plain.strip())) and _is_label(label[1] or label[2]):
            who, plain = one_line(label[1] or label[2]), plain.strip()[label.end() :]
        plain = one_line(plain)
        if dash or who or not lines:
            lines.append((who, plain))
        else:
            lines[-1] = (lines[-1][0], one_line(f"{lines[-1][1]} {plain}"))
    return tuple(CueLine(who, words) for who, words in lines if words)


def _is_label(name: str) -> bool:
    return not any(letter.islower() for letter in name)


def _remarks(cues: Sequence[Cue], ordered: Sequence[Cue]) -> Iterator[Remark]:
    late = sum(cue.start < before.start for before, cue in pairwise(cues))
    if late:
        yield Remark("unsorted", f"Cues that start before the one above them: {late}; sorted.")
    empty = [number for number, cue in enumerate(ordered) if cue.end <= cue.start]
    if empty:
        yield Remark(
            "no-duration",
            f"Cues that end when or before they start: {len(empty)}; not used.",
            details=tuple({"cue": number} for number in empty),
        )
    if any(cue.start < 0 for cue in ordered):
        early = sum(cue.start < 0 for cue in ordered)
        yield Remark(
            "negative", f"Cues that start before the film: {early}; not used. See --shift."
        )
    if not any(cue.lines for cue in ordered):
        yield Remark("no-words", "No cue has words that are said.", trusted=False)
