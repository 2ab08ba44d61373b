"""What captions are about: topics of their verbs, and how systems score on each.

As in the movie description paper (Rohrbach et al., 2017, Table 14 and Fig. 9): the topic of a verb
is the lexicographer file of its sense in WordNet, such as motion; scores are those of items whose
references have exactly one verb.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from reelscore.errors import check_choice
from reelscore.report.plots.style import COLUMN_WIDTH, GREY, PALETTE, figure, save
from reelscore.report.safe_text import shared_beginning, system_names
from reelscore.report.tables.grid import Cell, Grid
from reelscore.stats.resampling import bootstrap_scores, percentile_interval
from reelscore.text.parser.roles import Filler, Sentence

Units = Literal["single", "first"]
NO_TOPIC = "none"
FEW = 20  # items below which a mean says little
_MARKS = "osD^v<>P"


@dataclass(frozen=True)
class Topic:
    """The verbs of one topic.

    Attributes:
        name: The topic, `none` for verbs that WordNet lacks.
        verbs: How many verbs there are, each occurrence counted.
        share: Their share of all verbs.
        entropy: Of the distribution over its verbs, in bits.
        frequent: The three most frequent verbs.
    """

    name: str
    verbs: int
    share: float
    entropy: float
    frequent: tuple[str, ...]


@dataclass(frozen=True)
class TopicTable:
    """The topics of captions, most frequent first, and how many verbs the captions have."""

    topics: list[Topic]
    captions: int
    without_verb: int
    with_one: int
    with_several: int


@dataclass(frozen=True)
class TopicScore:
    """The mean score of a system on items of one topic, with a bootstrap interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class TopicScores:
    """Scores of systems by topic.

    Attributes:
        items: How many items have a reference of each topic.
        weights: The sum of their weights: an item counts once, split over its references.
        scores: By topic and system.
        units: `single`: references with one verb; `first`: the first verb of each reference.
        references: How many references count.
    """

    items: dict[str, int]
    weights: dict[str, float]
    scores: dict[str, dict[str, TopicScore]]
    units: Units
    references: int

    def best(self, topic: str) -> str:
        """Return the system with the highest mean."""
        return max(self.scores[topic], key=lambda system: self.scores[topic][system].mean)


def verbs_of(sentence: Sentence) -> list[Filler]:
    """The verbs of a caption; *be* counts as the main verb, not before a noun or adjective."""
    return [
        clause.verb
        for clause in sentence.clauses
        if clause.verb is not None and sentence.tokens[clause.verb.head].relation != "cop"
    ]


def topic_of(verb: Filler) -> str:
    """Return the topic of a verb, `none` where WordNet lacks it."""
    return verb.sense.topic if verb.sense else NO_TOPIC


def topic_table(parsed: Mapping[str, Sequence[Sentence]]) -> TopicTable:
    """Count the verbs of captions by topic."""
    verbs: defaultdict[str, Counter[str]] = defaultdict(Counter)
    per_caption: Counter[int] = Counter()
    for sentence in (s for sentences in parsed.values() for s in sentences):
        found = verbs_of(sentence)
        per_caption[min(len(found), 2)] += 1
        for verb in found:
            verbs[topic_of(verb)][verb.lemma] += 1
    total = sum(count.total() for count in verbs.values())
    topics = [
        Topic(
            name=name,
            verbs=count.total(),
            share=count.total() / total,
            entropy=entropy(list(count.values())),
            frequent=tuple(sorted(count, key=lambda verb: (-count[verb], verb))[:3]),
        )
        for name, count in verbs.items()
    ]
    topics.sort(key=lambda topic: (topic.name == NO_TOPIC, -topic.verbs, topic.name))
    return TopicTable(topics, per_caption.total(), *(per_caption[k] for k in range(3)))


def entropy(counts: Sequence[int]) -> float:
    """Entropy of a distribution in bits.

    >>> entropy([2, 1, 1])
    1.5
    """
    total = sum(counts)
    return -sum(n / total * math.log2(n / total) for n in counts if n) + 0.0


def topic_scores(
    parsed: Mapping[str, Sequence[Sentence]],
    scores: Mapping[str, Mapping[str, float]],
    *,
    units: Units = "single",
    resamples: int = 1000,
    seed: int = 12345,
) -> TopicScores:
    """Mean scores of systems on items of each topic.

    An item counts once: its score is split evenly over its references that count.
    """
    check_choice("kind of units", units, get_args(Units))
    weights: defaultdict[str, dict[str, float]] = defaultdict(dict)
    references = 0
    for item, sentences in parsed.items():
        topics = list(_unit_topics(sentences, units))
        references += len(topics)
        for topic in topics:
            weights[topic][item] = weights[topic].get(item, 0.0) + 1 / len(topics)
    order = sorted(weights, key=lambda name: (name == NO_TOPIC, -sum(weights[name].values()), name))
    return TopicScores(
        items={topic: len(weights[topic]) for topic in order},
        weights={topic: sum(weights[topic].values()) for topic in order},
        scores={
            topic: {
                system: _mean(weights[topic], values, resamples, seed)
                for system, values in scores.items()
            }
            for topic in order
        },
        units=units,
        references=references,
    )


