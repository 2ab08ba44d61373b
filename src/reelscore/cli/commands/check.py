"""``reelscore check``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

import click

from reelscore.cli.file_options import FilesCommand, reading_options, refs_option
from reelscore.cli.messages import as_options, printable
from reelscore.cli.options import file_option
from reelscore.cli.report_options import Outputs, outputs
from reelscore.cli.terminal import STDOUT, check_targets, show_notes, terminal_width, write
from reelscore.data.checks import counted
from reelscore.data.file_names import expanded
from reelscore.data.lint.caption_reader import captions_of
from reelscore.data.lint.defects import findings_in
from reelscore.data.lint.findings import Findings
from reelscore.data.lint.fixes import Fix, captions_text, fixed
from reelscore.data.lint.linter import CHECKS
from reelscore.data.reading import Reading
from reelscore.errors import DataError

_SHOWN = 10  # fixes shown on the terminal


@click.command("check", cls=FilesCommand)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@refs_option("References to compare with")
@reading_options()
@click.option("--strict", is_flag=True, help="Let warnings, too, give the exit status 1.")
@outputs()
@file_option(
    "--fix",
    "Write the captions with safe fixes to a new file: .json, .jsonl, .csv, .tsv or .txt.",
)
def command(
    files: tuple[str, ...],
    refs: tuple[str, ...],
    reading: Reading,
    strict: bool,
    outputs: Outputs,
    fix_file: str | None,
) -> None:
    """Check caption files before they are scored or published.

    FILE is a file of captions, of references, or of timed captions. Finds empty captions, what
    models and programs leave in a text, repetitions, copies of references, damaged characters,
    and ids that do not fit. Nothing is changed.

    Exit status: 0 if there are no errors, 1 if there are (with --strict: or warnings), 2 if a
    file cannot be read.

    \b
    Examples:
      reelscore check ours.json --refs refs.json
      reelscore check runs/*.json --strict --json findings.json
      reelscore check ours.json --fix ours-fixed.json
    """
    if fix_file and (len(files) > 1 or fix_file == STDOUT or fix_file == files[0]):
        raise DataError("--fix takes one FILE, and writes another; name a new file.")
    check_targets(fix_file)
    paths = [str(path) for path in expanded(files)]
    subjects = [captions_of(path, refs or None, reading=reading) for path in paths]
    read_as = [f"Read as {each.read_as}: {each.name}." for each in subjects if each.read_as]
    show_notes(list(map(as_options, read_as)), err=True)
    checked = [
        Findings(subject.name, len(subject.texts), tuple(findings_in(subject, CHECKS)))
        for subject in subjects
    ]
    fixes: list[Fix] = []
    if fix_file:
        texts, fixes = fixed(subjects[0])
        write(fix_file, captions_text(subjects[0], texts, fix_file))
    done = {"fixes": [fix._asdict() for fix in fixes]} if fix_file else {}
    outputs.write(json=lambda: {"files": [findings.to_dict() for findings in checked], **done})
    if outputs.shows:
        _show(checked)
        if fix_file:
            _show_fixes(fixes, fix_file)
    if any(findings.errors or (strict and findings) for findings in checked):
        sys.exit(1)


def _show(checked: Sequence[Findings]) -> None:
    for findings in checked:
        head, *lines = as_options(findings.to_text(terminal_width())).split("\n")
        click.echo(click.style(printable(head), bold=True))
        for line in lines:
            click.echo(click.style(line, fg="red" if line.startswith("  error:") else None))


def _show_fixes(fixes: Sequence[Fix], path: str) -> None:
    kinds = Counter(check for fix in fixes for check in fix.checks)
    listing = ", ".join(f"{check} {count:,}" for check, count in kinds.most_common())
    which = f" ({listing})" if fixes else ""
    click.echo(f"{path}: {counted(len(fixes), 'caption')} fixed{which}")
    width = terminal_width()
    for fix in fixes[:_SHOWN]:
        line = f"  {fix.item}: {fix.after}"
        click.echo(printable(line if len(line) <= width else line[: width - 1] + "…"))
    if len(fixes) > _SHOWN:
        click.echo(f"  and {len(fixes) - _SHOWN:,} more; --json FILE lists all")
