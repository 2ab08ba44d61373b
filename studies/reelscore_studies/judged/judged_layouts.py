"""The files in which judged captions were published, one layout after the other.

A layout serves all sets that are published in it; which one a file has is seen from its keys, and
which one a folder has from a file in it.
"""

from __future__ import annotations

import ast
import csv
import gzip
import io
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_origin

import msgspec

from reelscore._records import resolved
from reelscore.errors import DataError

T = TypeVar("T")


class RatedCaption(NamedTuple):
    """A caption and what each of its raters said."""

    caption: str
    references: list[str]
    ratings: list[float]


class CaptionPair(NamedTuple):
    """Two captions of the same item, of which people prefer one."""

    captions: tuple[str, str]  # the two
    references: list[str]  # captions by others
    votes: float  # people's votes together: positive for the first, negative for the second
    kind: str = ""  # who wrote them, such as HC: two people, both of this item


Rows = Iterable[RatedCaption | CaptionPair]


def text_of(path: Path) -> str:
    """Return the text of a file that may be compressed with gzip.

    Raises:
        DataError: If it cannot be read.
    """
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not a text in UTF-8: {error}.") from None
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path}: {reason}. Name a local copy of the data set.") from None


def decode(text: str, kind: type[T], path: Path, line: int = 0) -> T:
    """Decode JSON as a type; errors say where they are."""
    try:
        return msgspec.json.decode(text, type=resolved(kind))
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        where = f"{path}:{line}" if line else str(path)
        raise DataError(
            f"{where}: {error}. The layouts of judged sets are in docs/meta.md."
        ) from None


def _read(path: Path, kind: type[T]) -> T:
    return decode(text_of(path), kind, path)


# Files of JSON

_NAN = re.compile(r":\s*NaN\b")


@dataclass(frozen=True)
class FileLayout:
    """A layout that a file may have."""

    keys: tuple[str, ...]  # what stands in such a file, and in no other together
    kind: Any  # what it is decoded as
    made: Callable[[Any], Rows]  # its rows

    def fits(self, text: str) -> bool:
        """Return whether a file has this layout."""
        begin = "[" if get_origin(self.kind) is list else "{"
        return text.lstrip()[:1] == begin and all(f'"{key}"' in text for key in self.keys)

    def rows(self, text: str, path: Path) -> Rows:
        """Return the rows of such a file."""
        numbers = _NAN.sub(": null", text) if "NaN" in text else text  # as Python writes it
        return self.made(decode(numbers, self.kind, path))


class _Judgement(msgspec.Struct):
    caption: str
    rating: float | None


class _Picture(msgspec.Struct):
    ground_truth: list[str]
    human_judgement: list[_Judgement]


def _pictures(pictures: dict[str, _Picture]) -> Rows:
    for picture in pictures.values():
        for judged in picture.human_judgement:
            if judged.rating is not None:
                yield RatedCaption(judged.caption, picture.ground_truth, [judged.rating])


class _Judged(msgspec.Struct):
    caption: str
    human: float
    references: list[str] = []
    refs: list[str] = []


def _composite(sources: dict[str, list[_Judged]]) -> Rows:
    for rows in sources.values():
        for row in rows:
            yield RatedCaption(row.caption, row.references or row.refs, [row.human])


class _Video(msgspec.Struct):
    ref: list[str]
    candidate: str
    human_score: list[list[float]]


def _videos(videos: dict[str, _Video]) -> Rows:
    """Return a rating for each rater: the last number, which is the mean of the criteria."""
    for video in videos.values():
        yield RatedCaption(video.candidate, video.ref, [own[-1] for own in video.human_score])


class _LabelledPair(msgspec.Struct):
    captions: tuple[str, str]
    references: list[str]
    label: int


def _labelled(kinds: dict[str, list[_LabelledPair]]) -> Rows:
    for kind, pairs in kinds.items():
        for pair in pairs:
            yield CaptionPair(pair.captions, pair.references, 1.0 - 2.0 * (pair.label != 0), kind)


_Entry = list[str | float | list[float]] | None  # two captions, writers, …, votes


class _Sound(msgspec.Struct):
    references: list[str]
    HC: _Entry = None
    HI: _Entry = None
    HM: _Entry = None
    MM_1: _Entry = None
    MM_2: _Entry = None
    MM_3: _Entry = None
    MM_4: _Entry = None
    MM_5: _Entry = None


