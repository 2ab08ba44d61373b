"""How the tables came to be, one file for each change, applied by Alembic.

A new change is a new file in `versions`: give it the next `revision`, the last one as
`down_revision`, and bring `tables` to where it leads; a test compares the two.
"""

from __future__ import annotations

from pathlib import Path

from reelscore.store.tables import Migrations

MIGRATIONS = Migrations("challenge_schema", Path(__file__).parent, "challenges")
"""The changes, oldest first by name."""
