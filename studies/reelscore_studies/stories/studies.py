"""The experiments of the SODA papers, on any data.

``study_counts`` (Table 1 of both papers) draws captions at random: how do scores change with the
number of captions? ``study_order`` (Table 3) puts the best captions a system has, its *oracle*
captions, in the wrong order. ``study_oracle`` (Table 2) says how good and how diverse the oracle
captions are. All start from the papers' protocol, in which the captions of several annotators are
one story; any choice of it can be changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from reelscore._progress import Progress, Steps
from reelscore.data.stories import Stories, Story
from reelscore.data.tables.scales import HIGHER, Scale
from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
from reelscore.errors import DataError
from reelscore.significance import Comparison, compare
from reelscore.stories.paired_stories import (
    PairedStories,
    StoriesLike,
    annotators_of,
    candidates_of,
    pair_stories,
)
from reelscore.stories.protocol import ACTIVITYNET, SODA_SCORES, protocol_of
from reelscore.stories.sentence_scores import sentence_metric
from reelscore.stories.story_scorer import StoryScorer
from reelscore.stories.video_scores import PREFIX, spelled
from reelscore.text.tokens import thread_count
from reelscore_studies.stories.drawn_stories import (
    Sentences,
    one_story,
    oracle_captions,
    self_bleu_of,
    shuffled,
    some_of,
    swapped,
    varied,
)
from reelscore_studies.stories.samples import generator

PAPER = "soda-paper"
RATIOS = (0.1, 0.5, 1.0, 2.0, 10.0)
CURRENT = PREFIX + "meteor"
ALL = "all"
_LOWER = Scale(better="low")
ORDERS = ("correct", "swap", "shuffle")


@dataclass(frozen=True)
class Setting:
    """What one setting of a study gave for one system, as means over the repetitions.

    Attributes:
        system: The system's name.
        setting: ``m=0.5``, ``k=7``, ``all``; ``correct``, ``swap``, ``shuffle``; ``oracle``.
        captions: Captions of a video that has some, on average.
        ratio: Captions over references, on average over such videos.
        scores: By name.
        spread: The standard deviation over repetitions, by name; 0 for a single one.
    """

    system: str
    setting: str
    captions: float
    ratio: float
    scores: Mapping[str, float]
    spread: Mapping[str, float]


@dataclass(frozen=True)
class Study:
    """All settings of a study, and how they were made.

    Attributes:
        name: ``counts``, ``order`` or ``oracle``.
        settings: In order, those of each system together.
        signature: Parameters, seed and protocol.
        notes: What the policies did, by system.
        tests: Of the oracle study: which system is better, by f and Self-BLEU, video by video.
    """

    name: str
    settings: Sequence[Setting]
    signature: str
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tests: Sequence[Comparison] = ()

    @property
    def systems(self) -> list[str]:
        """The systems' names, in order."""
        return list(dict.fromkeys(each.system for each in self.settings))

    def of(self, system: str) -> list[Setting]:
        """Return the settings of one system."""
        return [each for each in self.settings if each.system == system]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        tests = [
            {"score": t.metric, "systems": list(t.systems), "p": np.nan_to_num(t.p, nan=1).tolist()}
            for t in self.tests
        ]
        return {**asdict(replace(self, tests=())), "tests": tests}


