"""Checks of a whole definition: names that exist, times in order, files that are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reelscore.campaigns.hits.layouts import LAYOUTS
from reelscore.campaigns.protocols import PROTOCOLS
from reelscore.challenges.definition.records import Board, Definition, Human, Kind, Phase, Scoring
from reelscore.challenges.definition.toml_tables import LineProblems
from reelscore.data.tables.scales import Scale
from reelscore.errors import ReelscoreError, UnknownNameError
from reelscore.stories.protocol import Protocol


def story_protocol(scoring: Scoring) -> Protocol:
    """Return the protocol that stories are scored by.

    Raises:
        ReelscoreError: If the choices are not valid.

    >>> story_protocol(Scoring(scores=("soda_c",), protocol={"annotators": "mean"})).scores
    ('soda_c',)
    """
    scores = {"scores": scoring.scores} if scoring.scores else {}
    return Protocol().but(**scores, **scoring.protocol)


def score_scales(scoring: Scoring, kind: Kind) -> dict[str, Scale]:
    """Return the scores that a submission gets, in order, and how each is read.

    Raises:
        ReelscoreError: If a metric or a choice is not valid.

    >>> list(score_scales(Scoring(metrics=("bleu|n:2", "cider")), "captions"))
    ['bleu_1', 'bleu_2', 'cider']
    """
    if kind == "stories":
        return _story_scales(story_protocol(scoring))
    from reelscore.metrics.registry import table_columns

    return {
        name: columns.metric.scale_of(output)
        for columns in table_columns(scoring.metrics)
        for name, output in zip(columns.names, columns.metric.outputs, strict=True)
        if name in columns.wanted
    }


def _story_scales(protocol: Protocol) -> dict[str, Scale]:
    from reelscore.metrics.registry import resolve
    from reelscore.stories import video_scores as kinds
    from reelscore.stories.protocol import ACTIVITYNET

    choices = ("", "", "", "", "")
    soda = {
        "soda_a": kinds.SodaA(*choices, ""),
        "soda_b": kinds.SodaB(*choices),
        "soda_c": kinds.SodaC(*choices),
    }
    made: list[kinds.VideoScores] = [soda[name] for name in protocol.soda_scores]
    if ACTIVITYNET in protocol.scores:
        made.append(kinds.ActivityNet("", "", 1, 0.0, tuple(resolve(protocol.metrics))))
    return {name: each.scale_of(name) for each in made for name in each.outputs}


def check_definition(definition: Definition, problems: LineProblems, folder: Path | None) -> None:
    """Note everything that is wrong with a definition beside single values.

    Args:
        definition: What was read.
        problems: Where to note it.
        folder: Where the files that it names must be; not looked for if ``None``.
    """
    for key, views in (
        ("split", definition.splits),
        ("phase", definition.phases),
        ("board", definition.boards),
        ("human", definition.humans),
    ):
        _check_ids(key, views, problems)
    scales = _check_scoring(definition, problems)
    splits = {split.id: split for split in definition.splits}
    for k, phase in enumerate(definition.phases):
        _check_phase(definition, phase, ("phase", k), problems)
    phases = {phase.id: phase for phase in definition.phases}
    for k, board in enumerate(definition.boards):
        path = ("board", k)
        split = _check_view("board", board, definition, path, problems)
        if split in splits and splits[split].kind in scales:
            _check_columns(definition, board, scales[splits[split].kind], path, problems)
    for k, human in enumerate(definition.humans):
        path = ("human", k)
        _check_view("human", human, definition, path, problems)
        if human.layout and human.layout not in LAYOUTS:
            error = UnknownNameError.of("layout", human.layout, LAYOUTS)
            problems.add((*path, "layout"), str(error))
        if human.include_reference and human.protocol != "ranking":
            problems.add((*path, "include_reference"), "include_reference is for rankings only.")
        if human.quorum and human.protocol != "against-reference":
            problems.add((*path, "quorum"), "quorum is for the protocol against-reference only.")
    _check_award(definition, problems)
    for k, baseline in enumerate(definition.baselines):
        if baseline.phase not in phases:
            _unknown("phase", baseline.phase, phases, ("baseline", k, "phase"), problems)
    if folder is not None:
        _check_files(definition, folder, problems)


def _check_ids(key: str, views: Sequence[Any], problems: LineProblems) -> None:
    ids: set[str] = set()
    for k, view in enumerate(views):
        if view.id in ids:
            problems.add((key, k, "id"), f"there are two [[{key}]] with the id {view.id!r}.")
        ids.add(view.id)


def _unknown(
    kind: str, name: str, known: Mapping[str, object] | set[str], path: Any, problems: LineProblems
) -> None:
    problems.add(path, str(UnknownNameError.of(kind, name, known)))


def _check_scoring(definition: Definition, problems: LineProblems) -> dict[Kind, dict[str, Scale]]:
    """Check metrics and protocol, for the kinds of splits that there are."""
    from reelscore.text.tokens import check_tokenizer

    scoring = definition.scoring
    scales: dict[Kind, dict[str, Scale]] = {}
    kinds = {split.kind for split in definition.splits}
    for kind in sorted(kinds):
        key = "metrics" if kind == "captions" else ("protocol" if scoring.protocol else "scores")
        try:
            scales[kind] = score_scales(scoring, kind)
            if kind == "stories" and story_protocol(scoring).missing != "zero":
                message = "missing must be 'zero': all submissions are scored on the same videos."
                problems.add(("scoring", "protocol", "missing"), message)
            if kind == "stories":
                _check_repairs(scoring, problems)
        except ReelscoreError as error:
            problems.add(("scoring", key), str(error))
    if "captions" in kinds:
        try:
            check_tokenizer(scoring.tokenizer)
        except ReelscoreError as error:
            problems.add(("scoring", "tokenizer"), str(error))
    if "stories" not in kinds and (scoring.scores or scoring.protocol):
        problems.add(("scoring", "scores"), "scores and protocol are for stories; see metrics.")
    return scales


def _check_repairs(scoring: Scoring, problems: LineProblems) -> None:
    """Refuse what would repair captions: bad times and empty sentences are always refused."""
    for name in ("reversed_segments", "negative", "beyond", "empty"):
        choice = scoring.protocol.get(name, "error")
        if choice != "error":
            message = f"{name} is {choice!r}; a challenge repairs no file: leave {name} out."
            problems.add(("scoring", "protocol", name), message)


def _check_phase(definition: Definition, phase: Phase, path: Any, problems: LineProblems) -> None:
    splits = {split.id: split for split in definition.splits}
    for split in phase.splits:
        if split not in splits:
            _unknown("split", split, splits, (*path, "splits"), problems)
    if not phase.splits or len(set(phase.splits)) < len(phase.splits):
        problems.add((*path, "splits"), "splits names at least one split, each once.")
    if len({splits[split].kind for split in phase.splits if split in splits}) > 1:
        problems.add(
            (*path, "splits"), "one file holds a phase's splits; they must be of one kind."
        )
    if phase.opens and phase.closes and phase.opens >= phase.closes:
        problems.add((*path, "closes"), f"phase {phase.id!r} closes before it opens.")
    if phase.reveals is not None and phase.reveals < phase.closes:
        problems.add((*path, "reveals"), f"phase {phase.id!r} reveals before it closes.")
    for split, feedback in phase.feedback.items():
        step = phase.step.get(split)
        if feedback in ("rounded", "ladder") and step is None:
            message = f"feedback {feedback!r} of {split} needs a step: step = {{ {split} = 0.01 }}."
            problems.add((*path, "feedback", split), message)
        if feedback not in ("rounded", "ladder") and step is not None:
            message = f"step of {split} has no use with feedback {feedback!r}."
            problems.add((*path, "step", split), message)
        if feedback == "rounded" and step == "auto":
            problems.add((*path, "step", split), "step 'auto' is for the ladder; name a number.")
        if feedback == "ladder":
            if phase.limits.concurrent != 1:
                message = "the ladder needs limits.concurrent = 1, so that the order is certain."
                problems.add((*path, "limits"), message)
            boards = [board for board in definition.boards if board.phase == phase.id]
            if split not in [split_of(definition, board) for board in boards]:
                message = f"the ladder goes by a board's primary score; {split} has no board."
                problems.add((*path, "feedback", split), message)


def split_of(definition: Definition, view: Board | Human) -> str:
    """Return the split of a board or a human evaluation; empty where it must be named and is not.

    Without a name it is the phase's only one; of a human evaluation that of the phase's only board.
    """
    phases = {phase.id: phase for phase in definition.phases}
    if view.split or view.phase not in phases:
        return view.split
    if len(splits := phases[view.phase].splits) == 1:
        return splits[0]
    boards = [board for board in definition.boards if board.phase == view.phase]
    return boards[0].split if isinstance(view, Human) and len(boards) == 1 else ""


def _check_view(
    key: str, view: Board | Human, definition: Definition, path: Any, problems: LineProblems
) -> str:
    """Check phase and split of a board or human evaluation; give the split."""
    phases = {phase.id: phase for phase in definition.phases}
    if view.phase not in phases:
        _unknown("phase", view.phase, phases, (*path, "phase"), problems)
        return ""
    phase = phases[view.phase]
    split = split_of(definition, view)
    if not split:
        message = f"phase {phase.id!r} has several splits; name the split of this {key}."
        problems.add(path, message)
    elif split not in phase.splits:
        message = f"split {split!r} is not of phase {phase.id!r}, which has "
        problems.add((*path, "split"), f"{message}{', '.join(phase.splits)}.")
    return split


def _check_columns(
    definition: Definition,
    board: Board,
    scales: Mapping[str, Scale],
    path: Any,
    problems: LineProblems,
) -> None:
    if board.primary not in scales:
        _unknown("score", board.primary, scales, (*path, "primary"), problems)
    elif (scale := scales[board.primary]).together or scale.better == "neither":
        message = (
            f"primary is {board.primary!r}, which cannot be resampled or has no better side; "
            "choose a score that can be tested."
        )
        problems.add((*path, "primary"), message)
    humans = {human.id: human for human in definition.humans}
    names: list[str] = []
    for k, columns in enumerate(board.columns):
        place = (*path, "columns", k)
        for score in columns.scores:
            if score not in scales:
                _unknown("score", score, scales, (*place, "scores"), problems)
        if columns.human and columns.human not in humans:
            _unknown("human evaluation", columns.human, humans, (*place, "human"), problems)
        names += columns.scores
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.add((*path, "columns"), f"{name} stands in two columns.")


def _check_award(definition: Definition, problems: LineProblems) -> None:
    award = definition.award
    if award is None:
        return
    boards = {board.id: board for board in definition.boards}
    if award.board and award.board not in boards:
        _unknown("board", award.board, boards, ("award", "board"), problems)
    judging = [b for id, b in boards.items() if award.board in ("", id)]
    known = {score for board in judging for group in board.columns for score in group.scores}
    known |= {board.primary for board in judging}
    shown = {group.human for board in judging for group in board.columns if group.human}
    for human in definition.humans:
        if human.id in shown:
            known |= _human_columns(human)
    for key, columns in (("columns", award.columns), ("ties", award.ties)):
        for column in columns:
            place = ("award", "column" if award.rule == "column" and key == "columns" else key)
            if column and column not in known:
                _unknown("column of a board", column, known, place, problems)


def _human_columns(human: Human) -> set[str]:
    """Return the columns that a human evaluation makes: one for each criterion it asks about."""
    criteria = PROTOCOLS[human.protocol].criteria if human.protocol in PROTOCOLS else ()
    if len(criteria) > 1:
        return {f"human:{human.id}:{criterion.name}" for criterion in criteria}
    return {f"human:{human.id}"}


def _check_files(definition: Definition, folder: Path, problems: LineProblems) -> None:
    files: list[tuple[Any, str]] = []
    for k, split in enumerate(definition.splits):
        files += [(("split", k, "references"), name) for name in split.references]
    files += [(("challenge", "pages", page), name) for page, name in definition.pages.items()]
    files += [(("baseline", k, "file"), each.file) for k, each in enumerate(definition.baselines)]
    for path, name in files:
        try:
            there = (folder / name).is_file()
        except (OSError, ValueError):
            there = False
        if name and not there:
            problems.add(path, f"{name}: no such file beside the definition.")
