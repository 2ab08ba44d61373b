"""METEOR in other languages: statistics, scores and system scores as the jar gives them."""

from __future__ import annotations

import gettext
import random
from pathlib import Path

import pytest
from jars import MeteorJar

from reelscore import score, tokenize
from reelscore.metrics.meteor_universal import STEMMERS, MeteorUniversal

pytestmark = pytest.mark.parity

JAR_NAMES = {"sv": "se"}
LOCALES = {"no": "nb", "pt": "pt_BR"}


def sentences(language):
    """Real sentences in many languages: the messages of Sphinx, whose words have many forms."""
    sphinx = pytest.importorskip("sphinx")
    folder = Path(sphinx.__file__).parent / "locale" / LOCALES.get(language, language)
    with (folder / "LC_MESSAGES" / "sphinx.mo").open("rb") as file:
        catalog = gettext.GNUTranslations(file)._catalog
    return [text for text in catalog.values() if isinstance(text, str) and len(text.split()) > 3]


@pytest.mark.parametrize("language", STEMMERS)
def test_messages(java, report, language):
    rng = random.Random(language)
    tokens = [text for text in tokenize(sentences(language), "intl") if "|||" not in text]
    words = sorted({word.lower() for text in tokens for word in text.split()})
    pairs = []
    for text in rng.choices(tokens, k=400):
        changed = [_inflected(w, words, rng) if rng.random() < 0.5 else w for w in text.split()]
        if rng.random() < 0.3:
            rng.shuffle(changed)
        pairs.append((" ".join(changed), [text, rng.choice(tokens)]))
    jar = MeteorJar(java, "-l", JAR_NAMES.get(language, language), "-lower")
    try:
        theirs = jar.statistics(pairs)
        each, together = jar.scores(theirs)
    finally:
        jar.close()
    results = score(
        {str(k): candidate for k, (candidate, _) in enumerate(pairs)},
        {str(k): references for k, (_, references) in enumerate(pairs)},
        [MeteorUniversal(language=language)],
        tokenizer="none",
        empty="zero",
    )
    ours = results.measurements[0].statistics[:, :23].tolist()
    expected = [[float(number) for number in line.split()] for line in theirs]
    wrong = [row for row in zip(pairs, ours, expected, strict=True) if row[1] != row[2]]
    scores = results["meteor_universal"].items.array.tolist()
    different = sum(mine != other for mine, other in zip(scores, each, strict=True))
    stemmed = sum(row[8] for row in ours)
    report(
        f"{language}: {len(pairs)} sentences, {stemmed:.0f} words matched by stem, "
        f"{len(wrong)} vectors and {different} scores differ, "
        f"system {results['meteor_universal'].score!r} and {together!r}"
    )
    assert wrong[:2] == []
    assert different == 0
    assert results["meteor_universal"].score == together
    assert stemmed > 20


def _inflected(word, words, rng):
    """Give a word another ending, one that other words of the language have."""
    ending = rng.choice(words)[-rng.randint(1, 4) :]
    return word[: max(2, len(word) - rng.randint(0, 3))] + ending
