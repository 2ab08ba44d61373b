"""Rows on their way in: temporary tables, filled fast, seen by nobody else, checked as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Double,
    FromClause,
    MetaData,
    Table,
    Text,
    func,
    or_,
    select,
    text,
)

from reelscore.store.tables import Number

_TYPES = {str: Text, int: BigInteger, float: Double}


def stage(connection: Connection, name: str, columns: Iterable[tuple[str, type]]) -> Table:
    """Make a temporary table."""
    table = Table(
        name,
        MetaData(),
        Column("line", Number, primary_key=True, autoincrement=False),
        *(Column(column, _TYPES[kind]) for column, kind in columns),
        prefixes=["TEMPORARY"],
    )
    table.create(connection)
    return table


def fill(connection: Connection, table: Table, rows: Iterable[Sequence[object]]) -> None:
    """Add rows to a temporary table; memory holds few of them at a time."""
    cursor: Any = connection.connection.cursor()
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(table.columns))
        cursor.executemany(f"INSERT INTO {table.name} ({names}) VALUES ({marks})", rows)
    else:
        with cursor.copy(f"COPY {table.name} ({names}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
    cursor.close()


def analyze(connection: Connection, *tables: Table) -> None:
    """Let PostgreSQL see how much was put into tables; SQLite does not ask."""
    if connection.dialect.name != "sqlite":
        for table in tables:
            connection.execute(text(f"ANALYZE {table.name}"))


def repeated(table: FromClause, key: Sequence[ColumnElement[Any]]) -> Any:
    """Find rows whose key another has: the later line, and the first."""
    line = table.c.line
    return (
        select(func.max(line).label("line"), func.min(line).label("first"))
        .group_by(*key)
        .having(func.count() > 1)
        .order_by(func.max(line))
    )


def missing(*columns: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return in SQL whether an outer join came to nothing."""
    return or_(*(column.is_(None) for column in columns))
