"""Published data sets of captions in JSON: COCO, MSR-VTT, VATEX, ActivityNet and others.

- ``coco``: a list of records with an item id and a caption, alone or as a section of an object.
  COCO annotations are ``{"annotations": [{"image_id", "caption"}, …]}``, its results the list
  alone. The section may also be called ``predictions``, ``results`` or the like, and the fields as
  `reelscore.data.reading` says; every other section is ignored.
- ``msrvtt``: MSR-VTT, ``{"videos": [{"video_id", "split"}, …], "sentences": [{…}, …]}``. A sentence
  is ``{"video_id", "caption"}``. A video belongs to the part of the data set that its ``split``
  names.
- ``vatex``: VATEX, ``[{"videoID", "enCap": [ten captions], "chCap": [ten captions]}, …]``. The
  English captions are read, unless the user names the field of the Chinese ones.
- ``karpathy``: Karpathy's splits of COCO, Flickr8k and Flickr30k,
  ``{"images": [{"filename", "cocoid", "split", "sentences": [{"raw": "a man"}, …]}, …]}``. The id
  is ``cocoid`` where images have one, as in COCO's results, else ``filename``.
- ``activitynet`` and ``youcook2``: timed captions of long videos, each segment an item of its own.
  The files are those of `reelscore.data.story_files`. An item is named by its video and its times,
  ``v_abc@0.5-12.25``: captions of other segments, as a second annotator has them, are other items.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from reelscore.data.checks import in_words
from reelscore.data.formats import Format
from reelscore.data.json_documents import (
    captions_section,
    glimpse,
    objects_in,
    record_fields,
    records_of,
    sections_in,
    sections_of,
    whole_document,
)
from reelscore.data.reading import FieldNames, Reading, Record, Request
from reelscore.data.source import Source
from reelscore.errors import DataError

_LANGUAGES = {"enCap": "English", "chCap": "Chinese"}  # of VATEX
_IMAGE_FIELDS = ("cocoid", "filename", "imgid")  # that name the items of Karpathy's splits


class Coco(Format):
    """``coco``: a list of records, alone or in a section."""

    def fields(self, source: Source, reading: Reading) -> list[str]:
        """Name the fields of the first record, and the sections of captions."""
        beginning = glimpse(source.head)
        value = beginning[0] if beginning else None
        if not isinstance(value, dict):
            return record_fields(value)
        sections = sections_in(value)
        if sections:
            return [*sections, *record_fields(value[sections[0]])]
        _, _, behind = source.head.partition(b'"annotations"')
        later = glimpse(behind.lstrip(b": \t\r\n"))
        return record_fields(later[0]) if later else []

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield number, item id and caption of each record."""
        document = whole_document(source)
        is_list = source.head.lstrip().startswith(b"[")
        records = document if is_list else captions_section(document, source.path, request)
        place = partial(self.place, source.path)
        return records_of(objects_in(records, source.path, place), place, request)


class Msrvtt(Format):
    """``msrvtt``: sentences and videos in two lists."""

    unit = "sentence"

    def fields(self, source: Source, reading: Reading) -> list[str]:
        """Name the fields of the first sentence, if it is near the beginning of the file."""
        values = glimpse(source.head)
        whole = values[0] if values else None
        return record_fields(whole.get("sentences")) if isinstance(whole, dict) else []

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield number, video id and caption of each sentence."""
        path = source.path
        sections = sections_of(whole_document(source), path)
        sentences = sections.get("sentences", sections.get("annotations"))
        if sentences is None:
            raise DataError(
                f"{path}: expected a list 'sentences' beside 'videos', as in MSR-VTT; "
                f"there are {', '.join(sections)}."
            )
        request.read_as = "MSR-VTT"
        splits: dict[object, object] = {}
        for _, video in objects_in(sections.get("videos", b"[]"), path, partial(self.place, path)):
            if isinstance(video, dict) and "split" in video:
                splits[str(video.get("video_id", video.get("id")))] = video["split"]
        place = partial(self.place, path)
        for number, item, caption in records_of(objects_in(sentences, path, place), place, request):
            if request.takes(item, splits.get(str(item))):
                yield number, item, caption


class Vatex(Format):
    """``vatex``: a list of videos with captions in two languages."""

    def fields(self, source: Source, reading: Reading) -> list[str]:
        """Name the fields of the first video; its captions are references."""
        return [*self._names(source), "references"]

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield number, video id and captions of each video."""
        there = [name for name in _LANGUAGES if name in self._names(source)]
        if not request.reading.reference_field and there:
            request.reading = replace(request.reading, reference_field=there[0])
        language = _LANGUAGES.get(request.reading.reference_field or "", "chosen")
        others = [
            f'reference_field="{name}" for the {_LANGUAGES[name]} ones'
            for name in there
            if name != request.reading.reference_field
        ]
        hint = f" ({others[0]})" if others else ""
        request.read_as = f"VATEX, the {language} captions{hint}"
        place = partial(self.place, source.path)
        document = whole_document(source)
        return records_of(objects_in(document, source.path, place), place, request)

    def _names(self, source: Source) -> list[str]:
        values = glimpse(source.head)
        return record_fields(values[0]) if values else []


class Karpathy(Format):
    """``karpathy``: images with their sentences and their part of the data set."""

    unit = "image"

    def fields(self, source: Source, reading: Reading) -> list[str]:
        """Sentences are references."""
        return ["references"]

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield number, id and sentences of each image."""
        path = source.path
        images = sections_of(whole_document(source), path).get("images")
        if images is None:
            raise DataError(f"{path}: expected a list 'images', as in Karpathy's splits.")
        names = FieldNames(request.reading.fields.item or _IMAGE_FIELDS)
        item = ""
        for number, image in objects_in(images, path, partial(self.place, path)):
            if not isinstance(image, dict):
                problem = f"the image is {in_words(image)}; expected an object"
                request.problems.add(f"{self.place(path, number)}: {problem}.")
                continue
            item = item or names.item_field(image) or ""
            if item not in image:
                missing = f"no field {item!r}"
                problem = missing if item else names.fault(image, "references") or missing
                request.problems.add(f"{self.place(path, number)}: {problem}.")
                continue
            request.read_as = f"a Karpathy split, by {item}"
            if request.takes(image[item], image.get("split")):
                yield number, image[item], _sentences(image)


def _sentences(image: dict[str, object]) -> object:
    """Take the texts out of the sentences; what is none is left for the check of captions."""
    sentences = image.get("sentences")
    if not isinstance(sentences, list):
        return sentences
    return [each.get("raw") if isinstance(each, dict) else each for each in sentences]


class Timed(Format, msgspec.Struct, frozen=True):
    """A format of timed captions."""

    title: str  # what it is called in notes
    unit: ClassVar[str] = "caption"

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield number, segment and sentence of each caption."""
        from reelscore.data.stories import StoryPolicies
        from reelscore.data.story_files import stories_in

        request.read_as = f"{self.title}, an item for each segment ('reelscore stories' uses times)"
        as_they_are = StoryPolicies(reversed_segments="zero", negative="keep", empty="zero")
        stories = stories_in(source, as_they_are)
        number = 0
        for video, story in stories.items():
            for (start, end), sentence in zip(story.segments, story.sentences, strict=True):
                number += 1
                item = f"{video}@{_seconds(start)}-{_seconds(end)}"
                if request.takes(item, stories.splits.get(video)):
                    yield number, item, sentence


def _seconds(time: float) -> str:
    return f"{round(float(time), 2)}".removesuffix(".0")
