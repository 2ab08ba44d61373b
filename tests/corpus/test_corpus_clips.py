"""Clips and sets: lengths, ids, whole films, shares."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reelscore.corpus.project import Film
from reelscore.corpus.project_files import Decision, Segment, TimedSentence
from reelscore.corpus.release.clip_assembly import assemble, trimmed
from reelscore.corpus.release.film_sets import SETS, FilmGroup, split, works
from reelscore.corpus.review.decisions import replay
from reelscore.errors import DataError

TIMES = st.integers(0, 7_200_000).map(lambda thousandths: thousandths / 1000)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.tuples(TIMES, st.floats(0, 9)), min_size=1, max_size=20))
def test_expanded_clips(spans):
    sentences = [
        TimedSentence(f"s{n}", "x", start, start + length, "ad")
        for n, (start, length) in enumerate(spans)
    ]
    clips = assemble("f", sentences, seconds=7210.0)
    assert len({clip.id for clip in clips}) == len(clips)
    assert sorted(each for clip in clips for each in clip.sentences) == sorted(
        each.id for each in sentences
    )
    for clip in clips:
        length = clip.expanded_end - clip.expanded_start
        if clip.end - clip.start < 2:
            assert length == pytest.approx(2.0, abs=1e-9)
        else:
            assert (clip.expanded_start, clip.expanded_end) == (clip.start, clip.end)
        assert 0 <= clip.expanded_start <= clip.start
        assert clip.end <= clip.expanded_end <= 7210.0


def test_ends_of_a_film_and_other_expansions():
    ends = [TimedSentence("a", "x", 0.0, 1.0, "ad"), TimedSentence("b", "x", 99.5, 100.0, "ad")]
    clips = assemble("f", ends, seconds=100.0)
    assert [(clip.expanded_start, clip.expanded_end) for clip in clips] == [(0, 2), (98, 100)]
    clips = assemble("f", ends, seconds=100.0, expand="tail")
    assert [(clip.expanded_start, clip.expanded_end) for clip in clips] == [(0, 3), (99.5, 100)]
    clips = assemble("f", ends, expand="none")
    assert [(clip.expanded_start, clip.expanded_end) for clip in clips] == [(0, 1), (99.5, 100)]


def test_sentences_with_the_same_times_share_a_clip():
    same = [TimedSentence("a", "x", 4.0, 7.0, "ad"), TimedSentence("b", "y", 4.0, 7.0001, "script")]
    (clip,) = assemble("f", same)
    assert (clip.sentences, clip.origin) == (("a", "b"), "script")


def test_rejected_sentences_have_no_clip():
    now = "2026-01-01T00:00:00Z"
    sentences = [
        TimedSentence(name, name, 4.0 * n, 4.0 * n + 3, "ad", parent="n1" if n == 3 else None)
        for n, name in enumerate("abcd")
    ]
    decisions = [
        Decision(now, "ada", "a", "reject", note="sound or music"),
        Decision(now, "ada", "b", "reject"),
        Decision(now, "ada", "b", "undo", after={"state": "proposed"}),
        Decision(now, "ada", "c", "edit", after={"text": "new", "end": 12.0, "state": "edited"}),
        Decision(now, "ada", "n1", "reject"),
    ]
    segments = [Segment("n1", 12.0, 15.0, 12.0, 15.0, -8.0, 0.9)]
    done = replay(segments, sentences, decisions).sentences
    assert [each.state for each in done] == ["rejected", "proposed", "edited", "rejected"]
    assert (done[0].flags, done[2].text, done[2].end) == (("sound or music",), "new", 12.0)
    assert [clip.sentences for clip in assemble("f", done)] == [("b",), ("c",)]
    assert [each.state for each in trimmed(sentences, 16.0, 4.0, 2.0)] == [
        "rejected",
        "proposed",
        "proposed",
        "rejected",
    ]


def test_shares_and_genres():
    genres = ["drama", "comedy", "horror"]
    films = [FilmGroup((f"f{n}",), genres[n % 3], narrated=50 + 7 * n % 31) for n in range(60)]
    sets = split(films, by_genre=True)
    total = sum(work.narrated for work in films)
    counts, by_genre = Counter(), Counter()
    for work in films:
        counts[sets[work.films[0]]] += work.narrated
        by_genre[sets[work.films[0]], work.genre] += work.narrated
    for name, target in zip(SETS, (0.778, 0.055, 0.085, 0.081), strict=True):
        assert counts[name] / total == pytest.approx(target, abs=0.01)
        for genre in genres:
            # sets of four or five films: each genre has one or two
            assert by_genre[name, genre] / counts[name] == pytest.approx(1 / 3, abs=0.2)
    assert split(films, by_genre=True) == sets


def test_a_film_is_in_one_set():
    films = [Film("a", "Up", 2009), Film("b", " up ", 2009), Film("c", "Up", 2010), Film("d")]
    clips = [(film.id, "ad") for film in films for _ in range(5)]
    groups = works(films, clips)
    assert [work.films for work in groups] == [("a", "b"), ("c",), ("d",)]
    sets = split(groups, ratios=(1, 1, 1, 0))
    assert sets["a"] == sets["b"]
    assert len(set(sets.values())) == 3
    with pytest.raises(DataError, match="are the same film"):
        split(groups, ratios=(1, 1, 1, 0), fixed={"a": "training", "b": "validation"})
    with pytest.raises(DataError, match="would be empty: 3 films"):
        split(groups)