def study_counts(
    systems: Mapping[str, StoriesLike],
    references: StoriesLike | Iterable[StoriesLike],
    *,
    ratios: Sequence[float] = RATIOS,
    counts: Sequence[int] = (),
    repeats: int = 5,
    seed: int = 12345,
    preset: str | None = PAPER,
    threads: int | None = None,
    progress: Progress | None = None,
    **choices: Any,
) -> Study:
    """Score random captions of each video, fewer and more of them, and finally all.

    A video gets m × its number of references, cut to a whole number, but at least one caption and
    at most those there are. The number of references is that of all annotators together where
    they are merged, and the mean over annotators otherwise.

    Args:
        systems: Candidates by system name.
        references: As in `reelscore.stories.score`.
        ratios: The values of m, none or several.
        counts: Fixed numbers of captions a video, none or several (k of the Japanese paper).
        repeats: How often to draw.
        seed: Seed of the draws.
        preset: A named protocol to start from.
        threads: How many threads to use.
        progress: Called with how many scorings are done, of how many.
        choices: Choices of the protocol.

    >>> from reelscore import examples
    >>> systems, annotators = examples.stories()
    >>> study = study_counts({"verbose": systems["verbose"]}, annotators["annotator_1"])
    >>> [(each.setting, round(each.scores["soda_c"], 3)) for each in study.settings]
    [('m=0.1', 0.026), ('m=0.5', 0.046), ('m=1', 0.089), ('m=2', 0.097), ('m=10', 0.079),
     ('all', 0.079)]
    """
    _check(repeats, [*ratios, *counts])
    bench = StudyBench(references, preset, choices, threads)
    sizes: dict[str, Callable[[float], int]] = {f"m={m:g}": partial(_share, m) for m in ratios}
    sizes |= {f"k={k}": partial(_fixed, k) for k in counts}
    report = Steps(progress, len(systems) * (len(sizes) * repeats + 1))
    settings, notes = [], {}
    for name, given in systems.items():
        paired = bench.paired(given, name)
        notes[name] = paired.notes
        for setting, size in sizes.items():
            drawn = (_drawn(paired, bench, size, seed, r) for r in range(repeats))
            settings.append(bench.setting(name, setting, paired, drawn, report))
        settings.append(bench.setting(name, ALL, paired, [paired.candidates], report))
    return Study("counts", settings, bench.signature("counts", repeats, seed), notes)


def study_order(
    systems: Mapping[str, StoriesLike],
    references: StoriesLike | Iterable[StoriesLike],
    *,
    repeats: int = 5,
    seed: int = 12345,
    preset: str | None = PAPER,
    threads: int | None = None,
    progress: Progress | None = None,
    **choices: Any,
) -> Study:
    """Score oracle captions in the correct order, with two neighbours swapped, and shuffled.

    Every reference gets the system's caption that f finds best for it, at the reference's segment,
    whose ends are moved at random such that their IoU stays above 0.7. In a repetition all
    three orders have the same segments.

    ``systems``, ``references``, ``repeats``, ``seed``, ``preset``, ``threads``, ``progress`` and
    ``choices`` are as in `study_counts`.

    >>> from reelscore import examples
    >>> systems, annotators = examples.stories()
    >>> study = study_order({"verbose": systems["verbose"]}, annotators["annotator_1"], repeats=2)
    >>> [(each.setting, round(each.scores["soda_c"], 3)) for each in study.settings]
    [('correct', 0.194), ('swap', 0.125), ('shuffle', 0.073)]
    """
    _check(repeats, [])
    bench = StudyBench(references, preset, choices, threads)
    report = Steps(progress, len(systems) * len(ORDERS) * repeats)
    settings, notes = [], {}
    for name, given in systems.items():
        paired = bench.paired(given, name)
        notes[name] = paired.notes
        truth, oracle, _ = bench.oracle(paired)
        for order in ORDERS:
            made = (_ordered(paired, truth, oracle, order, seed, r) for r in range(repeats))
            settings.append(bench.setting(name, order, paired, made, report))
    return Study("order", settings, bench.signature("order", repeats, seed), notes)


