"""``reelscore score``, and the options of all commands that score captions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import click
import msgspec
from msgspec.structs import replace

from reelscore.cli.file_options import (
    FilesCommand,
    candidate_files,
    oracle_notes,
    oracles,
    read_captions,
    reading_options,
    refs_option,
    system_files,
)
from reelscore.cli.messages import as_options
from reelscore.cli.options import (
    EngineChoice,
    choice_option,
    engine_option,
    file_option,
    gathered,
    match_ids_option,
    resamples_option,
    seed_option,
    threads_option,
)
from reelscore.cli.report_options import (
    Pictures,
    ResultFiles,
    layout_options,
    picture_options,
    result_files,
)
from reelscore.cli.terminal import progress_bar, resumable, show, show_engine, terminal_width
from reelscore.data.captions.paired_captions import Empty, Missing
from reelscore.data.lint.defects import worst_notes
from reelscore.data.reading import Reading
from reelscore.data.tables.table import ScoreTable, Sources
from reelscore.errors import DataError
from reelscore.metrics.base import check_tokens
from reelscore.metrics.registry import resolve
from reelscore.report.tables.leaderboard import TableLayout, item_rows, leaderboard, leaderboard_csv
from reelscore.scoring.captions import score_systems
from reelscore.text.segmenters import FLORES
from reelscore.text.tokens import TOKENIZERS, Tokenizer

if TYPE_CHECKING:
    from reelscore.engines.engine import Engine

_MANY = 50_000  # captions from which on a progress bar is worth showing


class ScoringOptions(msgspec.Struct, frozen=True):
    """What to score, how, and where to put it."""

    candidates: tuple[str, ...]
    refs: tuple[str, ...]
    metrics: str
    tokenizer: Tokenizer
    reading: Reading
    missing: Missing | Literal["common"]
    empty: Empty
    match_ids: str | None
    leave_one_out: bool
    threads: int | None
    engine: EngineChoice
    out: str | None
    bad_rows_file: str | None
    seed: int
    files: ResultFiles

    @property
    def large(self) -> bool:
        """Whether captions are read in blocks, and only the scores of systems are kept here."""
        return self.out is not None or self.bad_rows_file is not None

    @property
    def policy(self) -> Missing:
        """What is done with missing captions, of the items that are scored."""
        return "error" if self.missing == "common" else self.missing

    def run(self, resamples: int = 0) -> ScoreTable:
        """Read the files and score them."""
        metrics = resolve(self.metrics)
        check_tokens(metrics, self.tokenizer)
        engine = self.engine.start()
        if self.large:
            return self._run_large(engine, resamples)
        inputs = read_captions(self.candidates, self.refs, self.reading)
        count = sum(map(len, inputs.systems.values()))
        wanted = count >= _MANY or engine is not None or any(metric.slow for metric in metrics)
        with progress_bar("Scoring", wanted=wanted, engine=engine) as progress:
            table = score_systems(
                inputs,
                metrics=self.metrics,
                tokenizer=self.tokenizer,
                missing=self.policy,
                empty=self.empty,
                match_ids=self.match_ids,
                common=self.missing == "common",
                leave_one_out=self.leave_one_out,
                threads=self.threads,
                progress=progress,
                engine=engine,
            )
        show_engine(engine)
        return replace(table, notes=[*map(as_options, table.notes)], bounds=inputs.bounds)

    def run_samples(self) -> ScoreTable:
        """Score several candidates an item."""
        from reelscore.scoring.sampled_captions import score_samples

        given = {
            "--parts": self.large,
            "--leave-one-out": self.leave_one_out,
            "--missing": self.missing != "error",
        }
        if unfit := [name for name, value in given.items() if value]:
            raise DataError(f"{unfit[0]} does not go with --samples.")
        return score_samples(
            system_files(self.candidates),
            list(self.refs),
            self.metrics,
            tokenizer=self.tokenizer,
            empty=self.empty,
            match_ids=self.match_ids,
            threads=self.threads,
            reading=self.reading,
        )

    def _run_large(self, engine: Engine | None, resamples: int) -> ScoreTable:
        from reelscore.engines.engine import Engine
        from reelscore.scoring.shards.pipeline import score_shards

        needs = {
            "--match-ids": self.match_ids,
            "--leave-one-out": self.leave_one_out,
            "--missing common": self.missing == "common",
        }
        if unfit := [name for name, value in needs.items() if value]:
            raise DataError(
                f"{unfit[0]} needs all captions at once; leave out --parts and --bad-rows."
            )
        files = candidate_files(self.candidates, self.refs, self.reading)
        bounds = oracles(files) if isinstance(files, dict) else []
        with resumable(self.out), progress_bar("Scoring", engine=engine) as progress:
            table = score_shards(
                files,
                list(self.refs) or None,
                self.metrics,
                tokenizer=self.tokenizer,
                missing=self.policy,
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


class _TokenizerName(click.Choice[str]):
    """A tokenizer's name; that of a model is followed by its path."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check a name."""
        named, colon, _ = str(value).partition(":")
        return str(value) if colon and named == FLORES else super().convert(value, param, ctx)


