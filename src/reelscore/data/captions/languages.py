"""Which language captions are in, where it is not English, and what metrics make of it.

The language is a guess from a few hundred captions, without models: writing systems by the names
of characters, languages in Latin letters by their most frequent words. It is made to say nothing
of English.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Protocol

import msgspec

_SAMPLE = 300  # captions looked at
_SHARE = 0.1  # of the captions must be in another script to be worth a note
_FEWEST_WORDS = 12  # in Latin letters, below which nothing is said of their language
_LETTERS = re.compile(r"[^\W\d_]+")
# What `_LETTERS` finds in plain ASCII, in small letters: all else becomes blanks.
_SMALL_LETTERS = {n: chr(n).lower() if chr(n).isalpha() else " " for n in range(128)}

# The first word of a character's name, and the language it stands for. Where no blanks stand
# between words, how long words are at most, on average, once somebody has put blanks there.
_SCRIPTS = {
    "CJK": ("Chinese", 3),
    "HIRAGANA": ("Japanese", 4),
    "KATAKANA": ("Japanese", 4),
    "HANGUL": ("Korean", 0),
    "THAI": ("Thai", 8),
    "LAO": ("Lao", 8),
    "KHMER": ("Khmer", 8),
    "MYANMAR": ("Burmese", 8),
    "ARABIC": ("Arabic script", 0),
    "CYRILLIC": ("Cyrillic script", 0),
    "GREEK": ("Greek", 0),
    "HEBREW": ("Hebrew", 0),
    "DEVANAGARI": ("Devanagari script", 0),
    "BENGALI": ("Bengali", 0),
    "TAMIL": ("Tamil", 0),
    "TELUGU": ("Telugu", 0),
    "GEORGIAN": ("Georgian", 0),
    "ARMENIAN": ("Armenian", 0),
}

# Frequent words that are neither English words nor names that captions have.
_WORDS = {
    "German": "der und ein eine einen einem einer auf mit ist nicht sich im von zu dem des sie "
    "er es während wird über zwei frau hund sitzt steht spielt",
    "French": "le les un une des du et est dans avec sur qui que pour homme femme elle il au aux "
    "deux chien joue pendant devant",
    "Spanish": "el los las una un y con del que está en su hombre mujer por para mientras dos "
    "niño perro jugando",
    "Portuguese": "os uma um com em na da que está homem mulher são ele ela dois "
    "enquanto cachorro menino",
    "Italian": "il lo gli una uno un di che è con sul della del nella mentre uomo donna sono due "
    "cane ragazzo",
    "Dutch": "de het een en op met zijn wordt niet aan naar terwijl bij twee vrouw hond zit "
    "speelt staat",
    "Swedish": "en ett och är med på av som kvinna hund två sitter medan till inte",
    "Danish or Norwegian": "en et og er med på af av som mand mann kvinne kvinde hund sitter "
    "sidder mens til ikke",
    "Polish": "w z na się jest nie mężczyzna kobieta dwa który oraz gra siedzi stoi",
    "Czech": "v na se je není muž žena dva pes který hraje sedí stojí",
    "Turkish": "bir ve ile bu için adam kadın köpek iki olarak oynuyor üzerinde yapıyor",
    "Indonesian": "yang dan di seorang sedang dengan pada untuk ini itu dari pria wanita anjing",
    "Vietnamese": "một và người đang của trên trong là có với đàn ông phụ nữ con chó",
    "Finnish": "ja mies nainen koira kaksi jossa soittaa istuu seisoo kun hän joka",
    "Romanian": "un și cu pe este în care bărbat femeie câine doi stă",
    "Hungarian": "egy és az nem férfi nő kutya két aki ül áll",
}
_ENGLISH = (
    "the a an is are of in on with and to while his her it its at for from by as this that "
    "man woman two someone people person then he she they up out down into over"
)


class Language(msgspec.Struct, frozen=True):
    """A language other than English that captions are in."""

    name: str  # the language, or the script where that is all that can be told
    share: float  # the share of the captions looked at, from 0 to 1
    unspaced: bool = False  # no blanks stand between its words, here or in general

    def __str__(self) -> str:
        return self.name if self.share > 0.95 else f"{self.name} ({self.share:.0%} of captions)"


def other_languages(captions: Sequence[str]) -> list[Language]:
    """Return which languages other than English captions are in."""
    step = max(1, len(captions) // _SAMPLE)
    sample = [text for text in captions[::step] if text.strip()]
    scripts = [script_of(text) for text in sample]
    languages = [
        Language(name, count / len(sample), _unspaced(name, sample, scripts))
        for name, count in Counter(filter(None, scripts)).most_common()
        if count >= _SHARE * len(sample)
    ]
    latin = [text for text, script in zip(sample, scripts, strict=True) if script is None]
    if name := _latin_language(latin):
        languages.append(Language(name, len(latin) / len(sample)))
    return sorted(languages, key=lambda language: -language.share)


def script_of(text: str) -> str | None:
    """Name the language of a text's script; ``None`` for Latin letters, or where there are none.

    >>> script_of("a man"), script_of("一个男人")
    (None, 'Chinese')
    """
    if text.isascii():
        return None
    scripts = Counter(map(_script_of_letter, "".join(_LETTERS.findall(text))))
    if "Japanese" in scripts and "Chinese" in scripts:  # Japanese is written with both
        scripts["Japanese"] += scripts.pop("Chinese")
    name = max(scripts, key=scripts.__getitem__, default="")
    return name if name and 2 * scripts[name] >= scripts.total() else None


@lru_cache(maxsize=1 << 14)
def _script_of_letter(letter: str) -> str:
    return _SCRIPTS.get(unicodedata.name(letter, "").partition(" ")[0], ("", 0))[0]


def _unspaced(name: str, sample: Sequence[str], scripts: Sequence[str | None]) -> bool:
    """Return whether words stand without blanks; somebody may have put them in, to make words."""
    longest = max(length for language, length in _SCRIPTS.values() if language == name)
    texts = [text for text, script in zip(sample, scripts, strict=True) if script == name]
    words = [word for text in texts for word in text.split()]
    return longest > 0 and sum(map(len, words)) > longest * len(words)


def _latin_language(texts: Sequence[str]) -> str | None:
    """The language of texts in Latin letters, by their frequent words; ``None`` for English."""
    plain = "\n".join(text for text in texts if text.isascii())
    others = "\n".join(text for text in texts if not text.isascii())
    words = plain.translate(_SMALL_LETTERS).split()
    words += " ".join(_LETTERS.findall(others)).lower().split()
    english = sum(map(_english().__contains__, words))
    if len(words) < _FEWEST_WORDS or 3 * english >= len(words):  # then no other can be twice that
        return None
    times = Counter(words)
    counts = {name: sum(times[word] for word in own) for name, own in _other_words().items()}
    name = max(counts, key=lambda language: counts[language])
    return name if counts[name] > 2 * english and counts[name] > 0.1 * len(words) else None


@lru_cache(maxsize=1)
def _english() -> frozenset[str]:
    return frozenset(_ENGLISH.split())


@lru_cache(maxsize=1)
def _other_words() -> dict[str, frozenset[str]]:
    return {name: frozenset(words.split()) - _english() for name, words in _WORDS.items()}


# What metrics make of it

_NO_BLANKS = "and here blanks are missing"
_BEFORE = "divide the text into words first"
_TOKENIZERS = {"Chinese": "zh", "Japanese": "ja-mecab"}  # by characters, where there is no other


class Reader(Protocol):
    """What is asked of a metric: its name, and whether it reads ``english``, ``words`` or all."""

    @property
    def name(self) -> str:
        """The metric's name."""

    @property
    def reads(self) -> str:
        """What text it is made for."""


