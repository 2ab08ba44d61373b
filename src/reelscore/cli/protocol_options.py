"""Options of the commands about stories: files, and the choices of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from reelscore.cli.file_options import refs_option
from reelscore.cli.options import PROTOCOL, Decorator, choice_option, option
from reelscore.stories.protocol import PRESETS, Protocol
from reelscore.text.tokens import PENN_TREEBANK

truth_option = refs_option("References, for example one file per annotator", required=True)


def preset_option(default: str | None = None) -> Decorator:
    """Return the option that names a protocol to start from."""
    return choice_option(
        "--preset",
        choices=list(PRESETS),
        default=default,
        help="Use the settings of a paper or a tool.",
    )


def choices(*without: str, start: Protocol | None = None) -> Decorator:
    """Return a decorator that adds the choices of the protocol; those not given are the preset's.

    Args:
        without: Choices the command does not have.
        start: The protocol whose choices are named as the defaults.
    """
    options = _options(start or Protocol())

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        for name, add in reversed(options.items()):
            if name not in without:
                function = add(function)
        return function

    return decorate


def _options(start: Protocol) -> dict[str, Decorator]:
    def one_of(name: str, values: Sequence[str], text: str) -> Decorator:
        return option(
            f"--{name.replace('_', '-')}",
            heading=PROTOCOL,
            type=click.Choice(list(values)),
            help=f"{text}  [default: {getattr(start, name)}]",
        )

    tious = ",".join(f"{tiou:g}" for tiou in start.tious)
    return {
        "scores": option(
            "--scores", metavar="LIST", help="soda, soda_a, soda_b, soda_c, activitynet."
        ),
        "f": option(
            "--f",
            heading=PROTOCOL,
            metavar="METRIC",
            help=f"Sentence score inside SODA.  [default: {start.f}]",
        ),
        "annotators": one_of(
            "annotators", ["mean", "merge", "best"], "How SODA uses several annotators."
        ),
        "missing": one_of(
            "missing", ["zero", "skip"], "What to do with videos without candidates."
        ),
        "meteor_order": one_of(
            "meteor_order",
            ["standard", "swapped"],
            "swapped: SODA gives METEOR the candidate as the reference.",
        ),
        "reference_order": one_of(
            "reference_order",
            ["time", "file"],
            "Order in which SODA matches the references.",
        ),
        "characters": one_of(
            "characters", ["all", "ascii"], "ascii: SODA replaces other characters by blanks."
        ),
        "variant": one_of(
            "variant",
            ["2018-11", "2017-fixed", "2017-original"],
            "Version of the ActivityNet scorer.",
        ),
        "metrics": option(
            "--metrics",
            heading=PROTOCOL,
            metavar="LIST",
            help=f"Metrics of the ActivityNet scorer.  [default: {','.join(start.metrics)}]",
        ),
        "tious": option(
            "--tious",
            heading=PROTOCOL,
            metavar="LIST",
            help=f"Thresholds of IoU.  [default: {tious}]",
        ),
        "max_captions": option(
            "--max-captions",
            heading=PROTOCOL,
            type=click.IntRange(min=1),
            help="Candidates of a video that the ActivityNet scorer takes.  "
            f"[default: {start.max_captions}]",
        ),
        "epsilon": option(
            "--epsilon",
            heading=PROTOCOL,
            type=click.FloatRange(min=0),
            help=f"What the ActivityNet scorer adds to the union.  [default: {start.epsilon:g}]",
        ),
        "tokenizer": one_of("tokenizer", PENN_TREEBANK, "Tokenizer of SODA."),
        "unknown": one_of(
            "unknown", ["error", "skip"], "What to do with videos without references."
        ),
        "beyond": one_of(
            "beyond",
            ["error", "clip", "keep"],
            "What to do with times beyond the end of the video.",
        ),
        "reversed_segments": one_of(
            "reversed_segments",
            ["error", "swap", "zero"],
            "What to do with segments that end before they start.",
        ),
        "negative": one_of(
            "negative", ["error", "clip", "keep"], "What to do with negative times."
        ),
        "empty": one_of(
            "empty", ["error", "zero"], "What to do with captions without words, such as '...'."
        ),
    }


def given_of(choices: dict[str, Any]) -> dict[str, Any]:
    """Return the choices that were made, ready for `reelscore.stories.score`."""
    given = {name: value for name, value in choices.items() if value is not None}
    if "tious" in given:
        given["tious"] = numbers_of(given["tious"])
    return given


def numbers_of(text: str) -> tuple[float, ...]:
    """Read a list of numbers such as 0.5,0.7; an empty text has none."""
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list of numbers such as 0.5,0.7.") from None


def counts_of(text: str) -> tuple[int, ...]:
    """Read a list of whole numbers such as 3,7; an empty text has none."""
    numbers = numbers_of(text)
    if not all(number.is_integer() for number in numbers):
        raise click.BadParameter(f"{text!r} is not a list of whole numbers such as 3,7.")
    return tuple(map(int, numbers))
