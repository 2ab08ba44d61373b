"""The TOML file of a challenge, read into a `Definition` and checked as a whole.

`read_definition` reads a file, `parse_definition` the text that the database keeps. Files that a
definition names (references, pages, baselines) are looked for beside it; the text alone is enough
for a server, since all of them are in the database then.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from reelscore.campaigns.protocols import PROTOCOLS
from reelscore.challenges.definition.checks import check_definition, split_of
from reelscore.challenges.definition.records import (
    METRICS,
    Award,
    Baseline,
    Board,
    Columns,
    Definition,
    Feedback,
    Final,
    Human,
    Kind,
    Phase,
    PhaseLimits,
    Publish,
    Registration,
    Scoring,
    ScoringLimits,
    Split,
    Visibility,
)
from reelscore.challenges.definition.toml_tables import TomlTable, parse_toml
from reelscore.errors import DataError
from reelscore.stats.corrections import Correction

PAGES = ("overview", "rules", "data", "citation")
AWARD_RULES = ("column", "mean_rank", "points")
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


def read_definition(path: str | os.PathLike[str]) -> Definition:
    """Read and check the file of a challenge.

    Args:
        path: The TOML file; the files that it names lie beside it.

    Raises:
        DataError: With everything that is wrong, each with its line.

    >>> read_definition("none.toml")
    Traceback (most recent call last):
    reelscore.errors.DataError: none.toml: no such file.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DataError(f"{path}: no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}.") from None
    return parse_definition(text, str(path), path.parent)


@lru_cache(maxsize=32)
def parsed_definition(text: str) -> Definition:
    """Return the definition that the database keeps as a text; every page and every job asks."""
    return parse_definition(text)


def parse_definition(text: str, file: str = "definition", folder: Path | None = None) -> Definition:
    r"""Read and check the text of a definition.

    Args:
        text: The TOML text.
        file: Its name, for messages.
        folder: Where the files that it names must be; not looked for if ``None``.

    Raises:
        DataError: With everything that is wrong, each with its line.

    >>> parse_definition('[challenge]\nid = "x"\nnmae = "X"', "c.toml")
    Traceback (most recent call last):
    reelscore.errors.DataError: c.toml:1: [challenge] has no name; expected a text.
    c.toml:1: the file has no [[board]]; at least one is needed.
    c.toml:1: the file has no [[phase]]; at least one is needed.
    c.toml:1: the file has no [[split]]; at least one is needed.
    c.toml:3: [challenge] has no key 'nmae'; did you mean name?
    """
    file_table = parse_toml(text, file)
    problems = file_table.problems
    head = file_table.table("challenge")
    values = _challenge(head)
    values["splits"] = tuple(map(_split, file_table.tables("split")))
    values["scoring"] = _scoring(file_table.table("scoring"))
    values["phases"] = tuple(map(_phase, file_table.tables("phase")))
    values["boards"] = tuple(map(_board, file_table.tables("board")))
    values["humans"] = tuple(map(_human, file_table.tables("human")))
    values["award"] = _award(file_table.table("award")) if file_table.has("award") else None
    values["baselines"] = tuple(map(_baseline, file_table.tables("baseline")))
    values["publish"] = _publish(file_table.table("publish"))
    file_table.done()
    for kind in ("splits", "phases", "boards"):
        if not values[kind]:
            name = kind.removesuffix("s")
            problems.add((), f"the file has no [[{name}]]; at least one is needed.")
    definition = Definition(**values, text=text)
    check_definition(definition, problems, folder)
    problems.raise_if_any()
    return _with_splits(definition)


def _with_splits(definition: Definition) -> Definition:
    """Name the split of boards and human evaluations that leave it out."""
    return replace(
        definition,
        boards=tuple(replace(b, split=split_of(definition, b)) for b in definition.boards),
        humans=tuple(replace(h, split=split_of(definition, h)) for h in definition.humans),
    )


def _id(table: TomlTable) -> str:
    value = table.take("id", str)
    if value and not _ID.fullmatch(value):
        table.wrong("id", f"id is {value!r}; expected up to 60 of a-z, 0-9 and -, as in addresses.")
    return value


