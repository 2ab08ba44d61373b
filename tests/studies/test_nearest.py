"""Nearest neighbours: whoever compares, the result is that of all pairs, ties included."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reelscore.errors import DataError, MissingExtraError
from reelscore_studies import nearest
from reelscore_studies.baselines.clip_features import Features
from reelscore_studies.baselines.retrieval import search as searching
from reelscore_studies.baselines.retrieval.neighbours import NearestSearch
from reelscore_studies.baselines.retrieval.search import nearest_rows, normalised

DISTANCES = ["intersection", "l1", "cosine"]


def features_of(matrix):
    return Features(tuple(map(str, range(len(matrix)))), np.asarray(matrix, np.float32))


def by_hand(training, queries, k, distance):
    """Every pair by itself in double precision, rounded, then in file order."""
    places, similarities = [], []
    for query in queries.astype(np.float64):
        own = []
        for place, row in enumerate(training.astype(np.float64)):
            value = {
                "intersection": np.minimum(row, query).sum(),
                "l1": -np.abs(row - query).sum(),
                "cosine": (row * query).sum(),
            }[distance]
            own.append((-round(value, 6), place))
        own.sort()
        places.append([place for _, place in own[:k]])
        similarities.append([-value for value, _ in own[:k]])
    return places, np.array(similarities)


# few values and short rows: ties everywhere, and rows of zeros
SMALL = st.integers(0, 3)
HISTOGRAMS = st.integers(1, 4).flatmap(
    lambda width: st.tuples(
        *(
            arrays(np.int64, st.tuples(st.integers(1, most), st.just(width)), elements=SMALL)
            for most in (40, 4)
        )
    )
)


@given(HISTOGRAMS, st.sampled_from(DISTANCES), st.integers(1, 3), st.sampled_from([4, 1 << 18]))
def test_blocks_and_faiss_give_what_all_pairs_give(matrices, distance, k, block):
    training, queries = (normalised(features_of(own), distance).matrix for own in matrices)
    k = min(k, len(training))
    places, similarities = by_hand(training, queries, k, distance)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "_BLOCK", block)
        patch.setattr(searching, "_QUERIES", 3)
        patch.setattr(searching, "_PRODUCTS", 2)
        for backend in ("numpy", "faiss"):
            found = nearest_rows(
                training, queries, k=k, distance=distance, backend=backend, threads=1
            )
            assert found.places.tolist() == places, backend
            assert np.allclose(found.similarities, similarities, atol=1e-9)


def test_real_ties_are_broken_by_file_order():
    """Queries halfway between two items, where single precision decides by its last bit."""
    draw = np.random.default_rng(0)
    training = normalised(features_of(draw.random((300, 64)))).matrix
    pairs = draw.integers(0, 300, (100, 2))
    queries = ((training[pairs[:, 0]] + training[pairs[:, 1]]) / 2).astype(np.float32)
    places, _ = by_hand(training, queries, 1, "intersection")
    assert sum(place[0] == min(pair) for place, pair in zip(places, pairs, strict=True)) > 90
    for backend in ("numpy", "faiss"):
        assert nearest_rows(training, queries, backend=backend).places.tolist() == places


@pytest.mark.parametrize("backend", ["faiss", "numpy"])
def test_more_ties_than_faiss_is_asked_for(backend):
    training = np.tile(np.float32([[0.5, 0.5]]), (100, 1))
    training[60] = [0.4, 0.6]
    found = nearest_rows(training, np.float32([[0.5, 0.5]]), k=3, backend=backend)
    assert found.places.tolist() == [[0, 1, 2]]
    assert found.similarities.tolist() == [[1.0, 1.0, 1.0]]


@pytest.mark.parametrize("backend", ["faiss", "numpy"])
def test_rows_of_zeros_are_similar_to_nothing(backend):
    """Their distance is less than that of a histogram with nothing in common."""
    training = normalised(features_of([[0, 0, 0], [0, 0, 1], [0, 1, 9]])).matrix
    found = nearest_rows(training, np.float32([[0, 1, 0], [1, 0, 0], [0, 0, 0]]), backend=backend)
    assert found.places.tolist() == [[2], [0], [0]]
    assert found.similarities.tolist() == [[0.1], [0.0], [0.0]]


def test_what_cannot_be_searched():
    rows = np.ones((2, 3), np.float32)
    with pytest.raises(DataError, match="Training items have 3 features, queries 2"):
        nearest_rows(rows, rows[:, :2])
    with pytest.raises(DataError, match="k is 3; expected a number from 1 to 2 training items"):
        nearest_rows(rows, rows, k=3)
    with pytest.raises(DataError, match="Item '1' has negative features"):
        normalised(features_of([[1.0], [-1.0]]))
    assert normalised(features_of([[3, -1]]), clip_negative=True).matrix.tolist() == [[1, 0]]
    assert normalised(features_of([[3, -4]]), "cosine").matrix.round(6).tolist() == [
        pytest.approx([0.6, -0.8])
    ]


def test_faiss_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    monkeypatch.setattr(searching, "find_spec", lambda name: None)
    rows = np.float32([[1, 0], [0, 1]])
    assert nearest_rows(rows, rows).places.tolist() == [[0], [1]]
    with pytest.raises(MissingExtraError, match="pip install faiss-cpu"):
        nearest_rows(rows, rows, backend="faiss")


# Captions

TRAINING = features_of([[1, 0, 0], [0, 1, 0], [0, 0.9, 0.1]])
CAPTIONS = {
    "0": ["a cat sleeps"],
    "1": ["a man", "a man runs fast", "a man runs"],
    "2": ["a man is running"],
}
QUERIES = Features.of({"q": [0.0, 0.5, 0.0], "r": [7.0, 0.0, 0.0]})


def test_a_query_gets_a_caption_of_its_nearest_item():
    assert nearest(TRAINING, CAPTIONS, QUERIES) == {"q": "a man", "r": "a cat sleeps"}
    medoid = nearest(TRAINING, CAPTIONS, QUERIES, pick="medoid")
    assert medoid == {"q": "a man runs fast", "r": "a cat sleeps"}
    both = nearest(TRAINING, CAPTIONS, QUERIES, pick="medoid", k=2, distance="cosine")
    assert both["q"] in CAPTIONS["1"] + CAPTIONS["2"]
    assert (TRAINING.matrix[2] == np.float32([0, 0.9, 0.1])).all()  # the user's are not changed


def test_the_order_of_captions_breaks_ties():
    same = features_of([[1, 1], [2, 2]])
    queries = Features.of({"q": [3.0, 3.0]})
    assert nearest(same, {"1": "one", "0": "zero"}, queries) == {"q": "one"}
    assert nearest(same, {"0": "zero", "1": "one"}, queries) == {"q": "zero"}


def test_several_features_have_the_same_weight():
    """Whatever their scale: the second decides where the first is undecided."""
    first = features_of([[500, 500], [500, 500], [1000, 0]])
    second = features_of([[1, 0], [0, 1], [0, 1]])
    queries = [Features.of({"q": [50.0, 50.0]}), Features.of({"q": [0.0, 0.2]})]
    captions = {str(k): f"caption {k}" for k in range(3)}
    assert nearest([first, second], captions, queries) == {"q": "caption 1"}
    with pytest.raises(DataError, match="There are 2 kinds of training features and 1 of queries"):
        nearest([first, second], captions, queries[:1])
    apart = [queries[0], Features.of({"q": [0.0, 0.2], "r": [1.0, 0.0]})]
    with pytest.raises(DataError, match="Item 'r' has some of the features, but not all"):
        nearest([first, second], captions, apart)
    assert nearest([first, second], captions, apart, missing="skip") == {"q": "caption 1"}
    apart = [queries[0], Features.of({"r": [1.0, 0.0]})]
    with pytest.raises(DataError, match=r"No item has all features \(first: 'q'; first: 'r'\)"):
        nearest([first, second], captions, apart, missing="skip")


def test_missing_items_are_in_the_signature():
    with pytest.raises(DataError, match=r"1 caption has no features \(first: '9'\)"):
        nearest(TRAINING, {**CAPTIONS, "9": ["x"]}, QUERIES)
    assert nearest(TRAINING, {"1": ["x"], "9": ["y"]}, QUERIES, missing="skip")["r"] == "x"
    assert "|missing:skip|" in NearestSearch(missing="skip").signature()
    with pytest.raises(DataError, match='Pass pick="medoid", or k=1'):
        NearestSearch(k=2)
