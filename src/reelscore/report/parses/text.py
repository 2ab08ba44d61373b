"""Parsed captions for the terminal: trees beside their words, or a line for each clause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reelscore.report.safe_text import cells, legible, lines_of, shortened
from reelscore.text.parser.roles import Clause, Sentence
from reelscore.text.parser.trees import ROOT, Tree

_ROLES = ("subject", "verb", "object", "location")


def parse_text(sentence: Sentence, width: int = 80) -> str:
    """Draw a caption: a word a line, with its arc, tag, relation and role.

    Args:
        sentence: What `parse` made of the caption.
        width: Columns of the terminal.

    >>> from reelscore.text.parser.trees import Token
    >>> words = (Token("Dogs", "NNS", "dog", 1, "nsubj"), Token("run", "VBP", "run", -1, "root"))
    >>> print(parse_text(Sentence("Dogs run", words, ())))
    Dogs run
    <BLANKLINE>
     ┌─ Dogs  NNS  nsubj
    ─┴─ run   VBP  root
    """
    lines = lines_of(legible(sentence.text), width)
    roles = _role_names(sentence)
    start = 0
    for tree in sentence.trees:
        lines += ["", *_tree(tree, {i - start: role for i, role in roles.items()}, width)]
        start += len(tree.tokens)
    clauses = [_clause(clause) for clause in sentence.clauses]
    if clauses:
        lines.append("")
        for number, clause in enumerate(clauses, start=1):
            first, *others = lines_of(clause, width - 4)
            lines += [f"{number:2}  {first}", *(f"    {line}" for line in others)]
    return "\n".join(line.rstrip() for line in lines)


def _role_names(sentence: Sentence) -> dict[int, str]:
    """What each word is in the clauses: "subject 1, object 2"."""
    several = len(sentence.clauses) > 1
    names: dict[int, list[str]] = {}
    for number, clause in enumerate(sentence.clauses, start=1):
        for role, filler in zip(_ROLES, clause.roles, strict=True):
            if filler is not None:
                names.setdefault(filler.head, []).append(f"{role} {number}" if several else role)
    return {index: ", ".join(roles) for index, roles in names.items()}


def _tree(tree: Tree, roles: dict[int, str], width: int) -> list[str]:
    arcs = tree_arcs(tree)
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


def tree_arcs(tree: Tree) -> list[str]:
    """Draw the arcs of a tree beside its words, one line for each word."""
    total = len(tree.tokens)
    depth = [_depth(tree, index) for index in range(total)]
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


def _depth(tree: Tree, index: int) -> int:
    steps = 0
    while tree.tokens[index].head != ROOT and steps < len(tree.tokens):
        index, steps = tree.tokens[index].head, steps + 1
    return steps


def _clause(clause: Clause) -> str:
    parts = []
    for role, filler in zip(_ROLES, clause.roles, strict=True):
        if filler is None:
            continue
        sense = f" [{filler.sense.name}: {filler.sense.topic}]" if filler.sense else ""
        stands_for = f" = {filler.antecedent}" if filler.antecedent else ""
        parts.append(f"{role} {filler.lemma}{stands_for}{sense if role == 'verb' else ''}")
    marks = [m for m in ("passive", "negated", "repaired") if getattr(clause, m)]
    return legible(" · ".join([*parts, *marks]))


def clause_text(parsed: Mapping[str, Sequence[Sentence]], width: int = 80) -> str:
    """Lay out a line for each clause: item, its number, subject, verb, object, location."""
    several = any(len(sentences) > 1 for sentences in parsed.values())
    rows = [["item", "clause", *_ROLES]]
    for item, sentences in parsed.items():
        for caption, sentence in enumerate(sentences, start=1):
            for number, clause in enumerate(sentence.clauses, start=1):
                place = f"{caption}.{number}" if several else str(number)
                rows.append([legible(item), place, *(lemma or "–" for lemma in clause.lemmas)])
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
