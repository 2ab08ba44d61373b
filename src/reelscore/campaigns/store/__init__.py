"""Where a campaign is kept: one SQLite file, or a PostgreSQL database.

`schema` has the tables, `migrations` how they came to be, `records` what is handed out of them;
`reelscore.store` has the databases. Over them, `campaigns` keeps a campaign's own row and its log,
`hits` takes HITs in and counts them, `assignments` gives them to raters, `answers` takes what they
say and gives it back, `decisions` does what organisers decide. `imports` takes judgments made
elsewhere; `files` carries a whole campaign in plain files, and `lines` is their format. What comes
in bulk is staged in temporary tables, checked there and moved as a whole.

Modules are imported when they are first used, since they need SQLAlchemy.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from reelscore.errors import MissingExtraError

if TYPE_CHECKING:
    from reelscore.campaigns.store import answers as answers
    from reelscore.campaigns.store import assignments as assignments
    from reelscore.campaigns.store import campaigns as campaigns
    from reelscore.campaigns.store import decisions as decisions
    from reelscore.campaigns.store import files as files
    from reelscore.campaigns.store import hits as hits
    from reelscore.campaigns.store import imports as imports
    from reelscore.campaigns.store import schema as schema
    from reelscore.store import backups as backups
    from reelscore.store import database as database

_MODULES = "answers assignments backups campaigns database decisions files hits imports schema"


def __getattr__(name: str) -> ModuleType:
    if name not in _MODULES.split():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    package = "reelscore.store" if name in ("backups", "database") else __name__
    try:
        return import_module(f"{package}.{name}")
    except ImportError as error:
        if error.name and error.name.partition(".")[0] in ("sqlalchemy", "alembic"):
            raise MissingExtraError.of(
                "Campaigns need SQLAlchemy and Alembic", "reelscore[web]"
            ) from None
        raise
