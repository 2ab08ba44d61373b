"""What strangers upload: attacks are refused with a short report, habits are passed over."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import stat
import struct
import warnings
import zipfile

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelscore.challenges.uploads import archives as upload_files
from reelscore.challenges.uploads import uploads
from reelscore.challenges.uploads.uploads import Expected, ItemList, Readers

GOOD = {"v1": "a man runs", "v2": "a dog barks"}
TWO = Expected("captions", [ItemList("test", ["v1", "v2"])])
SPLITS = Expected("captions", [ItemList("one", ["v1"]), ItemList("two", ["v2"])])
TIMED = Expected("stories", [ItemList("test", ["v_a", "v_b"], {"v_a": 10.0})], missing="zero")


@pytest.fixture(autouse=True)
def small_limit(monkeypatch):
    """One megabyte instead of 64, so that bombs are quickly made."""
    assert upload_files.LARGEST == 64 << 20
    monkeypatch.setattr(upload_files, "LARGEST", 1 << 20)


def read(content, expected=TWO, name="run.json"):
    """Read in this process; give the captions, or the report."""
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    return uploads.answer({"name": name, "content": content, **msgspec.to_builtins(expected)})


def refused(content, expected=TWO, name="run.json"):
    """Read what must be refused; give all that the report says."""
    report = read(content, expected, name)
    assert "captions" not in report
    assert len(json.dumps(report)) < 8000
    return " ".join([report["message"], *report["problems"]])


def gzipped(content):
    return gzip.compress(content, mtime=0)  # the same bytes in every process that collects tests


def zipped(*members, **more):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, **more) as archive:
        for name, content in members:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of names that come twice
                archive.writestr(name, content)
    return out.getvalue()


def text(captions=None):
    return json.dumps(captions or GOOD).encode()


# Habits


@pytest.mark.parametrize(
    "content",
    [
        text(),
        gzipped(text()),
        gzipped(text()[:9]) + gzipped(text()[9:]),
        lzma.compress(text()),
        zipped(("captions.json", text())),
        zipped(("run/captions.json", text()), ("run/", b"")),
        zipped(("a/captions.json", text()), ("__MACOSX/a/._captions.json", b"\0\5\26\7")),
        zipped((".DS_Store", b"x"), ("metadata", b"y"), ("ReadMe.txt", b"z"), ("c.json", text())),
        zipped(("v1.json", text({"v1": "a man runs"})), ("v2.json", text({"v2": "a dog barks"}))),
        zipped(("captions.json.gz", gzipped(text()))),
        text([{"image_id": k, "caption": c} for k, c in GOOD.items()]),
        text([{"video_id": k, "caption": c, "score": 9e9} for k, c in GOOD.items()]),
        b"item,caption\nv2,a dog barks\nv1,a man runs\n",
    ],
)  # fmt: skip
def test_what_people_send(content):
    assert json.loads(read(content)["captions"]) == {"test": ["a man runs", "a dog barks"]}


def test_what_is_passed_over_is_said():
    content = zipped(("c.json", text()), ("__MACOSX/._c.json", b"x"))
    assert read(content, name="a.zip")["notes"] == ["Passed over in a.zip: __MACOSX/._c.json."]


def test_a_file_of_other_captions_is_said_to_be_one():
    assert "is it the right file" in read(b'{"video9": "a man", "video10": "a dog"}')["notes"][0]
    assert "is it the right file" in read(b"these are\nno captions\n")["notes"][0]
    assert read(b'{"v1": "a man", "v99": "a dog"}')["notes"] == []


def test_two_files_for_two_splits():
    content = zipped(("one.json", text({"v1": "a man"})), ("two.json", text({"v2": "a dog"})))
    assert json.loads(read(content, SPLITS)["captions"]) == {"one": ["a man"], "two": ["a dog"]}


# Ids and captions


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"v1": "a man"}', "1 item has no caption (first: 'v2')"),
        (b"item,caption\nv1,a man\nv3,a cat\nv2,a dog\n", "run.json:3: item 'v3' is not in the"),
        (b"item,caption\nv1,a man\nv2,a dog\nv1,a cat\n", "has a caption already, at run.json:2"),
        (b"item,caption\nv1,a man\nv2,\n", "run.json:3: item 'v2': the caption is empty"),
        (b"item,caption\nv1,a man\nv2,...\n", "run.json:3: item 'v2': the caption is empty"),
        (text({**GOOD, "v2": "x" * 2001}), "the caption has 2,001 characters; at most 2,000"),
        (b'{"v1": null, "v2": 7}', "null; expected text"),
        (b'{"v1": "a\\u0000b", "v2": "a"}', "holds a NUL character"),
        (b'{"v1": "\\ud800", "v2": "a"}', "lone surrogate"),
        (b'{"v1": "a", "v2": "\xff"}', "invalid UTF-8"),
        (b"", "the file is empty"),
        (b"{}", "holds no captions"),
        (b'{"v1": "a"', "malformed JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"v1": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"v1": ' + b"9" * 1_000_000 + b"}", "run.json"),
        (b'{"v1": NaN, "v2": Infinity}', "run.json"),
        (b"PAR1" + b"x" * 100, "is Parquet"),
        (b"Rar!" + b"x" * 100, "an archive of another kind"),
        (b"x" * 257 + b"ustar", "an archive of another kind"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "run.json"),
        (b"%PDF-1.4 \n1 0 obj", "run.json"),
    ],
    ids=lambda value: repr(value)[:30],
)  # fmt: skip
def test_what_cannot_be_scored(content, said):
    assert said in refused(content)


RECORDS = [{"image_id": item, "caption": caption} for item, caption in (*GOOD.items(), ("v3", "a"))]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (json.dumps({**GOOD, "v3": "a"}, indent=1), "run.json:4: item 'v3' is not in the test set"),
        (json.dumps(RECORDS, indent=1), "run.json:10: item 'v3' is not in"),
        (json.dumps({"info": {}, "annotations": RECORDS}, indent=1), "run.json:12: item 'v3'"),
        ("".join(f"{json.dumps(each)}\n" for each in RECORDS), "run.json:3: item 'v3' is not in"),
        ('{\n"v1": "a",\n\n"v2": "b", "v1": "c"}', "run.json:4: item 'v1' is repeated"),
        ('[\n{"id": "v1", "caption": "a"},\n{"id": "v1", "caption": "b"},\n'
         '{"id": "v2", "caption": "b"}]', "has a caption already, at run.json:2"),
        (json.dumps({**GOOD, "v3": "a"}), "run.json: entry 3: item 'v3' is not in"),  # one line
    ],
)  # fmt: skip
def test_problems_name_their_line(content, said):
    assert said in refused(content.encode())


def test_problems_of_stories_name_the_line_of_the_video():
    row = [{"timestamp": [0, 50], "sentence": "a man"}]
    for whole, lines in (
        ({"results": {"v_a": row, "x": row}}, (3, 12)),
        ({"v_a": row, "x": row}, (2, 11)),
    ):
        problems = read(json.dumps(whole, indent=1).encode(), TIMED)["problems"]
        assert problems[0].startswith(
            f"run.json:{lines[0]}: video 'v_a', caption 1: ends at 50.00 s"
        )
        assert problems[1] == f"run.json:{lines[1]}: video 'x' is not in the test set."


def test_many_bad_ids_make_a_short_report():
    lines = b"".join(b'{"id": "u%d", "caption": "a"}\n' % k for k in range(20_000))
    report = read(lines)
    assert report["count"] == 20_001
    assert len(report["problems"]) == 5
    assert len(json.dumps(report)) < 8000


def test_long_and_wild_names_are_cut_and_spelled():
    said = refused({"\x1b[2J" + "x" * 10_000: "a", **GOOD})
    assert "\x1b" not in said
    assert len(said) < 1000


def test_too_many_records(monkeypatch):
    monkeypatch.setattr(uploads, "RECORDS", 3)
    assert "more than 3 records" in refused(b"item,caption\nv1,a\nv2,b\nv3,c\n")


# Archives


def member(name, **fields):
    info = zipfile.ZipInfo(name)
    for key, value in fields.items():
        setattr(info, key, value)
    return info


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (zipped(("a.json", b" " * (3 << 20))), "more than 1 MB once it is unpacked"),
        (zipped(*((f"{k}.json", b" " * (1 << 18)) for k in range(8))), "more than 1 MB"),
        (gzipped(b" " * (3 << 20)), "more than 1 MB"),
        (lzma.compress(b" " * (3 << 20), preset=0), "more than 1 MB"),
        (zipped(("a.zip", zipped(("b.json", text())))), "an archive inside an archive"),
        (gzipped(gzipped(text())), "packed twice"),
        (gzipped(zipped(("b.json", text()))), "packed twice"),
        (zipped(*((f"{k}.json", b"{}") for k in range(101))), "101 members; at most 100"),
        (zipped((member("a.json", external_attr=(stat.S_IFLNK | 0o777) << 16), b"/etc/passwd")),
         "a.json: is a link"),
        (zipped(("a.json", text()), ("a.json", text())), "in the zip twice"),
        (zipped(("a.json", text()), ("b.json", text())), "has a caption already, at"),
        (zipped(("readme.txt", b"x")), "holds no caption file"),
        (zipped(("a.json", text()))[:60], "damaged or truncated"),
        (gzipped(text())[:-9], "damaged or truncated"),
        (lzma.compress(text())[:-9], "damaged or truncated"),
        (b"\x1f\x8b" + b"nonsense" * 9, "damaged or truncated"),
        (b"\x28\xb5\x2f\xfd" + b"nonsense" * 9, "damaged or truncated"),
        (b"PK\x03\x04" + b"nonsense" * 9, "damaged or truncated"),
        (b"PK\x05\x06" + bytes(18), "holds no caption file"),
    ],
    ids=lambda value: repr(value)[:24],
)  # fmt: skip
def test_archives_that_are_refused(content, said):
    assert said in refused(content)


def test_names_are_never_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = zipped(("../../evil.json", text({"v1": "a"})), ("/etc/c.json", text({"v2": "b"})))
    assert "captions" in read(content)
    assert list(tmp_path.iterdir()) == []


def test_encrypted_members_are_refused():
    content = bytearray(zipped(("a.json", text())))
    for magic, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(magic) + place] |= 1
    assert "a.json: is encrypted" in refused(bytes(content))


def test_what_a_zip_says_of_sizes_is_not_believed():
    content = bytearray(zipped(("a.json", b" " * (3 << 20))))
    for magic, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", content, content.index(magic) + place, 10)
    said = refused(bytes(content))
    assert "more than 1 MB" in said or "damaged or lies" in said


def test_zstandard_windows_are_limited():
    zstandard = pytest.importorskip("zstandard")
    parameters = zstandard.ZstdCompressionParameters(window_log=30)
    packed = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    assert "damaged" in refused(packed.compress(text()) + packed.flush())
    bomb = zstandard.ZstdCompressor().compress(b" " * (3 << 20))
    assert "more than 1 MB" in refused(bomb)
    assert "captions" in read(zstandard.ZstdCompressor().compress(text()))


# Stories


def story(*captions, video="v_a"):
    return {"results": {video: [{"sentence": s, "timestamp": t} for t, s in captions]}}


def test_stories_are_read():
    kept = json.loads(read(story(([0, 4], "a man")), TIMED)["captions"])
    assert kept == {"test": {"v_a": [[0.0, 4.0, "a man"]]}}
    assert "captions" in read(story(([0, 4], "a man"), video="a"), TIMED)  # without its v_
    # BMT's times are single-precision numbers: 10 s may be 10.0000015 s
    assert "captions" in read(story(([0, 10.1], "a man")), TIMED)
    assert "ends at 10.11 s" in refused(story(([0, 10.11], "a man")), TIMED)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (story(([0, 12], "a man")), "caption 1: ends at 12.00 s, the video at 10.00 s"),
        (story(([9, 4], "a man")), "ends (4.0) before it starts (9.0)"),
        (story(([-1, 4], "a man")), "is negative"),
        (b'{"v_a": [{"sentence": "a", "timestamp": [0, NaN]}]}', "finite numbers"),
        (b'{"v_a": [{"sentence": "a", "timestamp": [0, Infinity]}]}', "finite numbers"),
        (story(([0, 4], "")), "the sentence is empty"),
        (story(([0, 4], "a"), video="v_c"), "video 'v_c' is not in the test set"),
        (story(*[([0, 4], "a")] * 1001), "has 1,001 captions; at most 1,000"),
        (story(([0, 4], "x" * 2001)), "has 2,001 characters"),
    ],
)
def test_stories_that_are_refused(content, said):
    assert said in refused(content, TIMED)


# Limits of the process, and anything at all


def test_a_reader_that_takes_too_long_or_too_much():
    readers = Readers(1, seconds=30, memory=1 << 20)
    try:
        assert "GB of memory" in readers.read("run.json", text(), TWO).message
        readers._limits = (0.0, 1 << 40)
        assert "more than 0 seconds" in readers.read("run.json", text(), TWO).message
        readers._limits = (60.0, 1 << 40)
        assert json.loads(readers.read("run.json", text(), TWO).captions)["test"][0] == "a man runs"
    finally:
        readers.close()


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader(content):
    for expected in (TWO, TIMED):
        answer = read(content, expected)
        assert set(answer) in ({"message", "problems", "count", "notes"}, {"captions", "notes"})


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["v1", "v_a", "caption", "timestamp", "results"]), inner)
    ),
    max_leaves=8,
)


@given(json_values, st.sampled_from(["plain", "zip", "gzip"]))
def test_no_json_breaks_the_reader(value, packing):
    content = json.dumps(value).encode()
    if packing == "zip":
        content = zipped(("a.json", content))
    if packing == "gzip":
        content = gzipped(content)
    for expected in (TWO, TIMED):
        assert (
            len(json.dumps({k: v for k, v in read(content, expected).items() if k != "captions"}))
            < 8000
        )


def test_the_budget_is_for_all_members_together():
    left = (1 << 19) + 1
    content = zipped(("a.json", b" " * left), ("b.json", b" " * left))
    assert "more than 1 MB" in refused(content)
