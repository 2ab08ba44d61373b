"""References of splits: kept as they are, by part, and never shared between splits of a phase."""

from __future__ import annotations

import json

import pytest

from reelscore import DataError
from reelscore.challenges.definition.records import Split
from reelscore.challenges.uploads.splits import (
    captions_references,
    check_disjoint,
    read_split,
    stories_references,
)
from reelscore.challenges.uploads.uploads import ItemList

VATEX = [{"videoID": "a", "enCap": ["a man"]}, {"videoID": "b", "enCap": ["a dog", "it barks"]}]
YOUCOOK = {
    "database": {
        video: {
            "duration": 20.0,
            "subset": part,
            "annotations": [{"segment": [0, 7], "sentence": "cut it"}],
        }
        for video, part in (("x", "training"), ("y", "validation"), ("z", "validation"))
    }
}
KARPATHY = {
    "images": [
        {"cocoid": k, "split": part, "sentences": [{"raw": f"a dog {k}"}]}
        for k, part in enumerate(["train", "test", "test"])
    ]
}


def write(folder, name, value):
    (folder / name).write_text(json.dumps(value))
    return name


def test_references_come_out_as_they_went_in(tmp_path):
    split = Split("test", "blind", "captions", (write(tmp_path, "r.json", VATEX),))
    content = read_split(split, tmp_path)
    paired = captions_references(content.items, content.references)
    assert (paired.items, paired.references) == (["a", "b"], ["a man", "a dog", "it barks"])
    assert read_split(split, tmp_path).digest == content.digest
    write(tmp_path, "r.json", VATEX[::-1])  # another order, other draws
    assert read_split(split, tmp_path).digest != content.digest


def test_a_part_of_a_data_set(tmp_path):
    files = (write(tmp_path, "k.json", KARPATHY),)
    content = read_split(Split("test", "blind", "captions", files, part="test"), tmp_path)
    assert ItemList.of("test", content.items).items == ["1", "2"]
    files = (write(tmp_path, "y.json", YOUCOOK),)
    content = read_split(Split("val", "blind", "stories", files, part="validation"), tmp_path)
    assert ItemList.of("val", content.items).durations == {"y": 20.0, "z": 20.0}
    [stories] = stories_references(content.references)
    assert stories["y"].segments.tolist() == [[0.0, 7.0]]
    assert (stories["y"].sentences, stories["y"].duration) == (("cut it",), 20.0)
    with pytest.raises(DataError, match=r"parts: training \(1 item\), validation \(2 items\)"):
        read_split(Split("val", "blind", "stories", files, part="test"), tmp_path)


def test_splits_of_a_phase_share_no_items(tmp_path):
    split = Split("one", "blind", "captions", (write(tmp_path, "r.json", VATEX),))
    contents = dict.fromkeys(("one", "two"), read_split(split, tmp_path))
    with pytest.raises(DataError, match="item 'a' is in the splits 'one' and 'two'"):
        check_disjoint(contents, "main", ["one", "two"])
