"""A year of TRECVid as a challenge, from a small made-up copy of its data."""

from __future__ import annotations

import pytest

from reelscore.challenges.exchange.archive import citation
from reelscore.challenges.store.tables import open_challenges
from reelscore.errors import DataError, UnknownNameError
from reelscore.store.values import from_iso
from reelscore_studies.trecvid import trecvid_challenge
from support.challenge_data import open_view
from support.trecvid_copy import SYSTEMS, write_copy


def on_the_scale(folder):
    """Bring the made-up ratings between 0 and 100, as people's are."""
    path = folder / "ad-seg-scores-en-en.csv"
    head, *lines = path.read_text().splitlines()
    rows = [line.split(",") for line in lines]
    place = head.split(",").index("RAW.SCR")
    for row in rows:
        row[place] = str(min(100, max(0, float(row[place]))))
    path.write_text("\n".join([head, *map(",".join, rows)]) + "\n")


def test_every_system_is_a_team_and_people_decide(tmp_path):
    data = write_copy(tmp_path / "data")
    on_the_scale(data / "multiple-annotator" / "2018")
    where = trecvid_challenge(data, "MA-2018", tmp_path / "made")
    assert where == tmp_path / "made" / "trecvid-2018.db"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    with open_challenges(where) as database:
        view = open_view(database, "trecvid-2018", now=from_iso("2019-01-01T00:00:00Z"))
        board, verdict = view.board("test"), view.verdict()
        assert citation(view).startswith("@misc{trecvid2018,")
        assert not view.board_history("test")  # all came at once
    scores = {row.team: board.table[row.id] for row in board.rows}
    assert set(scores) == set(SYSTEMS)
    assert all(own["cider"].score > 0 for own in scores.values())
    assert "People (z)" in [column.label for column in board.columns]
    by_people = max(scores, key=lambda team: scores[team]["human:da"].score)
    assert by_people in verdict.winners
    with pytest.raises(DataError, match="is there already"):
        trecvid_challenge(data, "MA-2018", tmp_path / "made")


def test_nothing_is_left_of_what_cannot_be_made(tmp_path):
    with pytest.raises(UnknownNameError, match="SA-2020"):
        trecvid_challenge(tmp_path, "SA-2200", tmp_path / "made")
    with pytest.raises(DataError):
        trecvid_challenge(tmp_path, "SA-2020", tmp_path / "made")
    assert list(tmp_path.iterdir()) == []
