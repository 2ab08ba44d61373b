"""A corpus as files for scoring and training: COCO JSON, JSON lines, CSV, LSMDC's, stories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from reelscore._version import __version__
from reelscore.corpus.pipeline import csv_text, indented_json
from reelscore.corpus.project_files import CorpusClips, CorpusNames, segment_id
from reelscore.errors import DataError


@dataclass(frozen=True)
class ExportedClip:
    """A clip as it leaves the project."""

    id: str
    film: str
    start: float  # when it begins in the film
    end: float  # when it ends
    expanded_start: float  # when the longer clip begins that viewers see
    expanded_end: float  # when that ends
    sentences: tuple[str, ...]
    origin: str = "ad"  # whether they come from narration (`ad`) or a script


def exported_clips(clips: CorpusClips, names: CorpusNames | None = None) -> list[ExportedClip]:
    """Return clips with the texts of their sentences."""
    texts = {(each.film, each.id): each.text for each in clips.sentences}
    if names is not None:
        try:
            texts = {(film, each): names.films[film].sentences[each].text for film, each in texts}
        except KeyError as error:
            raise DataError(
                f"The names of {error} were not replaced; run 'reelscore corpus anonymise' again."
            ) from None
    return [
        ExportedClip(
            **{**vars(clip), "sentences": tuple(texts[clip.film, each] for each in clip.sentences)}
        )
        for clip in clips.clips
    ]


def to_coco(clips: Sequence[ExportedClip], *, name: str, with_sentences: bool = True) -> bytes:
    """Write clips as COCO JSON, which `reelscore score` reads as references."""
    document: dict[str, object] = {
        "info": {
            "description": name,
            "signature": f"corpus:{name}|clips:{len(clips)}|version:{__version__}",
        },
        "images": [
            {
                "id": clip.id,
                "file_name": clip.id,
                "film": clip.film,
                "start": clip.expanded_start,
                "end": clip.expanded_end,
            }
            for clip in clips
        ],
    }
    if with_sentences:
        captions = [(clip.id, text) for clip in clips for text in clip.sentences]
        document["annotations"] = [
            {"id": number, "image_id": clip_id, "caption": text}
            for number, (clip_id, text) in enumerate(captions, start=1)
        ]
    return indented_json(document)


def to_jsonl(clips: Sequence[ExportedClip], *, name: str) -> bytes:
    """Write clips as JSON lines, one each, which `reelscore score` reads as references."""
    rows = ({**asdict(clip), "references": clip.sentences} for clip in clips)
    return b"".join(
        msgspec.json.encode({key: row[key] for key in row if key != "sentences"}) + b"\n"
        for row in rows
    )


def to_csv(clips: Sequence[ExportedClip], *, name: str) -> bytes:
    r"""Write clips as CSV, a row for each sentence."""
    columns = ["id", "film", "start", "end", "expanded_start", "expanded_end", "origin"]
    rows = (
        [*(getattr(clip, column) for column in columns), sentence]
        for clip in clips
        for sentence in clip.sentences
    )
    return csv_text([[*columns, "caption"], *rows]).encode()


def to_lsmdc(clips: Sequence[ExportedClip], *, name: str, with_sentences: bool = True) -> bytes:
    """Write clips as LSMDC does: tabs between clip, its times, those shown, and a sentence."""
    rows = []
    for clip in clips:
        times = (clip.start, clip.end, clip.expanded_start, clip.expanded_end)
        cells = [clip.id, *(segment_id(time)[1:] for time in times)]
        sentences = [[" ".join(text.split())] for text in clip.sentences]
        rows += [[*cells, *sentence] for sentence in (sentences if with_sentences else [[]])]
    return "".join("\t".join(row) + "\n" for row in rows).encode()


def to_stories(clips: Sequence[ExportedClip], *, name: str) -> bytes:
    """Write each film as a story, with the times of its sentences, for `reelscore stories`."""
    films: dict[str, dict[str, list[Any]]] = {}
    for clip in clips:
        story = films.setdefault(clip.film, {"timestamps": [], "sentences": []})
        for sentence in clip.sentences:
            story["timestamps"].append([clip.start, clip.end])
            story["sentences"].append(sentence)
    return indented_json(films)


FORMATS: dict[str, tuple[str, Callable[..., bytes]]] = {
    "coco": (".json", to_coco),
    "jsonl": (".jsonl", to_jsonl),
    "csv": (".csv", to_csv),
    "lsmdc": (".lsmdc.csv", to_lsmdc),
    "stories": (".stories.json", to_stories),
}
"""The formats, with the endings of their files and what writes them."""
