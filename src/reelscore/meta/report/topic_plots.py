"""A figure of scores by verb topic."""

from __future__ import annotations

from pathlib import Path

from reelscore.meta.topics import FEW, TopicScores
from reelscore.report.plots.style import COLUMN_WIDTH, GREY, PALETTE, figure, save
from reelscore.report.safe_text import system_names

_MARKS = "osD^v<>P"


def draw_topics(scores: TopicScores, metric: str, path: str | Path) -> None:
    """Draw the mean scores of systems by topic, with intervals; topics of few items in grey.

    Args:
        scores: The scores by topic.
        metric: Their name.
        path: A .pdf, .svg or .png file.
    """
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
