"""Corrections of trees: readings that captions, sentences in the present, never have.

The parser learned from text of all kinds, where *talks* after a noun is a plural and *covered* a
past. Each correction finds one such mistake by its traces in the tree, such as a plural after *a*
or two verbs that nothing joins, and hangs the words as they are meant.
"""

from __future__ import annotations

from itertools import pairwise

from reelscore.text.parser.clauses import CLOTHING_VERBS
from reelscore.text.parser.lexicon import Lexicon
from reelscore.text.parser.roles import ANIMATE
from reelscore.text.parser.trees import ROOT, Token, Tree

_WAYS = ("across", "along", "around", "down", "over", "past", "through", "under", "up")


def corrected(tree: Tree) -> Tree:
    """Return a tree without some readings that captions, sentences in the present, never have."""
    if tree.root == ROOT:
        return tree
    draft = _Draft(tree)
    for correct in (
        _take_verb_for_object,
        _find_verb_among_nouns,
        _skip_unjoined_verb,
        _find_verb_behind_relative_clause,
        _make_adjective,
        _make_object_of_participle,
        _make_participle,
        _find_person_among_adjectives,
        _take_dressed_as,
        _invert,
    ):
        correct(draft)
    return Tree(tuple(draft.tokens))


class _Draft:
    """A tree while it is corrected: its words can be hung elsewhere."""

    def __init__(self, tree: Tree) -> None:
        self.tokens, self.lexicon = list(tree.tokens), Lexicon.load()

    @property
    def root(self) -> int:
        return next(index for index, token in enumerate(self.tokens) if token.head == ROOT)

    def children(self, head: int, *relations: str) -> list[int]:
        """The words below a word by their relations, whatever follows the colon; all of none."""
        return [
            index
            for index, token in enumerate(self.tokens)
            if token.head == head
            and (not relations or token.relation.partition(":")[0] in relations)
        ]

    def tag(self, index: int) -> str:
        """The tag of a word; none beyond the last."""
        return self.tokens[index].tag if 0 <= index < len(self.tokens) else ""

    def hang(self, index: int, head: int, relation: str, tag: str | None = None) -> None:
        token = self.tokens[index]
        lemma = token.lemma if tag is None else self.lexicon.lemma(token.text, tag).text
        self.tokens[index] = Token(token.text, tag or token.tag, lemma, head, relation)

    def move_before(self, old: int, new: int, end: int) -> None:
        """Hang on `new` what hangs on `old` and stands before the word `end`."""
        for child in self.children(old):
            if child < end and child != new:
                self.hang(child, new, self.tokens[child].relation)

    def move_behind(self, old: int, verb: int, start: int = -1) -> None:
        """Hang on a verb what hangs on `old` and stands behind the word `start`."""
        for child in self.children(old):
            if child > start and child != verb:
                relation = self.tokens[child].relation
                self.hang(child, verb, {"nmod": "obl", "acl": "advcl"}.get(relation, relation))

    def is_finite(self, index: int) -> bool:
        """Return whether a word is tagged as a verb in the present."""
        return self.tag(index) in ("VBZ", "VBP")

    def is_bare(self, verb: int) -> bool:
        """Return whether a verb has no auxiliary, nor *to*."""
        return not self.children(verb, "aux", "cop", "mark", "expl")

    def can_be_finite(self, index: int) -> bool:
        """Return whether a word taken for a plural has the form of a verb: *walks*."""
        return self.tag(index) == "NNS" and self.lexicon.lemma(self.tokens[index].text, "VBZ").known

    def can_be_somewhere(self, verb: str, noun: int) -> bool:
        """Return whether a noun can be the subject of a verb without object."""
        senses = self.lexicon.senses(verb, "v")
        if self.is_animate(noun):
            return any(sense.frames & {1, 2, 4, 22} for sense in senses[:3])
        return any(sense.frames & {1, 4, 5} for sense in senses[:2])

    def is_mostly_verb(self, form: str) -> bool:
        """Return whether a form in -s is more often a verb than a noun."""
        verb, noun = (self.lexicon.lemma(form, tag).text for tag in ("VBZ", "NNS"))
        return (self.lexicon.count(verb, "v") or 0) > (self.lexicon.count(noun, "n") or 0)

    def is_animate(self, noun: int) -> bool:
        token = self.tokens[noun]
        senses = self.lexicon.senses(token.lemma.lower(), "n")[:1]
        return token.tag in ("NNP", "PRP") or any(
            self.lexicon.kind(sense) in ANIMATE for sense in senses
        )


