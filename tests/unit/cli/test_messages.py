"""Messages and help texts on the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

from reelscore.cli.main import cli
from reelscore.cli.messages import _OPTIONS, as_options


def commands(group: click.Group, context: click.Context) -> Iterator[click.Command]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield command
        if isinstance(command, click.Group):
            yield from commands(command, click.Context(command, parent=context, info_name=name))


ALL = list(commands(cli, click.Context(cli, info_name="reelscore")))


def texts(command: click.Command) -> str:
    options = [p.help or "" for p in command.params if isinstance(p, click.Option)]
    return "\n".join([command.help or "", command.short_help or "", *options])


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ('pass missing="zero" or missing="skip".', "pass --missing zero or --missing skip."),
        ("pass format='lines'.", "pass --format lines."),
        ('pass references="FILE".', "pass --refs FILE."),
        ("pass common=True.", "pass --missing common."),
        ("pass controlled=False.", "pass --no-control."),
        ("the caption is 'a sign=\"stop\"'.", "the caption is 'a sign=\"stop\"'."),
    ],
)
def test_remedies_are_options(said, shown):
    assert as_options(said) == shown


@pytest.mark.parametrize(
    ("words", "said", "shown"),
    [
        ("stories score", 'reversed_segments="swap"', "--protocol reversed_segments:swap"),
        (
            "stories score",
            'empty="zero" or missing="skip"',
            "--protocol empty:zero or --protocol missing:skip",
        ),
        ("stories score", "common=True", "--protocol missing:common"),
        ("score", 'empty="zero" or missing="skip"', "--empty zero or --missing skip"),
        ("score", 'id_field="video"', "--format id:video"),
        ("parse", 'caption_field="text"', "--input-format caption:text"),
        ("tokenize", 'negative="clip"', 'negative="clip"'),
    ],
)
def test_remedies_are_settings_of_the_command(words, said, shown):
    command: click.Command = cli
    for word in words.split():
        assert isinstance(command, click.Group)
        command = command.commands.get(word) or command.get_command(click.Context(command), word)
    with click.Context(command):
        assert as_options(f"Fix it, or pass {said}.") == f"Fix it, or pass {shown}."


def test_every_remedy_is_an_option_of_some_command():
    options = {name for command in ALL for p in command.params for name in p.opts}
    assert set(_OPTIONS.values()) <= options


def test_help_uses_the_words_of_the_data():
    odd = re.compile(r"\b(spoilt|twins?|made-up|mend|seed of|the own|so many|beside)\b", re.I)
    assert [(command.name, odd.findall(texts(command))) for command in ALL] == [
        (command.name, []) for command in ALL
    ]
