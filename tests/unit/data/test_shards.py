"""Shards: any number of files, formats by content, and bad records by file, row and item."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import re
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import reelscore
from reelscore import DataError
from reelscore.data.captions.inputs import read_inputs
from reelscore.data.captions.shard_blocks import blocks_of
from reelscore.data.captions.shards import BadRows, shards_of
from reelscore.data.reading import Reading
from reelscore.errors import MissingExtraError, ReelscoreError
from reelscore.scoring.shards.pipeline import score_files, score_shards
from support.shards import reference_rows, write_shards

REFERENCES = {"v1": ["a man runs", "he runs"], "v2": ["a dog"], "7": ["a cat sleeps"]}


def scored(*captions, **options):
    """Score in blocks where an option is of that, and in memory otherwise."""
    in_blocks = {"out", "bad_rows"} & options.keys()
    return (reelscore.score_shards if in_blocks else reelscore.score_systems)(*captions, **options)


def rows_of(paths, role="references"):
    return [
        (row["item"], row["caption"])
        for shard in shards_of(paths, role)
        for block in blocks_of(shard, BadRows())
        for row in block.to_pylist()
    ]


@pytest.fixture
def truth(tmp_path):
    return write_shards(tmp_path / "references", reference_rows(REFERENCES), 2)


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_folders_patterns_and_files_in_order(tmp_path, kind):
    folder = write_shards(tmp_path / "shards", reference_rows(REFERENCES), 2, kind)
    (folder / "_SUCCESS").touch()  # as Spark leaves it beside its shards
    expected = [("v1", "a man runs"), ("v1", "he runs"), ("v2", "a dog"), ("7", "a cat sleeps")]
    for paths in ([folder], [folder / f"*.{kind}"], sorted(folder.glob("0*"))):
        assert rows_of(paths) == expected


@pytest.mark.parametrize(
    ("item", "caption"),
    [
        (pa.array([1, 2, 3]), pa.array(["a", "b", "c"])),
        (
            pa.array(["1", "2", "3"]).dictionary_encode(),
            pa.array(["a", "b", "c"], pa.large_string()),
        ),
        (pa.array(["1", "2", "3"], pa.string_view()), pa.array([["a"], ["b"], ["c"]])),
        (pa.array([b"1", b"2", b"3"]), pa.array([b"a", b"b", b"c"], pa.large_binary())),
        (
            pa.array([b"1", b"2", b"3"], pa.binary(1)),
            pa.array([["a"], ["b"], ["c"]], pa.list_view(pa.string())),
        ),
        (
            pa.array([b"1", b"2", b"3"], pa.binary_view()),
            pa.array([["a"], ["b"], ["c"]], pa.large_list_view(pa.string())),
        ),
    ],
)
def test_columns_of_other_types(tmp_path, item, caption):
    pq.write_table(pa.table({"video_id": item, "text": caption}), tmp_path / "one.parquet")
    assert rows_of([tmp_path]) == [("1", "a"), ("2", "b"), ("3", "c")]
    assert reelscore.read_candidates(tmp_path / "one.parquet") == {"1": "a", "2": "b", "3": "c"}


@pytest.mark.parametrize("options", [{}, {"out": "out"}])
@pytest.mark.parametrize("numbers", [[1, 2, 3], [[1], [2], [3]]])
def test_numbers_are_no_captions(tmp_path, truth, monkeypatch, numbers, options):
    monkeypatch.chdir(tmp_path)
    table = pa.table({"system": ["one"] * 3, "item": ["v1", "v2", "7"], "caption": numbers})
    pq.write_table(table, "one.parquet")
    with pytest.raises(DataError, match=r"one\.parquet: row 1: .* is a number \(1\); expected"):
        scored("one.parquet", truth, "bleu", **options)


@pytest.mark.parametrize("options", [{}, {"out": "out"}])
@pytest.mark.parametrize("names", [("item", "item"), ("item", "caption"), ("system", "item")])
def test_columns_of_the_same_name_are_refused(tmp_path, truth, monkeypatch, names, options):
    monkeypatch.chdir(tmp_path)
    columns = [["v1", "v2", "7"], ["a man", "a dog", "a cat"], ["x", "y", "z"], ["x", "y", "z"]]
    pq.write_table(pa.table(columns, names=["item", "caption", *names]), "one.parquet")
    with pytest.raises(DataError, match=r"one\.parquet: [23] columns have the name '\w+'; rename"):
        scored({"one": "one.parquet"}, truth, "bleu", **options)


@pytest.mark.parametrize("options", [{}, {"out": "out"}])
def test_files_whose_names_begin_with_an_underscore_are_read(tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    for name in ("_one", "two"):
        row = {"system": name, "item": "v1", "caption": "a man"}
        Path(f"{name}.jsonl").write_text(json.dumps(row) + "\n")
        Path(f"{name}.refs.jsonl").write_text(json.dumps({"item": "v1", "caption": name}) + "\n")
    references = ["_one.refs.jsonl", "two.refs.jsonl"]
    table = scored(["_one.jsonl", "two.jsonl"], references, "bleu", **options)
    assert list(table.results) == ["_one", "two"]
    assert "|refs:2|" in table["two"]["bleu_1"].signature


def test_a_shard_that_is_gone_when_it_is_read(tmp_path):
    folder = write_shards(tmp_path / "shards", reference_rows(REFERENCES), 1)
    [shard] = shards_of([folder], "references")
    (folder / "00.parquet").unlink()
    with pytest.raises(DataError, match=r"00\.parquet: no such file"):
        list(blocks_of(shard, BadRows()))


def test_a_list_of_references_in_each_row(tmp_path):
    rows = [{"item": item, "caption": texts} for item, texts in REFERENCES.items()]
    write_shards(tmp_path / "lists", rows, 1)
    write_shards(tmp_path / "lines", rows, 1, "jsonl")
    assert rows_of([tmp_path / "lists"]) == rows_of([tmp_path / "lines"])
    assert rows_of([tmp_path / "lists"])[:2] == [("v1", "a man runs"), ("v1", "he runs")]


def test_lists_of_one_length(tmp_path):
    """As data sets have them that were made with a number of references for each item."""
    texts = [["a man runs", "he runs"], None, ["a dog", "the dog"]]
    table = {"item": ["v1", "v2", "v3"], "caption": pa.array(texts, pa.list_(pa.string(), 2))}
    pq.write_table(pa.table(table), tmp_path / "refs.parquet")
    pq.write_table(pa.table(table).take([2, 0]), tmp_path / "good.parquet")
    expected = [("v3", "a dog"), ("v3", "the dog"), ("v1", "a man runs"), ("v1", "he runs")]
    assert rows_of([tmp_path / "good.parquet"]) == expected
    with pytest.raises(DataError, match="row 2: the caption of item 'v2' is null"):
        rows_of([tmp_path / "refs.parquet"])


GOOD = {"system": "ours", "item": "v1", "caption": "a man"}


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"caption": None}, "row 3: the caption of item 'v2' is null; expected text"),
        ({"caption": "a\0b"}, "row 3: the caption of item 'v2' holds a NUL character"),
        ({"caption": "..."}, "row 3: item 'v2': the caption '...' has no words"),
        ({"caption": "  "}, "row 3: item 'v2': the caption is empty"),
        ({"item": None}, "row 3: the item id is null"),
        ({"item": " "}, "row 3: the item id is empty"),
        ({"system": None}, "row 3: item 'v2': the system is null"),
        ({"item": "v1"}, "row 3: item 'v1': system 'ours' has a caption of the item already"),
        ({"item": "v9"}, "row 3: item 'v9': the item has no references"),
    ],
)
def test_a_bad_record_is_one_error_with_its_place(tmp_path, truth, kind, bad, reason):
    seven = {**GOOD, "item": "7"}
    rows = [seven, GOOD, {**GOOD, "item": "v2", **bad}]
    folder = write_shards(tmp_path / "captions", rows, 1, kind)
    with pytest.raises(DataError) as refused:
        scored(folder, truth, "rouge_l", out=tmp_path / "out")
    assert f"{folder / f'00.{kind}'}: {reason}" in str(refused.value)
    assert "bad_rows='FILE'" in str(refused.value)
    # the same record collected: the rest is scored, and the item without a caption is named
    with_bad = tmp_path / "bad.jsonl"
    table = scored(folder, truth, "rouge_l", out=tmp_path / "other", bad_rows=with_bad)
    listed = [json.loads(line) for line in with_bad.read_text().splitlines()]
    assert (listed[0]["file"], listed[0]["row"]) == (str(folder / f"00.{kind}"), 3)
    assert listed[0]["reason"].startswith(re.sub(r"^row 3: (item '\w+': )?", "", reason))
    assert listed[1]["item"] == "v2"
    assert listed[1]["reason"] == "system 'ours' has no caption of the item"
    assert "2 records were left out: see the file of bad rows." in table.notes
    assert "|items:2|" in table["ours"]["rouge_l"].signature
    assert "|missing:skip|" in table["ours"]["rouge_l"].signature


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{oops", "row 3: malformed JSON"),
        (
            b'{"system": "ours", "item": "v2", "caption": "caf\xe9"}',
            "row 3: invalid UTF-8: byte 0xe9",
        ),
        (b'{"system": "ours", "item": "v2", "caption": "\\ud800"}', "row 3: .* lone surrogate"),
        (b'"v2"', "row 3: not an object"),
    ],
)
def test_a_line_that_is_no_record(tmp_path, truth, line, reason):
    path = tmp_path / "captions.jsonl"
    path.write_bytes(json.dumps(GOOD).encode() + b"\n\n" + line + b"\n")
    with pytest.raises(DataError, match=rf"captions.jsonl: {reason}"):
        scored(path, truth, "rouge_l", out=tmp_path / "out")


def test_lines_that_are_read_one_by_one_make_the_same_block(tmp_path):
    records = [json.dumps({"item": k, "caption": f"man {k}"}) for k in range(4)]
    nan = '{"item": "v", "caption": ["a dog", "two"], "loss": NaN}'  # as Python writes it
    path = tmp_path / "references.jsonl"
    path.write_text("\n".join([*records, "", nan]) + "\n")
    [shard] = shards_of([path], "references")
    [block] = blocks_of(shard, BadRows())
    assert block.column("item").to_pylist() == ["0", "1", "2", "3", "v", "v"]
    assert block.column("place").to_pylist() == [1, 2, 3, 4, 6, 6]


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_one_part_of_a_data_set(tmp_path, kind):
    rows = [
        {"item": f"{part}{k}", "caption": f"a {part} runs {k}", "split": part}
        for part in ("train", "test")
        for k in range(3)
    ]
    truth = write_shards(tmp_path / "references", rows, 2, kind)
    own = [{"item": f"test{k}", "caption": "a test"} for k in range(3)]
    captions = write_shards(tmp_path / "captions", own, 1, kind)
    files = ({"ours": captions}, [truth], "rouge_l")
    table = score_files(*files, reading=Reading(split="test"))
    assert "|items:3|" in table["ours"]["rouge_l"].signature
    with pytest.raises(DataError, match="has no caption of the item"):
        score_files(*files)
    with pytest.raises(DataError, match="no file says which items belong to it"):
        score_files({"ours": captions}, [captions], "rouge_l", reading=Reading(split="test"))


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
@pytest.mark.parametrize(("parts", "split"), [(("train", "test"), "test"), ((1, 2), "2")])
def test_one_part_of_the_captions_of_systems(tmp_path, truth, kind, parts, split):
    rows = [
        {"system": "ours", "item": item, "caption": f"a man {k}", "split": part}
        for part, items in zip(parts, (["other"], REFERENCES), strict=True)
        for k, item in enumerate(items)
    ]
    captions = write_shards(tmp_path / "captions", rows, 2, kind)
    reading = Reading(split=split)
    table = score_files([captions], [truth], "rouge_l", reading=reading)
    assert "|items:3|" in table["ours"]["rouge_l"].signature
    inputs = read_inputs(captions, truth, reading=reading)
    assert list(inputs.systems["ours"]) == list(REFERENCES)


def test_bytes_that_are_no_text(tmp_path, truth):
    offsets = pa.py_buffer(b"\0\0\0\0\5\0\0\0\x0a\0\0\0")
    caption = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"a man\xff dog")])
    table = pa.table({"system": ["s", "s"], "item": ["v1", "v2"], "caption": caption})
    pq.write_table(table, tmp_path / "odd.parquet")
    with pytest.raises(DataError, match=r"odd\.parquet: row 2: item 'v2': .* not UTF-8"):
        scored(tmp_path / "odd.parquet", truth, "rouge_l", out=tmp_path / "out")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PAR1 and no more", "the Parquet file is damaged"),
        (b'{"item": "v1", "caption": "a man"}\n', "no field 'system' says whose captions"),
    ],
)
def test_files_that_are_no_shards(tmp_path, content, message):
    path = tmp_path / "captions"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        shards_of([path], "candidates")


def test_files_whose_records_name_their_systems_are_read_in_memory_too(tmp_path, truth):
    rows = [
        {"system": name, "item": item, "caption": f"a {name} runs"}
        for item in REFERENCES
        for name in ("man", "dog")
    ]
    folder = write_shards(tmp_path / "captions", rows, 2)
    table = scored(sorted(folder.iterdir()), truth, "rouge_l")
    assert table.systems == ["man", "dog"]
    assert set(table["man"]["rouge_l"].items) == {"v1", "v2", "7"}
    write_shards(folder, [*rows, rows[0]], 2)
    with pytest.raises(DataError, match="row 3: item 'v1': system 'man' has a caption of the item"):
        scored(sorted(folder.iterdir()), truth, "rouge_l")


@pytest.mark.parametrize("options", [{}, {"out": "out"}])
def test_compressed_files_name_their_systems_too(tmp_path, truth, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"notes": "x" * 5000, "system": name, "item": item, "caption": f"a {name} runs"}
        for name in ("man", "dog")
        for item in REFERENCES
    ]
    folder = write_shards(tmp_path / "captions", rows, 2, "jsonl")
    for path in sorted(folder.iterdir()):
        path.with_suffix(".jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    table = scored(folder, truth, "rouge_l", **options)
    assert table.systems == ["man", "dog"]


def test_compressed_lines_count_as_what_they_hold(tmp_path):
    lines = "".join(
        f'{{"item": "{item}", "caption": "a {text} runs past the {text} of {text}"}}\n'
        for item, text in enumerate(f"{k * 7919 % 10007}" for k in range(10_000))
    )
    (tmp_path / "plain.jsonl").write_text(lines)
    (tmp_path / "small.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    counts = [shard.rows for shard in shards_of([tmp_path], "references")]
    assert max(counts) < 2 * min(counts)


@pytest.mark.parametrize("options", [{}, {"out": "out"}])
def test_a_name_stands_for_all_files_of_a_folder(tmp_path, truth, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    rows = [{"system": "v3", "item": item, "caption": "a dog runs"} for item in REFERENCES]
    captions = write_shards(tmp_path / "captions", rows, 2)
    for systems in ({"ours": captions}, {"ours": str(captions / "*")}):
        table = scored(systems, truth, "rouge_l", **options)
        assert table.systems == ["ours"]
    rows = [{"item": item, "caption": "a dog runs"} for item in REFERENCES]
    write_shards(captions, rows, 2, "jsonl")
    with pytest.raises(DataError, match=r"00.jsonl: no field 'system' .*, as in .*00.parquet"):
        scored(captions, truth, "rouge_l", **options)


@pytest.mark.parametrize("options", [{}, {"out": "out"}])
@pytest.mark.parametrize(
    ("systems", "references", "more", "message"),
    [
        (["a/run.jsonl", "b/run.jsonl"], None, {}, "Two files have the same name"),
        ({"a": {}, "b": {"v1": "a man"}}, None, {"missing": "zero"}, "^a: There are no candidates"),
        ({"a": {"z": "a man"}, "b": {"v1": "a man"}}, None, {"missing": "skip"}, "^a: .*in common"),
        ({}, None, {}, "There are no candidates"),
        ({"a": {"v1": "a \ud800"}}, None, {}, "^a: .*lone surrogate"),
        ({"a": {"v1": 3}}, None, {}, "item 'v1' is a number"),
        ({"a": {"v1": "a man"}}, {"v1": ["a", 3]}, {}, "reference 2 of item 'v1' is a number"),
        ("a/run.jsonl", None, {"missing": "none"}, "Unknown policy missing= 'none'"),
        ("a/run.jsonl", None, {"empty": "skip"}, "Unknown policy empty= 'skip'"),
        ("nobody.parquet", None, {}, "nobody.parquet: .* no captions.*; at least one is needed"),
    ],
)
def test_captions_are_refused_as_in_memory(
    tmp_path, monkeypatch, options, systems, references, more, message
):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.jsonl").write_text('{"item": "v1", "caption": "a man"}\n')
    nothing = dict.fromkeys(("system", "item", "caption"), pa.array([], pa.string()))
    pq.write_table(pa.table(nothing), "nobody.parquet")
    truth = references or {"v1": ["a man runs"]}
    with pytest.raises(ReelscoreError, match=message):
        scored(systems, truth, "rouge_l", **options, **more)


EMPTY = {
    "jsonl": b"",
    "blank.jsonl": b"\n\n",
    "jsonl.gz": gzip.compress(b""),
    "jsonl.xz": lzma.compress(b""),
    "parquet": None,
    "bare.parquet": None,
}


def write_empty(path):
    """Write a shard without records: a table without rows, or without columns as well."""
    names = () if path.name.endswith("bare.parquet") else ("system", "item", "caption")
    content = EMPTY[path.name.partition(".")[2]]
    if content is None:
        pq.write_table(pa.table(dict.fromkeys(names, pa.array([], pa.string()))), path)
    else:
        path.write_bytes(content)


@pytest.mark.parametrize("kind", EMPTY)
@pytest.mark.parametrize("others", ["parquet", "jsonl"])
@pytest.mark.parametrize("named", [True, False])
def test_empty_shards_among_others_are_left_out(tmp_path, kind, others, named):
    rows = [{"system": "ours", "item": item, "caption": "a dog runs"} for item in REFERENCES]
    captions = write_shards(tmp_path / "captions", rows, 2, others)
    truth = write_shards(tmp_path / "references", reference_rows(REFERENCES), 2, others)
    systems = {"ours": captions} if named else captions
    before = scored(systems, truth, "rouge_l", out=tmp_path / "before")
    for folder in (captions, truth):
        for place in ("-first", "00-between", "99"):
            write_empty(folder / f"{place}.{kind}")
    after = scored(systems, truth, "rouge_l", out=tmp_path / "after")
    assert after.to_dict() == before.to_dict()
    assert after.systems == ["ours"]


@pytest.mark.parametrize("kind", EMPTY)
def test_folders_of_empty_shards_alone_are_refused(tmp_path, truth, kind):
    folder = tmp_path / "empty"
    folder.mkdir()
    message = re.escape(f"1.{kind}: there are no captions in it; at least one is needed.")
    for name in ("1", "2"):
        write_empty(folder / f"{name}.{kind}")
        for systems, references in (
            ([folder], truth),
            ({"ours": folder}, truth),
            ([truth], folder),
        ):
            with pytest.raises(DataError, match=message):
                score_files(systems, [references], "rouge_l")
        message = re.escape(f"1.{kind} and 1 other file: there are no captions in them; at least")


def test_bad_records_are_named_by_the_files_that_were_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("ours.json").write_text('{"v1": "a man", "v2": "...", "v9": "a dog"}')
    Path("refs.csv").write_text("id,caption\nv1,a man\nv2,a dog\n")
    with pytest.raises(DataError, match=r"^ours\.json: row 2: item 'v2': the caption '\.\.\.'"):
        scored("ours.json", "refs.csv", "rouge_l", out="out")
    scored("ours.json", "refs.csv", "rouge_l", bad_rows="bad.jsonl")
    bad = [json.loads(line) for line in Path("bad.jsonl").read_text().splitlines()]
    assert [(each["file"], each["item"]) for each in bad] == [
        *(("ours.json", "v2"), ("ours.json", "v9"), ("refs.csv", "v2"))
    ]
    captions = {"mine": {"v1": "a man", "v9": "a dog"}}
    with pytest.raises(DataError, match=r"^candidates of 'mine': row 2: item 'v9'"):
        scored(captions, {"v1": ["a man"]}, "rouge_l", out="out")


@pytest.mark.parametrize("in_blocks", [False, True])
def test_a_pipe_is_read_once(tmp_path, in_blocks):
    """As a shell gives one by <(command)."""
    reader, writer = os.pipe()
    os.write(writer, b'{"id": "v1", "caption": "a man"}\n')
    os.close(writer)
    (tmp_path / "refs.jsonl").write_text('{"id": "v1", "references": ["a man runs"]}\n')
    options = {"out": tmp_path / "out"} if in_blocks else {}
    table = scored({"mine": f"/dev/fd/{reader}"}, tmp_path / "refs.jsonl", "rouge_l", **options)
    os.close(reader)
    assert list(table.systems) == ["mine"]


def test_pyarrow_that_is_not_installed_is_said(tmp_path, monkeypatch):
    path = tmp_path / "captions.jsonl"
    path.write_text(json.dumps(GOOD) + "\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"captions.jsonl: .*needs pyarrow.*\[files\]"):
        reelscore.score_systems([path], {"v1": "a man"}, "rouge_l")


@pytest.mark.parametrize("ending", ["txt", "jsonl"])
def test_a_folder_for_scores_without_pyarrow_is_refused(ending, tmp_path, monkeypatch):
    path = tmp_path / f"captions.{ending}"
    path.write_text(json.dumps(GOOD) + "\n" if ending == "jsonl" else "a man runs\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"needs pyarrow.*\[files\]"):
        score_shards({"mine": path}, path, "rouge_l", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
