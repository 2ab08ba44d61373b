"""The names of the films of a project: from scripts, from review, from a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from reelscore.corpus.names.cast import Cast
from reelscore.corpus.names.name_replacement import anonymise, unknown_names
from reelscore.corpus.project import Project
from reelscore.corpus.results import read_result
from reelscore.corpus.review.decision_log import read_decisions
from reelscore.corpus.review.replay import effective_decisions


def film_headings(project: Project, film_id: str) -> tuple[list[str], set[str]]:
    """List the names of a film's people, and the words that are no names.

    Names are the headings of its script and what people marked as a name in review (decisions
    with the action `name`; `no-name` says the opposite).

    Args:
        project: The project.
        film_id: The film.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     film_headings(Project.new(folder), "sintel")
    ([], set())
    """
    folder = project.folder / "films" / film_id
    script = folder / "script.json"
    elements = read_result(script).get("elements", []) if script.is_file() else []
    names = [each["who"] for each in elements if each.get("who")]
    no_names: set[str] = set()
    for _, decision in effective_decisions(read_decisions(folder / "decisions.jsonl")):
        marked = str((decision.after or {}).get("name", ""))
        if decision.action == "name" and marked:
            names.append(marked)
            no_names.discard(marked.lower())
        elif decision.action == "no-name" and marked:
            no_names.add(marked.lower())
    return list(dict.fromkeys(names)), no_names


def anonymised_films(
    project: Project,
    sentences: Sequence[Mapping[str, Any]],
    headings: Sequence[str],
    token: str = "Someone",
) -> dict[str, dict[str, Any]]:
    """Replace the names in the sentences of films.

    Args:
        project: The project.
        sentences: The sentences, with their films.
        headings: Names that count in all films.
        token: What a name becomes.

    Returns:
        For each film its cast, its sentences by id, and words that look like names.
    """
    films: dict[str, dict[str, Any]] = {}
    for film_id in project.films:
        of_film = [each for each in sentences if each["film"] == film_id]
        texts = [each["text"] for each in of_film]
        names, no_names = film_headings(project, film_id)
        cast = Cast.of([*names, *headings], texts)
        cast = Cast(cast.names - no_names, cast.surnames - no_names)
        done = anonymise(texts, cast, token=token)
        films[film_id] = {
            "cast": sorted(cast.names),
            "sentences": {
                sentence["id"]: asdict(result)
                for sentence, result in zip(of_film, done, strict=True)
            },
            "unknown": unknown_names(texts, cast),
        }
    return films
