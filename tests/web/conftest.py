"""Fixtures of these tests."""

from __future__ import annotations

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
