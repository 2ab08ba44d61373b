"""Results about a whole corpus: clips, names, splits, each made from the one before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from reelscore.corpus.project import Project, State
from reelscore.corpus.release.clip_assembly import clip_files
from reelscore.corpus.results import fingerprint, is_fresh, origin, read_result, write_result
from reelscore.errors import DataError

STAGES = {"assemble": "clips.json", "anonymise": "names.json", "split": "splits.json"}
"""The commands that work on a whole corpus, in their order, and the file of each result."""


def stage_result(project: Project, stage: str) -> dict[str, Any]:
    """Read the result of a stage.

    Args:
        project: The project.
        stage: The command that makes it.

    Raises:
        DataError: If it was not made yet, or from files that have changed since.
    """
    path = project.folder / STAGES[stage]
    if not path.is_file():
        raise DataError(f"{path}: there is no such file yet; run 'reelscore corpus {stage}' first.")
    result = read_result(path)
    changed = _changed_input(project, stage, result)
    if changed is not None:
        raise DataError(
            f"{project.folder / changed} has changed since {path.name} was made; run 'reelscore "
            f"corpus {stage}' again first."
        )
    return result


def stage_inputs(project: Project, stage: str) -> dict[str, str | Path]:
    """List the files of a project that a stage reads, by their places in it.

    Args:
        project: The project.
        stage: The command.
    """
    if stage == "assemble":
        return clip_files(project)
    if stage == "split":
        names = ["corpus.json", "clips.json"]
    else:
        names = ["clips.json", *(f"films/{film_id}/script.json" for film_id in project.films)]
    places = {name: project.folder / name for name in names}
    return {name: place for name, place in places.items() if place.is_file()}


def _changed_input(project: Project, stage: str, result: Mapping[str, Any]) -> str | None:
    """Return the first file that is no longer as it was for a result, or that was not there."""
    names = {recorded["path"] for recorded in result.get("inputs", ())}
    for name in stage_inputs(project, stage):
        if name not in names:
            return name
    for recorded in result.get("inputs", ()):
        name = recorded["path"]
        place = project.folder / name
        if not place.is_file() or msgspec.to_builtins(fingerprint(place, name)) != recorded:
            return str(name)
    return None


def stage_states(project: Project) -> dict[str, State]:
    """Return where the stages of a corpus stand.

    Args:
        project: The project.

    Returns:
        For each stage whether it is open, done, or stale: a file it was made from has changed, or
        is stale itself.
    """
    states: dict[str, State] = {}
    for stage, name in STAGES.items():
        path = project.folder / name
        if not path.is_file():
            states[stage] = "open"
        elif states.get("assemble") == "stale" or _changed_input(project, stage, read_result(path)):
            states[stage] = "stale"
        else:
            states[stage] = "done"
    return states


def make_stage(
    project: Project,
    stage: str,
    parameters: Mapping[str, Any],
    inputs: Mapping[str, str | Path],
    work: Callable[[], Mapping[str, Any]],
    *,
    again: bool = False,
) -> tuple[dict[str, Any], bool]:
    """Make the result of a stage, unless it is what the same command would make now.

    Args:
        project: The project.
        stage: The command.
        parameters: Its options.
        inputs: The files it reads, by how their paths are written.
        work: Makes the result.
        again: Make it in any case.

    Returns:
        The result, and whether it was made now.
    """
    wanted = origin(stage, parameters, inputs)
    path = project.folder / STAGES[stage]
    if not again and path.is_file():
        result = read_result(path)
        if is_fresh(result, wanted):
            return result, False
    result = {**wanted, **work()}
    write_result(path, result)
    return result, True
