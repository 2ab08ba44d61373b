"""Boards and scores of a challenge in a database, as different people see them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, update

from reelscore.challenges.boards import board_maker
from reelscore.challenges.boards.ladder import rounded
from reelscore.challenges.permissions import VISITOR, Who
from reelscore.challenges.store import tables
from reelscore.errors import UnknownNameError
from reelscore.examples import clips
from support.challenge_data import open_view
from support.challenges import CLOSES, HOUR, OPENS, REVEALS, made_with

OWNER = Who("owner")


@pytest.fixture
def made(tmp_path):
    with made_with(tmp_path).database as database:
        yield database


def board(database, who=VISITOR, now=OPENS + 1):
    return open_view(database, "clips", who, now=now).board("main")


def teams(shown):
    return [row.team for row in shown.rows]


def test_a_hidden_board_has_names_alone_until_the_reveal(made):
    before = board(made, now=OPENS - 1)
    during = board(made, now=REVEALS - 1)
    after = board(made, now=REVEALS)
    assert before is None
    assert during.rows == []
    assert during.names == ["broken", "human", "strong", "weak"]
    assert teams(after) == ["human", "strong", "weak", "broken"]
    assert after.names == []


def test_organisers_see_a_hidden_board(made):
    assert teams(board(made, OWNER)) == ["human", "strong", "weak", "broken"]
    assert teams(board(made, Who("assistant"))) == ["human", "strong", "weak", "broken"]


def test_a_board_is_made_once_and_again_when_something_changes(made):
    def kept():
        with made.reading() as connection:
            return len(connection.execute(select(tables.board)).all())

    first = board(made, now=REVEALS)
    assert kept() == 1
    assert board(made, now=REVEALS) == first
    assert kept() == 1
    with made.writing() as connection:
        connection.execute(
            update(tables.submission)
            .where(tables.submission.c.file_name == "human.json")
            .values(status="withdrawn")
        )
    assert teams(board(made, now=REVEALS)) == ["strong", "weak", "broken"]
    assert kept() == 2
    for k in range(12):
        with made.writing() as connection:
            connection.execute(update(tables.submission).values(method=f"m{k}", chosen=k % 2 == 0))
            connection.execute(update(tables.team).values(name=tables.team.c.id + f"{k}"))
        assert board(made, now=REVEALS).rows[0].team == f"team-strong{k}"
    assert kept() == 8


def test_a_disqualified_team_is_not_on_the_board(made):
    with made.writing() as connection:
        connection.execute(
            update(tables.team).where(tables.team.c.name == "strong").values(state="disqualified")
        )
    assert teams(board(made, now=REVEALS)) == ["human", "weak", "broken"]


def test_a_merged_team_stands_under_the_name_of_the_other(made):
    with made.writing() as connection:
        keys = dict(connection.execute(select(tables.team.c.name, tables.team.c.key)).all())
        connection.execute(
            update(tables.team)
            .where(tables.team.c.name == "weak")
            .values(state="merged", merged_into=keys["strong"])
        )
    shown = board(made, now=REVEALS)
    assert sorted(teams(shown)) == ["broken", "human", "strong"]
    [row] = [row for row in shown.rows if row.team == "strong"]
    assert row.entries == 2


def test_late_entries_are_below(tmp_path):
    made = made_with(tmp_path)
    systems, _ = clips()
    made.submit("weak", systems["human"], arrived=CLOSES + HOUR, late=True)
    shown = board(made.database, now=REVEALS)
    made.database.close()
    assert teams(shown) == ["human", "strong", "weak", "broken"]
    assert [(row.team, row.rank) for row in shown.below] == [("weak", "")]


def test_rounded_boards_show_nothing_finer_than_the_step(tmp_path):
    made = made_with(tmp_path, "rounded", "0.05")
    with made.database as database:
        exact, shown = board(database, OWNER), board(database)
    first, rounded_first = (next(iter(made.table.results.values())) for made in (exact, shown))
    assert first["cider"].score != rounded_first["cider"].score
    for scores in shown.table.results.values():
        for score in scores.values():
            for number in (score.score, *(score.interval or ())):
                assert number == rounded(number, 0.05)


def test_the_ladder_shows_the_best_told(tmp_path):
    made = made_with(tmp_path, "ladder", "0.05")
    systems, _ = clips()
    worse = made.submit("strong", systems["weak"])
    with made.database as database:
        shown = board(database)
        exact = board(database, OWNER)
        own = Who("participant", "team-strong")
        mine = open_view(database, "clips", own, now=OPENS + 1)
        told = {
            record.id: mine.scores("main", "blind", record) for record in mine.submissions("main")
        }
    [row] = [row for row in shown.rows if row.team == "strong"]
    assert row.id != worse
    [row] = [row for row in exact.rows if row.team == "strong"]
    assert row.id == worse  # the last one counts
    first, second = told.values()
    assert first == second
    assert first["cider"].score == rounded(first["cider"].score, 0.05)


def test_scores_of_submissions(made):
    def seen(who, now):
        shown = open_view(made, "clips", who, now=now)
        return [(r.team, bool(shown.scores("main", "blind", r))) for r in shown.submissions("main")]

    assert seen(VISITOR, REVEALS) == []
    own = Who("participant", "team-weak")
    assert seen(own, REVEALS - 1) == [("team-weak", False)]
    assert seen(own, REVEALS) == [("team-weak", True)]
    assert len(seen(OWNER, OPENS)) == 4
    assert all(there for _, there in seen(OWNER, OPENS))


def test_after_the_reveal_only_the_final_entry_is_shown(tmp_path):
    made = made_with(tmp_path)
    systems, _ = clips()
    made.submit("weak", systems["strong"])
    own = Who("participant", "team-weak")
    with made.database as database:
        shown = open_view(database, "clips", own, now=REVEALS)
        first, last = shown.submissions("main")
        assert shown.scores("main", "blind", first) is None
        assert shown.scores("main", "blind", last)["cider"].score > 0


def test_drafts_are_for_organisers(made):
    with made.writing() as connection:
        connection.execute(update(tables.challenge).values(state="draft"))
    with pytest.raises(UnknownNameError, match="challenge"):
        open_view(made, "clips", VISITOR, now=OPENS)
    assert open_view(made, "clips", OWNER, now=OPENS).name == "Ten clips"
    with pytest.raises(UnknownNameError):
        open_view(made, "other", OWNER, now=OPENS)


def test_the_award_is_decided_when_the_scores_may_be_seen(made):
    assert open_view(made, "clips", now=REVEALS - 1).verdict() is None
    assert open_view(made, "clips", OWNER, now=CLOSES - 1).verdict() is None
    assert open_view(made, "clips", OWNER, now=CLOSES).verdict().winners == ["strong"]
    assert open_view(made, "clips", now=REVEALS).verdict().winners == ["strong"]


def test_a_board_that_another_version_kept_is_made_again(tmp_path, monkeypatch):
    made = made_with(tmp_path)
    with made.database as database:
        first = board(database, now=REVEALS)
        with database.writing() as connection:
            connection.execute(update(tables.board).values(content='{"form": "of long ago"}'))
        board_maker._kept.clear()
        monkeypatch.setattr(board_maker, "FORM", [*board_maker.FORM, ["BoardEntry", "new"]])
        assert board(database, now=REVEALS) == first


def test_winners_share_whether_the_board_was_kept_or_not(tmp_path):
    made = made_with(tmp_path)
    with made.database as database:
        made.team("twin")
        made.submit("twin", clips()[0]["strong"])  # nobody can tell it from the other

        def winners():
            verdict = open_view(database, "clips", VISITOR, now=REVEALS).verdict()
            return verdict.winners

        assert winners() == ["strong", "twin"]
        board_maker._kept.clear()  # another process, which finds the board in the database
        assert winners() == ["strong", "twin"]


def test_a_large_board_rests_while_scores_come_in_but_decisions_show_at_once(tmp_path, monkeypatch):
    moment = 1000.0
    monkeypatch.setattr(board_maker, "_LARGE", 4)
    monkeypatch.setattr(board_maker.time, "monotonic", lambda: moment)
    monkeypatch.setattr(board_maker.time, "thread_time", iter(range(100)).__next__)
    made = made_with(tmp_path)
    with made.database as database:
        first = board(database, now=REVEALS)
        made.team("late riser")
        made.submit("late riser", clips()[0]["weak"])
        assert board(database, now=REVEALS) is first
        assert board(database, OWNER, REVEALS) is not first
        moment += board_maker._REST + 1
        assert "late riser" in teams(board(database, now=REVEALS))
        with database.writing() as connection:
            named = update(tables.team).where(tables.team.c.name == "late riser")
            connection.execute(named.values(state="disqualified"))
        assert "late riser" not in teams(board(database, now=REVEALS))


def test_many_viewers_at_once_wait_for_one_board(made, monkeypatch):
    count = []
    stored = board_maker.BoardMaker._stored

    def counted(self, digest):
        count.append(digest)
        return stored(self, digest)

    monkeypatch.setattr(board_maker.BoardMaker, "_stored", counted)
    with ThreadPoolExecutor(8) as threads:
        boards = list(threads.map(lambda _: board(made, now=REVEALS), range(8)))
    assert len(count) == 1
    assert all(each is boards[0] for each in boards)
