"""``reelscore tokenize``."""

from __future__ import annotations

from typing import Any

import click

from reelscore.cli.commands.score import tokenizer_option
from reelscore.cli.file_options import read_texts, reading_options
from reelscore.cli.options import Command, threads_option
from reelscore.cli.terminal import show_notes
from reelscore.data.file_names import expanded
from reelscore.data.reading import Reading
from reelscore.text.tokens import Tokenizer, tokenize


@click.command("tokenize", cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@tokenizer_option
@click.option(
    "--keep-punctuation", is_flag=True, help="Keep the punctuation that the COCO tools drop."
)
@reading_options()
@threads_option
def command(
    files: tuple[str, ...],
    tokenizer: Tokenizer,
    reading: Reading,
    **choices: Any,
) -> None:
    """Tokenize captions as the metrics see them.

    Prints one caption per line, tokens separated by blanks, in the order of the files.

    \b
    Examples:
      reelscore tokenize captions.txt --keep-punctuation
      reelscore tokenize captions.json --tokenizer zh
    """
    captions: list[str] = []
    for path in expanded(files):
        references, notes = read_texts([str(path)], reading)
        show_notes(notes, err=True)
        captions += [text for texts in references.values() for text in texts]
    click.echo("\n".join(tokenize(captions, tokenizer, **choices)))