def _challenge(table: TomlTable) -> dict[str, Any]:
    values: dict[str, Any] = {"id": _id(table), "name": table.take("name", str)}
    pages = table.table("pages")
    values["pages"] = {name: pages.take(name, str) for name in PAGES if pages.has(name)}
    for name in PAGES:
        pages.take(name, str, "")  # so that it counts as known
    pages.done()
    values["contact"] = table.take("contact", str, "")
    values["registration"] = table.choice("registration", get_args(Registration), "open")
    teams = table.table("teams")
    values["largest_team"] = teams.number("largest", None, 1)
    values["teams_close"] = teams.time("close")
    teams.done()
    values["references"] = table.choice("references", ("members", "open"), "members")
    table.done()
    return values


def _split(table: TomlTable) -> Split:
    split = Split(
        id=_id(table),
        visibility=table.choice("visibility", get_args(Visibility)),  # type: ignore[arg-type]
        kind=table.choice("kind", get_args(Kind), "captions"),  # type: ignore[arg-type]
        references=table.texts("references", one=True),
        format=table.take("format", str, ""),
        part=table.take("part", str, ""),
        videos=table.take("videos", str, ""),
    )
    if not split.references:
        table.wrong("references", f"split {split.id!r} names no references; name a file.")
    if split.kind == "captions" and len(split.references) > 1:
        table.wrong("references", "references of captions are one file; put them together.")
    if split.videos and "{item}" not in split.videos:
        table.wrong("videos", "videos has no {item}, which stands for the item's id.")
    table.done()
    return split


def _scoring(table: TomlTable) -> Scoring:
    for policy in ("missing", "empty"):
        # anything else would let a team ask about single references
        table.choice(policy, ("error",), "error")
    limits = table.table("limits")
    standard = ScoringLimits()
    scoring = Scoring(
        metrics=table.texts("metrics", METRICS),
        scores=table.texts("scores"),
        protocol=table.table("protocol").rest(),
        tokenizer=table.take("tokenizer", str, "ptb"),
        resamples=table.number("resamples", 1000, 100, 100_000) or 1000,
        seed=table.number("seed", 12345) or 0,
        device=table.choice("device", ("cpu", "cuda"), "cpu"),
        limits=ScoringLimits(
            seconds=limits.number("seconds", standard.seconds, 1) or 1,
            memory_gb=limits.take("memory_gb", float, standard.memory_gb),
            caption_characters=limits.number("caption_characters", 2000, 1, 100_000) or 1,
            captions_per_story=limits.number("captions_per_story", 1000, 1, 100_000) or 1,
            upload_mb=limits.number("upload_mb", standard.upload_mb, 1, 64) or 1,
        ),
    )
    if scoring.limits.memory_gb < 0.5:
        limits.wrong("memory_gb", "memory_gb is below 0.5; no scorer fits in it.")
    limits.done()
    table.done()
    return scoring


def _phase(table: TomlTable) -> Phase:
    id, splits = _id(table), table.texts("splits")
    times = {key: table.time(key) for key in ("opens", "closes", "reveals")}
    for key in ("opens", "closes"):
        if times[key] is None and not table.has(key):
            table.problems.add(table.path, f"phase {id!r} has no {key}; expected a time.")
    feedback, steps, limits = table.table("feedback"), table.table("step"), table.table("limits")
    told: dict[str, Any] = {}
    for split in splits:
        told[split] = feedback.choice(split, get_args(Feedback), "full")
    phase = Phase(
        id=id,
        splits=splits,
        opens=times["opens"] or 0,
        closes=times["closes"] or 0,
        reveals=times["reveals"],
        feedback=told,
        step={split: _step(steps, split) for split in splits if steps.has(split)},
        limits=PhaseLimits(
            limits.number("per_day", None, 1),
            limits.number("total", None, 1),
            limits.number("concurrent", None, 1),
        ),
        final=table.choice("final", get_args(Final), "last"),  # type: ignore[arg-type]
        late=table.choice("late", ("refuse", "mark"), "refuse"),  # type: ignore[arg-type]
        after=table.choice("after", ("closed", "open"), "closed"),  # type: ignore[arg-type]
        listed=table.take("listed", bool, True),
        grace=table.number("grace", 600, 10, 86_400) or 600,
        priority=table.number("priority", 0) or 0,
        name=table.take("name", str, ""),
    )
    for part in (feedback, steps, limits, table):
        part.done()
    return phase


