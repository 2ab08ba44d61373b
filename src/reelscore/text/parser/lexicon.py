"""The lexicon: WordNet 3.0, compiled to one file that is mapped into memory when it is read.

`tools/compile_lexicon.py` writes the file; the package `reelscore-parser` carries it.
"""

from __future__ import annotations

import json
import mmap
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

from reelscore.errors import MissingExtraError

PartOfSpeech = Literal["n", "v", "a", "r"]
PARTS_OF_SPEECH: tuple[PartOfSpeech, ...] = ("n", "v", "a", "r")
PACKAGE = "reelscore_parser"
BLOCK = 16  # lemmas per block: the search finds a block, then looks through it

_FILE_NAMES = (
    "adj.all adj.pert adv.all noun.Tops noun.act noun.animal noun.artifact noun.attribute "
    "noun.body noun.cognition noun.communication noun.event noun.feeling noun.food noun.group "
    "noun.location noun.motive noun.object noun.person noun.phenomenon noun.plant "
    "noun.possession noun.process noun.quantity noun.relation noun.shape noun.state "
    "noun.substance noun.time verb.body verb.change verb.cognition verb.communication "
    "verb.competition verb.consumption verb.contact verb.creation verb.emotion verb.motion "
    "verb.perception verb.possession verb.social verb.stative verb.weather adj.ppl"
)
FILES = tuple(_FILE_NAMES.split())  # the lexicographer files, by number

_POS_OF_TAG: dict[str, PartOfSpeech] = {"V": "v", "N": "n", "J": "a", "R": "r"}
_DETACHMENTS: dict[PartOfSpeech, tuple[tuple[str, str], ...]] = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}
_CONTRACTIONS = {
    "'s": "be",
    "'re": "be",
    "'m": "be",
    "'ve": "have",
    "'d": "have",
    "n't": "not",
    "ca": "can",
    "wo": "will",
    "'ll": "will",
}


def word_set(words: str) -> frozenset[str]:
    """Return the words of a list with blanks.

    >>> sorted(word_set("in on"))
    ['in', 'on']
    """
    return frozenset(words.split())


@dataclass(frozen=True, slots=True)
class Sense:
    """One meaning of a lemma: its number in WordNet's order, its synset and its SemCor count."""

    lemma: str
    pos: PartOfSpeech
    number: int
    synset: int
    offset: int
    file: str
    count: int
    frames: frozenset[int] = frozenset()
    key: str = ""

    @property
    def topic(self) -> str:
        """The lexicographer file without its part of speech, such as `motion`."""
        return self.file.partition(".")[2]

    @property
    def name(self) -> str:
        """The sense as `lemma.pos.number`, such as `shoot.v.4`."""
        return f"{self.lemma}.{self.pos}.{self.number}"


class Lemma(NamedTuple):
    """The base form of a word and whether the lexicon has it."""

    text: str
    known: bool