def _take_verb_for_object(draft: _Draft) -> None:
    """'hands balloons': of two verbs side by side the second is the object of the first."""
    for verb, (first, token) in enumerate(pairwise(draft.tokens)):
        if (token.tag, token.relation, token.head, first.tag) != ("VBZ", "conj", verb, "VBZ"):
            continue
        if draft.is_mostly_verb(token.text) and not draft.is_mostly_verb(first.text):
            continue  # "a white coats walks"
        if not draft.children(verb + 1, "cc", "obj"):
            draft.move_behind(verb + 1, verb)
            draft.hang(verb + 1, verb, "obj", "NNS")


def _find_verb_among_nouns(draft: _Draft) -> None:
    """'man in blue shirt talks and points', 'man on a water ski skims': a plural that is a verb."""
    root = draft.root
    if not draft.tag(root).startswith("NN") or draft.children(root, "cop"):
        return
    for verb in range(root, len(draft.tokens)):
        token = draft.tokens[verb]
        if not draft.can_be_finite(verb) or (verb != root and token.relation != "nmod"):
            continue
        before = [child for child in draft.children(verb) if child < verb]
        joined = any(map(draft.is_finite, draft.children(verb, "conj")))
        one = any(draft.tokens[c].text.lower() in ("a", "an", "another", "one") for c in before)
        if verb - 1 not in before or not (joined or (one and draft.tag(verb - 1) == "NN")):
            continue
        draft.hang(verb - 1, token.head, token.relation, "NN")
        draft.move_before(verb, verb - 1, verb)
        subject = verb - 1 if verb == root else root
        draft.hang(verb, ROOT, "root", "VBZ")
        draft.hang(subject, verb, "nsubj")
        draft.move_behind(verb, verb, verb)
        draft.move_behind(subject, verb, verb)
        return


def _skip_unjoined_verb(draft: _Draft) -> None:
    """'object round his neck eats': of two finite verbs that nothing joins the second is meant."""
    root = draft.root
    if draft.tag(root) not in ("VBD", "VBN", "VBP", "VB") or not draft.is_bare(root):
        return
    subjects = [c for c in draft.children(root, "nsubj") if draft.tag(c) in ("NN", "NNP")]
    for verb in draft.children(root, "conj"):
        joined = draft.children(verb, "cc", "punct", "advmod", "nsubj")
        if draft.tag(verb) == "VBZ" and verb > root + 1 and subjects and not joined:
            draft.hang(verb, ROOT, "root")
            draft.hang(root, verb, "dep")
            draft.hang(subjects[0], verb, "nsubj")
            return


def _find_verb_behind_relative_clause(draft: _Draft) -> None:
    """'the boy whose dog bit the postman runs': the second verb says what the boy does."""
    root = draft.root
    clauses = draft.children(root, "acl")
    if len(clauses) != 2 or not draft.tag(root).startswith("NN") or draft.children(root, "cop"):
        return
    verb = clauses[1]
    if draft.is_finite(verb) and not draft.children(verb, "nsubj", "cc", "mark"):
        draft.hang(verb, ROOT, "root")
        draft.hang(root, verb, "nsubj")
        draft.move_behind(root, verb, verb)


def _make_adjective(draft: _Draft) -> None:
    """'man walking on a snow covered street': a participle between two nouns is no verb."""
    root = draft.root
    what, noun = root - 1, root + 1
    if draft.tag(root) not in ("VBD", "VBN") or draft.tag(what) != "NN":
        return
    if noun not in draft.children(root, "obj") or not draft.tag(noun).startswith("NN"):
        return
    for subject in draft.children(root, "nsubj") if draft.is_bare(root) else ():
        for verb in draft.children(subject, "acl"):
            if draft.tag(verb) == "VBG":
                draft.hang(subject, ROOT, "root")
                draft.hang(noun, verb, "obl")
                draft.move_before(what, noun, what)
                draft.move_behind(root, verb)
                draft.hang(root, noun, "amod", "VBN")
                draft.hang(what, root, "obl:unmarked")
                return


def _make_object_of_participle(draft: _Draft) -> None:
    """'group having a snowball fight': a verb without ending behind a participle's object."""
    root = draft.root
    if draft.tag(root) != "VB" or not draft.is_bare(root):
        return
    for subject in draft.children(root, "nsubj"):
        for verb in draft.children(subject, "acl"):
            if draft.tag(verb) == "VBG" and root - 1 in draft.children(verb, "obj"):
                draft.hang(subject, ROOT, "root")
                draft.move_behind(root, verb)
                draft.move_before(root - 1, root, root)
                draft.hang(root, verb, "obj", "NN")
                draft.hang(root - 1, root, "compound")
                return


