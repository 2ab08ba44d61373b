"""What people decided about a film, one line each, and what its passages are after all of it.

The results of the steps are never changed. A decision says what it changes (`after`), and all
decisions are applied in their order whenever somebody asks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Literal

import msgspec

from reelscore._records import resolved
from reelscore.corpus.project_files import Decision, Segment, State, TimedSentence
from reelscore.errors import DataError, RefusedError

STATES: dict[str, State] = {"accept": "accepted", "reject": "rejected"}
"""The states that decisions without a state of their own lead to, by their actions."""

_NUMBERS = ("start", "end", "ad_start", "ad_end", "confidence")
_WORDS = ("text", "state")
_SAME = 0.5  # overlap (IoU) from which on a new segment is the old one


def read_decisions(path: Path) -> list[Decision]:
    """Read all decisions of a film, in the order in which they were made.

    The last line may be cut off by a crash, and is left out then.
    """
    if not path.exists():
        return []
    decisions = []
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                decisions.append(msgspec.json.decode(line, type=resolved(Decision)))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            if number == len(lines):  # without its line end: never finished
                break
            raise DataError(f"{path}:{number}: not a decision ({error}).") from None
    return decisions


def append_decision(path: Path, decision: Decision, *, version: int | None = None) -> int:
    """Add a decision, safe on the disk before this returns.

    It is refused where there are more decisions than the `version` it was made at.
    """
    with path.open("ab+") as file:
        _lock(file)  # until it is closed
        file.seek(0)
        content = file.read()
        whole = content.rfind(b"\n") + 1
        count = sum(bool(line.strip()) for line in content[:whole].split(b"\n"))
        if version is not None and version != count:
            raise RefusedError(
                "conflict",
                f"There are {count} decisions about this film, and {version} when this one was "
                "made: somebody else has decided meanwhile. Look again, then decide.",
            )
        if whole < len(content):  # the line of a crash: never finished
            file.truncate(whole)
        file.write(msgspec.json.encode(decision) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return count + 1


def _lock(file: IO[bytes]) -> None:
    """Keep other processes from adding decisions at the same time, where the system can."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
    except (ImportError, OSError):  # Windows; a file system without locks
        return


def best_overlap(
    about: Mapping[str, object], items: Iterable[Segment | TimedSentence]
) -> str | None:
    """Find what overlaps most with the times of a decision, at least by half (IoU).

    >>> best_overlap({"start": 4.0, "end": 6.0}, [Segment("n4", 4.1, 6, 4.1, 6, -8.0, 0.9)])
    'n4'
    """
    start, end = about.get("start"), about.get("end")
    if not (isinstance(start, (int, float)) and isinstance(end, (int, float))):
        return None
    best, share = None, 0.0
    for item in items:
        if item.start is None or item.end is None:
            continue
        shared = min(end, item.end) - max(start, item.start)
        overlap = shared / ((max(end, item.end) - min(start, item.start)) or 1.0)
        if overlap >= _SAME and overlap > share:
            best, share = item.id, overlap
    return best


@dataclass(frozen=True)
class Passage:
    """What review lists: a sentence, or a segment that nobody has transcribed."""

    id: str  # of the sentence or the segment
    kind: Literal["segment", "sentence"]  # which of both it is
    start: float  # when it begins
    end: float  # when it ends
    text: str  # its words; empty for a segment
    state: State  # what people decided
    origin: Literal["ad", "script"]  # where it comes from: the narration (`ad`) or the script
    # How sure the machine is: that of the segment; None where nothing is known.
    confidence: float | None
    reason: str = ""  # why it was rejected
    # The segment, or the element of the script, that a sentence belongs to.
    parent: str | None = None
    flags: tuple[str, ...] = ()  # reasons for which it might be removed


@dataclass(frozen=True)
class Reviewed:
    """A film as people decided."""

    # The segments of the narration, rejected ones included, by their starts.
    segments: tuple[Segment, ...]
    # The sentences of narration and script, rejected ones included.
    sentences: tuple[TimedSentence, ...]
    reasons: Mapping[str, str]  # why segments and sentences were rejected, by their ids
    orphaned: tuple[Decision, ...]  # decisions about what is no longer there

    def passages(self) -> list[Passage]:
        """List sentences with times, and segments without sentences, by their starts."""
        by_id = {segment.id: segment for segment in self.segments}
        transcribed = {sentence.parent for sentence in self.sentences}
        passages = [
            Passage(
                each.id,
                "segment",
                each.start,
                each.end,
                "",
                each.state,
                "ad",
                each.confidence,
                self.reasons.get(each.id, ""),
            )
            for each in self.segments
            if each.id not in transcribed
        ]
        for sentence in self.sentences:
            if sentence.start is not None and sentence.end is not None:
                parent = by_id.get(sentence.parent or "")
                passages.append(
                    Passage(
                        sentence.id,
                        "sentence",
                        sentence.start,
                        sentence.end,
                        sentence.text,
                        sentence.state,
                        sentence.origin,
                        parent.confidence if parent else None,
                        self.reasons.get(sentence.id, ""),
                        sentence.parent,
                    )
                )
        return sorted(passages, key=lambda passage: (passage.start, passage.id))


