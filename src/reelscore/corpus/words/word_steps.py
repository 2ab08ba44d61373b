"""The steps about subtitles and scripts: each gives plain data, to be written as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from reelscore.corpus.project_files import Element, Remark
from reelscore.corpus.scripts.elements import Script
from reelscore.corpus.scripts.formats import Format, read_script
from reelscore.corpus.sound.sound_steps import report
from reelscore.corpus.words.script_alignment import AlignedScript, align_script
from reelscore.corpus.words.subtitles import Cue, read_subtitles
from reelscore.errors import DataError

_LEAST_MATCHED = 0.2  # of the lines; with fewer it is another film or another language


def subtitles(path: str | Path, **parameters: Any) -> dict[str, Any]:
    """Read the subtitles of a film.

    Args:
        path: The file.
        parameters: As of `read_subtitles`.

    Returns:
        The `cues` and a `report`.
    """
    content = read_subtitles(path, **parameters)
    return {
        "format": content.format,
        "cues": [asdict(cue) for cue in content.cues],
        "report": report(content.report),
    }


def script(
    path: str | Path, *, format: Format = "auto", encoding: str | None = None
) -> dict[str, Any]:
    """Read the script of a film.

    Args:
        path: The file.
        format: How it is written; found by its content if `auto`.
        encoding: Its encoding, if it is neither UTF-8 nor marked.

    Returns:
        The `elements`, how many there are of each kind (`counts`), and a `report`.
    """
    content = read_script(path, format=format, encoding=encoding)
    return {
        "format": content.format,
        "counts": content.counts,
        "elements": [asdict(element) for element in content.elements],
        "report": report(_script_findings(content)),
    }


def script_times(
    script: Mapping[str, Any], subtitles: Mapping[str, Any], *, min_score: float = 0.5
) -> dict[str, Any]:
    """Return the elements of a script their times, by the film's subtitles.

    Args:
        script: What `script` gave.
        subtitles: What `subtitles` gave.
        min_score: Descriptions with a lower score are not accepted.

    Returns:
        The `elements` with times, the `sentences` of descriptions, and a `report`.

    Raises:
        DataError: If one of them is something else.
    """
    elements = _records(script, "elements", list[Element], "script")
    cues = _records(subtitles, "cues", list[Cue], "subtitles")
    aligned = align_script(elements, cues, min_score=min_score)
    return {
        "lines": {"all": aligned.lines, "matched": aligned.matched},
        "moved": list(aligned.moved),
        "elements": [asdict(element) for element in aligned.elements],
        "sentences": [asdict(sentence) for sentence in aligned.sentences],
        "report": report(_alignment_findings(aligned)),
    }


def _records(content: Mapping[str, Any], name: str, kind: Any, command: str) -> Any:
    try:
        return msgspec.convert(content.get(name), kind)
    except msgspec.ValidationError as error:
        raise DataError(
            f"No {name} to align ({error}); make them with 'reelscore corpus {command}'."
        ) from None


def _script_findings(content: Script) -> list[Remark]:
    findings = []
    if content.unsure:
        findings.append(
            Remark(
                "unsure",
                f"Lines that the rules were unsure of: {_some(content.unsure)}.",
                details=tuple({"line": number} for number in content.unsure),
            )
        )
    if "dialogue" not in content.counts:
        findings.append(Remark("no-dialogue", "No line of dialogue was found: is --format right?"))
    return findings


def _alignment_findings(aligned: AlignedScript) -> list[Remark]:
    findings = []
    if aligned.matched <= _LEAST_MATCHED * aligned.lines:
        findings.append(
            Remark(
                "no-match",
                f"{aligned.matched} of {aligned.lines} lines are in the subtitles: another film, "
                "another language, or a script that was read wrongly.",
                trusted=False,
            )
        )
    if aligned.moved:
        findings.append(
            Remark(
                "moved",
                f"Scenes that the film has elsewhere: {_some(aligned.moved)}.",
                details=tuple({"scene": scene} for scene in aligned.moved),
            )
        )
    return findings


def _some(numbers: Sequence[int], most: int = 10) -> str:
    shown = ", ".join(map(str, numbers[:most]))
    return shown if len(numbers) <= most else f"{shown} and {len(numbers) - most} more"
