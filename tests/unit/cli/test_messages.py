"""Messages and help texts on the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

from reelscore.cli.main import cli
from reelscore.cli.messages import _OTHER_NAMES, as_options


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


def command_of(words: str) -> click.Command:
    command: click.Command | None = cli
    for word in words.split():
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word)
    assert command is not None
    return command


@pytest.mark.parametrize(
    ("words", "said", "shown"),
    [
        ("score", 'missing="zero" or missing="skip"', "--missing zero or --missing skip"),
        ("score", "format='lines'", "--format lines"),
        ("parse", "format='lines'", "--input-format lines"),
        ("score", 'references="FILE"', "--refs FILE"),
        ("score", 'bad_rows="FILE"', "--bad-rows FILE"),
        ("score", "common=True", "--missing common"),
        ("score", 'match_ids="order"', "--match-ids order"),
        ("score", 'id_field="video"', "--format id:video"),
        ("parse", 'caption_field="text"', "--input-format caption:text"),
        ("stories score", 'reversed_segments="swap"', "--protocol reversed_segments:swap"),
        ("stories score", 'empty="zero"', "--protocol empty:zero"),
        ("stories score", "common=True", "--protocol missing:common"),
        ("meta tables", 'column="fluency"', "--human 'TABLE|column:fluency'"),
        ("meta tables", 'repeats="z"', "--human 'TABLE|raters:z'"),
        ("campaign results", "controlled=False", "--no-control"),
        ("report", "common=True", "--missing common"),
        ("tokenize", 'negative="clip"', 'negative="clip"'),
        ("score", "the caption 'a sign=\"stop\"'", "the caption 'a sign=\"stop\"'"),
    ],
)
def test_remedies_are_options_of_the_command(words, said, shown):
    command = command_of(words)
    assert as_options(f"Pass {said}.", command) == f"Pass {shown}."
    with click.Context(command):
        assert as_options(f"Pass {said}.") == f"Pass {shown}."


@pytest.mark.parametrize("typed", ["a b.csv", "a b.csv|column:adequacy"])
def test_a_setting_is_named_with_what_was_typed(typed):
    command = command_of("inspect")
    with click.Context(command).scope() as context:
        command.parse_args(context, ["scores.csv", "--human", typed])
        shown = as_options('Choose column="fluency".')
    assert shown == "Choose --human 'a b.csv|column:fluency'."


def test_other_names_are_those_of_options():
    names = {p.name for command in ALL for p in command.params}
    assert set(_OTHER_NAMES.values()) <= names


def test_help_uses_the_words_of_the_data():
    odd = re.compile(r"\b(spoilt|twins?|made-up|mend|seed of|the own|so many|beside)\b", re.I)
    assert [(command.name, odd.findall(texts(command))) for command in ALL] == [
        (command.name, []) for command in ALL
    ]
