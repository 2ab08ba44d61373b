"""Tables of verb topics: verbs of captions, and scores of systems."""

from __future__ import annotations

from collections.abc import Mapping

from reelscore.meta.topics import FEW, TopicScores, TopicTable
from reelscore.report.safe_text import shared_beginning, system_names
from reelscore.report.tables.grid import Cell, Grid


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


def share_grid(tables: Mapping[str, TopicTable]) -> Grid:
    """Shares of the topics among the verbs of references and of each system, with bars.

    >>> from reelscore.meta.topics import Topic
    >>> topics = [Topic("motion", 3, 0.75, 0.0, ("run",)), Topic("body", 1, 0.25, 0.0, ("eat",))]
    >>> print(share_grid({"references": TopicTable(topics, 4, 0, 4, 0)}).to_text())
    topic   references
    motion        75.0
    body          25.0
    <BLANKLINE>
    """
    shares = {
        owner: {topic.name: topic.share for topic in table.topics}
        for owner, table in tables.items()
    }
    topics = dict.fromkeys(topic for of_owner in shares.values() for topic in of_owner)
    longest = max((share for of_owner in shares.values() for share in of_owner.values()), default=1)
    rows = [
        [
            Cell(topic),
            *(
                Cell(f"{100 * share:.1f}", bar=share / longest) if share else Cell("–")
                for share in (of_owner.get(topic, 0.0) for of_owner in shares.values())
            ),
        ]
        for topic in topics
    ]
    return Grid(["topic", *shares], rows)


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
