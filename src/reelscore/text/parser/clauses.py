"""Clauses of a sentence: its predicates, found in the dependency tree.

A predicate is a verb that says something of a subject, the verb *be* of a copula, or, where a
caption has no verb at all, its noun.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reelscore.text.parser.lexicon import Lexicon, word_set
from reelscore.text.parser.trees import ROOT, Tree

# Verbs that only say how far the next verb has come: "begins to shoot" tells of shooting.
AUXILIARY_VERBS = word_set(
    "begin start continue try attempt proceed appear seem want prepare keep get"
)
CLOTHING_VERBS = word_set("wear dress dress_up clothe costume disguise")
_VIEWS = word_set(
    "clip close-up closeup film footage image montage movie photo picture scene shot video view"
)
_CLAUSE_RELATIONS = ("parataxis", "advcl", "ccomp", "acl")
_VERB_LIKE_TAGS = ("NN", "JJ", "RB", "IN")
_JOINED_PREPOSITIONS = ("at", "after")


@dataclass(frozen=True, slots=True)
class Predicate:
    """What a clause is built on."""

    # the word that carries the clause: a verb, the noun or adjective after *be*, or the noun of a
    # caption without verb
    head: int
    # the word by which the clause hangs in the tree; differs from `head` below auxiliary verbs such
    # as *begin*
    top: int
    lemma: str | None  # the verb with its particle, such as `pick_up`; None without verb
    verbs: tuple[int, ...] = ()  # the auxiliary verbs above `head` and `head` itself
    # the noun that a participle or an existential sentence says something of
    subject: int | None = None
    preposition: int | None = None  # the preposition joined to the verb, as in `look_at`
    repaired: bool = False  # whether the tag called the verb another part of speech


def predicates(tree: Tree, lexicon: Lexicon) -> list[Predicate]:
    """The predicates of a sentence: that of the root first, the others by position."""
    if tree.root == ROOT or not any(token.text[:1].isalnum() for token in tree.tokens):
        return []
    finder = _Finder(tree, lexicon)
    first = finder.main()
    taken = {*first.verbs, first.head, first.top}
    others = [predicate for predicate in finder.others(taken) if predicate.head not in taken]
    return [first, *sorted(others, key=lambda predicate: predicate.head)]


class _Finder:
    """Looks through one tree."""

    def __init__(self, tree: Tree, lexicon: Lexicon) -> None:
        self._tree, self._lexicon = tree, lexicon

    def _children(self, index: int, *relations: str) -> list[int]:
        """The dependents of a word by relation, whatever follows the colon."""
        return [
            child
            for child in self._tree.children[index]
            if self._tree.tokens[child].relation.partition(":")[0] in relations
        ]

    def _is_copular(self, index: int) -> bool:
        """Return whether the word is said of a subject by *be*; participles make verbs with it."""
        return bool(self._children(index, "cop")) and not self._is_participle(index)

    def _is_participle(self, index: int) -> bool:
        """Also forms in -ing that are tagged otherwise and are no adjectives: "is dribbling"."""
        token = self._tree.tokens[index]
        if token.tag in ("VBG", "VBN"):
            return True
        form = token.text.lower()
        return (
            form.endswith("ing")
            and token.tag in ("JJ", "NN")
            and self._lexicon.lemma(form, "VBG").known
            and self._lexicon.count(form, "a") is None
            and not self._children(index, "det", "amod", "case", "nmod")
            and (token.relation.startswith("acl") or bool(self._children(index, "cop")))
        )

    def _is_verb(self, index: int) -> bool:
        return self._tree.tokens[index].tag.startswith("VB") or self._is_repaired(index)

    def _is_repaired(self, index: int) -> bool:
        """Return whether the tree says that the word is a verb although its tag does not."""
        token = self._tree.tokens[index]
        if not token.tag.startswith(_VERB_LIKE_TAGS) or self._is_copular(index):
            return False
        if self._is_participle(index):
            return True
        has_subject = any(child < index for child in self._children(index, "nsubj"))
        return has_subject and self._lexicon.lemma(token.text, "VBZ").known

    def main(self) -> Predicate:
        """The predicate of the root."""
        root = self._tree.root
        if self._is_copular(root):
            return self._copular(root)
        imperative = self._imperative(root)
        if imperative is not None:
            return self._verbal(imperative, subject=root)
        if self._is_verb(root):
            return self._existential(root) or self._verbal(root)
        participles = [
            child
            for noun in (root, *self._joined_nouns(root))
            for child in self._children(noun, "acl")
            if child > root and self._is_participle(child) and not self._children(child, "nsubj")
        ]
        if participles:
            said = [c for c in participles if self._lemma(c) not in CLOTHING_VERBS]
            chosen = (said or participles)[0]
            noun = self._tree.tokens[chosen].head
            if self._tree.tokens[noun].relation != "nmod":
                noun = self._viewed(root)
            return self._verbal(chosen, subject=noun)
        is_noun = not self._tree.tokens[root].tag.startswith(("RB", "IN", "UH"))
        subjects = [*self._children(root, "nsubj"), *([root] if is_noun else [])]
        return Predicate(root, root, None, subject=subjects[0] if subjects else None)

    def _imperative(self, root: int) -> int | None:
        """The participle after a noun that is taken for a command: 'Train coming in'."""
        token = self._tree.tokens[root]
        if root > 0 or token.tag != "VB" or self._lexicon.count(token.text.lower(), "n") is None:
            return None
        below = self._children(root, "xcomp", "ccomp", "advcl", "obj")
        return next((child for child in below if self._tree.tokens[child].tag == "VBG"), None)

    def _joined_nouns(self, noun: int) -> list[int]:
        """The nouns that a participle after `noun` may hang on: 'group of people riding'."""
        tokens = self._tree.tokens
        return [
            child
            for child in self._tree.children[noun]
            if tokens[child].relation == "conj"
            or (tokens[child].relation == "nmod" and "of" in self._cases(child))
        ]

    def _viewed(self, noun: int) -> int:
        """Whom a picture shows: in "a video of someone singing" it is not the video that sings."""
        if self._tree.tokens[noun].lemma in _VIEWS:
            for child in self._children(noun, "nmod"):
                if "of" in self._cases(child):
                    return child
        return noun

    def _cases(self, noun: int) -> list[str]:
        return [self._tree.tokens[c].text.lower() for c in self._children(noun, "case")]

    def _existential(self, root: int) -> Predicate | None:
        """'There is a man singing': the participle says what there is."""
        if not self._children(root, "expl") or self._lemma(root) != "be":
            return None
        for noun in self._children(root, "nsubj", "obj"):
            for participle in self._children(noun, "acl"):
                if self._tree.tokens[participle].tag in ("VBG", "VBN"):
                    return self._verbal(participle, subject=noun)
        return None

    def others(self, taken: set[int]) -> Iterator[Predicate]:
        """The predicates that hang below the first one, or below a noun."""
        tree = self._tree
        carriers = set(taken)
        for index in self._outside_in():
            token = tree.tokens[index]
            relation = token.relation.partition(":")[0]
            is_clause = relation in _CLAUSE_RELATIONS or (
                relation == "conj" and token.head in carriers
            )
            if not is_clause or index in carriers:
                continue
            if self._is_copular(index):
                predicate = self._copular(index)
            elif self._is_verb(index):
                predicate = self._verbal(index)
            else:
                continue
            carriers |= {index, predicate.head, *predicate.verbs}
            yield predicate

    def _outside_in(self) -> Iterator[int]:
        """All words, heads before dependents."""
        waiting = [self._tree.root]
        while waiting:
            index = waiting.pop(0)
            yield index
            waiting.extend(self._tree.children[index])

    def _copular(self, index: int) -> Predicate:
        return Predicate(head=index, top=index, lemma="be", verbs=(index,))

    def _lemma(self, index: int) -> str:
        token = self._tree.tokens[index]
        tag = token.tag if token.tag.startswith("VB") else "VBZ"
        return self._lexicon.lemma(token.text, tag).text

    def _verbal(self, index: int, subject: int | None = None) -> Predicate:
        """The predicate of a verb: auxiliary verbs give way to the verb below them."""
        verbs = [index]
        while self._lemma(verbs[-1]) in AUXILIARY_VERBS:
            inner = [c for c in self._children(verbs[-1], "xcomp", "ccomp") if self._is_verb(c)]
            if not inner:
                break
            verbs.append(inner[0])
        head = verbs[-1]
        lemma, preposition = self._phrasal(head)
        return Predicate(
            head=head,
            top=index,
            lemma=lemma,
            verbs=tuple(verbs),
            subject=subject,
            preposition=preposition,
            repaired=self._is_repaired(head),
        )

    def _phrasal(self, verb: int) -> tuple[str, int | None]:
        """The lemma with a particle or preposition, where WordNet has the two as one verb."""
        lemma, tokens = self._lemma(verb), self._tree.tokens
        for child in self._tree.children[verb]:
            token = tokens[child]
            is_particle = token.relation == "compound:prt" or (
                token.relation == "advmod" and child == verb + 1 and not self._tree.children[child]
            )
            joined = f"{lemma}_{token.text.lower()}"
            if child > verb and is_particle and self._lexicon.senses(joined, "v"):
                return joined, None
        after = verb + 1
        if after < len(tokens) and tokens[after].text.lower() in _JOINED_PREPOSITIONS:
            joined = f"{lemma}_{tokens[after].text.lower()}"
            if tokens[after].relation == "case" and self._lexicon.senses(joined, "v"):
                return joined, after
        return lemma, None
