"""The campaigns' database, shared by many requests at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from sqlalchemy import Connection

from reelscore.human.store.connecting import Database
from reelscore.human.store.places import Where
from reelscore.web.store.upgrading import upgrade


class SharedDatabase(Database):
    """A database with the pages' own tables, whose writers wait in this process, in turn.

    SQLite lets one write at a time, and those who wait ask again after ever longer naps; with
    many threads some would wait for seconds while others overtake them.
    """

    def __init__(self, where: Where) -> None:
        """Open a database, and make or bring up to date what is missing in it.

        Raises:
            DataError: If it cannot be used, or is of a newer version.
        """
        self._turn = Lock()
        super().__init__(where, create=True)
        try:
            upgrade(self)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that writes: everything in it holds, or nothing."""
        if not self.is_sqlite:
            with super().writing() as connection:
                yield connection
            return
        with self._turn, super().writing() as connection:
            yield connection
