"""What a caption states, read off its tree: objects, their attributes, relations between them.

The rules imitate the scene graphs of SPICE (Anderson et al., 2016): they work on the same kind of
trees, and give what the official tool gives on them, peculiarities included. A fact is a tuple of
words: ``("dog",)``, ``("dog", "brown")`` or ``("man", "walk with", "dog")``.
"""

from __future__ import annotations

from collections import deque

from reelscore.text.parser.lexicon import word_set
from reelscore.text.parser.trees import NOUNS, Tree, dependencies

Fact = tuple[str, ...]

RULES = "1"  # changes with any change of the rules: it is part of signatures

_PLURALS = frozenset({"NNS", "NNPS"})
_SINGULARS = frozenset({"NN", "NNP"})
# "a couple of dogs" are dogs; "a group of dogs" is a group.
_QUANTITIES = word_set(
    "array assortment bunch couple handful heap lot multitude myriad number pair range string ton "
    "type variety version"
)
_PLURAL_QUANTITIES = word_set("dozens hundreds lots pairs plenty thousands tons")
_SINGULAR_PRONOUNS = word_set("he she it him her his its one himself herself itself hers")
_BRACKETS = str.maketrans(
    {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}
)


def tree_facts(tree: Tree) -> list[Fact]:
    """Read the facts off a tree, in the order in which they enter a scene graph."""
    return _Caption(tree).facts()


