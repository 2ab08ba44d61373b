"""SODA's manual evaluation (section 6.3) as a kit: what people compare, and who agrees with them.

People compare the oracle captions of two systems, and the references' own captions with two
neighbours swapped and in reverse. A metric is right on a video where it prefers the story that
people prefer. Votes are from −2, the first story is much better, to 2, the second one is.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from reelscore.campaigns import Campaign, metric_accuracy
from reelscore.campaigns.evaluate.preferences import score_all_preferences
from reelscore.campaigns.evaluate.results import campaign_quality
from reelscore.campaigns.hits.design import story_texts
from reelscore.data.atomic_files import make_folder, write_atomically
from reelscore.data.stories import Stories, Story
from reelscore.data.tables.table import ScoreTable
from reelscore.errors import DataError
from reelscore.report.tables.grid import Cell, Grid
from reelscore.store.locations import Where
from reelscore.stories.paired_stories import StoriesLike
from reelscore_studies.stories.drawn_stories import swapped
from reelscore_studies.stories.samples import generator
from reelscore_studies.stories.studies import PAPER, StudyBench

REFERENCES, SWAP, REVERSE = "references", "swap", "reverse"
QUESTIONS = "questions.csv"
_QUESTIONS = 10
_PROTOCOL = "preference"
_PARTS = ("_precision", "_recall")


class Comparisons(NamedTuple):
    """What people compare.

    Attributes:
        stories: Stories by name and video: the systems' oracles, references, swapped, reversed.
        fitting: How many videos are short enough and have few enough captions.
        questions: Test questions on other videos, which only those can answer who watch them:
            the story of the video and that of another one, at the same times.
    """

    stories: dict[str, dict[str, Story]]
    fitting: int
    questions: dict[str, tuple[Story, Story]]


def comparisons(
    systems: Mapping[str, StoriesLike],
    references: StoriesLike | Iterable[StoriesLike],
    *,
    videos: int = 50,
    captions: tuple[int, int] = (3, 5),
    seconds: tuple[float, float] = (90.0, 180.0),
    seed: int = 12345,
    threads: int | None = None,
) -> Comparisons:
    """Draw videos, and make the stories that people compare.

    Args:
        systems: Candidates by system name.
        references: As in `reelscore.stories.score`.
        videos: How many to draw.
        captions: The fewest and the most captions of the references of a video.
        seconds: The shortest and the longest video.
        seed: Seed of the draw, and of what is swapped.
        threads: How many threads to use.

    Raises:
        DataError: If too few videos fit.

    >>> from reelscore import examples
    >>> systems, annotators = examples.stories()
    >>> made = comparisons(systems, annotators["annotator_1"], videos=2, seconds=(0, 999))
    >>> list(made.stories)[2:]
    ['oracle-shuffled', 'references', 'swap', 'reverse']
    """
    bench = StudyBench(references, PAPER, {}, threads)
    truth: dict[str, Story] = {}
    oracles: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, given in systems.items():
        paired = bench.paired(given, name)
        stories, best, _ = bench.oracle(paired)
        truth = dict(zip(paired.videos, stories, strict=True))
        oracles[f"oracle-{name}"] = dict(zip(paired.videos, best, strict=True))
    fitting = sorted(
        video
        for video, story in truth.items()
        if captions[0] <= len(story) <= captions[1]
        and seconds[0] <= (story.duration or 0.0) <= seconds[1]
        and all(oracle[video] for oracle in oracles.values())
    )
    if len(fitting) < videos:
        raise DataError(
            f"{len(fitting)} videos of {seconds[0]:g} to {seconds[1]:g} seconds have "
            f"{captions[0]} to {captions[1]} captions and a story of every system; {videos} are "
            "wanted. Draw fewer, or allow other videos."
        )
    rng = np.random.default_rng(seed)
    chosen = rng.choice(fitting, videos, replace=False).tolist()
    own = {video: truth[video] for video in sorted(chosen)}

    def retold(video: str, sentences: Sequence[str]) -> Story:
        return Story(own[video].segments, tuple(sentences), own[video].duration)

    made = {
        name: {video: retold(video, oracle[video]) for video in own}
        for name, oracle in oracles.items()
    }
    made[REFERENCES] = own
    made[SWAP] = {
        video: retold(video, swapped(story.sentences, generator(seed, 0, video)))
        for video, story in own.items()
    }
    made[REVERSE] = {video: retold(video, story.sentences[::-1]) for video, story in own.items()}
    left = rng.permutation([video for video in fitting if video not in own]).tolist()
    questions = {}
    for video, other in pairwise(left[: _QUESTIONS + 1]):
        right, strange = truth[video], truth[other].sentences
        least = min(len(right), len(strange))
        pair = (sentences[:least] for sentences in (right.sentences, strange))
        first, second = (Story(right.segments[:least], told, right.duration) for told in pair)
        questions[video] = first, second
    return Comparisons(made, len(fitting), questions)


def write_comparisons(made: Comparisons, folder: str | Path) -> list[Path]:
    """Write a file for each kind of story, in ActivityNet's forms, and the test questions."""
    make_folder(folder)
    files = []
    for name, stories in made.stories.items():
        files.append(Path(folder, f"{name}.json"))
        write_atomically(files[-1], msgspec.json.encode(_document(name, stories)))
    if made.questions:
        table = io.StringIO()
        rows = csv.writer(table, lineterminator="\n")
        rows.writerow(("item", "first", "second", "expected"))
        for number, (video, pair) in enumerate(made.questions.items()):
            texts = [story_texts(Stories({video: story}))[video] for story in pair]
            step = -1 if number % 2 else 1  # the right story is not always the first
            rows.writerow((video, *texts[::step], -2 * step))
        write_atomically(Path(folder, QUESTIONS), table.getvalue().encode())
    return files


