"""Results about a whole corpus: clips, names, splits, each made from the one before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from reelscore.corpus.project import Project
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
    for recorded in result.get("inputs", ()):
        place = project.folder / recorded["path"]
        if not place.is_file() or msgspec.to_builtins(fingerprint(place, recorded["path"])) != (
            recorded
        ):
            raise DataError(
                f"{place} has changed since {path.name} was made; run 'reelscore corpus {stage}' "
                "again first."
            )
    return result


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
