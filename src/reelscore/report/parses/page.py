"""Parsed captions as a page: arcs above the words, roles below them, clauses as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reelscore.report.pages import render
from reelscore.report.safe_text import cells, legible
from reelscore.text.parser.roles import Clause, Filler, Sentence
from reelscore.text.parser.trees import ROOT, Tree

_ROLES = ("subject", "verb", "object", "location")
_CHARACTER, _GAP, _LEVEL = 8.4, 22.0, 26.0
_MARGIN, _LINE = 14.0, 20.0


@dataclass(frozen=True)
class Word:
    """A word of the picture: where it stands, and its roles with the number of the clause."""

    x: float
    text: str
    tag: str
    roles: list[tuple[str, int]]


@dataclass(frozen=True)
class Arc:
    """An arc from a head to the word that depends on it."""

    path: str
    x: float
    y: float
    relation: str
    of_role: bool


@dataclass(frozen=True)
class Picture:
    """A sentence as words and arcs."""

    width: float
    height: float
    base: float
    title: str
    root: float
    words: list[Word] = field(default_factory=list)
    arcs: list[Arc] = field(default_factory=list)


def parses_html(
    parsed: Mapping[str, Sequence[Sentence]], title: str = "Parsed captions", model: str = ""
) -> str:
    """Write parsed captions as one HTML page; nothing is loaded from elsewhere.

    Args:
        parsed: Items with their captions.
        title: The heading.
        model: What parsed them, for the foot of the page.
    """
    items = [
        {
            "name": legible(item),
            "captions": [
                {
                    "text": legible(sentence.text),
                    "pictures": _pictures(sentence),
                    "clauses": [_row(clause) for clause in sentence.clauses],
                }
                for sentence in sentences
            ],
        }
        for item, sentences in parsed.items()
    ]
    return render("parses.html", title=title, items=items, model=model, roles=_ROLES)


def _pictures(sentence: Sentence) -> list[Picture]:
    roles: dict[int, list[tuple[str, int]]] = {}
    for number, clause in enumerate(sentence.clauses, start=1):
        for role, filler in zip(_ROLES, clause.roles, strict=True):
            if filler is not None:
                roles.setdefault(filler.head, []).append((role, number))
    pictures, start = [], 0
    for tree in sentence.trees:
        own = {index - start: names for index, names in roles.items() if index >= start}
        pictures.append(picture(tree, own))
        start += len(tree.tokens)
    return pictures


def picture(tree: Tree, roles: Mapping[int, list[tuple[str, int]]]) -> Picture:
    """Lay out a tree: words side by side, arcs above them, as low as they can be.

    Args:
        tree: The tree of one sentence.
        roles: For each word its roles and the numbers of their clauses.
    """
    words: list[Word] = []
    edge = _MARGIN
    for index, token in enumerate(tree.tokens):
        own = roles.get(index, [])
        labels = [legible(token.text), token.tag, *(f"{role} 1" for role, _ in own)]
        width = max(map(cells, labels)) * _CHARACTER
        words.append(Word(edge + width / 2, labels[0], token.tag, own))
        edge += width + _GAP
    levels = _levels(tree)
    base = _LEVEL * (max(levels.values(), default=0) + 1) + _MARGIN
    arcs = [_arc(tree, words, child, level, base, roles) for child, level in levels.items()]
    most = max((len(word.roles) for word in words), default=0)
    return Picture(
        width=edge - _GAP + _MARGIN,
        height=base + 2.6 * _LINE + most * _LINE,
        base=base,
        title="Tree of: " + " ".join(token.text for token in tree.tokens),
        root=words[tree.root].x if words else 0.0,
        words=words,
        arcs=arcs,
    )


def _levels(tree: Tree) -> dict[int, int]:
    """How high the arc of each word goes: above all arcs that it spans."""
    spans = sorted(
        (abs(token.head - index), index)
        for index, token in enumerate(tree.tokens)
        if token.head != ROOT
    )
    levels: dict[int, int] = {}
    for _, index in spans:
        low, high = sorted((index, tree.tokens[index].head))
        below = [
            level
            for other, level in levels.items()
            if low <= min(other, tree.tokens[other].head)
            and max(other, tree.tokens[other].head) <= high
        ]
        levels[index] = max(below, default=0) + 1
    return levels


def _arc(
    tree: Tree,
    words: Sequence[Word],
    child: int,
    level: int,
    base: float,
    roles: Mapping[int, list[tuple[str, int]]],
) -> Arc:
    head = tree.tokens[child].head
    side = 5.0 if child > head else -5.0
    begin, end = words[head].x + side, words[child].x
    top = base - _LEVEL * level
    bend = 8.0 if end > begin else -8.0
    path = (
        f"M{begin:.1f} {base:.1f}V{top + 8:.1f}Q{begin:.1f} {top:.1f} {begin + bend:.1f} {top:.1f}"
        f"H{end - bend:.1f}Q{end:.1f} {top:.1f} {end:.1f} {top + 8:.1f}V{base - 3:.1f}"
    )
    of_role = child in roles and head in roles
    return Arc(path, (begin + end) / 2, top, tree.tokens[child].relation, of_role)


def _row(clause: Clause) -> dict[str, object]:
    cells_of = {role: _cell(filler) for role, filler in zip(_ROLES, clause.roles, strict=True)}
    marks = [mark for mark in ("passive", "negated", "repaired") if getattr(clause, mark)]
    topic = clause.verb.sense.topic if clause.verb and clause.verb.sense else ""
    return {"roles": cells_of, "marks": ", ".join(marks), "topic": topic}


def _cell(filler: Filler | None) -> dict[str, str] | None:
    if filler is None:
        return None
    sense = filler.sense.name if filler.sense else ""
    lemma = filler.lemma + (f" = {filler.antecedent}" if filler.antecedent else "")
    return {"lemma": legible(lemma), "phrase": legible(filler.phrase), "sense": sense}
