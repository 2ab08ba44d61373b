"""The experiments of the SODA papers, on any data.

``study_counts`` (Table 1 of both papers) draws captions at random: how do scores change with the
number of captions? ``study_order`` (Table 3) puts the best captions a system has, its *oracle*
captions, in the wrong order. ``study_oracle`` (Table 2) says how good and how diverse the oracle
captions are. All start from the papers' protocol, in which the captions of several annotators are
one story; any choice of it can be changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from reelscore import _native
from reelscore.data.stories import Stories, Story
from reelscore.errors import DataError
from reelscore.metrics.self_bleu import SelfBleu
from reelscore.metrics.sent_bleu import smoothed_bleu
from reelscore.stories.pairing import PairedStories, pair_stories
from reelscore.stories.protocol import ACTIVITYNET, SODA_SCORES, Protocol
from reelscore.stories.results import PREFIX
from reelscore.stories.sampling import generator, one_story, shuffled, some_of, swapped, varied
from reelscore.stories.scoring import (
    Progress,
    StoriesLike,
    StoryScorer,
    annotators_of,
    candidates_of,
    protocol_of,
)
from reelscore.stories.sentences import SentenceScore, looks_at_pairs_alone, sentence_metric
from reelscore.stories.texts import PairStatistics, TextPool
from reelscore.text.packed import pack
from reelscore.text.tokens import thread_count, tokenize
from reelscore.text.words import Captions

PAPER = "soda-paper"
RATIOS = (0.1, 0.5, 1.0, 2.0, 10.0)
CURRENT = PREFIX + "meteor"
ALL = "all"
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
    """

    name: str
    settings: Sequence[Setting]
    signature: str
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def systems(self) -> list[str]:
        """The systems' names, in order."""
        return list(dict.fromkeys(each.system for each in self.settings))

    def of(self, system: str) -> list[Setting]:
        """The settings of one system."""
        return [each for each in self.settings if each.system == system]

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain data, ready for JSON."""
        return asdict(self)


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
    >>> study = study_counts({"verbose": systems["verbose"]}, annotators.values(), repeats=2)
    >>> [(each.setting, round(each.scores["soda_c"], 3)) for each in study.settings]
    [('m=0.1', 0.049), ('m=0.5', 0.105), ('m=1', 0.123), ('m=2', 0.113), ('m=10', 0.113),
     ('all', 0.113)]
    """
    _check(repeats, [*ratios, *counts])
    bench = _Bench(references, preset, choices, threads)
    sizes: dict[str, Callable[[float], int]] = {}
    for m in ratios:
        sizes[f"m={m:g}"] = lambda wanted, m=m: max(1, int(m * wanted))
    for k in counts:
        sizes[f"k={k}"] = lambda wanted, k=k: k
    todo = [(setting, r) for setting in sizes for r in range(repeats)]
    report = _Report(progress, len(systems) * (len(todo) + 1))
    settings, notes = [], {}
    for name, given in systems.items():
        paired = bench.paired(given, name)
        notes[name] = paired.notes
        for setting, size in sizes.items():
            drawn = (_drawn(paired, bench, size, seed, r) for r in range(repeats))
            settings.append(bench.setting(name, setting, drawn, report))
        settings.append(bench.setting(name, ALL, [_stories(paired, paired.candidates)], report))
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
    three orders have the same segments. Arguments are those of `study_counts`.

    >>> from reelscore import examples
    >>> systems, annotators = examples.stories()
    >>> study = study_order({"verbose": systems["verbose"]}, annotators["annotator_1"], repeats=2)
    >>> [(each.setting, round(each.scores["soda_c"], 3)) for each in study.settings]
    [('correct', 0.238), ('swap', 0.178), ('shuffle', 0.144)]
    """
    _check(repeats, [])
    bench = _Bench(references, preset, choices, threads)
    report = _Report(progress, len(systems) * len(ORDERS) * repeats)
    settings, notes = [], {}
    for name, given in systems.items():
        paired = bench.paired(given, name)
        notes[name] = paired.notes
        truth = [one_story(each) for each in paired.references]
        oracle, _ = bench.oracle(paired, truth)
        for order in ORDERS:
            made = (_ordered(paired, truth, oracle, order, seed, r) for r in range(repeats))
            settings.append(bench.setting(name, order, made, report))
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
    """Measure how good and how diverse the best captions of each system are.

    ``f`` is the mean over all references of the best caption's sentence score. ``self_bleu`` says
    how much the oracle captions of a video resemble each other, on average over videos with at
    least two; ``self_bleu_all`` the same over all oracle captions together. A lower one means more
    diverse captions. The references are a system of their own, for comparison. Arguments are those
    of `study_counts`.

    >>> from reelscore import examples
    >>> systems, annotators = examples.stories()
    >>> study = study_oracle({"verbose": systems["verbose"]}, annotators["annotator_1"])
    >>> {each.system: round(each.scores["f"], 3) for each in study.settings}
    {'verbose': 0.284, 'references': 1.0}
    """
    bench = _Bench(references, preset, choices, threads)
    report = _Report(progress, len(systems) + 1)
    settings, notes = [], {}
    for name, given in systems.items():
        paired = bench.paired(given, name)
        notes[name] = paired.notes
        truth = [one_story(each) for each in paired.references]
        oracle, scores = bench.oracle(paired, truth)
        found = {"f": float(np.mean(scores)), **bench.diversity(oracle)}
        settings.append(_oracle_setting(name, oracle, truth, found))
        report()
    everything = {video: each[video] for each in bench.annotators for video in each}
    truth = [
        one_story([each[video] for each in bench.annotators if video in each])
        for video in everything
    ]
    sentences = [story.sentences for story in truth]
    found = {"f": 1.0, **bench.diversity(sentences)}
    settings.append(_oracle_setting("references", sentences, truth, found))
    report()
    return Study("oracle", settings, bench.signature("oracle"), notes)


class _Report:
    """Counts steps for a progress bar."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._done, self._total = progress, 0, total

    def __call__(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)


