"""What layers above know of score tables: data knows it by name, and it is loaded when used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

VIEWS = {
    "report": "reelscore.report.html:write_table_report",
    "plot": "reelscore.report.plots.tables:TablePlots",
    "notebook": "reelscore.report.tables.leaderboard:table_html",
    "declared scale": "reelscore.metrics.registry:declared_scale",
}


def view(name: str) -> Any:
    """Load what layers above know of score tables: something to be called.

    >>> view("notebook").__name__
    'table_html'
    """
    module, _, attribute = VIEWS[name].partition(":")
    return getattr(import_module(module), attribute)
