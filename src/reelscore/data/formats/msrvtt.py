"""`msrvtt`: MSR-VTT, ``{"videos": [{"video_id", "split"}, …], "sentences": [{…}, …]}``.

A sentence is ``{"video_id", "caption"}``. A video belongs to the part of the data set that its
``split`` names.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from reelscore.data.json_documents import glimpse, record_fields
from reelscore.data.reading import Reading, Request
from reelscore.data.source import Source
from reelscore.errors import DataError

Record = tuple[int, object, object]


class Msrvtt:
    """``msrvtt``: sentences and videos in two lists."""

    def fields(self, source: Source, reading: Reading) -> list[str]:
        """Name the fields of the first sentence, if it is near the beginning of the file."""
        values = glimpse(source.head)
        whole = values[0] if values else None
        return record_fields(whole.get("sentences")) if isinstance(whole, dict) else []

    def place(self, path: str, number: int) -> str:
        """Name a sentence by its number in the list, from 1 on."""
        return f"{path}: sentence {number}"

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield number, video id and caption of each sentence."""
        from reelscore.data.json_documents import (
            objects_in,
            records_of,
            sections_of,
            whole_document,
        )

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
