"""The words of the narration: a table to fill in, and what transcribers and recognisers give back.

People transcribe elsewhere; a recogniser can be asked here, passage by passage.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec

from reelscore._progress import Progress
from reelscore._records import resolved
from reelscore.corpus.pipeline import ALIGN, StepWork, csv_text
from reelscore.corpus.project import Project
from reelscore.corpus.project_files import Remark, Segment, TimedSentence, Transcript, unused_id
from reelscore.corpus.scripts.elements import read_text
from reelscore.corpus.sound.audio import (
    RATE,
    SampleReader,
    Samples,
    find_track,
    read_samples,
    wav_file,
)
from reelscore.corpus.sound.segmentation import narration_turns
from reelscore.corpus.time_map import Piece, TimeMap, clock
from reelscore.corpus.words.recognisers import Recogniser, open_recogniser, remembered
from reelscore.corpus.words.subtitles import check_end, read_subtitles
from reelscore.errors import DataError
from reelscore.text.parser.sentences import split_sentences

Times = Literal["ad", "film"]

COLUMNS = ("id", "start", "end", "ad_start", "ad_end", "audio", "text")
"""The columns of the table to fill in."""

_AROUND = 0.2  # seconds of sound before and after a turn that recognisers hear too
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
    """Write a table for transcribers, a row for each segment."""
    rows = []
    for each in segments:
        sound = f"audio/{each.id}.wav" if audio else ""
        rows.append([each.id, each.start, each.end, each.ad_start, each.ad_end, sound, ""])
    return csv_text([COLUMNS, *rows])


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
        return list(recognised_entries(text, str(path)))
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


class _Word(msgspec.Struct):
    """A word as recognisers write it; some know no times of numbers."""

    start: float | None = None
    end: float | None = None
    word: str = ""
    text: str = ""


class _Part(msgspec.Struct):
    """A stretch of speech as recognisers write it."""

    start: float
    end: float
    text: str
    words: list[_Word] | None = None


class _Answer(msgspec.Struct):
    """What a recogniser writes of a whole sound; some list words beside the segments."""

    text: str = ""
    segments: list[_Part] | None = None
    words: list[_Word] | None = None


def recognised_entries(text: str, path: str) -> Iterator[TranscriptEntry]:
    """Yield the entries of a recogniser's JSON: sentences, where its words have times."""
    try:
        content = msgspec.json.decode(text, type=resolved(_Answer | list[_Part]), strict=False)
    except msgspec.DecodeError as error:
        raise DataError(
            f"{path}: not what recognisers write ({error}); expected a list, or one as "
            "'segments', of start and end in seconds and text."
        ) from None
    if isinstance(content, list):
        content = _Answer(segments=content)
    whole = content.text or " ".join(part.text.strip() for part in content.segments or ())
    if sentences := _by_words(whole, content.words or ()):
        yield from sentences
    elif content.segments is None:
        yield TranscriptEntry(content.text.strip())
    for part in content.segments or () if not sentences else ():
        entry = TranscriptEntry(part.text.strip(), part.start, part.end)
        yield from _by_words(part.text, part.words or ()) or [entry]


def _by_words(text: str, words: Sequence[_Word]) -> list[TranscriptEntry]:
    """Part a text into sentences by the times of its words; none where these do not fit."""
    letters = [_letters(word.word or word.text) for word in words]
    spoken = [(word, len(own)) for word, own in zip(words, letters, strict=True) if own]
    is_timed = all(word.start is not None and word.end is not None for word, _ in spoken)
    if not spoken or not is_timed or _letters(text) != "".join(letters):
        return []
    entries, rest = [], iter(spoken)
    for sentence in split_sentences(text.strip()):
        left, own = len(_letters(sentence)), []
        while left > 0 and (following := next(rest, None)):
            own.append(following[0])
            left -= following[1]
        if own:
            entries.append(TranscriptEntry(sentence, own[0].start, own[-1].end))
    return entries


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def heard_entries(
    hear: Recogniser, samples: SampleReader, segments: Sequence[Segment], progress: Progress | None
) -> Iterator[TranscriptEntry]:
    """Have a recogniser transcribe each turn of the narrator, in the times of the track."""
    by_id = {segment.id: segment for segment in segments}
    turns = narration_turns(segments)
    for number, turn in enumerate(turns, start=1):
        first, last = by_id[turn[0]].ad_start, by_id[turn[-1]].ad_end
        begin = max(0, round((first - _AROUND) * RATE))
        answer = hear(wav_file(samples.read(begin, round((last + _AROUND) * RATE)))).strip()
        if not answer.startswith(("{", "[")):
            answer = msgspec.json.encode(_Answer(answer)).decode()
        for entry in recognised_entries(answer, f"The recogniser, at {clock(first)} of the track"):
            if entry.start is None or entry.end is None:
                yield replace(entry, start=first, end=last)
            else:
                start, end = (begin / RATE + time for time in (entry.start, entry.end))
                yield TranscriptEntry(entry.text, min(max(start, first), last), min(end, last))
        if progress:
            progress(number, len(turns))


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
            span = _film_times(entry, time_map, times)
            if span is None or span[1] < span[0]:
                lost["unmapped"] += 1
                continue
            start, end = span
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


