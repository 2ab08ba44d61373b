"""What a person can do to a passage, as the decision that is written down.

A `Reviewer` looks at a film as it is now and gives decisions; nothing is changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import lru_cache

import msgspec

from reelscore.corpus.project_files import Decision, Segment, TimedSentence, unused_id
from reelscore.corpus.review.decisions import Reviewed, effective_decisions
from reelscore.corpus.time_map import TimeMap
from reelscore.errors import DataError

REASONS = ("introduction or ending", "text on screen", "not in the video", "sound or music")
"""Why the paper removed sentences; in review, the keys 1 to 4."""

_ENDS = 180.0  # seconds at the start and the end of a film with logos and cast
_CREDITS = re.compile(
    r"\b(presents?|directed by|produced by|written by|starring|in association with|production|"
    r"productions|pictures|studios?|logo|credits?|screenplay|executive producer)\b",
    re.IGNORECASE,
)
_SCREEN = re.compile(
    r"[\"“][^\"”]+[\"”]|\b[A-Z]{2,}(?:[ ,.'’-]+[A-Z]{2,})+\b|"
    r"\b(reads|reading:|captions?|caption reads|subtitles?|titles?|text on|words appear)\b"
)
_SOUND = re.compile(
    r"\b(music|song|melody|sounds? of|sounds|hears?|heard|noise|audible|voices? off)\b",
    re.IGNORECASE,
)
_SHORTEST = 0.05  # seconds that are left of a passage
_STOP = re.compile(r"[.!?;,:…][\"”')]*$")
_NEAR = 0.25  # of the words: how far from its place in time a text is cut to end with a stop
_LONGEST_TEXT = 5000  # characters


@dataclass(frozen=True)
class Reviewer:
    """What a person decides about: a film as it is now, and who is at the desk."""

    reviewed: Reviewed  # the segments and sentences after all decisions so far
    decisions: Sequence[Decision]  # all decisions so far
    who: str
    seconds: float | None = None  # how long the film is, where that is known
    time_map: TimeMap | None = None  # the time map of the described track, where there is one
    # Gives the time in ISO 8601.
    clock: Callable[[], str] = lambda: datetime.now(timezone.utc).isoformat(timespec="milliseconds")

    def accept(self, target: str) -> Decision:
        """Accept a passage as it is."""
        return self._about(target, "accept", {"state": "accepted"})

    def reject(self, target: str, reason: str = "") -> Decision:
        """Leave a passage out of the corpus, for a reason in words."""
        return self._about(target, "reject", {"state": "rejected"}, reason)

    def move(self, target: str, start: float, end: float) -> Decision:
        """Move a passage to other times."""
        start, end = self._times(start, end)
        return self._about(target, "move", {**self._placed(target, start, end), "state": "edited"})

    def edit(self, target: str, text: str) -> Decision:
        """Change the words of a passage; a segment gets its first sentence by it."""
        text = " ".join(text.split())
        if not text:
            raise DataError("The sentence has no words; to leave it out, reject it.")
        if len(text) > _LONGEST_TEXT:
            raise DataError(f"The sentence has more than {_LONGEST_TEXT} characters.")
        item = self._item(target)
        if isinstance(item, TimedSentence):
            return self._about(target, "edit", {"text": text, "state": "edited"})
        sentence = TimedSentence(
            self._new_id("t", item.start), text, item.start, item.end, "ad", item.id, (), "edited"
        )
        return self._about(target, "edit", {"added": [_plain(sentence)]})

    def split(self, target: str, at: float) -> Decision:
        """Make two passages of one; a text is divided where its words are about then."""
        item = self._item(target)
        start, end = _span(item)
        if not start + _SHORTEST <= at <= end - _SHORTEST:
            raise DataError(f"The cursor is not inside the passage ({start:.2f} to {end:.2f} s).")
        at = round(at, 3)
        placed = self._placed(target, start, at)
        first: dict[str, object] = {**placed, "state": "edited"}
        if isinstance(item, TimedSentence):
            texts = split_text(item.text, (at - start) / (end - start))
            first["text"] = texts[0]
            second: Segment | TimedSentence = replace(
                item, id=self._new_id("t", at), text=texts[1], start=at, state="edited", flags=()
            )
        else:
            second = replace(
                item,
                id=self._new_id("n", at),
                start=at,
                ad_start=placed["ad_end"],
                source="hand",
                state="edited",
            )
        return self._about(target, "split", {**first, "added": [_plain(second)]})

    def merge(self, target: str) -> Decision:
        """Join a passage with the next of its kind."""
        item = self._item(target)
        start, end = _span(item)
        others = [
            other
            for other in self._all()
            if type(other) is type(item)
            and getattr(other, "origin", "") == getattr(item, "origin", "")
            and other.start is not None
            and (other.start, other.id) > (start, item.id)
        ]
        if not others:
            raise DataError("There is no passage after this one to join it with.")
        following = min(others, key=lambda other: (other.start or 0.0, other.id))
        end = max(end, _span(following)[1])
        after: dict[str, object] = {**self._placed(target, start, end), "state": "edited"}
        if isinstance(item, TimedSentence) and isinstance(following, TimedSentence):
            after["text"] = f"{item.text} {following.text}"
        return self._about(target, "merge", {**after, "removed": [following.id]})

    def new(self, start: float, end: float) -> Decision:
        """Add a segment that the machine has not found."""
        start, end = self._times(min(start, end), max(start, end))
        ad_start, ad_end = self.time_map.ad_span(start, end) if self.time_map else (start, end)
        segment = Segment(
            self._new_id("n", start),
            start,
            end,
            round(ad_start, 3),
            round(ad_end, 3),
            0.0,
            1.0,
            "hand",
            "edited",
        )
        return self._decision(segment.id, "new", None, {"added": [_plain(segment)]})

    def name(self, target: str, name: str, is_name: bool) -> Decision:
        """Mark a word as a person's name that is to be replaced, or as none."""
        name = " ".join(name.split())
        if not any(character.isalpha() for character in name):
            raise DataError(f"{name!r} has no letters, so it cannot be a name.")
        item = self._item(target)
        action = "name" if is_name else "no-name"
        return self._decision(target, action, _plain(item), {"name": name})

    def undo(self) -> Decision:
        """Take the last decision back that still counts."""
        counting = effective_decisions(self.decisions)
        if not counting:
            raise DataError("There is nothing to undo.")
        number, last = counting[-1]
        return self._decision(last.target, "undo", None, {"undone": number, "action": last.action})

    # Parts of decisions

    def _all(self) -> list[Segment | TimedSentence]:
        return [*self.reviewed.segments, *self.reviewed.sentences]

    def _item(self, target: str) -> Segment | TimedSentence:
        for item in self._all():
            if item.id == target:
                return item
        raise DataError(f"There is no passage {target!r} any more; choose another.")

    def _about(
        self, target: str, action: str, after: dict[str, object], note: str = ""
    ) -> Decision:
        return self._decision(target, action, _plain(self._item(target)), after, note)

    def _decision(
        self,
        target: str,
        action: str,
        before: dict[str, object] | None,
        after: dict[str, object],
        note: str = "",
    ) -> Decision:
        return Decision(self.clock(), self.who, target, action, before, after, note)

    def _times(self, start: float, end: float) -> tuple[float, float]:
        last = float("inf") if self.seconds is None else self.seconds
        start, end = max(0.0, start), min(end, last)
        if not start + _SHORTEST <= end + 1e-9:
            raise DataError(f"A passage lasts at least {_SHORTEST} s and lies inside the film.")
        return round(start, 3), round(end, 3)

    def _placed(self, target: str, start: float, end: float) -> dict[str, float]:
        """Write the times of a passage; those of a segment also in the described track."""
        item = self._item(target)
        times = {"start": start, "end": end}
        if isinstance(item, TimedSentence):
            return times
        span = self.time_map.ad_span(start, end) if self.time_map else (item.ad_start, item.ad_end)
        return {**times, "ad_start": round(span[0], 3), "ad_end": round(span[1], 3)}

    def _new_id(self, letter: str, start: float) -> str:
        return unused_id(letter, start, {item.id for item in self._all()})


