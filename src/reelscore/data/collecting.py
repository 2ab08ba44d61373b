"""Records into captions by item: every id and caption is checked on its way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from reelscore.data.checks import id_fault, text_fault
from reelscore.data.problems import Problems

Records = Iterable[tuple[int, Any, Any]]


def add_candidates(
    records: Records, candidates: dict[str, str], place: Callable[[int], str], problems: Problems
) -> int:
    """Add the one caption of each item, and count the records."""
    count = 0
    for number, item, caption in records:
        count += 1
        if type(item) is int:
            item = str(item)
        if type(caption) is list and len(caption) == 1:
            caption = caption[0]
        if id_fault(item) or text_fault(caption) or item in candidates:
            problems.add(f"{place(number)}: {_reason_for_refusal(item, caption)}.")
        else:
            candidates[item] = caption
    return count


def add_references(
    records: Records,
    references: dict[str, list[str]],
    place: Callable[[int], str],
    problems: Problems,
) -> int:
    """Append the captions of each item, and count the records."""
    count = 0
    for number, item, captions in records:
        count += 1
        if type(item) is int:
            item = str(item)
        texts = captions if type(captions) is list else [captions]
        fault = id_fault(item)
        fault = f"the item id {fault}" if fault else references_fault(item, texts)
        if fault:
            problems.add(f"{place(number)}: {fault}.")
        elif item in references:
            references[item].extend(texts)
        else:
            references[item] = texts
    return count


def references_fault(item: object, texts: Sequence[object]) -> str | None:
    """Say what is wrong with the references of an item, if anything is.

    >>> references_fault("v1", [])
    "item 'v1' has no references; at least one is needed"
    """
    if not texts:
        return f"item {item!r} has no references; at least one is needed"
    for rank, fault in enumerate(map(text_fault, texts), start=1):
        if fault:
            which = "the reference" if len(texts) == 1 else f"reference {rank}"
            return f"{which} of item {item!r} {fault}"
    return None


def candidate_fault(item: object, caption: object) -> str | None:
    """Say what is wrong with the candidate of an item, if anything is.

    >>> candidate_fault("v1", None)
    "the caption of item 'v1' is null; expected text"
    """
    fault = text_fault(caption)
    return f"the caption of item {item!r} {fault}" if fault else None


def _reason_for_refusal(item: object, caption: object) -> str:
    if fault := id_fault(item):
        return f"the item id {fault}"
    one_each = "a system gives one caption per item (are these references?)"
    if type(caption) is list:
        count = f"{len(caption)} captions" if caption else "no caption"
        return f"item {item!r} has {count}; {one_each}"
    return candidate_fault(item, caption) or f"item {item!r} has a candidate already; {one_each}"
