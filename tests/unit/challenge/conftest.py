"""What tests of challenges share."""

from __future__ import annotations

import pytest

from reelscore.challenges.uploads.uploads import Readers


@pytest.fixture(scope="module")
def readers():
    """A process that reads files, for all tests of a module: it takes a moment to start."""
    pool = Readers(1)
    yield pool
    pool.close()
