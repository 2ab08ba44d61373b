"""What tests of challenges share."""

from __future__ import annotations

import pytest

from reelscore.challenges.uploads.uploads import Readers
from support.command_fixtures import folder, run, snapshot, write_json
from support.server_fixtures import (
    assistant,
    cheap_passwords,
    made_review,
    member,
    owner,
    page,
    project,
    quiet_page,
    shoot,
    shots,
    videos,
)


@pytest.fixture(scope="module")
def readers():
    """A process that reads files, for all tests of a module: it takes a moment to start."""
    pool = Readers(1)
    yield pool
    pool.close()