def study_oracle(
    systems: Mapping[str, StoriesLike],
    references: StoriesLike | Iterable[StoriesLike],
    *,
    preset: str | None = PAPER,
    threads: int | None = None,
    progress: Progress | None = None,
    **choices: Any,
) -> Study:
    """Measure how good and how diverse the best captions of each system are, and who is better.

    ``f`` is the mean over all references of the best caption's sentence score. ``self_bleu`` says
    how much the oracle captions of a video resemble each other, on average over videos with at
    least two; ``self_bleu_all`` the same over all oracle captions together. A lower one means more
    diverse captions. The references are a system of their own, for comparison. Differences of
    systems are tested on the videos' means, of ``self_bleu`` on videos with two references or more.

    ``systems``, ``references``, ``preset``, ``threads``, ``progress`` and ``choices`` are as in
    `study_counts`.

    >>> from reelscore import examples
    >>> systems, annotators = examples.stories()
    >>> study = study_oracle({"verbose": systems["verbose"]}, annotators["annotator_1"])
    >>> {each.system: round(each.scores["f"], 3) for each in study.settings}
    {'verbose': 0.243, 'references': 1.0}
    """
    bench = StudyBench(references, preset, choices, threads)
    report = Steps(progress, len(systems) + 1)
    settings, notes = [], {}
    by_video: dict[str, dict[str, MetricResult]] = {}
    for name, given in systems.items():
        paired = bench.paired(given, name)
        notes[name] = paired.notes
        truth, oracle, scores = bench.oracle(paired)
        settings.append(bench.oracle_setting(name, oracle, truth, float(np.mean(scores))))
        by_video[name] = bench.oracle_by_video(paired.videos, oracle, truth, scores)
        report()
    videos = dict.fromkeys(video for each in bench.annotators for video in each)
    truth = [one_story([each[v] for each in bench.annotators if v in each]) for v in videos]
    settings.append(
        bench.oracle_setting("references", [story.sentences for story in truth], truth, 1.0)
    )
    report()
    tests = compare(ScoreTable(by_video), tests=["randomization"]) if len(by_video) > 1 else []
    return Study("oracle", settings, bench.signature("oracle"), notes, tests)


class StudyBench:
    """Protocol, references and scorer that all settings of a study share."""

    def __init__(
        self,
        references: StoriesLike | Iterable[StoriesLike],
        preset: str | None,
        choices: Mapping[str, Any],
        threads: int | None,
    ) -> None:
        fixed = {"scores": ("soda", ACTIVITYNET), "metrics": ("meteor",)}
        self.protocol = protocol_of(preset, {**choices, **fixed})
        if self.protocol.missing == "common":
            raise DataError('Studies draw captions of every video; pass missing="zero" or "skip".')
        self.annotators = annotators_of(references, self.protocol)
        self._scorer = StoryScorer(self.annotators, self.protocol, threads)
        self.threads = thread_count(threads)
        self._made_by: dict[str, str] = {}

    def paired(self, candidates: StoriesLike, name: str) -> PairedStories:
        """Pair a system's stories with the references."""
        stories = candidates_of(candidates, self.protocol, name)
        return pair_stories(stories, self.annotators, self.protocol)

    def oracle(
        self, paired: PairedStories
    ) -> tuple[list[Story], Sequence[Sentences], Sequence[float]]:
        """Each video's references as one story, the best captions for them, and their scores."""
        truth = [one_story(each) for each in paired.references]
        return truth, *oracle_captions(paired.candidates, truth, self.protocol, self.threads)

    def wanted(self, truth: Sequence[Story]) -> float:
        """Return how many captions the truth of a video has, as the protocol sees it."""
        total = sum(map(len, truth))
        return total if self.protocol.annotators == "merge" else total / len(truth)

    def setting(
        self,
        system: str,
        setting: str,
        paired: PairedStories,
        made: Iterable[Sequence[Story]],
        report: Callable[[], None],
    ) -> Setting:
        """Score what each repetition made of the videos, and average."""
        rows, captions, ratios = [], [], []
        for stories in made:
            by_video = dict(zip(paired.videos, stories, strict=True))
            scores = self._scorer.score(Stories(by_video, self.protocol.policies))
            rows.append({name: result.score for name, result in scores.items()})
            self._made_by |= {name: result.signature for name, result in scores.items()}
            for story, truth in zip(stories, paired.references, strict=True):
                if len(story):
                    captions.append(len(story))
                    ratios.append(len(story) / self.wanted(truth))
            report()
        names = [CURRENT, *(n for n in rows[0] if n.startswith(SODA_SCORES))]
        values = {name: [row[name] for row in rows] for name in names}
        return Setting(
            system,
            setting,
            float(np.mean(captions)),
            float(np.mean(ratios)),
            {name: float(np.mean(each)) for name, each in values.items()},
            {name: float(np.std(each)) for name, each in values.items()},
        )

    def oracle_setting(
        self, system: str, oracle: Sequence[Sentences], truth: Sequence[Story], f: float
    ) -> Setting:
        """Measure the diversity of oracle captions."""
        inside, over_all = self_bleu_of(oracle, self.protocol.tokenizer, self.threads)
        mean = float(inside.mean()) if len(inside) else 0.0
        scores = {"f": f, "self_bleu": mean, "self_bleu_all": over_all}
        counts = [len(sentences) for sentences in oracle if sentences]
        return Setting(
            system, "oracle", float(np.mean(counts)), 1.0, scores, dict.fromkeys(scores, 0.0)
        )

    def oracle_by_video(
        self,
        videos: Sequence[str],
        oracle: Sequence[Sentences],
        truth: Sequence[Story],
        scores: Sequence[float],
    ) -> dict[str, MetricResult]:
        """Return the mean f of each video, and the Self-BLEU of those with two captions."""
        ends = np.cumsum([len(story) for story in truth])
        parts = np.split(np.array(scores), ends[:-1])
        f = {v: float(part.mean()) for v, part in zip(videos, parts, strict=True) if len(part)}
        inside, _ = self_bleu_of(oracle, self.protocol.tokenizer, self.threads)
        several = [v for v, own in zip(videos, oracle, strict=True) if len(own) > 1]
        diversity = dict(zip(several, inside.tolist(), strict=True))
        return {
            name: MetricResult(
                name,
                float(np.mean(list(items.values()))),
                ItemScores.of(items),
                f"study:oracle|{name}",
                scale=scale,
            )
            for name, items, scale in (("f", f, HIGHER), ("self_bleu", diversity, _LOWER))
            if items
        }

    def signature(self, study: str, repeats: int = 0, seed: int = 0) -> str:
        """Parameters of the study, then of the current framework's METEOR and of SODA (c)."""
        own = [f"study:{study}"] + ([f"repeats:{repeats}", f"seed:{seed}"] if repeats else [])
        if not self._made_by:
            f = spelled(sentence_metric(self.protocol.f))
            return "|".join([*own, f"f:{f}", f"missing:{self.protocol.missing}"])
        return "|".join([*own, self._made_by[CURRENT], self._made_by["soda_c"]])


