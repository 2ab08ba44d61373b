"""The timeline of a video as an SVG picture, and as a page with its captions."""

from __future__ import annotations

from reelscore.report.pages import render, style_sheet
from reelscore.report.safe_text import legible
from reelscore.report.timeline.layout import SIZES, Picture, add_bars, timeline_picture
from reelscore.stories.timelines import Timeline

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1c1c1c",
    "dim": "#595959",
    "rule": "#dddddd",
    "join": "#767676",
    "reference": "#a8d3ee",
    "candidate": "#f7cf86",
}
_DARK = {
    "paper": "#16181b",
    "ink": "#ececec",
    "dim": "#a8adb3",
    "rule": "#34383d",
    "join": "#8d939a",
    "reference": "#1f5f8a",
    "candidate": "#8a5a00",
}
_WIDE, _BESIDE, _NARROW = 960.0, 580.0, 358.0  # of one system, and of several side by side


def timeline_svg(timeline: Timeline, width: float = 900.0) -> str:
    """Draw a timeline as a file of its own, with its captions.

    Args:
        timeline: The timeline of one video.
        width: The width of the picture, in pixels.

    >>> from reelscore import examples
    >>> from reelscore.stories import timeline
    >>> systems, annotators = examples.stories()
    >>> dogwash = timeline(systems["concise"], annotators["annotator_1"], "v_dogwash")
    >>> timeline_svg(dogwash)[:42]
    '<svg xmlns="http://www.w3.org/2000/svg" vi'
    """
    return render(
        "timeline.svg",
        picture=timeline_picture(timeline, width),
        title=legible(timeline.title),
        colours=LIGHT,
        sizes=SIZES,
    )


def timeline_html(timeline: Timeline) -> str:
    """Write a timeline as one HTML page, for light and dark screens of any width.

    >>> from reelscore import examples
    >>> from reelscore.stories import timeline
    >>> systems, annotators = examples.stories()
    >>> dogwash = timeline(systems["concise"], annotators["annotator_1"], "v_dogwash")
    >>> timeline_html(dogwash).count("<li>")
    4
    """
    sections = []
    for group in timeline.by_annotator:
        wide = _WIDE if len(group) == 1 else _BESIDE
        drawn = []
        for comparison in group:
            pictures = {"wide": Picture(wide), "narrow": Picture(_NARROW)}
            for picture in pictures.values():
                add_bars(picture, comparison, timeline)
            drawn.append((comparison, pictures))
        sections.append(drawn)
    return render(
        "timeline.html",
        timeline=timeline,
        sections=sections,
        light=LIGHT,
        dark=_DARK,
        sizes=SIZES,
        style=style_sheet("timeline.css"),
    )
