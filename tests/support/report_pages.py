"""How the tests read a report's page."""

from __future__ import annotations

import re
from typing import Any

STATUS = "#items [role=status]"
TITLE = ".detail .bar h3"

# The systems of the reports with long names.
PREFIX = "trecvid20-vtt.en-en."
LONG_NAMES = ("RUC_AIM3", "KU_ISPL_prior", "MMCUniAugsburg", "SomeGroupThatRefinedItsRun" * 2)


def names(page: Any) -> list[str]:
    """The systems of the leaderboard, from above."""
    return page.locator("#leaderboard tbody th bdi").all_inner_texts()


def rows(page: Any) -> list[str]:
    """The items in sight in the list."""
    return page.locator(".row b").all_inner_texts()


def wait_for(page: Any, selector: str, text: str) -> None:
    """Wait until an element has a text."""
    page.locator(selector).filter(has_text=re.compile(text)).first.wait_for()


def sort_items(page: Any, by: str, **choices: str) -> None:
    """Sort the explorer's items: what by, then controls by their labels."""
    page.get_by_label("Sort by").select_option(by)
    for label, value in choices.items():
        control = page.locator("#items").get_by_label(label.replace("_", " "), exact=True)
        control.select_option(label=value)
