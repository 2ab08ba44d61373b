"""The wings: features that are built on the library, each in a folder of its own.

The command line and the web application find them here; the library knows none of them. The
module `wing` of each says what it offers. `COMMANDS` are its commands by what is typed,
`HEADINGS` where the first screen of the command line lists them, `DEMOS` what ``reelscore demo``
can show, `NARRATION_METHODS` further ways to find narration. What the web application needs is
named as ``module:attribute``:

- `PAGES`: its pages, a class as `reelscore.web.site.WingPages`;
- `ASSETS`: the package with its folders ``templates`` and ``static``;
- `MIGRATIONS`: its tables in the database of a server;
- `ACCOUNT_LOG`: a function that logs changes of accounts, see `reelscore.web.store.accounts`;
- `RATER_RULE`: a function that says who may not rate, see `reelscore.campaigns.pages.raters`.

A wing of another distribution is there when that is installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

WINGS = (
    "reelscore.captioners",
    "reelscore.campaigns",
    "reelscore.challenges",
    "reelscore.corpus",
    "reelscore.meta",
    "reelscore.learned",
    "reelscore_studies",
)


@cache
def wings() -> tuple[ModuleType, ...]:
    """Return what each installed wing offers.

    >>> "campaign" in wings()[1].COMMANDS
    True
    """
    return tuple(import_module(f"{name}.wing") for name in WINGS if _is_installed(name))


def wing_commands(group: str = "") -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the commands that wings add to a group: name, module, and what it does.

    >>> "corpus" in dict(wing_commands()), "export" in dict(wing_commands("corpus"))
    (True, False)
    """
    for wing in wings():
        for typed, target in wing.COMMANDS.items():
            above, _, name = typed.rpartition(" ")
            if above == group:
                yield name, target


def load(target: str, default: str = "") -> Any:
    """Import what a wing names: ``module:attribute``, or a module that has the default."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute or default)


@cache
def offers(what: str) -> tuple[Any, ...]:
    """Import what wings offer to the web application by a name, such as ``PAGES``.

    >>> [family.version_table for family in offers("MIGRATIONS")]
    ['campaign_schema', 'challenge_schema']
    """
    return tuple(load(getattr(wing, what)) for wing in wings() if hasattr(wing, what))


@cache
def assets() -> tuple[str, ...]:
    """Return the packages of wings that have templates and static files.

    >>> assets()[0]
    'reelscore.campaigns'
    """
    return tuple(wing.ASSETS for wing in wings() if hasattr(wing, "ASSETS"))


def _is_installed(name: str) -> bool:
    return name.startswith("reelscore.") or find_spec(name) is not None
