"""Notes on captions in a language that a metric is not made for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reelscore.data.languages import Language, other_languages
from reelscore.metrics.base import Metric

_NO_BLANKS = "and here blanks are missing (divide the text into words first)"


def language_notes(metrics: Sequence[Metric], texts: Mapping[str, Sequence[str]]) -> list[str]:
    """Say which texts are in a language that some metric does not read.

    Args:
        metrics: The metrics that score them.
        texts: Captions by what they are: a system's name, ``references``.

    Returns:
        A note for each language; none where all is English, or metrics read what it is.

    >>> from reelscore.metrics.registry import resolve
    >>> german = ["ein Mann spielt auf einer Gitarre", "zwei Hunde laufen am Strand und bellen"]
    >>> print(*language_notes(resolve("bleu,meteor"), {"ours": german, "references": german}))
    ours and references are not English but German: meteor reads English only.
    >>> language_notes(resolve("bleu"), {"ours": german})
    []
    """
    owners: dict[str, list[str]] = {}
    languages: dict[str, Language] = {}
    for owner, captions in texts.items():
        for language in other_languages(captions):
            owners.setdefault(str(language), []).append(owner)
            languages[str(language)] = language
    notes = []
    for said, language in languages.items():
        if why := _unread(metrics, language):
            verb = "is" if len(owners[said]) == 1 and owners[said] != ["references"] else "are"
            notes.append(f"{_list(owners[said])} {verb} not English but {said}: {why}.")
    return notes


def _unread(metrics: Sequence[Metric], language: Language) -> str:
    english = [metric.name for metric in metrics if metric.reads == "english"]
    words = [metric.name for metric in metrics if metric.reads == "words"]
    parts = []
    if english:
        parts.append(f"{_list(english)} {'reads' if len(english) == 1 else 'read'} English only")
    if words and language.unspaced:
        treat = "treats" if len(words) == 1 else "treat"
        parts.append(f"{_list(words)} {treat} everything between blanks as a word, {_NO_BLANKS}")
    return "; ".join(parts)


def _list(names: Sequence[str]) -> str:
    """Names in a sentence, the first few of many.

    >>> _list(["a", "b", "c"]), _list(["a"])
    ('a, b and c', 'a')
    """
    shown = [*names[:4], f"{len(names) - 4} more"] if len(names) > 5 else [*names]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
