"""Every bad record is refused with a message that says where and what."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reelscore.data import read_candidates, read_references
from reelscore.data.formats import FORMATS
from reelscore.errors import DataError

BOTH, CANDIDATES, REFERENCES = (
    (read_candidates, read_references),
    (read_candidates,),
    (read_references,),
)
NUL, LONE = rb"\u0000", rb"\ud800"

BAD = [
    # content, readers, place after the path, part of the message
    (b"", BOTH, ": ", "the file is empty"),
    (b"\xef\xbb\xbf", BOTH, ": ", "the file is empty"),
    (b"{}", BOTH, ": ", "holds no captions"),
    (b"[]", BOTH, ": ", "holds no captions"),
    (b"id,caption\n", BOTH, ": ", "holds no captions"),
    ("a man".encode("utf-16"), BOTH, ": ", "UTF-16"),
    ("a man".encode("utf-16-le"), BOTH, ": ", "UTF-16"),
    ("a man".encode("utf-32"), BOTH, ": ", "UTF-16 or UTF-32"),
    # lines
    (b"a man\na caf\xe9\n", BOTH, ":2: ", "invalid UTF-8: byte 0xe9 at byte 6 of the line"),
    (b"a man\na \0 b\n", BOTH, ":2: ", "holds a NUL character (position 3)"),
    # coco
    (b'[{"image_id": 1,\n "caption": 3 4}]', BOTH, ":2:15: ", "malformed JSON"),
    (b'[{"image_id": 1, "caption": "a"}, {', BOTH, ":1:36: ", "malformed JSON"),
    (b'[{"image_id": 1,\n "caption": "\xff"}]', BOTH, ":2: ", "invalid UTF-8"),
    (b'[{"image_id": 1, "caption": 3}]', BOTH, ": record 1: ", "is a number (3); expected text"),
    (b'[{"image_id": 1, "caption": null}]', BOTH, ": record 1: ", "is null; expected text"),
    (b'[{"image_id": 1, "caption": "' + NUL + b'"}]', BOTH, ": record 1: ", "NUL"),
    (b'[{"image_id": 1, "caption": "' + LONE + b'"}]', BOTH, ": record 1: ", "lone surrogate"),
    (b'[{"image_id": null, "caption": "a"}]', BOTH, ": record 1: ", "the item id is null"),
    (b'[{"image_id": "", "caption": "a"}]', BOTH, ": record 1: ", "the item id is empty"),
    (b'[{"image_id": 1.5, "caption": "a"}]', BOTH, ": record 1: ", "id is a number (1.5)"),
    (b'[{"image_id": true, "caption": "a"}]', BOTH, ": record 1: ", "the item id is true"),
    (b'[{"image_id": [1], "caption": "a"}]', BOTH, ": record 1: ", "the item id is a list"),
    (b'[{"caption": "a"}]', BOTH, ": record 1: ", "no item id; expected one of item"),
    (b'[{"image_id": 1}]', BOTH, ": record 1: ", "no caption; expected one of caption"),
    (b'[{"id": 1, "text": "a"}, {"id": 2}]', BOTH, ": record 2: ", "no field 'text'"),
    (b'[{"id": 1, "text": "a"}, 7]', BOTH, ": record 2: ", "the record is a number (7)"),
    (b'[{"id": 1, "text": "a", "caption": "b"}]', BOTH, ": record 1: ", "several fields"),
    (b'{"images": [], "annotations": 3}', BOTH, ": ", "expected a list of records"),
    (b'{"images": []}', BOTH, ": ", "expected a list of records"),
    (b'[{"id": 1, "text": "a"}, {"id": "1", "text": "b"}]', CANDIDATES, ": record 2: ", "already"),
    # json
    (b'{"v1": "a",\n"v2": }', BOTH, ":2:7: ", "malformed JSON"),
    (b'{"v1": "a"', BOTH, ":1:11: ", "malformed JSON"),
    (b'{"v1": "a"} {', BOTH, ":1:13: ", "malformed JSON"),
    (b'{"v1": "a",\n\n"v2": "\xe9"}', BOTH, ":3: ", "at byte 8 of the line"),
    (b'{"v1": "a", "v2": 3}', BOTH, ": entry 2: ", "of item 'v2' is a number (3)"),
    (b'{"v1": {"score": "a"}}', BOTH, ": entry 1: ", "no caption; expected one of caption"),
    (b'{"v1": [{"caption": 3}]}', BOTH, ": entry 1: ", "of item 'v1' is a number (3)"),
    (b'{"v1": "a", "v1": "a"}', BOTH, ": entry 2: ", "item 'v1' is repeated"),
    (rb'{"v1": "a \" b", "\u0076\u0031": "c"}', BOTH, ": entry 2: ", "'v1' is repeated"),
    (b'{"": "a"}', BOTH, ": entry 1: ", "the item id is empty"),
    (b'{"v1": "' + LONE + b'"}', BOTH, ": entry 1: ", r"lone surrogate ('\ud800', position 1)"),
    (b'{"' + LONE + b'": "a"}', BOTH, ": entry 1: ", "the item id holds a lone surrogate"),
    (b'{"v1": []}', REFERENCES, ": entry 1: ", "item 'v1' has no references; at least one is"),
    (b'{"v1": []}', CANDIDATES, ": entry 1: ", "item 'v1' has no caption; a system gives one"),
    (b'{"v1": ["a", null]}', REFERENCES, ": entry 1: ", "reference 2 of item 'v1' is null"),
    (b'{"v1": ["a", "b"]}', CANDIDATES, ": entry 1: ", "has 2 captions; a system gives one"),
    (b'{"v1": ' + b"[" * 100_000, BOTH, ":1: ", "nested too deeply"),
    (b'{"v1": ' + b"9" * 5000 + b"}", BOTH, ":1: ", "malformed JSON"),
    # jsonl
    (b'{"id": 1, "text": "a"}\n{"id": 2, text}', BOTH, ":2:11: ", "malformed JSON"),
    (b'{"id": 1, "text": "a"}\n{"id": 2, "text": "\xe9"}', BOTH, ":2: ", "byte 20 of the line"),
    (b'{"id": 1, "text": "a"}\n["b"]', BOTH, ":2: ", "the record is a list"),
    (b'{"id": 1, "text": "a"}\n{"id": 2}', BOTH, ":2: ", "no field 'text'"),
    (b'{"id": 1, "text": "a"}\n{"id": "", "text": "b"}', BOTH, ":2: ", "the item id is empty"),
    (b'{"id": 1, "text": "a"}\n{"id": 2, "text": "' + LONE + b'"}', BOTH, ":2: ", "lone surrogate"),
    (b'{"id": 1, "text": "a"}\n{"id": 1, "text": "b"}', CANDIDATES, ":2: ", "'1' has a candidate"),
    (b'{"id": 1, "captions": []}', REFERENCES, ":1: ", "item '1' has no references"),
    # csv and tsv
    (b"id,text\nv1,a\nv2\n", BOTH, ":3: ", "the row has 1 fields, the header 2"),
    (b"id,text\nv1,a, b\n", BOTH, ":2: ", "the row has 3 fields"),
    (b'id,text\nv1,a\nv2,"b\nc\n', BOTH, ":3: ", "quotes"),
    (b'id\ttext\nv1\t"a" b\n', BOTH, ":2: ", "quotes"),
    (b"id,text\nv1,a\rb\n", BOTH, ":2: ", "a carriage return outside quotes"),
    (b'id,text\nv1,"a\n\xe9"\n', BOTH, ":3: ", "byte 0xe9 at byte 1 of the line"),
    (b"id,text\n,a\n", BOTH, ":2: ", "the item id is empty"),
    (b'id,text\nv1,"a\nb"\nv1,c\n', CANDIDATES, ":4: ", "item 'v1' has a candidate already"),
    (b"id,text,sentence\nv1,a,b\n", BOTH, ":1: ", "captions in several fields (text, sentence)"),
    (b"id,caption,caption\nv1,a,b\n", BOTH, ":1: ", "captions in several fields"),
    (b"id,text1,text2\nv1,a,b\n", CANDIDATES, ":2: ", "item 'v1' has 2 captions"),
    (b"id,text1,text2\nv1,,\n", REFERENCES, ":2: ", "item 'v1' has no references"),
]


@pytest.mark.parametrize(("content", "readers", "place", "message"), BAD)
def test_bad_content(tmp_path: Path, content: bytes, readers, place: str, message: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    for read in readers:
        with pytest.raises(DataError) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}{place}")
        assert message in str(caught.value)
        assert len(str(caught.value).splitlines()) == 1


MANY = [
    # content of ten lines whose odd ones are bad, in a format that has lines
    b"".join(b"ok\nb\xe9d\n" for _ in range(10)),
    b"".join(b"ok\nb\0d\n" for _ in range(10)),
    b"".join(b'{"id": %d, "text": "a"}\n{"id": null, "text": "a"}\n' % n for n in range(10)),
    b"".join(b'{"id": %d, "text": "a"}\n{"id": 1x}\n' % n for n in range(10)),
]


@pytest.mark.parametrize("content", MANY)
def test_all_are_counted_and_five_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_references(path)
    lines = str(caught.value).splitlines()
    if b"\xe9" in content:
        assert 'name that: encoding="cp1252"' in lines.pop()
    heading, *named, how = lines
    assert how.strip() in ("The file was read as lines.", "The file was read as jsonl.")
    assert heading == f"{path}: 10 records cannot be used; the first 5:"
    assert [line.split(":")[1] for line in named] == ["2", "4", "6", "8", "10"]


def test_bad_lines_of_a_json_document_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b'{"a": "\xff",\n"b": "ok",\n"c": "\xff"}')
    with pytest.raises(DataError) as caught:
        read_candidates(path)
    assert str(caught.value).splitlines()[0] == f"{path}: 2 records cannot be used:"


def test_problems_of_several_files_are_told_together(tmp_path: Path) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in paths:
        path.write_bytes(b"a man\na \0 b\n")
    with pytest.raises(DataError, match="2 files: 2 records cannot be used") as caught:
        read_references(paths)
    assert all(f"{path}:2: " in str(caught.value) for path in paths)


def test_lines_of_different_length(tmp_path: Path) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    paths[0].write_text("a\nb\nc\n")
    paths[1].write_text("a\nb\n")
    with pytest.raises(DataError) as caught:
        read_references(paths)
    assert f"{paths[0]} has 3, {paths[1]} has 2" in str(caught.value)


def test_no_files() -> None:
    with pytest.raises(DataError, match="No reference files were given"):
        read_references([])


def test_not_a_readable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for read in BOTH:
        with pytest.raises(DataError, match=r"nowhere.json: no such file"):
            read(tmp_path / "nowhere.json")

    with pytest.raises(DataError, match="is a folder; name a file in it"):
        read_candidates(tmp_path)
    with pytest.raises(DataError, match="the folder has no files in it"):
        read_references(tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")  # root, who may run the tests, reads all

    (tmp_path / "secret").write_text("a")
    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(DataError, match="secret: permission denied"):
        read_candidates(tmp_path / "secret")


LAYOUTS = [path.read_bytes() for path in sorted((Path(__file__).parent / "layouts").iterdir())]


@settings(max_examples=600, deadline=None)  # a busy disk is no defect
@given(
    content=st.sampled_from([*(c for c, *_ in BAD if 0 < len(c) < 1000), *LAYOUTS]),
    noise=st.binary(max_size=3),
    place=st.floats(0, 1),
    removed=st.integers(0, 3),
    name=st.sampled_from([None, *FORMATS]),
)
def test_any_content_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory,
    content: bytes,
    noise: bytes,
    place: float,
    removed: int,
    name: str | None,
) -> None:
    begin = int(place * len(content))
    path = tmp_path_factory.getbasetemp() / "mutated"
    path.write_bytes(content[:begin] + noise + content[begin + removed :])
    for read in BOTH:
        with suppress(DataError):
            read(path, format=name)


def test_objects_that_are_not_one_a_line(tmp_path):
    path = tmp_path / "run.jsonl"
    record = '{"id": "v1", "caption": "a man"}'
    for text in (f"{record},\n{record}\n", f"{record}{record}\n"):
        path.write_text(text)
        with pytest.raises(DataError, match="expected one object a line, with nothing behind"):
            read_candidates(path)


def test_quotes_of_a_caption_name_their_remedy(tmp_path):
    path = tmp_path / "run.tsv"
    path.write_text('id\tcaption\nv1\t"no" he says\n')
    with pytest.raises(DataError, match="part of a caption are doubled"):
        read_candidates(path)
    path.write_text('id\tcaption\nv1\t"""no"" he says"\n')
    assert read_candidates(path) == {"v1": '"no" he says'}
