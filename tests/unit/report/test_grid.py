"""Tables as text, CSV, Markdown and LaTeX."""

from __future__ import annotations

import re

import pytest

from reelscore.report.tables.grid import Cell, Grid

GRID = Grid(
    ["system", "bleu_4", "meteor"],
    [
        [Cell("human"), Cell("0.3500", "*", "±0.0100", best=True), Cell("0.40")],
        [Cell("a_b & co"), Cell("0.1", under="±0.0200"), Cell("–", "ab")],
    ],
)


def test_text():
    # numbers line up on the right, marks hang behind them
    lines = GRID.to_text().splitlines()
    assert "0.3500*" in lines[1]
    first = lines[1].index("0.3500") + len("0.3500")
    assert lines[3].index("0.1") + len("0.1") == first
    assert lines[2].rstrip().endswith("±0.0100")
    assert not any(line.endswith(" ") for line in lines)


def test_bold():
    plain, bold = GRID.to_text(), GRID.to_text(bold=True)
    assert "\x1b" not in plain
    assert "\x1b[1m0.3500\x1b[0m" in bold
    assert bold.replace("\x1b[1m", "").replace("\x1b[0m", "") == plain  # codes take no room


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("columns", [1, 3, 12, 40])
def test_width(width, columns):
    rows = [
        [Cell("x" * length), *(Cell(f"{k}.1234", "*", "±0.0001") for k in range(columns))]
        for length in (1, 26, 27, 100)
    ]
    grid = Grid(["system", *(f"metric_{k}" for k in range(columns))], rows)
    text = grid.to_text(width)
    assert max(map(len, text.splitlines())) <= width
    for k in range(columns):
        assert f"metric_{k}" in text.split()  # columns that do not fit go below, none is lost
        assert text.count(f"{k}.1234*") >= 4


def test_what_long_names_share_is_said_once():
    one, two = "trecvid20-vtt.en-en.RUC_AIM3", "trecvid20-vtt.en-en.RUCMM"
    pairs = [f"{one}–{two} boot.", f"{two}–{one} boot."]
    grid = Grid(["pair", "x"], [[Cell(name), Cell("1")] for name in pairs])
    assert grid.to_text(40).splitlines() == [
        "pair                    x",
        "…RUC_AIM3–…RUCMM boot.  1",
        "…RUCMM–…RUC_AIM3 boot.  1",
        "… stands for trecvid20-vtt.en-en.",
    ]
    assert pairs[0] in grid.to_text(80)  # they fit as they are


def test_long_names_are_cut_in_the_middle():
    grid = Grid(["system", "x"], [[Cell("run" + "0" * 90 + "_final"), Cell("1")]])
    line = grid.to_text(80).splitlines()[1]
    assert line.startswith("run0")
    assert "…" in line
    assert "_final" in line


def test_no_rows_no_columns():
    assert Grid(["system"], []).to_text() == "system"
    assert Grid(["system", "x"], []).to_text().split() == ["system", "x"]
    assert Grid(["system"], [[Cell("a")]]).to_text().split() == ["system", "a"]


def test_markdown():
    lines = GRID.to_markdown().splitlines()
    assert lines[0] == "| system | bleu_4 | meteor |"
    assert lines[1] == "|---|---:|---:|"
    assert lines[2].startswith("| human | **0.3500**\\*")
    # a bar in a name must not end the cell
    odd = Grid(["system", "x"], [[Cell("a|b"), Cell("1")]]).to_markdown()
    assert odd.splitlines()[2] == "| a\\|b | 1 |"


def test_latex():
    head, table, centered, caption, *lines = GRID.to_latex().splitlines()
    assert head == "% needs \\usepackage{booktabs}"
    assert (table, centered) == ("\\begin{table}", "\\centering")
    assert caption == "\\caption{Best in bold, $\\pm$ half of an interval.}"
    assert lines[0] == "\\begin{tabular}{lrr}"
    assert lines[1] == "\\toprule"
    assert lines[2] == "system & bleu\\_4 & meteor \\\\"
    assert lines[4].startswith("human & \\textbf{0.3500}\\textsuperscript{*}")
    assert "$\\pm$0.0100" in lines[4]
    assert lines[5].startswith("a\\_b \\& co & ")
    assert lines[-2:] == ["\\end{tabular}", "\\end{table}"]
    assert all(line.count("&") - line.count("\\&") == 2 for line in (lines[2], lines[4], lines[5]))


SPECIAL = [
    ("100%", "100\\%"),
    ("a_b", "a\\_b"),
    ("#1", "\\#1"),
    ("$x$", "\\$x\\$"),
    ("{x}", "\\{x\\}"),
    ("~", "\\textasciitilde{}"),
    ("^", "\\textasciicircum{}"),
    ("\\", "\\textbackslash{}"),
    ("±", "$\\pm$"),
    ("<.001", "\\textless{}.001"),
    ("a>b", "a\\textgreater{}b"),
    ("meteor|alpha:0.9", "meteor\\textbar{}alpha:0.9"),
    ('"x"', "\\textquotedbl{}x\\textquotedbl{}"),
    ("run…", "run\\ldots{}"),
    ("a\nb\tc", "a b c"),
    ("犬", "犬"),
]


@pytest.mark.parametrize(("text", "latex"), SPECIAL)
def test_special_characters(text, latex):
    assert f"\n{latex} \\\\" in Grid(["x"], [[Cell(text)]]).to_latex()


def test_latex_of_anything_is_balanced():
    evil = "".join(map(chr, range(256))) + "{{}\\end{tabular}"
    text = Grid([evil, "x"], [[Cell(evil, "*_", "±{"), Cell(evil, best=True)]]).to_latex()
    plain = re.sub(r"\\[{}&%$#_]", "", text.partition("\n")[2])  # what is escaped is text
    depth = 0
    for character in plain:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    assert plain.count("$") % 2 == 0
    assert not set("%#") & set(plain)
    body = plain.split("\\midrule\n")[1].split("\n\\bottomrule")[0]
    assert body.count("&") == 1
    assert body.count("\\\\") == 1
    assert text.count("\\end{tabular}") == 1


def test_markdown_of_anything_is_one_row():
    evil = "a|b\\c\nd<script>*e*`f`[g](h)"
    text = Grid([evil, "x"], [[Cell(evil), Cell("1", "*", best=True)]]).to_markdown()
    head, _, row = text.partition("\n\n")[0].splitlines()
    for line in (head, row):
        assert len(re.findall(r"(?<!\\)\|", line)) == 3
        assert not re.search(r"(?<!\\)[<`\[]", line)
    assert row.endswith("| **1**\\* |")


def test_latex_is_ascii():
    # ... as pdfLaTeX of before 2018 and most templates want it
    assert Grid(["x"], [[Cell("–")]]).to_latex().isascii()


def test_wide_characters_and_line_breaks_do_not_break_rows():
    grid = Grid(["system", "x"], [[Cell("a\nb"), Cell("1")], [Cell("c"), Cell("2")]])
    for text in (grid.to_latex(), grid.to_markdown()):
        assert text.count("1") == 1
