"""Scene graphs: the facts of one or several captions, synonyms merged, and how two graphs match.

A graph has a node for each object, with attributes, and relations between nodes. A node, attribute
or relation is a `Concept`: words that mean the same by METEOR's table of WordNet synsets, which
knows neither parts of speech nor senses: *guy* and *cat* share a synset.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from reelscore.text.meteor_data import meteor_index
from reelscore.text.parser import networks as parser
from reelscore.text.parser.facts import Fact, tree_facts
from reelscore.text.tokens import tokenize


class Concept:
    """Words that stand for the same thing.

    Attributes:
        words: The words, in the order in which they came.
        synsets: The numbers of all their synsets.

    >>> Concept("automobile").similar(Concept("car"))
    True
    """

    __slots__ = ("keys", "synsets", "words")

    def __init__(self, *words: str, synsets: bool = True) -> None:
        self.words = dict.fromkeys(words)
        numbers = [_synsets(word) for word in words] if synsets else []
        self.synsets = numbers[0] if len(numbers) == 1 else frozenset[int]().union(*numbers)
        self.keys: frozenset[str | int] = self.synsets.union(words)

    def similar(self, other: Concept) -> bool:
        """Return whether the two share a word or a synset."""
        return not self.keys.isdisjoint(other.keys)

    def similarity(self, other: Concept) -> float:
        """1 for a shared word, else the share of synsets that both have."""
        if not self.words.keys().isdisjoint(other.words):
            return 1.0
        shared = len(self.synsets & other.synsets)
        return shared / len(self.synsets | other.synsets) if shared else 0.0

    def merge(self, other: Concept) -> None:
        """Take in the words and synsets of another."""
        self.words |= other.words
        self.synsets |= other.synsets
        self.keys |= other.keys

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Concept) and self.keys == other.keys

    __hash__ = object.__hash__  # a concept can grow

    def __str__(self) -> str:
        return "/".join(self.words)

    def __repr__(self) -> str:
        return f"Concept({str(self)!r})"


class SceneGraph:
    """The facts of one or several captions as a graph."""

    def __init__(self, facts: Iterable[Fact] = (), *, synsets: bool = True) -> None:
        self.synsets = synsets
        self._nodes: list[Concept] = []
        self._attributes: dict[Concept, list[Concept]] = {}
        self._relations: dict[tuple[Concept, Concept], list[Concept]] = {}
        self._of_word: dict[str, Concept] = {}  # valid until a node grows
        for fact in facts:
            self.add(fact)

    def add(self, fact: Fact) -> None:
        """Add a fact: an object, an attribute of one, or a relation between two."""
        if len(fact) == 1:
            self._node(fact[0])
        elif len(fact) == 2:
            self._put(self._attributes.setdefault(self._node(fact[0]), []), fact[1])
        else:
            ends = self._node(fact[0]), self._node(fact[2])
            self._put(self._relations.setdefault(ends, []), fact[1])

    @property
    def concepts(self) -> list[tuple[Concept, ...]]:
        """All objects, attributes and relations."""
        return [
            *((node,) for node in self._nodes),
            *((node, each) for node, all_ in self._attributes.items() for each in all_),
            *(
                (one, relation, two)
                for (one, two), relations in self._relations.items()
                for relation in relations
            ),
        ]

    @property
    def tuples(self) -> list[Fact]:
        """All objects, attributes and relations, words of one concept joined by ``/``."""
        return [tuple(map(str, each)) for each in self.concepts]

    def _node(self, word: str) -> Concept:
        known = self._of_word.get(word)
        if known is not None:
            return known
        new = Concept(word, synsets=self.synsets)
        node = self._place(new)
        if node is new:
            self._nodes.append(node)
        elif word not in node.words:
            node.merge(new)
            self._of_word.clear()
        self._of_word[word] = node
        return node

    def _place(self, new: Concept) -> Concept:
        """The equal node, or the most similar, the first of equals; or the new one itself."""
        best, highest = new, 0.0
        for node in self._nodes:
            if node == new:
                return node
            similarity = node.similarity(new)
            if similarity > highest:
                best, highest = node, similarity
        return best

    def _put(self, concepts: list[Concept], word: str) -> None:
        new = Concept(word, synsets=self.synsets)
        if new in concepts:
            return
        for concept in concepts:
            if concept.similar(new):
                concept.merge(new)
                return
        concepts.append(new)


def match(
    candidate: Sequence[tuple[Concept, ...]],
    reference: Sequence[tuple[Concept, ...]],
    *,
    synsets: bool = True,
) -> list[int | None]:
    """Find for each tuple of a candidate the first tuple of the reference that matches it.

    Tuples match if they have one length and are similar in every place; two may match the same.

    >>> match([(Concept("dog"),), (Concept("car"),)], [(Concept("automobile"),)])
    [None, 0]
    """
    found: list[int | None] = []
    for ours in candidate:
        place = None
        for k, theirs in enumerate(reference):
            if len(ours) == len(theirs) and (
                all(map(Concept.similar, ours, theirs))
                if synsets
                else all(
                    a.words.keys() == b.words.keys() for a, b in zip(ours, theirs, strict=True)
                )
            ):
                place = k
                break
        found.append(place)
    return found


def read_concepts(
    tuples: Iterable[Sequence[str]], *, synsets: bool = True
) -> list[tuple[Concept, ...]]:
    """Take over tuples that are merged already; words of one concept are joined by ``/``.

    >>> read_concepts([["bike/bicycle", "lean on", "wall"]])
    [(Concept('bike/bicycle'), Concept('lean on'), Concept('wall'))]
    """
    return [tuple(Concept(*text.split("/"), synsets=synsets) for text in each) for each in tuples]


def scene_graph(caption: str) -> SceneGraph:
    """Parse a caption, as it was written, and build its scene graph.

    Raises:
        MissingExtraError: If there is no parser.

    >>> scene_graph("A man is riding a horse.").tuples  # doctest: +SKIP
    [('man',), ('horse',), ('man', 'ride', 'horse')]
    """
    return SceneGraph(caption_facts(tokenize([caption]))[0])


def caption_facts(captions: Sequence[str], *, threads: int | None = None) -> list[list[Fact]]:
    """Parse captions, whose tokens are lower-case and separated by blanks, and read their facts.

    Each distinct caption is parsed once.
    """
    distinct = dict.fromkeys(caption for caption in captions if caption.strip())
    trees = parser.teacher_trees(list(distinct), threads=threads) if distinct else []
    found = dict(zip(distinct, map(tree_facts, trees), strict=True))
    return [found.get(caption, []) for caption in captions]


@lru_cache(maxsize=1 << 16)
def _synsets(phrase: str) -> frozenset[int]:
    """The synsets of a word or phrase and of its base form."""
    return frozenset(meteor_index().synsets(phrase.replace(" ", "_")))
