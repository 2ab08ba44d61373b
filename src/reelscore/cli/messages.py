"""Messages on the terminal: a remedy is named as an option, and no text controls the terminal."""

import re
from functools import lru_cache

import click

# Arguments that messages of the library name, and the options that stand for them.
_OPTIONS = {
    name: f"--{name.replace('_', '-')}"
    for name in [
        "as",
        "bad_rows",
        "beyond",
        "caption_field",
        "clip_negative",
        "common",
        "distance",
        "empty",
        "encoding",
        "format",
        "header",
        "id_field",
        "kinds",
        "leave_one_out",
        "match_ids",
        "metrics",
        "missing",
        "moments",
        "negative",
        "out",
        "pair",
        "partial",
        "pick",
        "reference_field",
        "restart",
        "reversed_segments",
        "split",
        "system_scores",
        "tokenizer",
        "unknown",
    ]
} | {
    "column": "--score-column",
    "repeats": "--raters",
    "controlled": "--control",
    "references": "--refs",
}
_VALUE = r"""(?:(True|False)\b|"([^"\s]+)"|'([^'\s]+)')"""


@lru_cache(maxsize=1)
def _argument() -> re.Pattern[str]:
    return re.compile(rf"\b({'|'.join(_OPTIONS)})={_VALUE}")


def as_options(message: str) -> str:
    """Name a remedy as an option instead of an argument."""

    def option(match: re.Match[str]) -> str:
        name, flag, *values = match.groups()
        spelling = _OPTIONS[name]
        if flag:
            return spelling if flag == "True" else spelling.replace("--", "--no-", 1)
        value = next(filter(None, values))
        return "--by-order" if (name, value) == ("match_ids", "order") else f"{spelling} {value}"

    return _argument().sub(option, message) if "=" in message else message


def printable(message: str) -> str:
    r"""Spell out control characters: the content of a file must not control the terminal.

    >>> printable("clip\x1b[2J")
    'clip\\x1b[2J'
    """
    return re.sub(
        r"[^\S \n]|[\x00-\x08\x0e-\x1f\x7f-\x9f]", lambda match: ascii(match[0])[1:-1], message
    )


def say(text: str, *, err: bool = True) -> None:
    """Print a message for people: on stderr, unless it is a result."""
    from reelscore.cli.terminal import laid_out

    click.echo(laid_out(printable(text)), err=err)
