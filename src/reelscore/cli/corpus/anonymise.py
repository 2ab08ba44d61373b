"""``reelscore corpus anonymise``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from reelscore.cli.campaign.options import say
from reelscore.cli.corpus.options import deliver, show_grid
from reelscore.cli.option_kinds import file_option, json_option
from reelscore.cli.options import check_targets
from reelscore.corpus.cast import Cast
from reelscore.corpus.names import anonymise, unknown_names
from reelscore.corpus.results import origin
from reelscore.errors import DataError

_SHOWN = 20


@click.command("anonymise")
@click.option(
    "--text", "text_file", metavar="FILE", help="Sentences, one on each line, without a project."
)
@click.option("--cast", "cast_file", metavar="FILE", help="Names of people, one on each line.")
@click.option(
    "--token", default="Someone", show_default=True, metavar="WORD", help="What a name becomes."
)
@file_option("--out", "Without a project: the file to write.")
@json_option
def command(
    text_file: str | None,
    cast_file: str | None,
    token: str,
    out_file: str | None,
    json_file: str | None,
) -> None:
    """Replace the names of people by Someone, and those of families by people.

    Names are those of --cast. Words that may be names or not are listed, so that people can check
    them; the originals stay.

    \b
    Example:
      reelscore corpus anonymise --text sentences.txt --cast cast.txt --out anonymous.json
    """
    check_targets(out_file, json_file)
    if text_file is None or cast_file is None:
        raise DataError("Name the sentences with --text, and the names with --cast.")
    texts, headings = read_lines(text_file), read_lines(cast_file)
    made = origin("anonymise", {"token": token}, {text_file: text_file, cast_file: cast_file})
    cast = Cast.of(headings, texts)
    sentences = [
        {"original": text, **asdict(done)}
        for text, done in zip(texts, anonymise(texts, cast, token=token), strict=True)
    ]
    result = {**made, "cast": sorted(cast.names), "sentences": sentences}
    result["unknown"] = unknown_names(texts, cast)
    deliver(result, out_file, json_file)
    _show(result)


def read_lines(path: str) -> list[str]:
    """Read the lines of a text file that are not empty."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not in UTF-8 (byte {error.start}); convert it first.") from None
    return [line.strip() for line in text.splitlines() if line.strip()]


def _show(result: Mapping[str, Any]) -> None:
    """Print what was replaced, and what a person should look at."""
    sentences = result["sentences"]
    doubts = Counter(
        (word, "replaced" if replaced else "kept")
        for sentence in sentences
        for word, replaced in sentence["doubts"]
    )
    rows = [[word, verdict, str(count)] for (word, verdict), count in doubts.most_common()]
    rows += [[word, "unknown", str(count)] for word, count in result["unknown"].items()]
    if rows:
        say("To check, since these may be names or not:")
        show_grid(["word", "now", "times"], rows[:_SHOWN])
    if len(rows) > _SHOWN:
        say(f"and {len(rows) - _SHOWN} more")
    replaced = sum(len(sentence["replacements"]) for sentence in sentences)
    changed = sum(bool(sentence["replacements"]) for sentence in sentences)
    say(f"{replaced} names replaced in {changed} of {len(sentences)} sentences")
