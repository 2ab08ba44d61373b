"""DREAM-1K: its file, and the groups of clips that its scores are printed for.

The file has a JSON object a line: the description that people wrote, its events, the subset that
the clip is from, and how many subjects, shots and events it has. Clips are known by their
description, which no two share. Two layouts are read, that of Tarsier and that of Tarsier 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from reelscore._records import resolved
from reelscore.data.json_documents import plain_record
from reelscore.errors import DataError

SUBSETS = ("movie_animation", "movie_live_action", "vertical_video", "videvo", "youtube")
# the least number of each group of clips, and what the group is called
_FEW = {1: "≤1", 2: "2", 3: "3", 4: "≥4"}
_BUCKETS = {
    "subjects": _FEW,
    "shots": _FEW,
    "events": {1: "≤3", 4: "4–5", 6: "6–7", 8: "≥8"},
}
# groups by their scores, with what tables call them
GROUPS = {subset: subset.replace("_", " ") for subset in SUBSETS} | {
    f"{what}_{least}": f"{words} {what}"
    for what, names in _BUCKETS.items()
    for least, words in names.items()
}


class _About(msgspec.Struct):
    events: list[str]
    n_subjects: int
    n_shots: int
    n_events: int


class _Line(msgspec.Struct):
    dataset: str
    extra_info: _About


class Clip(NamedTuple):
    """The events of a description, and the groups of its clip, by their numbers in `GROUPS`."""

    events: list[str]
    groups: list[int]


def dream_clips(path: str) -> Mapping[str, Clip]:
    """Read the clips, by their descriptions.

    Raises:
        DataError: If it is no such file.
    """
    try:
        return _read(path, Path(path).stat().st_mtime_ns)
    except OSError as error:
        raise DataError(f"{path}: DREAM-1K's file cannot be read ({error.strerror}).") from error


@lru_cache(maxsize=2)
def _read(path: str, changed: int) -> Mapping[str, Clip]:
    clips: dict[str, Clip] = {}
    names = list(GROUPS)
    for number, line in enumerate(Path(path).read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
            about = msgspec.convert(value, resolved(_Line))
            description = msgspec.convert(plain_record(value)["reference"], str)
        except (msgspec.DecodeError, UnicodeDecodeError, KeyError) as error:
            raise DataError(
                f"{path}:{number}: not a line of DREAM-1K ({error}); expected a description, "
                "'dataset', and 'extra_info' with the events and their number."
            ) from None
        subset = about.dataset.rpartition("/")[2]
        if subset not in SUBSETS:
            raise DataError(
                f"{path}:{number}: DREAM-1K has no subset {about.dataset!r}; expected one of "
                f"{', '.join(SUBSETS)}."
            )
        if description in clips:
            raise DataError(f"{path}:{number}: the description of an earlier clip comes again.")
        groups = [names.index(subset)]
        for what, bounds in _BUCKETS.items():
            count = getattr(about.extra_info, f"n_{what}")
            groups.append(
                names.index(f"{what}_{max(low for low in bounds if low <= max(count, 1))}")
            )
        clips[description] = Clip(about.extra_info.events, groups)
    return clips
