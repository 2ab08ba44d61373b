"""A campaign's results as one page: systems, who beats whom, raters. Nothing is loaded."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from reelscore.human.evaluate.quality import Quality
from reelscore.human.evaluate.results import Results
from reelscore.report.legible import legible, shared_beginning, system_names
from reelscore.report.tables.agreement import p_value
from reelscore.report.tables.campaign import quality_grid, results_grid
from reelscore.report.tables.grid import Grid
from reelscore.report.timeline.page import FONT
from reelscore.significance.rankings import Ranking

_STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1c1e21;--dim:#5c6167;--rule:#d9dce0;
--win:#1f5f8a;--tie:#eef2f6}
@media(prefers-color-scheme:dark){:root{--paper:#16181b;--ink:#ececec;--dim:#a8adb3;--rule:#34383d;
--win:#7cc0ee;--tie:#22262b}}
body{margin:0 auto;max-width:1000px;padding:16px;font:16px/1.45 FONT;background:var(--paper);
color:var(--ink)}
h1{font-size:1.5rem;overflow-wrap:anywhere}h2{font-size:1.1rem;margin:2.2rem 0 .4rem}
p{max-width:70ch}.dim,footer{color:var(--dim)}footer{font-size:.85rem;overflow-wrap:anywhere;
margin-top:2.5rem}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .6rem;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap}
th:first-child,td:first-child{text-align:left}thead th{border-bottom:2px solid var(--ink)}
.matrix td{text-align:center;background:var(--tie);border:1px solid var(--paper)}
.matrix td.win{background:var(--win);color:var(--paper);font-weight:700}
.matrix td.self{background:none}.matrix th{border:0}.matrix td{padding:.3rem .35rem}
.matrix th[scope=col]{writing-mode:vertical-rl;transform:rotate(180deg);text-align:left}
.edge td,.edge th{border-top:2px solid var(--ink)}
.failed td:nth-child(2),.constant td:nth-child(2){font-weight:700}
.raters td:nth-child(2),.raters td:last-child,.raters th:last-child,.raters th:nth-child(2)
{text-align:left}
@media print{body{max-width:none;font-size:11px}}
""".replace("FONT", FONT)


def campaign_html(title: str, results: Results, ranking: Ranking) -> str:
    """Write the results of a campaign as one HTML page.

    Args:
        title: The campaign's name.
        results: What it found.
        ranking: Who beats whom.
    """
    name = escape(legible(title))
    scores, quality = results.scores, results.quality
    used, all_raters = len(results.raters), len(quality.raters)
    judgments = sum(scores.judgments(system) for system in scores.table.systems)
    signature = next(iter(scores.table[ranking.systems[0]].values())).signature
    parts = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{name}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{name}</h1>",
        f"<p>{judgments:,} judgments of {len(ranking.systems)} systems by {used} of {all_raters} "
        f"raters. {escape(shared_beginning(ranking.systems))}</p>",
        *(f'<p class="dim">{_text(line)}</p>' for line in (*_agreement(results), *results.notes)),
        "<h2>Systems</h2>",
        "<p>Best first. Lines separate clusters: everyone above a line is significantly better "
        "than everyone below.</p>",
        _results(results_grid(scores, ranking), ranking),
        "<h2>Who is better than whom</h2>",
        f"<p>p of the one-sided rank-sum test on {escape(ranking.metric)} scores: filled cells are "
        f"below {ranking.level:g}, the system of the row is better than that of the column.</p>",
        _matrix(ranking),
        "<h2>Raters</h2>",
        f"<p>A rater passes with p below {quality.control.level:g} on "
        f"{quality.control.pairs} or more pairs of a caption and its degraded caption. Columns: "
        "mean difference of the pairs, p, mean difference between two scores of one caption, "
        "seconds for a task, and what to look at.</p>",
        _raters(quality),
        f"<footer>{escape(signature)}</footer></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _agreement(results: Results) -> Iterator[str]:
    for name, each in results.agreement.items():
        if each.icc.captions:
            yield (
                f"{name}: Krippendorff's alpha {each.alpha:.2f}, ICC {each.icc.single:.2f} "
                f"({each.icc.captions:,} captions judged by several raters)."
            )


def _results(grid: Grid, ranking: Ranking) -> str:
    names = system_names(ranking.systems)
    edges = [False] + [a != b for a, b in zip(ranking.clusters, ranking.clusters[1:], strict=False)]
    body = [
        f'<tr{" class=edge" if edge else ""}><th scope="row">{escape(names[row[0].text])}</th>'
        + "".join(f"<td>{_text(cell.text)}</td>" for cell in row[1:])
        + "</tr>"
        for row, edge in zip(grid.rows, edges, strict=True)
    ]
    return _table("results", _head(grid.columns), body)


def _matrix(ranking: Ranking) -> str:
    names = list(map(escape, system_names(ranking.systems).values()))
    head = "<tr><td class=self></td>" + "".join(f'<th scope="col">{name}</th>' for name in names)
    body = []
    for name, row in zip(names, ranking.p, strict=True):
        cells = []
        for p in row.tolist():
            if math.isnan(p):
                cells.append("<td class=self></td>")
            else:
                won = p < ranking.level
                cells.append(f"<td{' class=win' if won else ''}>{p_value(p)}</td>")
        body.append(f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>')
    return _table("matrix", head + "</tr>", body)


def _raters(quality: Quality) -> str:
    grid = quality_grid(quality)
    body = [
        f'<tr class="{row[1].text.split()[0]}"><th scope="row">{_text(row[0].text)}</th>'
        + "".join(f"<td>{_text(cell.text)}</td>" for cell in row[1:])
        + "</tr>"
        for row in grid.rows
    ]
    return _table("raters", _head(grid.columns), body)


def _head(columns: Sequence[str]) -> str:
    return "<tr>" + "".join(f'<th scope="col">{_text(name)}</th>' for name in columns) + "</tr>"


def _table(name: str, head: str, body: Sequence[str]) -> str:
    rows = "\n".join(body)
    return (
        f'<div class="scroll"><table class="{name}"><thead>{head}</thead>\n'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _text(text: str) -> str:
    return escape(legible(text))
