"""Described tracks find their place in films: offsets, rates, cuts, and strangers refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import fftconvolve

from reelscore.corpus.sound.audio import RATE
from reelscore.corpus.sound.film_alignment import _in_order, align_samples
from reelscore.corpus.sound.sound_remarks import alignment_remarks
from reelscore.corpus.sound.waveforms import AlignedStretch, _lines_through
from reelscore.corpus.time_map import Piece, TimeMap, within_film
from support.film_sound import described, faster, film_sound, samples_of


def aligned(track, film, **options):
    film, ad = samples_of(film), samples_of(track)
    alignment = align_samples(ad, film, **options)
    findings = list(alignment_remarks(alignment, film, ad))
    assert alignment.related == all(finding.trusted for finding in findings)
    return alignment, [finding.code for finding in findings]


def worst_ms(alignment, truth, times):
    return max(1000 * abs(alignment.map.to_film(time) - truth(time)) for time in times)


@pytest.fixture(scope="module")
def film():
    return film_sound(45.0)


def test_an_offset_is_found_to_a_fraction_of_a_sample(film):
    track = np.concatenate([np.zeros(11_683, np.float32), 0.4 * described(film)])
    alignment, codes = aligned(track, film)
    assert worst_ms(alignment, lambda t: t - 11_683 / RATE, np.arange(1, 45)) < 0.05
    [piece] = alignment.map.pieces
    assert piece.film_start == 0  # the silence in front is not of the film
    assert codes == ["mono", "mono"]  # nothing else is special


def test_a_change_of_speed_is_found(film):
    alignment, codes = aligned(faster(described(film)), film)
    assert alignment.rate == pytest.approx(25 / 24, abs=2e-6)
    assert worst_ms(alignment, lambda t: t * 25 / 24, np.arange(1, 42)) < 0.2
    assert codes == ["mono", "mono", "rate"]


def test_a_given_rate_is_kept(film):
    alignment, _ = aligned(faster(described(film)), film, rate=25 / 24, search=None)
    assert worst_ms(alignment, lambda t: t * 25 / 24, np.arange(1, 42)) < 0.2


def test_cuts_and_insertions_are_found():
    film = film_sound(80.0)
    other = film_sound(5.0, seed=77)
    track = np.concatenate([film[: 25 * RATE], other, film[25 * RATE : 50 * RATE]])
    track = np.concatenate([track, film[56 * RATE :]])
    alignment, codes = aligned(track, film)
    breaks = alignment.map.breaks(alignment.ad_seconds, alignment.film_seconds)
    assert [(each.kind, round(each.seconds, 1)) for each in breaks] == [
        ("insertion", 5.0),
        ("cut", 6.0),
    ]
    assert [each.ad for each in breaks] == pytest.approx([25.0, 55.0], abs=0.1)
    assert alignment.map.to_film(27.0) is None
    assert worst_ms(alignment, lambda t: t - 5, [31, 40, 54]) < 0.05
    assert worst_ms(alignment, lambda t: t + 1, [56, 60, 78]) < 0.05
    assert codes == ["mono", "mono", "cuts", "uncovered"]


def test_a_long_insertion_is_a_warning_with_its_times():
    film, other = film_sound(80.0), film_sound(30.0, seed=77)
    track = np.concatenate([film[: 50 * RATE], other, film[50 * RATE :]])
    alignment, codes = aligned(track, film)
    assert alignment.related
    assert codes == ["mono", "mono", "cuts", "uncovered"]
    found = list(alignment_remarks(alignment, samples_of(film), samples_of(track)))[-1]
    assert found.message == (
        "27.3% of the described track is nowhere in the film: 0:50.0 to 1:20.0."
    )
    assert worst_ms(alignment, lambda t: t - 30, [81, 90, 109]) < 0.05


def test_silence_at_the_ends_is_not_uncovered(film):
    quiet = np.zeros(20 * RATE, np.float32)
    alignment, codes = aligned(np.concatenate([quiet, film, quiet]), film)
    assert (alignment.related, codes) == (True, ["mono", "mono"])
    alignment, codes = aligned(film, np.concatenate([quiet, film, quiet]))
    assert (alignment.related, codes) == (True, ["mono", "mono"])


def test_a_reverberant_track_is_not_called_faster():
    """The film inside comes from a room: late echoes alone, and no waveform as it was."""
    film, rng = film_sound(60.0), np.random.default_rng(3)
    echoes = rng.standard_normal(RATE // 2) * np.exp(-np.arange(RATE // 2) / (0.06 * RATE))
    room = fftconvolve(described(film), echoes / np.sqrt(np.sum(echoes**2)))[: len(film)]
    alignment, codes = aligned(room, film)
    assert alignment.stretched
    assert codes == ["mono", "mono", "other-mix"]
    assert worst_ms(alignment, lambda t: t, np.arange(1, 59)) < 60


def test_a_track_cut_short_is_called_so():
    film = film_sound(80.0)
    alignment, codes = aligned(film[: 30 * RATE], film)
    assert (alignment.related, codes) == (True, ["mono", "mono", "cut-short"])
    alignment, codes = aligned(film[50 * RATE :], film)
    assert (alignment.related, codes) == (True, ["mono", "mono", "cut-short"])
    alignment, codes = aligned(film, film[: 50 * RATE])  # the film's file is
    assert (alignment.related, codes) == (True, ["mono", "mono", "uncovered"])


def test_what_is_added_at_the_end_is_not_in_the_middle(film):
    sounds = samples_of(film), samples_of(film)
    alignment = align_samples(*sounds)
    piece = Piece(0.3, 40.2999, 0.0, 1.0)  # a little before the film ends, as rounding makes it
    later = replace(alignment, map=TimeMap((piece,)), ad_seconds=40.35, film_seconds=40.0)
    assert [each.kind for each in later.map.breaks(40.35, 40.0)] == ["insertion", "insertion"]
    assert "cuts" not in [finding.code for finding in alignment_remarks(later, *sounds)]


@pytest.mark.parametrize("dropped", [0.0417, -0.0417, 0.15])
def test_a_dropped_or_repeated_picture_is_found(film, dropped):
    at, samples = 20 * RATE, round(dropped * RATE)
    track = np.concatenate([film[:at], film[at + samples :]])
    alignment, codes = aligned(track, film)
    assert alignment.coherent > 0.15
    assert "cuts" in codes
    assert worst_ms(alignment, lambda t: t, np.arange(1, 19.5, 0.5)) < 0.05
    after = np.arange(21, 44, 0.5)
    assert worst_ms(alignment, lambda t: t + samples / RATE, after) < 0.05


def test_another_film_is_refused(film):
    alignment, codes = aligned(film_sound(45.0, seed=9), film)
    assert not alignment.related
    assert alignment.confidence < 0.12
    assert codes[-1] == "no-match"


def test_sound_without_content_is_refused(film):
    alignment, codes = aligned(np.zeros(20 * RATE), film)
    assert not alignment.related
    assert codes[-2:] == ["lengths", "no-match"]


def test_a_sound_of_a_second_is_no_error(film):
    alignment, _ = aligned(film[:RATE], film)
    assert alignment.ad_seconds == 1


def test_clocks_that_wander_are_followed():
    times = np.arange(1.0, 1799.0, 2.0)
    truth = 5 + times + 0.004 * np.sin(2 * np.pi * times / 1800)
    straight = AlignedStretch(np.array([0.0, 1800.0]), np.array([5.0, 1805.0]))
    [line] = _lines_through(times, truth, straight)
    assert len(line.ad) == 7  # every five minutes
    assert np.abs(line.film_at(times) - truth).max() < 0.0004


def test_accidental_likeness_does_not_break_the_order():
    def line(ad, film, windows):
        return AlignedStretch(
            np.array([ad, ad + 50.0]), np.array([film, film + 50.0]), 0.0, windows
        )

    first, accident, last = line(0.0, 100.0, 20), line(50.0, 10.0, 0), line(100.0, 200.0, 20)
    quiet = line(50.0, 150.0, 0)
    assert _in_order([first, accident, last]) == [first, last]
    assert _in_order([first, quiet, last]) == [first, quiet, last]
    moved = line(50.0, 10.0, 20)  # waveforms agree: a scene that was moved
    assert _in_order([first, moved, last]) == [first, moved, last]


PIECES = st.lists(
    st.tuples(st.floats(0.1, 50), st.floats(0, 5), st.floats(0, 5), st.floats(0.9, 1.1)),
    min_size=1,
    max_size=5,
)


@given(PIECES, st.floats(0, 1))
def test_maps_can_be_inverted_inside_pieces(steps, share):
    pieces, ad, film = [], 0.0, 0.0
    for length, inserted, cut, rate in steps:
        pieces.append(Piece(ad + inserted, ad + inserted + length, film + cut, rate))
        ad, film = pieces[-1].ad_end, pieces[-1].film_end
    time_map = TimeMap(tuple(pieces))
    for piece in pieces:
        # exact ends belong to two pieces where nothing was cut
        time = piece.ad_start + (0.001 + 0.998 * share) * (piece.ad_end - piece.ad_start)
        assert time_map.to_ad(time_map.to_film(time)) == pytest.approx(time, abs=1e-6)
    inside = within_film(pieces, ad / 2, film / 2)
    for piece in inside.pieces:
        assert 0 <= piece.ad_start < piece.ad_end <= ad / 2 + 1e-9
        assert 0 <= piece.film_start < piece.film_end <= film / 2 + 1e-9
