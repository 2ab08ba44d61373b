"""The timeline of a video as SVG, by itself or as a part of a page."""

from __future__ import annotations

from html import escape

from reelscore.report.legible import legible
from reelscore.report.timeline.layout import SIZES, Bar, Line, Picture, Words, timeline_picture
from reelscore.stories.timelines import Timeline

FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
LIGHT = {
    "paper": "#ffffff",
    "ink": "#1c1c1c",
    "dim": "#595959",
    "rule": "#dddddd",
    "join": "#767676",
    "reference": "#a8d3ee",
    "candidate": "#f7cf86",
}


def timeline_svg(timeline: Timeline, width: float = 900.0) -> str:
    """Draw a timeline as a file of its own, with its captions.

    Args:
        timeline: The timeline of one video.
        width: The width of the picture, in pixels.

    >>> from reelscore import examples
    >>> from reelscore.stories import timeline
    >>> systems, annotators = examples.stories()
    >>> found = timeline(systems["concise"], annotators["annotator_1"], "v_dogwash")
    >>> timeline_svg(found)[:42]
    '<svg xmlns="http://www.w3.org/2000/svg" vi'
    """
    colours = "".join(f"--{name}:{colour};" for name, colour in LIGHT.items())
    style = f"<style>svg{{{colours}background:var(--paper)}}{svg_style()}</style>"
    return svg_of(timeline_picture(timeline, width), legible(timeline.title), style) + "\n"


def svg_style() -> str:
    """The look of a picture, in colours that a page or a file names."""
    sizes = "".join(f".{name}{{font-size:{size}px}}" for name, size in SIZES.items())
    return (
        f"svg text{{font-family:{FONT};fill:var(--ink)}}{sizes}"
        ".title{font-weight:600}svg .dim{fill:var(--dim)}"
        ".rule{stroke:var(--rule)}.join{stroke:var(--join);stroke-width:1.5;pointer-events:none}"
        ".bar{stroke:var(--ink);stroke-width:1}"
        ".r{fill:var(--reference)}.c{fill:var(--candidate)}"
        ".alone{fill:var(--paper);stroke-dasharray:3 2}.box{fill:var(--paper)}"
    )


def svg_of(picture: Picture, title: str, style: str = "", target: str = "") -> str:
    """Write a picture as an SVG element.

    Args:
        picture: What to draw.
        title: What it shows, for those who cannot see it.
        style: A style element to put inside.
        target: Make each bar a link to the place in the page that begins so, and ends with the
            caption's name.
    """
    size = f"0 0 {picture.width:g} {picture.height:g}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" width="{picture.width:g}" '
        f'height="{picture.height:g}" role="group" aria-label="{escape(title)}">{style}'
    ]
    parts += [_line(line, "rule") for line in picture.rules]
    parts += [_bar(bar, target) for bar in picture.bars]
    parts += [_line(line, "join") for line in picture.joins]
    parts += [_words(words) for words in picture.words]
    return "\n".join([*parts, "</svg>"])


def _line(line: Line, kind: str) -> str:
    places = f'x1="{line.x1:.1f}" y1="{line.y1:.1f}" x2="{line.x2:.1f}" y2="{line.y2:.1f}"'
    return f'<line class="{kind}" {places}/>'


def _bar(bar: Bar, target: str) -> str:
    caption = bar.caption
    side = "r" if caption.name.startswith("R") else "c"
    kind = side if caption.matched else "alone"
    state = "" if caption.matched else ", unmatched"
    about = f"{caption.name}{state}, {caption.start:g} to {caption.end:g} s: "
    drawn = (
        f'<rect class="bar {kind}" x="{bar.x:.1f}" y="{bar.y:.1f}" width="{bar.width:.1f}" '
        f'height="{bar.height:g}" rx="3"><title>{escape(about + legible(caption.sentence))}'
        "</title></rect>"
    )
    if not target:
        return drawn
    label = escape(about + legible(caption.sentence))
    return f'<a href="#{target}{caption.name}" aria-label="{label}">{drawn}</a>'


def _words(words: Words) -> str:
    middle = ' text-anchor="middle"' if words.middle else ""
    box = ""
    if words.boxed:
        height = SIZES[words.style]
        box = (
            f'<rect class="box" x="{words.x - words.width / 2:.1f}" y="{words.y - height:.1f}" '
            f'width="{words.width:.1f}" height="{height + 3}"/>'
        )
    # Bars are to be clicked on through their names.
    through = ' pointer-events="none"' if words.style == "label" else ""
    return (
        f'{box}<text class="{words.style}" x="{words.x:.1f}" y="{words.y:.1f}"{middle}{through}>'
        f"{escape(words.text)}</text>"
    )