def _share(m: float, references: float) -> int:
    return max(1, int(m * references + 1e-9))  # 0.29 × 100 is a little less than 29


def _fixed(k: int, references: float) -> int:
    return k


def _drawn(
    paired: PairedStories,
    bench: StudyBench,
    size: Callable[[float], int],
    seed: int,
    repetition: int,
) -> list[Story]:
    """Draw captions of each video."""
    return [
        some_of(story, size(bench.wanted(truth)), generator(seed, repetition, video))
        for video, story, truth in zip(
            paired.videos, paired.candidates, paired.references, strict=True
        )
    ]


def _ordered(
    paired: PairedStories,
    truth: Sequence[Story],
    oracle: Sequence[Sentences],
    order: str,
    seed: int,
    repetition: int,
) -> list[Story]:
    """Put the oracle captions of each video at varied segments of its references."""
    change = {"correct": lambda sentences, _: sentences, "swap": swapped, "shuffle": shuffled}
    made = []
    for video, story, sentences in zip(paired.videos, truth, oracle, strict=True):
        rng = generator(seed, repetition, video)
        segments = varied(story, rng)[: len(sentences)]  # drawn first: the same for all orders
        made.append(Story(segments, change[order](sentences, rng), story.duration))
    return made


def _check(repeats: int, sizes: Sequence[float]) -> None:
    if repeats < 1:
        raise DataError(f"repeats is {repeats}; expected at least 1.")
    for size in sizes:
        if not 0 < size < np.inf:
            raise DataError(f"{size} captions cannot be drawn; expected a number above 0.")