def film_transcript(
    work: StepWork,
    *,
    times: Times = "ad",
    recogniser: str | None = None,
    model: str | None = None,
    language: str | None = None,
) -> Transcript:
    """Read the transcript of a film, with times of its sound or of the described track.

    Where there is none, a recogniser (a server, a model in a folder, or a command) makes one.
    """
    project, film_id = work.project, work.film_id
    segments = project.reviewed(film_id).segments
    aligned = project.result(ALIGN, film_id)
    if recogniser is not None:
        times = "ad"
        narrated = [segment for segment in segments if segment.state != "rejected"]
        entries = _recognised(work, narrated, recogniser, model, language)
    elif work.file is not None:
        entries = read_entries(str(work.file))
    else:
        raise DataError("There is nothing to read; name a transcript, or a recogniser.")
    if times == "film":
        whole, seconds = "the film", project.seconds(film_id)
    else:
        whole = "the described track"
        seconds = aligned.ad.seconds if aligned and aligned.ad else None
    last = max((each.end or 0.0 for each in entries if each.segment is None), default=0.0)
    hint = "Is it of another one? Times of the film need --times film."
    check_end(f"{work.file}: the last entry", last, whole, seconds, hint)
    time_map = aligned.time_map if aligned is not None and times == "ad" else None
    if times == "film" and seconds is not None:  # nothing is said after the film
        time_map, times = TimeMap((Piece(0.0, seconds, 0.0, 1.0),)), "ad"
    sentences, remarks = narration_sentences(entries, segments, time_map, times=times)
    return Transcript(sentences=tuple(sentences), report=tuple(remarks))


def _recognised(
    work: StepWork,
    segments: Sequence[Segment],
    recogniser: str,
    model: str | None,
    language: str | None,
) -> list[TranscriptEntry]:
    """Have the narration of a film recognised; what was heard before is not asked for again."""
    project, film_id = work.project, work.film_id
    if not segments:
        raise DataError(
            f"Film {film_id!r} has no segments; run 'reelscore corpus segment {film_id}' first."
        )
    cache = project.cache(film_id)
    hear = open_recogniser(recogniser, model=model, language=language)
    hear = remembered(hear, cache / "heard", f"{recogniser}\n{model}\n{language}")
    with described_sound(project, film_id) as samples:
        return list(heard_entries(hear, samples, segments, work.progress))


def described_sound(project: Project, film_id: str) -> Samples:
    """Decode the described track of a film."""
    ad = project.film(film_id).ad
    if ad is None:
        raise DataError(f"Film {film_id!r} has no described track; name it with --ad.")
    track = find_track(project.folder / ad, role="ad", stream=project.streams(film_id)[1])
    return read_samples(track, folder=project.cache(film_id))


def _film_times(
    entry: TranscriptEntry, time_map: TimeMap | None, times: Times
) -> tuple[float, float] | None:
    if entry.start is None or entry.end is None:
        return None
    if entry.segment or times == "film":  # the table to fill in has film times too
        return entry.start, entry.end
    if time_map is not None:
        return time_map.film_span(entry.start, entry.end)
    raise DataError(
        "Times of the described track need a time map (--map); are they the film's (--times film)?"
    )


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