class _Bench:
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
        self.annotators = annotators_of(references, self.protocol)
        self._scorer = StoryScorer(self.annotators, self.protocol, threads)
        self._threads = thread_count(threads)
        self._made_by: dict[str, str] = {}

    def paired(self, candidates: StoriesLike, name: str) -> PairedStories:
        stories = candidates_of(candidates, self.protocol, name)
        return pair_stories(stories, self.annotators, self.protocol)

    def wanted(self, truth: Sequence[Story]) -> float:
        """How many captions the truth of a video has, as the protocol sees it."""
        total = sum(map(len, truth))
        return total if self.protocol.annotators == "merge" else total / len(truth)

    def setting(
        self, system: str, setting: str, made: Iterable[Stories], report: Callable[[], None]
    ) -> Setting:
        """Score the stories of each repetition and average."""
        rows, captions, ratios = [], [], []
        for stories in made:
            found = self._scorer.score(stories)
            rows.append({name: result.score for name, result in found.items()})
            self._made_by |= {name: result.signature for name, result in found.items()}
            paired = pair_stories(stories, self.annotators, self.protocol)
            for story, truth in zip(paired.candidates, paired.references, strict=True):
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

    def oracle(
        self, paired: PairedStories, truth: Sequence[Story]
    ) -> tuple[list[tuple[str, ...]], list[float]]:
        """For each video the best candidate of every reference, and the scores of all of them."""
        metric = sentence_metric(self.protocol.f)
        sentences = [sentence for story in truth for sentence in story.sentences]
        known_references = [] if looks_at_pairs_alone(metric) else self._tokens(sentences)
        swapped = self.protocol.meteor_order == "swapped"
        f = SentenceScore(metric, known_references, swapped=swapped, threads=self._threads)
        oracle, scores = [], []
        for story, references in zip(paired.candidates, truth, strict=True):
            if not len(story):
                oracle.append(())
                scores += [0.0] * len(references)
                continue
            ours = story.in_time_order().sentences
            pool = TextPool()
            known = PairStatistics(metric, pool, self._threads)
            rows, columns = np.indices((len(ours), len(references))).reshape(2, -1)
            numbers = [pool.add(self._tokens(side)) for side in (ours, references.sentences)]
            values = f.of_pairs(pool, known, numbers[0][rows], numbers[1][columns])
            table = values.reshape(len(ours), len(references))
            oracle.append(tuple(ours[int(k)] for k in table.argmax(axis=0)))
            scores += table.max(axis=0).tolist()
        return oracle, scores

    def diversity(self, stories: Sequence[Sequence[str]]) -> dict[str, float]:
        """Self-BLEU inside videos and over everything."""
        several = [story for story in stories if len(story) > 1]
        captions = Captions(pack(self._tokens([text for story in several for text in story])))
        groups = np.cumsum([0, *map(len, several)], dtype=np.int64)
        n = SelfBleu().n
        found = {}
        for name, offsets in (("self_bleu", groups), ("self_bleu_all", groups[[0, -1]])):
            counts = _native.self_bleu_statistics(*captions.words, offsets, n, self._threads)
            each = smoothed_bleu(counts, n, "epsilon", 0.1)
            totals = np.add.reduceat(each, offsets[:-1]) if several else np.zeros(1)
            found[name] = float(np.mean(totals / np.maximum(np.diff(offsets), 1)))
        return found

    def signature(self, study: str, repeats: int = 0, seed: int = 0) -> str:
        """Parameters of the study, then of the current framework's METEOR and of SODA (c)."""
        own = [f"study:{study}"] + ([f"repeats:{repeats}", f"seed:{seed}"] if repeats else [])
        if not self._made_by:
            f = sentence_metric(self.protocol.f).signature().replace("|", "/")
            return "|".join([*own, f"f:{f}", f"missing:{self.protocol.missing}"])
        return "|".join([*own, self._made_by[CURRENT], self._made_by["soda_c"]])

    def _tokens(self, sentences: Sequence[str]) -> list[str]:
        return tokenize(list(sentences), self.protocol.tokenizer, threads=self._threads)


