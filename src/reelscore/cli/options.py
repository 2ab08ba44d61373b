"""Options and habits that the commands share."""

from __future__ import annotations

import functools
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from msgspec.structs import replace

from reelscore._progress import ProgressBar, ProgressLines
from reelscore.cli.file_options import refs_option
from reelscore.cli.messages import as_options
from reelscore.cli.option_kinds import (
    choice_option,
    file_option,
    match_ids_option,
    number_option,
    seed_option,
)
from reelscore.cli.reading_options import (
    candidate_files,
    oracle_notes,
    oracles,
    read_captions,
    reading_options,
)
from reelscore.data.captions.paired_captions import Empty, Missing
from reelscore.data.file_names import exists
from reelscore.data.reading import Reading
from reelscore.data.tables.table import ScoreTable
from reelscore.data.tables.table import file_format as table_format
from reelscore.errors import DataError
from reelscore.metrics.base import check_tokens
from reelscore.metrics.registry import resolve
from reelscore.report.tables.grid import Grid
from reelscore.report.tables.leaderboard import leaderboard_csv, table_signatures
from reelscore.scoring.captions import score_systems
from reelscore.text.segmenters import FLORES
from reelscore.text.tokens import TOKENIZERS, Tokenizer

if TYPE_CHECKING:
    from reelscore.engines.engine import Engine

STDOUT = "-"
_MEMORY = 60  # percent
_MANY = 50_000  # captions from which on a progress bar is worth showing


class EngineChoice(msgspec.Struct, frozen=True):
    """The options of an engine, by their names.

    >>> EngineChoice("threads", None, 0.0, 60).start() is None
    True
    """

    engine: str
    workers: int | None
    gpus_per_worker: float
    memory: int

    def start(self) -> Engine | None:
        """Connect to the cluster; ``None`` for threads of this process, the default."""
        name = self.engine.partition("://")[0]
        if name == "threads":
            if self.workers is not None or self.gpus_per_worker or self.memory != _MEMORY:
                raise DataError(
                    "--workers, --gpus-per-worker and --memory are for --engine ray; threads of "
                    "this process are chosen by --threads."
                )
            return None
        from reelscore.engines.engine import Engine

        return Engine(
            name,
            address=self.engine if "://" in self.engine else None,
            workers=self.workers,
            gpus_per_worker=self.gpus_per_worker,
            memory=self.memory / 100,
        )


