"""Names to *Someone* and *people*, so that captions are about what can be seen.

Only words of the cast with a capital are replaced. Names that are words too (Rose, Will) are
replaced inside a sentence; at its start only where what follows speaks for a name. Doubtful places
are listed, so that people can check them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reelscore.errors import DataError
from reelscore.text.names.cast import TITLES, Cast, is_known, is_word, verb_and_noun
from reelscore.text.parser.lexicon import word_set

PEOPLE = "people"
"""What several people of one name become."""

_TOKEN = re.compile(r"[^\W\d_]+(?:['’](?!s\b)[^\W\d_]+)*", re.IGNORECASE)
_STARTS = re.compile(r"[.!?…:]|[\"“‘(\[]\s*$")
_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)
_MONTHS = word_set(
    "january february march april may june july august september october november december"
)
_BEFORE_MONTHS = word_set("in of by early late since until last next this mid")
_AUXILIARIES = word_set(
    "is was has had does did doesn't didn't isn't wasn't hasn't hadn't can can't cannot could "
    "couldn't will won't would wouldn't should shouldn't must may might"
)
_FUNCTION = word_set(
    "a an the this that these those his her hers its their my your our him them it he she they me "
    "us you to at in on into onto of for from with without by over under up down out off away "
    "back through across along around behind beside past near toward towards against between "
    "after before as while and but or who which what how if then there here inside outside "
    "forward aside home about among at"
)
_OFTEN = 3  # an unknown word with a capital is listed from this number on
_VERB = 3  # times as often a verb as a noun: a verb whatever follows


@dataclass(frozen=True)
class Replacement:
    """A name that was replaced."""

    start: int  # where it began in the original, in characters
    end: int  # where it ended
    text: str
    token: str  # what stands there now


@dataclass(frozen=True)
class Anonymised:
    """A sentence without names.

    Attributes:
        text: The sentence.
        replacements: What was replaced, in order, by places of the original.
        doubts: Words that are names of the cast and might be ordinary words here, and whether
            each was replaced: a person should look.
    """

    text: str
    replacements: tuple[Replacement, ...] = ()
    doubts: tuple[tuple[str, bool], ...] = ()


def anonymise(
    texts: Sequence[str], cast: Cast | Iterable[str], *, token: str = "Someone"
) -> list[Anonymised]:
    """Replace the names of a cast.

    Args:
        texts: Sentences.
        cast: The names, or headings of the script.
        token: What a name becomes; several people of one name become *people*.

    Raises:
        DataError: If the token is not one word.

    >>> sentences = ["Rose petals cover Anna's bed.", "Mark Haley visits the Stones.", "Will nods."]
    >>> for done in anonymise(sentences, ["ANNA", "ROSE", "WILL", "MARK HALEY", "DR. STONE"]):
    ...     print(done.text)
    Rose petals cover Someone's bed.
    Someone visits people.
    Someone nods.
    """
    if not _TOKEN.fullmatch(token):
        raise DataError(f"{token!r} cannot stand for a name: give one word of letters.")
    names = cast if isinstance(cast, Cast) else Cast.of(cast, texts)
    names = Cast(names.names - {token.lower(), PEOPLE}, names.surnames - {token.lower(), PEOPLE})
    return [_anonymised(text, names, token) for text in texts]


def without_names(
    captions: Mapping[str, Sequence[str]], cast: Iterable[str]
) -> dict[str, list[str]]:
    """Replace names in the captions of each item; what was replaced before stays as it is.

    >>> without_names({"v1": ["Anna nods.", "Someone nods."]}, ["Anna"])
    {'v1': ['Someone nods.', 'Someone nods.']}
    """
    texts = [text for own in captions.values() for text in own]
    done = iter(anonymise(texts, cast))
    return {item: [next(done).text for _ in own] for item, own in captions.items()}


def _anonymised(text: str, cast: Cast, token: str) -> Anonymised:
    """Replace names until none is left: a name that was replaced can prove its neighbour one."""
    done = _Sentence(text, cast, token).anonymised()
    while (further := _Sentence(done.text, cast, token).anonymised()).replacements:
        replacements = _joined(text, done.replacements, further.replacements)
        done = Anonymised(further.text, replacements, (*done.doubts, *further.doubts))
    return Anonymised(done.text, done.replacements, tuple(dict.fromkeys(done.doubts)))


def _joined(
    text: str, first: Sequence[Replacement], second: Sequence[Replacement]
) -> tuple[Replacement, ...]:
    """Write two rounds of replacements as one, by places of the original."""
    joined = [*first]
    for later in second:
        start, end, moved = later.start, later.end, 0
        for earlier in first:
            place = earlier.start + moved  # where it stands after the first round
            moved += len(earlier.token) - (earlier.end - earlier.start)
            if place + len(earlier.token) <= later.start:
                start = later.start - moved
            if place + len(earlier.token) <= later.end:
                end = later.end - moved
        joined = [each for each in joined if each.end <= start or each.start >= end]
        joined.append(Replacement(start, end, text[start:end], later.token))
    return tuple(sorted(joined, key=lambda each: each.start))


def unknown_names(texts: Iterable[str], cast: Cast) -> dict[str, int]:
    """List words that look like names and are in no list: people should say what they are.

    >>> unknown_names(["He sees Zorblax."] * 3 + ["They visit Paris."] * 3, Cast.of([]))
    {'Zorblax': 3}
    """
    seen: Counter[str] = Counter()
    titled = set()
    for text in texts:
        sentence = _Sentence(text, cast, "Someone")
        for index, word in enumerate(sentence.words):
            after_title = index > 0 and sentence.lower[index - 1] in TITLES
            if not word[:1].isupper() or word.isupper() or sentence.lower[index] in cast.names:
                continue
            if (after_title or not sentence.starts(index)) and not is_known(sentence.lower[index]):
                seen[word] += 1
                if after_title and sentence.words[index - 1][:1].isupper():
                    titled.add(word)
    return {word: count for word, count in seen.most_common() if count >= _OFTEN or word in titled}


class _Sentence:
    """The words of a text, and which of them are names."""

    def __init__(self, text: str, cast: Cast, token: str) -> None:
        self.text, self.cast, self.token = text, cast, token
        self.matches = list(_TOKEN.finditer(text))
        self.words = [match.group() for match in self.matches]
        self.lower = [word.lower().replace("’", "'") for word in self.words]
        own = {token, PEOPLE, PEOPLE.capitalize()}
        others = "".join(word for word in self.words if word not in own)
        self.shouted = not any(character.islower() for character in others)
        self.doubts: list[tuple[str, bool]] = []

    # Where words stand

    def gap(self, index: int) -> str:
        """What stands before a word, since the one before it."""
        start = self.matches[index - 1].end() if index else 0
        end = self.matches[index].start() if index < len(self.words) else len(self.text)
        return self.text[start:end]

    def starts(self, index: int) -> bool:
        """Return whether a word may have its capital from the start of a sentence."""
        if index == 0 or self.shouted:
            return True
        if self.gap(index).startswith(".") and self._is_title(index - 1):
            return False
        return bool(_STARTS.search(self.gap(index)))

    def _is_title(self, index: int) -> bool:
        return self.lower[index] in TITLES and self.words[index][:1].isupper()

    def _is_candidate(self, index: int) -> bool:
        """Return whether a word is of the cast and has a capital, or stands for a name already."""
        return index < len(self.words) and (
            self.words[index] == self.token
            or (self.lower[index] in self.cast.names and self.words[index][:1].isupper())
        )

    # Which words are names

    def anonymised(self) -> Anonymised:
        replacements = []
        index = 0
        while index < len(self.words):
            replacement, index = self._at(index)
            if replacement is not None:
                replacements.append(replacement)
        parts, place = [], 0
        for each in replacements:
            parts += [self.text[place : each.start], each.token]
            place = each.end
        text = "".join([*parts, self.text[place:]])
        return Anonymised(text, tuple(replacements), tuple(self.doubts))

    def _at(self, index: int) -> tuple[Replacement | None, int]:
        """Return the name that begins with a word, if any, and the number of the next word."""
        couple = self._couple(index)
        if couple is not None:
            return self._replacement(index, couple, f"{self.token} and {self.token}"), couple + 1
        group = self._group(index)
        if group is not None:
            return group
        first = index
        while first < len(self.words) - 1 and self._is_title(first) and self._joined(first + 1):
            first += 1
        titled = first > index
        if not self._is_candidate(first) or self.words[first] == self.token:
            return None, index + 1
        last = first
        while (
            last + 1 < len(self.words)
            and self.gap(last + 1) == " "
            and self.lower[last + 1] in self.cast.surnames
            and self.words[last + 1][:1].isupper()
        ):
            last += 1
        if not titled and last == first and not self._is_name(first):
            return None, index + 1
        return self._replacement(index, last, self.token), last + 1

    def _joined(self, index: int) -> bool:
        return self.gap(index) in (" ", ". ") and (
            self._is_title(index) or self._is_candidate(index)
        )

    def _replacement(self, first: int, last: int, token: str) -> Replacement:
        start, end = self.matches[first].start(), self.matches[last].end()
        return Replacement(start, end, self.text[start:end], token)

    def _couple(self, index: int) -> int | None:
        """Find Mr. and Mrs. with a name: the number of the name."""
        last = index + 3
        found = (
            last < len(self.words)
            and self._is_title(index)
            and self.lower[index + 1] == "and"
            and self._is_title(index + 2)
            and self._is_candidate(last)
        )
        return last if found else None

    def _group(self, index: int) -> tuple[Replacement, int] | None:
        """Find a family: the Haleys."""
        article = self.lower[index] == "the" and index + 1 < len(self.words)
        noun = index + 1 if article else index
        word = self.lower[noun]
        if not self.words[noun][:1].isupper() or word in self.cast.names:
            return None
        singular = next(
            (
                word[: -len(end)]
                for end in ("es", "s")
                if word.endswith(end) and word[: -len(end)] in self.cast.names
            ),
            None,
        )
        if singular is None or (not article and is_word(singular)):
            return None
        token = PEOPLE.capitalize() if self.starts(index) else PEOPLE
        replacement = self._replacement(index, noun, token)
        mark = self.text[replacement.end : replacement.end + 2]
        if mark[:1] in ("'", "’") and not mark[1:].isalpha():
            name = self.text[replacement.start : replacement.end + 1]
            token = f"{token}{mark[0]}s"
            replacement = Replacement(replacement.start, replacement.end + 1, name, token)
        return replacement, noun + 1

    def _is_name(self, index: int) -> bool:
        word, before = self.lower[index], self.lower[index - 1] if index else ""
        if not is_word(word):
            return True
        if self.words[index].isupper() and len(word) > 1 and not self.shouted:
            return True
        if not self.starts(index):
            return not (word in _MONTHS and before in _BEFORE_MONTHS)
        verdict = self._is_name_at_start(index)
        self.doubts.append((self.words[index], verdict))
        return verdict

    def _is_name_at_start(self, index: int) -> bool:
        """Judge a name that is a word too by what follows."""
        after = self.gap(index + 1)
        if after.strip() or index + 1 == len(self.words):
            # possessive, comma, stop, closing quote; a hyphen makes a compound
            return bool(_POSSESSIVE.match(after)) or after.strip()[:1] not in ("-", "'", "’")
        following = self.lower[index + 1]
        if following in _AUXILIARIES:
            return True
        if following in ("and", "or") and self._is_candidate(index + 2):
            return True
        if self._is_candidate(index + 1):
            return not self.text.rstrip("\"”' ").endswith("?")
        if following.endswith("ly") and index + 2 < len(self.words):
            return self._is_verb(index + 2)
        return self._is_verb(index + 1)

    def _is_verb(self, index: int) -> bool:
        """Return whether a word in -s is a verb here rather than a noun."""
        word = self.lower[index]
        if not word.endswith("s") or word.endswith("ss"):
            return False
        verb, noun = verb_and_noun(word)
        if verb is None:
            return False
        if noun is None or verb > _VERB * noun:
            return True
        if index + 1 == len(self.words) or self.gap(index + 1).strip():
            return True
        following = self.lower[index + 1]
        return following in _FUNCTION or following.endswith("ly")
