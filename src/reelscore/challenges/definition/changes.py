"""What a new definition changes, in sentences for people and for the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from reelscore.challenges.definition.records import Definition, PhaseLimits

_PHASE = (
    *("name", "feedback", "step", "limits", "final", "late", "after", "listed", "grace"),
    "priority",
)
_WHOLE = {
    "name": "The name is",
    "registration": "Registration is",
    "largest_team": "The size of teams is",
    "teams_close": "The time at which teams close is",
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

    Args:
        before: The definition that is in force.
        after: The one that is to follow.

    >>> from dataclasses import replace
    >>> from reelscore.challenges.definition.records import Phase, Scoring
    >>> limits = PhaseLimits(per_day=5)
    >>> phase = Phase("main", ("test",), 0, 1, None, {"test": "full"}, {}, limits)
    >>> before = Definition("dogs", "Dogs", "open", (), Scoring(), (phase,), ())
    >>> phase = replace(phase, final="best", limits=PhaseLimits(per_day=5, total=9))
    >>> for change in definition_changes(before, replace(before, name="Cats", phases=(phase,))):
    ...     print(change)
    The name is changed.
    Phase 'main': limits is per_day 5, total 9; was per_day 5.
    Phase 'main': final is best; was last.
    """
    changes = [
        f"{what} changed."
        for field, what in _WHOLE.items()
        if getattr(before, field) != getattr(after, field)
    ]
    if before.scoring.limits != after.scoring.limits:
        changes.append("Limits of scoring are changed.")
    earlier = {phase.id: phase for phase in before.phases}
    for phase in after.phases:
        if phase.id not in earlier:
            changes.append(f"Phase {phase.id!r} is new.")
            continue
        for field in _PHASE:
            was, now = getattr(earlier[phase.id], field), getattr(phase, field)
            if was != now:
                changes.append(f"Phase {phase.id!r}: {field} is {_said(now)}; was {_said(was)}.")
    return changes


def _said(value: Any) -> str:
    if isinstance(value, PhaseLimits):
        value = {name: number for name, number in asdict(value).items() if number is not None}
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {each}" for key, each in value.items()) or "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) or "none"
