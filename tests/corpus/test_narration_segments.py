"""The narrator is found where he speaks, by each method, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import fftconvolve

from reelscore.corpus.sound import segmentation, voices
from reelscore.corpus.sound.audio import RATE
from reelscore.corpus.sound.segmentation import method_names, segment_samples
from reelscore.corpus.sound.sound_remarks import segmentation_remarks
from reelscore.corpus.time_map import Piece, TimeMap
from reelscore.errors import MissingExtraError, UnknownNameError
from support.film_sound import NARRATION, described, film_sound, samples_of, voice

SECONDS = 40.0
SAME = TimeMap((Piece(0.0, SECONDS, 0.0, 1.0),))


@pytest.fixture(scope="module")
def film():
    return film_sound(SECONDS)


def codes(segmentation):
    return [finding.code for finding in segmentation_remarks(segmentation)]


@pytest.mark.parametrize(
    ("method", "stretched"), [*((each, False) for each in method_names()), ("residual", True)]
)
def test_every_method_finds_the_narrator(film, method, stretched):
    track, sound = samples_of(described(film), 3), samples_of(film, 3)
    found = segment_samples(track, sound, SAME, method=method, stretched=stretched)
    assert found.method == ("power" if stretched else method)
    assert len(found.segments) == len(NARRATION)
    for segment, (start, end) in zip(found.segments, NARRATION, strict=True):
        assert segment.start == pytest.approx(start, abs=0.6)
        assert segment.end == pytest.approx(end, abs=0.6)
        assert segment.ad_start == segment.start
    assert codes(found) == []


def test_edges_are_sharp(film):
    """Ends may be later than here, where a voice stops at once: people's fade away."""
    found = segment_samples(samples_of(described(film)), samples_of(film), SAME)
    starts, ends = zip(*NARRATION, strict=True)
    assert [segment.start for segment in found.segments] == pytest.approx(starts, abs=0.03)
    late = [segment.end - end for segment, end in zip(found.segments, ends, strict=True)]
    assert min(late) > -0.03
    assert max(late) < 0.15
    closer = described(film, [(10.0, 12.0), (12.6, 14.0)])
    first, second = segment_samples(samples_of(closer), samples_of(film), SAME).segments
    assert second.start - first.end >= 0.5  # a pause stays one


class Listener:
    """Hears a voice, or none, in all there is."""

    name = "listener"

    def __init__(self, hears: bool) -> None:
        self.hears, self.heard = hears, []

    def hears_voice(self, sound):
        self.heard.append(len(sound) / RATE)
        return self.hears


def test_quiet_passages_count_where_a_voice_is_heard(film, monkeypatch):
    track = described(film)
    track[int(28.0 * RATE) : int(29.0 * RATE)] += 0.012 * voice(1.0)  # 25 dB below the narrator
    sounds = samples_of(track), samples_of(film, 3), SAME
    for listener, quiet in ((None, 0), (Listener(False), 0), (Listener(True), 1)):
        monkeypatch.setattr(segmentation, "voice_detector", lambda wanted, it=listener: it)
        found = segment_samples(*sounds)
        assert [28 < segment.end < 29.4 for segment in found.segments].count(True) == quiet
        assert len(found.segments) == 4 + quiet
        assert found.detector == ("listener" if listener else "")
    assert listener.heard[0] == pytest.approx(1.0, abs=0.2)  # the passage alone


def test_a_detector_that_is_not_there_is_named(film, monkeypatch):
    monkeypatch.setattr(voices, "find_spec", lambda package: None)
    sounds = samples_of(film), samples_of(film, 3), SAME
    assert segment_samples(*sounds).detector == ""
    with pytest.raises(MissingExtraError, match="pip install --no-deps silero-vad onnxruntime"):
        segment_samples(*sounds, detector="silero")


