"""Colours of ```console blocks: lines after $ are commands, all else is output.

Pygments' own lexer takes output such as "(paired bootstrap)" for the prompt of an environment.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Generic, Text


class ShellExamples(RegexLexer):
    """Commands and their output."""

    name = "Shell examples"
    tokens: ClassVar[dict[str, Any]] = {
        "root": [
            (r"^(\$ )(.*\n)", bygroups(Generic.Prompt, Text)),
            (r".*\n", Generic.Output),
        ]
    }


def setup(app: Any) -> dict[str, bool]:
    """Hook into Sphinx."""
    app.add_lexer("console", ShellExamples)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
