"""Metrics of other packages, which join by the entry point group ``reelscore.metrics``.

The entry point's name is the metric's, and its value the class, as in ``mine = "package:Mine"``. A
package that cannot be used is an error for those who name its metric, and for nobody else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from reelscore.data.tables.scales import plain_name
from reelscore.errors import DataError
from reelscore.metrics.base import Metric

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "reelscore.metrics"


def plugin_entries(reserved: Collection[str]) -> dict[str, EntryPoint]:
    """The entry points of other packages' metrics, by name; those refused are left out."""
    entries = _entries()
    return {entry.name: entry for entry in entries if not _refusal(entry, entries, reserved)}


def plugin_refusals(reserved: Collection[str]) -> dict[str, str]:
    """Why names of other packages' metrics cannot be used, by name; see `plugin_entries`."""
    entries = _entries()
    reasons = {entry.name: _refusal(entry, entries, reserved) for entry in entries}
    return {name: reason for name, reason in reasons.items() if reason}


def plugin_class(entry: EntryPoint) -> type[Metric]:
    """Load the class of another package's metric."""
    try:
        kind = entry.load()
    except Exception as error:  # whatever somebody else's code may raise
        reason = f"it cannot be loaded ({type(error).__name__}: {error})"
        raise DataError(_unusable(entry, reason)) from error
    if not (isinstance(kind, type) and issubclass(kind, Metric)):
        reason = f"{entry.value} is no subclass of reelscore.metrics.Metric"
    elif getattr(kind, "name", None) != entry.name:
        reason = f"the name of its class is {getattr(kind, 'name', None)!r}"
    elif kind.output_scale is Metric.output_scale and kind.output_scales is Metric.output_scales:
        reason = "it does not say which way is better; add output_scale = Scale('high', 0, 1)"
    else:
        return kind
    raise DataError(_unusable(entry, reason))


def _entries() -> list[EntryPoint]:
    from importlib.metadata import entry_points  # slow to import, and seldom needed

    return list(dict.fromkeys(entry_points(group=GROUP)))


def _refusal(entry: EntryPoint, entries: Sequence[EntryPoint], reserved: Collection[str]) -> str:
    """Why a name cannot be used; empty where it can."""
    plain = plain_name(entry.name)
    others = [each for each in entries if plain_name(each.name) == plain and each != entry]
    if not re.fullmatch(r"[A-Za-z]\w*", entry.name):
        return _unusable(entry, "a name has letters, digits and _ alone")
    if plain in reserved:
        return _unusable(entry, "reelscore itself has a metric of this name; choose another name")
    if others:
        return _unusable(entry, f"{_package(others[0])} has a metric of this name, too")
    return ""


def _unusable(entry: EntryPoint, reason: str) -> str:
    return (
        f"Metric {entry.name!r} of the package {_package(entry)}: {reason}. Repair or uninstall "
        "the package; all other metrics work without it."
    )


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else entry.value