class _Caption:
    """A caption while its facts are read.

    Attributes:
        names: Of each word the word that stands for it: its lemma.
        stands_for: Of each pronoun the noun it stands for; of any other word itself.
        counted: Of each quantity ("couple") the noun that it counts.
        edges: The dependencies, without those from quantities to nouns.
        below: Of each word the relations and words that depend on it.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.tokens = tree.tokens
        self.tags = [token.tag for token in tree.tokens]
        self.names = [token.lemma.lower().translate(_BRACKETS) for token in tree.tokens]
        self.nouns = [tag in NOUNS for tag in self.tags]
        self.graph = dependencies(tree)
        self.counted = self._find_quantities()
        self.stands_for = self._find_antecedents()
        self.edges = [e for e in self.graph.edges if self.counted.get(e[0]) != e[2]]
        self.below: list[list[tuple[str, int]]] = [[] for _ in tree.tokens]
        for head, relation, dependent in self.edges:
            self.below[head].append((relation, dependent))
        self.found: list[Fact] = []

    def facts(self) -> list[Fact]:
        """Apply all rules."""
        modifiers = {word for _, relation, word in self.edges if relation == "compound"}
        self.found = [
            (name,)
            for word, name in enumerate(self.names)
            if self.nouns[word] and word not in modifiers
        ]
        for quantity in self.counted:
            self._quantity(quantity)
        rules = {
            "amod": self._modifier,
            "compound": self._modifier_of_noun,
            "nummod": self._number,
            "nmod:poss": self._possession,
            "nsubj": self._subject,
            "nsubjpass": self._passive,
            "acl": self._participle,
        }
        for head, relation, dependent in self.edges:
            rule = rules.get(relation)
            if rule is not None:
                rule(head, dependent)
            elif relation.startswith("nmod:"):
                self._preposition(head, relation[5:], dependent)
        return self.found

    # The rules. Each gets the two words of an edge.

    def _modifier(self, head: int, word: int) -> None:
        """A *brown* dog."""
        if head not in self.counted:
            self.found.append((self._name(head), self.names[word]))

    def _modifier_of_noun(self, head: int, word: int) -> None:
        """A *basketball* player."""
        if self._is_thing(head):
            self._modifier(head, word)

    def _number(self, head: int, word: int) -> None:
        """*Two* dogs, but not one dog, nor dogs number two."""
        if self.tags[head] in _PLURALS and word < head:
            self._modifier(head, word)

    def _quantity(self, quantity: int) -> None:
        """*A* couple of dogs: the word that begins the quantity is an attribute of plural nouns."""
        counted = self.counted[quantity]
        noun = self.stands_for[counted]
        before = self._before(quantity)
        if self.tags[quantity] in ("CD", "DT"):
            if self.tags[noun] not in _PLURALS or self._has_number(noun) or before:
                return
            first = quantity
        else:
            inner = quantity in self.counted.values()
            if self.tags[counted] not in _PLURALS or not self.nouns[quantity] or inner:
                return
            articles = [child for child in before if self.names[child] == "a"]
            others = [child for child in before if self.tokens[child].relation != "case"]
            first = [*articles, *others, *before[-1:], quantity][0]
        self.found.append((self._thing(counted), self.names[first]))

    def _possession(self, owned: int, owner: int) -> None:
        """The *man's* dog, *his* dog."""
        if self.nouns[owned] and self._is_thing(owner):
            self._relate(self._name(owner), "have", self._name(owned))

    def _preposition(self, head: int, preposition: str, word: int) -> None:
        """A dog *on the mat*."""
        if self._is_thing(head):
            self._relate(self._name(head), preposition, self._thing(word))

    def _subject(self, predicate: int, subject: int) -> None:
        """*A dog* runs, is brown, is on the mat."""
        is_thing = self._is_thing(self._counted_noun(subject))
        tag = self.tags[predicate]
        preposition = self.graph.prepositions[predicate]
        if any(relation == "cop" for relation, _ in self.below[predicate]):
            if preposition and is_thing:
                self._relate(self._thing(subject), preposition, self._thing(predicate))
            if not self._is_thing(predicate) or (is_thing and not preposition):
                self.found.append((self._thing(subject), self._thing(predicate)))
        elif is_thing:
            related = self._arguments(subject, predicate)
            if preposition and not related:
                self._relate(self._thing(subject), preposition, self._thing(predicate))
            elif tag.startswith("JJ") or not (related or self.names[predicate] == "be"):
                self.found.append((self._thing(subject), self.names[predicate]))

    def _passive(self, verb: int, subject: int) -> None:
        """*The piano* is played by a woman: she plays it; nothing where nobody is named."""
        if not self._is_thing(self._counted_noun(subject)):
            return
        for relation, agent in self.below[verb]:
            if relation == "nmod:by" and self._is_thing(self._counted_noun(agent)):
                self._relate(self._thing(agent), self._verb(verb), self._thing(subject))

    def _participle(self, noun: int, verb: int) -> None:
        """A man *wearing a hat*."""
        if self.tags[verb].startswith("VB"):
            self._arguments(noun, verb)

    def _arguments(self, subject: int, verb: int) -> bool:
        """Relate a subject to the objects and prepositional phrases of its verb, if any."""
        phrase = self._verb(verb)
        is_passive = any(relation == "auxpass" for relation, _ in self.below[verb])
        related = False
        for relation, word in self.below[verb]:
            if relation in ("dobj", "iobj"):
                preposition = ""
            elif relation.startswith("nmod:") and relation != "nmod:poss":
                preposition = "" if is_passive and relation == "nmod:by" else relation[5:]
            else:
                continue
            if self._is_thing(self._counted_noun(word)):
                said = f"{phrase} {preposition}" if preposition else phrase
                self._relate(self._thing(subject), said, self._thing(word))
                related = True
        return related

    # Words and what they stand for.

    def _relate(self, subject: str, relation: str, thing: str) -> None:
        self.found.append((subject, relation.removeprefix("be "), thing))

    def _verb(self, verb: int) -> str:
        particles = [
            self.tokens[word].text.lower()
            for relation, word in self.below[verb]
            if relation == "compound:prt"
        ]
        return " ".join([self.names[verb], *particles])

    def _is_thing(self, word: int) -> bool:
        return self.nouns[self.stands_for[word]]

    def _name(self, word: int) -> str:
        return self.names[self.stands_for[word]]

    def _thing(self, word: int) -> str:
        """The name of a word; of a quantity that of what it counts."""
        return self._name(self._counted_noun(word))

    def _counted_noun(self, word: int) -> int:
        for _ in self.counted:  # "lots of pairs of shoes"
            word = self.counted.get(word, word)
        return word

    def _find_antecedents(self) -> list[int]:
        """What pronouns stand for: the first noun from the roots down, if it stands before."""
        stands_for = list(range(len(self.tokens)))
        pronouns = [k for k, tag in enumerate(self.tags) if k > 0 and tag in ("PRP", "PRP$")]
        if not pronouns:
            return stands_for
        nouns = [word for word in self._from_the_roots_down() if self.nouns[word]]
        for pronoun in pronouns:
            singular = self.tokens[pronoun].text.lower() in _SINGULAR_PRONOUNS
            fitting = (n for n in nouns if not singular or self.tags[n] in _SINGULARS)
            noun = next(fitting, pronoun)
            if noun < pronoun:
                stands_for[pronoun] = noun
                prepositions = self.graph.prepositions
                prepositions[noun] = prepositions[noun] or prepositions[pronoun]
        return stands_for

    def _from_the_roots_down(self) -> list[int]:
        """All words, level by level; what is counted comes before the quantity."""
        below: list[list[int]] = [[] for _ in self.tokens]
        for head, _, dependent in self.graph.edges:
            below[head].append(dependent)
        order: dict[int, None] = {}
        queue = deque(self.graph.roots)
        while queue:
            word = queue.popleft()
            if word not in order:
                order.update(dict.fromkeys([self._counted_noun(word), word]))
                queue.extend(sorted(below[word]))
        return list(order)

    def _find_quantities(self) -> dict[int, int]:
        """Find quantities: *a couple* of dogs, *lots* of people, *one* of the boys, *all* of it."""
        counted: dict[int, int] = {}
        for head, relation, noun in self.graph.edges:
            if relation != "nmod:of" or head in counted:
                continue
            if self.tokens[noun].relation != "nmod":  # a further conjunct hangs on the quantity
                continue
            text = self.tokens[head].text.lower()
            if (
                (self.tags[head] in ("CD", "DT") and self._is_definite(noun))
                or (text in _PLURAL_QUANTITIES and self.nouns[noun])
                or (text in _QUANTITIES and "a" in map(self.names.__getitem__, self._before(head)))
            ):
                counted[head] = noun
        return counted

    def _before(self, word: int) -> list[int]:
        return [child for child in self.tree.children[word] if child < word]

    def _is_definite(self, noun: int) -> bool:
        children = self.tree.children[noun]
        return self.tags[noun] == "PRP" or any(self.names[child] == "the" for child in children)

    def _has_number(self, noun: int) -> bool:
        return any(self.tokens[c].relation == "nummod" for c in self.tree.children[noun])
