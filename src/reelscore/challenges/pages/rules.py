"""What the definition of a challenge rules, in words, for the page that shows it."""

from __future__ import annotations

from collections.abc import Iterable

from reelscore.challenges.definition.checks import score_scales
from reelscore.challenges.definition.records import Award, Board, Definition, Publish


def board_rules(definition: Definition) -> list[tuple[str, str]]:
    """Return of each leaderboard, by its name, how its entries are ordered and compared."""
    return [(board.name or board.id, _order(definition, board)) for board in definition.boards]


def _order(definition: Definition, board: Board) -> str:
    phase = definition.phase(board.phase)
    where = phase.name or phase.id
    if len(phase.splits) > 1:
        where += f", split {board.split}"
    test = board.test
    return (
        f"Entries of {where}, ordered by {_label(definition, board.primary)}. Two entries differ "
        f"if a paired bootstrap tells them apart (p < {test.level:g}; correction for the number "
        f"of pairs: {test.correction})."
    )


def award_rule(definition: Definition) -> str:
    """Return who wins; empty where the definition does not."""
    award = definition.award
    if award is None:
        return ""
    names = _listed(definition, award.columns)
    rule = {
        "column": f"The best by {names}",
        "mean_rank": f"The lowest mean of the ranks by {names}",
        "points": f"The most points: {', '.join(map(str, award.points))} for the first places by "
        f"each of {names}",
    }[award.rule]
    return f"{rule}{_ties(definition, award)}. Baselines and organisers' entries win nothing."


def _ties(definition: Definition, award: Award) -> str:
    if award.rule == "column" and award.within_cluster == "share":
        return "; entries that the test cannot tell apart share"
    return f"; ties are decided by {_listed(definition, award.ties)}" if award.ties else ""


def published_rule(publish: Publish) -> str:
    """Return what else becomes public when the results are revealed.

    >>> published_rule(Publish(captions=True))
    'With the results: the captions of entries on a leaderboard.'
    >>> published_rule(Publish())
    'Nothing but scores.'
    """
    parts = [
        *(["the captions of entries on a leaderboard"] if publish.captions else []),
        *(["scores of single items of public splits"] if publish.items else []),
    ]
    return f"With the results: {' and '.join(parts)}." if parts else "Nothing but scores."


def _listed(definition: Definition, scores: Iterable[str]) -> str:
    return ", ".join(_label(definition, score) for score in scores)


def _label(definition: Definition, score: str) -> str:
    """Return what a score is called: that of a metric, or of people."""
    if score.startswith("human:"):
        return f"people's judgments ({score.removeprefix('human:').replace(':', ', ')})"
    for kind in {split.kind for split in definition.splits}:
        scales = score_scales(definition.scoring, kind)
        if score in scales and scales[score].label:
            return scales[score].label
    return score
