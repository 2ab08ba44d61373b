"""What a split and its submissions hold, as far as somebody may see it; reports of items."""

from __future__ import annotations

import numpy as np
import pytest

from reelscore.challenges.boards.explorer import explorer
from reelscore.challenges.exchange.archive import archive_files
from reelscore.challenges.permissions import VISITOR, Who
from reelscore.examples import clips
from support.challenge_data import open_view
from support.challenges import OPENS, REVEALS, made_with

OWN, OTHER, OWNER = Who("participant", "team-weak"), Who("participant", "team-strong"), Who("owner")


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    with made_with(tmp_path_factory.mktemp("public"), visibility="public").database as database:
        yield database


@pytest.fixture(scope="module")
def blind(tmp_path_factory):
    with made_with(tmp_path_factory.mktemp("blind")).database as database:
        yield database


def seen(database, who, now):
    return open_view(database, "clips", who, now=now)


def weak(view):
    [record] = [each for each in view.entries_of("main") if each.team_name == "weak"]
    return record


def test_items_are_there_when_the_phase_opens(blind):
    assert seen(blind, VISITOR, OPENS - 1).items("main", "blind") is None
    assert len(seen(blind, VISITOR, OPENS).items("main", "blind")) == 15
    assert len(seen(blind, OWNER, OPENS - 1).items("main", "blind")) == 15


def test_references_of_public_splits_alone_are_shown(public, blind):
    _, references = clips()
    assert seen(public, VISITOR, OPENS).references("main", "blind") == references
    assert seen(public, VISITOR, OPENS - 1).references("main", "blind") is None
    for who in (VISITOR, OWN, OTHER, Who("assistant"), OWNER):
        assert seen(blind, who, REVEALS).references("main", "blind") is None


def test_captions_are_for_the_team_and_organisers(blind):
    systems, _ = clips()
    for who, sees in ((VISITOR, False), (OTHER, False), (OWN, True), (OWNER, True)):
        view = seen(blind, who, REVEALS)
        captions = view.captions("main", "blind", weak(view))
        assert captions == (systems["weak"] if sees else None)


def test_item_scores(public, blind):
    for who in (VISITOR, OWN, OTHER, OWNER):
        view = seen(blind, who, REVEALS)
        assert view.item_scores("main", "blind", weak(view)) is None
    for who, now, sees in (
        (VISITOR, OPENS, False),
        (OTHER, OPENS, False),
        (OWN, OPENS, True),
        (VISITOR, REVEALS, True),
    ):
        view = seen(public, who, now)
        scores = view.item_scores("main", "blind", weak(view))
        assert (scores is not None) == sees
    whole = list(view.board("main").table.results.values())[2]["cider"].score
    assert np.isclose(scores["cider"].mean(), whole)


def test_the_report_of_items_has_what_may_be_seen(public, blind):
    assert explorer(seen(public, VISITOR, OPENS), "main", "blind") is None
    report = explorer(seen(public, VISITOR, REVEALS), "main", "blind")
    assert set(report.table.systems) == {"human", "strong", "weak", "broken"}
    assert report.captions == {}
    assert len(report.references) == 15
    assert "not published" in report.notes[0]
    own = explorer(seen(public, OWN, REVEALS), "main", "blind", [weak(seen(public, OWN, 0)).id])
    assert own.table.systems == ["weak"]
    assert set(own.captions) == {"weak"}
    for who in (VISITOR, OWN, OWNER):
        assert explorer(seen(blind, who, REVEALS), "main", "blind") is None


def test_archives_have_the_items_of_public_splits(public, blind):
    assert b"items-main.html" in archive_files(seen(public, VISITOR, REVEALS))["board-main.html"]
    assert "items-main.html" in archive_files(seen(public, VISITOR, REVEALS))
    assert "items-main.html" not in archive_files(seen(blind, VISITOR, REVEALS))
    assert "items-main.html" not in archive_files(seen(public, VISITOR, OPENS))