class Scoring(msgspec.Struct, frozen=True):
    """What to score and where to put it: the options every scoring command has."""

    candidates: tuple[str, ...]
    refs: tuple[str, ...]
    metrics: str
    tokenizer: Tokenizer
    reading: Reading
    missing: Missing
    empty: Empty
    match_ids: str | None
    common: bool
    threads: int | None
    engine: EngineChoice
    out: str | None
    bad_rows_file: str | None
    seed: int
    json_file: str | None
    csv_file: str | None
    latex_file: str | None
    markdown_file: str | None
    table_file: str | None
    statistics: bool

    def __post_init__(self) -> None:
        targets = [self.json_file, self.csv_file, self.latex_file, self.markdown_file]
        check_targets(*targets, self.table_file)
        if self.table_file:
            table_format(self.table_file)

    @property
    def large(self) -> bool:
        """Whether captions are read in blocks, and only the scores of systems are kept here."""
        return self.out is not None or self.bad_rows_file is not None

    def run(self, resamples: int = 0) -> ScoreTable:
        """Read the files and score them.

        Args:
            resamples: Resamples that intervals or tests will want: where captions are read in
                blocks, these are drawn now.
        """
        metrics = resolve(self.metrics)
        check_tokens(metrics, self.tokenizer)
        engine = self.engine.start()
        if self.large:
            return self._run_large(engine, resamples)
        inputs = read_captions(self.candidates, self.refs, self.reading)
        long = any(metric.slow for metric in metrics)
        long = long or sum(map(len, inputs.systems.values())) >= _MANY
        with (
            inputs.explained(),
            progress_bar("Scoring", wanted=long or engine is not None, engine=engine) as progress,
        ):
            table = score_systems(
                replace(inputs, files=(), notes=()),
                metrics=self.metrics,
                tokenizer=self.tokenizer,
                missing=self.missing,
                empty=self.empty,
                match_ids=self.match_ids,
                common=self.common,
                threads=self.threads,
                progress=progress,
                engine=engine,
            )
        show_engine(engine)
        notes = [*inputs.notes, *map(as_options, table.notes)]
        return replace(table, notes=notes, bounds=inputs.bounds)

    def _run_large(self, engine: Engine | None, resamples: int) -> ScoreTable:
        from reelscore.engines.engine import Engine
        from reelscore.scoring.shards.pipeline import score_shards

        for option, given in (("--match-ids", self.match_ids), ("--common", self.common)):
            if given:
                raise DataError(
                    f"{option} needs all captions at once; leave out --out and --bad-rows."
                )
        files = candidate_files(self.candidates, self.refs, self.reading)
        bounds = oracles(files) if isinstance(files, dict) else []
        with resumable(self.out), progress_bar("Scoring", engine=engine) as progress:
            table = score_shards(
                files,
                list(self.refs) or None,
                self.metrics,
                tokenizer=self.tokenizer,
                missing=self.missing,
                empty=self.empty,
                engine=engine or Engine("threads", workers=self.threads),
                out=self.out,
                bad_rows=self.bad_rows_file,
                resamples=resamples,
                seed=self.seed,
                reading=self.reading,
                progress=progress,
            )
        show_engine(engine)
        notes = [*oracle_notes(bounds), *map(as_options, table.notes)]
        return replace(table, notes=notes, bounds=bounds)

    def write(
        self,
        table: ScoreTable,
        grid: Grid,
        *,
        csv: Callable[[], str] | None = None,
        json: Callable[[], str] | None = None,
    ) -> None:
        """Write the files that were asked for, from the table and from its printed form.

        CSV and JSON are those of the table unless there is something else that makes the text.
        """
        if self.table_file:
            table.write(self.table_file, statistics=self.statistics)
        if self.csv_file:
            write(self.csv_file, csv() if csv else leaderboard_csv(table))
        if self.latex_file:
            write(self.latex_file, grid.to_latex())
        if self.markdown_file:
            write(self.markdown_file, grid.to_markdown())
        if self.json_file:
            write(self.json_file, json() if json else table.to_json(statistics=self.statistics))
        if not self.shows:
            show_notes(table.notes, err=True)

    @property
    def shows(self) -> bool:
        """Whether the terminal is free for the table: nothing else goes to standard output."""
        return STDOUT not in (self.json_file, self.csv_file, self.latex_file, self.markdown_file)


class _TokenizerName(click.Choice[str]):
    """A tokenizer's name; that of a model is followed by its path."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check a name."""
        named, colon, _ = str(value).partition(":")
        return str(value) if colon and named == FLORES else super().convert(value, param, ctx)


tokenizer_option = click.option(
    "--tokenizer",
    type=_TokenizerName(TOKENIZERS),
    metavar="NAME",
    default="ptb",
    show_default=True,
    help="ptb: each caption separately; ptb-coco: as the COCO tools, which look ahead into the "
    "next caption; none: the text is already tokenized. For other languages char, 13a, intl, zh, "
    "ja-mecab, ko-mecab, flores200:PATH and vatex-zh.",
)
metric_option = click.option(
    "--metric", "-m", default="meteor", show_default=True, metavar="NAME", help="Any metric."
)
threads_option = click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Threads to use; all cores if not given. Does not change the scores.",
)
trials_option = number_option(
    "--trials", default=10_000, least=10, help="Number of permutations of the randomization test."
)

_ENGINE_OPTIONS: list[Callable[[Callable[..., None]], Callable[..., None]]] = [
    click.option(
        "--engine",
        default="threads",
        show_default=True,
        metavar="NAME",
        help="Where to compute: threads of this process; ray, a Ray on this machine (or at "
        "RAY_ADDRESS); ray://HOST:10001, a cluster. Does not change the scores.",
    ),
    click.option(
        "--workers",
        type=click.IntRange(min=1),
        metavar="N",
        help="With --engine ray: keep this number of workers, each with its weights loaded; if not "
        "given, tasks on all processors.",
    ),
    number_option(
        "--gpus-per-worker",
        default=0.0,
        least=0,
        metavar="SHARE",
        help="With --engine ray: the GPUs of each worker, such as 1 or 0.5.",
    ),
    number_option(
        "--memory",
        default=_MEMORY,
        least=1,
        most=100,
        metavar="PERCENT",
        help="With --engine ray: how much of a machine's memory workers may use.",
    ),
]


