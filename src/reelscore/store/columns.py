"""Types of columns that mean the same in both databases."""

from __future__ import annotations

from sqlalchemy import BigInteger, Integer

# SQLite numbers rows by itself only where the type is INTEGER, which has 64 bits there.
Number = BigInteger().with_variant(Integer(), "sqlite")
Time = BigInteger  # whole microseconds since 1970
