"""Refuse campaigns and HITs that could not be kept, shown or evaluated."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from reelscore.errors import DataError
from reelscore.human.hits.tasks import GENUINE, KINDS, Hit, Shown, Task
from reelscore.human.protocols import Protocol
from reelscore.human.store.records import Terms
from reelscore.store.values import check_name, check_text

_LONGEST_SETTINGS = 8 << 20
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def check_terms(
    terms: Terms, systems: Sequence[str], settings: Mapping[str, Any], humans: Collection[str] = ()
) -> None:
    """Refuse a campaign that could not be.

    Raises:
        DataError: If a name, number or time of it is none.
    """
    check_name(terms.id, "the campaign")
    if not _ID.fullmatch(terms.id):
        raise DataError(
            f"The campaign's id is {terms.id[:100]!r}; expected up to 100 letters, digits and . _ "
            "-, beginning with a letter or digit: it is used in addresses and file names."
        )
    check_text(terms.name, "the campaign's name")
    check_text(terms.layout, "the layout's name")
    for system in systems:
        check_name(system, "the system")
    if len(set(systems)) < len(systems):
        raise DataError(f"Two systems have the same name: {', '.join(systems)}.")
    for name in humans:
        if name not in systems:
            raise DataError(
                f"{name!r} is named as human, but is not a system of the campaign "
                f"({', '.join(systems)})."
            )
    if not 1 <= terms.raters_per_hit <= 1000:
        raise DataError(f"{terms.raters_per_hit} raters for each HIT; expected from 1 to 1,000.")
    check_hold(terms.hold)
    if not -(2**63) <= terms.seed < 2**63:
        raise DataError(f"The seed is {terms.seed}; expected one of at most 64 bits.")
    settings_text(settings)


def check_hold(hold: float) -> None:
    """Refuse a hold time that is none.

    Raises:
        DataError: If it is not more than 0 seconds.
    """
    if not 0 < hold < 1e9:
        raise DataError(f"The hold time is {hold:g} seconds; expected more than 0.")


def check_hit(hit: Hit, protocol: Protocol, systems: Collection[str]) -> None:
    """Refuse a HIT that does not fit the protocol or shows captions of unknown systems.

    Args:
        hit: The HIT.
        protocol: What raters are asked.
        systems: The systems of the campaign, people among them.

    Raises:
        DataError: If something does not fit.

    >>> from reelscore.human.protocols import PROTOCOLS
    >>> empty = Hit("h1", (Task("t1", "clip1", ()),))
    >>> check_hit(empty, PROTOCOLS["direct-assessment"], ["mine"])
    Traceback (most recent call last):
    reelscore.errors.DataError: HIT 'h1', task 't1': 0 captions; direct-assessment shows 1.
    """
    check_name(hit.id, "the HIT")
    if not hit.tasks:
        raise DataError(f"HIT {hit.id!r} has no tasks.")
    seen: set[str] = set()
    for task in hit.tasks:
        check_name(task.id, "the task")
        place = f"HIT {hit.id!r}, task {task.id!r}"
        if task.id in seen:
            raise DataError(f"{place}: the HIT has another task of this id.")
        seen.add(task.id)
        _check_task(task, protocol, place)
        for caption in task.shown:
            _check_caption(caption, systems, place)


def captions_fault(count: int, protocol: Protocol) -> str | None:
    """Say what is wrong with showing so many captions, if anything is."""
    if protocol.captions and count != protocol.captions:
        return f"{count} captions; {protocol.name} shows {protocol.captions}"
    if count < 1 or (protocol.form == "ranking" and count < 2):
        return f"{count} captions; {protocol.name} shows at least 2"
    return None


def _check_task(task: Task, protocol: Protocol, place: str) -> None:
    check_name(task.item, f"{place}: the item")
    fault = captions_fault(len(task.shown), protocol)
    if fault:
        raise DataError(f"{place}: {fault}.")
    if task.expected is not None and not math.isfinite(task.expected):
        raise DataError(f"{place}: the expected score is {task.expected}; expected a number.")
    names = [caption.system for caption in task.shown]
    if protocol.form == "ranking" and len(set(names)) < len(names):
        raise DataError(f"{place}: two captions of the same system; a ranking shows one of each.")


def _check_caption(caption: Shown, systems: Collection[str], place: str) -> None:
    check_name(caption.system, f"{place}: the system")
    check_text(caption.text, f"{place}: the caption")
    if caption.kind not in KINDS:
        raise DataError(f"{place}: the kind is {caption.kind!r}; expected {', '.join(KINDS)}.")
    if caption.kind in GENUINE and caption.system not in systems:
        raise DataError(
            f"{place}: a caption of {caption.system!r}, which is not a system of the campaign "
            f"({', '.join(sorted(systems))})."
        )


def settings_text(settings: Mapping[str, Any]) -> str:
    """Write settings as the database keeps them.

    Raises:
        DataError: If JSON cannot say them, or they are too long.
    """
    try:
        text = msgspec.json.encode(dict(settings)).decode()
        msgspec.json.decode(text)
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise DataError(f"The settings cannot be written as JSON: {error}.") from None
    if len(text) > _LONGEST_SETTINGS:
        raise DataError(f"The settings take {len(text):,} characters; at most 8 MiB are stored.")
    return text