class _Words:
    """The lemmas of one part of speech and their senses, as sections of the mapped file."""

    def __init__(self, lexicon: Lexicon, pos: PartOfSpeech) -> None:
        self._pos: PartOfSpeech = pos
        self._text = lexicon.section(f"{pos}.text")
        self._starts = lexicon.section(f"{pos}.starts")
        self._first_senses = lexicon.section(f"{pos}.first_senses")
        self._sense_counts = lexicon.section(f"{pos}.sense_counts")
        self._synsets = lexicon.section(f"{pos}.synsets")
        self._tallies = lexicon.section(f"{pos}.tallies")
        self.offsets = lexicon.section(f"{pos}.offsets")
        self.files = lexicon.section(f"{pos}.files")
        if pos == "v":
            self._frames = lexicon.section("v.frames")
            self._ids = lexicon.section("v.ids")
        if pos == "n":
            self.parents = lexicon.section(f"{pos}.parents")
            self.first_parents = lexicon.section(f"{pos}.first_parents")

    @cached_property
    def _heads(self) -> list[str]:
        return [self._block(index)[0] for index in range(len(self._starts) - 1)]

    def _block(self, index: int) -> list[str]:
        text = self._text[self._starts[index] : self._starts[index + 1]]
        return bytes(text).decode().split("\n")

    def _find(self, lemma: str) -> tuple[int, int] | None:
        """The first sense of `lemma` and the number of its senses."""
        index = bisect_right(self._heads, lemma) - 1
        if index < 0:
            return None
        words = self._block(index)
        if lemma not in words:
            return None
        place, first = words.index(lemma), index * BLOCK
        before = sum(self._sense_counts[first : first + place])
        return self._first_senses[index] + before, self._sense_counts[first + place]

    def lemmas(self) -> Iterator[str]:
        for index in range(len(self._starts) - 1):
            yield from self._block(index)

    @cached_property
    def members(self) -> dict[int, list[str]]:
        """The lemmas of each synset, in the order of the alphabet."""
        table: dict[int, list[str]] = {}
        place = 0
        for lemma, total in zip(self.lemmas(), self._sense_counts, strict=True):
            for synset in self._synsets[place : place + total]:
                table.setdefault(synset, []).append(lemma)
            place += total
        return table

    def count(self, lemma: str) -> int | None:
        """The SemCor count of all senses; None where there is no such lemma."""
        place = self._find(lemma)
        return None if place is None else sum(self._tallies[place[0] : sum(place)])

    def senses(self, lemma: str) -> tuple[Sense, ...]:
        place = self._find(lemma)
        if place is None:
            return ()
        first, total = place
        return tuple(
            self._sense(lemma, number, index)
            for number, index in enumerate(range(first, first + total), start=1)
        )

    def _sense(self, lemma: str, number: int, index: int) -> Sense:
        synset = self._synsets[index]
        frames, key = frozenset[int](), ""
        if self._pos == "v":
            bits = self._frames[index]
            frames = frozenset(frame for frame in range(1, 36) if bits >> frame & 1)
            key = f"{lemma}%2:{self.files[synset]:02d}:{self._ids[index]:02d}"
        return Sense(
            lemma=lemma,
            pos=self._pos,
            number=number,
            synset=synset,
            offset=self.offsets[synset],
            file=FILES[self.files[synset]],
            count=self._tallies[index],
            frames=frames,
            key=key,
        )