def _unit_topics(sentences: Sequence[Sentence], units: Units) -> Iterator[str]:
    for sentence in sentences:
        verbs = verbs_of(sentence)
        if verbs and (units == "first" or len(verbs) == 1):
            yield topic_of(verbs[0])


def _mean(
    weights: Mapping[str, float], values: Mapping[str, float], resamples: int, seed: int
) -> TopicScore:
    rows = np.array([[weight * values[item], weight] for item, weight in weights.items()])
    mean = float(rows[:, 0].sum() / rows[:, 1].sum())
    samples = bootstrap_scores(
        rows, lambda totals: totals[..., :1] / totals[..., 1:], resamples=resamples, seed=seed
    )
    low, high = percentile_interval(samples)[:, 0]
    return TopicScore(mean, float(low), float(high))


def topic_grid(table: TopicTable) -> Grid:
    """Topics with the number of verbs, their share, entropy, and the most frequent ones."""
    rows = [
        [
            Cell(topic.name),
            Cell(f"{topic.verbs:,}"),
            Cell(f"{100 * topic.share:.1f}"),
            Cell(f"{topic.entropy:.2f}"),
            Cell(", ".join(topic.frequent)),
        ]
        for topic in table.topics
    ]
    return Grid(["topic", "verbs", "%", "entropy", "most frequent"], rows)


def score_grid(scores: TopicScores) -> Grid:
    """Mean scores of systems by topic, half-widths of their intervals below; the best is marked."""
    systems = list(next(iter(scores.scores.values()), {}))
    rows = []
    for topic, by_system in scores.scores.items():
        few = scores.items[topic] < FEW
        best = scores.best(topic)
        means = [by_system[system].mean for system in systems]
        cells = [Cell(topic), Cell(f"{scores.items[topic]:,}")]
        for system in systems:
            score = by_system[system]
            text = f"({score.mean:.3f})" if few else f"{score.mean:.3f}"
            mark = "*" if system == best and len(systems) > 1 else ""
            under = f"{score.low:.3f}–{score.high:.3f}" if scores.items[topic] > 1 else ""
            cells.append(Cell(text, mark=mark, under=under, best=system == best))
        if len(systems) > 1:
            cells += [Cell(f"{min(means):.3f}"), Cell(f"{max(means):.3f}")]
        rows.append(cells)
    extremes = ["min", "max"] if len(systems) > 1 else []
    notes = ["* best of the topic" if len(systems) > 1 else ""]
    if any(count < FEW for count in scores.items.values()):
        notes.append(f"( ) fewer than {FEW} items")
    notes.append(shared_beginning(systems))
    names = system_names(systems)
    columns = ["topic", "items", *(names[system] for system in systems), *extremes]
    return Grid(columns, rows, notes=[note for note in notes if note])


def draw_topics(scores: TopicScores, metric: str, path: str | Path) -> None:
    """Draw the mean scores of systems by topic, with intervals; topics of few items in grey."""
    topics = list(scores.scores)
    systems = list(next(iter(scores.scores.values()), {}))
    names = system_names(systems)
    with figure(1, 1, width=2 * COLUMN_WIDTH, height=2.8) as (drawing, panels):
        panel = panels[0]
        for k, system in enumerate(systems):
            shift = (k - (len(systems) - 1) / 2) * 0.7 / max(1, len(systems))
            results = [scores.scores[topic][system] for topic in topics]
            means = [result.mean for result in results]
            panel.errorbar(
                [place + shift for place in range(len(topics))],
                means,
                yerr=[
                    [r.mean - r.low for r in results],
                    [r.high - r.mean for r in results],
                ],
                fmt=_MARKS[k % len(_MARKS)],
                markersize=3,
                linewidth=0.8,
                color=PALETTE[k % len(PALETTE)],
                label=names[system],
            )
        labels = [f"{topic}\n{scores.items[topic]:,}" for topic in topics]
        panel.set_xticks(range(len(topics)), labels, rotation=45, ha="right", fontsize=6)
        for label, topic in zip(panel.get_xticklabels(), topics, strict=True):
            if scores.items[topic] < FEW:
                label.set_color(GREY)
        panel.set_xlabel("topic of the verb, with the number of items")
        panel.set_ylabel(metric)
        panel.legend(fontsize=6)
        save(drawing, path)
