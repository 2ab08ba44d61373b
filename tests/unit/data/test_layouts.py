"""Files in the layouts of data sets and programs; layouts/README.md says whose."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

import reelscore
from reelscore.data import read_candidates, read_references
from reelscore.data.captions.caption_files import references_of_files
from reelscore.data.captions.inputs import read_inputs
from reelscore.data.formats import detect_format, get_format, text_layouts
from reelscore.data.formats.text_layouts import TextLayout
from reelscore.data.reading import Reading
from reelscore.data.source import Source
from reelscore.data.story_files import read_stories
from reelscore.errors import DataError, MissingExtraError

LAYOUTS = Path(__file__).parent / "layouts"
HORSE, DOG, SOUP = (
    ["a man rides a horse", "someone on a brown horse"],
    ["a dog runs on the beach", "a wet dog is running"],
    ["two women cook soup", "women are cooking in a kitchen"],
)
CAT = ["a cat sleeps on a sofa", "the cat is asleep"]
THREE = [HORSE, DOG, SOUP]
PREDICTED = [f"{texts[0]} today" for texts in THREE]


def by(*ids: object, captions=THREE) -> dict[str, object]:
    return dict(zip(map(str, ids), captions, strict=True))


def ended(texts: list[str]) -> list[str]:
    return [f"{text}." for text in texts]


REFERENCES = [
    # file, format, references
    ("msrvtt.json", "msrvtt", {"video0": CAT, **by("video7010", "video7011", "video7012")}),
    (
        "vatex.json",
        "vatex",
        by("G9zN5TTuGO4_000179_000189", "Yg3xBZVyNqk_000010_000020", "pP6rUTz8F2w_000001_000011"),
    ),
    (
        "karpathy.json",
        "karpathy",
        {"522418": ended(CAT), **by(391895, 60623, 483108, captions=map(ended, THREE))},
    ),
    ("coco.json", "coco", by(391895, 60623, 483108)),
    (
        "msvd.txt",
        "msvd",
        by(
            *("mv89psg6zh4_33_46", "-4wsuPCjDBc_5_15", "_0nX-El-ySo_83_93"),
            captions=[texts * 2 for texts in THREE],
        ),
    ),
    ("msvd_tabs.txt", "msvd", by("vid1300", "vid1301", "vid1302")),
    (
        "msvd_corpus.csv",
        "msvd-csv",
        by("mv89psg6zh4_33_46", "-4wsuPCjDBc_5_15", "_0nX-El-ySo_83_93"),
    ),
    ("tvc.jsonl", "jsonl", by(81204, 81205, 81206)),
    ("by_sentence.json", "json", by("video7010", "video7011", "video7012")),
    ("printed.txt", "python", by("video7010", "video7011", "video7012")),
    (
        "lsmdc.csv",
        "lsmdc",
        {
            "0001_American_Beauty_00.00.51.926-00.00.54.129": ["Someone rides a horse."],
            "0001_American_Beauty_00.01.00.320-00.01.03.000": ["A dog runs on the beach."],
            "1012_Unbreakable_00.05.16.065-00.05.21.941": ["Two women cook soup."],
        },
    ),
    (
        "clotho.csv",
        "csv",
        by(
            *("Santa Motor.wav", "Radio Garble.wav"),
            "Radio Fuzz for Old Radio Broadcast FF233.wav",
            captions=[[one, f"{two}, again"] for one, two in THREE],
        ),
    ),
    ("audiocaps.csv", "csv", by("rqfQRErjfk8", "yZmhM1HcsyE", "XYLheTmlEYI")),
    (
        "semicolons.csv",
        "csv",
        by("v1", "v2", "v3", captions=[[f"{t}; well" for t in texts] for texts in THREE]),
    ),
    ("list_references.json", "lists", by(1, 2, 3)),
    ("parallel.json", "lists", by(1, 2, 3)),
    ("gts.json", "json", by("v1", "v2", "v3")),
    ("gts_res.json", "json", by("v1", "v2", "v3")),
    ("by_item.json", "json", by("v1", "v2", "v3")),
    ("inference.jsonl", "jsonl", by("v1", "v2", "v3")),
    (
        "youcook2.json",
        "youcook2",
        {
            "cccccccccc0@10-20": ["chop the onions"],
            "GLd3aX16zBg@90-102": ["spread margarine on two slices of white bread"],
            "GLd3aX16zBg@114-127": ["place a slice of cheese on the bread"],
            "xHr8X2Wpmno@49-58": ["mix flour and water in a bowl"],
        },
    ),
    (
        "activitynet.json",
        "activitynet",
        {
            "v_QOlSCBRmfWY@0.83-19.86": ["A young woman is seen standing in a room."],
            "v_QOlSCBRmfWY@17.37-60.81": [" The girl dances around the room."],
            "v_ehGHCYKzyZ8@0-61.72": ["The video starts with a title logo sequence."],
        },
    ),
]
CANDIDATES = [
    # file, format, candidates
    *(
        (name, kind, by("v1", "v2", "v3", captions=PREDICTED))
        for name, kind in (
            ("predictions.json", "coco"),
            ("results.json", "json"),
            ("res.json", "json"),
            ("gts_res.json", "json"),
            ("by_item.json", "json"),
            ("inference.jsonl", "jsonl"),
            ("dataframe.json", "lists"),
        )
    ),
    ("list.json", "lists", by(1, 2, 3, captions=PREDICTED)),
    ("printed_list.txt", "python", by("v1", "v2", "v3", captions=PREDICTED)),
    ("parallel.json", "lists", by(1, 2, 3, captions=PREDICTED)),
    (
        "activitynet_results.json",
        "activitynet",
        {
            "v_QOlSCBRmfWY@0.83-19.86": "a woman stands in a room",
            "v_QOlSCBRmfWY@17.37-60.81": "she dances",
            "v_ehGHCYKzyZ8@0-61.72": "a title is shown",
        },
    ),
]


@pytest.mark.parametrize(("name", "kind", "expected"), REFERENCES)
def test_references(tmp_path, name, kind, expected):
    path = shutil.copy(LAYOUTS / name, tmp_path / "file")  # the ending does not tell
    with Source(path) as source:
        assert detect_format(source) == kind
    assert read_references(path) == expected
    assert read_references(path, format=kind) == expected


@pytest.mark.parametrize(("name", "kind", "expected"), CANDIDATES)
def test_candidates(tmp_path, name, kind, expected):
    path = shutil.copy(LAYOUTS / name, tmp_path / "file")
    with Source(path) as source:
        assert detect_format(source) == kind
    assert read_candidates(path) == expected


def test_every_layout_is_read_and_described():
    described = (LAYOUTS / "README.md").read_text()
    tested = {name for name, *_ in (*REFERENCES, *CANDIDATES)} | {"headerless.csv"}
    for path in LAYOUTS.iterdir():
        if path.suffix != ".md":
            assert f"`{path.name}`" in described
            assert path.name in tested | {"headerless.tsv"}


def test_tables_without_a_header_need_the_names_of_their_columns():
    expected = by("v1", "v2", "v3", captions=[f"{texts[0]}, maybe" for texts in THREE])
    table = LAYOUTS / "headerless.csv"
    with pytest.raises(DataError, match='name the columns: header="id,caption"'):
        read_candidates(table)
    assert read_candidates(table, header="id,rank,caption") == expected
    assert read_candidates(LAYOUTS / "headerless.tsv", header="id,caption") == expected
    with pytest.raises(DataError, match="has 3 fields, the header 2"):
        read_candidates(table, header="id,caption")
    with pytest.raises(DataError, match=r"no item id.*there are rank, n, caption"):
        read_candidates(table, header="rank,n,caption")
    with pytest.raises(DataError, match='header="caption" names one column'):
        read_candidates(table, header="caption")
    with pytest.raises(DataError, match=r"has a header \(video_id, caption\)"):
        read_references(LAYOUTS / "semicolons.csv", header="id,caption")


def test_fields_that_the_user_names(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("Clip,hyp,caption,gold_1,gold_2\nv1,a man,x,a guy,a person\n")
    assert read_candidates(path, id_field="clip", caption_field="hyp") == {"v1": "a man"}
    assert read_candidates(path, id_field="clip", caption_field="gold_2") == {"v1": "a person"}
    references = read_references(path, id_field="other,clip", reference_field="gold")
    assert references == {"v1": ["a guy", "a person"]}
    both = read_references(path, id_field="clip", reference_field="gold_2,caption")
    assert both == {"v1": ["a person", "x"]}
    records = tmp_path / "run.jsonl"
    records.write_text('{"key": 7, "says": "a man", "gold": ["a guy"]}\n')
    named = {"id_field": "key", "caption_field": "says", "reference_field": "gold"}
    inputs = read_inputs({"mine": records}, reading=Reading(**named))
    assert inputs.systems == {"mine": {"7": "a man"}}
    assert inputs.references == {"7": ["a guy"]}, "the file holds both"


WRONG = [
    # option, part of the message
    ({"id_field": "clip"}, "no field 'clip' for the item id; there are video_id, caption, score"),
    ({"caption_field": "hyp"}, "no field 'hyp' for the candidates; there are video_id, caption"),
    ({"id_field": "video_id,"}, 'id_field="video_id," has an empty name'),
    ({"encoding": "latin-99"}, 'Unknown encoding "latin-99"'),
]


@pytest.mark.parametrize(("option", "message"), WRONG)
@pytest.mark.parametrize("kind", ["csv", "jsonl", "coco", "parquet"])
def test_wrong_names_are_refused_with_those_of_the_file(tmp_path, option, message, kind):
    path = written(tmp_path, kind, {"video_id": "v1", "caption": "a man", "score": 3})
    for named in (None, kind):
        with pytest.raises(DataError) as caught:
            read_candidates(path, format=named, **option)
        assert message in str(caught.value)


def test_plain_lines_have_no_fields(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("shot,says\nclipA,a man\n")
    with pytest.raises(DataError, match=r"the fields clip, says were named, but .*'shot,says'"):
        read_candidates(path, id_field="clip", caption_field="says")
    assert read_candidates(path, id_field="shot", caption_field="says") == {"clipA": "a man"}


def written(folder: Path, kind: str, record: dict[str, object]) -> Path:
    path = folder / f"run.{kind}"
    if kind == "csv":
        path.write_text(f"{','.join(record)}\n{','.join(map(str, record.values()))}\n")
    elif kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({name: [value] for name, value in record.items()}), path)
    else:
        path.write_text(json.dumps(record if kind == "jsonl" else [record]))
    return path


def test_a_field_that_the_user_names_settles_what_is_unclear(tmp_path):
    path = tmp_path / "dump.jsonl"
    path.write_text('{"id": "v1", "caption": "a man", "prediction": "a guy", "gt": "a person"}\n')
    with pytest.raises(DataError, match='or choose it: caption_field="caption"'):
        read_candidates(path)
    assert read_candidates(path, caption_field="prediction") == {"v1": "a guy"}
    assert read_references(path, caption_field="caption") == {"v1": ["a person"]}


def test_parquet(tmp_path, monkeypatch):
    path = written(tmp_path, "parquet", {"video_id": 7, "prediction": "a man", "refs": ["a", "b"]})
    inputs = read_inputs({"mine": path})
    assert inputs.systems == {"mine": {"7": "a man"}}
    assert inputs.references == {"7": ["a", "b"]}
    damaged = tmp_path / "damaged"
    damaged.write_bytes(path.read_bytes()[:40])
    with pytest.raises(DataError, match="the Parquet file is damaged"):
        read_candidates(damaged)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"needs pyarrow.*'reelscore\[files\]'"):
        read_candidates(path)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-8-sig"])
def test_other_encodings(tmp_path, encoding):
    path = tmp_path / "run.csv"
    captions = {f"v{k}": f"un café n° {k}, très bon" for k in range(3000)}  # longer than the head
    rows = "".join(f'{item},"{text}"\n' for item, text in captions.items())
    path.write_text(f"id,caption\n{rows}", encoding=encoding, newline="")
    assert read_candidates(path, encoding=encoding) == captions
    if encoding == "cp1252":
        with pytest.raises(DataError, match='encoding="cp1252"'):
            read_candidates(path)
        with pytest.raises(DataError, match="neither UTF-8 nor ascii"):
            read_candidates(path, encoding="ascii")


def test_files_of_two_encodings(tmp_path):
    paths = [tmp_path / "old.txt", tmp_path / "new.txt"]
    paths[0].write_text("un café\n", encoding="cp1252")
    paths[1].write_text("une crème\n", encoding="utf-8")
    assert read_references(paths, encoding="cp1252") == {"1": ["un café", "une crème"]}


def test_folders_and_patterns(tmp_path):
    for name, text in (("b.txt", "a dog"), ("a.txt", "a man"), (".notes", "x")):
        (tmp_path / name).write_text(f"{text}\n")
    (tmp_path / "more").mkdir()
    both = {"1": ["a man", "a dog"]}
    assert read_references(tmp_path) == both
    assert read_references(str(tmp_path / "*.txt")) == both
    assert read_references([tmp_path / "b.txt", tmp_path / "a*"]) == {"1": ["a dog", "a man"]}
    with pytest.raises(DataError, match=r"\*.json: no file matches the pattern"):
        read_references(str(tmp_path / "*.json"))
    (tmp_path / "odd[1].txt").write_text("a cat\n")
    assert read_references(str(tmp_path / "odd[1].txt")) == {"1": ["a cat"]}, "names come first"


SPLITS = [("msrvtt.json", "test", "train"), ("karpathy.json", "test", "restval")]


@pytest.mark.parametrize(("name", "part", "other"), SPLITS)
def test_parts_of_a_data_set(name, part, other):
    path = LAYOUTS / name
    everything = read_references(path)
    own = read_references(path, split=part)
    assert len(everything) == 4
    assert len(own) == 3
    assert read_references(path, split=f"{part},{other}") == everything
    with pytest.raises(DataError, match=rf'split="val"; there are {other} \(1 item\), {part} \(3'):
        read_references(path, split="val")
    candidates = dict.fromkeys(own, "a man rides")
    scores = reelscore.score(candidates, path, "rouge_l")
    assert len(scores["rouge_l"].items) == 3
    assert f"References of the split {part} alone (3 of 4 items)" in " ".join(scores.notes)
    with pytest.raises(DataError, match="no item in common") as caught:
        read_and_score(candidates, path, Reading(split=other))
    assert "choose" not in str(caught.value)
    first, *_ = own
    with pytest.raises(DataError, match=f"has {other} .*choose: split="):
        reelscore.score({**candidates, "elsewhere": "a dog"}, path, "rouge_l")
    del candidates[first]
    with pytest.raises(DataError, match=f"first: '{first}'"):
        reelscore.score(candidates, path, "rouge_l")


def read_and_score(candidates, path, reading):
    inputs = read_inputs({"mine": candidates}, path, reading=reading)
    with inputs.explained():
        return reelscore.score_systems(inputs.systems, inputs.references, "rouge_l")


def test_a_part_that_no_file_names(tmp_path):
    path = tmp_path / "run.json"
    path.write_text('{"v1": "a man"}')
    with pytest.raises(DataError, match='split="test" cannot be taken'):
        read_inputs({"mine": path}, path, reading=Reading(split="test"))


def test_vatex_in_chinese():
    inputs = read_inputs({}, LAYOUTS / "vatex.json")
    assert inputs.notes == [
        'Read as VATEX, the English captions (reference_field="chCap" for the Chinese ones): '
        f"{LAYOUTS / 'vatex.json'}."
    ]
    chinese = read_references(LAYOUTS / "vatex.json", reference_field="chCap")
    assert chinese["G9zN5TTuGO4_000179_000189"] == ["一个男人在骑马", "有人骑着一匹棕色的马"]


def test_msvd_in_other_languages_is_counted():
    files = references_of_files(LAYOUTS / "msvd_corpus.csv")[1]
    left_out = "3 descriptions in other languages left out"
    assert files[0].read_as == f"MSVD's corpus, in English; {left_out}"
    with pytest.raises(DataError, match=r"audiocaps.csv:1: no column 'videoid', as in MSVD's"):
        read_references(LAYOUTS / "audiocaps.csv", format="msvd-csv")


def test_records_that_python_printed(tmp_path):
    path = tmp_path / "printed.txt"
    path.write_text(
        """[{'image_id': 7, 'caption': "a man's horse"}, {'image_id': 8, 'caption': 'x'}]"""
    )
    assert read_candidates(path) == {"7": "a man's horse", "8": "x"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{'v1': ['a man']", "begins like a Python literal, and is none"),
        ("{'v1': array(['a man'])}", "begins like a Python literal, and is none"),
        (f"{{'{'k' * 3_000_000}': ['a man']}}", "which is no item and its captions"),
        ("['a man']\n['a dog']\n", "records, but not JSON"),
    ],
)
def test_what_python_printed_and_nobody_can_read(tmp_path, content, message):
    path = tmp_path / "printed.txt"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        read_references(path)


def test_a_long_message_stands_alone(tmp_path):
    path = tmp_path / "run.jsonl"
    records = [{"id": "x" * 200, "caption": ["a man", "a boy"]} for _ in range(4)]
    path.write_text("\n".join(map(json.dumps, records)))
    with pytest.raises(DataError, match="4 records cannot be used; the first:") as caught:
        read_candidates(path)
    assert str(caught.value).count("\n") == 3  # the record, how the file was read, the remedy


def test_karpathy_by_another_id():
    assert "COCO_val2014_000000391895.jpg" in read_references(
        LAYOUTS / "karpathy.json", id_field="filename"
    )


def test_blind_rows_of_lsmdc_have_no_caption(tmp_path):
    path = tmp_path / "blind.csv"
    rows = (LAYOUTS / "lsmdc.csv").read_text().splitlines()
    path.write_text("\n".join(row.rpartition("\t")[0] for row in rows))
    with pytest.raises(DataError, match=r"has no sentence, as in a blind test"):
        read_references(path)


def test_captions_of_the_other_role_are_refused():
    with pytest.raises(DataError, match="no reference, but candidates in 'predictions'"):
        read_references(LAYOUTS / "predictions.json")
    with pytest.raises(DataError, match="item 'video0' has a candidate already"):
        read_candidates(LAYOUTS / "msrvtt.json")


def test_pairs_of_id_and_caption(tmp_path):
    path = tmp_path / "pairs.json"
    path.write_text('[["v1", "a man"], ["v2", "a dog"], ["v1", "a person runs"]]')
    assert read_references(path) == {"v1": ["a man", "a person runs"], "v2": ["a dog"]}
    assert "Read as pairs of id and caption" in read_inputs({}, path).notes[0]
    path.write_text('[["a man", "a person"], ["dog", "a dog"]]')
    assert read_references(path) == {"1": ["a man", "a person"], "2": ["dog", "a dog"]}


def test_lists_of_other_lengths(tmp_path):
    path = tmp_path / "parallel.json"
    path.write_text('{"predictions": ["a", "b"], "references": [["x"]], "video_id": ["v1"]}')
    with pytest.raises(DataError, match=r"the lists differ in length \(1, 2\)"):
        read_candidates(path)
    assert read_references(path) == {"v1": ["x"]}


def test_segments_of_another_annotator_are_other_items(tmp_path):
    other = json.loads((LAYOUTS / "activitynet.json").read_text())
    other["v_ehGHCYKzyZ8"]["timestamps"] = [[0.0, 30.0]]
    path = tmp_path / "val_2.json"
    path.write_text(json.dumps(other))
    results = LAYOUTS / "activitynet_results.json"
    scores = reelscore.score(results, LAYOUTS / "activitynet.json", "rouge_l")
    assert "an item for each segment" in scores.notes[0]
    with pytest.raises(DataError, match="Items are segments; to score captions by their times"):
        reelscore.score(results, [LAYOUTS / "activitynet.json", path], "rouge_l")


@pytest.mark.shared
def test_real_captions_of_the_same_segments_are_paired(shared):
    references = read_references(shared / "dense" / "anet_val_1.json.gz")
    candidates = read_candidates(shared / "dense" / "bmt_gtprop_val_1.json.gz")
    other = read_references(shared / "dense" / "anet_val_2.json.gz")
    assert (len(references), len(candidates)) == (17505, 15921)
    assert not candidates.keys() - references.keys()
    same = len(other.keys() & references.keys())
    assert same == 235, "another annotator chose nearly always other segments"


def test_times_of_items_do_not_make_captions_timed(tmp_path):
    path = tmp_path / "clips.json"
    path.write_text('{"v1": {"prediction": "a man", "gt": ["a guy"], "start": 0, "end": 5}}')
    assert read_candidates(path) == {"v1": "a man"}
    assert read_references(path) == {"v1": ["a guy"]}


def test_youcook2_is_scored_on_the_part_of_its_candidates():
    from reelscore.stories import score

    references = json.loads((LAYOUTS / "youcook2.json").read_text())
    own = {v: s["annotations"] for v, s in references["database"].items() if v != "cccccccccc0"}
    candidates = {
        video: [{"timestamp": c["segment"], "sentence": c["sentence"]} for c in captions]
        for video, captions in own.items()
    }
    scores = score(candidates, LAYOUTS / "youcook2.json", scores="soda_c")
    assert list(scores["soda_c"].items) == ["GLd3aX16zBg", "xHr8X2Wpmno"]
    assert scores["soda_c"].score == 1
    assert "References of the split validation alone (2 of 3 videos)" in " ".join(scores.notes)
    everything = {**candidates, "cccccccccc0": candidates["xHr8X2Wpmno"]}
    assert len(score(everything, LAYOUTS / "youcook2.json", scores="soda_c")["soda_c"].items) == 3


def test_youcook2_as_stories():
    stories = read_stories(LAYOUTS / "youcook2.json")
    assert stories["GLd3aX16zBg"].segments.tolist() == [[90, 102], [114, 127]]
    assert stories["GLd3aX16zBg"].duration == 241.62
    assert stories.splits == {
        "cccccccccc0": "training",
        "GLd3aX16zBg": "validation",
        "xHr8X2Wpmno": "validation",
    }


@pytest.mark.parametrize(
    "said",
    [
        {"messages": [{"role": "assistant", "content": [{"text": "a dog", "reference": "a man"}]}]},
        {"text": {"prompt": "Describe it.", "response": "a man", "prediction": "a dog"}},
    ],
    ids=["tarsier2", "tarsier"],
)
def test_lines_of_dream_1k(tmp_path, said):
    path = tmp_path / "dream.jsonl"
    lines = [{"dataset": "DREAM/videvo", "idx": k, "extra_info": {}, **said} for k in (1, 2)]
    path.write_text("\n".join(map(json.dumps, lines)))
    items = ["DREAM/videvo_1", "DREAM/videvo_2"]
    assert read_candidates(path) == dict.fromkeys(items, "a dog")
    assert read_references(path) == {item: ["a man"] for item in items}
    path.write_text(json.dumps(lines[0]))
    assert read_candidates(path) == {items[0]: "a dog"}


@pytest.mark.parametrize("write", [json.dumps, lambda rows: "\n".join(map(json.dumps, rows))])
def test_samples_of_lmms_eval(tmp_path, write):
    path = tmp_path / "samples.json"
    about = [{"video_id": f"v{k}", "caption": "people's"} for k in range(2)]
    path.write_text(
        write([{"doc_id": 0, "doc": doc, "target": "a man", "resps": [["a dog"]]} for doc in about])
    )
    assert read_candidates(path) == {"v0": "a dog", "v1": "a dog"}
    assert read_references(path) == {"v0": ["a man"], "v1": ["a man"]}


def test_a_layout_may_have_a_marked_first_line(tmp_path, monkeypatch):
    line = re.compile(r"(?P<item>\w+): (?P<caption>.*)")
    layout = TextLayout("marked", line, "id and caption", marker="#captions v1")
    monkeypatch.setattr(text_layouts, "lsmdc", lambda: layout)
    get_format.cache_clear()
    path = tmp_path / "captions.txt"
    path.write_text("#captions v1\n\na1: A dog runs.\na2: A cat\n")
    try:
        assert read_candidates(path) == {"a1": "A dog runs.", "a2": "A cat"}
        path.write_text("a1: A dog runs.\n")
        with Source(path) as source:
            assert detect_format(source) != "lsmdc"
        with pytest.raises(DataError, match=r":1: the file does not begin with .*#captions v1"):
            read_candidates(path, format="lsmdc")
        path.write_text("#captions v1\na1: A dog runs.\na2 A cat\n")
        with pytest.raises(DataError, match=r":3: the line is not of the layout marked"):
            read_candidates(path)
    finally:
        get_format.cache_clear()
