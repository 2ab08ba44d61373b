"""Results, score tables and columns of boards, made in a line."""

from __future__ import annotations

from reelscore.challenges.boards.boards import BoardColumn
from reelscore.challenges.store.kept_scores import ScoredSplit, draws_file
from reelscore.data.tables.scales import Scale
from reelscore.data.tables.table import Draws, MetricResult, ScoreTable


def made_result(name, value, low=None, high=None, *, signature="", drawn=None, better="high"):
    """Make a result, with an interval and resampled scores where these are given."""
    interval = None if low is None else (low, high)
    draws = None if drawn is None else Draws.of_scores(name, drawn)
    own = {"signature": signature, "interval": interval, "scale": Scale(better), "draws": draws}
    return MetricResult(name, value, **own)


def split_of(*results):
    """Make what a scorer gives of a split."""
    scores = {each.metric: each for each in results}
    return ScoredSplit(scores, {"draws": draws_file(scores)})


def table_of(entries):
    """Make a table of the results of entries, by their ids."""
    return ScoreTable(
        {id: {each.metric: each for each in results} for id, results in entries.items()}
    )


def column(score, label="", better="high", **fields):
    """Make a column of a board."""
    return BoardColumn(score, Scale(better, label=label), **fields)


def scores_by_team(board):
    """Return the scores of ranked entries, by team."""
    return {row.team: board.table[row.id] for row in board.rows}
