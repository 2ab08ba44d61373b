"""Captions as the text of a new file, in the format that its ending names."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import PurePath

from reelscore.data.lint.findings import Captions
from reelscore.errors import DataError

_ENDINGS = (".json", ".jsonl", ".csv", ".tsv", ".txt")


def captions_text(captions: Captions, texts: Sequence[str], path: str) -> str:
    r"""Write captions under the ids they have.

    Args:
        captions: Where the ids are from.
        texts: The captions, in the same order.
        path: The file; its ending names the format.

    Raises:
        DataError: If there is no such format, or it cannot hold what the file held.

    >>> captions_text(Captions(["v1"], ["a  man"]), ["a man"], "new.csv")
    'id,caption\nv1,a man\n'
    """
    ending = PurePath(path).suffix
    if ending not in _ENDINGS:
        raise DataError(f"{path}: expected a file that ends in {', '.join(_ENDINGS)}.")
    if captions.timed:
        raise DataError(f"{captions.name}: timed captions cannot be fixed; fix the file itself.")
    if captions.unusable.count or (
        len(set(captions.items)) < len(captions.items) and not captions.several_each
    ):
        raise DataError(
            f"{captions.name}: has records that cannot be used, or ids that are repeated; a fixed "
            "file would hide that. Correct them first."
        )
    if ending == ".txt":
        return _lines(captions, texts)
    pairs = list(zip(captions.items, texts, strict=True))
    if ending == ".json":
        return json.dumps(_by_item(pairs, captions.several_each), ensure_ascii=False, indent=1)
    if ending == ".jsonl":
        records = ({"id": item, "caption": text} for item, text in pairs)
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    stream = io.StringIO()
    table = csv.writer(stream, delimiter="," if ending == ".csv" else "\t", lineterminator="\n")
    table.writerows([("id", "caption"), *pairs])
    return stream.getvalue()


def _by_item(pairs: list[tuple[str, str]], several_each: bool) -> dict[str, object]:
    if not several_each:
        return dict(pairs)
    lists: dict[str, list[str]] = {}
    for item, text in pairs:
        lists.setdefault(item, []).append(text)
    return dict(lists)


def _lines(captions: Captions, texts: Sequence[str]) -> str:
    if list(captions.items) != [str(number) for number in range(1, len(texts) + 1)]:
        raise DataError(
            f"{captions.name}: plain lines have no ids, but the items are {captions.items[0]!r} "
            "and so on; write .json or .csv."
        )
    return "".join(f"{text}\n" for text in texts)
