"""A board as text, LaTeX, CSV, JSON, part of a page, and a picture over time."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import structs

from reelscore._records import resolved
from reelscore.challenges.boards.boards import (
    MARKS,
    PLACES,
    BoardColumn,
    BoardEntry,
    BoardFrame,
    Leaderboard,
)
from reelscore.challenges.definition import records as defined
from reelscore.challenges.store.kept_scores import ScoreForm, result_of, score_form
from reelscore.data.spreadsheet import spreadsheet_csv
from reelscore.data.tables.table import MetricResult, ScoreTable
from reelscore.errors import DataError
from reelscore.report.pages import as_it_is, template_environment
from reelscore.report.safe_text import shortened
from reelscore.report.tables.grid import Cell, Grid
from reelscore.report.tables.leaderboard import score_cell
from reelscore.store.values import to_iso

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from reelscore.challenges.store.results import SubmissionRecord
    from reelscore.challenges.views import View

_WIDTH, _HEIGHT = 520, 260  # of the picture over time, in its own units
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 28, 30
_LETTER = 9  # about as wide as a letter is at most


class EntryColumn(NamedTuple):
    """A column that is not a score: what it says of an entry, and which forms of a board have it.

    Every form reads `ENTRY_COLUMNS`. A new column is an entry there, and a field of `BoardEntry`
    where it says what boards do not know yet; JSON has all fields.
    """

    name: str  # its heading in CSV, which has all of them, and in text
    value: Callable[[BoardEntry], object]  # the value in full
    heading: str = ""  # on pages; empty where they do not have it
    leads: bool = False  # whether it stands before the scores; in CSV all do
    in_text: bool = False  # whether a terminal and a paper have it
    cell: Callable[[BoardEntry], Cell] | None = None  # where text is not the value

    def text(self, row: BoardEntry) -> Cell:
        """Return its cell for a terminal or a paper."""
        return Cell(str(self.value(row))) if self.cell is None else self.cell(row)


def _team(row: BoardEntry) -> Cell:
    mark = MARKS[row.kind]
    return Cell(row.team, f" {mark}" if mark else "")


def _rank(row: BoardEntry) -> int | str:
    return int(row.rank.removeprefix("=")) if row.rank else ""


ENTRY_COLUMNS = (
    EntryColumn("cluster", lambda row: row.cluster or "", "Cluster", leads=True, in_text=True),
    EntryColumn(
        "rank", _rank, "Rank", leads=True, in_text=True, cell=lambda row: Cell(rank_text(row))
    ),
    EntryColumn("first", lambda row: row.ranks[0] if row.ranks else ""),
    EntryColumn("last", lambda row: row.ranks[1] if row.ranks else ""),
    EntryColumn("team", attrgetter("team"), "Team", leads=True, in_text=True, cell=_team),
    EntryColumn("kind", attrgetter("kind")),
    EntryColumn("place", attrgetter("place")),
    EntryColumn("submission", attrgetter("id")),
    EntryColumn("arrived", lambda row: to_iso(row.arrived), "When (UTC)"),
    EntryColumn("entries", attrgetter("entries"), "Entries", in_text=True),
)


def board_grid(board: Leaderboard) -> Grid:
    """Lay a board out for a terminal or a paper."""
    own = sorted((c for c in ENTRY_COLUMNS if c.in_text), key=lambda column: column.name != "team")
    leading = [column for column in own if column.leads]
    behind = [column for column in own if not column.leads]
    best = board.best if len(board.rows) > 1 else {}

    def score(column: BoardColumn, row: BoardEntry) -> Cell:
        result = board.table[row.id].get(column.score)
        leads = (
            result is not None
            and row.cluster is not None
            and result.score == best.get(column.score)
        )
        return structs.replace(score_cell(result, column.form), best=leads)

    rows = [
        [
            *(column.text(row) for column in leading),
            *(score(column, row) for column in board.columns),
            *(column.text(row) for column in behind),
        ]
        for row in board.all_rows
    ]
    heads = [column.heading for column in board.columns]
    heads = [*(column.name for column in leading), *heads, *(column.name for column in behind)]
    intervals = any(cell.under for row in rows for cell in row)
    key = [*board_notes(board), *(["± is half of a 95 % interval."] if intervals else [])]
    return Grid(heads, rows, notes=key)


def rank_text(row: BoardEntry) -> str:
    """A row's rank, with the range of places that the test leaves it.

    >>> rank_text(BoardEntry("a", "T", 1, rank="=2", cluster=1, ranks=(1, 3)))
    '=2 (1–3)'
    """
    if row.ranks is None or row.ranks[0] == row.ranks[1]:
        return row.rank
    return f"{row.rank} ({row.ranks[0]}–{row.ranks[1]})"


def score_text(column: BoardColumn, result: MetricResult) -> str:
    """A score with its interval, where there is one.

    >>> from reelscore.data.tables.scales import NumberFormat
    >>> column = BoardColumn("cider", form=NumberFormat(100, 1))
    >>> score_text(column, result_of("cider", {"value": 0.3, "low": 0.25, "high": 0.35}))
    '30.0 [25.0 35.0]'
    """
    text = column.form.text(result.score)
    if result.interval is None:
        return text
    low, high = map(column.form.text, result.interval)
    return f"{text} [{low} {high}]"


def board_notes(board: Leaderboard) -> list[str]:
    """What a reader of a board has to know, a sentence each."""
    notes = [f"Ordered by {board.primary_column.label}."]
    if board.test:
        notes.append(
            f"Entries of different clusters differ significantly ({board.test}); the range behind "
            "a rank gives the places that the test leaves open."
        )
    if board.final == "best":
        notes.append("Of each team the best entry counts: the best of many is flattered.")
    kinds = {row.kind for row in board.all_rows}
    keys = {"organisers": "* marks organisers' entries.", "baseline": "b marks baselines."}
    notes += [text for kind, text in keys.items() if kind in kinds]
    for place in ("late", "after"):
        if any(row.place == place for row in board.below):
            notes.append(f"Without a rank: entries that came {_PLACE_WORDS[place]}.")
    return [*notes, *board.notes]


_PLACE_WORDS = {"late": "late", "after": "after the end of the phase"}


def board_csv(board: Leaderboard) -> str:
    """Write a board for a spreadsheet, numbers in full."""
    heads = [column.name for column in ENTRY_COLUMNS]
    for column in board.columns:
        heads += [column.score, f"{column.score}_low", f"{column.score}_high"]
    rows: list[list[object]] = [list(heads)]
    for row in board.all_rows:
        cells = [own.value(row) for own in ENTRY_COLUMNS]
        for column in board.columns:
            result = board.table[row.id].get(column.score)
            numbers = (None,) * 3 if result is None else score_form(result).values()
            cells += ["" if number is None else repr(number) for number in numbers]
        rows.append(cells)
    return spreadsheet_csv(rows)


# what the data of a board looks like: a board that was kept with other fields is made again
FORM = [
    *([each.name for each in fields(kind)] for kind in (Leaderboard, BoardColumn, BoardEntry)),
    list(ScoreForm.__annotations__),
]


def board_dict(board: Leaderboard) -> dict[str, object]:
    """Return a board as plain data, ready for JSON; `board_of` reads it again."""
    return {
        "board": board.id,
        **_plain(board, "id", "columns", "rows", "below", "table"),
        "signatures": board.signatures,
        "columns": [_column_dict(column) for column in board.columns],
        "rows": [_row_dict(board, row) for row in board.rows],
        "below": [_row_dict(board, row) for row in board.below],
    }


def _plain(known: BoardEntry | Leaderboard, *no: str) -> dict[str, object]:
    return {each.name: getattr(known, each.name) for each in fields(known) if each.name not in no}


def _column_dict(column: BoardColumn) -> dict[str, object]:
    return {
        "score": column.score,
        "label": column.label,
        "group": column.group,
        "better": column.scale.better,
        **structs.asdict(column.form),
        "ranked": column.ranked,
    }


def _row_dict(board: Leaderboard, row: BoardEntry) -> dict[str, object]:
    return {
        **_plain(row, "id", "arrived", "given_up", "people_clusters"),
        "submission": row.id,
        "arrived": to_iso(row.arrived),
        "arrived_us": row.arrived,
        "scores": {
            name: score_form(result) | {"cluster": row.people_clusters.get(name)}
            for name, result in board.table[row.id].items()
        },
    }


def board_of(data: Mapping[str, Any]) -> Leaderboard:
    """Make a board of what `board_dict` gave; it has no resamples, which only ranking needs.

    The data may be of a server of another version: fields that it does not have get their
    defaults, and what is not known here is left out.
    """
    rows = {place: [_row_form(part) for part in data[place]] for place in ("rows", "below")}
    columns = [{**part, "scale": part, "form": part} for part in data["columns"]]
    scores = {part["submission"]: part["scores"] for part in (*data["rows"], *data["below"])}
    try:
        own = {**data, "id": data["board"], "columns": columns, **rows}
        frame = msgspec.convert(own, resolved(BoardFrame))
        forms = msgspec.convert(scores, resolved(dict[str, dict[str, ScoreForm]]))
    except msgspec.ValidationError as error:
        raise DataError(
            f"The board {data['board']!r} is not as boards here are: {error}."
        ) from None
    signatures = data.get("signatures", {})
    table = {
        id: {
            c.score: result_of(c.score, own[c.score], signatures.get(c.score, ""), c.scale)
            for c in frame.columns
            if c.score in own
        }
        for id, own in forms.items()
    }
    return Leaderboard(**vars(frame), table=ScoreTable(table))


def _row_form(part: Mapping[str, Any]) -> dict[str, Any]:
    clusters = {name: own["cluster"] for name, own in part["scores"].items() if own.get("cluster")}
    own = {"id": part["submission"], "arrived": part["arrived_us"], "people_clusters": clusters}
    return {**part, **own}


def board_json(board: Leaderboard) -> str:
    """Write a board as JSON, numbers in full."""
    return json.dumps(board_dict(board), ensure_ascii=False, indent=1) + "\n"


@cache
def _environment() -> Environment:
    environment = template_environment("reelscore.challenges")
    environment.globals |= {
        "rank_text": rank_text,
        "score_text": score_text,
        "marks": MARKS,
        "places": PLACES,
        "to_iso": to_iso,
    }
    return environment


def render(template: str, **context: object) -> str:
    """Render one of the templates of challenges."""
    return _environment().get_template(template).render(context)


class ColumnGroup(NamedTuple):
    """Columns beside each other under one heading."""

    name: str
    width: int


def column_groups(columns: Sequence[BoardColumn]) -> list[ColumnGroup]:
    """The headings above the columns; empty where no column has one."""
    parts = groupby(columns, key=lambda column: column.group)
    groups = [ColumnGroup(name, len(list(part))) for name, part in parts]
    return groups if any(group.name for group in groups) else []


def board_html(board: Leaderboard) -> Markup:
    """Write a board as part of a page: the table, its notes and the signatures."""
    text = render(
        "board.html",
        board=board,
        leading=[column for column in ENTRY_COLUMNS if column.heading and column.leads],
        behind=[column for column in ENTRY_COLUMNS if column.heading and not column.leads],
        groups=column_groups(board.columns),
        primary=board.primary_column,
        best=board.best,
        notes=board_notes(board),
        signatures=list(dict.fromkeys(board.signatures.values())),
    )
    return as_it_is(text)


def history_svg(board: Leaderboard) -> Markup:
    """Draw the entries of a board over time, and the best score so far as a line."""
    rows = board.rows
    if len({row.arrived for row in rows}) < 2:
        return as_it_is("")
    column = board.primary_column
    factor = column.form.factor
    scores = {row.id: board.table[row.id][board.primary] for row in rows}
    ends = [end for s in scores.values() for end in (s.score, *(s.interval or ()))]
    ticks = _ticks(min(ends) * factor, max(ends) * factor)
    low, high = ticks[0] / factor, ticks[-1] / factor
    times = sorted(row.arrived for row in rows)
    begin, span = times[0], max(times[-1] - times[0], 1)

    def x(time: int) -> float:
        return round(_LEFT + (time - begin) / span * (_WIDTH - _LEFT - _RIGHT - 60) + 30, 1)

    def y(value: float) -> float:
        return round(_TOP + (high - value) / (high - low) * (_HEIGHT - _TOP - _BOTTOM), 1)

    sign = column.scale.sign
    best, path, points = None, "", []
    for row in sorted(rows, key=lambda row: row.arrived):
        score = scores[row.id]
        across, down = x(row.arrived), y(score.score)
        leads = best is None or sign * (score.score - best) > 0
        if leads:
            path += f"M{across} {down}" if best is None else f"H{across}V{down}"
            best = score.score
        interval = None if score.interval is None else tuple(map(y, score.interval))
        team = shortened(row.team, 24)
        left = across - _LETTER * len(team) > _LEFT  # the line comes from below
        points.append(
            {
                "x": across,
                "y": down,
                "interval": interval,
                "leads": leads,
                "team": team,
                "kind": row.kind,
                "text": column.form.text(score.score),
                "anchor": "end" if left else "start",
                "shift": -7 if left else 7,
            }
        )
    path += f"H{_WIDTH - _RIGHT}"
    days = {(to_iso(time) or "")[:10]: time for time in (times[-1], times[0])}
    text = render(
        "history.svg",
        width=_WIDTH,
        height=_HEIGHT,
        left=_LEFT,
        right=_WIDTH - _RIGHT,
        bottom=_HEIGHT - _BOTTOM,
        label=column.heading,
        title=f"{column.label} of {len(rows)} entries over time",
        path=path,
        points=points,
        ticks=[(y(tick / factor), f"{tick:g}") for tick in ticks],
        days=[(x(time), day) for day, time in reversed(days.items())],
    )
    return as_it_is(text)


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers from below the lowest value to above the highest, two to seven of them.

    >>> _ticks(3.9, 186.3), _ticks(0.5, 0.5)
    ([0.0, 50.0, 100.0, 150.0, 200.0], [0.5, 0.6])
    """
    span = high - low or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(span / 4))
    step = next(each * power for each in (1, 2, 2.5, 5, 10) if span / (each * power) <= 5)
    first = math.floor(low / step)
    last = max(math.ceil(high / step), first + 1)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