def test_the_film_is_explained_while_it_is_faded(film):
    """Eight dB in 0.2 seconds, as before and after a narrator."""
    steps = np.zeros(len(film))
    for start in range(4, 36, 4):
        steps[start * RATE : (start + 2) * RATE] = 8.0
    faded = film * 10 ** (-fftconvolve(steps, np.hanning(3200) / 1599.5, "same") / 20)
    found = segment_samples(samples_of(faded), samples_of(film, 3), SAME)
    assert found.segments == ()
    assert found.loudest < -26  # with one gain a window: -16.6


def test_gain_equaliser_and_ducking_are_no_narration(film):
    swell = 10 ** (0.3 * np.sin(2 * np.pi * np.arange(len(film)) / RATE / 9))
    filtered = np.convolve(0.5 * film * swell, [0.7, 0.3, -0.1], "same")
    found = segment_samples(samples_of(filtered), samples_of(film, 3), SAME)
    assert found.segments == ()
    assert codes(found) == ["no-narration"]


def test_a_fading_voice_is_followed_where_the_rest_is_quiet(film):
    sound, quiet = 0.2 * voice(3.0), slice(int(2.5 * RATE), None)
    sound[quiet] *= 10 ** (-36 / 20)
    track = film.copy()
    track[10 * RATE : 13 * RATE] += sound
    (found,) = segment_samples(samples_of(track), samples_of(film, 3), SAME).segments
    assert (found.start, found.end) == pytest.approx((10.0, 13.0), abs=0.15)
    rng = np.random.default_rng(4)  # as loud as the end of the voice, everywhere
    noise = np.sqrt(np.mean(sound[quiet] ** 2)) * rng.standard_normal(len(track))
    (found,) = segment_samples(samples_of(track + noise), samples_of(film, 3), SAME).segments
    assert found.end < 12.8


def test_confidence_tells_speech_from_noise(film):
    track = described(film)
    noise = np.random.default_rng(3).standard_normal(2 * RATE).astype(np.float32)
    track[28 * RATE : 30 * RATE] += 0.1 * noise
    segments = segment_samples(samples_of(track), samples_of(film, 3), SAME).segments
    assert [segment.start for segment in segments if segment.confidence <= 0.5] == [
        pytest.approx(28.0, abs=0.2)
    ]


def test_narration_everywhere_is_reported():
    film = film_sound(20.0)
    track = described(film, [(0.5, 19.5)])
    found = segment_samples(
        samples_of(track), samples_of(film, 3), TimeMap((Piece(0.0, 20.0, 0.0, 1.0),))
    )
    assert found.share > 0.6
    [finding] = segmentation_remarks(found)
    assert finding.code == "too-much"
    assert finding.message.endswith("reverberant ones are read with --method spectrogram.")


def test_options_are_followed(film):
    track, sound = samples_of(described(film), 3), samples_of(film, 3)
    longer = segment_samples(track, sound, SAME, min_length=2.0)
    assert len(longer.segments) == 3
    joined = segment_samples(track, sound, SAME, gap=6.0)
    assert len(joined.segments) == 3
    assert segment_samples(track, sound, SAME, threshold=20.0).segments == ()
    with pytest.raises(UnknownNameError, match="Did you mean 'lms'"):
        segment_samples(track, sound, SAME, method="lsm")


def test_times_follow_the_map(film):
    """The first ten seconds of the film are missing, and the track runs from half a second on."""
    track = np.concatenate([np.zeros(RATE // 2), described(film)[10 * RATE :]])
    time_map = TimeMap((Piece(0.5, 30.5, 10.0, 1.0),))
    found = segment_samples(samples_of(track), samples_of(film, 3), time_map)
    starts = [start for start, _ in NARRATION if start > 10]
    assert [segment.start for segment in found.segments] == pytest.approx(starts, abs=0.1)
    assert [segment.ad_start for segment in found.segments] == pytest.approx(
        [start - 9.5 for start in starts], abs=0.1
    )
