"""``reelscore corpus anonymise``."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from reelscore.campaigns.commands.options import say
from reelscore.cli.options import file_option, json_option
from reelscore.cli.terminal import check_targets, write, write_json
from reelscore.corpus.cast import Cast
from reelscore.corpus.commands.options import again_option, deliver, project_option, show_grid
from reelscore.corpus.film_names import anonymised_films
from reelscore.corpus.names import anonymise, unknown_names
from reelscore.corpus.project import Project
from reelscore.corpus.results import origin
from reelscore.corpus.stages import make_stage, stage_inputs, stage_result
from reelscore.errors import DataError

_SHOWN = 20


@click.command("anonymise")
@project_option
@click.option(
    "--text", "text_file", metavar="FILE", help="Sentences, one on each line, without a project."
)
@click.option("--cast", "cast_file", metavar="FILE", help="Names of people, one on each line.")
@click.option(
    "--token", default="Someone", show_default=True, metavar="WORD", help="What a name becomes."
)
@file_option("--report", "Write all sentences that a person should check, as CSV.")
@again_option
@file_option("--out", "Without a project: the file to write.")
@json_option
def command(
    project: str,
    text_file: str | None,
    cast_file: str | None,
    token: str,
    report_file: str | None,
    again: bool,
    out_file: str | None,
    json_file: str | None,
) -> None:
    """Replace the names of people by Someone, and those of families by people.

    Works on the clips of a project (names.json), or on a file with --text. Names are those of the
    films' scripts, those marked in review, and those of --cast. Words that may be names or not are
    listed, so that people can check them; the originals stay in the project.

    \b
    Examples:
      reelscore corpus anonymise --project films
      reelscore corpus anonymise --text sentences.txt --cast cast.txt --out anonymous.json
    """
    check_targets(out_file, json_file, report_file)
    if text_file is None:
        if out_file:
            raise DataError("--out is for work without a project; the project has its own file.")
        _project(Project.open(project), cast_file, token, report_file, again, json_file)
        return
    if cast_file is None:
        raise DataError("Name the people with --cast, one on each line.")
    texts, headings = read_lines(text_file), read_lines(cast_file)
    made = origin("anonymise", {"token": token}, {text_file: text_file, cast_file: cast_file})
    cast = Cast.of(headings, texts)
    sentences = [
        {"original": text, **asdict(done)}
        for text, done in zip(texts, anonymise(texts, cast, token=token), strict=True)
    ]
    unknown = unknown_names(texts, cast)
    result = {**made, "cast": sorted(cast.names), "sentences": sentences, "unknown": unknown}
    deliver(result, out_file, json_file)
    if report_file:
        rows = [("", str(number), each) for number, each in enumerate(sentences, start=1)]
        _write_report(report_file, rows, unknown)
    _show(sentences, unknown)


def _project(
    project: Project,
    cast_file: str | None,
    token: str,
    report_file: str | None,
    again: bool,
    json_file: str | None,
) -> None:
    """Replace the names in the sentences of a project's clips."""
    clips = stage_result(project, "assemble")
    inputs = stage_inputs(project, "anonymise")
    if cast_file is not None:
        inputs[str(Path(cast_file).resolve())] = cast_file
    headings = [] if cast_file is None else read_lines(cast_file)
    result, is_new = make_stage(
        project,
        "anonymise",
        {"token": token},
        inputs,
        lambda: {"films": anonymised_films(project, clips["sentences"], headings, token)},
        again=again,
    )
    if not is_new:
        say("The names are already replaced; --again does it again.")
    films = result["films"].values()
    unknown: Counter[str] = Counter()
    for film in films:
        unknown.update(film["unknown"])
    _show([each for film in films for each in film["sentences"].values()], unknown)
    if report_file:
        originals = {(each["film"], each["id"]): each["text"] for each in clips["sentences"]}
        rows = [
            (film_id, sentence_id, {"original": originals[film_id, sentence_id], **each})
            for film_id, film in result["films"].items()
            for sentence_id, each in film["sentences"].items()
        ]
        _write_report(report_file, rows, unknown)
    nameless = [film_id for film_id, film in result["films"].items() if not film["cast"]]
    if nameless:
        say(f"No names are known of {', '.join(nameless)}: read a script, or name a --cast.")
    if json_file:
        write_json(json_file, result)


def _write_report(
    path: str, rows: Sequence[tuple[str, str, Mapping[str, Any]]], unknown: Mapping[str, int]
) -> None:
    """Write the sentences that changed, or that have words which may be names, before and after."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["film", "sentence", "to check", "before", "after"])
    for film_id, sentence_id, each in rows:
        doubts = [f"{word} {'replaced' if done else 'kept'}" for word, done in each["doubts"]]
        words = set(re.findall(r"\w+", each["text"]))
        doubts += [f"{word} unknown" for word in unknown if word in words]
        if doubts or each["replacements"]:
            checks = ", ".join(doubts)
            writer.writerow([film_id, sentence_id, checks, each["original"], each["text"]])
    write(path, text.getvalue())


def read_lines(path: str) -> list[str]:
    """Read the lines of a text file that are not empty."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not in UTF-8 (byte {error.start}); convert it first.") from None
    return [line.strip() for line in text.splitlines() if line.strip()]


def _show(sentences: Sequence[Mapping[str, Any]], unknown: Mapping[str, int]) -> None:
    """Print what was replaced, and what a person should look at."""
    doubts = Counter(
        (word, "replaced" if replaced else "kept")
        for sentence in sentences
        for word, replaced in sentence["doubts"]
    )
    rows = [[word, verdict, str(count)] for (word, verdict), count in doubts.most_common()]
    rows += [[word, "unknown", str(count)] for word, count in unknown.items()]
    if rows:
        say("To check, since these may be names or not:")
        show_grid(["word", "now", "times"], rows[:_SHOWN])
    if len(rows) > _SHOWN:
        say(f"and {len(rows) - _SHOWN} more")
    replaced = sum(len(sentence["replacements"]) for sentence in sentences)
    changed = sum(bool(sentence["replacements"]) for sentence in sentences)
    say(f"{replaced} names replaced in {changed} of {len(sentences)} sentences")
