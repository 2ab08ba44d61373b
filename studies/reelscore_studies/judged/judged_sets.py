"""Captions that people judged, in the data sets that metric papers report.

Each set is read from a local copy, whose layout is known by its content: the files that its
authors or others published (`reelscore_studies.judged.judged_layouts` has them all), or lines of
JSON, which all of them may be written as (optionally compressed with gzip):

- a rated caption: ``{"caption", "references", "ratings": [4, 3, 4]}``, or one ``"score"``; in
  place of the caption ``"sentences"``, in place of the references one ``"reference"``;
- a pair: ``{"captions": [a, b], "references", "kind": "HC", "votes": [1, -1]}``, or ``"better"``
  (0 or 1) in place of the votes, which are positive for the first caption.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from reelscore.errors import DataError
from reelscore_studies.judged.judged_layouts import (
    FILE_LAYOUTS,
    FOLDER_LAYOUTS,
    CaptionPair,
    RatedCaption,
    decode,
    delimited_rows,
    flickr_rows,
    text_of,
)


class JudgedSet(NamedTuple):
    """All rows of a set: rated captions, or pairs."""

    rated: list[RatedCaption]
    pairs: list[CaptionPair]

    @property
    def judgments(self) -> int:
        """How many ratings there are, or pairs."""
        return sum(len(row.ratings) for row in self.rated) + len(self.pairs)


class _Line(msgspec.Struct):
    references: list[str] | None = None
    reference: str | None = None
    caption: str | None = None
    sentences: list[str] | None = None
    ratings: list[float] | None = None
    score: float | None = None
    paragraph_score: float | None = None
    captions: tuple[str, str] | None = None
    votes: list[float] | None = None
    better: int | None = None
    kind: str = ""
    refs: list[str] | None = None  # and so on: Polaris and Nebula on the Hugging Face hub
    cand: str | None = None
    human_score: float | None = None


def read_judged_set(path: str | Path) -> JudgedSet:
    """Read a set from a local copy.

    Args:
        path: A file, or a folder of the authors' files.

    Raises:
        DataError: If it is missing or has an unknown layout.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "few.jsonl")
    >>> row = b'{"caption": "a dog", "references": ["a cat"], "ratings": [1, 2]}'
    >>> _ = path.write_bytes(row)
    >>> read_judged_set(path).rated[0].ratings
    [1.0, 2.0]
    """
    place = Path(path)
    if place.is_dir():
        for file, reader in FOLDER_LAYOUTS.items():
            if (place / file).is_file():
                return _parted(reader(place))
        raise DataError(
            f"{place}: expected a folder with one of {', '.join(FOLDER_LAYOUTS)}, or a file."
        )
    text = text_of(place)
    for layout in FILE_LAYOUTS:
        if layout.fits(text):
            return _parted(layout.rows(text, place))
    if place.name in ("ExpertAnnotations.txt", "CrowdFlowerAnnotations.txt"):
        return _parted(flickr_rows(text, place))
    head = set(text.partition("\n")[0].strip().split(","))
    if {"mt", "refs", "score"} <= head or {"cand", "refs", "human_score"} <= head:
        return _parted(delimited_rows(text))
    if text.lstrip()[:1] != "{":
        raise DataError(
            f"{place}: expected lines of JSON, or a file as its authors published it; "
            "docs/meta.md, 'Sets and their files', has all layouts."
        )
    return _parted(_from_lines(text.splitlines(), place))


def _parted(rows: Iterable[RatedCaption | CaptionPair]) -> JudgedSet:
    parts = JudgedSet([], [])
    for row in rows:
        if isinstance(row, RatedCaption):
            parts.rated.append(row)
        else:
            parts.pairs.append(row)
    return parts


def _from_lines(lines: Iterable[str], path: Path) -> Iterable[RatedCaption | CaptionPair]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        row = decode(line, _Line, path, number)
        references = row.references or row.refs or ([row.reference] if row.reference else [])
        caption = (
            row.caption or row.cand or "".join(f"{each}. " for each in row.sentences or []).rstrip()
        )
        numbers = (row.score, row.paragraph_score, row.human_score)
        ratings = row.ratings or [each for each in numbers if each is not None][:1]
        if not references:
            raise DataError(f"{path}:{number}: no references; at least one is needed.")
        if row.captions is not None and (row.votes is not None or row.better is not None):
            votes = sum(row.votes) if row.votes is not None else (1.0, -1.0)[row.better or 0]
            yield CaptionPair(row.captions, references, votes, row.kind)
        elif caption and ratings:
            yield RatedCaption(caption, references, ratings)
        else:
            raise DataError(
                f"{path}:{number}: neither a caption with ratings nor a pair with votes."
            )
