"""The one way to write how a thing is done: NAME|key:value|key:value."""

from __future__ import annotations

from typing import Annotated, Literal

import click
import msgspec
import pytest
from click.testing import CliRunner

from reelscore.cli.options import Command, SettingsOption
from reelscore.errors import DataError, ReelscoreError

Count = Annotated[int, msgspec.Meta(ge=1)]


class Drink(msgspec.Struct, frozen=True, rename={"sugar_lumps": "sugar"}):
    """A drink.

    Attributes:
        kind: What it is.
        cups: How many cups are wanted, which may
            be none.
        sugar_lumps: Lumps of sugar.
        milk: Whether it has ``milk``.
        size: How large, ``small`` or ``large``.
        hours: When it is served.
        words: What is said.
    """

    kind: str = "tea"
    cups: Count | None = None
    sugar_lumps: Annotated[float, msgspec.Meta(ge=0)] = 0.5
    milk: bool = False
    size: Literal["small", "large"] = "small"
    hours: tuple[float, ...] = (8, 17.5)
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind == "coffee" and self.milk:
            raise DataError("Coffee has no milk.")


@click.command(cls=Command)
@click.option(
    "--drink",
    cls=SettingsOption,
    start=lambda name: Drink(name or "tea"),
    known=["tea", "coffee"],
    without=["kind"],
    help="What to drink.",
)
def order(drink: Drink) -> Drink:
    return drink


def ordered(text: str) -> Drink:
    drink: Drink = order.main(["--drink", text], standalone_mode=False)
    return drink


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("coffee", Drink("coffee")),
        ("", Drink()),
        ("cups:3", Drink(cups=3)),
        ("coffee|sugar:2|size:large", Drink("coffee", sugar_lumps=2.0, size="large")),
        ("milk:yes", Drink(milk=True)),
        ("hours:9,10.5", Drink(hours=(9.0, 10.5))),
        ("hours:", Drink(hours=())),
        ("tea://inn:80|cups:1", Drink("tea://inn:80", 1)),
        ("words:(a|b:c),d|cups:1", Drink(cups=1, words=("a|b:c", "d"))),
        ("words:(a|b:c,d)", Drink(words=("a|b:c", "d"))),
        ("words:a%7Cb,c (d)", Drink(words=("a|b", "c (d)"))),
    ],
)
def test_settings_are_a_record(text, expected):
    assert ordered(text) == expected


def test_no_settings_are_the_defaults():
    assert order.main([], standalone_mode=False) == Drink()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sugr:2", "Unknown setting of --drink 'sugr'. Did you mean 'sugar'? Known: cups, hours,"),
        ("kind:tea", "Unknown setting of --drink 'kind'."),
        ("tea|2", "--drink 'tea|2': '2' is not of the form key:value."),
        ("cups:1|cups:2", "--drink 'cups:1|cups:2': 'cups' is given twice; give it once."),
        ("cups:0", "--drink: cups is '0'; expected a whole number >= 1."),
        ("cups:many", "--drink: cups is 'many'; expected a whole number."),
        ("sugar:x", "--drink: sugar is 'x'; expected a number."),
        ("sugar:nan", "--drink: sugar is 'nan'; expected a number >= 0.0."),
        ("cofee", "Unknown drink 'cofee'. Did you mean 'coffee'?"),
        ("hours:8,x", "--drink: hours is '8,x'; expected a list, each a number."),
        ("milk:maybe", "--drink: milk is 'maybe'; expected yes or no."),
        ("size:huge", "--drink: size is 'huge'; expected small, large."),
        ("coffee|milk:yes", "Coffee has no milk."),
    ],
)
def test_wrong_settings_are_refused(text, message):
    with pytest.raises(ReelscoreError) as error:
        ordered(text)
    assert str(error.value).startswith(message)


def test_help_lists_the_settings():
    shown = CliRunner().invoke(order, ["--help"]).output
    expected = """
  --drink NAME|KEY:VALUE  What to drink.
    cups:                 How many cups are wanted, which may be none.
    sugar:                Lumps of sugar.  [default: 0.5]
    milk:                 Whether it has milk.  [default: no]
    size:                 How large, small or large.  [default: small]
    hours:                When it is served.  [default: 8,17.5]
    words:                What is said.
"""
    assert expected in shown


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("t", ["tea"]), ("c", ["coffee", "cups:"]), ("tea|c", ["tea|cups:"]), ("x", [])],
)
def test_completion_offers_names_and_keys(typed, offered):
    option = order.params[0]
    items = option.shell_complete(click.Context(order), typed)
    assert [item.value for item in items] == offered
