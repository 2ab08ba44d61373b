"""Who may see what: every row of the table, for every viewer, at every time."""

from __future__ import annotations

from itertools import product

import pytest

from reelscore.challenges.permissions import RULES, VIEWERS, Situation, permission, view

BEFORE = {"opened": False, "revealed": False}
DURING = {"opened": True, "revealed": False}
AFTER = {"opened": True, "revealed": True}
ALL, NO = "everything", "nothing"


def seen(what, situation):
    return [permission(viewer, what, situation) for viewer in VIEWERS]


def every_situation(visibility):
    """Every combination of what permissions depend on."""
    switches = (
        *("opened", "revealed", "references_open", "terms_accepted", "publish_items"),
        *("publish_captions", "human_published", "members_shown"),
    )
    for feedback in ("full", "rounded", "ladder", "reveal"):
        for values in product([False, True], repeat=len(switches)):
            yield Situation(
                visibility, feedback=feedback, **dict(zip(switches, values, strict=True))
            )


@pytest.mark.parametrize("what", ["references", "item_scores"])
def test_references_and_item_scores_of_blind_splits_are_never_shown(what):
    for situation in every_situation("blind"):
        assert seen(what, situation) == [NO] * 5


def test_the_database_is_never_shown():
    for visibility in ("public", "blind"):
        for situation in every_situation(visibility):
            assert seen("database", situation) == [NO] * 5


@pytest.mark.parametrize("visibility", ["public", "blind"])
def test_items_are_shown_when_the_phase_opens(visibility):
    assert seen("items", Situation(visibility, **BEFORE)) == [NO, NO, NO, ALL, ALL]
    assert seen("items", Situation(visibility, **DURING)) == [ALL] * 5


def test_public_references_are_shown_if_open_or_after_the_terms_are_accepted():
    def at(**fields):
        return seen("references", Situation("public", **DURING, **fields))

    assert at() == [NO] * 5
    assert at(references_open=True) == [ALL] * 5
    assert at(terms_accepted=True) == [NO, ALL, ALL, ALL, ALL]
    closed = Situation("public", **BEFORE, references_open=True, terms_accepted=True)
    assert seen("references", closed) == [NO] * 5


@pytest.mark.parametrize("visibility", ["public", "blind"])
def test_the_state_of_a_job_is_for_its_team(visibility):
    for situation in every_situation(visibility):
        assert seen("job", situation) == [NO, NO, ALL, ALL, ALL]


@pytest.mark.parametrize("visibility", ["public", "blind"])
@pytest.mark.parametrize(
    ("feedback", "time", "own"),
    [
        ("full", DURING, ALL),
        ("rounded", DURING, "told"),
        ("rounded", AFTER, "told"),
        ("ladder", DURING, "told"),
        ("ladder", AFTER, "told"),
        ("reveal", DURING, NO),
        ("reveal", AFTER, "final"),
    ],
)
def test_own_scores_follow_the_feedback(visibility, feedback, time, own):
    situation = Situation(visibility, feedback=feedback, **time)
    assert seen("scores", situation) == [NO, NO, own, ALL, ALL]


@pytest.mark.parametrize("visibility", ["public", "blind"])
@pytest.mark.parametrize(
    ("feedback", "time", "others"),
    [
        ("full", BEFORE, NO),
        ("full", DURING, ALL),
        ("rounded", DURING, "told"),
        ("ladder", DURING, "told"),
        ("reveal", BEFORE, NO),
        ("reveal", DURING, "names"),
        ("reveal", AFTER, "final"),
    ],
)
def test_boards_follow_the_feedback(visibility, feedback, time, others):
    situation = Situation(visibility, feedback=feedback, **time)
    assert seen("board", situation) == [others] * 3 + [ALL, ALL]


def test_item_scores_of_public_splits():
    def at(time, **fields):
        return seen("item_scores", Situation("public", **time, **fields))

    assert at(DURING, publish_items=True) == [NO, NO, ALL, ALL, ALL]
    assert at(AFTER) == [NO, NO, ALL, ALL, ALL]
    assert at(AFTER, publish_items=True) == [ALL] * 5


@pytest.mark.parametrize("visibility", ["public", "blind"])
def test_captions_and_uploads(visibility):
    def at(time, **fields):
        return seen("captions", Situation(visibility, **time, **fields))

    assert at(DURING, publish_captions=True) == [NO, NO, ALL, ALL, ALL]
    assert at(AFTER) == [NO, NO, ALL, ALL, ALL]
    assert at(AFTER, publish_captions=True) == [ALL] * 5


@pytest.mark.parametrize("visibility", ["public", "blind"])
def test_the_human_column_is_shown_when_it_is_published(visibility):
    assert seen("human", Situation(visibility, **AFTER)) == [NO, NO, NO, ALL, ALL]
    published = Situation(visibility, **DURING, human_published=True)
    assert seen("human", published) == [ALL] * 5


@pytest.mark.parametrize("visibility", ["public", "blind"])
def test_members_are_named_if_the_team_agrees(visibility):
    assert seen("members", Situation(visibility)) == [NO, NO, ALL, ALL, ALL]
    assert seen("members", Situation(visibility, members_shown=True)) == [ALL] * 5


@pytest.mark.parametrize("visibility", ["public", "blind"])
def test_the_log(visibility):
    assert seen("events", Situation(visibility)) == ["public", "public", "own", ALL, ALL]


def test_nobody_sees_less_than_those_before():
    """From visitor to owner, permissions only grow: but for the terms, which all accept."""
    order = [NO, "names", "public", "told", "final", "own", ALL]
    for what, visibility in RULES:
        for situation in every_situation(visibility):
            degrees = [order.index(each) for each in seen(what, situation)]
            assert degrees == sorted(degrees), (what, situation)


def test_what_may_not_be_seen_is_not_even_read():
    def read():
        raise AssertionError("read")

    hidden = Situation("blind", **DURING, feedback="ladder")
    assert view("owner", "references", hidden, read) is None
    assert view("own", "scores", hidden, read, told=lambda: 0.3) == 0.3
    assert view("visitor", "board", Situation("blind", **DURING), read) is None
    assert view("owner", "board", hidden, lambda: 1) == 1
