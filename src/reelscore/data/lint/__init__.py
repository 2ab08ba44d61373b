"""Checks of caption files before they are scored or published; nothing is changed.

A check is a function that takes `Captions` and yields a `Finding` for each defect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.data.lint.caption_reader import captions_of
    from reelscore.data.lint.findings import Captions, Example, Finding, Findings
    from reelscore.data.lint.fixes import Fix, fixed
    from reelscore.data.lint.linter import check

__all__ = ["Captions", "Example", "Finding", "Findings", "Fix", "captions_of", "check", "fixed"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "data.lint.caption_reader": "captions_of",
        "data.lint.findings": "Captions Example Finding Findings",
        "data.lint.fixes": "Fix fixed",
        "data.lint.linter": "check",
    },
)
