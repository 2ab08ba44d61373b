"""Fixtures of these tests."""

from __future__ import annotations

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