def _document(name: str, stories: Mapping[str, Story]) -> dict[str, object]:
    if name == REFERENCES:
        return {
            video: {
                "duration": story.duration,
                "timestamps": story.segments.tolist(),
                "sentences": list(story.sentences),
            }
            for video, story in stories.items()
        }
    captions = {
        video: [
            {"sentence": sentence, "timestamp": segment}
            for segment, sentence in zip(story.segments.tolist(), story.sentences, strict=True)
        ]
        for video, story in stories.items()
    }
    return {"version": "VERSION 1.0", "results": captions}


class Accuracy(NamedTuple):
    """How often a metric prefers the story that people prefer.

    Attributes:
        pair: The two systems.
        preferred: The share of videos where people prefer the first.
        metric: The metric.
        accuracy: Its share of right videos, of those where people prefer one.
        videos: How many these are.
        ties: Videos where people prefer neither; they are left out of `accuracy`.
        with_ties: The accuracy if each of them counts half.
    """

    pair: tuple[str, str]
    preferred: float
    metric: str
    accuracy: float
    videos: int
    ties: int
    with_ties: float


def accuracies(where: Where, table: ScoreTable) -> list[Accuracy]:
    """Compare what people preferred in a campaign with the metrics of a table, video by video.

    Args:
        where: The campaign of comparisons.
        table: Scores of the systems' stories, with their videos.

    Raises:
        DataError: If the campaign asks for something else, or nobody trusted has answered.
    """
    with Campaign.open(where) as campaign:
        if campaign.protocol.name != _PROTOCOL:
            raise DataError(
                f"The campaign asks for {campaign.protocol.name}; expected {_PROTOCOL}."
            )
        judgments = campaign.judgments(finished=True)
        found = score_all_preferences(campaign_quality(campaign, judgments).good(judgments))
    rows = []
    for people in found:
        pair = people.system, people.other
        if not set(pair) <= set(table.systems):
            continue
        for metric in table.metrics:
            if not metric.endswith(_PARTS) and all(metric in table[name] for name in pair):
                own = metric_accuracy(table, metric, people)
                ties = own.human_ties
                half = (own.right + ties / 2) / (own.videos + ties)
                rows.append(
                    Accuracy(pair, people.won, metric, own.accuracy, own.videos, ties, half)
                )
    if not rows:
        raise DataError("The table has no scores of two systems that people compared.")
    return rows


def accuracy_grid(rows: Sequence[Accuracy]) -> Grid:
    """Lay out accuracies; "first" is the share of videos where people prefer the first system.

    >>> print(accuracy_grid([Accuracy(("a", "b"), 0.8, "soda_c", 0.75, 40, 10, 0.7)]).to_text())
    pair      first  metric  accuracy  videos  ties  ties half
    a over b   0.80  soda_c      0.75      40    10       0.70
    """
    return Grid(
        ["pair", "first", "metric", "accuracy", "videos", "ties", "ties half"],
        [
            [
                *(Cell(f"{row.pair[0]} over {row.pair[1]}"), Cell(f"{row.preferred:.2f}")),
                *(Cell(row.metric), Cell(f"{row.accuracy:.2f}"), Cell(str(row.videos))),
                *(Cell(str(row.ties)), Cell(f"{row.with_ties:.2f}")),
            ]
            for row in rows
        ],
    )
