"""``reelscore tokenize``."""

from __future__ import annotations

import click

from reelscore.cli.options import format_option, threads_option, tokenizer_option
from reelscore.data import read_references
from reelscore.text.tokens import Tokenizer, tokenize


@click.command("tokenize")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@tokenizer_option
@click.option(
    "--keep-punctuation", is_flag=True, help="Keep the punctuation that the COCO tools drop."
)
@format_option
@threads_option
def command(
    files: tuple[str, ...],
    tokenizer: Tokenizer,
    keep_punctuation: bool,
    file_format: str | None,
    threads: int | None,
) -> None:
    """Tokenize captions as the metrics see them.

    Prints one caption per line, tokens separated by blanks, in the order of the files.

    \b
    Examples:
      reelscore tokenize captions.txt --keep-punctuation
      reelscore tokenize captions.json --tokenizer zh
    """
    captions = [
        text
        for path in files
        for texts in read_references(path, format=file_format).values()
        for text in texts
    ]
    tokens = tokenize(captions, tokenizer, keep_punctuation=keep_punctuation, threads=threads)
    click.echo("\n".join(tokens))
