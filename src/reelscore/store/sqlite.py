"""What SQLite needs to be told, and how its writers wait for each other."""

from __future__ import annotations

import random
import sqlite3
import time
from typing import Any

from sqlalchemy import Connection, Engine, event

PATIENCE = 60.0  # seconds a writer waits for others
_NAP = (0.001, 0.01)  # seconds between tries to begin writing; a transaction takes as long


def prepare(engine: Engine) -> None:
    """Tell every connection what to do at its start and at the start of a transaction."""
    event.listen(engine, "connect", _connect)
    event.listen(engine, "begin", _begin)


def write_ahead(connection: Connection) -> None:
    """Switch the file to a write-ahead log; SQLite does not wait for others by itself here."""
    driver: Any = connection.connection.dbapi_connection
    until = time.monotonic() + PATIENCE
    while True:
        try:
            driver.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(random.uniform(*_NAP))


def _connect(driver: sqlite3.Connection, _: object) -> None:
    driver.isolation_level = None  # transactions begin where `_begin` says, not later
    _wait(driver, PATIENCE)
    for pragma in ("foreign_keys = ON", "synchronous = FULL", "cache_size = -32768"):
        driver.execute(f"PRAGMA {pragma}")


def _wait(driver: sqlite3.Connection, seconds: float) -> None:
    driver.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")


def _begin(connection: Connection) -> None:
    if not connection.get_execution_options().get("writing", False):
        connection.exec_driver_sql("BEGIN")
        return
    # SQLite by itself waits in ever longer naps, through which the file is often free.
    driver: Any = connection.connection.dbapi_connection
    until = time.monotonic() + PATIENCE
    _wait(driver, 0)
    try:
        while not _begun(driver) and time.monotonic() < until:
            time.sleep(random.uniform(*_NAP))
        if not driver.in_transaction:
            connection.exec_driver_sql("BEGIN IMMEDIATE")  # the last try, and its error
    finally:
        _wait(driver, PATIENCE)


def _begun(driver: sqlite3.Connection) -> bool:
    try:
        driver.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        return False
    return True
