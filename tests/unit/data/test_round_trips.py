"""Captions written in a format and read back are the same, however nasty their characters."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from reelscore.data import read_candidates, read_references
from reelscore.data.json_documents import sections_in

NASTY = st.sampled_from("\r\x0b\x0c\x1c\x1e\x85\u2028\u2029\"',\t;\\{}[]:😀אب\u200f\ufeff\u0301 ")
CHARACTERS = st.one_of(NASTY, st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
CAPTIONS = st.text(CHARACTERS, max_size=20)
IDS = CAPTIONS.filter(lambda text: bool(text.strip()))
Many = dict[str, list[str]]


def as_json(many: Many, ascii_only: bool) -> str:
    return json.dumps(many, ensure_ascii=ascii_only)


def as_coco(many: Many, ascii_only: bool) -> str:
    records = [{"image_id": i, "caption": text} for i, texts in many.items() for text in texts]
    return json.dumps({"annotations": records}, ensure_ascii=ascii_only)


def as_jsonl(many: Many, ascii_only: bool) -> str:
    records = [{"video_id": item, "caption": texts} for item, texts in many.items()]
    return "".join(json.dumps(record, ensure_ascii=ascii_only) + "\n" for record in records)


def as_table(delimiter: str) -> Callable[[Many, bool], str]:
    def write(many: Many, quote_all: bool) -> str:
        out = io.StringIO(newline="")
        style = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
        rows = csv.writer(out, delimiter=delimiter, quoting=style)
        rows.writerow(["id", "caption"])
        rows.writerows((item, text) for item, texts in many.items() for text in texts)
        return out.getvalue()

    return write


WRITERS = {
    "json": as_json,
    "coco": as_coco,
    "jsonl": as_jsonl,
    "csv": as_table(","),
    "tsv": as_table("\t"),
}
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": gzip.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file for all the examples of a run."""
    return tmp_path_factory.mktemp("round_trips") / "file"


@pytest.mark.parametrize("name", WRITERS)
@settings(deadline=None)  # a busy disk is no defect
@given(
    many=st.dictionaries(IDS, st.lists(CAPTIONS, min_size=1, max_size=3), min_size=1, max_size=5),
    style=st.booleans(),
    compression=st.sampled_from(list(COMPRESS)),
)
def test_keyed_formats(path: Path, name: str, many: Many, style: bool, compression: str) -> None:
    path.write_bytes(COMPRESS[compression](WRITERS[name](many, style).encode()))
    assert read_references(path, format=name) == many
    sections = {"annotations", "images", "info", "licenses", "type"} & {*many}
    if name != "json" or not (sections or sections_in(many)):
        assert read_references(path) == many
    one_each = {item: texts[0] for item, texts in many.items()}
    path.write_text(WRITERS[name]({i: [text] for i, text in one_each.items()}, style), newline="")
    assert read_candidates(path, format=name) == one_each


@settings(deadline=None)
@given(
    captions=st.lists(CAPTIONS.filter(lambda text: not {"\n"} & {*text}), min_size=1),
    end=st.sampled_from(["\n", "\r\n"]),
    compression=st.sampled_from(list(COMPRESS)),
    final=st.booleans(),
)
def test_lines(path: Path, captions: list[str], end: str, compression: str, final: bool) -> None:
    if captions[0].startswith("\ufeff"):
        captions[0] = "x" + captions[0]
    if end == "\n":
        captions = [text.rstrip("\r") for text in captions]
    content = end.join(captions) + (end if final or not captions[-1] else "")
    path.write_bytes(COMPRESS[compression](content.encode()))
    assert list(read_candidates(path, format="lines").values()) == captions
