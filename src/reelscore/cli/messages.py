"""Messages on the terminal: a remedy is named as an option, and no text controls the terminal."""

import re
import shlex

import click

_VALUE = r"""(?:(True|False)\b|"([^"\s]+)"|'([^'\s]+)')"""
# Arguments that commands have under another name.
_OTHER_NAMES = {"references": "refs", "repeats": "raters", "bad_rows": "bad_rows_file"}


def as_options(message: str, command: click.Command | None = None) -> str:
    """Name a remedy as an option instead of an argument.

    Args:
        message: What the library says, such as ``pass missing="zero"``.
        command: The command whose options are named; the one that runs if not given. Remedies
            that it does not have are those of ``reelscore score``, as for scores made earlier.
    """
    context = click.get_current_context(silent=True)
    command = command or (context.command if context else None)
    message = message.replace("common=True", 'missing="common"')  # as a policy for the missing
    remedies = re.compile(rf"\b(\w+)={_VALUE}")
    if "=" not in message or not remedies.search(message):
        return message
    from reelscore.cli.commands.score import command as scoring

    spellings = _spellings(scoring) | (_spellings(command) if command else {})

    def option(match: re.Match[str]) -> str:
        name, flag, *values = match.groups()
        spelling, key, needs = spellings.get(_OTHER_NAMES.get(name, name), ("", "", ""))
        if not spelling:
            return match[0]
        if flag and not key:
            return spelling if flag == "True" else spelling.replace("--", "--no-", 1)
        value = {"True": "yes", "False": "no"}.get(flag) or next(filter(None, values))
        if key:
            typed = context.meta.get(spelling, needs) if context and needs else needs
            kept = [part for part in typed.split("|") if part and not part.startswith(f"{key}:")]
            value = shlex.quote("|".join([*kept, f"{key}:{value}"]))
        return f"{spelling} {value}"

    return remedies.sub(option, message)


def _spellings(command: click.Command) -> dict[str, tuple[str, str, str]]:
    """Return how arguments are written for a command: as options, or settings of options.

    Of a setting also its key, and what must stand before it, as help calls that.
    """
    from reelscore.cli.options import SettingsOption  # not for commands that go well

    options = [option for option in command.params if isinstance(option, click.Option)]
    spellings = {
        field.name: (option.opts[0], key, option.needs)
        for option in options
        if isinstance(option, SettingsOption)
        for key, field in option.keys.items()
    }
    return spellings | {str(each.name): (max(each.opts, key=len), "", "") for each in options}


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
