"""Which phrases of a clause say where something happens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reelscore.text.parser.lexicon import Lexicon, word_set
from reelscore.text.parser.trees import Tree

STATIC = word_set("in on at inside near behind")
_OF_SUBJECTS = STATIC | {"outside"}
_LOCATIVE = word_set(
    "in on at into inside outside near behind under over across through down around along between "
    "onto beside off against above beneath out past up by from atop among within throughout toward "
    "towards beside underneath below upon"
) | {"in front of", "next to", "on top of", "out of"}
PLACE_ADVERBS = word_set(
    "outside outdoors inside indoors underwater upstairs downstairs backstage onstage"
)
TIMES = word_set(
    "day daytime daylight evening night nighttime morning afternoon noon midnight dusk dawn sunset "
    "sunrise twilight time moment second minute hour week month year while season summer winter "
    "spring autumn fall weekend weather rain"
)
_CLOTHING = ("clothing", "footwear", "headdress", "spectacles", "uniform", "mask")
_PLACE_FILES = word_set("noun.artifact noun.location noun.object")
_POSSIBLE_PLACES = _PLACE_FILES | word_set(
    "noun.group noun.event noun.act noun.body noun.plant noun.substance noun.food noun.shape "
    "noun.person"
)
_MOVING_PARTS = frozenset(("noun.body", "noun.person"))
_SIDES = {("in", "front"): "in front of", ("on", "top"): "on top of"}


class Places:
    """Finds places in one tree."""

    def __init__(self, tree: Tree, lexicon: Lexicon) -> None:
        self._tree, self._lexicon = tree, lexicon

    def location(
        self, heads: Iterable[int], obj: int | None, subject: int | None, copular: int | None
    ) -> int | None:
        """The word that says where: of the verbs, of the object, of the subject, or an adverb."""
        heads = list(heads)
        candidates = list(self.phrases(heads))
        if copular is not None:
            candidates.insert(0, self._with_preposition(copular))
        direct = [phrase for phrase in candidates if self.is_place(*phrase)]
        inner = [phrase for outer in candidates for phrase in self._inner_places(*outer)]
        ranked = sorted(
            direct or inner,
            key=lambda phrase: (self._file(phrase[1]) in _MOVING_PARTS, phrase[0] not in STATIC),
        )
        if ranked:
            return ranked[0][1]
        for noun, allowed in ((obj, _LOCATIVE), (subject, _OF_SUBJECTS)):
            if noun is None:
                continue
            for preposition, place in self.phrases([noun]):
                if preposition not in allowed or self._file(place) in _MOVING_PARTS:
                    continue
                if self.is_place(preposition, place):
                    return place
        return self._adverb([*heads, *(noun for noun in (obj, subject) if noun is not None)])

    def _inner_places(self, preposition: str, noun: int) -> list[tuple[str, int]]:
        """The places among the phrases of a noun that is none itself."""
        if self.is_place(preposition, noun):
            return []
        return [phrase for phrase in self.phrases([noun]) if self.is_place(*phrase)]

    def phrases(self, heads: Iterable[int]) -> Iterator[tuple[str, int]]:
        """Prepositions and nouns that hang on the `heads`."""
        for head in heads:
            for child in self._tree.children[head]:
                relation = self._tree.tokens[child].relation
                others = ("obl:agent", "nmod:poss")
                if relation.startswith(("obl", "nmod")) and relation not in others:
                    yield self._with_preposition(child)

    def _with_preposition(self, noun: int) -> tuple[str, int]:
        """The preposition of a noun, in "in front of the wall" that of *wall*."""
        tokens = self._tree.tokens
        words = [
            tokens[child].text.lower()
            for child in self._tree.children[noun]
            if tokens[child].relation == "case" and child < noun
        ]
        side = _SIDES.get((words[-1] if words else "", tokens[noun].text.lower()))
        if side:
            for child in self._tree.children[noun]:
                if tokens[child].relation == "nmod":
                    return side, child
        return " ".join(words), noun

    def is_place(self, preposition: str, noun: int) -> bool:
        """Return whether a noun after a preposition names a place: no time, no clothing."""
        if not ({preposition, preposition.split(" ")[0]} & _LOCATIVE):
            return False
        token = self._tree.tokens[noun]
        if token.lemma in TIMES or not token.tag.startswith(("NN", "VBG", "FW")):
            return False
        senses = self._lexicon.senses(token.lemma, "n")
        if not senses:
            return token.tag.startswith("NN")
        plural = self._lexicon.senses(token.text.lower(), "n")  # "shorts" are no "short"
        if any(self._lexicon.is_a(sense, *_CLOTHING) for sense in (*senses[:3], *plural[:3])):
            return False
        return self._lexicon.kind(senses[0]) in _POSSIBLE_PLACES or any(
            sense.file in _PLACE_FILES for sense in senses[:3]
        )

    def _file(self, noun: int) -> str:
        senses = self._lexicon.senses(self._tree.tokens[noun].lemma, "n")
        return self._lexicon.kind(senses[0]) if senses else ""

    def _adverb(self, heads: Iterable[int]) -> int | None:
        for head in heads:
            for child in (*self._tree.children[head], head):
                if self._tree.tokens[child].text.lower() in PLACE_ADVERBS:
                    return child
        return None
