"""The words of the narration: a table to fill in, and what transcribers and recognisers give back.

Transcription itself is done elsewhere: by people, or by any recogniser of speech.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from reelscore.corpus.pipeline import ALIGN, StepWork
from reelscore.corpus.project_files import Remark, Segment, TimedSentence, Transcript, unused_id
from reelscore.corpus.scripts.elements import read_text
from reelscore.corpus.sound.audio import RATE, Samples, wav_file
from reelscore.corpus.sound.time_map import TimeMap
from reelscore.corpus.words.subtitles import read_subtitles
from reelscore.errors import DataError
from reelscore.text.parser.sentences import split_sentences

Times = Literal["ad", "film"]

COLUMNS = ("id", "start", "end", "ad_start", "ad_end", "audio", "text")
"""The columns of the table to fill in."""

_INSIDE = 0.5  # share of an entry that the narrator must speak; the rest is dialogue


@dataclass(frozen=True)
class TranscriptEntry:
    """Words with times, as a transcript has them."""

    text: str  # the words
    # When they begin, in the transcript's own time; None where only a segment is named.
    start: float | None = None
    end: float | None = None  # when they end
    segment: str | None = None  # the id of the segment that they belong to, where it is named


def transcript_template(segments: Sequence[Segment], *, audio: bool = False) -> str:
    """Write a table for transcribers, a row for each segment.

    >>> segment = Segment("n00.00.04.000", 4.0, 6.5, 4.4, 6.9, -8.1, 0.9)
    >>> print(transcript_template([segment], audio=True), end="")
    id,start,end,ad_start,ad_end,audio,text
    n00.00.04.000,4.0,6.5,4.4,6.9,audio/n00.00.04.000.wav,
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for each in segments:
        sound = f"audio/{each.id}.wav" if audio else ""
        writer.writerow([each.id, each.start, each.end, each.ad_start, each.ad_end, sound, ""])
    return text.getvalue()


def segment_sound(samples: Samples, segment: Segment) -> bytes:
    """Return the sound of a segment as a WAV file."""
    sound = samples.read(round(segment.ad_start * RATE), round(segment.ad_end * RATE))
    return wav_file(sound)


def read_entries(path: str | Path) -> list[TranscriptEntry]:
    """Read a transcript: CSV, SRT, WebVTT, or the JSON of a recogniser of speech.

    JSON is a list, or has one as `segments`, of `start`, `end` and `text`; with the times of
    `words`, sentences of an entry get their own.
    """
    text = read_text(path)
    if text.lstrip()[:1] in ("[", "{"):
        return list(_recognised(text, str(path)))
    first_line = text.lstrip().partition("\n")[0]
    if "text" in next(csv.reader([first_line]), []):
        return list(_rows(text, str(path)))
    return [TranscriptEntry(cue.text, cue.start, cue.end) for cue in read_subtitles(path).cues]


def _rows(text: str, path: str) -> Iterator[TranscriptEntry]:
    reader = csv.DictReader(io.StringIO(text))
    columns = set(reader.fieldnames or ())
    if not ({"id"} <= columns or {"start", "end"} <= columns):
        raise DataError(f"{path}: expected the columns id and text, or start, end and text.")
    for row in reader:
        try:
            start, end = (float(row[name]) if row.get(name) else None for name in ("start", "end"))
        except ValueError:
            raise DataError(
                f"{path}:{reader.line_num}: {row['start']!r} to {row['end']!r} are no seconds."
            ) from None
        yield TranscriptEntry((row["text"] or "").strip(), start, end, row.get("id") or None)


def _recognised(text: str, path: str) -> Iterator[TranscriptEntry]:
    try:
        content: Any = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise DataError(f"{path}: malformed JSON ({error}).") from None
    entries = content.get("segments") if isinstance(content, dict) else content
    if not isinstance(entries, list):
        raise DataError(f"{path}: expected a list, or one as 'segments'.")
    for number, entry in enumerate(entries):
        try:
            start, end, words = float(entry["start"]), float(entry["end"]), str(entry["text"])
        except (KeyError, TypeError, ValueError):
            raise DataError(
                f"{path}: entry {number} lacks start and end in seconds, or text."
            ) from None
        yield from _by_words(words.strip(), start, end, entry.get("words") or ())


