"""Options of the commands about stories: files, and the protocol."""

from __future__ import annotations

import click
from msgspec import structs

from reelscore.cli.file_options import refs_option
from reelscore.cli.options import Decorator, SettingsOption, gathered
from reelscore.stories.protocol import PRESETS, Protocol

truth_option = refs_option("References, for example one file per annotator", required=True)


class ChosenProtocol(Protocol, frozen=True):
    """A protocol, and the name of the preset that it began with."""

    preset: str | None = None


def protocol_option(
    *without: str, default: str = "", listed: bool = True, help: str = ""
) -> Decorator:
    """Return the option of the protocol: a preset, and choices that differ from it."""

    def start(name: str) -> ChosenProtocol:
        name = name or default
        chosen = PRESETS[name] if name else Protocol()
        return ChosenProtocol(**structs.asdict(chosen), preset=name or None)

    about = "The settings of a paper or a tool, and choices that differ from them"
    return click.option(
        "--protocol",
        cls=SettingsOption,
        start=start,
        known=list(PRESETS),
        without=["preset", "scores", *without],
        listed=listed,
        help=f"{about}: {', '.join(PRESETS)}. {help}",
    )


_scores_option = click.option(
    "--scores",
    metavar="LIST",
    help="soda, soda_a, soda_b, soda_c, activitynet, chapters.",
)
scored_protocol_options = gathered(
    "protocol",
    lambda protocol, scores: protocol.but(scores=scores) if scores else protocol,
    {"protocol": protocol_option(), "scores": _scores_option},
)
