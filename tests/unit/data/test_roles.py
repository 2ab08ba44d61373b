"""Candidates and references in one file: names say which is which, and never change sides."""

from __future__ import annotations

import json

import pytest

import reelscore
from reelscore.data import read_candidates, read_references
from reelscore.data.captions.inputs import read_inputs
from reelscore.data.reading import ROLE_FIELDS
from reelscore.errors import DataError

PREDICTED = ["a man runs", "a dog"]
WRITTEN = ["a man is running", "the dog sleeps"]
ITEMS = ["v1", "v2"]


def as_jsonl(candidate: str, reference: str, tmp_path):
    path = tmp_path / "dump.jsonl"
    rows = [
        {"video_id": item, reference: text, candidate: caption}
        for item, caption, text in zip(ITEMS, PREDICTED, WRITTEN, strict=True)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def as_csv(candidate: str, reference: str, tmp_path):
    path = tmp_path / "dump.csv"
    rows = zip(ITEMS, WRITTEN, PREDICTED, strict=True)
    lines = [f"video_id,{reference},{candidate}", *(",".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def as_records(candidate: str, reference: str, tmp_path):
    path = tmp_path / "dump.json"
    lines = as_jsonl(candidate, reference, tmp_path).read_text().splitlines()
    path.write_text(f"[{','.join(lines)}]")
    return path


@pytest.mark.parametrize("write", [as_jsonl, as_csv, as_records])
@pytest.mark.parametrize("candidate", ["prediction", "pred", "hypothesis", "generated", "output"])
@pytest.mark.parametrize("reference", ["reference", "references", "ground_truth", "gt", "target"])
def test_a_file_of_both(tmp_path, write, candidate, reference):
    path = write(candidate, reference, tmp_path)
    assert read_candidates(path) == dict(zip(ITEMS, PREDICTED, strict=True))
    assert read_references(path) == dict(zip(ITEMS, ([text] for text in WRITTEN), strict=True))


@pytest.mark.parametrize("reference", ROLE_FIELDS["references"])
@pytest.mark.parametrize("write", [as_jsonl, as_csv, as_records])
def test_references_are_never_candidates(tmp_path, write, reference):
    path = write("score", reference, tmp_path)
    with pytest.raises(DataError, match=f"no candidate, but references in '{reference}'"):
        read_candidates(path)


@pytest.mark.parametrize("write", [as_jsonl, as_csv, as_records])
def test_a_caption_beside_references_is_the_systems(tmp_path, write):
    path = write("caption", "references", tmp_path)
    ours, theirs = read_candidates(path), read_references(path)
    assert ours.keys() == theirs.keys()
    assert all(ours[item] not in texts for item, texts in theirs.items())


AMBIGUOUS = [
    # names, read as, part of the message
    (("caption", "prediction"), read_candidates, "'caption' to 'reference' if it holds references"),
    (("text", "pred"), read_candidates, "captions in several fields (text, pred)"),
    (("prediction", "output"), read_candidates, "remove or rename all but one"),
    (("reference", "gt"), read_references, "captions in several fields (reference, gt)"),
]


@pytest.mark.parametrize(("names", "read", "message"), AMBIGUOUS)
@pytest.mark.parametrize("write", [as_jsonl, as_csv, as_records])
def test_ambiguous_names_are_refused(tmp_path, write, names, read, message):
    with pytest.raises(DataError) as caught:
        read(write(*names, tmp_path))
    assert message in str(caught.value)


def test_a_caption_beside_a_reference_is_the_candidate(tmp_path):
    path = as_jsonl("caption", "reference", tmp_path)
    assert read_candidates(path) == dict(zip(ITEMS, PREDICTED, strict=True))


def test_numbered_reference_columns(tmp_path):
    path = tmp_path / "dump.csv"
    path.write_text("id,prediction,reference_1,reference_2\nv1,a man,a guy,a person\nv2,a dog,b,\n")
    inputs = read_inputs({"mine": path})
    assert inputs.systems == {"mine": {"v1": "a man", "v2": "a dog"}}
    assert inputs.references == {"v1": ["a guy", "a person"], "v2": ["b"]}


def test_lists_in_cells_are_refused(tmp_path):
    path = tmp_path / "refs.csv"
    path.write_text('id,references\nv1,"[\'a man\', ""a man\'s dog""]"\n')
    with pytest.raises(DataError, match=r"refs\.csv:2: the cell holds a list of captions"):
        read_references(path)
    path.write_text("id,references\nv1,\"['a man', 'a guy']\"\n")
    with pytest.raises(DataError, match=r"refs\.csv:2: the cell holds a list of captions"):
        read_references(path)


@pytest.mark.parametrize("write", [as_jsonl, as_csv, as_records])
def test_score_takes_references_from_the_same_file(tmp_path, write):
    path = write("prediction", "reference", tmp_path)
    expected = reelscore.score(read_candidates(path), read_references(path), "meteor")
    scores = reelscore.score(path, metrics="meteor")
    assert scores["meteor"].score == expected["meteor"].score < 0.9
    assert scores.notes == (f"References were not given: {path} holds them beside the candidates.",)


def test_references_given_come_first_and_a_note_says_so(tmp_path):
    path = as_jsonl("prediction", "reference", tmp_path)
    (tmp_path / "refs.json").write_text('{"v1": ["a man runs"], "v2": ["a dog"]}')
    scores = reelscore.score(path, tmp_path / "refs.json", "rouge_l")
    assert scores["rouge_l"].score == 1.0
    assert scores.notes[0] == f"{path} holds references of its own, which were not used."


def test_a_file_may_be_named_for_both(tmp_path):
    path = as_jsonl("prediction", "reference", tmp_path)
    scores = reelscore.score(path, path, "rouge_l")
    assert scores["rouge_l"].score == reelscore.score(path, metrics="rouge_l")["rouge_l"].score
    assert not scores.notes


def test_files_with_different_references_are_refused(tmp_path):
    one = as_jsonl("prediction", "reference", tmp_path)
    two = tmp_path / "two.jsonl"
    two.write_text(one.read_text().replace("the dog sleeps", "the cat sleeps"))
    systems = {"one": one, "two": two}
    with pytest.raises(DataError, match=r"two.jsonl: holds other references than .*references="):
        reelscore.score_systems(systems, metrics="rouge_l")
    assert reelscore.score_systems(systems, one, "rouge_l").systems == ["one", "two"]


def test_captions_equal_to_references_are_warned_about():
    references = {f"v{k}": ["a man", f"dog number {k}"] for k in range(20)}
    copied = {item: f" {texts[1]}" for item, texts in references.items()}
    for changed, warned in ((0, True), (2, True), (3, False)):
        system = copied | {f"v{k}": "a cat" for k in range(changed)}
        table = reelscore.score_systems({"mine": system}, references, "rouge_l")
        assert any("captions equal one of their references" in n for n in table.notes) == warned
    assert not reelscore.score({"v1": "a man"}, {"v1": ["a man"]}, "rouge_l").notes