def _step(table: TomlTable, split: str) -> float | Literal["auto"]:
    value = table.any(split)
    if value == "auto":
        return "auto"
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1000:
        return float(value)
    table.wrong(split, f"step of {split} is {value!r}; expected a positive number or 'auto'.")
    return "auto"


def _board(table: TomlTable) -> Board:
    test = table.table("test")
    board = Board(
        id=_id(table),
        phase=table.take("phase", str),
        split=table.take("split", str, ""),
        primary=table.take("primary", str),
        columns=tuple(map(_columns, table.tables("columns"))),
        level=test.take("level", float, 0.05),
        correction=test.choice("correction", get_args(Correction), "holm"),
        name=table.take("name", str, ""),
    )
    if not 0 < board.level < 1:
        test.wrong("level", f"level is {board.level:g}; expected a number between 0 and 1.")
    test.done()
    table.done()
    return board


def _columns(table: TomlTable) -> Columns:
    columns = Columns(
        group=table.take("group", str, ""),
        scores=table.texts("scores"),
        human=table.take("human", str, ""),
        scale=table.take("scale", float, 1.0),
        precision=table.number("precision", None, 0, 12),
        ranked=table.take("ranked", bool, True),
    )
    if bool(columns.scores) == bool(columns.human):
        table.wrong("scores", "columns need either scores or human.")
    table.done()
    return columns


def _human(table: TomlTable) -> Human:
    quorum = table.any("quorum")
    if quorum is not None and not (
        isinstance(quorum, list)
        and len(quorum) == 2
        and all(type(k) is int for k in quorum)
        and 1 <= quorum[0] <= quorum[1]
    ):
        table.wrong("quorum", "quorum is two numbers, such as [2, 3] for 2 of 3 raters.")
        quorum = None
    human = Human(
        id=_id(table),
        phase=table.take("phase", str),
        split=table.take("split", str, ""),
        protocol=table.choice("protocol", tuple(PROTOCOLS)),
        items=table.number("items", None, 1),
        raters=table.number("raters", 1, 1) or 1,
        quorum=tuple(quorum) if quorum else None,
        seed=table.number("seed", 0) or 0,
        include_reference=table.take("include_reference", bool, False),
        layout=table.take("layout", str, ""),
        name=table.take("name", str, ""),
    )
    if quorum and quorum[1] != human.raters:
        table.wrong("quorum", f"quorum is of {quorum[1]} raters, raters is {human.raters}.")
    table.done()
    return human


def _award(table: TomlTable) -> Award:
    rule = table.choice("rule", AWARD_RULES)
    points = table.any("points")
    columns = table.texts("columns")
    if rule == "column":
        columns = (table.take("column", str),)
    if points is not None and not (
        isinstance(points, list) and points and all(type(k) is int and k >= 0 for k in points)
    ):
        table.wrong("points", "points is a list of whole numbers, such as [3, 2, 1].")
        points = None
    award = Award(
        rule=rule,  # type: ignore[arg-type]
        columns=columns,
        points=tuple(points or (3, 2, 1)),
        ties=table.texts("ties"),
        within_cluster=table.choice("within_cluster", ("share", "order"), "share"),  # type: ignore[arg-type]
        board=table.take("board", str, ""),
    )
    if not award.columns:
        table.wrong("columns", f"the rule {rule} needs columns.")
    table.done()
    return award


def _baseline(table: TomlTable) -> Baseline:
    baseline = Baseline(
        name=table.take("name", str),
        file=table.take("file", str),
        phase=table.take("phase", str),
        method=table.take("method", str, ""),
    )
    table.done()
    return baseline


def _publish(table: TomlTable) -> Publish:
    publish = Publish(table.take("captions", bool, False), table.take("items", bool, False))
    table.done()
    return publish
