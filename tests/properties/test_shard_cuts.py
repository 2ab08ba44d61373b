"""Any captions, in shards of any number, format and order, score as in memory, in every bit."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reelscore
from reelscore.engines import Engine
from reelscore.scoring.shards import partitions
from reelscore.scoring.shards.pipeline import score_files
from support.shards import candidate_rows, item_scores

METRICS = "bleu,meteor,rouge_l,cider"
IDS = st.one_of(
    st.integers(0, 50).map(str),
    st.sampled_from(["v1", "V1", "Straße", "a b", "日本", "😀", "x" * 300]),
)
WORDS = ["a", "man", "The", "dogs", "run,", "café", "12", "isn't", "狗", "😀"]
CAPTIONS = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1).map(" ".join),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30),
)
FORMATS = st.sampled_from(["parquet", "large", "dictionary", "jsonl", "blank lines", "jsonl.gz"])


@st.composite
def sets(draw):
    """Systems with their captions, and the references of all items."""
    items = draw(st.lists(IDS, min_size=1, max_size=6, unique=True))
    references = {item: draw(st.lists(CAPTIONS, min_size=1, max_size=3)) for item in items}
    names = draw(st.lists(st.sampled_from(["ours", "naïve", "3"]), min_size=1, unique=True))
    return {name: {item: draw(CAPTIONS) for item in items} for name in names}, references


def write(path, rows, kind):
    """Write one shard."""
    if "parquet" not in kind and kind not in ("large", "dictionary"):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        lines = "\n" + lines.replace("\n", "\n \n") if kind == "blank lines" else lines
        path.write_bytes(gzip.compress(lines.encode()) if kind == "jsonl.gz" else lines.encode())
        return
    table = pa.Table.from_pylist(rows)
    if kind == "large":
        captions = table.column("caption")
        if not pa.types.is_list(captions.type):
            table = table.set_column(
                table.column_names.index("caption"), "caption", captions.cast(pa.large_string())
            )
    elif kind == "dictionary":
        table = table.set_column(
            table.column_names.index("item"), "item", table.column("item").dictionary_encode()
        )
    pq.write_table(table, path, row_group_size=2)


def cut(data, folder, rows):
    """Write rows as shards of their own formats, cut anywhere; references keep their order."""
    folder.mkdir()
    places = data.draw(st.lists(st.integers(0, len(rows)), max_size=3))
    places = sorted({0, len(rows), *places})
    for number, (begin, end) in enumerate(pairwise(places)):
        write(folder / f"{number}", rows[begin:end], data.draw(FORMATS))
    return [folder]


@given(captions=sets(), data=st.data())
def test_scores_are_those_of_memory(captions, data):
    systems, references = captions
    in_memory = reelscore.score_systems(*captions, METRICS, empty="zero")
    rows = data.draw(st.permutations(candidate_rows(systems)))
    if data.draw(st.booleans()):
        truth = [{"item": item, "caption": texts} for item, texts in references.items()]
    else:
        truth = [
            {"item": item, "caption": text} for item, texts in references.items() for text in texts
        ]
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitions, "_ROWS", data.draw(st.integers(1, 20)))
        folder = Path(name)
        table = score_files(
            cut(data, folder / "captions", rows),
            cut(data, folder / "references", truth),
            METRICS,
            empty="zero",
            engine=Engine("threads", workers=data.draw(st.integers(1, 3))),
            out=folder / "out",
        )
        scores = item_scores(folder / "out")
    assert sorted(table.systems) == sorted(systems)
    for system, row in in_memory.results.items():
        for metric, result in row.items():
            assert table[system][metric].score == result.score, (system, metric)
            assert {i: scores[system, i][metric] for i in references} == result.items.to_dict()
    assert len(scores) == len(systems) * len(references)