def _drawn(
    paired: PairedStories, bench: _Bench, size: Callable[[float], int], seed: int, repetition: int
) -> Stories:
    drawn = (
        some_of(story, size(bench.wanted(truth)), generator(seed, repetition, video))
        for video, story, truth in zip(
            paired.videos, paired.candidates, paired.references, strict=True
        )
    )
    return _stories(paired, drawn)


def _ordered(
    paired: PairedStories,
    truth: Sequence[Story],
    oracle: Sequence[tuple[str, ...]],
    order: str,
    seed: int,
    repetition: int,
) -> Stories:
    def made() -> Iterator[Story]:
        for video, story, sentences in zip(paired.videos, truth, oracle, strict=True):
            rng = generator(seed, repetition, video)
            segments = varied(story, rng)
            if order == "swap":
                sentences = swapped(sentences, rng)
            elif order == "shuffle":
                sentences = shuffled(sentences, rng)
            yield Story(segments[: len(sentences)], sentences, story.duration)

    return _stories(paired, made())


def _stories(paired: PairedStories, stories: Iterable[Story]) -> Stories:
    return Stories(dict(zip(paired.videos, stories, strict=True)))


def _oracle_setting(
    name: str, oracle: Sequence[Sequence[str]], truth: Sequence[Story], scores: dict[str, float]
) -> Setting:
    counts = [(len(o), len(t)) for o, t in zip(oracle, truth, strict=True) if o]
    captions = float(np.mean([ours for ours, _ in counts])) if counts else 0.0
    ratio = float(np.mean([ours / theirs for ours, theirs in counts])) if counts else 0.0
    return Setting(name, "oracle", captions, ratio, scores, dict.fromkeys(scores, 0.0))


def _check(repeats: int, sizes: Sequence[float]) -> None:
    if repeats < 1:
        raise DataError(f"repeats is {repeats}; expected at least 1.")
    for size in sizes:
        if not 0 < size < np.inf:
            raise DataError(f"{size} captions cannot be drawn; expected a number above 0.")
