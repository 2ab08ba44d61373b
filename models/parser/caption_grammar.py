"""Captions made up with their trees: what web text has too little of.

Captions drop articles, put participles after nouns, chain verbs without subjects and mix
numbers. Each production below writes one such habit, with the labels UD English EWT would use.
The meanings are odd, which does no harm: the parser must learn forms and order.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from caption_words import (
    ALWAYS_PLURAL,
    COLOURS,
    COMPOUNDS,
    DITRANSITIVE,
    NAMES,
    ORIGINS,
    PARTICIPLES,
    PLACE_ADVERBS,
    WITH_PREPOSITION,
    Words,
    inflected,
)

from reelscore.text.parser.trees import ROOT, Token, Tree

NUMBERS = "two three four five six seven 2 3 4 5 several many some both few multiple".split()
GROUPS = (
    "group bunch pair number crowd team band couple row line troupe herd set series kind lot "
    "circle class variety pack flock gang".split()
)
PORTIONS = "piece glass cup bottle bowl plate slice bag box pile stack bucket section".split()
MOVING = "on in at into near behind under over across through down around along onto beside".split()
TOWARDS_PERSONS = frozenset("at to with after for about into".split())
CONFUSED = {
    "from": "form",
    "through": "though",
    "their": "there",
    "a": "an",
    "his": "is",
    "off": "of",
}
PLACED = "in in in on on on at inside near behind outside by under".split()


@dataclass
class Node:
    """A word with the phrases that hang on it, left and right."""

    text: str
    tag: str
    relation: str = "root"
    before: list[Node] = field(default_factory=list)
    after: list[Node] = field(default_factory=list)
    plural: bool = False

    def add(self, *nodes: Node | None, relation: str = "") -> Node:
        """Append phrases on the right."""
        for node in nodes:
            if node is not None:
                node.relation = relation or node.relation
                self.after.append(node)
        return self

    def lead(self, *nodes: Node | None) -> Node:
        """Put phrases in front of all on the left."""
        self.before[:0] = [node for node in nodes if node is not None]
        return self

    def named(self, relation: str) -> Node:
        """The same node under another relation."""
        self.relation = relation
        return self

    def words(self) -> list[Node]:
        """All words of the phrase in order."""
        left = [word for node in self.before for word in node.words()]
        return [*left, self, *(word for node in self.after for word in node.words())]

    def tree(self) -> Tree:
        """The phrase as a tree; articles get the form that their neighbour asks for."""
        words = self.words()
        place = {id(word): index for index, word in enumerate(words)}
        heads = {id(child): id(word) for word in words for child in word.before + word.after}
        tokens = []
        for index, word in enumerate(words):
            text = word.text
            if text == "a" and index + 1 < len(words) and words[index + 1].text[:1] in "aeiouAEIO":
                text = "an"
            head = place[heads[id(word)]] if id(word) in heads else ROOT
            tokens.append(Token(text, word.tag, text.lower(), head, word.relation))
        return Tree(tuple(tokens))


def leaf(text: str, tag: str, relation: str) -> Node:
    """A word on its own."""
    return Node(text, tag, relation)


def comma() -> Node:
    return leaf(",", ",", "punct")


class CaptionGrammar:
    """Makes captions; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._words = Words(self._chance)

    def caption(self) -> Tree:
        """One caption with its tree."""
        makers: list[tuple[float, Callable[[], Node]]] = [
            (0.66, self._sentence),
            (0.13, self._headless),
            (0.05, self._noun_phrase_only),
            (0.06, self._existential),
            (0.10, self._joined),
        ]
        weights, productions = zip(*makers, strict=True)
        root = self._chance.choices(productions, weights)[0]().named("root")
        if self._coin(0.15):
            root = self._fronted(root)
        if self._coin(0.5):
            root.add(leaf(".", ".", "punct"))
        return self._written(root.tree())

    def _written(self, tree: Tree) -> Tree:
        """As people type: a capital or none, and now and then a typing error."""
        tokens = list(tree.tokens)
        if self._coin(0.6):
            first = tokens[0]
            text = first.text[:1].upper() + first.text[1:]
            tokens[0] = Token(text, first.tag, first.lemma, first.head, first.relation)
        elif self._coin(0.7):
            tokens = [Token(t.text.lower(), *_rest(t)) for t in tokens]
        for index, token in enumerate(tokens):
            if token.text in CONFUSED and self._coin(0.02):
                tokens[index] = Token(CONFUSED[token.text], *_rest(token))
            if len(token.text) > 4 and token.text.isalpha() and self._coin(0.01):
                place = self._chance.randrange(1, len(token.text) - 1)
                text = token.text[:place] + token.text[place + 1 :]
                if self._coin(0.5):
                    a, b = token.text[place], token.text[place + 1]
                    text = token.text[:place] + b + a + token.text[place + 2 :]
                tokens[index] = Token(text, *_rest(token))
        return Tree(tuple(tokens))

    # -- chance

    def _coin(self, probability: float) -> bool:
        return self._chance.random() < probability

    def _pick(self, *choices: str) -> str:
        return self._chance.choice(choices[0].split() if len(choices) == 1 else choices)

    # -- noun phrases

    def _kind(self) -> str:
        return self._chance.choices(
            ("person", "animal", "thing", "food", "body", "plant"), (70, 14, 10, 2, 2, 2)
        )[0]

    def noun_phrase(self, kind: str, depth: int = 0, bare: float = 0.25) -> Node:
        """A noun with what stands before and after it."""
        if kind in ("person", "animal") and depth == 0 and self._coin(0.08):
            return self._pronoun_like()
        if kind == "person" and self._coin(0.02):
            first, *others = self._chance.choice(NAMES)
            return Node(first, "NNP").add(*(leaf(name, "NNP", "flat") for name in others))
        if self._coin(0.1 if kind in ("person", "animal") else 0.03):
            head = self._group(kind, bare)
        elif kind in ("food", "thing") and self._coin(0.06):
            head = Node(self._pick(*PORTIONS), "NN", before=self._determiner(False, bare))
            of = self._simple_noun(kind, plural=self._coin(0.4), bare=1.0).named("nmod")
            head.add(of.lead(leaf("of", "IN", "case")))
        else:
            head = self._simple_noun(kind, self._coin(0.3), bare)
        return head

    def _pronoun_like(self) -> Node:
        text, tag, plural = self._chance.choice(
            [
                ("he", "PRP", False),
                ("she", "PRP", False),
                ("someone", "NN", False),
                ("they", "PRP", True),
                ("somebody", "NN", False),
                ("another", "DT", False),
                ("others", "NNS", True),
                ("one", "CD", False),
                ("it", "PRP", False),
                ("everyone", "NN", False),
            ]
        )
        node = Node(text, tag, plural=plural)
        if text == "one" and self._coin(0.7):
            of = Node(self._pick("them", "whom"), "PRP", "nmod")
            if self._coin(0.4):
                of = self._simple_noun("person", True, 0.0, the=True).named("nmod")
            node.add(of.lead(leaf("of", "IN", "case")))
        return node

    def _simple_noun(self, kind: str, plural: bool, bare: float, the: bool = False) -> Node:
        lemma = self._words.noun(kind)
        if lemma in ALWAYS_PLURAL:
            plural = True
        before = [leaf("the", "DT", "det")] if the else self._determiner(plural, bare)
        one = any(node.text in ("a", "one", "another") for node in before)
        plural = plural and not one
        parts = lemma.split("_")
        text = inflected(parts[-1], "NNS") if plural else parts[-1]
        if plural and self._coin(0.03):  # "several man"
            text = parts[-1]
        head = Node(text, "NNS" if plural else "NN", before=before, plural=plural)
        head.before += self._modifiers(kind)
        head.before += [leaf(part, "NN", "compound") for part in parts[:-1]]
        if self._coin(0.12) and len(parts) == 1:
            head.before += self._compound(kind)
        return head

    def _determiner(self, plural: bool, bare: float) -> list[Node]:
        if self._coin(bare):
            return []
        if plural:
            roll = self._chance.random()
            if roll < 0.45:
                text = self._pick(*NUMBERS)
                if text in ("several", "many", "multiple", "few"):
                    article = [leaf("a", "DT", "det")] if text == "few" else []
                    return [*article, leaf(text, "JJ", "amod")]
                tag, relation = ("DT", "det") if text in ("some", "both") else ("CD", "nummod")
                return [leaf(text, tag, relation)]
            if roll < 0.6:
                return [leaf(self._pick("the these those all"), "DT", "det")]
            if roll < 0.75:
                return [leaf(self._pick("his her their its"), "PRP$", "nmod:poss")]
            return []
        roll = self._chance.random()
        if roll < 0.62:
            return [leaf("a", "DT", "det")]
        if roll < 0.82:
            return [leaf("the", "DT", "det")]
        if roll < 0.88:
            return [leaf(self._pick("his her their its"), "PRP$", "nmod:poss")]
        if roll < 0.92:
            return [leaf(self._pick("one 1 one"), "CD", "nummod")]
        if roll < 0.96:
            return [leaf(self._pick("another some this each"), "DT", "det")]
        owner = self._simple_noun(self._pick("person person animal"), False, 0.2)
        return [owner.named("nmod:poss").add(leaf("'s", "POS", "case"))]

    def _modifiers(self, kind: str) -> list[Node]:
        nodes: list[Node] = []
        rate = 0.55 if kind in ("person", "clothing", "animal") else 0.3
        if kind == "person" and self._coin(0.04):
            years = leaf("year", "NN", "obl:unmarked")
            hyphen = self._coin(0.6)
            number = leaf(str(self._chance.randint(1, 90)), "CD", "nummod")
            if hyphen:
                number.add(leaf("-", "HYPH", "punct"))
                years.add(leaf("-", "HYPH", "punct"))
            nodes.append(Node("old", "JJ", "amod", before=[years.lead(number)]))
        while self._coin(rate) and len(nodes) < 3:
            roll = self._chance.random()
            if kind == "clothing" or roll < 0.14:
                nodes.append(self._colour())
            elif kind == "person" and roll < 0.26:
                nodes.append(leaf(self._pick(*ORIGINS), "JJ", "amod"))
            elif roll < 0.31:
                nodes.append(self._hyphenated())
            elif roll < 0.37:
                word = self._pick(*PARTICIPLES)
                nodes.append(leaf(word, "VBG" if word.endswith("ing") else "VBN", "amod"))
            elif roll < 0.40:
                verb = inflected(self._words.verb("intransitive"), "VBG")
                nodes.append(leaf(verb, "VBG", "amod"))
            elif roll < 0.45:
                degree = leaf(self._pick("very really extremely dark light bright"), "RB", "advmod")
                nodes.append(Node(self._words.adjective(), "JJ", "amod", before=[degree]))
            else:
                nodes.append(leaf(self._words.adjective(), "JJ", "amod"))
            if len(nodes) > 1 and not nodes[-2].after and self._coin(0.15):
                nodes[-2].add(comma())
            rate *= 0.5
        return nodes

    def _colour(self) -> Node:
        first = Node(self._pick(*COLOURS), "JJ", "amod")
        roll = self._chance.random()
        if roll < 0.25:
            other = Node(self._pick(*COLOURS), "JJ", "conj", before=[leaf("and", "CC", "cc")])
            if self._coin(0.2):
                middle = Node(self._pick(*COLOURS), "JJ", "conj")
                first.add(middle.lead(comma()) if self._coin(0.7) else middle)
                if self._coin(0.4):
                    other.lead(comma())
            first.add(other)
        elif roll < 0.35:
            first.lead(leaf(self._pick("dark light bright"), "JJ", "amod"))
        return first

    def _hyphenated(self) -> Node:
        hyphen = [leaf("-", "HYPH", "punct")] if self._coin(0.6) else []
        roll = self._chance.random()
        if roll < 0.5:
            first = Node(self._pick("red dark long short blonde grey broad light"), "JJ", "amod")
            second = self._pick("haired skinned sleeved legged colored nosed faced eyed")
            return Node(second, "JJ", "amod", before=[first.add(*hyphen)])
        if roll < 0.75:
            first = Node(self._pick("snow man hand rope water flower dirt"), "NN", "obl:unmarked")
            second = self._pick("covered made held filled painted powered")
            return Node(second, "VBN", "amod", before=[first.add(*hyphen)])
        first = Node(self._pick("middle teen mixed"), "NN", "obl:unmarked")
        return Node(self._pick("aged age race"), "JJ", "amod", before=[first.add(*hyphen)])

    def _compound(self, kind: str) -> list[Node]:
        if kind == "clothing" and self._coin(0.4):
            first = Node(self._pick("t tee T suit head"), "NN", "compound")
            return [first.add(leaf("-", "HYPH", "punct")) if self._coin(0.6) else first]
        nodes = [leaf(self._pick(*COMPOUNDS), "NN", "compound")]
        if self._coin(0.15):
            nodes.insert(0, leaf(self._words.noun("thing"), "NN", "compound"))
        if self._coin(0.2):
            nodes[-1].text = inflected(self._words.verb("intransitive"), "VBG")
        return nodes

    def _group(self, kind: str, bare: float) -> Node:
        lemma = self._pick(*GROUPS)
        head = Node(lemma, "NN", before=self._determiner(False, bare))
        if self._coin(0.3):
            head.before.append(leaf(self._pick("large small big whole little"), "JJ", "amod"))
        of = self._simple_noun(kind, True, 0.9).named("nmod")
        head.plural = self._coin(0.5)
        return head.add(of.lead(leaf("of", "IN", "case")))

    def _coordinated(self, first: Node, kind: str) -> Node:
        """'N and N', 'N, N and N'."""
        nodes = [self._simple_noun(kind, self._coin(0.3), 0.4).named("conj")]
        if self._coin(0.2):
            nodes.append(self._simple_noun(kind, self._coin(0.3), 0.4).named("conj"))
            nodes[0].lead(comma())
            if self._coin(0.5):
                nodes[-1].lead(comma())
        joint = self._chance.choices(("and", "or", "with"), (90, 5, 5))[0]
        if joint == "with":
            nodes[-1].lead(leaf("with", "IN", "case")).named("nmod")
        else:
            place = next((i for i, n in enumerate(nodes[-1].before) if n.tag != ","), 0)
            nodes[-1].before.insert(place, leaf(joint, "CC", "cc"))
            first.plural = True
        return first.add(*nodes)

    def full_noun(self, kind: str, depth: int = 0, bare: float = 0.25) -> Node:
        """A noun phrase with coordination and with phrases after it."""
        head = self.noun_phrase(kind, depth, bare)
        if head.tag in ("PRP", "DT", "CD"):
            return head
        if self._coin(0.12):
            head = self._coordinated(head, kind)
        if depth < 2:
            for _ in range(2):
                if self._coin(0.24 if depth == 0 else 0.09):
                    self._postmodify(head, kind, depth)
        return head

    def _postmodify(self, head: Node, kind: str, depth: int) -> None:
        animate = kind in ("person", "animal")
        roll = self._chance.random()
        if animate and roll < 0.30:
            clothing = self.full_noun("clothing", 2, 0.5)
            if self._coin(0.3):
                clothing = self._coordinated(clothing, "clothing")
            preposition = leaf(self._pick("in in in with"), "IN", "case")
            head.add(clothing.lead(preposition).named("nmod"))
        elif roll < 0.5:
            if animate and self._coin(0.4):
                other = self.full_noun(self._pick("body thing clothing"), depth + 1, 0.5)
                head.add(other.lead(leaf("with", "IN", "case")).named("nmod"))
            else:
                head.add(self._place_phrase(depth + 1, self._pick(*PLACED)).named("nmod"))
        elif roll < 0.8:
            self._participle(head, animate, depth)
        elif roll < 0.86 and animate:
            pronoun = leaf(self._pick("who who that"), "WP", "nsubj")
            if pronoun.text == "that":
                pronoun.tag = "WDT"
            clause = self._predicate(head.plural, depth + 1).lead(pronoun)
            if self._coin(0.3):
                clause.lead(comma())
            head.add(clause.named("acl:relcl"))
        elif roll < 0.9 and not head.after:
            head.add(leaf(self._pick(*PLACE_ADVERBS), "RB", "advmod"))
        else:
            other = self.full_noun(self._pick("thing food plant person"), depth + 1)
            head.add(
                other.lead(leaf(self._pick("of with from for about"), "IN", "case")).named("nmod")
            )

    def _participle(self, head: Node, animate: bool, depth: int) -> None:
        roll = self._chance.random()
        if animate and roll < 0.35:
            verb = Node(self._pick("wearing wearing wearing holding carrying"), "VBG", "acl")
            kind = "clothing" if verb.text == "wearing" else "thing"
            item = self.full_noun(kind, 2, 0.45)
            if self._coin(0.35):
                item = self._coordinated(item, kind)
            verb.add(item.named("obj"))
        elif roll < 0.5:
            verb = Node(
                self._pick(
                    "dressed covered attached tied filled decorated made seen taken parked "
                    "surrounded painted called seated"
                ),
                "VBN",
                "acl",
            )
            kind, preposition = self._chance.choice(
                [
                    ("clothing", "in"),
                    ("person", "as"),
                    ("thing", "with"),
                    ("place", "on"),
                    ("thing", "to"),
                    ("person", "by"),
                    ("thing", "like"),
                ]
            )
            relation = "obl:agent" if preposition == "by" else "obl"
            noun = self.full_noun(kind, 2, 0.4).lead(leaf(preposition, "IN", "case"))
            verb.add(noun.named(relation))
        else:
            verb = self._verb_phrase("VBG", depth + 1).named("acl")
        if self._coin(0.15):
            verb.lead(comma())
            if self._coin(0.5):
                verb.add(comma())
        head.add(verb)

    # -- prepositional phrases

    def _place_phrase(self, depth: int, preposition: str = "") -> Node:
        preposition = preposition or self._pick(*MOVING)
        kind = "place" if self._coin(0.85) else self._pick("thing plant event food")
        return self._prepositional(preposition, self.full_noun(kind, depth + 1, 0.2))

    def _prepositional(self, preposition: str, noun: Node, relation: str = "obl") -> Node:
        """'in the room'; 'in front of the room', whose head is *front*, as in EWT."""
        words = preposition.split("_")
        if words[-1] == "of" and len(words) > 2:
            middle = Node(words[-2], "NN", relation)
            middle.before = [
                leaf(w, "DT" if w == "the" else "IN", "det" if w == "the" else "case")
                for w in words[:-2]
            ]
            return middle.add(noun.lead(leaf("of", "IN", "case")).named("nmod"))
        return noun.lead(*(leaf(word, "IN", "case") for word in words)).named(relation)

    def _adjunct(self, depth: int) -> Node:
        """Where, when, how, with what."""
        roll = self._chance.random()
        if roll < 0.44:
            return self._place_phrase(depth, self._pick(*PLACED))
        if roll < 0.53:
            name = self._pick(
                "in_front_of",
                "on_top_of",
                "next_to",
                "in_the_middle_of",
                "out_of",
                "up_to",
                "along_with",
                "at_the_end_of",
                "on_the_side_of",
                "across_from",
            )
            return self._prepositional(
                name, self.full_noun(self._pick("place thing person"), depth + 1, 0.1)
            )
        if roll < 0.62:
            return self._prepositional(
                self._pick("with with from to for toward by"),
                self.full_noun(self._pick("thing person body animal"), depth + 1),
            )
        if roll < 0.70:
            return self._time()
        if roll < 0.74:
            each = Node("each", "DT", "obl").add(leaf("other", "JJ", "fixed"))
            return each.lead(leaf(self._pick("with to at on next"), "IN", "case"))
        if roll < 0.79:
            pairs = ("up", "down"), ("back", "forth"), ("in", "out"), ("around", "around")
            first, second = self._chance.choice(pairs)
            return Node(first, "RB", "advmod").add(
                Node(second, "RB", "conj", before=[leaf("and", "CC", "cc")])
            )
        if roll < 0.83:
            return self._prepositional("to", self._simple_noun("thing", False, 0, the=True))
        return leaf(self._words.adverb(), "RB", "advmod")

    def _time(self) -> Node:
        roll = self._chance.random()
        if roll < 0.35:
            return self._prepositional(
                "during",
                Node(
                    self._pick("day daytime night evening"), "NN", before=[leaf("the", "DT", "det")]
                ),
            )
        if roll < 0.7:
            return self._prepositional(
                self._pick("at in"), Node(self._pick("night daytime daylight dusk evening"), "NN")
            )
        noun = Node(
            "day",
            "NN",
            before=[
                leaf("a", "DT", "det"),
                leaf(self._pick("sunny cloudy rainy snowy bright"), "JJ", "amod"),
            ],
        )
        return self._prepositional("on", noun)

    # -- verbs

    def _verb_phrase(self, tag: str, depth: int) -> Node:
        """A verb in the form of `tag` with its objects and adjuncts."""
        roll = self._chance.random()
        if roll < 0.30:
            verb = Node(inflected(self._words.verb("intransitive"), tag), tag)
        elif roll < 0.40:
            lemma, _, particle = self._words.verb("phrasal").partition("_")
            verb = Node(inflected(lemma, tag), tag)
            particle_node = leaf(particle, "RP", "compound:prt")
            if particle in ("around", "away", "back"):
                particle_node = leaf(particle, "RB", "advmod")
            obj = self._object(depth) if self._coin(0.55) else None
            verb.add(obj, particle_node) if self._coin(0.2) else verb.add(particle_node, obj)
        elif roll < 0.58:
            lemma = self._chance.choice(list(WITH_PREPOSITION))
            verb = Node(inflected(lemma, tag), tag)
            preposition = self._pick(WITH_PREPOSITION[lemma])
            kind = "place"
            if preposition in TOWARDS_PERSONS and self._coin(0.7):
                kind = self._pick("person thing animal thing")
            verb.add(self._prepositional(preposition, self.full_noun(kind, depth + 1, 0.2)))
        elif roll < 0.63:
            verb = Node(inflected(self._pick(*DITRANSITIVE), tag), tag)
            if self._coin(0.4):
                verb.add(self.noun_phrase("person", 1, 0.2).named("iobj"), self._object(2))
            else:
                verb.add(
                    self._object(2),
                    self._prepositional("to", self.full_noun("person", depth + 1, 0.2)),
                )
        elif roll < 0.67:
            return self._verb_with_clause(tag, depth)
        else:
            verb = Node(
                inflected(self._words.verb("transitive"), tag), tag, after=[self._object(depth)]
            )
        for _ in range(3):
            if self._coin(0.30 if depth == 0 else 0.12):
                verb.add(self._adjunct(depth))
        if self._coin(0.06):
            verb.add(leaf(self._pick(*PLACE_ADVERBS), "RB", "advmod"))
            if self._coin(0.3):
                verb.add(self._time())
        if self._coin(0.05):
            adverb = self._words.adverb()
            if adverb.endswith("ly"):
                verb.before.append(leaf(adverb, "RB", "advmod"))
        return verb

    def _object(self, depth: int) -> Node:
        if self._coin(0.03):
            return Node("each", "DT", "obj").add(leaf("other", "JJ", "fixed"))
        if self._coin(0.03):
            return leaf(self._pick("himself herself themselves it him her them"), "PRP", "obj")
        if self._coin(0.02):
            return leaf("another", "DT", "obj")
        kind = self._chance.choices(
            ("thing", "person", "food", "body", "animal", "plant", "place", "event", "clothing"),
            (45, 15, 8, 8, 6, 3, 4, 3, 8),
        )[0]
        return self.full_noun(kind, depth + 1, 0.25).named("obj")

    def _verb_with_clause(self, tag: str, depth: int) -> Node:
        """Begins to V, starts V-ing, tries to V, watches N V-ing, helps N V, seems to V."""
        roll = self._chance.random()
        if roll < 0.45:
            lemma = self._pick(
                "begin start continue try attempt proceed appear seem want prepare like"
            )
            inner = self._verb_phrase("VB", depth + 1).lead(leaf("to", "TO", "mark"))
        elif roll < 0.7:
            lemma = self._pick("begin start continue keep stop enjoy")
            inner = self._verb_phrase("VBG", depth + 1)
        elif roll < 0.85:
            lemma = self._pick("watch see show film")
            subject = self.noun_phrase(self._pick("person animal"), 1, 0.2)
            inner = self._verb_phrase("VBG", depth + 1).lead(subject.named("nsubj"))
            return Node(inflected(lemma, tag), tag).add(inner.named("ccomp"))
        elif roll < 0.92:
            lemma = self._pick("explain show demonstrate learn")
            inner = self._verb_phrase("VB", depth + 1)
            inner.lead(leaf("how", "WRB", "advmod"), leaf("to", "TO", "mark"))
            return Node(inflected(lemma, tag), tag).add(inner.named("ccomp"))
        else:
            lemma = self._pick("help make let")
            inner = self._verb_phrase("VB", depth + 1).named("xcomp")
            obj = self.noun_phrase("person", 1, 0.2).named("obj")
            return Node(inflected(lemma, tag), tag).add(obj, inner)
        return Node(inflected(lemma, tag), tag).add(inner.named("xcomp"))

    def _predicate(self, plural: bool, depth: int) -> Node:
        """A finite verb phrase: 'jumps', 'is jumping', 'is carried', 'is on the bed'."""
        if self._coin(0.06):  # "2 persons talks", "a group of people are"
            plural = not plural
        be = inflected("be", "VBP" if plural else "VBZ")
        be_tag = "VBP" if plural else "VBZ"
        roll = self._chance.random()
        if roll < 0.52:
            return self._verb_phrase("VBP" if plural else "VBZ", depth)
        if roll < 0.82:
            verb = self._verb_phrase("VBG", depth)
            return verb.lead(leaf(be, be_tag, "aux"))
        if roll < 0.88:
            return self._passive(be, be_tag, depth)
        if roll < 0.92:
            modal, tag = self._chance.choice(
                [("can", "MD"), ("will", "MD"), ("could", "MD"), ("does", "VBZ"), ("do", "VBP")]
            )
            negation = leaf(self._pick("n't not"), "RB", "advmod")
            negated = modal in ("does", "do") or self._coin(0.5)
            if modal == "can" and negated and negation.text == "n't":
                modal = "ca"
            verb = self._verb_phrase("VB", depth)
            return verb.lead(leaf(modal, tag, "aux"), negation if negated else None)
        if roll < 0.95:
            return self._verb_phrase("VBD", depth)
        if roll < 0.98:
            place = self._place_phrase(depth, self._pick(*PLACED))
            head = place.named("root")
            return head.lead(leaf(be, be_tag, "cop"))
        if self._coin(0.5):
            return Node(self._words.adjective(), "JJ", before=[leaf(be, be_tag, "cop")])
        noun = self.full_noun("person", depth + 1, 0.05)
        return noun.lead(leaf(be, be_tag, "cop"))

    def _passive(self, be: str, tag: str, depth: int) -> Node:
        lemma = self._words.verb("transitive")
        verb = Node(inflected(lemma, "VBN"), "VBN", before=[leaf(be, tag, "aux:pass")])
        if self._coin(0.4):
            verb.before[0].relation = "aux"
            verb.before.append(leaf("being", "VBG", "aux:pass"))
        if self._coin(0.45):
            agent = self.full_noun("person", depth + 1, 0.2)
            verb.add(self._prepositional("by", agent, "obl:agent"))
        elif self._coin(0.2):
            verb.add(self._verb_phrase("VBG", depth + 1).named("xcomp"))
        if self._coin(0.45):
            verb.add(self._adjunct(depth))
        return verb

    def _clause(self, depth: int = 0) -> Node:
        """Subject and predicate, with further verbs of the same subject."""
        subject = self.full_noun(self._kind(), depth)
        verb = self._predicate(subject.plural, depth)
        passive = any(node.relation == "aux:pass" for node in verb.before)
        if subject.words()[-1].tag != "," and depth == 0 and self._coin(0.03):
            subject.add(comma())
        verb.lead(subject.named("nsubj:pass" if passive else "nsubj"))
        for _ in range(2):
            if self._coin(0.22 if depth == 0 else 0.05):
                self._second_verb(verb, subject.plural, depth)
        return verb

    def _second_verb(self, verb: Node, plural: bool, depth: int) -> None:
        """'and V', 'then V', ', then V', 'and V-ing', 'V and V'."""
        progressive = verb.tag == "VBG" and self._coin(0.75)
        finite = "VBP" if plural else "VBZ"
        tag = verb.tag if verb.tag in ("VB", "VBG", "VBD", "VBZ", "VBP") else finite
        if tag == "VBG" and not progressive:
            tag = finite
        second = self._verb_phrase(tag, depth + 1).named("conj")
        marks: list[Node] = []
        roll = self._chance.random()
        if roll < 0.6:
            marks = [leaf("and", "CC", "cc")]
            if self._coin(0.2):
                marks.append(leaf("then", "RB", "advmod"))
        elif roll < 0.8:
            marks = [leaf("then", "RB", "advmod")]
        elif roll < 0.88:
            marks = [leaf(self._pick("but or"), "CC", "cc")]
        if not marks or self._coin(0.3):
            marks.insert(0, comma())
        second.lead(*marks)
        objects = [node for node in verb.after if node.relation == "obj"]
        if objects and self._coin(0.15) and verb.after[0] is objects[0]:
            # a shared object hangs on the first verb, behind the second
            bare = Node(inflected(self._words.verb("transitive"), tag), tag, "conj")
            verb.after.insert(0, bare.lead(leaf("and", "CC", "cc")))
            return
        verb.add(second)

    def _subordinate(self, verb: Node, plural: bool) -> None:
        """What follows a clause: 'while ...', 'with the N V-ing', ', V-ing', 'to V'."""
        roll = self._chance.random()
        separator = comma() if self._coin(0.2) else None
        if roll < 0.34:
            clause = self._clause(1).named("advcl")
            word = self._pick("while while as as when before after until because so till")
            mark = leaf(word, "IN", "mark")
            if word == "when":
                mark = leaf(word, "WRB", "advmod")
            verb.add(clause.lead(separator, mark))
        elif roll < 0.5:
            clause = self._verb_phrase("VBG", 1).named("advcl")
            word = self._pick("while while before after by without")
            verb.add(clause.lead(separator, leaf(word, "IN", "mark")))
        elif roll < 0.7:
            verb.add(self._verb_phrase("VBG", 1).named("advcl").lead(separator))
        elif roll < 0.84:
            subject = self.noun_phrase(self._kind(), 1, 0.2).named("nsubj")
            clause = self._verb_phrase("VBG", 1).named("advcl").lead(subject)
            verb.add(clause.lead(separator, leaf("with", "IN", "mark")))
        elif roll < 0.94:
            clause = self._verb_phrase("VB", 1).named("advcl")
            verb.add(clause.lead(leaf("to", "TO", "mark")))
        else:
            clause = self._clause(1).named("advcl")
            verb.add(clause.lead(leaf("as", "IN", "mark"), leaf("if", "IN", "mark")))

    # -- captions

    def _sentence(self) -> Node:
        verb = self._clause()
        if self._coin(0.28):
            self._subordinate(verb, False)
        return verb

    def _joined(self) -> Node:
        """Two clauses: 'S and S', 'S, S', 'S then S'."""
        first, second = self._clause(1), self._clause(1)
        roll = self._chance.random()
        if roll < 0.65:
            second.named("conj").lead(leaf(self._pick("and and and but"), "CC", "cc"))
            if self._coin(0.4):
                second.lead(comma())
        elif roll < 0.85:
            second.named("conj").lead(leaf("then", "RB", "advmod"))
            if self._coin(0.4):
                second.lead(comma())
        else:
            second.named("parataxis").lead(comma())
        return first.add(second)

    def _headless(self) -> Node:
        """'Man riding a horse': a noun with participles and no finite verb."""
        noun = self.full_noun(self._kind(), 1, 0.45)
        verb = self._verb_phrase("VBG", 0).named("acl")
        if self._coin(0.25):
            self._second_verb(verb, False, 0)
        if self._coin(0.2):
            verb.lead(comma())
        if self._coin(0.2):
            self._subordinate(verb, False)
        return noun.add(verb)

    def _noun_phrase_only(self) -> Node:
        if self._coin(0.3):
            text = self._pick("view shot clip video scene close-up picture footage")
            head = Node(text, "NN", before=self._determiner(False, 0.3))
            other = self.full_noun(self._kind(), 0)
            return head.add(
                other.lead(leaf(self._pick("of about with from"), "IN", "case")).named("nmod")
            )
        return self.full_noun(self._kind(), 0, 0.4)

    def _existential(self) -> Node:
        """'There is a man (singing) (on stage)'."""
        noun = self.full_noun(self._kind(), 1, 0.1)
        be = Node("are" if noun.plural else "is", "VBP" if noun.plural else "VBZ")
        be.before = [leaf("there", "EX", "expl")]
        if self._coin(0.6):
            noun.add(self._verb_phrase("VBG", 0).named("acl"))
        be.add(noun.named("nsubj"))
        if self._coin(0.3):
            be.add(self._adjunct(0))
        return be

    def _fronted(self, root: Node) -> Node:
        """'In a room, ...', 'outdoors during the day ...', 'while a man sings, ...'."""
        roll = self._chance.random()
        headless = root.tag in ("NN", "NNS")
        if roll < 0.7:
            front = self._place_phrase(1, self._pick("in in in on at inside outside"))
        elif roll < 0.8:
            front = self._time()
        elif roll < 0.92:
            front = leaf(self._pick(*PLACE_ADVERBS), "RB", "advmod")
            if self._coin(0.5):  # two phrases of the verb: "outdoors during the day a girl ..."
                time = self._time()
                root.lead(time.named("nmod" if headless else "obl"))
        else:
            front = self._clause(1).named("advcl").lead(leaf(self._pick("while as"), "IN", "mark"))
        if headless and front.relation == "obl":
            front.relation = "nmod"
        if self._coin(0.55):
            front.add(comma())
        return root.lead(front)


def _rest(token: Token) -> tuple[str, str, int, str]:
    return token.tag, token.lemma, token.head, token.relation