def engine_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command the options of engines, as one `EngineChoice` named ``engine``."""

    @functools.wraps(command)
    def with_engine(**arguments: Any) -> None:
        values = {name: arguments.pop(name) for name in EngineChoice.__struct_fields__}
        command(**arguments, engine=EngineChoice(**values))

    for option in reversed(_ENGINE_OPTIONS):
        with_engine = option(with_engine)
    return with_engine


@contextmanager
def resumable(folder: str | None) -> Iterator[None]:
    """At Ctrl-C, say that what a folder has so far is kept, if there is any."""
    try:
        yield
    except KeyboardInterrupt:
        if folder is None or not exists(folder):
            raise
        click.echo(
            f"Interrupted; {folder} keeps what is finished. Give the command again to go on.",
            err=True,
        )
        sys.exit(130)


def show_engine(engine: Engine | None) -> None:
    """Print on stderr what the work took, where it was done elsewhere."""
    if engine is not None and (summary := engine.summary()):
        click.echo(summary, err=True)


_OPTIONS: list[Callable[[Callable[..., None]], Callable[..., None]]] = [
    click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATES..."),
    refs_option("References, for example one file per annotator"),
    click.option(
        "--metrics",
        "-m",
        default="bleu,meteor,rouge_l,cider",
        show_default=True,
        metavar="LIST",
        help="Metrics, optionally with parameters: 'bleu|n:2,cider'.",
    ),
    tokenizer_option,
    reading_options(),
    choice_option(
        "--missing",
        choices=["error", "zero", "skip"],
        default="error",
        help="What to do with items that have no candidate.",
    ),
    choice_option(
        "--empty",
        choices=["error", "zero"],
        default="error",
        help="What to do with captions that have no words, such as '...'.",
    ),
    match_ids_option,
    click.option(
        "--common",
        is_flag=True,
        help="Score all systems only on the items that every system has.",
    ),
    threads_option,
    engine_options,
    click.option(
        "--out",
        metavar="FOLDER",
        help="For sets larger than memory: read Parquet or JSON Lines in blocks, write item scores "
        "as parts into this folder, and go on there after an interruption.",
    ),
    file_option(
        "--bad-rows", "Leave out records that cannot be used, and list them as JSON Lines."
    ),
    seed_option,
    file_option("--json", "Write all scores, signatures and items as JSON; - for standard output."),
    file_option("--csv", "Write the table as CSV with numbers in full precision."),
    file_option("--latex", "Write the displayed table as LaTeX."),
    file_option("--markdown", "Write the displayed table as Markdown."),
    file_option("--table", "Write the score table (system, item, metric, score), .csv or .json."),
    click.option(
        "--statistics/--no-statistics",
        default=True,
        show_default=True,
        help="Keep in JSON files what 'reelscore compare' needs to test scores such as BLEU.",
    ),
]


def scoring_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command the scoring options, as one `Scoring` in its first argument."""

    @functools.wraps(command)
    def with_scoring(**arguments: Any) -> None:
        values = {name: arguments.pop(name) for name in Scoring.__struct_fields__}
        command(Scoring(**values), **arguments)

    for option in reversed(_OPTIONS):
        with_scoring = option(with_scoring)
    return with_scoring


def show(table: ScoreTable, grid: Grid) -> None:
    """Print a table with its notes and signatures."""
    show_grid(grid)
    show_origin(table)


def show_grid(grid: Grid) -> None:
    """Print a grid, and an empty line below it."""
    click.echo(grid.to_text(terminal_width(), bold=sys.stdout.isatty()) + "\n")


def show_origin(table: ScoreTable) -> None:
    """Print how the numbers of a table were made: its notes and signatures."""
    show_notes(table.notes)
    for signature in table_signatures(table):
        show_signature(signature)


