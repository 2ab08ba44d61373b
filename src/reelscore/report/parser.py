"""Parsed captions: as text for the terminal, as a page with arcs and roles, as records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from reelscore.report.safe_text import cells, legible, lines_of, shortened
from reelscore.text.parser.roles import ROLES, Clause, Filler, Sentence
from reelscore.text.parser.trees import ROOT, Tree, write_tree

Parsed = Mapping[str, Sequence[Sentence]]

_NAMES = (*ROLES, "recipient")
_MARKS = ("passive", "negated", "repaired")
_CHARACTER, _GAP, _LEVEL = 8.4, 22.0, 26.0  # of pictures, in pixels
_MARGIN, _LINE = 14.0, 20.0


# Text


def parse_text(sentence: Sentence, width: int = 80) -> str:
    """Draw a caption: a word a line, with its arc, tag, relation and role."""
    lines = lines_of(legible(sentence.text), width)
    roles = _role_names(sentence)
    start = 0
    for tree in sentence.trees:
        lines += ["", *_tree(tree, {i - start: role for i, role in roles.items()}, width)]
        start += len(tree.tokens)
    clauses = [_clause_text(clause) for clause in sentence.clauses]
    if clauses:
        lines.append("")
        for number, clause in enumerate(clauses, start=1):
            first, *others = lines_of(clause, width - 4)
            lines += [f"{number:2}  {first}", *(f"    {line}" for line in others)]
    return "\n".join(line.rstrip() for line in lines)


def _role_names(sentence: Sentence) -> dict[int, str]:
    """Return what each word is in the clauses: "subject 1, object 2"."""
    several = len(sentence.clauses) > 1
    names: dict[int, list[str]] = {}
    for number, clause in enumerate(sentence.clauses, start=1):
        for role, filler in clause.filled.items():
            names.setdefault(filler.head, []).append(f"{role} {number}" if several else role)
    return {index: ", ".join(roles) for index, roles in names.items()}


def _tree(tree: Tree, roles: dict[int, str], width: int) -> list[str]:
    arcs = _tree_arcs(tree)
    texts = [legible(token.text) for token in tree.tokens]
    room = max(8, width - len(arcs[0]) - 40)
    texts = [shortened(text, room) for text in texts]
    longest = max(map(cells, texts))
    tags = max(len(token.tag) for token in tree.tokens)
    relations = max(len(token.relation) for token in tree.tokens)
    lines = []
    for index, token in enumerate(tree.tokens):
        word = texts[index] + " " * (longest - cells(texts[index]))
        row = f"{arcs[index]} {word}  {token.tag:<{tags}}  {token.relation:<{relations}}"
        lines.append(f"{row}  {roles.get(index, '')}"[:width].rstrip())
    return lines


def _tree_arcs(tree: Tree) -> list[str]:
    """Draw the arcs of a tree beside its words, one line for each word."""
    total = len(tree.tokens)
    depth = [*map(tree.depth, range(total))]
    columns = max(1, *depth)
    rows = [[" "] * columns for _ in range(total)]
    for head, children in enumerate(tree.children):
        if not children:
            continue
        column = depth[head]
        first, last = min(head, *children), max(head, *children)
        for index in range(first, last + 1):
            rows[index][column] = "│"
        for child in children:
            corner = "┌" if child == first else "└" if child == last else "├"
            rows[child][column] = corner
        rows[head][column] = "┬" if head == first else "┴" if head == last else "┼"
    lines = []
    for index, row in enumerate(rows):
        own = depth[index]  # its line begins at the arc of its head, in the column before
        marks = [
            ("─" if column >= own else " ") + ("─" if mark == " " and column >= own else mark)
            for column, mark in enumerate(row)
        ]
        lines.append("".join(marks) + "─")
    return lines


def _clause_text(clause: Clause) -> str:
    parts = []
    for role, filler in clause.filled.items():
        sense = f" [{filler.sense.name}: {filler.sense.topic}]" if filler.sense else ""
        stands_for = f" = {filler.antecedent}" if filler.antecedent else ""
        parts.append(f"{role} {filler.lemma}{stands_for}{sense if role == 'verb' else ''}")
    return legible(" · ".join([*parts, *_marks(clause)]))


def _marks(clause: Clause) -> list[str]:
    return [mark for mark in _MARKS if getattr(clause, mark)]


def clause_text(parsed: Parsed, width: int = 80) -> str:
    """Lay out a line for each clause: item, its number and its roles."""
    names = _used_roles(parsed)
    several = any(len(sentences) > 1 for sentences in parsed.values())
    rows = [["item", "clause", *names]]
    for item, sentences in parsed.items():
        for caption, sentence in enumerate(sentences, start=1):
            for number, clause in enumerate(sentence.clauses, start=1):
                place = f"{caption}.{number}" if several else str(number)
                roles = [clause.filled.get(name) for name in names]
                lemmas = [role.lemma if role else "–" for role in roles]
                rows.append([legible(item), place, *lemmas])
    widths = [max(cells(row[column]) for row in rows) for column in range(len(rows[0]))]
    while sum(widths) + 2 * (len(widths) - 1) > width:
        widest = max(range(len(widths)), key=widths.__getitem__)
        widths[widest] -= 1
    lines = []
    for row in rows:
        texts = [shortened(text, size) for text, size in zip(row, widths, strict=True)]
        padded = [t + " " * (size - cells(t)) for t, size in zip(texts, widths, strict=True)]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def _used_roles(parsed: Parsed) -> tuple[str, ...]:
    """The roles to show: the recipient only where a clause has one."""
    clauses = (clause for _, sentence in _captions(parsed) for clause in sentence.clauses)
    return _NAMES if any(clause.recipient for clause in clauses) else ROLES


# A page


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
class TreePicture:
    """A sentence as words and arcs."""

    width: float
    height: float
    base: float
    title: str
    root: float
    words: list[Word] = field(default_factory=list)
    arcs: list[Arc] = field(default_factory=list)


def parses_html(parsed: Parsed) -> str:
    """Return parsed captions as one HTML page; nothing is loaded from elsewhere."""
    from reelscore.report.pages import render

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
    roles = _used_roles(parsed)
    return render("parses.html", title="Parsed captions", items=items, roles=roles)


def _pictures(sentence: Sentence) -> list[TreePicture]:
    roles: dict[int, list[tuple[str, int]]] = {}
    for number, clause in enumerate(sentence.clauses, start=1):
        for role, filler in clause.filled.items():
            roles.setdefault(filler.head, []).append((role, number))
    pictures, start = [], 0
    for tree in sentence.trees:
        own = {index - start: names for index, names in roles.items() if index >= start}
        pictures.append(_picture(tree, own))
        start += len(tree.tokens)
    return pictures


def _picture(tree: Tree, roles: Mapping[int, list[tuple[str, int]]]) -> TreePicture:
    """Lay out a tree: words side by side, arcs above them, as low as they can be."""
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
    return TreePicture(
        width=edge - _GAP + _MARGIN,
        height=base + 2.6 * _LINE + most * _LINE,
        base=base,
        title="Tree of: " + " ".join(token.text for token in tree.tokens),
        root=words[tree.root].x if words else 0.0,
        words=words,
        arcs=arcs,
    )


def _levels(tree: Tree) -> dict[int, int]:
    """Return how high the arc of each word goes: above all arcs that it spans."""
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
    cells_of = {role: _cell(clause.filled.get(role)) for role in _NAMES}
    topic = clause.verb.sense.topic if clause.verb and clause.verb.sense else ""
    return {"roles": cells_of, "marks": ", ".join(_marks(clause)), "topic": topic}


def _cell(filler: Filler | None) -> dict[str, str] | None:
    if filler is None:
        return None
    sense = filler.sense.name if filler.sense else ""
    lemma = filler.lemma + (f" = {filler.antecedent}" if filler.antecedent else "")
    return {"lemma": legible(lemma), "phrase": legible(filler.phrase), "sense": sense}


# Records


def json_lines(parsed: Parsed) -> Iterator[str]:
    """Yield one JSON object for each caption, with its clauses and their roles."""
    for item, sentence in _captions(parsed):
        record = {
            "item": item,
            "text": sentence.text,
            "clauses": [_clause(clause) for clause in sentence.clauses],
        }
        yield msgspec.json.encode(record).decode()


def _clause(clause: Clause) -> dict[str, object]:
    return {
        **{role: _filler(clause.filled.get(role)) for role in _NAMES},
        "tokens": clause.tokens,
        "passive": clause.passive,
        "negated": clause.negated,
        "repaired": clause.repaired,
        "frame": clause.frame,
    }


def _filler(filler: Filler | None) -> dict[str, object] | None:
    if filler is None:
        return None
    return {
        "lemma": filler.lemma,
        "phrase": filler.phrase,
        "head": filler.head,
        "tag": filler.tag,
        "sense": filler.sense.name if filler.sense else None,
        "topic": filler.sense.topic if filler.sense else None,
        "conjuncts": filler.conjuncts,
        "antecedent": filler.antecedent,
    }


def conllu_lines(parsed: Parsed) -> Iterator[str]:
    """Yield the trees in CoNLL-U, one block for each sentence, with the item in a comment."""
    for item, sentence in _captions(parsed):
        for tree in sentence.trees:
            text = " ".join(sentence.text.split())
            yield f"# item = {item}\n# caption = {text}\n{write_tree(tree).rstrip()}\n"


def translation_lines(parsed: Parsed) -> Iterator[str]:
    """Yield item, and subject, verb, object and location of a clause, `_` for none."""
    for item, sentence in _captions(parsed):
        for clause in sentence.clauses:
            yield f"{item}\t{' '.join(lemma or '_' for lemma in clause.lemmas)}"


def _captions(parsed: Parsed) -> Iterator[tuple[str, Sentence]]:
    return ((item, sentence) for item, sentences in parsed.items() for sentence in sentences)
