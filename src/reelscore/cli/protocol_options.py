"""Options of the commands about stories: files, and the choices of the protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click

from reelscore.cli.file_options import refs_option
from reelscore.cli.options import Decorator, choice_option
from reelscore.stories.protocol import PRESETS, Protocol
from reelscore.text.tokens import PENN_TREEBANK

_TEXTS = {
    "scores": "soda, soda_a, soda_b, soda_c, activitynet, chapters.",
    "f": "Sentence score inside SODA: meteor, sts, bertha, 'judge|model:NAME'…",
    "annotators": "How SODA uses several annotators.",
    "missing": "What to do with videos without candidates.",
    "meteor_order": "swapped: SODA gives METEOR the candidate as the reference.",
    "reference_order": "Order in which SODA matches the references.",
    "characters": "ascii: SODA replaces other characters by blanks.",
    "variant": "Version of the ActivityNet scorer.",
    "metrics": "Metrics of the ActivityNet scorer.",
    "tious": "Thresholds of IoU.",
    "max_captions": "Candidates of a video that the ActivityNet scorer takes.",
    "epsilon": "What the ActivityNet scorer and chapters add to the union.",
    "chapter_tious": "Thresholds of the F1 of chapters.",
    "within": "Seconds within which the start of a chapter is found.",
    "opening": "add: a chapter from 0 to the first start is put before it.",
    "tokenizer": "Tokenizer of SODA.",
    "unknown": "What to do with videos without references.",
    "beyond": "What to do with times beyond the end of the video.",
    "reversed_segments": "What to do with segments that end before they start.",
    "negative": "What to do with negative times.",
    "empty": "What to do with captions without words, such as '...'.",
}
HEADINGS = {
    "Protocol": "scores f annotators meteor-order reference-order characters variant metrics tious "
    "max-captions epsilon chapter-tious within opening tokenizer unknown beyond reversed-segments "
    "negative",
}
_KINDS: dict[str, click.ParamType[Any]] = {
    "max_captions": click.IntRange(min=1),
    "epsilon": click.FloatRange(min=0),
    "tokenizer": click.Choice(PENN_TREEBANK),
}

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
    """Return a decorator that adds the choices of the protocol, by default the preset's."""
    kinds = get_type_hints(Protocol)

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        for name in reversed(_TEXTS):
            if name not in without:
                function = _choice(name, kinds[name], start or Protocol())(function)
        return function

    return decorate


def _choice(name: str, kind: object, start: Protocol) -> Decorator:
    """Return the option of a field of the protocol."""
    default, metavar = getattr(start, name), None
    values = _KINDS.get(name) or (
        click.Choice(get_args(kind)) if get_origin(kind) is Literal else None
    )
    if isinstance(default, tuple):
        numbers = [f"{each:g}" if isinstance(each, float) else str(each) for each in default]
        metavar, default = "LIST", ",".join(numbers)
    elif values is None:
        metavar = "METRIC"
    elif name == "epsilon":
        default = f"{default:g}"
    text = _TEXTS[name] + (f"  [default: {default}]" if name != "scores" else "")
    return click.option(f"--{name.replace('_', '-')}", type=values, metavar=metavar, help=text)


def given_of(choices: dict[str, Any]) -> dict[str, Any]:
    """Return the choices that were made, ready for `reelscore.stories.score`."""
    given = {name: value for name, value in choices.items() if value is not None}
    for name in {"tious", "chapter_tious", "within"} & given.keys():
        given[name] = numbers_of(given[name])
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
