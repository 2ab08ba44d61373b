"""`karpathy`: Karpathy's splits of COCO, Flickr8k and Flickr30k.

``{"images": [{"filename", "cocoid", "split", "sentences": [{"raw": "a man"}, …]}, …]}``. The id is
``cocoid`` where images have one, as in COCO's results, else ``filename``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from reelscore.data.checks import in_words
from reelscore.data.reading import FieldNames, Reading, Request
from reelscore.data.source import Source
from reelscore.errors import DataError

Record = tuple[int, object, object]
_ITEM_FIELDS = ("cocoid", "filename", "imgid")


class Karpathy:
    """``karpathy``: images with their sentences and their part of the data set."""

    def fields(self, source: Source, reading: Reading) -> list[str]:
        """Sentences are references."""
        return ["references"]

    def place(self, path: str, number: int) -> str:
        """Name an image by its number in the list, from 1 on."""
        return f"{path}: image {number}"

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield number, id and sentences of each image."""
        from reelscore.data.json_documents import objects_in, sections_of, whole_document

        path = source.path
        images = sections_of(whole_document(source), path).get("images")
        if images is None:
            raise DataError(f"{path}: expected a list 'images', as in Karpathy's splits.")
        names = FieldNames(request.reading.fields.item or _ITEM_FIELDS)
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


def _sentences(image: dict[str, Any]) -> Any:
    """Take the texts out of the sentences; what is none is left for the check of captions."""
    sentences = image.get("sentences")
    if not isinstance(sentences, list):
        return sentences
    return [each.get("raw") if isinstance(each, dict) else each for each in sentences]
