"""Good files of every format, told apart by their content."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from reelscore import errors
from reelscore.data import read_candidates, read_references
from reelscore.data.formats import detect_format
from reelscore.data.source import HEAD_SIZE, Source
from reelscore.errors import DataError, UnknownNameError

COCO = {
    "info": {"year": 2014},
    "images": [{"id": 7, "file_name": "7.jpg"}],
    "annotations": [
        {"image_id": 7, "id": 1, "caption": "a man"},
        {"image_id": 9, "id": 2, "caption": "a dog"},
    ],
}

CANDIDATES = [
    # content, format, expected, why
    (json.dumps(COCO), "coco", {"7": "a man", "9": "a dog"}, "annotations"),
    (json.dumps(COCO, indent=1), "coco", {"7": "a man", "9": "a dog"}, "annotations, indented"),
    ('[{"image_id": 7, "caption": "a man"}]', "coco", {"7": "a man"}, "results"),
    ('[{"video_id": "v7", "text": "a man"}]', "coco", {"v7": "a man"}, "results, other names"),
    (' \n[ {"image_id": 7, "caption": ""} ]\n', "coco", {"7": ""}, "white space, empty caption"),
    ('{"v1": "a man", "v2": "a dog"}', "json", {"v1": "a man", "v2": "a dog"}, "mapping"),
    ('{"v1": ["a man"]}', "json", {"v1": "a man"}, "a list of one caption is a caption"),
    ('{\n "v1": "a man"\n}\n', "json", {"v1": "a man"}, "mapping, indented"),
    ('{"images": "a man"}', "json", {"images": "a man"}, "an item may be named as a section"),
    (r'{"v1": "\u00e9 \ud83d\ude00 \n \"x\" \\"}', "json", {"v1": 'é 😀 \n "x" \\'}, "escapes"),
    ('{"id": "v1", "caption": "a man"}', "jsonl", {"v1": "a man"}, "one line"),
    ('{"id":1,"text":"a"}\n\n{"id":2,"text":"b"}\n', "jsonl", {"1": "a", "2": "b"}, "blank line"),
    ('{"id":1,"text":"a"}\r\n{"id":2,"text":"b"}', "jsonl", {"1": "a", "2": "b"}, "CRLF"),
    ('{"id": 0, "video_id": "v1", "sentence": "a"}', "jsonl", {"v1": "a"}, "id is the last choice"),
    ('{"item": "v1", "caption": ["a man"]}', "jsonl", {"v1": "a man"}, "list of one"),
    ("id,caption\nv1,a man\nv2,a dog\n", "csv", {"v1": "a man", "v2": "a dog"}, "plain table"),
    ("Video_ID , Caption,extra\r\nv1,a man,9\r\n", "csv", {"v1": "a man"}, "CRLF, case, spaces"),
    (
        'id,caption\nv1,"a ""big"" man,\nwalking"\n',
        "csv",
        {"v1": 'a "big" man,\nwalking'},
        "quotes",
    ),
    ("id,caption\n\nv1,\n", "csv", {"v1": ""}, "blank row passed over, empty caption kept"),
    ("caption\tid\na man, a dog\tv1\n", "tsv", {"v1": "a man, a dog"}, "tabs"),
    ("a man, a dog\nid, please\n", "lines", {"1": "a man, a dog", "2": "id, please"}, "no header"),
    ("[music] a man\n{x} b\n", "lines", {"1": "[music] a man", "2": "{x} b"}, "brackets"),
    ("{man} walks", "lines", {"1": "{man} walks"}, "a brace is not JSON"),
    ("[1] a man", "lines", {"1": "[1] a man"}, "a footnote is not JSON"),
    ("a\r\nb\rc\r\n\nd", "lines", {"1": "a", "2": "b\rc", "3": "", "4": "d"}, "CR is no line end"),
    (
        "a\x0bb\x0cc\x85d\u2028e\u2029f\n",
        "lines",
        {"1": "a\x0bb\x0cc\x85d\u2028e\u2029f"},
        "breaks",
    ),
    ("a\r", "lines", {"1": "a\r"}, "a CR at the very end stays"),
    ("\n", "lines", {"1": ""}, "one empty caption"),
    ("id\nv1\n", "lines", {"1": "id", "2": "v1"}, "one column is no table"),
]


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte-order mark"])
@pytest.mark.parametrize(("content", "name", "expected", "why"), CANDIDATES)
def test_candidates(
    tmp_path: Path, content: str, name: str, expected: dict[str, str], why: str, mark: str
) -> None:
    path = tmp_path / "file"
    path.write_text(mark + content, encoding="utf-8", newline="")
    with Source(path) as source:
        assert detect_format(source) == name, why
    assert read_candidates(path) == expected, why
    assert read_candidates(str(path), format=name) == expected, why


REFERENCES = [
    # content, expected, why
    (json.dumps(COCO["annotations"] * 2), {"7": ["a man"] * 2, "9": ["a dog"] * 2}, "repeated ids"),
    ('{"v1": ["a", "b"], "v2": "c"}', {"v1": ["a", "b"], "v2": ["c"]}, "lists and texts"),
    (
        '{"id":1,"references":["a","b"]}\n{"id":1,"references":["c"]}',
        {"1": ["a", "b", "c"]},
        "both",
    ),
    ("id,caption\nv1,a\nv2,b\nv1,c\n", {"v1": ["a", "c"], "v2": ["b"]}, "repeated rows"),
    ("id,caption1,caption2\nv1,a,b\nv2,c,\n", {"v1": ["a", "b"], "v2": ["c"]}, "several columns"),
    ("id\treference_1\treference_2\nv1\ta\tb\n", {"v1": ["a", "b"]}, "several columns"),
    ("a\n\n", {"1": ["a"], "2": [""]}, "empty captions are kept"),
]


@pytest.mark.parametrize(("content", "expected", "why"), REFERENCES)
def test_references(tmp_path: Path, content: str, expected: dict[str, list[str]], why: str) -> None:
    path = tmp_path / "file"
    path.write_text(content, encoding="utf-8")
    assert read_references(path) == expected, why
    twice = {item: texts * 2 for item, texts in expected.items()}
    assert read_references([path, str(path)]) == twice, "several files append"


def test_order_is_that_of_first_appearance(tmp_path: Path) -> None:
    path = tmp_path / "refs.csv"
    path.write_text("id,text\nv9,a\nv1,b\nv9,c\nv5,d\n")
    assert list(read_references(path)) == ["v9", "v1", "v5"]


def test_files_of_several_formats(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text('{"v1": "a"}')
    second.write_text("id,text\nv1,b\nv2,c\n")
    assert read_references([first, second]) == {"v1": ["a", "b"], "v2": ["c"]}


def test_files_longer_than_the_head(tmp_path: Path) -> None:
    captions = [f"caption {number} " + "x" * (number % 300) for number in range(2000)]
    path = tmp_path / "run.txt"
    path.write_text("\n".join(captions))
    assert path.stat().st_size > 2 * HEAD_SIZE
    assert list(read_candidates(path).values()) == captions
    path.write_text("y" * 3 * HEAD_SIZE)
    with pytest.raises(DataError, match="looks like one line of more than 65,536 bytes"):
        read_candidates(path)
    assert read_candidates(path, format="lines") == {"1": "y" * 3 * HEAD_SIZE}
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("id", "caption"), *enumerate(captions)])
    assert list(read_candidates(path).values()) == captions


def test_annotations_far_behind_the_images(tmp_path: Path) -> None:
    path = tmp_path / "coco.json"
    images = [{"id": number, "file_name": "x" * 100} for number in range(2000)]
    path.write_text(json.dumps({"images": images, "annotations": COCO["annotations"]}))
    assert read_candidates(path) == {"7": "a man", "9": "a dog"}


NEITHER = [
    # content, why
    (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary"),
    (b"[1, 2]", "a JSON list of numbers"),
    (b"video_id,description\nv1,a man\n", "a table without a caption column"),
]


@pytest.mark.parametrize(("content", "why"), NEITHER)
def test_content_of_no_format(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(DataError, match="format of the content is unknown") as caught:
        read_candidates(path)
    assert str(path) in str(caught.value), why
    assert "format='lines'" in str(caught.value), "says how to force one"


def test_force_a_format(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text('["a man", "a dog"]\n')
    assert read_candidates(path, format="lines") == {"1": '["a man", "a dog"]'}
    with pytest.raises(UnknownNameError, match=r"Unknown format 'line'\. Did you mean 'lines'"):
        read_candidates(path, format="line")


def test_pipes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = "".join(f'{{"id": {number}, "text": "a"}}\n' for number in range(10_000))
    writer = threading.Thread(target=lambda: pipe.write_text(content))
    writer.start()
    assert len(read_candidates(pipe)) == 10_000
    writer.join()


IMPORT_ALONE = """
import sys, types
package = types.ModuleType("reelscore")  # stands in for the package, whose metrics load more
package.__path__ = [sys.argv[1]]
sys.modules["reelscore"] = package
import reelscore.data
print({"msgspec", "json", "csv", "gzip", "lzma", "zstandard", "tempfile"} & {*sys.modules})
"""


def test_import_is_light() -> None:
    package = str(Path(errors.__file__).parent)
    command = [sys.executable, "-c", IMPORT_ALONE, package]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
