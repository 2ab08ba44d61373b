"""How good the parser is: against captions with known roles, and as people judge it.

The second is the evaluation of the movie description paper (Rohrbach et al., 2017, Table 6):
judges mark every word of a clause as right or wrong for each component; the majority counts, and
a component is right on a clause if all its words are.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from reelscore._records import resolved
from reelscore.data.spreadsheet import unquoted
from reelscore.errors import DataError
from reelscore.stats.distributions import fleiss_kappa, wilson_interval
from reelscore.text.parser.lexicon import Lexicon
from reelscore.text.parser.roles import ROLES, Clause, Sentence
from reelscore.text.parser.sentences import parse

COMPONENTS = ("clause", "nlp", "roles", "wsd")
_PLACE = ("item", "caption", "clause number", "position")
_SHEET = (*_PLACE, "word", "tag", "chunk", "role", "sense", "synonyms", *COMPONENTS)
_ANSWERS = {
    **dict.fromkeys(("1", "y", "yes", "correct", "right", "true"), True),
    **dict.fromkeys(("0", "n", "no", "incorrect", "wrong", "false"), False),
}
_LEFT = ("det", "amod", "compound", "nummod", "nmod:poss", "det:predet")
_VERB_PARTS = ("aux", "aux:pass", "cop", "compound:prt", "mark")


@dataclass(frozen=True)
class Share:
    """So many right of so many."""

    right: int
    total: int

    @property
    def value(self) -> float:
        """The share; NaN of nothing."""
        return self.right / self.total if self.total else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval."""
        return wilson_interval(self.right, self.total)


class GoldItem(msgspec.Struct):
    """A caption with the heads that are accepted for each role; None: no such role."""

    id: str
    text: str
    subject: list[str | None]
    verb: list[str | None]
    object: list[str | None]
    location: list[str | None]
    topic: list[str | None] | None = None


class _Gold(msgspec.Struct):
    items: list[GoldItem]


def read_gold(path: str | Path) -> list[GoldItem]:
    """Read captions with known roles: JSON with `items`."""
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=resolved(_Gold)).items
    except (msgspec.DecodeError, OSError) as error:
        raise DataError(
            f"{path}: {error}. Expected JSON with 'items', each with id, text and the accepted "
            "heads of subject, verb, object and location."
        ) from error


def gold_accuracy(
    gold: Sequence[GoldItem], sentences: Mapping[str, Sentence]
) -> tuple[dict[str, Share], list[tuple[GoldItem, tuple[str | None, ...]]]]:
    """Compare the roles of first clauses with the accepted ones."""
    right: dict[str, list[bool]] = defaultdict(list)
    wrong: list[tuple[GoldItem, tuple[str | None, ...]]] = []
    for item in gold:
        first = next(iter(sentences[item.id].clauses), Clause(None, None, None, None))
        hits = [
            _accepted(lemma, getattr(item, role))
            for role, lemma in zip(ROLES, first.lemmas, strict=True)
        ]
        for role, hit in zip(ROLES, hits, strict=True):
            right[role].append(hit)
        right["subject and verb"].append(all(hits[:2]))
        right["all four"].append(all(hits))
        if item.topic and first.verb and hits[1] and any(item.topic):
            sense = first.verb.sense
            right["topic of right verbs"].append((sense.topic if sense else "none") in item.topic)
        if not all(hits):
            wrong.append((item, first.lemmas))
    return {name: Share(sum(hits), len(hits)) for name, hits in right.items()}, wrong


def parse_gold(gold: Sequence[GoldItem], senses: str = "first") -> dict[str, Sentence]:
    """Parse the captions of `read_gold`."""
    return dict(
        zip((g.id for g in gold), parse([g.text for g in gold], senses=senses), strict=True)
    )


def _accepted(lemma: str | None, accepted: Sequence[str | None]) -> bool:
    """Phrasal verbs are right by their verb: the accepted words are heads."""
    return lemma in accepted or (lemma is not None and lemma.partition("_")[0] in accepted)


# -- sheets for judges


