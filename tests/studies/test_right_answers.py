"""Right answers: LSMDC's published result, slow twins, and definitions written out again."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelscore import score
from reelscore.errors import DataError
from reelscore.metrics.right_answers import RightAnswers
from reelscore.scoring.intervals import with_intervals
from reelscore_studies.movie_tasks import (
    character_sets,
    of_blanks,
    rankings,
    read_answers,
    read_similarity,
)


def values(answers, references, metric):
    """Give the scores of a system by name."""
    results = score(answers, {item: [text] for item, text in references.items()}, [metric])
    return {name: result.score for name, result in results.items()}


def test_the_published_result_of_characters_comes_out(shared):
    """jamespark3922/lsmdc-fillin prints these for its file in which everybody is another person."""
    folder = shared / "lsmdc-fillin"
    blanks = read_answers(folder / "references_val_new.csv")
    answers = read_answers(folder / "character_val_different_ids.csv")
    told = of_blanks("run", answers, blanks)
    people = character_sets("refs", blanks, folder / "valSets.csv")
    got = values(
        character_sets("run", told, folder / "valSets.csv"), people, RightAnswers("identities")
    )
    assert got["instance_accuracy"] == pytest.approx(0.5933798415812808, abs=1e-12)
    assert [got[f"{name}_accuracy"] for name in ("same", "different", "class")] == [0, 1, 0]


def slow_identities(sets):
    """Score identities pair by pair, as the task is defined."""
    shares = {"all": [], "same": [], "different": []}
    for told, true in sets:
        own = {"all": [], "same": [], "different": []}
        for k, j in combinations(range(len(true)), 2):
            is_same = true[k] == true[j]
            right = is_same == (told[k] == told[j])
            own["all"].append(right)
            own["same" if is_same else "different"].append(right)
        for name, pairs in own.items():
            if pairs:
                shares[name].append(sum(pairs) / len(pairs))
    mean = {name: float(np.mean(own)) if own else 0.0 for name, own in shares.items()}
    same, different = mean["same"], mean["different"]
    both = 2 * same * different / (same + different) if same + different else 0.0
    return [mean["all"], same, different, both]


blanks = st.integers(2, 6).flatmap(
    lambda n: st.tuples(*[st.lists(st.sampled_from("abc"), min_size=n, max_size=n)] * 2)
)


@given(st.lists(blanks, min_size=1, max_size=5))
def test_identities_are_those_of_a_slow_twin(sets):
    answers = {str(k): " ".join(told) for k, (told, _) in enumerate(sets)}
    references = {str(k): " ".join(true) for k, (_, true) in enumerate(sets)}
    got = values(answers, references, RightAnswers("identities"))
    assert list(got.values()) == pytest.approx(slow_identities(sets))


@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.booleans())
def test_ranks_are_those_of_numpy(count, seed, tied):
    similarity = np.random.default_rng(seed).random((count, count))
    similarity = similarity.round(1) if tied else similarity
    right = np.arange(count)
    answers = rankings(similarity, right)
    got = values(
        answers, {str(k + 1): str(k + 1) for k in right}, RightAnswers("ranking", clips=count)
    )
    own = np.diag(similarity)[:, None]
    ranks = (similarity >= own).sum(axis=1)  # of equal clips the right one is the last
    expected = [*((ranks <= k).mean() for k in (1, 5, 10)), np.median(ranks)]
    assert list(got.values()) == pytest.approx(expected)


def test_scores_have_intervals():
    references = {str(k): str(k % 5 + 1) for k in range(40)}
    answers = {str(k): str(k % 4 + 1) for k in range(40)}
    table = score(answers, {k: [v] for k, v in references.items()}, [RightAnswers()]).table("mine")
    low, high = with_intervals(table)["mine"]["accuracy"].interval
    assert low < table["mine"]["accuracy"].score == 0.2 < high


def test_words_are_compared_without_case():
    assert values({"a": "Door", "b": "dog"}, {"a": "door", "b": "cat"}, RightAnswers()) == {
        "accuracy": 0.5
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("clip1\t3\nclip2\n", r"run.csv:2: 'clip2' has no answer; expected an id, a tab"),
        ("clip1\t3\nclip1\t4\n", "run.csv:2: 'clip1' has an answer already"),
        ("\n", "run.csv: holds no answers"),
        ('{"clip1": 3', "run.csv: not JSON"),
    ],
)
def test_bad_answers_are_explained(tmp_path, content, said):
    (tmp_path / "run.csv").write_text(content)
    with pytest.raises(DataError, match=said):
        read_answers(tmp_path / "run.csv")


@pytest.mark.parametrize(
    ("content", "said"),
    [("1 2\n3 x\n", "not a matrix of numbers"), ("1 2\n3 nan\n", "row 2, column 2 is nan")],
)
def test_bad_matrices_are_explained(tmp_path, content, said):
    (tmp_path / "m.txt").write_text(content)
    with pytest.raises(DataError, match=said):
        read_similarity(tmp_path / "m.txt")


def test_bad_sets_are_explained(tmp_path):
    answers = {"a": "ann bob", "b": "", "c": "ann"}
    for content, said in (
        ("a\tx\n", "has no clip 'x', which is in .*:1"),
        ("b\tc\n", "no set has two blanks"),
        ("a\tb\na\tc\n", ":2: a set before begins with 'a', too"),
    ):
        (tmp_path / "sets").write_text(content)
        with pytest.raises(DataError, match=said):
            character_sets("run", answers, tmp_path / "sets")
    with pytest.raises(DataError, match="'a' has 1 identity for 2 blanks"):
        of_blanks("run", {"a": "0", "c": "1"}, answers)
