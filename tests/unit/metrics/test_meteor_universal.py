"""METEOR in other languages: the jar's scores, and what is refused."""

from __future__ import annotations

import sys

import pytest

from reelscore import DataError, MissingExtraError, UnknownNameError, parse_signature, score
from reelscore.metrics import meteor_universal
from reelscore.metrics.meteor_universal import STEMMERS, MeteorUniversal

# Sentences of our own, and the scores that the jar gives them with -l LANGUAGE -lower.
FROM_THE_JAR = {
    "da": (
        "en mand spiller guitar på scenen",
        "manden spillede på guitaren på en scene",
        0.2529428439177601,
    ),
    "nl": (
        "een man speelt gitaar op het podium",
        "de mannen spelen op een gitaar",
        0.14400000000000002,
    ),
    "it": (
        "un uomo suona la chitarra sul palco",
        "gli uomini suonano una chitarra",
        0.08181818181818182,
    ),
    "no": ("en mann spiller gitar på scenen", "mannen spilte på en scene", 0.17142857142857146),
    "pt": ("um homem toca violão no palco", "os homens tocam violões no palco", 0.2513338610299901),
    "ro": (
        "un bărbat cântă la chitară pe scenă",
        "bărbatul cânta la chitara lui",
        0.30896050782011175,
    ),
    "sv": ("en man spelar gitarr på scenen", "mannen spelade på en scen", 0.17142857142857146),
    "tr": (
        "bir adam sahnede gitar çalıyor",
        "adamlar sahnelerde gitarı çalıyor",
        0.3998312454142623,
    ),
}


@pytest.mark.parametrize("language", STEMMERS)
def test_scores_of_the_jar(language):
    candidate, reference, expected = FROM_THE_JAR[language]
    metric = MeteorUniversal(language=language)
    results = score({"v": candidate}, {"v": [reference]}, [metric], tokenizer="none")
    assert results["meteor_universal"].score == expected
    assert results["meteor_universal"].items["v"] == expected
    assert metric.align(candidate, reference, "none").score == expected


def test_case_does_not_matter():
    candidate, reference, expected = FROM_THE_JAR["sv"]
    loud = score(
        {"v": candidate.upper()},
        {"v": [reference.title()]},
        "meteor_universal|language:sv",
        tokenizer="intl",
    )
    assert loud["meteor_universal"].score == expected


def test_stems_match():
    alignment = MeteorUniversal(language="pt").align("um homem toca", "um homem tocam", "13a")
    assert [match.module for match in alignment.matches] == ["exact", "exact", "stem"]


def test_signature():
    results = score({"v": "en man"}, {"v": ["en man"]}, "meteor_universal|language:sv")
    signature = results["meteor_universal"].signature
    assert "|gamma:0.7|delta:0.5|language:sv|tok:ptb|" in signature
    assert parse_signature(signature) == MeteorUniversal(language="sv")


def test_no_note_about_the_language():
    danish = {"v1": "en mand og en kvinde sidder på en bænk", "v2": "to hunde løber på en strand"}
    references = {item: [text] for item, text in danish.items()}
    both = score(danish, references, "meteor,meteor_universal|language:da")
    assert [note for note in both.notes if "meteor" in note] == [
        "captions and references are not English but Danish or Norwegian: meteor reads English "
        "only."
    ]


@pytest.mark.parametrize(
    ("metric", "error", "said"),
    [
        ("meteor_universal", DataError, "needs a language, as in 'meteor_universal|language:da'"),
        ("meteor_universal|language:de", UnknownNameError, "Unknown language of meteor_universal"),
        ("meteor_universal|language:fi", UnknownNameError, "Known: da, it, nl, no, pt, ro, sv, tr"),
    ],
)
def test_refusals(metric, error, said):
    with pytest.raises(error) as raised:
        score({"v": "en man"}, {"v": ["en man"]}, metric)
    assert said in str(raised.value)


def test_without_the_package(monkeypatch):
    meteor_universal._stemmer.cache_clear()
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'reelscore\[languages\]'"):
        score({"v": "en man"}, {"v": ["en man"]}, "meteor_universal|language:sv")