def check_sheet(parsed: Mapping[str, Sequence[Sentence]]) -> Iterator[Sequence[object]]:
    """Yield the rows of a sheet for one judge: a word a row, four empty columns at the end."""
    yield _SHEET
    for item, sentences in parsed.items():
        for number, sentence in enumerate(sentences, start=1):
            chunks = chunk_tags(sentence)
            for clause_number, clause in enumerate(sentence.clauses, start=1):
                for index in clause.tokens:
                    token = sentence.tokens[index]
                    yield (
                        *(item, number, clause_number, index + 1, token.text, token.tag),
                        *(chunks[index], *_role_and_sense(clause, index), "", "", "", ""),
                    )


def _role_and_sense(clause: Clause, index: int) -> tuple[str, str, str]:
    for role, filler in clause.filled.items():
        if filler.head == index:
            if filler.sense is None:
                return role, "", ""
            synonyms = Lexicon.load().synonyms(filler.sense)
            words = ", ".join(word.replace("_", " ") for word in synonyms)
            return role, filler.sense.name, f"{words} ({filler.sense.topic})"
    return "", "", ""


def chunk_tags(sentence: Sentence) -> list[str]:
    """Noun and verb phrases: B for the first word of a phrase, I for the next ones, O for none."""
    heads: list[int | None] = []
    tokens = sentence.tokens
    for index, token in enumerate(tokens):
        head: int | None = None
        if token.tag.startswith(("NN", "PRP", "VB")) and token.relation not in (
            *_LEFT,
            *_VERB_PARTS,
        ):
            head = index
        elif token.relation in (*_LEFT, *_VERB_PARTS):
            head = token.head
        heads.append(head)
    labels: list[str] = []
    for index, head in enumerate(heads):
        if head is None:
            labels.append("O")
            continue
        kind = "VP" if tokens[head].tag.startswith("VB") else "NP"
        inside = index > 0 and heads[index - 1] == head
        labels.append(f"{'I' if inside else 'B'}-{kind}")
    return labels


@dataclass(frozen=True)
class ComponentCheck:
    """What judges say of one component: clauses that are right, and how far they agree."""

    component: str
    clauses: Share
    kappa: float


def score_sheets(paths: Sequence[str | Path]) -> list[ComponentCheck]:
    """Score the sheets of several judges: the majority counts, ties are wrong."""
    sheets = [_read_sheet(Path(path)) for path in paths]
    for path, sheet in zip(paths[1:], sheets[1:], strict=True):
        if sheet.keys() != sheets[0].keys():
            raise DataError(
                f"{path}: not the same words as in {paths[0]}. Give every judge a copy of one "
                "sheet."
            )
    return [
        component_check(
            name,
            (
                (place[:3], [sheet[place][name] for sheet in sheets if name in sheet[place]])
                for place in sheets[0]
            ),
            len(sheets),
        )
        for name in COMPONENTS
    ]


def component_check(
    name: str, answers: Iterable[tuple[Hashable, Sequence[bool]]], judges: int
) -> ComponentCheck:
    """Sum up what judges said of one component."""
    clauses: dict[Hashable, bool] = {}
    counts: list[list[int]] = []
    for clause, said in answers:
        if not said:
            continue
        right = sum(said)
        clauses[clause] = clauses.get(clause, True) and 2 * right > len(said)
        if len(said) == judges:
            counts.append([right, len(said) - right])
    return ComponentCheck(name, Share(sum(clauses.values()), len(clauses)), fleiss_kappa(counts))


def _read_sheet(path: Path) -> dict[tuple[str, ...], dict[str, bool]]:
    """Return the answers of a sheet by item, caption, clause and word; empty cells are left out."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}.") from error
    needed = {*_PLACE, *COMPONENTS}
    if not rows or not needed <= rows[0].keys():
        raise DataError(
            f"{path}: not a sheet for judges; expected the columns {', '.join(_SHEET)}. "
            "Write one with 'reelscore check-parser --check-sheet FILE.csv'."
        )
    answers: dict[tuple[str, ...], dict[str, bool]] = {}
    for number, row in enumerate(rows, start=2):
        place = tuple(unquoted(row[column]) for column in _PLACE)
        answers[place] = {}
        for component in COMPONENTS:
            cell = (row[component] or "").strip().lower()
            if cell and cell not in _ANSWERS:
                raise DataError(
                    f"{path}, line {number}: {cell!r} under '{component}'; expected 1 (right), "
                    "0 (wrong) or nothing."
                )
            if cell:
                answers[place][component] = _ANSWERS[cell]
    return answers
