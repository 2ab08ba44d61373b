"""Captions written as shards, and what is in the folder of their scores."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq


def candidate_rows(systems):
    return [
        {"system": system, "item": item, "caption": caption}
        for system, captions in systems.items()
        for item, caption in captions.items()
    ]


def reference_rows(references):
    return [{"item": item, "caption": text} for item, texts in references.items() for text in texts]


def write_shards(folder, rows, count=3, kind="parquet"):
    """Write rows into files of a folder, in their order."""
    folder.mkdir(parents=True, exist_ok=True)
    size = -(-len(rows) // count)
    for number in range(count):
        own = rows[number * size : (number + 1) * size]
        path = folder / f"{number:02d}.{kind}"
        if kind == "parquet":
            pq.write_table(pa.Table.from_pylist(own), path)
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in own))
    return folder


def item_scores(out):
    """The scores of all items, by system and item."""
    rows = pq.read_table(out / "items").to_pylist()
    return {(row.pop("system"), row.pop("item")): row for row in rows}
