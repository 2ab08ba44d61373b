"""Fixtures of these tests."""

from __future__ import annotations

from support.command_fixtures import folder, run, snapshot, write_json
