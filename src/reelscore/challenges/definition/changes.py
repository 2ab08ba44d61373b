"""What a new definition changes, in sentences for people and for the log."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

from msgspec.structs import asdict

from reelscore.challenges.definition.records import Definition, Phase, PhaseLimits

_KEPT = ("id", "splits", "opens", "closes", "reveals")  # of a phase: said elsewhere, or refused
_WHOLE = {
    "name": "The name is",
    "registration": "Registration is",
    "teams.largest": "The size of teams is",
    "teams.close": "The time at which teams close is",
    "references": "Who may read references of public splits is",
    "contact": "The contact is",
    "splits": "Splits are",
    "boards": "Boards are",
    "humans": "Human evaluations are",
    "award": "The award is",
    "baselines": "Baselines are",
    "publish": "What is published is",
}


def definition_changes(before: Definition, after: Definition) -> list[str]:
    """Return what differs between two definitions, but for dates and the way of scoring.

    >>> def phase(**settings):
    ...     return Phase(id="main", splits=("test",), opens=0, closes=1, **settings)
    >>> def challenge(name, phase):
    ...     return Definition(id="dogs", name=name, splits=(), phases=(phase,), boards=())
    >>> before = challenge("Dogs", phase(limits=PhaseLimits(per_day=5)))
    >>> after = challenge("Cats", phase(limits=PhaseLimits(per_day=5, total=9), final="best"))
    >>> for change in definition_changes(before, after):
    ...     print(change)
    The name is changed.
    Phase 'main': limits is per_day 5, total 9; was per_day 5.
    Phase 'main': final is best; was last.
    """
    changes = [
        f"{what} changed."
        for field, what in _WHOLE.items()
        if attrgetter(field)(before) != attrgetter(field)(after)
    ]
    if before.scoring.limits != after.scoring.limits:
        changes.append("Limits of scoring are changed.")
    earlier = {phase.id: phase for phase in before.phases}
    for phase in after.phases:
        if phase.id not in earlier:
            changes.append(f"Phase {phase.id!r} is new.")
            continue
        for field in Phase.__struct_fields__:
            was, now = getattr(earlier[phase.id], field), getattr(phase, field)
            if was != now and field not in _KEPT:
                changes.append(f"Phase {phase.id!r}: {field} is {_said(now)}; was {_said(was)}.")
    return changes


def _said(value: object) -> str:
    if isinstance(value, PhaseLimits):
        value = {name: number for name, number in asdict(value).items() if number is not None}
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {each}" for key, each in value.items()) or "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) or "none"
