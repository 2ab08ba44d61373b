"""Captions that people judged, in the data sets that metric papers report.

Each set is read from a local copy: in the files its authors or others published, or as lines of
JSON, which all of them may be written as (optionally compressed with gzip):

- a rated caption: ``{"caption", "references", "ratings": [4, 3, 4]}``, or one ``"score"``;
- a pair: ``{"captions": [a, b], "references", "kind": "HC", "votes": [1, -1]}``, or ``"better"``
  (0 or 1) in place of the votes, which are positive for the first caption.

==================== ===================================================================
set                  files beside such lines
==================== ===================================================================
flickr8k-expert, -cf JSON of PAC-S: ``{id: {"ground_truth": [...], "human_judgement":
                     [{"caption", "rating"}]}}``
composite            the same
pascal-50s           JSON ``{kind: [{"captions", "references", "label"}]}``
polaris, nebula      JSON or CSV of rows ``mt``, ``refs``, ``score``
factvc-activitynet,  the folder ``data/activitynet`` or ``data/youcook2`` of the authors
factvc-youcook2
thumb                the folder with ``mscoco_THumB-1.0.jsonl``, ``mscoco_references.json``
vatex-eval           lines, with the ratings of three raters
audiocaps-eval,      lines
clotho-eval, msvd-eval, foil, activitynet-foil
==================== ===================================================================
"""

from __future__ import annotations

import ast
import csv
import gzip
import io
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from reelscore.errors import DataError

T = TypeVar("T")


class RatedCaption(NamedTuple):
    """A caption and what each of its raters said."""

    caption: str
    references: list[str]
    ratings: list[float]


class CaptionPair(NamedTuple):
    """Two captions of the same item, of which people prefer one.

    Attributes:
        captions: The two.
        references: Captions by others.
        votes: People's votes together: positive for the first, negative for the second.
        kind: Who wrote them, such as HC: two people, the second of another item.
    """

    captions: tuple[str, str]
    references: list[str]
    votes: float
    kind: str


class JudgedSet(NamedTuple):
    """All rows of a set: rated captions, or pairs."""

    name: str
    rated: list[RatedCaption]
    pairs: list[CaptionPair]


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


class _Judgement(msgspec.Struct):
    caption: str
    rating: float


class _Picture(msgspec.Struct):
    ground_truth: list[str]
    human_judgement: list[_Judgement]


class _LabelledPair(msgspec.Struct):
    captions: tuple[str, str]
    references: list[str]
    label: int


class _Row(msgspec.Struct):
    mt: str
    refs: list[str]
    score: float


class _Paragraph(msgspec.Struct):
    paragraph_score: float
    sentences: list[str]


class _HypothesisScore(msgspec.Struct):
    seg_id: str
    hyp: str
    human_score: float


class _References(msgspec.Struct):
    seg_id: str
    refs: list[str]


# How many rows the published sets have: fewer or more give other numbers.
ROWS = {
    "flickr8k-expert": 16_992,
    "pascal-50s": 4_000,
    "nebula": 3_298,
    "vatex-eval": 18_000,
    "audiocaps-eval": 1_463,
    "factvc-activitynet": 1_200,
    "factvc-youcook2": 600,
    "thumb": 2_500,
}


def read_judged_set(name: str, path: str | Path) -> JudgedSet:
    """Read a set from a local copy.

    Args:
        name: The set, such as ``pascal-50s``.
        path: A file, or a folder of the authors' files.

    Raises:
        DataError: If the file is missing or has another form.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "few.jsonl")
    >>> row = b'{"caption": "a dog", "references": ["a cat"], "ratings": [1, 2]}'
    >>> _ = path.write_bytes(row)
    >>> read_judged_set("vatex-eval", path).rated[0].ratings
    [1.0, 2.0]
    """
    place = Path(path)
    if place.is_dir():
        reader = _FOLDERS.get(name)
        if reader is None:
            raise DataError(f"{place} is a folder; {name} is read from a file of JSON lines.")
        return JudgedSet(name, reader(place), [])
    text = _text(place)
    first = text.lstrip()[:1]
    lines = text.splitlines()
    if place.suffix == ".csv":
        return JudgedSet(name, _from_csv(place, text), [])
    if first == "[":
        rows = _decode(text, list[_Row], place)
        return JudgedSet(name, [RatedCaption(r.mt, r.refs, [r.score]) for r in rows], [])
    if first == "{" and len(lines) > 1 and lines[0].rstrip().endswith("}"):
        return _from_lines(name, lines, place)
    if first == "{" and name == "pascal-50s":
        kinds = _decode(text, dict[str, list[_LabelledPair]], place)
        return JudgedSet(name, [], [*_labelled(kinds)])
    if first == "{" and '"human_judgement"' in text:
        pictures = _decode(text, dict[str, _Picture], place)
        return JudgedSet(name, [*_judgements(pictures)], [])
    if first == "{":
        return _from_lines(name, lines, place)
    raise DataError(f"{place}: expected lines of JSON, or the files of {name}.")


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}. Name a local copy of the data set.") from None
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return data.decode("utf-8-sig")


