"""Packed strings, words as numbers, slices of batches."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from reelscore import DataError
from reelscore.text.words import Captions, Pairing, pack

TEXTS = ["a man", "", "naïve 😀", "a\u00a0b c", " a  man "]


def test_pack():
    packed = pack(TEXTS)
    assert packed.size == 5
    assert packed.unpack() == TEXTS
    assert packed.data.tobytes() == "".join(TEXTS).encode()
    assert pack([]).unpack() == []
    assert packed.take(np.array([4, 0, 0])).unpack() == [TEXTS[4], TEXTS[0], TEXTS[0]]
    assert packed.take(np.array([], dtype=np.int64)).unpack() == []
    with pytest.raises(IndexError, match="no such text"):
        packed.take(np.array([len(TEXTS)]))


def test_what_is_no_list_of_captions():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"caption": ["a man", "a dog"]})
    assert pack(frame["caption"]).unpack() == ["a man", "a dog"]
    assert pack(text for text in ("a man", "a dog")).size == 2
    for wrong in ("a man", {"v1": "a man"}, frame):
        with pytest.raises(DataError, match="Expected a list of captions, got"):
            pack(wrong)


def words(texts, attribute):
    captions = Captions(pack(texts))
    split = getattr(captions, attribute)
    spelled = [captions.vocabulary.word(int(k)) for k in split.ids]
    return [spelled[a:b] for a, b in pairwise(split.offsets)]


# Every character Python's str.split() takes for white space, and a few it does not.
SPACES = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2028\u2029\u202f\u205f\u3000"
NO_SPACES = "\u200b\ufeff\u180e\x00"


@pytest.mark.parametrize("space", SPACES + NO_SPACES, ids=lambda c: f"U+{ord(c):04X}")
def test_white_space_is_pythons(space):
    text = f"{space}a{space}{space}b{space}"
    assert words([text], "words") == [text.split()]
    assert words([text], "blank_words") == [text.split(" ")]


@pytest.mark.parametrize("texts", [TEXTS, [""], ["", "a"], ["a b", "c"]])
def test_splits(texts):
    assert words(texts, "words") == [text.split() for text in texts]
    assert words(texts, "blank_words") == [text.split(" ") for text in texts]


def test_a_shared_vocabulary():
    one = Captions(pack(["a man", "a dog"]))
    two = Captions(pack(["the man"]), one.vocabulary)
    assert one.words.ids.tolist() == [0, 1, 0, 2]
    assert two.words.ids.tolist() == [3, 1]
    assert len(one.vocabulary) == 4
    with pytest.raises(IndexError):
        one.vocabulary.word(4)


def test_slices():
    captions = Captions(pack(["a", "b c", "d"]))
    piece = captions.slice(1, 3)
    assert piece.size == 2
    assert piece.text.unpack() == ["b c", "d"]
    assert piece.words.ids.tolist() == [0, 1, 2]


ORDERS = [[0, 1, 2], [1, 2], [2, 0, 1], [0, 0, 2], []]


@pytest.mark.parametrize("items", ORDERS)
def test_references_in_order(items):
    references = ["r00", "r10", "r11", "r20"]
    offsets = np.array([0, 1, 3, 4])
    pairing = Pairing(np.array(items, dtype=np.int64), offsets)
    text, own = pairing.references_in_order(pack(references))
    texts = text.unpack()
    chosen = [texts[a:b] for a, b in pairwise(own)]
    assert chosen == [references[offsets[k] : offsets[k + 1]] for k in items]
