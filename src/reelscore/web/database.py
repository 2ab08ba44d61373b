"""The campaigns' database with the tables of the pages."""

from __future__ import annotations

from reelscore.human.store.migrations import MIGRATIONS as CAMPAIGNS
from reelscore.store.database import Database
from reelscore.store.locations import Where
from reelscore.web.store.migrations import MIGRATIONS as PAGES


def open_database(where: Where) -> Database:
    """Open a database, and make or bring up to date what is missing in it.

    Raises:
        DataError: If it cannot be used, or is of a newer version.

    >>> from tempfile import TemporaryDirectory
    >>> from reelscore.web.store.accounts import has_accounts
    >>> with TemporaryDirectory() as folder, open_database(f"{folder}/dogs.db") as database:
    ...     has_accounts(database)
    False
    """
    return Database(where, CAMPAIGNS, PAGES, create=True)
