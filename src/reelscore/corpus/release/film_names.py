"""The names of the films of a project: from scripts, from review, from a list."""

from __future__ import annotations

from pathlib import Path

from reelscore.corpus.pipeline import ASSEMBLE, SCRIPT, StepWork
from reelscore.corpus.project import Project
from reelscore.corpus.project_files import CorpusNames, FilmNames
from reelscore.corpus.review.decisions import effective_decisions, read_decisions
from reelscore.errors import DataError
from reelscore.text.names.cast import Cast
from reelscore.text.names.name_replacement import anonymise, unknown_names


def film_headings(project: Project, film_id: str) -> tuple[list[str], set[str]]:
    """List the names of a film's people, and the words that are no names.

    Names are the headings of its script and what people marked as a name in review (decisions
    with the action `name`; `no-name` says the opposite).
    """
    script = project.result(SCRIPT, film_id)
    names = [each.who for each in script.elements if each.who] if script else []
    no_names: set[str] = set()
    decisions = read_decisions(project.place(film_id, "decisions.jsonl"))
    for _, decision in effective_decisions(decisions):
        marked = str((decision.after or {}).get("name", ""))
        if decision.action == "name" and marked:
            names.append(marked)
            no_names.discard(marked.lower())
        elif decision.action == "no-name" and marked:
            no_names.add(marked.lower())
    return list(dict.fromkeys(names)), no_names


def corpus_names(work: StepWork, *, token: str = "Someone") -> CorpusNames:
    """Replace the names in the sentences of a project's clips, as `anonymise` does.

    Names are those of each film, and those of the file, one on each line, in all films.
    """
    headings = read_names(work.file) if work.file is not None else []
    sentences = work.project.needed(ASSEMBLE).sentences
    films = {}
    for film_id in work.project.films:
        of_film = [each for each in sentences if each.film == film_id]
        texts = [each.text for each in of_film]
        names, no_names = film_headings(work.project, film_id)
        cast = Cast.of([*names, *headings], texts)
        cast = Cast(cast.names - no_names, cast.surnames - no_names)
        done = anonymise(texts, cast, token=token)
        films[film_id] = FilmNames(
            cast=tuple(sorted(cast.names)),
            sentences={each.id: result for each, result in zip(of_film, done, strict=True)},
            unknown=unknown_names(texts, cast),
        )
    return CorpusNames(films=films)


def read_names(path: str | Path) -> list[str]:
    """Read the lines of a text file that are not empty, such as the names of a cast."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not in UTF-8 (byte {error.start}); convert it first.") from None
    return [line.strip() for line in text.splitlines() if line.strip()]
