"""Completion in bash, zsh and fish, by click: commands, options, choices, and files elsewhere."""

from __future__ import annotations

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)


class _WithFiles(ShellComplete):
    """Offers files where there is nothing else to offer: most arguments name one."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """Return what may stand here."""
        items = super().get_completions(args, incomplete)
        return items or [CompletionItem(incomplete, type="file")]


def add_shells() -> None:
    """Make completion with files that which click uses."""
    for shell in (BashComplete, ZshComplete, FishComplete):
        add_completion_class(type(shell.__name__, (_WithFiles, shell), {}))