def _by_words(
    text: str, start: float, end: float, words: Sequence[Mapping[str, Any]]
) -> Iterator[TranscriptEntry]:
    """Part an entry into sentences where the times of its words say when each is spoken."""
    sentences = split_sentences(text)
    counts = [len(sentence.split()) for sentence in sentences]
    timed = all("start" in word and "end" in word for word in words)
    if len(sentences) < 2 or not timed or sum(counts) != len(words):
        yield TranscriptEntry(text, start, end)
        return
    first = 0
    for sentence, count in zip(sentences, counts, strict=True):
        last = first + count - 1
        yield TranscriptEntry(sentence, float(words[first]["start"]), float(words[last]["end"]))
        first += count


def narration_sentences(
    entries: Iterable[TranscriptEntry],
    segments: Sequence[Segment],
    time_map: TimeMap | None = None,
    *,
    times: Times = "ad",
) -> tuple[list[TimedSentence], list[Remark]]:
    """Make sentences of a transcript, in film time.

    Its times are those of the described track (`ad`), which need a map, or of the film; entries
    that name a segment have the segment's. What is mostly outside of segments is dialogue, and
    left out.

    >>> segment = Segment("n00.00.04.000", 4.0, 6.5, 4.4, 6.9, -8.1, 0.9)
    >>> named = TranscriptEntry("Anna nods.", segment="n00.00.04.000")
    >>> entries = [named, TranscriptEntry("Hello!", 20.0, 21.0)]
    >>> sentences, remarks = narration_sentences(entries, [segment], times="film")
    >>> [(each.text, each.start) for each in sentences], remarks[0].code
    ([('Anna nods.', 4.0)], 'outside')
    """
    by_id = {segment.id: segment for segment in segments}
    sentences: dict[str, TimedSentence] = {}
    lost = {"empty": 0, "unmapped": 0, "outside": 0}
    for entry in entries:
        named = by_id.get(entry.segment or "")
        if not entry.text:
            lost["empty"] += 1
        elif named is not None:
            _add(sentences, entry.text, named.start, named.end, named)
        else:
            start, end = _film_times(entry, time_map, times)
            if start is None or end is None or end < start:
                lost["unmapped"] += 1
                continue
            parent, inside = _spoken_in(start, end, segments)
            if segments and inside < _INSIDE * (end - start):
                lost["outside"] += 1
            else:
                _add(sentences, entry.text, start, end, parent)
    said = {
        "empty": "{} entries have no words.",
        "unmapped": "{} entries have no time in the film.",
        "outside": "{} entries are not where the narrator speaks, and were left out as dialogue.",
    }
    remarks = [Remark(code, said[code].format(count)) for code, count in lost.items() if count]
    if not sentences:
        remarks.append(Remark("no-sentences", "No sentence is left.", trusted=False))
    return sorted(sentences.values(), key=lambda each: (each.start or 0.0, each.id)), remarks


def film_transcript(work: StepWork, *, times: Times = "ad") -> Transcript:
    """Read the transcript of a film of a project, as `narration_sentences` does."""
    segments = work.project.reviewed(work.film_id).segments
    aligned = work.project.result(ALIGN, work.film_id)
    time_map = aligned.time_map if aligned is not None and times == "ad" else None
    sentences, remarks = narration_sentences(
        read_entries(str(work.file)), segments, time_map, times=times
    )
    return Transcript(sentences=tuple(sentences), report=tuple(remarks))


def _film_times(
    entry: TranscriptEntry, time_map: TimeMap | None, times: Times
) -> tuple[float | None, float | None]:
    if entry.start is None or entry.end is None or times == "film" or entry.segment:
        return entry.start, entry.end  # the table to fill in has film times
    if time_map is None:
        raise DataError(
            "Times of the described track need a time map (--map); are they the film's "
            "(--times film)?"
        )
    return time_map.to_film(entry.start), time_map.to_film(entry.end)


def _spoken_in(
    start: float, end: float, segments: Sequence[Segment]
) -> tuple[Segment | None, float]:
    """Return the segment that shares most with a time, and how much all share."""
    shares = [
        (min(end, each.end) - max(start, each.start), each)
        for each in segments
        if each.start < end and start < each.end
    ]
    best = max(shares, key=lambda share: share[0])[1] if shares else None
    return best, sum(share for share, _ in shares)


def _add(
    sentences: dict[str, TimedSentence], text: str, start: float, end: float, parent: Segment | None
) -> None:
    identity = unused_id("t", start, sentences)
    sentences[identity] = TimedSentence(
        identity, text, round(start, 3), round(end, 3), "ad", parent.id if parent else None
    )