def show_notes(notes: Sequence[str], *, err: bool = False) -> None:
    """Print what there is to say about a table; warnings in red."""
    for note in notes:
        text = textwrap.fill(
            note,
            terminal_width(),
            subsequent_indent="  ",
            break_on_hyphens=False,
            break_long_words=False,
        )
        click.echo(click.style(text, fg="red" if "Warning:" in note else None), err=err)


def show_signature(signature: str) -> None:
    """Print a signature, broken between its parts."""
    for line in wrapped(signature, terminal_width()):
        click.echo(click.style(line, dim=True))


def check_targets(*paths: str | None) -> None:
    """Refuse outputs that cannot be written, or would overwrite another file, before any work."""
    if paths.count(STDOUT) > 1:
        raise DataError("Two outputs go to standard output (-); write all but one to files.")
    for path in paths:
        if path and path != STDOUT:
            from reelscore.data.atomic_files import check_target

            check_target(path)
            _check_named_once(path)


_FILES = ("FILE", "TABLE", "PATH", "OUT")  # what options of files take


def _check_named_once(path: str) -> None:
    """Refuse an output that the command names as another file, too: one would be overwritten."""
    context = click.get_current_context(silent=True)
    target = Path(path).resolve()
    if context is None or (exists(target) and not target.is_file()):  # as /dev/null is
        return
    if sum(Path(file).resolve() == target for file in _files_named(context)) > 1:
        raise DataError(f"{path} is named twice, and would be overwritten; name another output.")


def _files_named(context: click.Context) -> Iterator[str]:
    """What a command line gives for arguments and options that are files; of NAME=FILE the file."""
    for param in context.command.params:
        value = context.params.get(param.name or "")
        takes = param.metavar or ""
        if isinstance(param, click.Argument) or any(kind in takes for kind in _FILES):
            for text in value if isinstance(value, tuple) else [value]:
                if isinstance(text, str):
                    yield text if exists(text) else text.partition("=")[2] or text


def write(path: str, text: str, *, private: bool = False) -> None:
    """Write a result to a file, all or nothing, or to standard output for ``-``.

    Args:
        path: The file.
        text: What goes there.
        private: Whether it is about people, or secret: then nobody else may read the file.
    """
    if path == STDOUT:
        click.echo(text, nl=not text.endswith("\n"))
    else:
        from reelscore.data.atomic_files import write_atomically

        write_atomically(path, text if text.endswith("\n") else text + "\n", private=private)


def write_json(path: str, content: object, *, private: bool = False) -> None:
    """Write plain data as JSON, as `write` does."""
    write(path, msgspec.json.encode(content).decode(), private=private)


def terminal_width() -> int:
    """The width to lay out for: the terminal's, 80 where there is none."""
    if not sys.stdout.isatty():
        return 80
    from shutil import get_terminal_size

    return max(40, get_terminal_size((80, 24)).columns)


@contextmanager
def progress_bar(
    what: str, *, wanted: bool = True, engine: Engine | None = None
) -> Iterator[Callable[[int, int], None] | None]:
    """Show how far long work is, on stderr: a bar, or a line every ten seconds in a file or pipe.

    Args:
        what: What is done.
        wanted: Whether a bar is worth showing.
        engine: Whose retries are told, if there are any.
    """

    def retries() -> str:
        return f"{engine.retries:,} retries" if engine is not None and engine.retries else ""

    if not sys.stderr.isatty():
        yield ProgressLines(what, functools.partial(click.echo, err=True), more=retries)
        return
    if not wanted:
        yield None
        return
    bar = ProgressBar(what, functools.partial(click.echo, err=True, nl=False), more=retries)
    try:
        yield bar
    finally:
        bar.clear()


def show_line(text: str, *, err: bool = True) -> None:
    """Print a line while a progress bar is shown: in place of the bar, which comes again below."""
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", err=True, nl=False)
    click.echo(text, err=err)


def wrapped(signature: str, width: int) -> list[str]:
    """Break a signature between its parts, so that it can be read and copied."""
    lines = [""]
    for part in signature.replace("|", "|\0").split("\0"):
        if len(lines[-1]) + len(part) > width and lines[-1]:
            lines.append("  ")
        lines[-1] += part
    return lines
