"""Times for a script, from the subtitles of its film.

The words of the dialogue are aligned with those of the cues by a longest common subsequence; scenes
that the film has elsewhere are looked for among the words that are left; descriptions share the
time between the lines around them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from reelscore._packages import need
from reelscore.corpus.pipeline import SCRIPT, SUBTITLES, StepWork
from reelscore.corpus.project_files import Cue, Element, LineCounts, Remark, TimedScript
from reelscore.corpus.scripts.elements import some
from reelscore.corpus.words.description_times import SpokenLine, timed_descriptions

_LEAST_SHARE = 0.5  # of a line's words, to be matched
_SHORT = 5  # lines with fewer words need a neighbour
_NEAR = 25.0  # seconds
_LOST = 0.35  # scenes with a smaller share of their words matched are looked for elsewhere
_FOUND = 0.45
_LEAST_MATCHED = 0.2  # of the lines; with fewer it is another film or another language
_BIN, _BEFORE, _AFTER = 40, 80, 160  # words
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


@dataclass(frozen=True)
class _FilmWord:
    word: str
    cue: int
    time: float


def words_of(text: str) -> list[str]:
    """List the words of a text: letters, digits and inner apostrophes, in lower case.

    >>> words_of("Don’t go – it's 5 o'clock!")
    ["don't", 'go', "it's", '5', "o'clock"]
    """
    return _WORD.findall(text.lower().replace("’", "'"))


def align_script(
    elements: Sequence[Element], cues: Sequence[Cue], *, min_score: float = 0.5
) -> TimedScript:
    """Find the times of a script's elements in the film.

    Args:
        elements: The script.
        cues: The film's subtitles.
        min_score: Descriptions with a lower score are not accepted.

    Raises:
        MissingExtraError: If rapidfuzz is not installed.

    >>> script = [
    ...     Element("e0", 1, "dialogue", "ANNA", "Who is there at this hour?"),
    ...     Element("e1", 1, "description", None, "The door opens."),
    ...     Element("e2", 1, "dialogue", "TOM", "It is only me and the dog."),
    ... ]
    >>> from reelscore.corpus import CueLine
    >>> cues = [
    ...     Cue(1.0, 3.0, (CueLine(None, "Who's there at this hour?"),)),
    ...     Cue(8.0, 10.0, (CueLine(None, "It is only me and the dog."),)),
    ... ]
    >>> description = align_script(script, cues).elements[1]
    >>> description.start, description.end, description.accepted
    (3.0, 8.0, True)
    """
    film = _film_words(cues)
    spoken = [place for place, each in enumerate(elements) if each.kind in ("dialogue", "lyric")]
    words = {place: words_of(elements[place].text) for place in spoken}
    owners = [place for place in spoken for _ in words[place]]
    script_words = [word for place in spoken for word in words[place]]
    matches: dict[int, list[int]] = defaultdict(list)
    for own, other in _common(script_words, [each.word for each in film]):
        matches[owners[own]].append(other)
    kept = _matched_lines(spoken, words, matches, film)
    moved = _find_moved(elements, spoken, words, matches, kept, film)
    if moved:
        kept = _matched_lines(spoken, words, matches, film)
    lines = {
        place: SpokenLine(len(words[place]), *_span(kept.get(place, []), film, cues))
        for place in spoken
    }
    timed = [
        _timed_line(each, lines[place], kept.get(place, []), film) if place in lines else each
        for place, each in enumerate(elements)
    ]
    timed, sentences = timed_descriptions(timed, lines, frozenset(moved), min_score)
    matched = sum(line.is_matched for line in lines.values())
    return TimedScript(
        lines=LineCounts(len(spoken), matched),
        moved=moved,
        elements=tuple(timed),
        sentences=tuple(sentences),
        report=tuple(_remarks(matched, len(spoken), moved)),
    )


def film_script_times(work: StepWork, *, min_score: float = 0.5) -> TimedScript:
    """Find the times of the script of a film of a project, as `align_script` does."""
    script = work.project.needed(SCRIPT, work.film_id)
    subtitles = work.project.needed(SUBTITLES, work.film_id)
    return align_script(script.elements, subtitles.cues, min_score=min_score)


def _remarks(matched: int, lines: int, moved: Sequence[int]) -> Iterator[Remark]:
    if matched <= _LEAST_MATCHED * lines:
        yield Remark(
            "no-match",
            f"{matched} of {lines} lines are in the subtitles: another film, another language, or "
            "a script that was read wrongly.",
            trusted=False,
        )
    if moved:
        details = tuple({"scene": scene} for scene in moved)
        words = f"Scenes that the film has elsewhere: {some(moved)}."
        yield Remark("moved", words, details=details)


def _film_words(cues: Sequence[Cue]) -> list[_FilmWord]:
    """Return the words of all cues, each with a time inside its cue."""
    words = []
    for number, cue in enumerate(cues):
        if cue.end <= cue.start or cue.start < 0:  # no time of the film
            continue
        here = words_of(cue.text)
        for place, word in enumerate(here):
            time = cue.start + (cue.end - cue.start) * (place + 0.5) / len(here)
            words.append(_FilmWord(word, number, time))
    return words


def _common(script: Sequence[str], film: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of a longest common subsequence."""
    distances = need(
        "rapidfuzz.distance", "reelscore[corpus]", "Aligning scripts needs", "rapidfuzz"
    )
    numbers: dict[str, int] = {}
    first, second = ([numbers.setdefault(w, len(numbers)) for w in each] for each in (script, film))
    for code in distances.LCSseq.opcodes(first, second):
        if code.tag == "equal":
            yield from zip(
                range(code.src_start, code.src_end),
                range(code.dest_start, code.dest_end),
                strict=True,
            )


