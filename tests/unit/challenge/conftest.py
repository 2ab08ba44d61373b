"""Where most tests of challenges put their database."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.postgres_server import new_schema


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.full)])
def mostly_sqlite(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A SQLite file; with `--full` a PostgreSQL database as well.

    What depends on the database, such as requests at once, asks for both: parametrize it.
    """
    if request.param == "sqlite":
        return str(tmp_path / "challenge.db")
    return new_schema(request.getfixturevalue("postgres_url"))
