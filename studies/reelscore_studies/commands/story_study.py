"""``reelscore stories study``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import click
from msgspec import structs

from reelscore.cli.file_options import FilesCommand, system_files
from reelscore.cli.main import Group
from reelscore.cli.options import (
    Decorator,
    json_option,
    number_option,
    seed_option,
)
from reelscore.cli.protocol_options import (
    protocol_option,
    truth_option,
)
from reelscore.cli.report_options import Outputs, outputs
from reelscore.cli.terminal import (
    STDOUT,
    check_targets,
    progress_bar,
    show_notes,
    show_signature,
    terminal_width,
    write_json,
)
from reelscore.data.tables.table import ScoreTable, system_notes
from reelscore.stories.paired_stories import annotators_of, candidates_of
from reelscore.stories.protocol import Protocol
from reelscore_studies.stories.samples import crowd as crowd_of
from reelscore_studies.stories.studies import (
    PAPER,
    RATIOS,
    Study,
    study_counts,
    study_oracle,
    study_order,
)
from reelscore_studies.stories.tables import draw_counts, study_grids


@click.group("study", cls=Group)
def command() -> None:
    """Repeat the experiments of the SODA papers on your data."""


_repeats = number_option("--repeats", default=5, least=1, help="Number of random draws.")
_seed = seed_option


_SHARED: list[Decorator] = [
    click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATES..."),
    truth_option,
    protocol_option(
        "metrics",
        default=PAPER,
        listed=False,
        help=f"The default is {PAPER}; choices are those of 'reelscore stories score --help'.",
    ),
    click.option(
        "--threads",
        type=click.IntRange(min=1),
        metavar="N",
        help="Threads to use; all cores if not given.",
    ),
]


def _shared(function: Callable[..., None]) -> Callable[..., None]:
    """Return a study the files, the protocol and the outputs."""
    for option in reversed(_SHARED):
        function = option(function)
    return function


@command.command("counts", cls=FilesCommand)
@_shared
@click.option(
    "--m",
    "ratios",
    default=",".join(f"{m:g}" for m in RATIOS),
    show_default=True,
    metavar="LIST",
    help="Captions to draw, in multiples of the number of references.",
)
@click.option(
    "--k", "counts", default="", metavar="LIST", help="Captions to draw, as absolute numbers."
)
@click.option(
    "--crowd",
    type=click.IntRange(min=1),
    metavar="N",
    help=(
        "Study random systems with N captions per video: sentences of the "
        "candidates, random segments."
    ),
)
@_repeats
@_seed
@outputs(".tex", ".md", figure="with scores against counts")
def counts_command(
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    ratios: str,
    counts: str,
    crowd: int | None,
    repeats: int,
    seed: int,
    outputs: Outputs,
    threads: int | None,
    protocol: Protocol,
) -> None:
    """Score fewer and more captions, drawn at random.

    Table 1 of both papers. A video gets m times as many captions as it has references, but at
    least one and at most all of them.

    \b
    Examples:
      reelscore stories study counts ours.json -r val_1.json -o counts.pdf
      reelscore stories study counts ours.json -r val_1.json --m "" --k 3,7,15
    """
    annotators = annotators_of(list(refs), protocol)
    systems = {
        name: candidates_of(path, protocol, name) for name, path in system_files(candidates).items()
    }
    if crowd is not None:
        systems = {
            name: crowd_of(stories, annotators, crowd, seed=seed)
            for name, stories in systems.items()
        }
    with progress_bar("Scoring") as progress:
        study = study_counts(
            systems,
            annotators,
            ratios=_numbers(ratios),
            counts=_counts(counts),
            repeats=repeats,
            seed=seed,
            threads=threads,
            progress=progress,
            **structs.asdict(protocol),
        )
    _finish(study, outputs, partial(draw_counts, study))


@command.command("order", cls=FilesCommand)
@_shared
@_repeats
@_seed
@outputs(".tex", ".md")
def order_command(
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    repeats: int,
    seed: int,
    outputs: Outputs,
    threads: int | None,
    protocol: Protocol,
) -> None:
    """Score the best captions of a system in wrong orders.

    Table 3 of the SODA paper. Every reference gets the caption that describes it best, at about
    its own time (IoU above 0.7). Then two neighbours are swapped, or all are shuffled. The
    change in percent is in brackets.

    \b
    Example:
      reelscore stories study order ours.json -r val_1.json
    """
    repeated = partial(study_order, repeats=repeats, seed=seed)
    _study_files(repeated, candidates, refs, threads, outputs, protocol)


@command.command("oracle", cls=FilesCommand)
@_shared
@outputs(".tex", ".md")
def oracle_command(
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    outputs: Outputs,
    threads: int | None,
    protocol: Protocol,
) -> None:
    """Measure how good and diverse a system's best captions are.

    Table 2 of the SODA paper: the mean sentence score of the best caption for every reference, and
    Self-BLEU, of the captions of each video and of all captions; lower means more diverse. The
    differences of systems are tested over the videos.

    \b
    Example:
      reelscore stories study oracle ours.json theirs.json -r val_1.json
    """
    _study_files(study_oracle, candidates, refs, threads, outputs, protocol)


@command.command("people", cls=FilesCommand)
@click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATES...")
@truth_option
@click.option(
    "--output", "-o", "out", required=True, metavar="FOLDER", help="Where to write the stories."
)
@number_option("--count", "videos", default=50, least=1, help="How many videos to draw.")
@number_option("--most", default=5, least=3, help="The most captions of a video.")
@click.option(
    "--seconds",
    nargs=2,
    type=float,
    default=(90.0, 180.0),
    show_default=True,
    metavar="FROM TO",
    help="How long the videos are.",
)
@_seed
def people_command(
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    out: str,
    videos: int,
    most: int,
    seconds: tuple[float, float],
    seed: int,
) -> None:
    """Write the stories that people compare in the SODA paper (section 6.3).

    Videos are drawn whose references have three captions to --most: of two, both wrong orders
    are the same. The files are the oracle captions of each system, the references, and these
    with two neighbours swapped and in reverse; test questions ask for the right story of other
    videos. The campaigns are made by 'reelscore campaign new --protocol preference', and
    'reelscore stories study accuracy' compares metrics with what people prefer.

    \b
    Example:
      reelscore stories study people ours.json theirs.json -r val_1.json -o compared
    """
    from reelscore_studies.stories.manual_evaluation import (
        QUESTIONS,
        comparisons,
        write_comparisons,
    )

    made = comparisons(
        system_files(candidates),
        list(refs),
        videos=videos,
        captions=(3, most),
        seconds=seconds,
        seed=seed,
    )
    files = write_comparisons(made, out)
    oracles = " ".join(map(str, files[:-3]))
    orders = " ".join(map(str, files[-2:]))
    tests = f" --questions {Path(out, QUESTIONS)}" if made.questions else ""
    if videos < 10:
        tests += f" --per-hit {videos}"
    click.echo(
        f"{videos} of {made.fitting} videos that fit; {len(files)} files in {out}, and "
        f"{len(made.questions)} test questions. Next:"
    )
    for name, stories in (("oracles", oracles), ("orders", orders)):
        if len(stories.split()) > 1:
            click.echo(
                f"  reelscore campaign new {name}.db {stories} --stories --protocol preference "
                f"--raters 12{tests}\n"
                f"  reelscore stories {stories} -r {files[-3]} --json {name}.json\n"
                f"  reelscore stories study accuracy {name}.db {name}.json"
            )


@command.command("accuracy")
@click.argument("campaign", metavar="CAMPAIGN")
@click.argument("table", metavar="TABLE")
@json_option
def accuracy_command(campaign: str, table: str, json_file: str | None) -> None:
    """Measure how often metrics prefer the stories that people prefer.

    CAMPAIGN asked for preferences, TABLE has the scores of the same systems and videos. The mean
    of the raters who answered the test questions rightly decides a video. Videos where people
    prefer neither are left out; the last column counts each of them half. A metric that scores
    both stories alike is wrong.

    \b
    Example:
      reelscore stories study accuracy orders.db orders.json
    """
    from reelscore_studies.stories.manual_evaluation import accuracies, accuracy_grid

    check_targets(json_file)
    rows = accuracies(campaign, ScoreTable.read(table))
    if json_file:
        write_json(json_file, [row._asdict() for row in rows])
    if json_file != STDOUT:
        click.echo(accuracy_grid(rows).to_text(terminal_width()))


def _study_files(
    study: Callable[..., Study],
    candidates: Sequence[str],
    refs: Sequence[str],
    threads: int | None,
    outputs: Outputs,
    protocol: Protocol,
) -> None:
    """Make a study of files, and show or write it."""
    files = system_files(candidates)
    with progress_bar("Scoring") as progress:
        choices = structs.asdict(protocol)
        made = study(files, list(refs), threads=threads, progress=progress, **choices)
    _finish(made, outputs)


def _numbers(text: str) -> tuple[float, ...]:
    """Read a list of numbers such as 0.5,0.7; an empty text has none."""
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list of numbers such as 0.5,0.7.") from None


def _counts(text: str) -> tuple[int, ...]:
    """Read a list of whole numbers such as 3,7; an empty text has none."""
    numbers = _numbers(text)
    if not all(number.is_integer() for number in numbers):
        raise click.BadParameter(f"{text!r} is not a list of whole numbers such as 3,7.")
    return tuple(map(int, numbers))


def _finish(study: Study, outputs: Outputs, draw: Callable[[str], object] | None = None) -> None:
    grids = study_grids(study)
    outputs.write([grid for _, grid in grids], draw=draw, json=study.to_dict)
    if not outputs.shows:
        return
    width = terminal_width()
    for title, grid in grids:
        click.echo(click.style(title, bold=True))
        click.echo(grid.to_text(width, bold=sys.stdout.isatty()) + "\n")
    show_notes(system_notes(study.notes))
    show_signature(study.signature)