def effective_decisions(decisions: Sequence[Decision]) -> list[tuple[int, Decision]]:
    """Leave out what was undone, and the undoing."""
    undone = {_undone(decision) for decision in decisions}
    return [
        (number, decision)
        for number, decision in enumerate(decisions, start=1)
        if number not in undone and _undone(decision) is None
    ]


def _undone(decision: Decision) -> object:
    return (decision.after or {}).get("undone") if decision.action == "undo" else None


def replay(
    segments: Sequence[Segment], sentences: Sequence[TimedSentence], decisions: Sequence[Decision]
) -> Reviewed:
    """Apply what people decided about segments and sentences.

    A decision changes the fields of its target that `after` has; `after` may add whole records
    (`added`) and remove others by their ids (`removed`). Sentences that nobody decided about share
    the state of their segment.
    """
    state = _Replay(segments, sentences)
    for _, decision in effective_decisions(decisions):
        state.apply(decision)
    return state.result()


class _Replay:
    def __init__(self, segments: Sequence[Segment], sentences: Sequence[TimedSentence]) -> None:
        self.items: dict[str, Segment | TimedSentence] = {each.id: each for each in segments}
        self.items |= {each.id: each for each in sentences}
        self.reasons: dict[str, str] = {}
        self.decided: set[str] = set()
        self.others: dict[str, str] = {}  # what ids of earlier results are called now
        self.orphaned: list[Decision] = []

    def apply(self, decision: Decision) -> None:
        after = decision.after or {}
        if decision.action in ("name", "no-name"):
            return  # about words, not about passages
        added = _records(decision)
        is_new = decision.before is None and bool(added)
        target = None if is_new else self._target(decision)
        if target is None and not is_new:
            self.orphaned.append(decision)
            return
        for record in added:
            self.items[record.id] = record
            self.decided.add(record.id)
        if target is None:
            return
        item = self.items[target]
        changes = _changes(decision, item)
        if changes:
            self.items[target] = replace(item, **changes)
            self.decided.add(target)
        if "state" in changes:
            self.reasons.pop(target, None)
            if changes["state"] == "rejected" and decision.note:
                self.reasons[target] = decision.note
        for removed in _names(after.get("removed")):
            self.items.pop(self.others.get(removed, removed), None)

    def _target(self, decision: Decision) -> str | None:
        name = self.others.get(decision.target, decision.target)
        if name in self.items:
            return name
        about = decision.before or decision.after or {}
        kind = TimedSentence if "text" in about else Segment
        origin = about.get("origin", "ad")
        nearest = best_overlap(
            about,
            [
                each
                for each in self.items.values()
                if isinstance(each, kind) and getattr(each, "origin", "ad") == origin
            ],
        )
        if nearest is not None:
            self.others[decision.target] = nearest
        return nearest

    def result(self) -> Reviewed:
        segments = {key: each for key, each in self.items.items() if isinstance(each, Segment)}
        sentences = []
        for each in self.items.values():
            if not isinstance(each, TimedSentence):
                continue
            source = each.id
            parent = segments.get(each.parent or "")
            if each.id not in self.decided and parent is not None and parent.id in self.decided:
                source, each = parent.id, replace(each, state=parent.state)
            reason = self.reasons.get(source)
            if reason is not None:
                self.reasons[each.id] = reason
                each = replace(each, flags=(*each.flags, reason))
            sentences.append(each)
        return Reviewed(
            tuple(sorted(segments.values(), key=lambda each: (each.start, each.id))),
            tuple(sorted(sentences, key=_by_time)),
            self.reasons,
            tuple(self.orphaned),
        )


def _by_time(sentence: TimedSentence) -> tuple[bool, str, float]:
    """Narration before script, each in time; what has no time keeps its place at the end."""
    return sentence.start is None, sentence.origin, sentence.start or 0.0


def _changes(decision: Decision, item: Segment | TimedSentence) -> dict[str, Any]:
    after = decision.after or {}
    changes: dict[str, Any] = {}
    for names, kind in ((_NUMBERS, (int, float)), (_WORDS, str)):
        for name in names:
            if name in after and hasattr(item, name):
                if not isinstance(after[name], kind):
                    raise DataError(
                        f"The decision of {decision.at} about {decision.target!r} sets {name} to "
                        f"{after[name]!r}; correct its line in decisions.jsonl."
                    )
                changes[name] = after[name]
    if "state" not in changes and decision.action in STATES:
        changes["state"] = STATES[decision.action]
    return changes


def _records(decision: Decision) -> list[Segment | TimedSentence]:
    """Read the whole records that a decision adds; those with a text are sentences."""
    added: Any = (decision.after or {}).get("added", [])
    records: list[Segment | TimedSentence] = []
    try:
        for record in added:
            if "text" in record:
                records.append(msgspec.convert(record, resolved(TimedSentence)))
            else:
                records.append(msgspec.convert(record, resolved(Segment)))
    except (msgspec.ValidationError, TypeError) as error:
        raise DataError(
            f"The decision of {decision.at} about {decision.target!r} adds what is neither a "
            f"segment nor a sentence ({error}); correct its line in decisions.jsonl."
        ) from None
    return records


def _names(value: object) -> list[str]:
    return [str(name) for name in value] if isinstance(value, (list, tuple)) else []