def _sounds(sounds: list[_Sound]) -> Rows:
    for sound in sounds:
        for name in _Sound.__struct_fields__[1:]:
            match getattr(sound, name):
                case [str(first), str(second), *_, list(votes)]:
                    yield CaptionPair((first, second), sound.references, sum(votes), name[:2])


class _Row(msgspec.Struct):
    refs: list[str]
    mt: str = ""
    cand: str = ""  # as on the Hugging Face hub
    score: float | None = None
    human_score: float = 0.0


def _rows(rows: list[_Row]) -> Rows:
    for row in rows:
        rating = row.human_score if row.score is None else row.score
        yield RatedCaption(row.mt or row.cand, row.refs, [rating])


_RATING = ("score", "human_score")


def delimited_rows(text: str) -> Rows:
    r"""Read a CSV whose column of references holds lists as Python writes them.

    >>> list(delimited_rows("mt,refs,score\na dog,['a cat'],0.5"))
    [RatedCaption(caption='a dog', references=['a cat'], ratings=[0.5])]
    """
    for row in csv.DictReader(io.StringIO(text)):
        references = [str(each) for each in ast.literal_eval(row["refs"])]
        caption, rating = (row.get(a) or row[b] for a, b in (("mt", "cand"), _RATING))
        yield RatedCaption(caption, references, [float(rating)])


def flickr_rows(text: str, path: Path) -> Rows:
    """Read a table of Flickr8k_text: judged captions by number, whose texts lie beside it.

    Experts' captions that are of the picture itself do not count, as in the papers; those that the
    crowd judged do, but are no references.
    """
    texts: dict[str, str] = {}
    references: dict[str, list[str]] = {}
    for line in text_of(path.with_name("Flickr8k.token.txt")).splitlines():
        name, _, caption = line.strip().partition("\t")
        texts[name] = caption
        references.setdefault(name.partition("#")[0], []).append(caption)
    judged = [line.split("\t") for line in text.splitlines() if line.strip()]
    by_crowd = path.name.startswith("CrowdFlower")  # a share, and the votes behind it
    judged = [row for row in judged if row[0] in references and row[1] in texts]
    own = {(row[0], texts[row[1]]) for row in judged}
    for picture, name, *numbers in judged:
        caption, captions = texts[name], references[picture]
        if by_crowd:
            left = [each for each in captions if (picture, each) not in own]
            yield RatedCaption(caption, left, [float(numbers[0])])
        elif caption not in captions:
            yield RatedCaption(caption, captions, [float(each) for each in numbers])


FILE_LAYOUTS = (
    FileLayout(("human_judgement", "ground_truth"), dict[str, _Picture], _pictures),
    FileLayout(("human", "caption", "image"), dict[str, list[_Judged]], _composite),
    FileLayout(("human_score", "candidate"), dict[str, _Video], _videos),
    FileLayout(("captions", "label"), dict[str, list[_LabelledPair]], _labelled),
    FileLayout(("MM_1", "references"), list[_Sound], _sounds),
    FileLayout(("mt", "refs", "score"), list[_Row], _rows),
    FileLayout(("cand", "refs", "human_score"), list[_Row], _rows),
)


# Folders


class _Paragraph(msgspec.Struct):
    paragraph_score: float
    sentences: list[str]


def _factvc(folder: Path) -> Rows:
    """Read the authors' folder of one of the two sets; brackets mark what is wrong."""
    judged = _read(folder / "factuality_annotation.json", dict[str, dict[str, _Paragraph]])
    references: dict[str, list[str]] = {}
    for name in ("gt_ae_test_1_para.json", "gt_ae_test_2_para.json", "gt_val_para.json"):
        file = folder / "captions" / name
        if file.is_file():
            for video, text in _read(file, dict[str, str]).items():
                references.setdefault(video, []).append(text)
    for video, systems in judged.items():
        own = _found(references, video, folder / "captions")
        for paragraph in systems.values():
            sentences = [re.sub(r"[\[\]]", "", each).strip(" .") for each in paragraph.sentences]
            yield RatedCaption(". ".join(sentences) + ".", own, [paragraph.paragraph_score])


class _HypothesisScore(msgspec.Struct):
    seg_id: str
    hyp: str
    human_score: float


class _References(msgspec.Struct):
    seg_id: str
    refs: list[str]


