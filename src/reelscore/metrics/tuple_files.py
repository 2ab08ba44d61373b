"""Files of the tuples of captions, made elsewhere: by the official SPICE tool, or by any other.

JSON lines, perhaps compressed. A line has ``test``, a caption, with ``test_tuples``; or ``refs``,
all captions of an item, with ``ref_tuples``, merged; or both, as the official tool's output beside
its input. A tuple is ``["man", "ride", "horse"]`` or ``{"tuple": ["man", "ride", "horse"]}``; ``/``
separates words of one meaning. Other fields are passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from reelscore.data.json_documents import decode_json_line
from reelscore.data.source import Source
from reelscore.errors import DataError
from reelscore.text.parser.facts import Fact
from reelscore.text.parser.scene_graph import SceneGraph

Texts = tuple[str, str]  # a caption as it was written, and its tokens: the file may have either


class TupleFile:
    """The tuples in a file, by caption and by list of references.

    Args:
        path: The file.

    Raises:
        DataError: If a line cannot be read.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._captions: dict[str, list[Fact]] = {}
        self._references: dict[tuple[str, ...], list[Fact]] = {}
        with Source(path) as source:
            for number, line in source.lines():
                if not line.isspace():
                    self._read(decode_json_line(line, path, number), f"{path}:{number}")

    def of_caption(self, texts: Texts) -> list[Fact]:
        """The tuples of a caption; none of an empty one."""
        for text in texts:
            if text in self._captions:
                return self._captions[text]
        for text in texts:
            if (text,) in self._references:
                return self._references[(text,)]
        if not texts[0].strip():
            return []
        raise DataError(
            f"{self.path}: has no tuples of the caption {texts[0]!r}. Expected a line with it as "
            "'test' and its 'test_tuples', for every caption that is scored."
        )

    def of_references(self, texts: Sequence[Texts]) -> list[Fact]:
        """The tuples of an item's references together, merged here if the file has them apart."""
        for column in (0, 1):
            merged = self._references.get(tuple(each[column] for each in texts))
            if merged is not None:
                return merged
        facts = [fact for each in texts for fact in self.of_caption(each)]
        # words that the file has merged already stand for themselves
        spelled = [fact for each in facts for fact in product(*(part.split("/") for part in each))]
        return SceneGraph(spelled).tuples

    def _read(self, line: Any, place: str) -> None:
        if not isinstance(line, dict) or not ({"test_tuples", "ref_tuples"} & line.keys()):
            raise DataError(
                f"{place}: expected an object with 'test' and 'test_tuples', or with 'refs' and "
                "'ref_tuples'."
            )
        if "test_tuples" in line:
            caption = line.get("test")
            if not isinstance(caption, str):
                raise DataError(f"{place}: 'test' is {caption!r}; expected the caption.")
            self._captions[caption] = _tuples(line["test_tuples"], place)
        if "ref_tuples" in line:
            references = line.get("refs")
            if not isinstance(references, list) or not all(
                isinstance(each, str) for each in references
            ):
                raise DataError(f"{place}: 'refs' is {references!r}; expected a list of captions.")
            self._references[tuple(references)] = _tuples(line["ref_tuples"], place)


def _tuples(values: Any, place: str) -> list[Fact]:
    found: list[Fact] = []
    for value in values if isinstance(values, list) else [values]:
        words = value.get("tuple") if isinstance(value, dict) else value
        if (
            not isinstance(words, list)
            or not 1 <= len(words) <= 3
            or not all(isinstance(word, str) and word for word in words)
        ):
            raise DataError(
                f"{place}: {words!r} is no tuple; expected a list of one to three words, such as "
                '["man", "ride", "horse"].'
            )
        found.append(tuple(words))
    return found
