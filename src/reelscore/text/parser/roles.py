"""Who does what to whom, and where: the roles of each clause of a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from reelscore.text.parser.clauses import Predicate, predicates
from reelscore.text.parser.lexicon import Lexicon, Sense, word_set
from reelscore.text.parser.places import TIMES, Places
from reelscore.text.parser.trees import ROOT, Token, Tree

ROLES = ("subject", "verb", "object", "location")
ANIMATE = word_set("noun.person noun.animal noun.group")
_RELATIVE = word_set("who whom which that")
_PLURAL_PRONOUNS = word_set("they them these those")
_PRONOUNS = word_set("he she it") | _PLURAL_PRONOUNS
_GIVING = frozenset((14, 15))  # frames "somebody ----s somebody something", "something to somebody"
_PERSONS = {"he": "man", "she": "woman"}
_NOT_IN_PHRASES = word_set(
    "case cc conj punct appos parataxis advcl acl nsubj cop aux mark advmod obl expl nmod ccomp "
    "xcomp obj dislocated"
)


@dataclass(frozen=True, slots=True)
class Filler:
    """The word that fills a role."""

    head: int  # its position in the sentence
    lemma: str  # its base form; phrasal verbs have `_`, as in `pick_up`
    phrase: str  # the words of its phrase, without clauses
    tag: str  # its Penn tag
    sense: Sense | None = None  # its meaning in WordNet, None where that lacks it
    # the lemmas of all words joined by *and*, the first one included
    conjuncts: tuple[str, ...] = ()
    antecedent: str | None = None  # what a pronoun stands for


@dataclass(frozen=True, slots=True)
class Clause:
    """Subject, verb, object and location; None where a clause has no such role.

    A relative pronoun is the noun that it stands for: in "the men who robbed the bank" the
    subject is *man*.

    Attributes:
        tokens: The positions of its words in the sentence.
        passive: Whether the grammatical subject is the object.
        negated: Whether the verb is negated.
        repaired: Whether the tag called the verb another part of speech.
        frame: The sentence frame that chose the sense of the verb.
        phrases: The prepositional phrases of the verb: preposition and noun.
        recipient: Who is given, shown or told the object.
    """

    subject: Filler | None
    verb: Filler | None
    object: Filler | None
    location: Filler | None
    tokens: tuple[int, ...] = ()
    passive: bool = False
    negated: bool = False
    repaired: bool = False
    frame: str | None = None
    phrases: tuple[tuple[str, Filler], ...] = ()
    recipient: Filler | None = None

    @property
    def roles(self) -> tuple[Filler | None, ...]:
        """Subject, verb, object and location, in this order."""
        return self.subject, self.verb, self.object, self.location

    @property
    def filled(self) -> dict[str, Filler]:
        """The roles that the clause has, by name; the recipient comes last."""
        roles = zip((*ROLES, "recipient"), (*self.roles, self.recipient), strict=True)
        return {name: role for name, role in roles if role is not None}

    @property
    def lemmas(self) -> tuple[str | None, ...]:
        """The lemmas of the four roles."""
        return tuple(role.lemma if role else None for role in self.roles)

    def event(self, tokens: Sequence[Token]) -> str:
        """Return the words of the clause among those of its sentence; its subject is a noun."""
        who = self.subject
        return " ".join(
            who.antecedent if who and who.antecedent and index == who.head else tokens[index].text
            for index in self.tokens
            if tokens[index].relation not in ("cc", "mark", "punct")
        )


@dataclass(frozen=True, slots=True)
class Sentence:
    """A caption with its words and clauses; each of its sentences has a root of its own."""

    text: str
    tokens: tuple[Token, ...]
    clauses: tuple[Clause, ...]

    @property
    def events(self) -> list[str]:
        """What happens: the words of each clause that has a verb; without any, the caption.

        Subjects that are pronouns give way to what they stand for.
        """
        events = [clause.event(self.tokens) for clause in self.clauses if clause.verb is not None]
        return list(dict.fromkeys(events)) or [self.text]

    @property
    def trees(self) -> list[Tree]:
        """The trees of its sentences."""
        starts = [0]
        for index, token in enumerate(self.tokens):
            if token.head != ROOT:
                continue
            words = _reachable(Tree(self.tokens), index)
            if min(words) not in starts:
                starts.append(min(words))
        ends = [*starts[1:], len(self.tokens)]
        return [
            Tree(
                tuple(
                    replace(token, head=token.head - start if token.head != ROOT else ROOT)
                    for token in self.tokens[start:end]
                )
            )
            for start, end in zip(starts, ends, strict=True)
            if end > start
        ]


def _reachable(tree: Tree, root: int) -> set[int]:
    """The words of a tree below a root, with the root."""
    words, waiting = {root}, [root]
    while waiting:
        children = tree.children[waiting.pop()]
        words.update(children)
        waiting.extend(children)
    return words


def clauses(tree: Tree, lexicon: Lexicon, *, pronouns: str = "keep") -> list[Clause]:
    r"""The clauses of a `tree` with their roles; verbs have no sense yet."""
    return _Reader(tree, lexicon, pronouns).clauses()


class _Reader:
    """Fills the roles of all clauses of one tree."""

    def __init__(self, tree: Tree, lexicon: Lexicon, pronouns: str) -> None:
        self._tree, self._lexicon, self._pronouns = tree, lexicon, pronouns
        self._predicates = predicates(tree, lexicon)
        self._by_word = {
            word: predicate
            for predicate in self._predicates
            for word in (predicate.head, predicate.top, *predicate.verbs)
        }
        self._places = Places(tree, lexicon)

    def clauses(self) -> list[Clause]:
        return [self._clause(predicate) for predicate in self._predicates]

    def _children(self, index: int, *relations: str) -> list[int]:
        tokens = self._tree.tokens
        return [
            child for child in self._tree.children[index] if tokens[child].relation in relations
        ]

    def _first(self, words: tuple[int, ...], *relations: str) -> int | None:
        return next((c for word in words for c in self._children(word, *relations)), None)

    def _clause(self, predicate: Predicate) -> Clause:
        if predicate.lemma is None:
            return self._verbless(predicate)
        said_of = self._grammatical_subject(predicate)
        passive = self._is_passive(predicate)
        subject, obj, recipient = self._arguments(predicate, said_of, passive)
        copular = predicate.head if predicate.lemma == "be" and predicate.verbs else None
        if copular is not None and not self._children(copular, "cop"):
            copular = None
        location = self._places.location(
            predicate.verbs, obj, said_of if said_of != obj else subject, copular
        )
        twin = self._twin(predicate)
        if location is None and obj is None and twin is not None:
            location = self._places.location(twin.verbs, None, None, None)
        if location is not None and location == obj and predicate.preposition is not None:
            location = None
        negations = ("not", "n't", "never", "no")
        words = {predicate.head, *predicate.verbs}
        return Clause(
            subject=self._filler(subject),
            verb=self._verb(predicate),
            object=self._filler(obj),
            location=self._filler(location),
            tokens=self._words_of(predicate, (subject, obj, recipient)),
            passive=passive,
            negated=any(
                self._tree.tokens[child].text.lower() in negations
                for word in words
                for child in self._tree.children[word]
            ),
            repaired=predicate.repaired,
            phrases=tuple(self._prepositional(predicate)),
            recipient=self._filler(recipient),
        )

    def _prepositional(self, predicate: Predicate) -> Iterator[tuple[str, Filler]]:
        for preposition, noun in self._places.phrases(predicate.verbs):
            filler = self._filler(noun)
            if preposition and filler:
                yield preposition, filler

    def _verbless(self, predicate: Predicate) -> Clause:
        location = self._places.location((predicate.head,), None, predicate.subject, None)
        return Clause(
            subject=self._filler(predicate.subject),
            verb=None,
            object=None,
            location=self._filler(location),
            tokens=self._words_of(predicate, ()),
        )

    # -- subjects and objects

    def _arguments(
        self, predicate: Predicate, said_of: int | None, passive: bool
    ) -> tuple[int | None, int | None, int | None]:
        """Subject, object and recipient."""
        obj = self._object(predicate)
        recipient = self._recipient(predicate, obj)
        if not passive:
            return said_of, obj, recipient
        agent = self._agent(predicate)
        if None not in (obj, said_of) and obj != said_of and self._is_giving(predicate):
            assert said_of is not None
            if self._is_someone(said_of):  # "the boy is given an apple"
                return agent, obj, said_of
        return agent, said_of, recipient

    def _grammatical_subject(self, predicate: Predicate) -> int | None:
        """The subject as the grammar has it: that of a passive is what something is done to."""
        if predicate.subject is not None:
            return predicate.subject
        words = (predicate.top, *predicate.verbs)
        own = self._first(words, "nsubj", "nsubj:pass", "nsubj:outer", "csubj")
        if own is not None:
            return own
        token = self._tree.tokens[predicate.top]
        if token.relation == "acl":
            return token.head
        head = self._by_word.get(token.head) if token.head != ROOT else None
        if token.relation.startswith(("conj", "advcl", "ccomp")) and head not in (None, predicate):
            assert head is not None
            return self._grammatical_subject(head)
        return None

    def _is_passive(self, predicate: Predicate) -> bool:
        tokens = self._tree.tokens
        words = (predicate.top, *predicate.verbs)
        if self._first(words, "nsubj:pass", "aux:pass") is not None:
            return True
        token = tokens[predicate.head]
        if token.tag != "VBN" or self._first(words, "aux", "nsubj", "cop") is not None:
            return False
        if token.relation in ("acl", "advcl"):
            return True
        head = self._by_word.get(token.head) if token.relation == "conj" else None
        return head is not None and self._is_passive(head)

    def _agent(self, predicate: Predicate) -> int | None:
        agent = self._first(predicate.verbs, "obl:agent")
        if agent is not None:
            return agent
        for phrase in (c for verb in predicate.verbs for c in self._children(verb, "obl")):
            words = [self._tree.tokens[c].text.lower() for c in self._children(phrase, "case")]
            senses = self._lexicon.senses(self._tree.tokens[phrase].lemma, "n")
            if words == ["by"] and any(
                self._lexicon.is_a(s, "person", "animal") for s in senses[:1]
            ):
                return phrase
        return None

    def _object(self, predicate: Predicate) -> int | None:
        if predicate.lemma == "be":
            return self._first(predicate.verbs, "obj")
        own = self._first(predicate.verbs[::-1], "obj")
        if own is None:
            own = self._first(predicate.verbs[::-1], "iobj")
        twin = self._twin(predicate)
        if twin is not None:  # the object stands behind the second verb
            behind = self._first(twin.verbs, "obj") if own is None else own
            if behind is not None and behind > twin.head:
                return behind if self._needs_object(predicate) else None
        if own is not None:
            return own
        if predicate.preposition is not None:
            return self._tree.tokens[predicate.preposition].head
        token = self._tree.tokens[predicate.top]
        if token.relation == "acl:relcl" and self._lacks_object(predicate):
            return token.head  # "the bag his wife bought"
        first = self._by_word.get(token.head) if token.relation == "conj" else None
        if first is not None and predicate.head == first.head + 2:
            shared = self._first(first.verbs, "obj")
            return shared if shared is not None and shared > predicate.head else None
        return None

    def _lacks_object(self, predicate: Predicate) -> bool:
        """Return whether a relative clause without pronoun has a subject and no object."""
        tokens = self._tree.tokens
        words = [word for verb in predicate.verbs for word in _reachable(self._tree, verb)]
        if any(tokens[word].tag in ("WP", "WP$", "WDT", "WRB") for word in words):
            return False
        senses = self._lexicon.senses(predicate.lemma or "", "v")[:3]
        return (
            self._first((predicate.top, *predicate.verbs), "nsubj") is not None
            and tokens[tokens[predicate.top].head].lemma not in TIMES
            and any(sense.frames & {8, 9, 10, 11, 14, 15} for sense in senses)
        )

    def _recipient(self, predicate: Predicate, obj: int | None) -> int | None:
        """Who gets the object: the indirect object, or a person after *to*."""
        own = self._first(predicate.verbs[::-1], "iobj")
        if own is not None or not self._is_giving(predicate):
            return own if own != obj else None
        heads = (*predicate.verbs, *([obj] if obj is not None else []))
        for preposition, noun in self._places.phrases(heads):
            who = self._referent(noun)  # "to whom she gave it" stands before the verb
            behind = noun > predicate.head or who != noun
            if preposition == "to" and behind and self._is_someone(who):
                return noun
        return None

    def _is_giving(self, predicate: Predicate) -> bool:
        senses = self._lexicon.senses(predicate.lemma or "", "v")
        return any(sense.frames & _GIVING for sense in senses)

    def _is_someone(self, noun: int) -> bool:
        token = self._tree.tokens[noun]
        senses = self._lexicon.senses(token.lemma, "n")[:1]
        if token.tag in ("NNP", "PRP"):
            return token.lemma != "it"
        return any(self._lexicon.kind(sense) in ANIMATE for sense in senses)

    def _twin(self, predicate: Predicate) -> Predicate | None:
        """The second verb of "V and V", which has the arguments of both behind it."""
        tokens = self._tree.tokens
        return next(
            (
                other
                for other in self._predicates
                if other.head == predicate.head + 2
                and tokens[other.top].relation == "conj"
                and tokens[other.top].head in predicate.verbs
            ),
            None,
        )

    def _needs_object(self, predicate: Predicate) -> bool:
        """Return whether the verb is transitive, not just able to take an object as *sing* is."""
        if any(self._children(verb, "obl", "xcomp", "ccomp") for verb in predicate.verbs):
            return False
        senses = self._lexicon.senses(predicate.lemma or "", "v")
        transitive = any(sense.frames & {8, 9, 10, 11} for sense in senses[:1])
        return transitive and not any(sense.frames & {1, 2} for sense in senses[:2])

    # -- fillers

    def _verb(self, predicate: Predicate) -> Filler:
        index = predicate.head
        cop = self._children(index, "cop")
        if predicate.lemma == "be" and cop:
            index = cop[0]
        token = self._tree.tokens[index]
        words = [token.text, *(predicate.lemma or "").split("_")[1:]]
        return Filler(index, predicate.lemma or "", " ".join(words), token.tag)

    def _filler(self, index: int | None) -> Filler | None:
        if index is None:
            return None
        index = self._referent(index)
        token = self._tree.tokens[index]
        fixed = self._children(index, "fixed")  # the head of "each other" is *each*
        named = self._tree.tokens[fixed[-1]] if fixed else token
        lemma, antecedent = named.lemma.lower(), None
        if lemma in _PRONOUNS and token.tag == "PRP":
            antecedent = self._antecedent(index)
            if antecedent is None and self._pronouns == "person":
                lemma = _PERSONS.get(lemma, lemma)
        joined = [
            c for c in self._children(index, "conj") if self._tree.tokens[c].tag[:1] in "NPCD"
        ]
        senses = self._lexicon.senses(lemma, "n") if token.tag.startswith("NN") else ()
        return Filler(
            head=index,
            lemma=lemma,
            phrase=self._phrase(index),
            tag=token.tag,
            sense=senses[0] if senses else None,
            conjuncts=(lemma, *(self._tree.tokens[c].lemma for c in joined)) if joined else (),
            antecedent=antecedent,
        )

    def _referent(self, index: int) -> int:
        """The noun that a relative pronoun stands for, else the word itself."""
        tokens = self._tree.tokens
        text, verb = tokens[index].text.lower(), tokens[index].head
        is_subject = text == "that" and verb != ROOT and tokens[verb].relation == "acl:relcl"
        if text not in _RELATIVE or not (tokens[index].tag[0] == "W" or is_subject):
            return index
        while verb != ROOT and not tokens[verb].relation.startswith("acl"):
            verb = tokens[verb].head
        return index if verb == ROOT else tokens[verb].head

    def _antecedent(self, pronoun: int) -> str | None:
        """The nearest noun subject before a pronoun that agrees with it in number."""
        plural = self._tree.tokens[pronoun].lemma in _PLURAL_PRONOUNS
        nearest: str | None = None
        subjects = {self._grammatical_subject(predicate) for predicate in self._predicates}
        for index in sorted(subject for subject in subjects if subject is not None):
            word = self._tree.tokens[index]
            is_plural = word.tag in ("NNS", "NNPS") or bool(self._children(index, "conj"))
            if index < pronoun and word.tag.startswith("NN") and is_plural == plural:
                nearest = word.lemma
        return nearest

    def _phrase(self, head: int) -> str:
        """The words of a noun phrase: what stands before the noun, and *of* with its noun."""

        def inside(child: int) -> bool:
            relation = self._tree.tokens[child].relation
            if relation == "nmod":
                return any(
                    self._tree.tokens[c].text.lower() == "of" for c in self._tree.children[child]
                )
            kind = relation.partition(":")[0]
            return relation == "nmod:poss" or kind not in _NOT_IN_PHRASES

        words = sorted(self._below(head, inside))
        return " ".join(self._tree.tokens[word].text for word in words)

    def _below(self, head: int, inside: Callable[[int], bool]) -> Iterator[int]:
        yield head
        for child in self._tree.children[head]:
            if inside(child):
                if self._tree.tokens[child].relation == "nmod":
                    yield from (c for c in self._children(child, "case"))
                yield from self._below(child, inside)

    def _words_of(self, predicate: Predicate, roles: tuple[int | None, ...]) -> tuple[int, ...]:
        """The words of a clause: what hangs on its verb, less the other clauses."""
        tops = {other.top for other in self._predicates} - {predicate.top}
        start = predicate.top if predicate.subject is None else predicate.subject
        words = set(self._below_top(start, tops)) | set(self._below_top(predicate.top, tops))
        for role in (self._referent(role) for role in roles if role is not None):
            if role not in words:
                words |= set(self._below_top(role, tops))
        tags = {index: self._tree.tokens[index].tag for index in words}
        return tuple(sorted(index for index in words if tags[index] not in (".", ",", ":")))

    def _below_top(self, head: int, tops: set[int]) -> Iterator[int]:
        yield head
        for child in self._tree.children[head]:
            if child not in tops:
                yield from self._below_top(child, tops)