def _thumb(folder: Path) -> Rows:
    texts = {row.seg_id: row.refs for row in _lines(folder / "mscoco_references.json", _References)}
    for row in _lines(folder / "mscoco_THumB-1.0.jsonl", _HypothesisScore):
        if row.seg_id in texts:
            yield RatedCaption(row.hyp, texts[row.seg_id], [row.human_score])


def _lines(path: Path, kind: type[T]) -> Iterator[T]:
    for number, line in enumerate(text_of(path).splitlines(), start=1):
        if line.strip():
            yield decode(line, kind, path, number)


class _Annotation(msgspec.Struct):
    image_id: int
    caption: str
    id: int = 0
    foil: bool = False


class _Annotations(msgspec.Struct):
    annotations: list[_Annotation]


def _foil(folder: Path) -> Rows:
    """Pair each foil with the caption that it was made of; the references are COCO's."""
    coco, made = folder / "captions_val2014.json", folder / "foilv1.0_test_2017.json"
    references: dict[str, list[str]] = {}
    for each in _read(coco, _Annotations).annotations:
        references.setdefault(str(each.image_id), []).append(each.caption)
    annotations = _read(made, _Annotations).annotations
    right = {each.id: each.caption for each in annotations if not each.foil}
    for each in annotations:
        if each.foil and each.id in right:
            own = _found(references, str(each.image_id), coco)
            yield CaptionPair((right[each.id], each.caption), own, 1.0)


class _Sentence(msgspec.Struct):
    sentence: str


class _Stories(msgspec.Struct):
    results: dict[str, list[_Sentence]]


class _Story(msgspec.Struct):
    sentences: list[str]


def _activitynet_foil(folder: Path) -> Rows:
    """Pair paragraphs whole, against the paragraph of the other annotator."""
    right, foiled = (
        _read(folder / f"final_{kind}_video_sentences.json", _Stories).results
        for kind in ("right", "foil")
    )
    file = folder / "anet_entities_test_2.json"
    references = _read(file, dict[str, _Story])
    for video, sentences in foiled.items():
        own = [" ".join(_found(references, video, file).sentences)]
        first, second = (
            " ".join(each.sentence.strip() for each in story)
            for story in (_found(right, video, folder), sentences)
        )
        yield CaptionPair((first, second), own, 1.0)


class _ArraysOnly(pickle.Unpickler):
    """Reads pickled arrays, and refuses to run anything else that a pickle may ask for."""

    def find_class(self, module: str, name: str) -> Any:
        """Return what makes arrays."""
        makers = {"_reconstruct", "ndarray", "dtype", "scalar", "_frombuffer"}
        text = (module, name) == ("_codecs", "encode")
        if text or (module.partition(".")[0] == "numpy" and name in makers):
            return super().find_class(module, name)
        raise DataError(f"expected pickled arrays; {module}.{name} is none.")


def _vatex(folder: Path) -> Rows:
    """Read the arrays of VATEX-EVAL: candidates, references and the scores of three raters."""
    candidates, references, scores = (
        _unpickled(folder / f"{name}.pkl")
        for name in ("candidates_list", "gts_list", "human_scores")
    )
    ratings = scores.reshape(3, -1).T.tolist()
    if not len(candidates) == len(references) == len(ratings):
        raise DataError(
            f"{folder}: {len(candidates):,} candidates, {len(references):,} references and "
            f"{len(ratings):,} scores of each rater; expected as many of each."
        )
    for caption, texts, own in zip(candidates, references, ratings, strict=True):
        yield RatedCaption(str(caption), [str(text) for text in texts], own)


def _unpickled(path: Path) -> Any:
    try:
        return _ArraysOnly(io.BytesIO(path.read_bytes())).load()
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except (OSError, pickle.UnpicklingError, EOFError, ImportError, ValueError) as error:
        raise DataError(f"{path}: {error}. Expected the authors' file.") from None


def _found(texts: dict[str, T], item: str, path: Path) -> T:
    if item not in texts:
        raise DataError(f"{path}: no text of {item!r}; is the file whole?")
    return texts[item]


# by the file that is in such a folder, and in no other
FOLDER_LAYOUTS: dict[str, Callable[[Path], Rows]] = {
    "factuality_annotation.json": _factvc,
    "mscoco_THumB-1.0.jsonl": _thumb,
    "candidates_list.pkl": _vatex,
    "foilv1.0_test_2017.json": _foil,
    "final_foil_video_sentences.json": _activitynet_foil,
}
