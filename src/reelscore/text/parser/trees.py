"""Dependency trees: one token per word, each with its head; read and written as CoNLL-U.

Scene graphs need dependencies with prepositions in relations and conjuncts spelled out. The trees
have the labels of Universal Dependencies 1: from "a man and a boy sit on a bench", whose tree hangs
*boy* on *man* and *on* on *bench*, come ``nsubj(sit, man)``, ``nsubj(sit, boy)`` and
``nmod:on(sit, bench)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

ROOT = -1


@dataclass(frozen=True, slots=True)
class Token:
    """A word in a tree: `head` is the index of the word it depends on, `ROOT` for the root.

    >>> Token("dogs", "NNS", "dog", head=1, relation="nsubj").lemma
    'dog'
    """

    text: str
    tag: str
    lemma: str
    head: int
    relation: str


@dataclass(frozen=True)
class Tree:
    """The words of one sentence and how they depend on one another."""

    tokens: tuple[Token, ...]

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The indexes of the words that depend on each word, from left to right."""
        dependents: list[list[int]] = [[] for _ in self.tokens]
        for index, token in enumerate(self.tokens):
            if token.head != ROOT:
                dependents[token.head].append(index)
        return tuple(map(tuple, dependents))

    @cached_property
    def root(self) -> int:
        """The index of the first root; `ROOT` where the tree is empty."""
        roots = (index for index, token in enumerate(self.tokens) if token.head == ROOT)
        return next(roots, ROOT)

    def depth(self, index: int) -> int:
        """Count the arcs that lead from the root to a word."""
        steps = 0
        while self.tokens[index].head != ROOT and steps < len(self.tokens):
            index, steps = self.tokens[index].head, steps + 1
        return steps


def read_trees(lines: Iterable[str]) -> Iterator[Tree]:
    r"""Read trees from `lines` of CoNLL-U: ten columns a word, an empty line after a sentence.

    Tags are those of the fifth column (Penn). Contracted forms (`1-2`) and empty nodes (`1.1`)
    are left out, as the trees do not use them.
    """
    tokens: list[Token] = []
    for line in lines:
        columns = line.rstrip("\n").split("\t")
        if len(columns) < 2:
            if tokens and not line.startswith("#"):
                yield Tree(tuple(tokens))
                tokens = []
        elif columns[0].isdecimal():
            _, text, lemma, _, tag, _, head, relation, *_ = columns
            tokens.append(Token(text, tag, lemma, int(head) - 1, relation))
    if tokens:
        yield Tree(tuple(tokens))


def write_tree(tree: Tree) -> str:
    r"""Write a `tree` in CoNLL-U, with the empty line that ends a sentence."""
    rows = [
        (number, word.text, word.lemma, "_", word.tag, "_", word.head + 1, word.relation, "_", "_")
        for number, word in enumerate(tree.tokens, start=1)
    ]
    return "".join("\t".join(map(str, row)) + "\n" for row in rows) + "\n"


Edge = tuple[int, str, int]  # head, relation, dependent

NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
_FINITE = frozenset({"VBZ", "VBP", "VB", "MD"})
_SUBJECTS = ("nsubj", "nsubjpass")

# Prepositions of several words that trees spell out word by word.
_LONG_PREPOSITIONS = (
    "according to, ahead of, along with, alongside of, apart from, aside from, away from, "
    "because of, by means of, close to, due to, except for, far from, in addition to, in case of, "
    "in front of, in place of, in spite of, instead of, near to, next to, off of, on account of, "
    "on behalf of, on top of, out of, outside of, prior to, regardless of, such as, thanks to, "
    "together with, with regard to, with respect to"
)
_PHRASES = frozenset(tuple(phrase.split()) for phrase in _LONG_PREPOSITIONS.split(", "))
_ADVERB_PAIRS = _PHRASES | {("inside", "of")}  # where both words hang on the noun
# How the first word of "next to" hangs where a clause, not a modifier, begins with it.
_CLAUSES = frozenset({"root", "acl", "acl:relcl", "advcl", "ccomp", "conj", "parataxis"})


class Dependencies(NamedTuple):
    """The edges between the words of a tree, in the order of their dependents."""

    # head, relation and dependent; prepositions are part of the relation (``nmod:on``), edges to
    # further conjuncts come last
    edges: list[Edge]
    prepositions: list[str]  # the preposition of each word, or ""
    roots: list[int]  # the words without a head


def _hash_order(word: int) -> int:
    """Where a word comes in a hash table of 16 places, counted from 1.

    Of several prepositions the official tool takes the last in this order.
    """
    return (word + 1) % 16


