"""The campaigns' database with the tables of the pages."""

from __future__ import annotations

from reelscore.human.store.connecting import Database
from reelscore.human.store.places import Where
from reelscore.web.store.upgrading import upgrade


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
    database = Database(where, create=True)
    try:
        upgrade(database)
    except BaseException:
        database.close()
        raise
    return database