def _densest(places: Sequence[int], span: int) -> list[int]:
    """Keep the most matches that lie within a span of film words; the narrowest such set."""
    best: tuple[int, int, int, int] | None = None
    for first, start in enumerate(places):
        last = bisect_left(places, start + span)
        candidate = (last - first, -(places[last - 1] - start), first, last)
        if best is None or candidate[:2] > best[:2]:
            best = candidate
    return list(places[best[2] : best[3]]) if best else []


def _matched_lines(
    spoken: Sequence[int],
    words: dict[int, list[str]],
    matches: dict[int, list[int]],
    film: Sequence[_FilmWord],
) -> dict[int, list[int]]:
    """Return the film words of each line that is matched."""
    dense = {}
    for place in spoken:
        size = len(words[place])
        here = _densest(sorted(matches[place]), 2 * size + 6)
        if here and len(here) >= _LEAST_SHARE * size:
            dense[place] = here
    kept = {place: here for place, here in dense.items() if len(words[place]) >= _SHORT}
    for first, second in pairwise(spoken):  # two short lines together are as good as a long one
        if first in dense and second in dense:
            together = len(dense[first]) + len(dense[second]) >= _SHORT
            if together and _distance(dense[first], dense[second], film) <= _NEAR:
                kept |= {first: dense[first], second: dense[second]}
    for order in (range(len(spoken)), range(len(spoken) - 1, -1, -1)):
        for at in order:
            place = spoken[at]
            if place in kept or place not in dense:
                continue
            beside = [spoken[each] for each in (at - 1, at + 1) if 0 <= each < len(spoken)]
            if any(
                _distance(dense[place], kept[each], film) <= _NEAR
                for each in beside
                if each in kept
            ):
                kept[place] = dense[place]
    return kept


def _distance(first: Sequence[int], second: Sequence[int], film: Sequence[_FilmWord]) -> float:
    gaps = (
        film[first[0]].time - film[second[-1]].time,
        film[second[0]].time - film[first[-1]].time,
    )
    return max(gaps)


def _find_moved(
    elements: Sequence[Element],
    spoken: Sequence[int],
    words: dict[int, list[str]],
    matches: dict[int, list[int]],
    kept: dict[int, list[int]],
    film: Sequence[_FilmWord],
) -> tuple[int, ...]:
    """Look for scenes that are hardly matched among the film's words that are left."""
    scenes: dict[int, list[int]] = defaultdict(list)
    for place in spoken:
        scenes[elements[place].scene].append(place)
    used = {word for here in kept.values() for word in here}
    moved = []
    for scene, places in scenes.items():
        own = [(place, word) for place in places for word in words[place]]
        before = [each for place in places for each in kept.get(place, [])]
        if not own or len(before) >= _LOST * len(own):
            continue
        taken = used - set(before)
        free = [at for at in range(len(film)) if at not in taken]
        window = _best_window([word for _, word in own], film, free)
        pairs = list(_common([word for _, word in own], [film[at].word for at in window]))
        if len(pairs) < max(_FOUND * len(own), len(before) + 1):
            continue
        used -= set(before)
        for place in places:
            matches[place] = []
        for first, second in pairs:
            matches[own[first][0]].append(window[second])
        used |= {window[second] for _, second in pairs}
        moved.append(scene)
    return tuple(moved)


def _best_window(words: Sequence[str], film: Sequence[_FilmWord], free: Sequence[int]) -> list[int]:
    """Return the free film words around the place that shares most runs of three with a scene."""
    wanted = set(zip(words, words[1:], words[2:], strict=False))
    votes: Counter[int] = Counter()
    for first, second, third in zip(free, free[1:], free[2:], strict=False):
        if third - first == 2:
            run = (film[first].word, film[second].word, film[third].word)
            votes[first // _BIN] += run in wanted
    if not votes:
        return []
    # A scene is longer than a bin: its votes are those of all bins it may fill.
    bins = max(1, round(len(words) / _BIN))
    totals = {at: sum(votes[at + step] for step in range(bins)) for at in votes}
    best = max(totals, key=lambda at: (totals[at], -at))
    if not totals[best]:
        return []
    start, end = best * _BIN - _BEFORE, best * _BIN + max(_AFTER, len(words) + _BEFORE)
    return [at for at in free if start <= at < end]


def _span(
    here: Sequence[int], film: Sequence[_FilmWord], cues: Sequence[Cue]
) -> tuple[int, float | None, float | None]:
    """Return how many words are matched, and when the line begins and ends."""
    if not here:
        return 0, None, None
    first, last = film[here[0]], film[here[-1]]
    return len(here), cues[first.cue].start, cues[last.cue].end


def _timed_line(
    element: Element, line: SpokenLine, here: Sequence[int], film: Sequence[_FilmWord]
) -> Element:
    if not line.is_matched:
        return replace(element, score=0.0, reason="no-match")
    return replace(
        element,
        start=line.start,
        end=line.end,
        score=round(line.matched / line.words, 4),
        cues=tuple(sorted({film[at].cue for at in here})),
        accepted=True,
    )
