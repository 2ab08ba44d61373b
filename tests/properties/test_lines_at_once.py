"""Files of lines that are read at once give what reading line by line gives."""

from __future__ import annotations

import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from reelscore import read_references
from reelscore.data import source
from reelscore.data.checks import Problems, are_texts
from reelscore.data.formats.text_layouts import Lines, _records
from reelscore.data.reading import Request
from reelscore.data.source import Source

PIECES = [b"a", b"\n", b"\r", b"\r\n", b"\0", b" ", "é".encode(), b"\xff", "\u2028".encode()]
CAPTIONS = ["a man rides", "two dogs, running", "a café at night", "so it is"]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join), st.integers(1, 9))
def test_captions_are_those_of_the_lines(content, block_size):
    content = b"a man rides a horse" + content
    expected, lines = Problems("a.txt"), io.BytesIO(content)
    texts = [*_records(lines, 1, "a.txt", Request("candidates", expected))]
    with patch.object(source, "HEAD_SIZE", block_size), Source("a.txt", content=content) as file:
        problems = Problems("a.txt")
        first, rest = Lines().captions(file, Request("candidates", problems))
        assert are_texts(first)
        assert [(k, k, text) for k, text in enumerate(first, start=1)] + [*rest] == texts
    assert problems.first == expected.first
    assert len(first) == len(texts) or b"\0" in content or expected.count


@given(
    st.lists(st.lists(st.sampled_from(CAPTIONS), min_size=3, max_size=3), min_size=1, max_size=3),
    st.sets(st.integers(0, 2)),
)
def test_references_are_in_the_order_of_the_files(files, with_ids):
    with TemporaryDirectory() as folder:
        paths = [Path(folder, str(number)) for number in range(len(files))]
        for number, (path, texts) in enumerate(zip(paths, files, strict=True)):
            records = [{"id": k, "caption": text} for k, text in enumerate(texts, start=1)]
            rows = [*map(json.dumps, reversed(records))] if number in with_ids else texts
            path.write_text("\n".join(rows), encoding="utf-8")
        references = read_references(paths)
    assert references == {str(k): [texts[k - 1] for texts in files] for k in (1, 2, 3)}
