"""Caption files of any corpus as clips: their films, times and sources, where a file says them."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from reelscore.corpus.release.clip_files import ExportedClip
from reelscore.data.captions.caption_files import references_of_files
from reelscore.data.source import Source

_CLOCK = r"(\d\d)\.(\d\d)\.(\d\d)\.(\d\d\d)"
# Ids that say the film and the times: LSMDC, stories, and MSVD or VATEX.
_LSMDC_ID = re.compile(rf"(.+)_{_CLOCK}-{_CLOCK}")
_STORY_ID = re.compile(r"(.+)@(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)")
_VIDEO_ID = re.compile(r"([\w-]{11})_(\d+)_(\d+)")
_DELIMITED = {"csv": ",", "tsv": "\t"}


def read_clips(path: str) -> dict[str, list[ExportedClip]]:
    """Read the clips of a caption file."""
    captions, [file] = references_of_files([path], or_candidates=True)
    details = {str(row["id"]): row for row in _rows(path, file.format) if "id" in row}
    sets: dict[str, list[ExportedClip]] = {}
    for clip_id, sentences in captions.items():
        name = file.splits.get(clip_id) or Path(path).name.split(".")[0]
        row = details.get(clip_id, {})
        sets.setdefault(name, []).append(_clip(clip_id, tuple(sentences), row))
    return sets


def _clip(clip_id: str, sentences: tuple[str, ...], row: Mapping[str, Any]) -> ExportedClip:
    """Make a clip of what its id and its row say; the row's own times are those viewers see."""
    film, start, end = _of_id(clip_id)
    seen = _number(row.get("start")), _number(row.get("end"))
    expanded = _number(row.get("expanded_start")), _number(row.get("expanded_end"))
    if not math.isnan(expanded[0]):
        start, end = seen
    elif not math.isnan(seen[0]):
        expanded = seen
        start, end = (start, end) if not math.isnan(start) else seen
    else:
        expanded = start, end
    film = str(row.get("film") or film)
    return ExportedClip(clip_id, film, start, end, *expanded, sentences, str(row.get("origin", "")))


def _of_id(clip_id: str) -> tuple[str, float, float]:
    if match := _LSMDC_ID.fullmatch(clip_id):
        return match[1], _seconds(*match.groups()[1:5]), _seconds(*match.groups()[5:9])
    if match := _STORY_ID.fullmatch(clip_id) or _VIDEO_ID.fullmatch(clip_id):
        return match[1], float(match[2]), float(match[3])
    return "", math.nan, math.nan


def _seconds(hours: str, minutes: str, seconds: str, thousandths: str) -> float:
    return 3600 * int(hours) + 60 * int(minutes) + int(seconds) + int(thousandths) / 1000


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]  # what is no number is an error here
    except (TypeError, ValueError):
        return math.nan


def _rows(path: str, format: str) -> Iterator[Mapping[str, Any]]:
    """Yield what a file says of each clip beside its captions; nothing of other formats."""
    if format not in ("coco", "jsonl", "lsmdc", *_DELIMITED):
        return
    with Source(path) as source:
        if format == "coco":
            content = msgspec.json.decode(source.document())
            images = content.get("images", ()) if isinstance(content, dict) else ()
            yield from (image for image in images if isinstance(image, dict))
        elif format == "jsonl":
            records = (msgspec.json.decode(line) for _, line in source.lines() if line.strip())
            yield from (record for record in records if isinstance(record, dict))
        elif format == "lsmdc":
            for _, line in source.lines():
                cells = line.decode().rstrip("\r\n").split("\t")
                if len(cells) >= 5:
                    times = [_seconds(*cell.split(".")) for cell in cells[1:5]]
                    names = ("start", "end", "expanded_start", "expanded_end")
                    yield {"id": cells[0], **dict(zip(names, times, strict=True))}
        else:
            text = io.StringIO(source.document().decode())
            yield from csv.DictReader(text, delimiter=_DELIMITED[format])