class Lexicon:
    """Lemmas, senses and their relations."""

    def __init__(self, folder: Path) -> None:
        self.header: dict[str, Any] = json.loads((folder / "lexicon.json").read_text("utf-8"))
        with (folder / "lexicon.bin").open("rb") as file:
            self._data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        self._words: dict[PartOfSpeech, _Words] = {
            pos: _Words(self, pos) for pos in PARTS_OF_SPEECH
        }

    @staticmethod
    def load() -> Lexicon:
        """Open the lexicon of the installed package `reelscore-parser`, once a process."""
        return _installed()

    def section(self, name: str) -> memoryview[Any]:
        """The numbers or bytes called `name` in the header."""
        start, length, code = self.header["sections"][name]
        return self._data[start : start + length].cast(code)

    def lemmas(self, pos: PartOfSpeech) -> Iterator[str]:
        """All lemmas of a part of speech, sorted."""
        return self._words[pos].lemmas()

    @lru_cache(maxsize=1 << 14)  # noqa: B019 - one lexicon lives as long as the process
    def senses(self, lemma: str, pos: PartOfSpeech) -> tuple[Sense, ...]:
        """The senses of `lemma` in WordNet's order; blanks in phrases are `_`.

        >>> Lexicon.load().senses("shoot", "v")[3].topic
        'communication'
        """
        return self._words[pos].senses(lemma)

    @lru_cache(maxsize=1 << 14)  # noqa: B019
    def count(self, lemma: str, pos: PartOfSpeech) -> int | None:
        """How often SemCor has `lemma`, all senses together; None if the lexicon lacks it."""
        return self._words[pos].count(lemma)

    def synonyms(self, sense: Sense) -> list[str]:
        """All lemmas that share a `sense`, its own included."""
        return self._words[sense.pos].members[sense.synset]

    def kind(self, sense: Sense) -> str:
        """The lexicographer file of a noun; *person* itself counts to the nouns it is above of."""
        return self._beginners.get(sense.synset, sense.file) if sense.pos == "n" else sense.file

    @cached_property
    def _beginners(self) -> dict[int, str]:
        """The synsets at the top of each file of nouns."""
        names = [name.removeprefix("noun.") for name in FILES if name.startswith("noun.")]
        return {
            sense.synset: f"noun.{name}"
            for name in names
            for sense in self.senses(name, "n")
            if sense.file == "noun.Tops"
        }

    def is_a(self, sense: Sense, *kinds: str) -> bool:
        """Return whether a noun `sense` is, or is a kind of, the first sense of one of `kinds`."""
        targets = {other.synset for kind in kinds for other in self.senses(kind, "n")[:1]}
        return not targets.isdisjoint(self.ancestors(sense.synset))

    @lru_cache(maxsize=1 << 13)  # noqa: B019
    def ancestors(self, synset: int) -> frozenset[int]:
        """A noun synset and all that are more general."""
        nouns = self._words["n"]
        reached, waiting = {synset}, [synset]
        while waiting:
            current = waiting.pop()
            first, last = nouns.first_parents[current], nouns.first_parents[current + 1]
            new = {*nouns.parents[first:last]} - reached
            reached |= new
            waiting += new
        return frozenset(reached)

    @cached_property
    def _exceptions(self) -> dict[PartOfSpeech, dict[str, str]]:
        tables: dict[PartOfSpeech, dict[str, str]] = {}
        for pos in self._words:
            lines = bytes(self.section(f"{pos}.exceptions")).decode().splitlines()
            tables[pos] = dict(line.split(" ") for line in lines)
        return tables

    @lru_cache(maxsize=1 << 15)  # noqa: B019
    def lemma(self, form: str, tag: str) -> Lemma:
        """The base form of a word with the Penn tag `tag`.

        >>> [Lexicon.load().lemma(*word).text for word in (("men", "NNS"), ("hugging", "VBG"))]
        ['man', 'hug']
        """
        form = form.lower().replace("’", "'")
        pos = _POS_OF_TAG.get(tag[:1]) if tag != "RP" else None
        if form in _CONTRACTIONS and tag != "POS":
            return Lemma(_CONTRACTIONS[form], True)
        if pos is None:
            return Lemma(form, True)
        form_first = tag in ("VB", "NN", "NNP", "JJ", "RB")
        if form_first and self.count(form, pos) is not None:
            return Lemma(form, True)
        exception = self._exceptions[pos].get(form)
        if exception is not None:
            return Lemma(exception, True)
        base = self._detached(form, pos)
        if base is not None:
            return Lemma(base, True)
        return Lemma(form, self.count(form, pos) is not None)

    def _detached(self, form: str, pos: PartOfSpeech) -> str | None:
        """The base form by WordNet's detachment rules; of several the most frequent."""
        bases = [
            form[: len(form) - len(ending)] + instead
            for ending, instead in _DETACHMENTS[pos]
            if form.endswith(ending) and len(form) > len(ending)
        ]
        if pos == "v":
            stem = next((form[: -len(e)] for e in ("ing", "ed") if form.endswith(e)), "")
            if len(stem) > 2 and stem[-1] == stem[-2]:
                bases.append(stem[:-1])
        counts = {base: self.count(base, pos) for base in bases if base}
        bases = [base for base in counts if counts[base] is not None]
        return max(bases, key=lambda base: counts[base] or 0, default=None)


@cache
def _installed() -> Lexicon:
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingExtraError.of(
            "Reading captions as language needs a parser and a lexicon",
            "reelscore[parser]",
            "reelscore-parser",
        )
    return Lexicon(Path(spec.origin).parent)
