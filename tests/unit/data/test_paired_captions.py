"""Pairing by item id, and what the policies do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelscore.data import pair
from reelscore.data.captions.paired_captions import lone_candidates, lone_references
from reelscore.data.checks import has_words
from reelscore.errors import DataError, UnknownNameError
from reelscore.text.tokens import tokenize

ONE = {"v1": ["a man"]}
TWO = {"v1": ["a man", "he"], "v2": ["a dog"]}

PAIRED = [
    # candidates, references, policies, items, candidates in order, offsets, notes, why
    ({"v2": "y", "v1": "x"}, TWO, {}, ["v1", "v2"], ["x", "y"], [0, 2, 3], [], "references' order"),
    ({1: "x"}, {"1": ["a"]}, {}, ["1"], ["x"], [0, 1], [], "integers are texts"),
    ({"v1": "x"}, {"v1": ("a",)}, {}, ["v1"], ["x"], [0, 1], [], "tuples"),
    (
        {"v2": "y"},
        TWO,
        {"missing": "zero"},
        ["v1", "v2"],
        ["", "y"],
        [0, 2, 3],
        ["1 item has no candidate: scored as an empty caption."],
        "zero",
    ),
    (
        {"v2": "y", "v3": "z", "v4": "z"},
        TWO,
        {"missing": "skip"},
        ["v2"],
        ["y"],
        [0, 1],
        ["1 item has no candidate: skipped.", "2 candidates have no references: skipped."],
        "skip",
    ),
    (
        {"v1": " \n"},
        {"v1": ["", "a"]},
        {"empty": "zero"},
        ["v1"],
        [" \n"],
        [0, 2],
        ["1 candidate is empty.", "1 reference is empty."],
        "kept as it is",
    ),
]


@pytest.mark.parametrize(
    ("candidates", "references", "policies", "items", "captions", "offsets", "notes", "why"), PAIRED
)
def test_pair(
    candidates: Any,
    references: Any,
    policies: Any,
    items: list[str],
    captions: list[str],
    offsets: list[int],
    notes: list[str],
    why: str,
) -> None:
    paired = pair(candidates, references, **policies)
    assert paired.items == items, why
    assert paired.candidates == captions, why
    assert list(paired.reference_offsets) == offsets, why
    assert paired.notes() == notes, why
    assert len(paired) == len(items)


REFUSED = [
    # candidates, references, policies, parts of the message
    ({}, ONE, {}, ["There are no candidates"]),
    ({"v1": "x"}, {}, {}, ["There are no references"]),
    (["x"], ONE, {}, ["The candidates are a list; expected a mapping"]),
    ({"v1": "x"}, None, {}, ["The references are null; expected a mapping"]),
    ({"v1": "x"}, {"v1": "a man"}, {}, ["references of item 'v1' are one text; put it in a list"]),
    ({"v1": "x"}, {"v1": None}, {}, ["references of item 'v1' are null; expected a list"]),
    ({"v1": "x"}, {"v1": {"a"}}, {}, ["are of type set; expected a list of texts"]),
    ({"v1": "x"}, {"v1": b"a"}, {}, ["are of type bytes; expected a list of texts"]),
    ({"v1": "x"}, {"v1": []}, {}, ["item 'v1' has no references; at least one is needed"]),
    ({"v1": "x"}, {"v1": ["a", 3]}, {}, ["reference 2 of item 'v1' is a number (3)"]),
    ({"v1": None}, ONE, {}, ["candidates: the caption of item 'v1' is null; expected text"]),
    ({"v1": ["x"]}, ONE, {}, ["the caption of item 'v1' is a list; expected text"]),
    ({"v1": "a\ud800"}, ONE, {}, ["item 'v1' holds a lone surrogate ('\\ud800', position 2)"]),
    ({"v1": "a\0"}, ONE, {}, ["item 'v1' holds a NUL character (position 2)"]),
    ({None: "x"}, ONE, {}, ["the item id is null"]),
    ({" ": "x"}, ONE, {}, ["the item id is empty"]),
    ({True: "x"}, ONE, {}, ["the item id is true"]),
    ({1: "x", "1": "y"}, {"1": ["a"]}, {}, ["the ids 1 and '1' are the same item"]),
    ({"1": "y", 1: "x"}, {"1": ["a"]}, {}, ["the ids 1 and '1' are the same item"]),
    (dict.fromkeys(range(9)), ONE, {}, ["candidates: 9 records cannot be used; the first 5:"]),
    (
        {"v1": "x"},
        TWO,
        {},
        ["1 item has no candidate (first: 'v2')", "1 candidates for 2 items", 'missing="zero"'],
    ),
    (
        {"v1": "x", "v2": "y", "v3": "z", "v4": "z"},
        TWO,
        {},
        ["2 candidates have no references (first: 'v3', 'v4')", 'pass missing="skip"'],
    ),
    ({"v1": "x", "v3": "y"}, TWO, {}, ["1 item has no candidate", "1 candidate has no references"]),
    ({"v1": "x", "v3": "y"}, TWO, {"missing": "zero"}, ["1 candidate has no references"]),
    ({"1": "x"}, {"1": ["a"], "2": ["b"]}, {}, ["if they come from plain lines"]),
    *(
        ({"1": "x"}, ONE, {"missing": missing}, ["no item in common", "'1'", "'v1'"])
        for missing in ("error", "zero", "skip")
    ),
    ({"v1": " "}, ONE, {}, ["1 candidate is empty (first: 'v1').", 'empty="zero"']),
    (
        {"v1": "...", "v2": " ?! "},
        {"v1": ["a"], "v2": ["b"]},
        {},
        ["2 candidates are empty (first: 'v1', 'v2'): '...' has no words. Fix"],
    ),
    (
        {"v1": "x"},
        {"v1": ["a", "--"]},
        {},
        ["(first: reference 2 of item 'v1'): '--' has no words."],
    ),
    (
        {"v1": "x", "v2": "y"},
        {"v1": ["a"], "v2": ["b", "\t", ""]},
        {},
        ["2 references are empty (first: reference 2 of item 'v2')", 'empty="zero"'],
    ),
]


@pytest.mark.parametrize(("candidates", "references", "policies", "parts"), REFUSED)
def test_refused(candidates: Any, references: Any, policies: Any, parts: list[str]) -> None:
    with pytest.raises(DataError) as caught:
        pair(candidates, references, **policies)
    for part in parts:
        assert part in str(caught.value)


def test_unknown_policies() -> None:
    with pytest.raises(UnknownNameError, match="'drop'"):
        pair({"v1": "x"}, ONE, missing="drop")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="'skip'"):
        pair({"v1": "x"}, ONE, empty="skip")  # type: ignore[arg-type]


def test_the_missing_are_not_among_the_empty() -> None:
    paired = pair({"v2": "y"}, TWO, missing="zero", empty="error")
    assert (paired.missing_candidates, paired.empty_candidates) == (1, 0)


def test_what_is_skipped_may_be_empty() -> None:
    assert pair({"v2": "y"}, {"v1": [""], "v2": ["a"]}, missing="skip").items == ["v2"]


def test_input_is_left_alone() -> None:
    candidates, references = {"v2": "y", "v9": "z"}, {"v1": ["a"], "v2": ["b"]}
    pair(candidates, references, missing="skip")
    assert candidates == {"v2": "y", "v9": "z"}
    assert references == {"v1": ["a"], "v2": ["b"]}


def test_punctuation_alone_is_no_caption() -> None:
    """What is left of a caption once it is tokenized decides, as it does of its score."""
    references = {"v1": ["a man"], "v2": ["a dog"]}
    paired = pair({"v1": "...", "v2": "!!!"}, references, empty="zero")
    assert paired.notes() == ["2 candidates are empty."]
    assert pair({"v1": "...", "v2": "x"}, references, tokenized=True).empty_candidates == 0
    for text in ("...", "?", "…", "“”", "`", "- -", "¿?", "。", "()", "👍"):
        assert not has_words(text), text
    for text in ("x", "7", "男", "$", "a."):
        assert has_words(text), text


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6))
def test_of_what_has_words_tokens_are_left(text: str) -> None:
    if has_words(text):
        assert tokenize([text])[0].strip()


def test_alone() -> None:
    assert lone_candidates({1: "x"}).items == ["1"]  # type: ignore[dict-item]
    assert lone_references(TWO).references == ["a man", "he", "a dog"]
    with pytest.raises(DataError, match="1 candidate is empty"):
        lone_candidates({"v1": ""})
    with pytest.raises(DataError, match="1 reference is empty"):
        lone_references({"v1": [""]})
    assert lone_candidates({"v1": ""}, empty="zero").empty_candidates == 1


@given(
    st.dictionaries(st.text("abc", min_size=1), st.lists(st.text(max_size=3)), min_size=1),
    st.data(),
)
def test_every_item_keeps_its_captions(references: dict[str, list[str]], data: Any) -> None:
    references = {item: [*texts, "end"] for item, texts in references.items()}
    references = {i: [t.replace("\0", "") for t in texts] for i, texts in references.items()}
    given_ids = data.draw(st.lists(st.sampled_from(list(references)), unique=True, min_size=1))
    paired = pair({i: f"of {i}" for i in given_ids}, references, missing="skip", empty="zero")
    assert paired.items == [item for item in references if item in given_ids]
    assert paired.candidates == [f"of {item}" for item in paired.items]
    begin_end = zip(paired.reference_offsets, paired.reference_offsets[1:], strict=False)
    slices = [paired.references[begin:end] for begin, end in begin_end]
    assert slices == [references[item] for item in paired.items]
