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


class _Bash(_WithFiles, BashComplete):
    """Completion in bash."""


class _Zsh(_WithFiles, ZshComplete):
    """Completion in zsh."""


class _Fish(_WithFiles, FishComplete):
    """Completion in fish."""


def add_shells() -> None:
    """Make these the classes that click uses."""
    for shell in (_Bash, _Zsh, _Fish):
        add_completion_class(shell)