def suggested_flags(
    text: str, start: float, end: float, seconds: float | None = None
) -> tuple[str, ...]:
    """Name the reasons for which the paper would have removed a sentence, by its words."""
    credit_words, on_screen, sound = _words(text)
    at_end = start < _ENDS or (seconds is not None and end > seconds - _ENDS)
    marks = (credit_words and at_end, on_screen, False, sound)
    return tuple(reason for reason, mark in zip(REASONS, marks, strict=True) if mark)


@lru_cache(maxsize=1 << 16)
def _words(text: str) -> tuple[bool, bool, bool]:
    return bool(_CREDITS.search(text)), bool(_SCREEN.search(text)), bool(_SOUND.search(text))


def split_text(text: str, share: float) -> tuple[str, str]:
    """Divide a text about where a share of its words ends, best after a stop.

    >>> split_text("Anna opens the door. Rain falls.", 0.5)
    ('Anna opens the door.', 'Rain falls.')
    """
    words = text.split()
    if len(words) < 2:
        raise DataError("A sentence of one word cannot be split; edit its times instead.")
    wanted = share * len(words)

    def distance(cut: int) -> tuple[bool, float]:
        off = abs(cut - wanted)
        stops = bool(_STOP.search(words[cut - 1])) and off <= _NEAR * len(words)
        return not stops, off

    cut = min(range(1, len(words)), key=distance)
    return " ".join(words[:cut]), " ".join(words[cut:])


def _span(item: Segment | TimedSentence) -> tuple[float, float]:
    if item.start is None or item.end is None:
        raise DataError(f"The sentence {item.id!r} has no time in the film.")
    return item.start, item.end


def _plain(item: Segment | TimedSentence) -> dict[str, object]:
    plain: dict[str, object] = msgspec.to_builtins(item)
    return plain
