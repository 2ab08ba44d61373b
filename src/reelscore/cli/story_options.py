"""Options of the commands about stories: files, and the choices of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from reelscore.stories.presets import PRESETS
from reelscore.stories.protocol import Protocol

Decorator = Callable[[Callable[..., None]], Callable[..., None]]

refs_option = click.option(
    "--refs",
    "-r",
    multiple=True,
    required=True,
    metavar="FILE",
    help="Truth; repeat it for several annotators.",
)


def preset_option(default: str | None = None) -> Decorator:
    """The option that names a protocol to start from."""
    return click.option(
        "--preset",
        type=click.Choice(list(PRESETS)),
        default=default,
        show_default=default is not None,
        help="The choices a paper or a tool made.",
    )


def _choice(option: str, values: Sequence[str], text: str) -> Decorator:
    default = getattr(Protocol(), option)
    return click.option(
        f"--{option.replace('_', '-')}",
        type=click.Choice(list(values)),
        help=f"{text}  [default: {default}]",
    )


# Choices of the protocol: those not given are the preset's.
_CHOICES: dict[str, Decorator] = {
    "scores": click.option(
        "--scores", metavar="LIST", help="soda, soda_a, soda_b, soda_c, activitynet."
    ),
    "f": click.option(
        "--f", metavar="METRIC", help="Sentence score inside SODA.  [default: meteor]"
    ),
    "annotators": _choice("annotators", ["mean", "merge", "best"], "Several annotators, in SODA."),
    "missing": _choice("missing", ["zero", "skip"], "Videos without candidates."),
    "meteor_order": _choice(
        "meteor_order",
        ["standard", "swapped"],
        "swapped: SODA gives METEOR the candidate as the reference.",
    ),
    "variant": _choice(
        "variant",
        ["2018-11", "2017-fixed", "2017-original"],
        "Version of the ActivityNet scorer.",
    ),
    "metrics": click.option(
        "--metrics",
        metavar="LIST",
        help="Metrics of the ActivityNet scorer.  [default: bleu,meteor,rouge_l,cider]",
    ),
    "tious": click.option(
        "--tious", metavar="LIST", help="Thresholds of IoU.  [default: 0.3,0.5,0.7,0.9]"
    ),
    "max_captions": click.option(
        "--max-captions",
        type=click.IntRange(min=1),
        help="Candidates of a video that the ActivityNet scorer takes.  [default: 1000]",
    ),
    "epsilon": click.option(
        "--epsilon",
        type=click.FloatRange(min=0),
        help="What the ActivityNet scorer adds to the union.  [default: 1e-08]",
    ),
    "tokenizer": _choice("tokenizer", ["ptb", "ptb-coco", "none"], "Tokenizer of SODA."),
    "unknown": _choice("unknown", ["error", "skip"], "Videos without references."),
    "beyond": _choice("beyond", ["error", "clip", "keep"], "Times beyond the end of the video."),
    "reversed_segments": _choice(
        "reversed_segments", ["error", "swap", "zero"], "Segments that end before they start."
    ),
    "negative": _choice("negative", ["error", "clip", "keep"], "Negative times."),
    "empty": _choice("empty", ["error", "zero"], "Captions without text."),
}


def choices(*without: str) -> Decorator:
    """Give a command the choices of the protocol, all but some."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        for name, option in reversed(_CHOICES.items()):
            if name not in without:
                function = option(function)
        return function

    return decorate


def given_of(choices: dict[str, Any]) -> dict[str, Any]:
    """The choices that were made, ready for `reelscore.stories.score`."""
    given = {name: value for name, value in choices.items() if value is not None}
    if "tious" in given:
        given["tious"] = numbers_of(given["tious"])
    return given


def numbers_of(text: str) -> tuple[float, ...]:
    """Read a list of numbers such as 0.5,0.7; an empty text has none."""
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise click.BadParameter(f"{text!r} is no list of numbers such as 0.5,0.7.") from None
