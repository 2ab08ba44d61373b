"""Messages on the terminal: a remedy is named as an option, and no text controls the terminal."""

import re

import click

# Arguments that messages of the library name, and the options that stand for them.
_OPTIONS = {
    name: f"--{name.replace('_', '-')}"
    for name in [
        "as",
        "bad_rows",
        "clip_negative",
        "distance",
        "empty",
        "format",
        "kinds",
        "leave_one_out",
        "match_ids",
        "metrics",
        "missing",
        "moments",
        "out",
        "pair",
        "partial",
        "pick",
        "restart",
        "split",
        "system_scores",
        "tokenizer",
    ]
} | {
    "column": "--score-column",
    "repeats": "--raters",
    "controlled": "--control",
    "references": "--refs",
}
_VALUE = r"""(?:(True|False)\b|"([^"\s]+)"|'([^'\s]+)')"""


def as_options(message: str) -> str:
    """Name a remedy as an option of the running command instead of an argument."""
    if "=" not in message:
        return message
    spellings = _OPTIONS | _settings()

    def option(match: re.Match[str]) -> str:
        name, flag, *values = match.groups()
        spelling = spellings.get(name)
        if spelling is None:
            return match[0]
        if flag:
            return spelling if flag == "True" else spelling.replace("--", "--no-", 1)
        value = next(filter(None, values))
        return f"{spelling}{value}" if spelling.endswith(":") else f"{spelling} {value}"

    # a policy for missing captions, to those who type it
    message = message.replace("common=True", 'missing="common"')
    return re.sub(rf"\b(\w+)={_VALUE}", option, message)


def _settings() -> dict[str, str]:
    """Return how arguments are spelled that are settings of an option of the running command."""
    from reelscore.cli.options import SettingsOption

    context = click.get_current_context(silent=True)
    return {
        name: spelling
        for option in (context.command.params if context else [])
        if isinstance(option, SettingsOption)
        for name, spelling in option.spellings().items()
    }


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
