"""Campaigns that are open, in both databases, by a clock that the test sets."""

from __future__ import annotations

import pytest

from reelscore.campaigns.campaign import Campaign
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


@pytest.fixture
def make(where, clock):
    """Makes campaigns that are open, and disconnects them at the end."""
    made = []

    def make(hits=(), name="Dogs", **terms):
        terms = {"systems": ["mine", "other"], "hold": 100.0} | terms
        campaign = Campaign.create(where, name, clock=clock, **terms)
        made.append(campaign)
        if hits:
            campaign.add_hits(hits)
        campaign.set_state("open", actor="me")
        return campaign

    yield make
    for campaign in made:
        campaign.disconnect()
