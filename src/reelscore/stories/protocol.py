"""Every choice on which published numbers of dense captioning differ, by name.

Presets are the choices behind the numbers that papers print.

``soda-paper``: both SODA papers treat the captions of the two annotators as one story, and
compare with the ActivityNet scorer as fixed in November 2017.

``soda-published``: SODA (c) as most papers print it. The tool behind those numbers, judged by its
outputs, matches the references in the order of the file, puts blanks in place of characters that
are not ASCII, and hands METEOR the two sentences in the other order.

``pdvc``: PDVC and the many systems that took over its evaluation score SODA (c) against each
annotator and average, and still run the ActivityNet scorer with ``abc123!@#``. Videos that have no
references are left out there without a message; segments that end before they start overlap
nothing.

``vid2seq``: Vid2Seq (scenic) averages over annotators too, but hands METEOR the two sentences in
the other order inside SODA, swaps the times of segments that end before they start, does not limit
the number of captions, and reports CIDEr and METEOR with the nonsense word of 2018.

``anet-challenge``: the server of the ActivityNet challenge: its scorer alone, as of November 2018.

``vidchapters``: chapters as VidChapters scores them: SODA (c) as published, the ActivityNet scorer,
and how many starts are found; videos without chapters are left out.

``chapter-llama``: the same with CIDEr alone, and the F1 and tIoU of Chapter-Llama. Its tool also
leaves out videos with an empty title, and gives a video 0 where it runs too deep; both count here.

``lmms-eval-youcook2``: that harness gives models the segments, so each caption is compared with the
reference of its own segment. CIDEr's document frequencies are those of one video, where few words
are rare, and a video with a single segment gets 0: it is another number than CIDEr over the corpus.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec

from reelscore.data.stories import (
    EmptySentences,
    OutsideTimes,
    ReversedSegments,
    StoryPolicies,
)
from reelscore.errors import DataError, check_choice
from reelscore.metrics.registry import DEFAULT_METRICS, standard_name
from reelscore.text.tokens import PENN_TREEBANK, Tokenizer, check_tokenizer

Annotators = Literal["mean", "merge", "best"]
Missing = Literal["zero", "skip", "common"]
MeteorOrder = Literal["standard", "swapped"]
ReferenceOrder = Literal["time", "file"]
Characters = Literal["all", "ascii"]
Variant = Literal["2018-11", "2017-fixed", "2017-original"]
Unknown = Literal["error", "skip"]
Opening = Literal["add", "keep"]

SODA_SCORES = ("soda_a", "soda_b", "soda_c")
ACTIVITYNET = "activitynet"
CHAPTERS = "chapters"
_LISTS = ("scores", "metrics", "tious", "chapter_tious", "within")


class Protocol(msgspec.Struct, frozen=True):
    """How stories are scored; the defaults are argued in the documentation.

    Attributes:
        scores: ``soda`` for all three, ``soda_a``, ``soda_b``, ``soda_c``, ``activitynet``,
            ``chapters``.
        f: The sentence score inside SODA: ``meteor``, ``cider``, ``sts``, ``bertha``, ``judge``…
        annotators: With several annotators, SODA is the ``mean`` of the scores against each,
            is scored against all their captions as one story (``merge``), or is the ``best`` of
            the scores against each, by F1, in every video.
        missing: A video without candidates counts ``zero``, or is left out (``skip``), or is left
            out of all systems that are scored together (``common``).
        meteor_order: ``standard``, or ``swapped``: the candidate is given to METEOR as the
            reference.
        reference_order: SODA matches the references in the order of ``time``, as it does the
            candidates, or in that of the ``file``.
        characters: SODA's sentences keep ``all`` characters, or have a blank in place of each that
            is not ``ascii``.
        variant: What the ActivityNet scorer does with a candidate that overlaps no reference:
            ``2018-11`` compares it with one nonsense word, ``2017-fixed`` with the string
            ``abc123!@#``, ``2017-original`` leaves it out.
        tious: Thresholds of the ActivityNet scorer and of SODA (a).
        metrics: Sentence metrics of the ActivityNet scorer.
        max_captions: The ActivityNet scorer takes this many candidates of a video, the first of
            the file; SODA takes all.
        epsilon: What the ActivityNet scorer and chapters add to the union of two segments.
        chapter_tious: Thresholds of the F1 of chapters.
        within: Within how many seconds the start of a chapter is found.
        opening: Where the first chapter does not begin at 0, another one until then is added
            (``add``) before F1 and tIoU of chapters, or not (``keep``).
        tokenizer: Tokenizer of SODA's sentences; the ActivityNet scorer has its own way.
        unknown: Candidates of videos that have no references are an ``error`` or left out
            (``skip``).
        beyond: Candidates that reach beyond the video's end by more than 0.1 s are an ``error``,
            are cut there (``clip``), or stay (``keep``).
        reversed_segments: A segment that ends before it starts is an ``error``, has its times
            exchanged (``swap``), or stays and overlaps nothing (``zero``).
        negative: A time before the video's beginning is an ``error``, is set to 0 (``clip``), or
            stays (``keep``).
        empty: A sentence without a word is an ``error``, or stays and matches none (``zero``).
    """

    scores: tuple[str, ...] = ("soda", ACTIVITYNET)
    f: str = "meteor"
    annotators: Annotators = "mean"
    missing: Missing = "zero"
    meteor_order: MeteorOrder = "standard"
    reference_order: ReferenceOrder = "time"
    characters: Characters = "all"
    variant: Variant = "2018-11"
    tious: tuple[float, ...] = (0.3, 0.5, 0.7, 0.9)
    metrics: tuple[str, ...] = DEFAULT_METRICS
    max_captions: int = 1000
    epsilon: float = 1e-8
    chapter_tious: tuple[float, ...] = tuple(k / 20 for k in range(10, 20))
    within: tuple[float, ...] = (1, 3, 5, 10, 30, 60)
    opening: Opening = "add"
    tokenizer: Tokenizer = "ptb"
    unknown: Unknown = "error"
    beyond: OutsideTimes = "keep"
    reversed_segments: ReversedSegments = "error"
    negative: OutsideTimes = "error"
    empty: EmptySentences = "error"

    def __post_init__(self) -> None:
        for name in self.scores:
            check_choice("scores=", name, ("soda", *SODA_SCORES, ACTIVITYNET, CHAPTERS))
        check_choice("annotators=", self.annotators, get_args(Annotators))
        check_choice("missing=", self.missing, get_args(Missing))
        check_choice("meteor_order=", self.meteor_order, get_args(MeteorOrder))
        check_choice("reference_order=", self.reference_order, get_args(ReferenceOrder))
        check_choice("characters=", self.characters, get_args(Characters))
        check_choice("variant=", self.variant, get_args(Variant))
        check_choice("unknown=", self.unknown, get_args(Unknown))
        check_choice("opening=", self.opening, get_args(Opening))
        check_choice("beyond=", self.beyond, get_args(OutsideTimes))
        check_tokenizer(self.tokenizer)
        if self.tokenizer not in PENN_TREEBANK:
            raise DataError(
                f"Stories are not scored with the tokenizer {self.tokenizer!r}; expected "
                f"{', '.join(PENN_TREEBANK)}. Tokenize the sentences before, and pass "
                'tokenizer="none".'
            )
        if not self.scores:
            raise DataError("No scores are asked for; name soda, activitynet, chapters or several.")
        for name, values, most in (
            ("tious", self.tious, 1),
            ("chapter_tious", self.chapter_tious, 1),
            ("within", self.within, float("inf")),
        ):
            if not values or not all(0 <= value <= most for value in values):
                upto = "from 0 to 1" if most == 1 else "of seconds, at least 0"
                raise DataError(f"{name} is {values}; expected numbers {upto}.")
            if len(set(values)) < len(values):
                raise DataError(f"{name} is {values}; expected each once.")
        if self.max_captions < 1:
            raise DataError(f"max_captions is {self.max_captions}; expected at least 1.")
        if not 0 <= self.epsilon < float("inf"):
            raise DataError(f"epsilon is {self.epsilon}; expected at least 0.")
        if self.meteor_order == "swapped" and standard_name(self.f.partition("|")[0]) != (
            "meteor",
            "",
        ):
            raise DataError(
                f'meteor_order="swapped" applies to METEOR only; f is {self.f!r}. '
                "Leave one of them out."
            )

    @property
    def soda_scores(self) -> tuple[str, ...]:
        """Which of the three SODA scores are wanted, in order."""
        return tuple(n for n in SODA_SCORES if n in self.scores or "soda" in self.scores)

    @property
    def policies(self) -> StoryPolicies:
        """The part that concerns reading."""
        return StoryPolicies(self.reversed_segments, self.negative, self.empty)

    def but(self, **choices: Any) -> Protocol:
        """The same protocol with some choices changed.

        >>> Protocol().but(annotators="merge").annotators
        'merge'
        """
        for name in choices:
            check_choice("choice of a protocol", name, self.__struct_fields__)
        for name in _LISTS:
            value = choices.get(name)
            if isinstance(value, str):
                choices[name] = tuple(part for part in value.replace(" ", "").split(",") if part)
            elif value is not None:
                choices[name] = tuple(value)
        if choices.get("scores") is not None:
            choices["scores"] = tuple(
                name.lower().replace("-", "_") for name in choices["scores"]
            )  # SODA_c, as tables have it
        return msgspec.structs.replace(self, **choices)


_NO_LIMIT = 10**9

PRESETS: dict[str, Protocol] = {
    "soda-paper": Protocol(annotators="merge", variant="2017-fixed", metrics=("meteor",)),
    "soda-published": Protocol(
        scores=("soda_c",),
        meteor_order="swapped",
        reference_order="file",
        characters="ascii",
    ),
    "pdvc": Protocol(
        scores=("soda_c", ACTIVITYNET),
        annotators="mean",
        variant="2017-fixed",
        unknown="skip",
        reversed_segments="zero",
        negative="keep",
        empty="zero",
    ),
    "vid2seq": Protocol(
        scores=("soda_c", ACTIVITYNET),
        annotators="mean",
        meteor_order="swapped",
        metrics=("meteor", "cider"),
        max_captions=_NO_LIMIT,
        unknown="skip",
        reversed_segments="swap",
        negative="keep",
        empty="zero",
    ),
    "anet-challenge": Protocol(
        scores=(ACTIVITYNET,),
        unknown="skip",
        reversed_segments="zero",
        negative="keep",
        empty="zero",
    ),
    "vidchapters": Protocol(
        scores=("soda_c", ACTIVITYNET, CHAPTERS),
        missing="skip",
        meteor_order="swapped",
        reference_order="file",
        characters="ascii",
        metrics=("meteor", "cider"),
        opening="keep",
        unknown="skip",
        reversed_segments="zero",
        negative="keep",
        empty="zero",
    ),
    "chapter-llama": Protocol(
        scores=("soda_c", ACTIVITYNET, CHAPTERS),
        missing="skip",
        meteor_order="swapped",
        reference_order="file",
        characters="ascii",
        metrics=("cider",),
        max_captions=_NO_LIMIT,
        reversed_segments="zero",
        empty="zero",
    ),
    "lmms-eval-youcook2": Protocol(
        scores=(ACTIVITYNET,), missing="skip", tious=(0.999,), epsilon=0.0, max_captions=_NO_LIMIT
    ),
}

# What to know of the numbers of a preset.
PRESET_NOTES = {
    "lmms-eval-youcook2": "lmms-eval counts CIDEr's document frequencies within a video, and a "
    "video with one segment gets 0: this is not the CIDEr of a corpus.",
}


def preset(name: str) -> Protocol:
    """Find a protocol by the name of its preset.

    >>> preset("vid2seq").meteor_order
    'swapped'
    """
    check_choice("preset", name, PRESETS)
    return PRESETS[name]


def protocol_of(name: str | None, choices: Mapping[str, Any]) -> Protocol:
    """The protocol of a preset, or the default one, with some choices changed.

    >>> protocol_of("soda-paper", {"f": "rouge_l"}).f
    'rouge_l'
    """
    return (preset(name) if name else Protocol()).but(**choices)
