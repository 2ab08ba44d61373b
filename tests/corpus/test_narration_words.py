"""Transcripts in all their forms, and what describers want to know about a narration."""

from __future__ import annotations

import io
import json
import wave

import numpy as np
import pytest

from reelscore.corpus.project_files import Segment
from reelscore.corpus.time_map import Piece, TimeMap
from reelscore.corpus.words.accessibility import Narration, accessibility_report, to_webvtt
from reelscore.corpus.words.subtitles import read_subtitles
from reelscore.corpus.words.transcripts import (
    TranscriptEntry,
    narration_sentences,
    read_entries,
    segment_sound,
    transcript_template,
)
from reelscore.errors import DataError

SEGMENTS = [
    Segment("n00.00.04.000", 4.0, 6.5, 14.0, 16.5, -8.1, 0.9),
    Segment("n00.00.20.000", 20.0, 23.0, 30.0, 33.0, -8.1, 0.9),
]
MAP = TimeMap((Piece(10.0, 100.0, 0.0, 1.0),))
SRT = "1\n00:00:14,000 --> 00:00:16,500\nAnna nods.\n\n2\n00:00:18,000 --> 00:00:19,000\nHello!\n"
HEARD = {
    "segments": [
        {"start": 14.0, "end": 16.5, "text": " Anna nods."},
        {
            "start": 30.0,
            "end": 33.0,
            "text": "She turns. She runs away.",
            "words": [
                {"word": word, "start": 30 + 0.5 * number, "end": 30.4 + 0.5 * number}
                for number, word in enumerate(["She", "turns.", "She", "runs", "away."])
            ],
        },
    ]
}


def sentences(path, **options):
    found, findings = narration_sentences(read_entries(path), SEGMENTS, MAP, **options)
    return [(each.text, each.start, each.end) for each in found], [each.code for each in findings]


def test_the_table_that_was_filled_in(tmp_path):
    path = tmp_path / "transcript.csv"
    rows = transcript_template(SEGMENTS).splitlines()
    path.write_text("\r\n".join([*rows[:1], rows[1] + '"Anna nods, twice."', rows[2]]))
    assert sentences(path) == ([("Anna nods, twice.", 4.0, 6.5)], ["empty"])
    (found,), _ = narration_sentences(read_entries(path), SEGMENTS)
    assert (found.id, found.parent) == ("t00.00.04.000", "n00.00.04.000")


@pytest.mark.parametrize("kind", ["srt", "vtt"])
def test_subtitles(tmp_path, kind):
    path = tmp_path / f"said.{kind}"
    text = SRT if kind == "srt" else "WEBVTT\n\n" + SRT.replace(",", ".")
    path.write_text(text)
    assert sentences(path) == ([("Anna nods.", 4.0, 6.5)], ["outside"])
    with pytest.raises(DataError, match="need a time map"):
        narration_sentences(read_entries(path), SEGMENTS)


def test_what_a_recogniser_heard(tmp_path):
    path = tmp_path / "heard.json"
    path.write_text(json.dumps(HEARD))
    expected = [
        ("Anna nods.", 4.0, 6.5),
        ("She turns.", 20.0, 20.9),
        ("She runs away.", 21.0, 22.4),
    ]
    assert sentences(path) == (expected, [])
    path.write_text(json.dumps(HEARD["segments"][:1]))
    assert sentences(path, times="film") == ([], ["outside", "no-sentences"])
    path.write_text(json.dumps([{"start": 1.0, "text": "no end"}]))
    with pytest.raises(DataError, match="missing required field `end`"):
        read_entries(path)


def test_times_outside_the_film():
    entries = [
        TranscriptEntry("Too early.", 1.0, 2.0),
        TranscriptEntry("Twice.", 14, 16),
        TranscriptEntry("Twice!", 14, 16),
    ]
    found, findings = narration_sentences(entries, SEGMENTS, MAP)
    assert [each.id for each in found] == ["t00.00.04.000", "t00.00.04.000.2"]
    assert [each.code for each in findings] == ["unmapped"]


def test_the_sound_of_a_segment():
    class Track:
        def read(self, start, stop):
            return np.linspace(-1, 1, stop - start, dtype=np.float32)

    with wave.open(io.BytesIO(segment_sound(Track(), SEGMENTS[0]))) as file:
        assert (file.getframerate(), file.getnframes()) == (16_000, 40_000)
        samples = np.frombuffer(file.readframes(40_000), "<i2")
    assert (samples[0], samples[-1]) == (-32767, 32767)


def test_webvtt_is_read_back(tmp_path):
    path = tmp_path / "descriptions.vtt"
    path.write_text(to_webvtt([Narration(4.0, 6.5, "Anna & Tom\nnod."), Narration(7.0, 8.0)]))
    cues = read_subtitles(path).cues
    assert [(cue.start, cue.end) for cue in cues] == [(4.0, 6.5), (7.0, 8.0)]
    assert "Anna &amp; Tom nod." in path.read_text()


def test_density_speed_overlap_and_gaps():
    narration = [
        Narration(10.0, 12.0, "one two three four five six seven eight"),
        Narration(11.0, 13.0, "one two"),
        Narration(30.0, 34.0),
    ]
    result = accessibility_report(narration, [(33.0, 40.0), (12.5, 20.0)], seconds=50.0)
    assert result.narrated == 7.0
    assert result.density == 0.14
    assert result.words_per_minute == 150.0
    assert [each.words_per_minute for each in result.fast] == [240.0]
    assert (result.overlap, len(result.overlaps)) == (1.5, 2)
    gaps = [(gap.start, gap.end, gap.words) for gap in result.gaps]
    assert gaps == [(0.25, 9.75, 25), (20.25, 29.75, 25), (40.25, 49.75, 25)]
    assert accessibility_report([]).density == 0.0


def test_real_descriptions(shared):
    folder = shared / "movie" / "elephants_dream"
    if not folder.is_dir():
        pytest.skip("the descriptions of Elephants Dream are not there")
    told = read_subtitles(folder / "descriptions.en.vtt").cues
    talk = read_subtitles(folder / "captions.en.vtt").cues
    found, findings = narration_sentences(
        read_entries(folder / "descriptions.en.vtt"), [], times="film"
    )
    assert (len(found), findings) == (len([cue for cue in told if cue.text]), [])
    result = accessibility_report(
        [Narration(each.start, each.end, each.text) for each in found],
        [(cue.start, cue.end) for cue in talk if cue.lines],
    )
    for gap in result.gaps:
        assert all(gap.end <= cue.start or cue.end <= gap.start for cue in (*told, *talk))
