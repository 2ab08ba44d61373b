"""METEOR for other languages: aligned words and stems, with its language-independent parameters.

Scale 0–1, higher is better. Bit for bit the scores of ``meteor-1.5.jar -l LANGUAGE -lower`` for
Danish (``da``), Dutch (``nl``), Italian (``it``), Norwegian (``no``), Portuguese (``pt``), Romanian
(``ro``), Swedish (``sv``; the jar says ``se``) and Turkish (``tr``). There are no synonyms and no
paraphrases, so the numbers cannot be compared with those of `meteor`; the function words are the
English ones, among them punctuation, since the jar has no others. Nor has it rules for the
punctuation of these languages: choose a tokenizer, such as ``intl``. The jar also has Finnish and
Hungarian, with stemmers that are no longer available, and Czech, French, German, Russian and
Spanish, with paraphrases that are not at hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from msgspec.structs import replace

from reelscore._packages import need
from reelscore.data.tables.scales import Scale
from reelscore.errors import DataError, check_choice
from reelscore.metrics.base import Reads
from reelscore.metrics.meteor import Meteor, PackedStems
from reelscore.text.words import Packed, pack

STEMMERS = {
    "da": "danish",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "sv": "swedish",
    "tr": "turkish",
}


@dataclass(frozen=True)
class MeteorUniversal(Meteor):
    """METEOR 1.5 with the jar's language-independent parameters.

    Attributes:
        alpha: Weight of recall against precision.
        beta: Exponent of the fragmentation penalty.
        gamma: Weight of the fragmentation penalty.
        delta: Weight of content words against function words.
        language: The language, by its two letters; must be given.

    >>> from reelscore import score
    >>> metric = MeteorUniversal(language="da")
    >>> score({"v1": "en mand spiller"}, {"v1": ["manden spiller"]}, [metric],
    ...       tokenizer="none")["meteor_universal"].score
    0.4898330672404535
    """

    alpha: float = 0.75
    beta: float = 1.4
    gamma: float = 0.7
    delta: float = 0.5
    language: str = ""
    name: ClassVar[str] = "meteor_universal"
    reads: ClassVar[Reads] = "words"
    tokenizers: ClassVar[tuple[str, ...]] = ()
    module_weights: ClassVar[tuple[float, float, float, float]] = (1.0, 0.5, 0.0, 0.0)
    output_scale: ClassVar[Scale] = replace(Meteor.output_scale, label="METEOR universal")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.language:
            check_choice("language of meteor_universal", self.language, STEMMERS)

    def _stems(self, *texts: Packed) -> PackedStems:
        if not self.language:
            raise DataError(
                "meteor_universal needs a language, as in 'meteor_universal|language:da'; expected "
                f"one of {', '.join(STEMMERS)}. For English use meteor."
            )
        words = {word for text in texts for each in text.unpack() for word in each.lower().split()}
        ordered = sorted(words)
        stem = _stemmer(self.language)
        return pack(ordered), pack([stem(word) for word in ordered])


@lru_cache(maxsize=4)
def _stemmer(language: str) -> Callable[[str], str]:
    package = need("snowballstemmer", "reelscore[languages]", "meteor_universal needs")
    stem: Callable[[str], str] = package.stemmer(STEMMERS[language]).stemWord
    return stem
