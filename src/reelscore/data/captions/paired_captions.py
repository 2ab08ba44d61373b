"""Candidates and references of the same items, brought together and checked."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, filterfalse, islice
from math import ceil
from typing import Any, Literal, TypeVar, get_args

import msgspec

from reelscore.data.captions.item_ids import counting_hint, rule_hint
from reelscore.data.checks import (
    Problems,
    are_texts,
    candidate_fault,
    counted,
    first_few,
    has_words,
    id_fault,
    id_text,
    in_words,
    references_fault,
)
from reelscore.errors import DataError, check_choice

Missing = Literal["error", "zero", "skip"]
Empty = Literal["error", "zero"]
T = TypeVar("T")

_NEARLY_ALL = 0.9
_HANDFUL = 5  # captions below which equality may be chance
_SAMPLE = 1000  # captions that are looked at first, spread over all


class Paired(msgspec.Struct, frozen=True):
    """Candidates and references of the same items, in the order of the references."""

    items: list[str]  # the item ids
    candidates: list[str]  # the caption of each item
    references: list[str]  # the references of all items in one list, item after item
    # where the references of each item begin, and the end of the last: those of item `i` are
    # `references[reference_offsets[i]:reference_offsets[i + 1]]`
    reference_offsets: Sequence[int]
    missing_candidates: int = 0  # items without a candidate that a policy scored zero or skipped
    extra_candidates: int = 0  # candidates without references that a policy skipped
    empty_candidates: int = 0  # candidates without a word, besides the missing ones
    empty_references: int = 0  # references without a word
    missing: Missing = "error"  # the policy for missing candidates
    hint: str = ""  # where ids were skipped on both sides, how they would match

    def __len__(self) -> int:
        """Count the items."""
        return len(self.items)

    def references_of(self, place: int) -> list[str]:
        """Return the references of the item at a place.

        >>> pair({"v1": "a man"}, {"v1": ["a man", "a person"]}).references_of(0)
        ['a man', 'a person']
        """
        return self.references[self.reference_offsets[place] : self.reference_offsets[place + 1]]

    def notes(self) -> list[str]:
        """Return what the policies did, in a sentence each; nothing if there was nothing to do.

        >>> pair({"v1": "a man"}, {"v1": ["a man"], "v2": ["a dog"]}, missing="skip").notes()
        ['1 item has no candidate: skipped.']
        """
        done = "scored as an empty caption" if self.missing == "zero" else "skipped"
        counts = [
            (self.missing_candidates, "item has", "items have", f"no candidate: {done}"),
            (self.extra_candidates, "candidate has", "candidates have", "no references: skipped"),
            (self.empty_candidates, "candidate is", "candidates are", "empty"),
            (self.empty_references, "reference is", "references are", "empty"),
        ]
        notes = [f"{counted(n, one, many)} {what}." for n, one, many, what in counts if n]
        return [*notes, *([self.hint] if self.hint else [])]


def check_policies(missing: Missing, empty: Empty) -> None:
    """Refuse policies that are unknown."""
    check_choice("policy missing=", missing, get_args(Missing))
    check_choice("policy empty=", empty, get_args(Empty))


def pair(
    candidates: Mapping[str, str],
    references: Mapping[str, Sequence[str]],
    *,
    missing: Missing = "error",
    empty: Empty = "error",
    tokenized: bool = False,
) -> Paired:
    """Check candidates and references and pair them by item id.

    Ids may be texts or integers; 7 and "7" are the same item.

    Args:
        candidates: The caption of each item.
        references: The references of each item, at least one.
        missing: What to do with ids on one side only. "error" refuses them. "zero" gives an item
            without a candidate the empty caption, and refuses a candidate without references.
            "skip" leaves both out.
        empty: What to do with captions that are empty, blank, or nothing but punctuation. "error"
            refuses them; "zero" keeps them as they are, for metrics to score zero.
        tokenized: Captions are tokenized already, and punctuation is a word like others.

    Raises:
        DataError: If an id or a caption is bad, or a policy refuses it. All are counted, the first
            few are named.
        UnknownNameError: If there is no such policy.

    Example:
        >>> paired = pair({"v1": "a man walks"}, {"v1": ["a man", "he walks"]})
        >>> paired.items, paired.candidates, paired.references, list(paired.reference_offsets)
        (['v1'], ['a man walks'], ['a man', 'he walks'], [0, 2])
        >>> pair({"v1": "a man"}, {"v1": ["a man"], "v2": ["a dog"]}, missing="zero").candidates
        ['a man', '']
    """
    check_policies(missing, empty)
    candidates = _checked("candidates", candidates, candidate_fault)
    references = _checked("references", references, _references_fault)
    captions = [candidates.get(item) for item in references]
    missing_ids = [
        item for item, caption in zip(references, captions, strict=True) if caption is None
    ]
    extra_candidates = len(candidates) - (len(references) - len(missing_ids))
    _check_coverage(candidates, references, missing_ids, extra_candidates, missing)
    hint = ""
    if missing_ids and missing == "skip":
        extra_ids = [item for item in candidates if item not in references]
        counting = counting_hint(candidates, references)
        hint = f"Warning:{counting}" if counting else rule_hint(extra_ids, missing_ids).strip()
        references = {item: texts for item, texts in references.items() if item in candidates}
        captions = [caption for caption in captions if caption is not None]

    items = list(references)
    flat, offsets = _flattened(references.values())
    return Paired(
        items=items,
        candidates=[caption or "" for caption in captions],
        references=flat,
        reference_offsets=offsets,
        missing_candidates=len(missing_ids),
        extra_candidates=extra_candidates,
        empty_candidates=_count_empty_candidates(items, captions, empty, tokenized),
        empty_references=_count_empty_references(items, flat, offsets, empty, tokenized),
        missing=missing,
        hint=hint,
    )


def lone_candidates(
    candidates: Mapping[str, str], *, empty: Empty = "error", tokenized: bool = False
) -> Paired:
    """Check candidates as `pair` does, where there are no references."""
    check_policies("error", empty)
    candidates = _checked("candidates", candidates, candidate_fault)
    items, captions = list(candidates), list(candidates.values())
    return Paired(
        items=items,
        candidates=captions,
        references=[],
        reference_offsets=array("q", bytes(8 * (len(items) + 1))),
        empty_candidates=_count_empty_candidates(items, captions, empty, tokenized),
    )


def lone_references(
    references: Mapping[str, Sequence[str]],
    *,
    empty: Empty | None = None,
    tokenized: bool = False,
) -> Paired:
    """Check references as `pair` does, before there are candidates; the captions are empty."""
    check_policies("error", empty or "error")
    references = _checked("references", references, _references_fault)
    items = list(references)
    flat, offsets = _flattened(references.values())
    return Paired(
        items=items,
        candidates=[""] * len(items),
        references=flat,
        reference_offsets=offsets,
        empty_references=_count_empty_references(items, flat, offsets, empty, tokenized),
    )


def _checked(
    what: str, captions: Mapping[str, T], fault_of: Callable[[object, object], str | None]
) -> Mapping[str, T]:
    """Check ids and captions, and return them under textual ids."""
    if not isinstance(captions, Mapping):
        raise DataError(f"The {what} are {in_words(captions)}; expected a mapping of item ids.")
    if not captions:
        raise DataError(f"There are no {what}; at least one is needed.")
    if _are_usable(what, captions):
        return captions
    problems = Problems(what)
    for item, value in captions.items():
        fault = id_fault(item)
        fault = f"the item id {fault}" if fault else fault_of(item, value)
        if fault:
            problems.add(f"{what}: {fault}.")
    problems.raise_if_any()
    if all(isinstance(item, str) for item in captions):
        return captions
    by_text: dict[str, T] = {}
    for item, value in captions.items():
        if id_text(item) in by_text:
            problems.add(f"{what}: the ids {int(item)} and {id_text(item)!r} are the same item.")
        by_text[id_text(item)] = value
    problems.raise_if_any()
    return by_text


def _are_usable(what: str, captions: Mapping[str, Any]) -> bool:
    """Return whether nothing is wrong with any id or caption, as nearly always."""
    if set(map(type, captions)) != {str} or not all(map(str.strip, captions)):
        return False
    kinds, values = set(map(type, captions.values())), captions.values()
    if what == "references":
        usable = kinds <= {list, tuple} and all(values) and are_texts(chain.from_iterable(values))
    else:
        usable = kinds == {str} and are_texts(values)
    return usable and are_texts(captions)


def _references_fault(item: object, texts: object) -> str | None:
    if isinstance(texts, (list, tuple)):
        return references_fault(item, texts)
    if isinstance(texts, str):
        return f"the references of item {item!r} are one text; put it in a list"
    if isinstance(texts, Sequence) and not isinstance(texts, (bytes, bytearray)):
        return references_fault(item, texts)
    return f"the references of item {item!r} are {in_words(texts)}; expected a list of texts"


def _check_coverage(
    candidates: Mapping[str, str],
    references: Mapping[str, Sequence[str]],
    missing_ids: list[str],
    extra_candidates: int,
    policy: Missing,
) -> None:
    if not missing_ids and not extra_candidates:
        return
    extra_ids = [item for item in candidates if item not in references]
    counting = counting_hint(candidates, references) if extra_ids and missing_ids else ""
    if len(missing_ids) == len(references):
        raise DataError(
            "Candidates and references have no item in common: "
            f"candidates have {len(candidates):,} ({first_few(extra_ids)}), "
            f"references {len(references):,} ({first_few(missing_ids)})."
            + (counting or rule_hint(extra_ids, missing_ids))
        )
    if counting and policy != "skip":  # which would leave out what shows that all are shifted
        raise DataError(
            f"{counted(len(missing_ids), 'item has', 'items have')} no candidate "
            f"({first_few(missing_ids)}), and {counted(len(extra_ids), 'candidate', 'candidates')} "
            f"no references ({first_few(extra_ids)}).{counting}"
        )
    sizes = f"there are {len(candidates):,} candidates for {len(references):,} items"
    if _are_line_numbers(candidates) and _are_line_numbers(references):
        sizes += "; if they come from plain lines, the lines do not correspond"
    faults = []
    if missing_ids and policy == "error":
        faults.append(
            f"{counted(len(missing_ids), 'item has', 'items have')} no candidate "
            f"({first_few(missing_ids)}); {sizes}. "
            'Add them or pass missing="zero" or missing="skip".'
        )
    if extra_ids and policy != "skip":
        faults.append(
            f"{counted(len(extra_ids), 'candidate has', 'candidates have')} no references "
            f"({first_few(extra_ids)}); {sizes}. "
            'Remove them or pass missing="skip".'
        )
    if faults:
        raise DataError("\n".join(faults) + rule_hint(extra_ids, missing_ids))


def _are_line_numbers(ids: Iterable[str]) -> bool:
    return all(item == str(number) for number, item in enumerate(ids, start=1))


def _flattened(groups: Iterable[Sequence[str]]) -> tuple[list[str], array[int]]:
    flat: list[str] = []
    offsets = array("q", [0])
    for texts in groups:
        flat.extend(texts)
        offsets.append(len(flat))
    return flat, offsets


def _count_empty_candidates(
    items: list[str], captions: Sequence[str | None], policy: Empty, tokenized: bool
) -> int:
    empty = _without_words(captions, tokenized)
    if empty and policy == "error":
        count = counted(len(empty), "candidate is", "candidates are")
        named = first_few([items[k] for k in empty])
        raise DataError(f"{count} empty ({named}){_punctuation(captions, empty)}. {_REMEDY}")
    return len(empty)


def _count_empty_references(
    items: list[str], flat: list[str], offsets: array[int], policy: Empty | None, tokenized: bool
) -> int:
    empty = _without_words(flat, tokenized)
    if empty and policy != "zero":
        item = sum(begin <= empty[0] for begin in offsets) - 1
        rank = empty[0] - offsets[item] + 1
        count = counted(len(empty), "reference is", "references are")
        named = f"first: reference {rank} of item {items[item]!r}"
        remedy = "Fix them." if policy is None else _REMEDY
        raise DataError(f"{count} empty ({named}){_punctuation(flat, empty)}. {remedy}")
    return len(empty)


_REMEDY = 'Fix them or pass empty="zero".'


def _without_words(texts: Sequence[str | None], tokenized: bool) -> list[int]:
    return [
        k
        for k, text in enumerate(texts)
        # nearly every caption begins with a letter; looking at that alone is quick
        if text is not None and not text[:1].isalnum() and not has_words(text, tokenized=tokenized)
    ]


def _punctuation(texts: Sequence[str | None], empty: list[int]) -> str:
    """Return how a caption that has characters can be empty, where there is one."""
    said = next((text for k in empty if (text := texts[k]) and not text.isspace()), None)
    return "" if said is None else f": {said!r} has no words"


# Candidates that are the references themselves: a score of 1.0 that means nothing


def copy_warning(
    candidates: Sequence[str], references_of: Callable[[int], Iterable[str]]
) -> list[str]:
    """Warn where nearly all captions equal one of their references, word for word."""

    def is_copy(place: int) -> bool:
        return candidates[place].strip() in map(str.strip, references_of(place))

    count = len(candidates)
    sample = range(0, count, max(1, count // _SAMPLE))
    few = len(sample) - ceil(_NEARLY_ALL * len(sample))  # that may be no copies
    if count < _HANDFUL or any(True for _ in islice(filterfalse(is_copy, sample), few, None)):
        return []
    return copies_warning(sum(map(is_copy, range(count))), count)


def without_copies(
    candidates: Mapping[str, str], references: Mapping[str, Sequence[str]]
) -> tuple[Mapping[str, Sequence[str]], int]:
    """Leave a person's captions out of the references they are among; count these items.

    Where fewer than nearly all captions are among the references, they are a system's, and may
    equal one by chance: all references stay.
    """
    own = {str(item): caption.strip() for item, caption in candidates.items()}
    places = {}
    for item, texts in references.items():
        plain = [text.strip() for text in texts]
        if (caption := own.get(str(item), "")) in plain:
            places[item] = plain.index(caption)
    if len(places) < _NEARLY_ALL * len(own):
        return references, 0
    others = dict(references)
    for item, place in places.items():
        others[item] = [text for k, text in enumerate(references[item]) if k != place]
        if not others[item]:
            raise DataError(
                f"Item {item!r} has no reference but the caption itself; leave it out, or add one."
            )
    return others, len(places)


def copies_warning(equal: int, count: int) -> list[str]:
    """Warn where nearly all captions equal a reference."""
    if count < _HANDFUL or equal < _NEARLY_ALL * count:
        return []
    return [
        f"Warning: {equal:,} of {count:,} captions equal one of their references word for word; "
        "are they the references? People's are scored against the others with --leave-one-out."
    ]