@dataclass(frozen=True)
class TeamLine:
    """A team below a board."""

    team: str  # its name
    members: Sequence[str] = ()  # who is in it, where that may be known
    # files of captions: what each is called, and where it is
    files: list[tuple[str, str]] = field(default_factory=list)


def team_lines(
    view: View,
    board: defined.Board,
    names: Mapping[int, str],
    address: Callable[[SubmissionRecord], str],
) -> list[TeamLine]:
    """List the teams of a board of which the viewer may see members or captions."""
    members = view.board_members(board.id)
    lines = {
        team: TeamLine(team, [names[account] for account in accounts if account in names])
        for team, accounts in members.items()
    }
    for record in published_captions(view, board):
        line = lines.setdefault(record.team_name, TeamLine(record.team_name))
        line.files.append(("captions", address(record)))
    shown = [line for line in lines.values() if line.members or line.files]
    return sorted(shown, key=lambda line: line.team.casefold())


def named_members(view: View) -> set[int]:
    """Return the accounts of all members that the viewer may know."""
    boards = [view.board_members(id) for id in view.boards()]
    return {account for teams in boards for accounts in teams.values() for account in accounts}


def published_captions(view: View, board: defined.Board) -> list[SubmissionRecord]:
    """List the entries on a board whose captions the viewer may see, oldest first."""
    seen = view.board(board.id)
    on_board = {row.id for row in seen.all_rows} if seen else set()
    return [
        record
        for record in view.entries_of(board.phase)
        if record.id in on_board and view.may_see("captions", board.phase, board.split, record)
    ]


def teams_html(lines: Sequence[TeamLine]) -> Markup:
    """Write the lines as part of a page; nothing where there are none."""
    return as_it_is(render("board_teams.html", lines=lines) if lines else "")
