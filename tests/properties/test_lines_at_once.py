"""Files of lines that are read at once give what reading line by line gives."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from reelscore import read_references
from reelscore.data.checks import Problems, are_texts
from reelscore.data.formats.lines import Lines
from reelscore.data.reading import Request
from reelscore.data.source import Source

PIECES = [b"a", b"\n", b"\r", b"\r\n", b"\0", b" ", "é".encode(), b"\xff", "\u2028".encode()]
CAPTIONS = ["a man rides", "two dogs, running", "a café at night", "so it is"]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
def test_captions_are_those_of_the_lines(content):
    with Source("a.txt", content=b"a man rides a horse" + content) as source:
        at_once = Lines().captions(source, Request("candidates", Problems("a.txt")))
        problems = Problems("a.txt")
        texts = [text for _, _, text in Lines().read(source, Request("candidates", problems))]
    assert at_once == (texts if are_texts(texts) and not problems.count else None)


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
