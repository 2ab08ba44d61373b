"""Who may see what, and when: one table, and one function that everything shown passes through.

Pages, the programming interface, exports and archives ask `view`; it gives what the viewer may see
of something, or nothing. What is not allowed looks like what does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

from reelscore.challenges.definition.records import Feedback, Visibility
from reelscore.errors import check_choice

Viewer = Literal["visitor", "other", "own", "assistant", "owner"]
Role = Literal["visitor", "participant", "assistant", "owner"]
What = Literal[
    "items",
    "references",
    "job",
    "scores",
    "board",
    "item_scores",
    "captions",
    "human",
    "members",
    "events",
    "database",
]
Permission = Literal["nothing", "names", "told", "final", "public", "own", "everything"]
T = TypeVar("T")


@dataclass(frozen=True)
class Who:
    """Somebody who wants to see something."""

    role: Role = "visitor"  # what they are on this server
    team: str = ""  # the public id of their team in the challenge; empty without one
    terms_accepted: bool = False  # whether they have accepted the terms of the challenge

    def seen_as(self, team: str = "") -> Viewer:
        """Return as whom they look at something of a team; without one, at what is nobody's.

        >>> Who("participant", "t1").seen_as("t1"), Who("participant", "t1").seen_as("t2")
        ('own', 'other')
        """
        if self.role in ("assistant", "owner"):
            return self.role
        if self.role == "participant" and self.team:
            return "own" if self.team == team else "other"
        return "visitor"


VISITOR = Who()


@dataclass(frozen=True)
class Situation:
    """What permissions depend on."""

    visibility: Visibility = "blind"  # of the split
    opened: bool = False  # whether the phase has opened
    revealed: bool = False  # whether the phase's scores have been revealed
    feedback: Feedback = "reveal"  # what teams are told of the split while the phase runs
    references_open: bool = False  # whether the definition says ``references = "open"``
    terms_accepted: bool = False  # whether the viewer has accepted the terms
    publish_items: bool = False  # whether the definition publishes item scores after the reveal
    publish_captions: bool = False  # whether it publishes captions after the reveal
    human_published: bool = False  # whether the column of the human evaluation is published
    members_shown: bool = False  # whether the team agrees that its members are named


Rule = Callable[[Situation], Permission]


def _when(condition: Callable[[Situation], bool], then: Permission = "everything") -> Rule:
    return lambda situation: then if condition(situation) else "nothing"


def _by_feedback(situation: Situation) -> Permission:
    """What the team was told; what is hidden until the reveal, then of the final entry alone."""
    if situation.feedback == "reveal":
        return "final" if situation.revealed else "nothing"
    return "everything" if situation.feedback == "full" else "told"


def _board(situation: Situation) -> Permission:
    if not situation.opened:
        return "nothing"
    if situation.feedback == "reveal" and not situation.revealed:
        return "names"
    return _by_feedback(situation)


_always = _when(lambda _: True)
_never = _when(lambda _: False)
_opened = _when(lambda s: s.opened)
_open_references = _when(lambda s: s.opened and s.references_open)
_with_terms = _when(lambda s: s.opened and (s.references_open or s.terms_accepted))
_published_items = _when(lambda s: s.revealed and s.publish_items)
_published_captions = _when(lambda s: s.revealed and s.publish_captions)
_published_human = _when(lambda s: s.human_published)
_named_members = _when(lambda s: s.members_shown)
_public_events = _when(lambda _: True, "public")
_own_events = _when(lambda _: True, "own")

_Rules = tuple[Rule, Rule, Rule, Rule, Rule]
_TEAM: _Rules = (_never, _never, _always, _always, _always)
_NOBODY: _Rules = (_never,) * 5


def _rules(visitors: Rule, others: Rule, own: Rule = _always) -> _Rules:
    return visitors, others, own, _always, _always


# For each thing: what visitors, other teams, the team itself, assistants and owners may see of it.
# Nothing of this table depends on who asks by which way, save that files of the machine itself,
# which hold everything, are for those who have the machine.
_RULES: Mapping[What, _Rules] = {
    "items": _rules(_opened, _opened, _opened),
    "references": (_open_references, _with_terms, _with_terms, _with_terms, _with_terms),
    "job": _TEAM,
    "scores": _rules(_never, _never, _by_feedback),
    "board": _rules(_board, _board, _board),
    "item_scores": _rules(_published_items, _published_items),
    "captions": _rules(_published_captions, _published_captions),
    "human": _rules(_published_human, _published_human, _published_human),
    "members": _rules(_named_members, _named_members),
    "events": _rules(_public_events, _public_events, _own_events),
    "database": _NOBODY,
}
_OF_PUBLIC_SPLITS = ("references", "item_scores")  # of blind ones, nobody ever sees them
RULES: Mapping[tuple[What, Visibility], _Rules] = {
    (what, visibility): _NOBODY if visibility == "blind" and what in _OF_PUBLIC_SPLITS else rules
    for what, rules in _RULES.items()
    for visibility in get_args(Visibility)
}
VIEWERS: tuple[Viewer, ...] = get_args(Viewer)
NEWS = ("announced", "dates", "rescore", "published")  # what those who take part wait for
PUBLIC_EVENTS = ("definition", "state", *NEWS)


def permission(viewer: Viewer, what: What, situation: Situation) -> Permission:
    """Return how much somebody may see of something."""
    check_choice("viewer", viewer, VIEWERS)
    check_choice("thing to see", what, get_args(What))
    return RULES[what, situation.visibility][VIEWERS.index(viewer)](situation)


def view(
    viewer: Viewer,
    what: What,
    situation: Situation,
    everything: Callable[[], T],
    **less: Callable[[], T],
) -> T | None:
    """Return what the viewer may see of something; ``None`` where that is nothing.

    What is not allowed is not even read: each form is a function that is called when it is due,
    `everything` for the whole, others for the permission that they are named after.
    """
    granted = permission(viewer, what, situation)
    if granted == "everything":
        return everything()
    form = less.get(granted)
    return None if form is None else form()