def _make_participle(draft: _Draft) -> None:
    """'man and woman kissing', 'men on a field playing soccer': taken for a noun's modifier."""
    root = draft.root
    if not draft.tag(root).startswith("NN") or any(map(draft.is_finite, range(len(draft.tokens)))):
        return
    for verb in range(max(root, 1), len(draft.tokens)):
        token = draft.tokens[verb]
        if token.text[-3:].lower() != "ing" or not draft.lexicon.lemma(token.text, "VBG").known:
            continue
        named = verb - 1 in draft.children(verb, "compound") and draft.is_animate(verb - 1)
        things = draft.children(verb, "appos") if verb == root else [verb]
        if token.tag == "NN" and named and token.relation in ("conj", "root") and things:
            draft.hang(verb - 1, token.head, token.relation)
            draft.move_before(verb, verb - 1, verb)
            draft.hang(verb, draft.root, "acl", "VBG")
            if verb == root:
                draft.hang(things[0], verb, "obj")
            return
        loose = draft.tokens[token.head].relation == "nmod"
        loose = loose and not draft.children(token.head, "case")
        follows = draft.tag(verb - 1).startswith("NN") and verb - 1 != root
        if (token.relation, token.tag) == ("amod", "VBG") and loose and follows:
            draft.hang(token.head, verb, "obj")
            draft.hang(verb, root, "acl")
            return


def _find_person_among_adjectives(draft: _Draft) -> None:
    """'a young white male assembling pizza boxes': who does it was taken for an adjective."""
    for verb, (person, token) in enumerate(pairwise(draft.tokens), start=1):
        if (person.tag, token.tag, token.relation) != ("JJ", "VBG", "amod"):
            continue
        noun = token.head
        if person.head != noun or draft.is_animate(noun) or not draft.is_animate(verb - 1):
            continue
        draft.hang(verb - 1, draft.tokens[noun].head, draft.tokens[noun].relation, "NN")
        draft.hang(verb, verb - 1, "acl")
        draft.move_before(noun, verb - 1, verb)
        draft.move_behind(noun, verb, verb)
        draft.hang(noun, verb, "obj")
        end = noun + 1
        if draft.root == end and not draft.is_mostly_verb(draft.tokens[end].text):
            draft.hang(verb - 1, ROOT, "root")
            draft.move_behind(end, verb)
            draft.hang(end, verb, "obj", "NNS")
            draft.hang(noun, end, "compound")
        return


def _take_dressed_as(draft: _Draft) -> None:
    """'dog dressed up as pumpkin runs': what someone is dressed as is not who runs."""
    root = draft.root
    for participle in draft.children(root, "acl"):
        if draft.tokens[participle].lemma not in CLOTHING_VERBS:
            continue
        for verb in draft.children(participle, "advcl"):
            marks = [c for c in draft.children(verb, "mark") if draft.tokens[c].lemma == "as"]
            subjects = draft.children(verb, "nsubj")
            if marks and subjects and draft.is_finite(verb):
                draft.hang(verb, ROOT, "root")
                draft.hang(root, verb, "nsubj")
                draft.hang(marks[0], subjects[0], "case")
                draft.hang(subjects[0], participle, "obl")
                return


def _invert(draft: _Draft) -> None:
    """'on the roof stands a sniper': after a place and a verb of being there, the subject."""
    for verb, token in enumerate(draft.tokens):
        cop = draft.children(verb, "cop")
        kinds = ("obl", "advmod", "nmod") if cop else ("obl", "advmod")
        places = [c for c in draft.children(verb, *kinds) if c < verb]
        if draft.children(verb, "expl"):  # "there stands a policeman"
            if token.lemma != "be" and not draft.children(verb, "nsubj"):
                for noun in draft.children(verb, "obj"):
                    draft.hang(noun, verb, "nsubj")
            continue
        if not places or token.relation == "conj":
            continue
        phrases = [place for place in places if draft.children(place, "case")]
        before = [c for c in draft.children(verb, "nsubj") if c < verb]
        if cop and phrases and not before and token.tag.startswith("NN"):
            _invert_copula(draft, verb, cop[0])
            continue
        if not (draft.is_finite(verb) or token.tag == "VBD"):
            continue
        behind = [c for c in draft.children(verb, "obj") if c > verb]
        if not behind or not draft.can_be_somewhere(token.lemma, behind[0]):
            continue
        if before:  # "down the street comes a band", where *street* was taken for the subject
            first = min([*before, *draft.children(before[0])])
            if first - 1 not in places or draft.tokens[first - 1].text.lower() not in _WAYS:
                continue
            draft.hang(first - 1, before[0], "case", "IN")
            draft.hang(before[0], verb, "obl")
        if before or phrases:
            draft.hang(behind[0], verb, "nsubj")


def _invert_copula(draft: _Draft, noun: int, cop: int) -> None:
    """'in front of the house is a car': the car is there, the house is no car."""
    head, relation = draft.tokens[noun].head, draft.tokens[noun].relation
    for child in draft.children(noun):
        if child < cop or draft.tokens[child].relation in ("punct", "advcl", "conj", "cc"):
            draft.hang(child, cop, draft.tokens[child].relation)
    draft.hang(cop, head, relation)
    draft.hang(noun, cop, "nsubj")
