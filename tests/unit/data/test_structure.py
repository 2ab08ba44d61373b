"""What has structure is not read as plain lines in silence; ordinary captions are."""

from __future__ import annotations

import pytest

from reelscore import score
from reelscore.data import read_candidates, read_references
from reelscore.data.formats import detect_format
from reelscore.data.source import Source
from reelscore.errors import DataError

STRUCTURED = [
    # content, part of the message
    (
        "v1,a man walks\nv2,a dog, barking\n",
        "a table without a header (its lines begin like 'v1,')",
    ),
    ("v1,a man walks\n", "a table without a header"),
    ('"clip 1","a man"\n"clip 2","a dog"\n', "records, but not JSON"),
    ("v1;a man\nv2;a dog\n", "begin like 'v1;'"),
    ("v1|a man\nv2|a dog\n", "begin like 'v1|'"),
    ("v1\ta man\nv2\ta dog\n", "tabs in its lines"),
    ("the clip\ta man\nanother\ta dog\n", "tabs in its lines"),
    ("clipA,a man\nclipB,a dog\nclipC,a cat\n", "begin like 'clipA,'"),
    ("1 a man\n2 a dog\n3 a cat\n", "begin like '1 '"),
    ("v1: a man\nv2: a dog\nv3: a cat\n", "begin like 'v1:'"),
    ("v1,a\nv1,b\nv2,c\nv2,d\n", "begin like 'v1,'"),
    ("shot,caption\na.mp4,a man\n", "whose header names no item id"),
    ("video_id,description\nv1,a man\n", "has no column of captions (video_id, description)"),
    ("caption_1,caption_2\na man,a rider\na dog,a pet\n", "whose header names no item id"),
    ("caption\na man\na dog\n", "a table with the only column 'caption'"),
    ("{'id': 'v1', 'caption': 'a man'}\n{'id': 'v2', 'caption': 'a'}\n", "records, but not JSON"),
    ("('v1', 'a man')\n('v2', 'a dog')\n", "records, but not JSON"),
    ("1\n00:00:01,000 --> 00:00:02,000\na man\n", "subtitles with times"),
    ("<captions>\n<p>a man</p>\n</captions>\n", "markup"),
]


@pytest.mark.parametrize(("content", "message"), STRUCTURED)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_structure_is_refused_and_the_remedy_named(tmp_path, content, message, end):
    path = tmp_path / "run.txt"
    path.write_text(content.replace("\n", end), newline="")
    for read in (read_candidates, read_references):
        with pytest.raises(DataError) as caught:
            read(path)
        assert message in str(caught.value)
        assert "pass format='lines'." in str(caught.value)
    lines = list(read_candidates(path, format="lines").values())
    assert lines == content.splitlines(), "read as lines where the user says so"


PLAIN = [
    ("a man walks, slowly\na dog\n", "commas"),
    ("outdoors, a man walks\noutdoors, a dog runs\nindoors, a cat\n", "repeated first words"),
    ("2 men, 3 dogs\n1 cat, asleep\n10 birds, flying\n", "captions may begin with a number"),
    ("2 men\na dog\n3 cats\n", "numbers in some lines"),
    ("Man: hello there\nWoman: hello\nMan: goodbye\n", "speakers"),
    ("it is 10:30, a man\nthe time: noon\n", "times of day"),
    ("(laughs) a man\n[music] a dog (barks)\n", "brackets"),
    ("one\ntwo\nthree\n", "words"),
    ("7\n8\n9\n", "numbers"),
    ("a\tb\na dog\nc\n", "one tab"),
]


@pytest.mark.parametrize(("content", "why"), PLAIN)
def test_captions_are_read(tmp_path, content, why):
    path = tmp_path / "run.txt"
    path.write_text(content)
    assert list(read_candidates(path).values()) == content.splitlines(), why


@pytest.mark.shared
def test_real_captions_are_plain_lines(shared):
    folder = shared / "trecvid-vtt-ha"
    files = [*folder.glob("*/*/systems/*"), *folder.glob("*/*/references/*")]
    assert len(files) > 100
    for path in files:
        with Source(path) as source:
            assert detect_format(source) == "lines", path


def test_errors_say_how_the_file_was_read(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("id,caption\nv1,a man, walking\n")
    with pytest.raises(DataError, match=r"The file was read as csv\.$"):
        read_candidates(path)
    path.write_text("id,caption\nv1,a man\n")
    other = tmp_path / "refs.json"
    other.write_text('{"v1": 3}')
    with pytest.raises(DataError, match=f"Read as: {path} csv, {other} json."):
        read_references([path, other])


def test_a_table_of_both_sides_alone_is_in_order(tmp_path):
    path = tmp_path / "both.csv"
    path.write_text("caption_predicted,caption_1,caption_2\na man,a rider,someone\na dog,a pet,\n")
    assert read_candidates(path) == {"1": "a man", "2": "a dog"}
    assert read_references(path) == {"1": ["a rider", "someone"], "2": ["a pet"]}
    path.write_text("caption_predicted,caption_1,mult_captions_predicted_1\na man,a rider,a dog\n")
    assert read_candidates(path) == {"1": "a man"}
    assert read_candidates(path, caption_field="mult_captions_predicted") == {"1": "a dog"}
    path.write_text("shot,prediction,reference\nv1,a man,a rider\n")
    with pytest.raises(DataError, match="whose header names no item id"):
        read_candidates(path)
    path.write_text("caption_predicted,caption_1\na man,a rider\na dog,a pet\n")
    references = tmp_path / "refs.json"
    references.write_text('{"v1": ["a rider"], "v2": ["a pet"]}')
    with pytest.raises(DataError, match="are in order, without ids"):
        score(path, references, metrics="rouge_l")


def test_records_in_cells(tmp_path):
    path = tmp_path / "run.tsv"
    path.write_text('v1\t[{"caption": "a man", "conf": 0.4}]\nv2\t[{"caption": "a \\"dog\\""}]\n')
    assert read_candidates(path, header="id,caption") == {"v1": "a man", "v2": 'a "dog"'}
    path.write_text(
        'v1\t[{"caption": "a man"}, {"caption": "a rider"}]\nv2\t[{"caption": "a dog"}]\n'
    )
    assert read_references(path, header="id,caption")["v1"] == ["a man", "a rider"]
    path.write_text("v1\t[{'caption': 'a man'}]\n")
    with pytest.raises(DataError, match="the cell holds a list of captions"):
        read_candidates(path, header="id,caption")
    path.write_text('v1\t[{"caption": "a man"}]\nv2\t[{"conf": 0.4}]\n')
    with pytest.raises(DataError, match=":2: no caption; expected one of"):
        read_candidates(path, header="id,caption")
