"""Databases that lose nothing: SQLite or PostgreSQL, made to behave alike, with migrations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.store.backups import backup
    from reelscore.store.database import Database
    from reelscore.store.tables import Migrations

__all__ = [
    "Database",
    "Migrations",
    "backup",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "store.backups": "backup",
        "store.database": "Database",
        "store.tables": "Migrations",
    },
)
