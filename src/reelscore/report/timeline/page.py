"""The timeline of a video as an SVG picture, and as a page with its captions."""

from __future__ import annotations

from html import escape

from reelscore.report.legible import legible
from reelscore.report.timeline.layout import (
    SIZES,
    Bar,
    Line,
    Picture,
    Words,
    add_bars,
    timeline_picture,
)
from reelscore.stories.timelines import Comparison, Pair, TimedCaption, Timeline

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
_DARK = {
    "paper": "#16181b",
    "ink": "#ececec",
    "dim": "#a8adb3",
    "rule": "#34383d",
    "join": "#8d939a",
    "reference": "#1f5f8a",
    "candidate": "#8a5a00",
}
_WIDE, _NARROW = 960.0, 358.0
_STYLE = """
body{margin:0 auto;max-width:960px;padding:16px;font:16px/1.45 FONT;
background:var(--paper);color:var(--ink)}
h1{font-size:1.3rem;overflow-wrap:anywhere}h2{font-size:1rem;margin:2rem 0 0}
.scores,.key,small{color:var(--dim)}svg{max-width:100%;height:auto;display:block}
.narrow{display:none}@media(max-width:760px){.wide{display:none}.narrow{display:block}}
a:focus-visible{outline:3px solid var(--ink);outline-offset:2px}
ol{list-style:none;padding:0}li{padding:.5rem 0;border-top:1px solid var(--rule)}
p{margin:.15rem 0;padding:.1rem .4rem;border-left:4px solid transparent;overflow-wrap:anywhere}
.key,.scores{padding-left:0;border:0}li>small{padding-left:.65rem}
p:target{border-left-color:var(--ink);background:var(--rule)}
small{white-space:nowrap}b{display:inline-block;min-width:2.2em}
.unmatched{border:1px dashed var(--ink);border-radius:3px;padding:0 .3em;font-size:.85rem}
""".replace("FONT", FONT)


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


def timeline_html(timeline: Timeline) -> str:
    """Write a timeline as one HTML page, for light and dark screens of any width.

    >>> from reelscore import examples
    >>> from reelscore.stories import timeline
    >>> systems, annotators = examples.stories()
    >>> found = timeline(systems["concise"], annotators["annotator_1"], "v_dogwash")
    >>> timeline_html(found).count("<li>")
    4
    """
    title = escape(legible(timeline.title))
    sections = [
        _section(timeline, found, f"a{k}-") for k, found in enumerate(timeline.comparisons, start=1)
    ]
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title>",
            f"<style>:root{{color-scheme:light dark;{_colours(LIGHT)}}}"
            f"@media(prefers-color-scheme:dark){{:root{{{_colours(_DARK)}}}}}"
            f"{_STYLE}{svg_style()}</style></head>",
            f"<body><main><h1>{title}</h1>",
            '<p class="key">R are references, C candidates, numbered in time order. '
            "Lines join what SODA matched; dashed hollow bars are unmatched. "
            "A bar leads to its caption.</p>",
            *sections,
            "</main></body></html>\n",
        ]
    )


def _colours(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())


def _section(timeline: Timeline, found: Comparison, target: str) -> str:
    pictures = []
    for kind, width in (("wide", _WIDE), ("narrow", _NARROW)):
        picture = Picture(width)
        add_bars(picture, found, timeline)
        drawn = svg_of(picture, f"Timeline, {found.annotator}", target=target)
        pictures.append(f'<div class="{kind}">{drawn}</div>')
    name, _, scores = found.summary.partition(": ")
    return "\n".join(
        [
            f'<section><h2>{escape(name)}</h2><p class="scores">{scores}</p>',
            *pictures,
            "<ol>",
            *(_row(pair, target) for pair in found.rows()),
            "</ol></section>",
        ]
    )


def _row(pair: Pair, target: str) -> str:
    captions = "".join(_caption(caption, target) for caption in pair.captions)
    if len(pair.captions) == 2:
        return f"<li><small>IoU {pair.iou:.3f} · f {pair.f:.3f}</small>{captions}</li>"
    return f"<li>{captions}</li>"


def _caption(caption: TimedCaption, target: str) -> str:
    unmatched = "" if caption.matched else ' <span class="unmatched">unmatched</span>'
    return (
        f'<p id="{target}{caption.name}"><b>{caption.name}</b> '
        f"<bdi>{escape(legible(caption.sentence))}</bdi> "
        f"<small>{caption.start:.1f}–{caption.end:.1f} s</small>{unmatched}</p>"
    )