def _decode(text: str | bytes, kind: type[T], path: Path, line: int = 0) -> T:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        where = f"{path}:{line}" if line else str(path)
        raise DataError(
            f"{where}: {error}. The forms of judged sets are in the help of {__name__}."
        ) from None


def _from_lines(name: str, lines: Iterable[str], path: Path) -> JudgedSet:
    rated: list[RatedCaption] = []
    pairs: list[CaptionPair] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        row = _decode(line, _Line, path, number)
        references = row.references or ([row.reference] if row.reference else [])
        caption = row.caption or ". ".join(row.sentences or [])
        ratings = row.ratings or [r for r in (row.score, row.paragraph_score) if r is not None][:1]
        if not references:
            raise DataError(f"{path}:{number}: no references; at least one is needed.")
        if row.captions is not None and (row.votes is not None or row.better is not None):
            votes = sum(row.votes) if row.votes is not None else (1.0, -1.0)[row.better or 0]
            pairs.append(CaptionPair(row.captions, references, votes, row.kind))
        elif caption and ratings:
            rated.append(RatedCaption(caption, references, ratings))
        else:
            raise DataError(
                f"{path}:{number}: neither a caption with ratings nor a pair with votes."
            )
    return JudgedSet(name, rated, pairs)


def _from_csv(path: Path, text: str) -> list[RatedCaption]:
    """Read rows of mt, refs, score; the references are a list as Python or JSON writes it."""
    rows = csv.DictReader(io.StringIO(text))
    if not {"mt", "refs", "score"} <= set(rows.fieldnames or ()):
        raise DataError(f"{path}: expected the columns mt, refs and score.")
    return [
        RatedCaption(
            row["mt"], [str(text) for text in ast.literal_eval(row["refs"])], [float(row["score"])]
        )
        for row in rows
    ]


def _labelled(kinds: Mapping[str, list[_LabelledPair]]) -> Iterable[CaptionPair]:
    for kind, pairs in kinds.items():
        for pair in pairs:
            votes = 1.0 if pair.label == 0 else -1.0
            yield CaptionPair(pair.captions, pair.references, votes, kind)


def _judgements(pictures: Mapping[str, _Picture]) -> Iterable[RatedCaption]:
    for picture in pictures.values():
        for judged in picture.human_judgement:
            yield RatedCaption(judged.caption, picture.ground_truth, [judged.rating])


def _factvc(folder: Path) -> list[RatedCaption]:
    """Read the authors' folder of one of the two sets; brackets mark what is wrong."""
    annotation = folder / "factuality_annotation.json"
    judged = _decode(_text(annotation), dict[str, dict[str, _Paragraph]], annotation)
    references: dict[str, list[str]] = {}
    for name in ("gt_ae_test_1_para.json", "gt_ae_test_2_para.json", "gt_val_para.json"):
        file = folder / "captions" / name
        if file.is_file():
            for video, text in _decode(_text(file), dict[str, str], file).items():
                references.setdefault(video, []).append(text)
    rows = []
    for video, systems in judged.items():
        if video not in references:
            raise DataError(f"{folder / 'captions'}: no reference of the video {video!r}.")
        for paragraph in systems.values():
            sentences = [re.sub(r"[\[\]]", "", each).strip(" .") for each in paragraph.sentences]
            rating = [paragraph.paragraph_score]
            rows.append(RatedCaption(". ".join(sentences) + ".", references[video], rating))
    return rows


def _thumb(folder: Path) -> list[RatedCaption]:
    scores, references = folder / "mscoco_THumB-1.0.jsonl", folder / "mscoco_references.json"
    texts = {
        row.seg_id: row.refs
        for row in (_decode(line, _References, references) for line in _lines(references))
    }
    rows = [_decode(line, _HypothesisScore, scores) for line in _lines(scores)]
    return [
        RatedCaption(row.hyp, texts[row.seg_id], [row.human_score])
        for row in rows
        if row.seg_id in texts
    ]


def _lines(path: Path) -> list[str]:
    return [line for line in _text(path).splitlines() if line.strip()]


_FOLDERS: dict[str, Callable[[Path], list[RatedCaption]]] = {
    "factvc-activitynet": _factvc,
    "factvc-youcook2": _factvc,
    "thumb": _thumb,
}