class _Words:
    """The words of a tree while their heads and relations are rewritten."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.texts = [token.text.lower() for token in tree.tokens]
        self.heads = [token.head for token in tree.tokens]
        self.relations = [token.relation for token in tree.tokens]
        self.prepositions = [""] * len(tree.tokens)
        self.cases: dict[int, list[int]] = {}  # where the prepositions of a word stand
        self.further: dict[int, list[str]] = {}  # "near and *in* buses"
        self.absorbed: set[int] = set()  # words that became part of a preposition

    def find_prepositions(self) -> None:
        """Find the preposition of every word, and those joined to it by "and"."""
        tokens, children, texts = self.tree.tokens, self.tree.children, self.texts
        relations = self.relations
        owners = {token.head for token in tokens if token.relation == "case"}
        for word in sorted(owners - {ROOT}):
            cases = [child for child in children[word] if relations[child] == "case"]
            self.cases[word] = cases
            last = max(cases, key=_hash_order)
            pair = next(
                (
                    (texts[case - 1], texts[case])
                    for case in cases
                    if relations[case - 1] in ("case", "advmod")
                    and case - 1 in children[word]
                    and (texts[case - 1], texts[case]) in _ADVERB_PAIRS
                ),
                None,
            )
            marker = cases[0] if relations[word] in _CLAUSES else last
            if tokens[marker].tag == "POS" and relations[word] != "nmod":
                continue
            more = [texts[child] for child in children[marker] if relations[child] == "mwe"]
            phrase = pair or (texts[marker], *more)
            self.prepositions[word] = " ".join(phrase)
            self.further[word] = [
                texts[child]
                for child in children[marker]
                if relations[child] == "conj" and tokens[child].tag in ("IN", "TO")
            ]

    def join_prepositions(self) -> None:
        """Take "next" out of stand → next → to a wall, and "front" out of in front of."""
        texts, heads, relations = self.texts, self.heads, self.relations
        for word, cases in self.cases.items():
            first = heads[word]
            marker = first + 1
            if relations[word] != "nmod" or marker not in cases:
                continue
            phrase: tuple[str, ...] = (texts[first], texts[marker])
            before = first - 1
            if (
                before >= 0
                and (texts[before], *phrase) in _PHRASES
                and self.tree.tokens[before].head == first
                and relations[before] == "case"
            ):
                phrase = (texts[before], *phrase)
            elif phrase not in _PHRASES:
                continue
            self.prepositions[word] = " ".join(phrase)
            self.absorbed.add(first)
            heads[word] = heads[first]
            relations[word] = relations[first] if relations[first] in _CLAUSES else "nmod"
            for child in self.tree.children[first]:
                if child not in (word, marker) and relations[child] != "case":
                    heads[child] = word

    def edges(self) -> list[Edge]:
        """The edges, each preposition in the relation of its noun."""
        found: list[Edge] = []
        for word, (head, relation) in enumerate(zip(self.heads, self.relations, strict=True)):
            if head == ROOT or word in self.absorbed:
                continue
            preposition = self.prepositions[word] if relation == "nmod" else ""
            found.append((head, f"nmod:{preposition}" if preposition else relation, word))
            if preposition:
                found += [(head, f"nmod:{other}", word) for other in self.further[word]]
        return found


def dependencies(tree: Tree) -> Dependencies:
    """Work out the dependencies of a tree."""
    words = _Words(tree)
    words.find_prepositions()
    words.join_prepositions()
    edges = words.edges()
    if "conj" in words.relations:
        edges += [edge for edge in _shared(tree, edges, words.prepositions) if edge not in edges]
    roots = [word for word, head in enumerate(words.heads) if head == ROOT]
    return Dependencies(edges, words.prepositions, roots)


def _shared(tree: Tree, edges: list[Edge], prepositions: list[str]) -> list[Edge]:
    """The edges that a conjunct shares with the word it is joined to.

    Only edges of the tree itself are shared: of "a, b and c" where c hangs on b, c gets nothing.
    """
    tokens = tree.tokens
    incoming = {dependent: (head, relation) for head, relation, dependent in edges}
    found: list[Edge] = []
    for first, relation, second in edges:
        if relation != "conj":
            continue
        head, role = incoming.get(first, (ROOT, "conj"))
        if role.startswith("nmod:") and role != "nmod:poss" and prepositions[second]:
            role = f"nmod:{prepositions[second]}"  # "over the sea and below the clouds"
        if role != "conj" and (role != "compound" or tokens[second].tag in NOUNS):
            found.append((head, role, second))
        if tokens[second].tag[:2] not in ("VB", "JJ"):
            continue
        own = [role for head, role, _ in edges if head == second]
        if any(role.startswith("nsubj") for role in own):
            continue
        for head, role, subject in edges:
            if head == first and role in _SUBJECTS:
                # "is parked and covered" is passive twice, "is asked and shows" is not
                kept = role == "nsubjpass" and tokens[second].tag not in _FINITE
                passive = "auxpass" in own or kept
                found.append((second, "nsubjpass" if passive else "nsubj", subject))
    return found
