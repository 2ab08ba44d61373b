"""Parsed captions as files for programs: JSON lines, CoNLL-U, lines for translation, labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from reelscore.text.parser.labels import LabelTable, semantic_representation
from reelscore.text.parser.roles import Clause, Filler, Sentence
from reelscore.text.parser.trees import write_tree

Parsed = Mapping[str, Sequence[Sentence]]


def json_lines(parsed: Parsed) -> Iterator[str]:
    """One JSON object for each caption, with its clauses and their roles."""
    for item, sentence in _captions(parsed):
        record = {
            "item": item,
            "text": sentence.text,
            "clauses": [_clause(clause) for clause in sentence.clauses],
        }
        yield msgspec.json.encode(record).decode()


def _clause(clause: Clause) -> dict[str, Any]:
    return {
        "subject": _filler(clause.subject),
        "verb": _filler(clause.verb),
        "object": _filler(clause.object),
        "location": _filler(clause.location),
        "tokens": clause.tokens,
        "passive": clause.passive,
        "negated": clause.negated,
        "repaired": clause.repaired,
        "frame": clause.frame,
    }


def _filler(filler: Filler | None) -> dict[str, Any] | None:
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
    """The trees in CoNLL-U, one block for each sentence, with the item in a comment."""
    for item, sentence in _captions(parsed):
        for tree in sentence.trees:
            text = " ".join(sentence.text.split())
            yield f"# item = {item}\n# caption = {text}\n{write_tree(tree).rstrip()}\n"


def translation_lines(parsed: Parsed) -> Iterator[str]:
    """Item, and subject, verb, object and location of a clause, `_` for none."""
    for item, sentence in _captions(parsed):
        for clause in sentence.clauses:
            yield f"{item}\t{semantic_representation(clause)}"


def label_record(table: LabelTable) -> dict[str, Any]:
    """Labels, and for each item the numbers of those it has."""
    return {
        "labels": [msgspec.to_builtins(label) for label in table.labels],
        "items": dict(zip(table.items, table.numbers, strict=True)),
        "dropped": table.dropped,
        "failed": table.failed,
    }


def _captions(parsed: Parsed) -> Iterator[tuple[str, Sentence]]:
    return ((item, sentence) for item, sentences in parsed.items() for sentence in sentences)
