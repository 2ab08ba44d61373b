"""From captions to sentences with clauses: the parser, the rules and the senses in one call."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, overload

from reelscore.errors import DataError, check_choice
from reelscore.text.parser.corrections import corrected
from reelscore.text.parser.lexicon import Lexicon
from reelscore.text.parser.roles import Clause, Filler, Sentence, clauses
from reelscore.text.parser.senses import Senses, read_verbnet
from reelscore.text.parser.trees import ROOT, Token, Tree

Pronouns = Literal["keep", "person"]
PRONOUN_RULES: tuple[Pronouns, ...] = ("keep", "person")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_ABBREVIATION = re.compile(r"(^|\s|\.)(Mr|Mrs|Ms|Dr|St|Jr|Sr|vs|No|[A-Za-z])\.$")


@overload
def parse(
    captions: Mapping[str, str | Sequence[str]],
    *,
    senses: str = ...,
    verbnet: str | Path | None = ...,
    pronouns: str = ...,
    threads: int | None = ...,
) -> dict[str, list[Sentence]]: ...


@overload
def parse(
    captions: Sequence[str],
    *,
    senses: str = ...,
    verbnet: str | Path | None = ...,
    pronouns: str = ...,
    threads: int | None = ...,
) -> list[Sentence]: ...


def parse(
    captions: Sequence[str] | Mapping[str, str | Sequence[str]],
    *,
    senses: str = "first",
    verbnet: str | Path | None = None,
    pronouns: str = "keep",
    threads: int | None = 1,
) -> list[Sentence] | dict[str, list[Sentence]]:
    """Read captions as language: words, and who does what to whom and where.

    Args:
        captions: Captions, or items with one or several captions each.
        senses: How verbs get their meaning: `first`, `collocations`, `frames` or `verbnet`.
        verbnet: A folder with VerbNet 3.x, for `senses="verbnet"`.
        pronouns: `keep`, or `person`: *he* and *she* without antecedent are *man* and *woman*.
        threads: How many threads the parser uses; None for all cores.

    Returns:
        A sentence for each caption, in their order; for a mapping a list for each item. A caption
        of several sentences has the clauses of all of them; an empty one has none.

    Raises:
        MissingExtraError: If the parser is not installed.
        UnknownNameError: For an unknown rule.
        DataError: If VerbNet is asked for and not given.

    >>> [sentence] = parse(["A man is riding a horse on the beach."])
    >>> [clause.lemmas for clause in sentence.clauses]
    [('man', 'ride', 'horse', 'beach')]
    """
    check_choice("rule for pronouns", pronouns, PRONOUN_RULES)
    if senses == "verbnet" and verbnet is None:
        raise DataError(
            "Senses by VerbNet need its files, which reelscore does not carry. Give the folder "
            "of your copy: verbnet=DIR, on the command line --verbnet DIR."
        )
    if isinstance(captions, str):
        raise DataError(f"Expected a list of captions, got one text: {captions[:40]!r}.")
    lexicon = Lexicon.load()
    rule = Senses(lexicon, senses, read_verbnet(verbnet) if verbnet is not None else None)
    if not isinstance(captions, Mapping):
        texts = list(captions)
        return sentences(texts, trees(texts, threads), rule, pronouns)
    items = {item: [t] if isinstance(t, str) else list(t) for item, t in captions.items()}
    texts = [text for item_texts in items.values() for text in item_texts]
    parsed = iter(sentences(texts, trees(texts, threads), rule, pronouns))
    return {item: [next(parsed) for _ in item_texts] for item, item_texts in items.items()}


def trees(captions: Sequence[str], threads: int | None = 1) -> list[list[Tree]]:
    """The trees of the sentences of each caption; equal sentences are parsed once."""
    from reelscore.text.parser.networks import ud_trees  # its libraries take a moment to load

    parts = [split_sentences(caption) for caption in captions]
    distinct = list(dict.fromkeys(part for caption in parts for part in caption))
    drawn = map(corrected, ud_trees(distinct, threads=threads) if distinct else ())
    parsed = dict(zip(distinct, drawn, strict=True))
    return [[parsed[part] for part in caption] for caption in parts]


def split_sentences(caption: str) -> list[str]:
    """The sentences of a caption.

    >>> split_sentences("A dog barks. Mr. Smith runs!")
    ['A dog barks.', 'Mr. Smith runs!']
    """
    parts: list[str] = []
    for part in _SENTENCE_END.split(caption.strip()):
        if parts and _ABBREVIATION.search(parts[-1]):
            parts[-1] += f" {part}"
        elif part:
            parts.append(part)
    return parts


def sentences(
    captions: Sequence[str], parsed: Sequence[Sequence[Tree]], senses: Senses, pronouns: str
) -> list[Sentence]:
    """Sentences from trees; `parsed` has the trees of each caption."""
    return [
        _sentence(text, caption, senses, pronouns)
        for text, caption in zip(captions, parsed, strict=True)
    ]


def _sentence(text: str, parsed: Sequence[Tree], senses: Senses, pronouns: str) -> Sentence:
    tokens: list[Token] = []
    found: list[Clause] = []
    for tree in parsed:
        start = len(tokens)
        tokens += [
            replace(token, head=token.head + start if token.head != ROOT else ROOT)
            for token in tree.tokens
        ]
        found += [
            _moved(senses.apply(clause), start)
            for clause in clauses(tree, Lexicon.load(), pronouns=pronouns)
        ]
    return Sentence(text, tuple(tokens), tuple(found))


def _moved(clause: Clause, distance: int) -> Clause:
    """The clause with positions in the caption instead of its sentence."""
    if distance == 0:
        return clause

    def moved(filler: Filler | None) -> Filler | None:
        return replace(filler, head=filler.head + distance) if filler else None

    return replace(
        clause,
        subject=moved(clause.subject),
        verb=moved(clause.verb),
        object=moved(clause.object),
        location=moved(clause.location),
        recipient=moved(clause.recipient),
        tokens=tuple(index + distance for index in clause.tokens),
        phrases=tuple(
            (preposition, replace(noun, head=noun.head + distance))
            for preposition, noun in clause.phrases
        ),
    )


def sample_items(
    parsed: Mapping[str, Sequence[Sentence]], size: int, seed: int = 12345
) -> dict[str, list[Sentence]]:
    """Draw captions at random, as many short as long ones: a quarter of each quarter by length."""
    pairs = [(item, sentence) for item, sentences in parsed.items() for sentence in sentences]
    ordered = sorted(range(len(pairs)), key=lambda index: (len(pairs[index][1].tokens), index))
    chance = random.Random(seed)
    chosen: set[int] = set()
    parts = 4
    for part in range(parts):
        stratum = ordered[len(pairs) * part // parts : len(pairs) * (part + 1) // parts]
        share = size * (part + 1) // parts - size * part // parts
        chosen.update(chance.sample(stratum, min(share, len(stratum))))
    drawn: dict[str, list[Sentence]] = defaultdict(list)
    for index in sorted(chosen):
        item, sentence = pairs[index]
        drawn[item].append(sentence)
    return dict(drawn)
