"""All checks: beside defects of captions, what shows in a whole file or beside references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import median_high

from reelscore.data.captions.item_ids import matching_rule
from reelscore.data.captions.languages import other_languages, script_of
from reelscore.data.captions.python_captions import CaptionsLike
from reelscore.data.checks import counted
from reelscore.data.lint.caption_reader import captions_of
from reelscore.data.lint.defects import (
    DEFECTS,
    HANDFUL,
    HAVE,
    MOST,
    Check,
    empty,
    findings_in,
    spaces,
)
from reelscore.data.lint.findings import CheckedCaptions, Example, Finding, Findings
from reelscore.data.reading import Reading

_LONG_COPY = 8  # words from which on a copy is no chance
_COPIES = 0.1  # share of long copies that is contamination
_TIMES = 3  # how much longer than usual is too long
_WORDS = 30  # words below which no caption is too long
_USUAL = 6  # words of a usual caption from which on a single word is too short


def check(
    captions: CaptionsLike,
    references: CaptionsLike | None = None,
    *,
    format: str | None = None,
) -> Findings:
    """Check captions before they are scored or published; nothing is changed.

    Args:
        captions: The caption of each item, or the references of each item, in any form of
            `reelscore.score`; files of timed captions may be checked, too.
        references: References to compare the captions with, where there are some: their ids, their
            language and length, and whether captions are copies of them.
        format: The format of the files; by default each file's content tells.

    Returns:
        The findings, the worst first; its ``errors`` are those of weight.

    Raises:
        DataError: If a file cannot be read, or holds no caption.

    >>> findings = check({"v1": "a man &amp; a dog", "v2": "  a man rides"})
    >>> [(finding.check, finding.severity) for finding in findings]
    [('html', 'error'), ('spaces', 'warning')]
    """
    subject = captions_of(captions, references, reading=Reading(format))
    return Findings(subject.name, len(subject.texts), tuple(findings_in(subject, CHECKS)))


def unusable(captions: CheckedCaptions) -> Iterator[Finding]:
    """Report the records that hold no caption or no id; they were left out."""
    problems = captions.unusable
    if problems.count:
        yield Finding(
            "records",
            "error",
            problems.count,
            f"{counted(problems.count, 'record')} cannot be used.",
            "Fix them: scoring refuses the file.",
            tuple(Example("", _within(problems.subject, message)) for message in problems.first),
        )


def _within(file: str, message: str) -> str:
    """Return a place without the name of its file, which the findings have already."""
    place = message.removeprefix(file).lstrip(": ")
    return f"line {place}" if place[:1].isdigit() else place


def repeated_ids(captions: CheckedCaptions) -> Iterator[Finding]:
    """Find items with several captions, where items have one each."""
    if len(set(captions.items)) == len(captions.items) or captions.several_each:
        return
    counts = Counter(captions.items)
    repeated = [k for k, item in enumerate(captions.items) if counts[item] > 1]
    items = len({captions.items[k] for k in repeated})
    yield Finding(
        "repeated_ids",
        "error",
        items,
        f"{counted(items, 'item has', 'items have')} several captions, the others have one.",
        "Keep one caption for each item.",
        captions.examples(repeated),
    )


# Ids beside those of the references


def ids(captions: CheckedCaptions) -> Iterator[Finding]:
    """Find items without a caption, and captions without references."""
    if captions.references is None:
        return
    own = dict.fromkeys(captions.items)
    wanted = dict.fromkeys(map(str, captions.references))
    missing = [item for item in wanted if item not in own]
    extra = [item for item in own if item not in wanted]
    if not missing and not extra:
        return
    parts = []
    if missing:
        parts.append(f"{counted(len(missing), 'item has', 'items have')} no caption")
    if extra:
        parts.append(f"{counted(len(extra), 'item has', 'items have')} no references")
    remedy = "Caption every item that has references, and no other."
    if captions.in_order and len(own) == len(wanted):
        remedy = 'Lines have no ids; if these follow the references, score with match_ids="order".'
    elif not captions.in_order and missing and extra and (rule := matching_rule(missing, extra)):
        remedy = (
            f"{rule.matches:,} of them match {rule.words}: write them alike, or score with "
            f'match_ids="{rule.names}".'
        )
    shown = [Example(item, "no caption") for item in missing[:3]]
    shown += [Example(item, "no references") for item in extra[:3]]
    yield Finding(
        "ids",
        "error",
        len(missing) + len(extra),
        f"{' and '.join(parts)}, of {counted(len(wanted), 'item')} with references.",
        remedy,
        tuple(shown[::3] + [example for k, example in enumerate(shown) if k % 3]),
    )


# Copies and languages


def copies(captions: CheckedCaptions) -> Iterator[Finding]:
    """Find captions that equal one of their references."""
    references = captions.references
    if references is None:
        return
    equal = [
        k
        for k, (item, words) in enumerate(zip(captions.items, captions.words, strict=True))
        if any(words == " ".join(text.lower().split()) for text in references.get(item, ()))
    ]
    total = len(captions.texts)
    long = [k for k in equal if len(captions.words[k].split()) >= _LONG_COPY]
    nearly_all = total >= HANDFUL and len(equal) >= 0.9 * total
    contaminated = len(long) >= max(HANDFUL, _COPIES * total)
    if not (nearly_all or long):
        return
    count = counted(len(equal), "caption equals one of its", "captions equal one of their")
    yield Finding(
        "copies",
        "error" if nearly_all or contaminated else "warning",
        len(equal),
        f"{count} references word for word, {len(long):,} of them with {_LONG_COPY} words or more.",
        "Are they the references, or were these in the training data?",
        captions.examples(long or equal),
    )


def languages(captions: CheckedCaptions) -> Iterator[Finding]:
    """Find captions in another language than the references, or than the other captions."""
    total = len(captions.texts)
    foreign = {
        k: script
        for k, text in enumerate(captions.texts)
        if not text.isascii() and (script := script_of(text))
    }
    spoken = [language.name for language in other_languages(captions.texts)]
    expected: list[str] | None = None
    if captions.references is not None:
        texts = [text for own in captions.references.values() for text in own]
        expected = [language.name for language in other_languages(texts)]
    if foreign and len(foreign) < MOST * total and not expected:
        names = ", ".join(sorted({*foreign.values()}))
        rest = f"in another language than the others: {names}"
        remedy = "Ask the model for one language."
        yield from captions.finding("language", "error", [*foreign], ("is", "are"), rest, remedy)
    elif spoken and expected is not None and spoken[0] not in expected:
        theirs = expected[0] if expected else "English"
        yield Finding(
            "language",
            "error",
            total,
            f"The captions are {spoken[0]}, the references {theirs}.",
            "Score captions with references in their own language.",
            captions.examples([0]),
        )
    elif spoken and not expected:
        yield Finding(
            "language",
            "warning",
            total,
            f"The captions are not English but {spoken[0]}.",
            "Some metrics read English only: 'reelscore score' says which.",
            captions.examples([0]),
        )


# Lengths


def lengths(captions: CheckedCaptions) -> Iterator[Finding]:
    """Find captions that are far longer or shorter than references, or than the others."""
    sizes = [len(words.split()) for words in captions.words]
    references = (captions.references or {}).values()
    usual = [len(text.split()) for texts in references for text in texts] if references else sizes
    if len(sizes) < HANDFUL or not usual:
        return
    middle = median_high(usual)
    usually = "a reference usually has" if captions.references else "the others usually have"
    ordinary = sorted(usual)[-max(1, len(usual) // 100)]  # all but one percent are shorter
    limit = max(_WORDS, _TIMES * middle, 1.5 * ordinary if captions.references else 0)
    long = [k for k, size in enumerate(sizes) if size > limit]
    rest = f"more than {limit:.0f} words; {usually} {middle}"
    remedy = "Look whether they hold more than a caption."
    longest_first = sorted(long, key=lambda k: -sizes[k])
    yield from captions.finding("long", "warning", longest_first, HAVE, rest, remedy)
    short = [k for k, size in enumerate(sizes) if size == 1 and middle >= _USUAL]
    rest, remedy = f"a single word; {usually} {middle}", "Look whether the rest was lost."
    yield from captions.finding("short", "warning", short, ("is", "are"), rest, remedy)
    own = median_high(sizes)
    if captions.references and not captions.timed and (own > 2 * middle or 2 * own < middle):
        yield Finding(
            "lengths",
            "warning",
            len(sizes),
            f"Captions have {own} words (median), references {middle}.",
            "Metrics of words punish that: ask the model for captions as long as references.",
        )


CHECKS: list[Check] = [
    unusable,
    ids,
    repeated_ids,
    copies,
    empty,
    *DEFECTS,
    languages,
    spaces,
    lengths,
]