def language_notes(
    metrics: Sequence[Reader], texts: Mapping[str, Sequence[str]], *, divided: bool | None = None
) -> list[str]:
    """Return which texts are in a language that some metric does not read."""
    owners: dict[str, list[str]] = {}
    languages: dict[str, Language] = {}
    for owner, captions in texts.items():
        for language in other_languages(captions):
            owners.setdefault(str(language), []).append(owner)
            languages[str(language)] = language
    notes = []
    for said, language in languages.items():
        if why := _unread(metrics, language, divided):
            verb = "is" if len(owners[said]) == 1 and owners[said] != ["references"] else "are"
            notes.append(f"{_list(owners[said])} {verb} not English but {said}: {why}.")
    return notes


def _unread(metrics: Sequence[Reader], language: Language, divided: bool | None) -> str:
    english = [metric.name for metric in metrics if metric.reads == "english"]
    words = [metric.name for metric in metrics if metric.reads == "words"]
    parts = []
    if english:
        parts.append(f"{_list(english)} {'reads' if len(english) == 1 else 'read'} English only")
    if words and language.unspaced and not divided:
        treat = "treats" if len(words) == 1 else "treat"
        name = _TOKENIZERS.get(language.name, "char")
        remedy = _BEFORE if divided is None else f'pass tokenizer="{name}"'
        parts.append(
            f"{_list(words)} {treat} everything between blanks as a word, {_NO_BLANKS} ({remedy})"
        )
    return "; ".join(parts)


def _list(names: Sequence[str]) -> str:
    """Names in a sentence, the first few of many.

    >>> _list(["a", "b", "c"]), _list(["a"])
    ('a, b and c', 'a')
    """
    shown = [*names[:4], f"{len(names) - 4} more"] if len(names) > 5 else [*names]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
