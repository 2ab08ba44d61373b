"""The timeline of a video as a page by itself: nothing is loaded, no script runs.

Each bar is a link to its caption, so that the keyboard reaches it; the caption then stands out.
The picture is there in two widths, of which the page shows the one that fits.
"""

from __future__ import annotations

from html import escape

from reelscore.report.legible import legible
from reelscore.report.timeline.layout import Picture, add_bars
from reelscore.report.timeline.svg import FONT, LIGHT, svg_of, svg_style
from reelscore.stories.timelines import Comparison, Pair, TimedCaption, Timeline

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
