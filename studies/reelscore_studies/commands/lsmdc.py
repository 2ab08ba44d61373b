"""``reelscore lsmdc``: the tasks of the LSMDC challenges other than captions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import click

from reelscore.cli.file_options import system_files
from reelscore.cli.options import Command, file_option, gathered, resamples_option, seed_option
from reelscore.cli.report_options import ResultFiles, result_files
from reelscore.cli.terminal import show, write
from reelscore.errors import DataError
from reelscore.report.tables.leaderboard import TableLayout, leaderboard, leaderboard_csv

if TYPE_CHECKING:
    from reelscore_studies.movie_tasks import Texts


class Outcome(NamedTuple):
    """What becomes of the scores."""

    files: ResultFiles
    answers_file: str | None
    intervals: bool
    resamples: int
    seed: int

    def write(
        self, systems: Mapping[str, Texts], references: Mapping[str, list[str]], metric: str
    ) -> None:
        """Score answers, and print or write what was asked for."""
        from reelscore.scoring.captions import score_systems
        from reelscore.scoring.intervals import with_intervals

        if self.answers_file:
            if len(systems) > 1:
                raise DataError("--answers writes one submission; name one.")
            [answers] = systems.values()
            write(self.answers_file, json.dumps(answers, indent=1) + "\n")
        table = score_systems(systems, references, metric)
        if self.intervals:
            table = with_intervals(table, resamples=self.resamples, seed=self.seed)
        layout = TableLayout()
        grid = leaderboard(table, layout=layout)
        self.files.write_table(table, [grid], csv=lambda: leaderboard_csv(layout.arranged(table)))
        if self.files.shows:
            show(table, grid)


@click.command("lsmdc", cls=Command)
@click.argument(
    "task",
    type=click.Choice(["choice", "fillin", "retrieval"]),
    metavar="choice|fillin|retrieval",
)
@click.argument("submissions", nargs=-1, required=True, metavar="SUBMISSION...")
@click.option(
    "--refs",
    "-r",
    metavar="FILE",
    help="The right answer of each item; the right words, or who fills each blank; which clip, "
    "from 1, belongs to each sentence, that in the same place if not given.",
)
@click.option(
    "--sets", metavar="FILE", help="Characters of fillin: the clips of a set on each line."
)
@gathered(
    "outcome",
    Outcome,
    {
        "files": result_files(),
        "answers_file": file_option("--answers", "Write them as a challenge takes them."),
        "intervals": click.option(
            "--intervals", is_flag=True, help="Add 95 % bootstrap intervals."
        ),
        "resamples": resamples_option("Number of resamples of the intervals."),
        "seed": seed_option,
    },
)
def command(
    task: str, submissions: tuple[str, ...], refs: str | None, sets: str | None, outcome: Outcome
) -> None:
    """Score the tasks of the LSMDC challenges other than captions.

    SUBMISSION is FILE or NAME=FILE, one for each system. A table written with --table is tested by
    'reelscore compare'. As tasks of a challenge: see the metric 'right_answers'.

    choice: the share of items with the right sentence of five. Files have an item and the number
    of a sentence on each line, or are a JSON object.

    fillin: the missing words, or with --sets the characters. Words are right or wrong. Characters
    are labels of any kind, one for each blank of a clip; what counts is which blanks of a set are
    the same person.

    retrieval: R@1, R@5, R@10 and the median rank. SUBMISSION is a matrix of similarities,
    sentences × clips: a .npy file, or numbers with commas, tabs or blanks between them. Of clips
    that are equally similar the right one comes last.

    \b
    Examples:
      reelscore lsmdc choice ours.csv --refs answers.csv --intervals
      reelscore lsmdc fillin words.csv --refs answers.csv
      reelscore lsmdc fillin ours.csv --refs references.csv --sets sets.csv
      reelscore lsmdc retrieval similarity.npy --json retrieval.json
    """
    if sets is not None and task != "fillin":
        raise click.UsageError("--sets is for fillin.")
    if task == "retrieval":
        _retrieval(submissions, refs, outcome)
    elif refs is None:
        raise click.UsageError("Missing option '--refs'.")
    elif sets is not None:
        _characters(submissions, refs, sets, outcome)
    else:
        _score_answers(submissions, refs, outcome)


def _retrieval(submissions: tuple[str, ...], refs: str | None, outcome: Outcome) -> None:
    import numpy as np

    from reelscore_studies.movie_tasks import rankings, read_answers, read_similarity

    files = {name.removesuffix(".npy"): path for name, path in system_files(submissions).items()}
    matrices = {name: read_similarity(path) for name, path in files.items()}
    shapes = {matrix.shape for matrix in matrices.values()}
    [(sentences, clips), *others] = shapes
    if others:
        raise DataError(
            f"The matrices have shapes {shapes}; expected the same sentences and clips."
        )
    if refs is None:
        if sentences > clips:
            raise DataError(
                f"{submissions[0]}: {sentences:,} sentences for {clips:,} clips; say which clip "
                "belongs to each: --refs FILE."
            )
        right = np.arange(sentences)
    else:
        answers = read_answers(refs)
        wanted = [str(k) for k in range(1, sentences + 1)]
        for number in wanted:
            clip = answers.get(number, "")
            if not (clip.isdecimal() and 1 <= int(clip) <= clips):
                raise DataError(
                    f"{refs}: sentence {number} has the clip {clip!r}; expected 1 to {clips:,}."
                )
        right = np.array([int(answers[number]) - 1 for number in wanted])
    systems = {name: rankings(matrix, right) for name, matrix in matrices.items()}
    references = {str(k): [str(clip + 1)] for k, clip in enumerate(right.tolist(), start=1)}
    outcome.write(systems, references, f"right_answers|task:ranking|clips:{clips}")


def _characters(submissions: tuple[str, ...], refs: str, sets: str, outcome: Outcome) -> None:
    from reelscore_studies.movie_tasks import character_sets, of_blanks, read_answers

    blanks = read_answers(refs)
    people = character_sets(refs, blanks, sets)
    systems = {}
    for name, path in system_files(submissions).items():
        answers = of_blanks(path, read_answers(path), blanks)
        systems[name] = character_sets(path, answers, sets)
    references = {item: [text] for item, text in people.items()}
    outcome.write(systems, references, "right_answers|task:identities")


def _score_answers(submissions: tuple[str, ...], refs: str, outcome: Outcome) -> None:
    from reelscore_studies.movie_tasks import read_answers

    systems = {name: read_answers(path) for name, path in system_files(submissions).items()}
    references = {item: [answer] for item, answer in read_answers(refs).items()}
    outcome.write(systems, references, "right_answers")