# The options of a preset, and what to know of its numbers.
_PRESETS: dict[str, tuple[dict[str, object], str]] = {
    "ad": (
        {"metrics": "ad"},
        "CRITIC needs names and LLM-AD-Eval a model: -m 'ad|cast:FILE|model:NAME|url:URL'.",
    ),
    "vlmevalkit": (
        {"metrics": "bleu,rouge_l,cider", "tokenizer": "none", "scale": 100.0},
        "VLMEvalKit divides captions at blanks alone: case and punctuation count, and scores are "
        "lower than those of the COCO tools.",
    ),
}


def _preset(context: click.Context, option: click.Parameter, name: str | None) -> str | None:
    """Make the options of a preset the defaults."""
    if name is not None:
        context.default_map = {**(context.default_map or {}), **_PRESETS[name][0]}
    return name


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

candidates_argument = click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATES...")
scoring_options = gathered(
    "scoring",
    ScoringOptions,
    {
        "candidates": candidates_argument,
        "refs": refs_option("References, for example one file per annotator"),
        "metrics": click.option(
            "--metrics",
            "-m",
            default="bleu,meteor,rouge_l,cider",
            show_default=True,
            metavar="LIST",
            help="Metrics, optionally with parameters: 'bleu|n:2,cider'.",
        ),
        "tokenizer": tokenizer_option,
        "reading": reading_options(),
        "missing": choice_option(
            "--missing",
            choices=["error", "zero", "skip", "common"],
            default="error",
            help="What to do with items that have no candidate; common: score all systems only on "
            "the items that every system has.",
        ),
        "empty": choice_option(
            "--empty",
            choices=["error", "zero"],
            default="error",
            help="What to do with captions that have no words, such as '...'.",
        ),
        "match_ids": match_ids_option,
        "leave_one_out": click.option(
            "--leave-one-out",
            is_flag=True,
            help="Score people's captions that are among the references against the others.",
        ),
        "threads": threads_option,
        "engine": engine_option,
        "out": click.option(
            "--parts",
            "out",
            metavar="FOLDER",
            help="For sets larger than memory: read Parquet or JSON Lines in blocks, write item "
            "scores as parts into this folder, and go on there after an interruption.",
        ),
        "bad_rows_file": file_option(
            "--bad-rows",
            "Leave out records that cannot be used, and list them as JSON Lines.",
        ),
        "seed": seed_option,
        "files": result_files(),
    },
)


@click.command("score", cls=FilesCommand)
@scoring_options
@click.option(
    "--preset",
    type=click.Choice([*_PRESETS]),
    is_eager=True,
    callback=_preset,
    help="The row of papers on audio description, or the settings of a tool.",
)
@click.option("--items", is_flag=True, help="Also show the score of every item.")
@click.option(
    "--samples",
    is_flag=True,
    help="Candidates are several an item: score their mean, best and spread, and diversity.",
)
@click.option("--intervals", is_flag=True, help="Add 95 % bootstrap intervals over items.")
@resamples_option("Number of resamples of the intervals.")
@layout_options()
@picture_options
def command(
    scoring: ScoringOptions,
    preset: str | None,
    items: bool,
    samples: bool,
    intervals: bool,
    resamples: int,
    layout: TableLayout,
    pictures: Pictures,
) -> None:
    """Score captions: one row per system.

    CANDIDATES are files of captions, one for each system, or NAME=FILE; a folder or a quoted
    pattern stands for its files, - for standard input. If a file holds references as well as
    captions, --refs is not needed. The content of a file tells its format.

    \b
    Examples:
      reelscore score ours.json --refs refs.json
      reelscore score a=run1.jsonl b=run2.jsonl -r refs.json -m meteor,cider
      reelscore score runs -r MSRVTT_data.json --split test --html report.html
    """
    if items and scoring.large:
        raise DataError("--items: with --parts, the scores of items are in its folder.")
    table = scoring.run_samples() if samples else scoring.run(resamples if intervals else 0)
    own = [_PRESETS[preset][1]] if preset else []
    answers = all(metric.reads == "answers" for metric in resolve(scoring.metrics))
    worst = [] if answers else worst_notes(_scored_captions(table.sources))
    table = replace(table, notes=[*own, *table.notes, *worst])
    if intervals:
        from reelscore.scoring.intervals import with_intervals

        table = with_intervals(table, resamples=resamples, seed=scoring.seed)
    grid = leaderboard(table, layout=layout)
    by_item = item_rows(table, layout) if items else None
    scoring.files.write_table(
        table,
        [by_item or grid],
        csv=lambda: leaderboard_csv(layout.arranged(table), items=items),
    )
    pictures.write(table, resamples=resamples, seed=scoring.seed)
    if scoring.files.shows:
        show(table, grid)
        if by_item is not None:
            click.echo("\n" + by_item.to_text(terminal_width()))


def _scored_captions(sources: Sources) -> Mapping[str, Mapping[str, str]]:
    """Leave out captions without references, which make no score."""
    truth = sources.references
    return {
        name: {item: text for item, text in own.items() if not truth or item in truth}
        for name, own in sources.captions.items()
    }
