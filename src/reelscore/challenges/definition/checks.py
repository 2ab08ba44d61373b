"""Checks of a whole definition: names that exist, times in order, files that are there."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from pathlib import Path

from reelscore.campaigns.hits.layouts import LAYOUTS
from reelscore.campaigns.protocols import PROTOCOLS
from reelscore.challenges.definition.records import (
    PAGES,
    Award,
    Board,
    Definition,
    Human,
    Kind,
    Phase,
    Scales,
    Scoring,
    Split,
)
from reelscore.challenges.definition.toml_tables import unknown_keys
from reelscore.errors import ReelscoreError, UnknownNameError


def score_name(definition: Definition, score: str) -> str:
    """Return what a score is called: that of a metric, or of people."""
    if score.startswith("human:"):
        return f"people's judgments ({score.removeprefix('human:').replace(':', ', ')})"
    for kind in {split.kind for split in definition.splits}:
        scale = definition.scoring.scales(kind).get(score)
        if scale is not None and scale.label:
            return scale.label
    return score


def definition_faults(definition: Definition, folder: Path | None) -> Iterator[str]:
    """Yield what is wrong with a definition beside single values: each with its key."""
    yield from unknown_keys(PAGES, definition.pages, "challenge.pages")
    yield from _repeated("split", definition.splits)
    yield from _repeated("phase", definition.phases)
    yield from _repeated("board", definition.boards)
    yield from _repeated("human", definition.humans)
    for k, split in enumerate(definition.splits):
        yield from _split_faults(split, f"split[{k}]")
    scales = yield from _scoring_faults(definition)
    for k, phase in enumerate(definition.phases):
        yield from _phase_faults(definition, phase, f"phase[{k}]")
    kinds = {split.id: split.kind for split in definition.splits}
    for k, board in enumerate(definition.boards):
        yield from _view_faults(definition, board, f"board[{k}]")
        kind = kinds.get(definition.split_of(board))
        if kind in scales:
            yield from _column_faults(definition, board, scales[kind], f"board[{k}]")
    for k, human in enumerate(definition.humans):
        yield from _view_faults(definition, human, f"human[{k}]")
        yield from _human_faults(human, f"human[{k}]")
    if definition.award is not None:
        yield from _award_faults(definition, definition.award)
    phases = [phase.id for phase in definition.phases]
    for k, baseline in enumerate(definition.baselines):
        yield from _unknown("phase", [baseline.phase], phases, f"baseline[{k}].phase")
    if folder is not None:
        yield from _missing_files(definition, folder)


def _repeated(key: str, views: Sequence[Split | Phase | Board | Human]) -> Iterator[str]:
    ids = [view.id for view in views]
    for k, id in enumerate(ids):
        if id in ids[:k]:
            yield f"{key}[{k}].id: there are two [[{key}]] with the id {id!r}."


def _unknown(kind: str, names: Iterable[str], known: Collection[str], path: str) -> Iterator[str]:
    for name in names:
        if name not in known:
            yield f"{path}: {UnknownNameError.of(kind, name, known)}"


def _split_faults(split: Split, path: str) -> Iterator[str]:
    if not split.files:
        yield f"{path}.references: split {split.id!r} names no references; name a file."
    if split.kind == "captions" and len(split.files) > 1:
        yield f"{path}.references: references of captions are one file; put them together."
    if split.videos and "{item}" not in split.videos:
        yield f"{path}.videos: videos has no {{item}}, which stands for the item's id."


def _scoring_faults(
    definition: Definition,
) -> Generator[str, None, dict[Kind, Scales]]:
    """Check metrics and protocol; return the scores for each kind of split that there is."""
    from reelscore.text.tokens import check_tokenizer

    scoring = definition.scoring
    scales: dict[Kind, Scales] = {}
    kinds = {split.kind for split in definition.splits}
    for kind in sorted(kinds):
        key = "metrics" if kind == "captions" else ("protocol" if scoring.protocol else "scores")
        try:
            scales[kind] = scoring.scales(kind)
        except ReelscoreError as error:
            yield f"scoring.{key}: {error}"
    if "stories" in scales:
        yield from _protocol_faults(scoring)
    if "captions" in kinds:
        try:
            check_tokenizer(scoring.tokenizer)
        except ReelscoreError as error:
            yield f"scoring.tokenizer: {error}"
    if "stories" not in kinds and (scoring.scores or scoring.protocol):
        yield "scoring.scores: scores and protocol are for stories; see metrics."
    return scales


def _protocol_faults(scoring: Scoring) -> Iterator[str]:
    """Refuse what would repair captions: bad times and empty sentences are always refused."""
    if scoring.story_protocol.missing != "zero":
        yield "scoring.protocol.missing must be 'zero': submissions are scored on the same videos."
    for name in ("reversed_segments", "negative", "beyond", "empty"):
        if (choice := scoring.protocol.get(name, "error")) != "error":
            path = f"scoring.protocol.{name}"
            yield f"{path} is {choice!r}; a challenge repairs no file: leave {name} out."


def _phase_faults(definition: Definition, phase: Phase, path: str) -> Iterator[str]:
    kinds = {split.id: split.kind for split in definition.splits}
    yield from _unknown("split", phase.splits, kinds, f"{path}.splits")
    if not phase.splits or len(set(phase.splits)) < len(phase.splits):
        yield f"{path}.splits: splits names at least one split, each once."
    if len({kinds[split] for split in phase.splits if split in kinds}) > 1:
        yield f"{path}.splits: one file holds a phase's splits; they must be of one kind."
    if phase.opens >= phase.closes:
        yield f"{path}.closes: phase {phase.id!r} closes before it opens."
    if phase.reveals is not None and phase.reveals < phase.closes:
        yield f"{path}.reveals: phase {phase.id!r} reveals before it closes."
    for key in ("feedback", "step"):
        yield from unknown_keys(phase.splits, getattr(phase, key), f"{path}.{key}")
    for split in phase.splits:
        yield from _feedback_faults(definition, phase, split, path)


def _feedback_faults(definition: Definition, phase: Phase, split: str, path: str) -> Iterator[str]:
    """Check what a phase tells of a split, and in which steps."""
    feedback, step = phase.feedback.get(split, "full"), phase.step.get(split)
    if feedback not in ("rounded", "ladder"):
        if step is not None:
            yield f"{path}.step.{split}: step of {split} has no use with feedback {feedback!r}."
        return
    if step is None:
        needed = f"step = {{ {split} = 0.01 }}"
        yield f"{path}.feedback.{split}: feedback {feedback!r} of {split} needs a step: {needed}."
    if feedback == "rounded":
        if step == "auto":
            yield f"{path}.step.{split}: step 'auto' is for the ladder; name a number."
        return
    if phase.limits.concurrent != 1:
        yield f"{path}.limits: the ladder needs limits.concurrent = 1, to make the order certain."
    boards = [board for board in definition.boards if board.phase == phase.id]
    if split not in map(definition.split_of, boards):
        reason = f"the ladder goes by a board's primary score; {split} has no board"
        yield f"{path}.feedback.{split}: {reason}."


def _view_faults(definition: Definition, view: Board | Human, path: str) -> Iterator[str]:
    """Check phase and split of a board or human evaluation."""
    phases = {phase.id: phase for phase in definition.phases}
    if view.phase not in phases:
        yield from _unknown("phase", [view.phase], phases, f"{path}.phase")
        return
    phase, split = phases[view.phase], definition.split_of(view)
    if not split:
        key = path.partition("[")[0]
        yield f"{path}: phase {phase.id!r} has several splits; name the split of this {key}."
    elif split not in phase.splits:
        splits = ", ".join(phase.splits)
        yield f"{path}.split: split {split!r} is not of phase {phase.id!r}, which has {splits}."


def _human_faults(human: Human, path: str) -> Iterator[str]:
    yield from _unknown("protocol", [human.protocol], PROTOCOLS, f"{path}.protocol")
    if human.layout:
        yield from _unknown("layout", [human.layout], LAYOUTS, f"{path}.layout")
    if human.include_reference and human.protocol != "ranking":
        yield f"{path}.include_reference: include_reference is for rankings only."
    if human.quorum is not None:
        least, most = human.quorum
        if human.protocol != "against-reference":
            yield f"{path}.quorum: quorum is for the protocol against-reference only."
        if least > most:
            yield f"{path}.quorum is {[least, most]}; expected the smaller number first."
        if most != human.raters:
            yield f"{path}.quorum: quorum is of {most} raters, raters is {human.raters}."


def _column_faults(
    definition: Definition, board: Board, scales: Scales, path: str
) -> Iterator[str]:
    yield from _unknown("score", [board.primary], scales, f"{path}.primary")
    scale = scales.get(board.primary)
    if scale is not None and (scale.together or scale.better == "neither"):
        yield (
            f"{path}.primary: primary is {board.primary!r}, which cannot be resampled or has no "
            "better side; choose a score that can be tested."
        )
    humans = [human.id for human in definition.humans]
    for k, columns in enumerate(board.columns):
        place = f"{path}.columns[{k}]"
        if bool(columns.scores) == bool(columns.human):
            yield f"{place}: columns need either scores or human."
        yield from _unknown("score", columns.scores, scales, f"{place}.scores")
        if columns.human:
            yield from _unknown("human evaluation", [columns.human], humans, f"{place}.human")
    names = [name for columns in board.columns for name in columns.scores]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{path}.columns: {name} stands in two columns."


def _award_faults(definition: Definition, award: Award) -> Iterator[str]:
    key = "column" if award.rule == "column" else "columns"
    if not award.columns or (key == "column") != bool(award.column):
        yield f"award.{key}: the rule {award.rule} needs {key}."
    boards = [board.id for board in definition.boards]
    if award.board:
        yield from _unknown("board", [award.board], boards, "award.board")
    judging = [board for board in definition.boards if award.board in ("", board.id)]
    groups = [group for board in judging for group in board.columns]
    known = {board.primary for board in judging}.union(*(group.scores for group in groups))
    for human in definition.humans:
        if human.id in [group.human for group in groups]:
            known |= _human_columns(human)
    yield from _unknown("column of a board", award.columns, known, f"award.{key}")
    yield from _unknown("column of a board", award.ties, known, "award.ties")


def _human_columns(human: Human) -> set[str]:
    """Return the columns that a human evaluation makes: one for each criterion it asks about."""
    criteria = PROTOCOLS[human.protocol].criteria if human.protocol in PROTOCOLS else ()
    if len(criteria) > 1:
        return {f"human:{human.id}:{criterion.name}" for criterion in criteria}
    return {f"human:{human.id}"}


def _missing_files(definition: Definition, folder: Path) -> Iterator[str]:
    files = [(f"challenge.pages.{page}", name) for page, name in definition.pages.items()]
    for k, split in enumerate(definition.splits):
        files += [(f"split[{k}].references", name) for name in split.files]
    files += [(f"baseline[{k}].file", each.file) for k, each in enumerate(definition.baselines)]
    for path, name in files:
        try:
            there = (folder / name).is_file()
        except (OSError, ValueError):
            there = False
        if name and not there:
            yield f"{path}: {name}: no such file beside the definition."
