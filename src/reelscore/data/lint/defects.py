"""Defects of captions, whatever they are scored with: debris, loops, damaged characters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from reelscore import _native
from reelscore.data.captions.caption_files import Candidates
from reelscore.data.checks import has_words
from reelscore.data.lint.findings import CheckedCaptions, Finding, Severity
from reelscore.data.lint.patterns import CONTROL, PATTERNS

HANDFUL = 5  # captions below which equality may be chance
MOST = 0.5
HOLD, HAVE = ("holds", "hold"), ("has", "have")

_OFTEN = 0.01  # share of captions that people's slips do not reach
_SAMPLE = 200  # references that show what the others are
_WORDS = 3  # references of an item from which on they may be the words of one
_NEARLY_ALL = 0.95
_MANY = 0.05  # share of items with the same caption that is worth a look


def debris(captions: CheckedCaptions) -> Iterator[Finding]:
    """Find what regular expressions find."""
    texts = captions.small_letters
    together = "\0".join(texts)
    openings = [words.partition(" ")[0] for words in captions.words]
    first_words = {opening: first_word(opening) for opening in {*openings}}
    for pattern in PATTERNS:
        suspects: set[int] = set()
        for hint in pattern.hints:
            if _stands_in(together, hint):
                suspects.update(k for k, text in enumerate(texts) if hint in text)
        if not pattern.first_words.isdisjoint(first_words.values()):
            suspects.update(
                k for k, word in enumerate(openings) if first_words[word] in pattern.first_words
            )
        if not suspects:
            continue
        search = re.compile(pattern.expression, re.MULTILINE).search
        places: dict[int, int] = {}
        first = ""
        for k in sorted(suspects):
            match = search(texts[k])
            if match:
                places[k] = match.start()
                first = first or captions.texts[k][slice(*match.span())].strip()
        holds = pattern.holds.format(match=first)
        yield from captions.finding(
            pattern.check, pattern.severity, places, HOLD, holds, pattern.remedy
        )


def _stands_in(text: str, hint: str) -> bool:
    """Look for a hint, first for a character of it that captions seldom have: that is quicker."""
    rare = next((character for character in hint if not character.isalnum()), "")
    return rare in text and hint in text


_BEFORE, _AFTER = "\"“'*#[(<", "\"”',.!:;*])>"


def first_word(word: str) -> str:
    """Take from a caption's first word the punctuation around it; numbers of a list keep theirs.

    >>> first_word("sure,"), first_word("1.")
    ('sure', '1.')
    """
    word = word.lstrip(_BEFORE)
    return word if word[:1].isdigit() or len(word) <= 2 else word.rstrip(_AFTER)


def invisible(captions: CheckedCaptions) -> Iterator[Finding]:
    """Find control characters, and others that nobody sees."""
    places = {
        k: match.start()
        for k, text in enumerate(captions.texts)
        if not text.isprintable() and (match := re.search(CONTROL, text))
    }
    codes = (f"U+{ord(captions.texts[k][place]):04X}" for k, place in places.items())
    holds = f"invisible characters, such as {next(codes, '')}"
    remedy = "Remove them; 'reelscore check --fix' does that."
    yield from captions.finding("control", "error", places, HOLD, holds, remedy)


def spaces(captions: CheckedCaptions) -> Iterator[Finding]:
    """Find white space other than single blanks between words."""
    places = [k for k, text in enumerate(captions.texts) if text != " ".join(text.split())]
    holds = "line breaks, tabs, or blanks that are doubled or at the ends"
    remedy = "Most metrics ignore them; 'reelscore check --fix' leaves single blanks."
    yield from captions.finding("spaces", "warning", places, HOLD, holds, remedy)


def empty(captions: CheckedCaptions) -> Iterator[Finding]:
    """Find captions without a word."""
    wordless = [
        k for k, text in enumerate(captions.texts) if not text[:1].isalnum() and not has_words(text)
    ]
    remedy = 'Make them again; metrics score them 0 with empty="zero".'
    yield from captions.finding("empty", "error", wordless, HAVE, "no words", remedy)


def numbers(captions: CheckedCaptions) -> Iterator[Finding]:
    """Find numbers in place of words: probabilities, or the ids of tokens."""
    wordless = [
        k
        for k, text in enumerate(captions.texts)
        # nearly every caption begins with a letter; looking at that alone is quick
        if not text[:1].isalpha()
        and any(map(str.isdigit, text))
        and not any(map(str.isalpha, text))
    ]
    severity, holds = _severity(wordless, captions), "numbers, but no words"
    remedy = "Decode the ids of tokens to text, or take another field of the file."
    yield from captions.finding("numbers", severity, wordless, HOLD, holds, remedy)


# Endings and repetitions

# Words that no sentence ends with. Others, such as "on" and "with", may end one.
_NO_END = {
    *("a", "an", "the", "their", "and", "or", "while", "because", "of", "into", "from"),
    *("is", "are"),
}


def cut_off(captions: CheckedCaptions) -> Iterator[Finding]:
    """Find captions that end within a sentence."""
    cut = {
        k: len(captions.texts[k])
        for k, words in enumerate(captions.words)
        if " " in words and (words[-1] in "-–(&" or words.rpartition(" ")[2] in _NO_END)
    }
    remedy = "Allow the model more tokens, or keep whole sentences."
    yield from captions.finding(
        "cut_off", _severity(cut, captions), cut, ("ends", "end"), "within a sentence", remedy
    )


def loops(captions: CheckedCaptions) -> Iterator[Finding]:
    """Find captions that say the same words again and again, more often than people do.

    People write "very very very" and "one by one by one": a single word counts from the fourth
    time on, two or three from the third, a phrase of four words or more from the second.
    """
    looping = {
        k: len(" ".join(captions.words[k].split()[:start]))
        for k, start in enumerate(_native.loop_starts(captions.small_letters))
        if start >= 0
    }
    severity, verb = _severity(looping, captions), ("repeats", "repeat")
    remedy = "Decode with a penalty on repetition, or cut the caption there."
    yield from captions.finding("loops", severity, looping, verb, "the same words in a row", remedy)


def _severity(places: Collection[int], captions: CheckedCaptions) -> Severity:
    """People make such slips, too, but in fewer captions."""
    return "error" if len(places) >= _OFTEN * len(captions.texts) else "warning"


# Text that was decoded with the wrong encoding: "cafÃ©"

_FOREIGN = r"[^\x00-\x7f]{2,}"


def mojibake(captions: CheckedCaptions) -> Iterator[Finding]:
    """Find captions with letters that were decoded with the wrong encoding."""
    places = {}
    for k, text in enumerate(captions.texts):
        if not text.isascii() and decoded_again(text) != text:
            match = re.search(_FOREIGN, text)
            places[k] = match.start() if match else 0
    remedy = "Read the original as UTF-8, or restore them; 'reelscore check --fix' does that."
    yield from captions.finding(
        "mojibake", "error", places, HOLD, "letters decoded with the wrong encoding", remedy
    )


def decoded_again(text: str) -> str:
    """Restore letters of UTF-8 that were decoded as Windows-1252 or Latin-1.

    >>> decoded_again("a cafÃ© in SÃ£o Paulo, itâ€™s full"), decoded_again("a café")
    ('a café in São Paulo, it’s full', 'a café')
    """
    return re.sub(_FOREIGN, _restored, text)


@lru_cache(maxsize=1)
def _bytes() -> dict[str, int]:
    """The byte of each character beyond ASCII, in Windows-1252 or Latin-1."""
    upper = range(128, 256)
    # Windows-1252 leaves five bytes undefined, which are in Latin-1
    windows = {bytes([byte]).decode("cp1252", "ignore"): byte for byte in upper}
    return {chr(byte): byte for byte in upper} | windows


def _restored(match: re.Match[str]) -> str:
    try:
        return bytes(_bytes()[character] for character in match[0]).decode()
    except (KeyError, UnicodeDecodeError):
        return match[0]


# The same caption again and again


def same_captions(captions: CheckedCaptions) -> Iterator[Finding]:
    """Find a caption that many items have, but for capitals, blanks and the final stop."""
    total = len(captions.texts)
    if total < HANDFUL:
        return
    keys = [words.rstrip(" .!?") for words in captions.words]
    counts = Counter(keys)
    key = max(counts, key=counts.__getitem__)
    count = counts[key]
    if count < max(HANDFUL, _MANY * total) or not key:
        return
    first = keys.index(key)
    of_all = "all" if count == total else f"{count:,} of"
    severe = count >= MOST * total
    yield Finding(
        "same",
        "error" if severe else "warning",
        count,
        f"{of_all} {total:,} captions are the same.",
        "The model may have collapsed, or the file repeats one output."
        if severe
        else "Look whether the model sees the videos.",
        captions.examples([first]),
    )


# All of them

Check = Callable[[CheckedCaptions], Iterator[Finding]]
DEFECTS: list[Check] = [same_captions, debris, numbers, invisible, mojibake, loops, cut_off]


def findings_in(captions: CheckedCaptions, checks: Sequence[Check]) -> list[Finding]:
    """Run checks, and put the worst findings first."""
    findings = [finding for look in checks for finding in look(captions)]
    return sorted(findings, key=lambda finding: (finding.severity != "error", -finding.count))


def worst_notes(systems: Mapping[str, Candidates], most: int = 2) -> list[str]:
    """Return the worst that checks find in systems' captions, for a reader of their scores.

    Left out is what scoring says itself: of empty captions, copies, ids and languages.

    >>> worst_notes({"ours": {"v1": "a man", "v2": "a <unk>"}, "theirs": {"v1": "a man"}})
    ["ours: 1 caption holds a marker of a model, such as '<unk>'. 'reelscore check' shows more."]
    """
    errors = [
        (finding.count / len(captions), name, finding)
        for name, captions in systems.items()
        for finding in findings_in(CheckedCaptions([*captions], [*captions.values()]), DEFECTS)
        if finding.severity == "error"
    ]
    worst = sorted(errors, key=lambda error: -error[0])[:most]
    notes = [
        f"{name}: {finding.message}" if name else finding.message for _, name, finding in worst
    ]
    return [*notes[:-1], f"{notes[-1]} 'reelscore check' shows more."] if notes else []


def reference_notes(references: Sequence[str], items: int) -> list[str]:
    """Warn where references are not what people wrote, for a reader of scores against them.

    A part of them is looked at, and all where every second one there has a defect.
    """
    some = references[:: max(1, len(references) // _SAMPLE)]
    if len(references) >= _WORDS * items and sum(map(_is_word, some)) >= _NEARLY_ALL * len(some):
        count = sum(map(_is_word, references))
        return [
            f"Warning: {count:,} of {len(references):,} references are a single word; if they are "
            "the words of one caption, join them."
        ]
    each = len(references) // max(items, 1)
    if items >= HANDFUL and len({*some}) <= each and len({*references}) <= each:
        return [f"Warning: only {len({*references}):,} of {len(references):,} references differ."]
    if each == 1 and (divided := _divided(some)):
        return [
            f"Warning: most references hold {divided}; if these are several references in one "
            "text, divide them: a list for each item."
        ]
    if not any(finding.count >= MOST * len(some) for finding in _debris_in(some)):
        return []
    worst = max(_debris_in(references), key=lambda finding: finding.count)
    return [f"references: Warning: {worst.message} 'reelscore check' shows more."]


def _divided(texts: Sequence[str]) -> str:
    """What stands between several texts in one, where most are divided; empty if they are not."""
    for mark, said in (("|", "'|'"), (";", "';'"), ("\n", "line breaks"), ("\t", "tabs")):
        if sum(mark in text.strip() for text in texts) > MOST * len(texts):
            return said
    return ""


def _debris_in(texts: Sequence[str]) -> list[Finding]:
    captions = CheckedCaptions([""] * len(texts), texts)
    found = [*debris(captions), *numbers(captions)]
    return [finding for finding in found if finding.severity == "error"]


def _is_word(text: str) -> bool:
    """Return whether a text is one word, in a script that has blanks between words."""
    return text.isascii() and len(text.split()) == 1
