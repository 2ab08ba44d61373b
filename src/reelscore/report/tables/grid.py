"""A table of text cells, and the forms it can take."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import pairwise

import msgspec

from reelscore.report.safe_text import common_prefix, cut_within, legible

Heads = Sequence[Sequence[str]]  # the lines of each column's heading
_SHORTEST_NAME = 14  # names may be cut down to this, so that all columns fit side by side


class Cell(msgspec.Struct, frozen=True):
    """One entry: a number or words, and what stands beside it."""

    text: str  # the entry itself
    mark: str = ""  # a mark of significance, set as an exponent in LaTeX
    under: str = ""  # a second, smaller line, such as the half-width of an interval
    best: bool = False  # whether it is the best of its column, to be set in bold
    second: bool = False  # whether it is the second best, to be underlined
    # how long a bar stands below it on pages, from 0 to 1; none if not given
    bar: float | None = None


class Grid(msgspec.Struct, frozen=True):
    r"""A heading for each column, rows of cells, and footnotes; the first columns hold names.

    >>> grid = Grid(["system", "meteor"], [[Cell("human"), Cell("0.35", best=True)],
    ...                                    [Cell("weak"), Cell("0.12", mark="*")]])
    >>> print(grid.to_text())
    system  meteor
    human   0.35
    weak    0.12*

    Names that do not fit lose what they have in common:

    >>> runs = [[Cell("vtt20.en-en.RUC_AIM3"), Cell("0.35")],
    ...         [Cell("vtt20.en-en.RUCMM"), Cell("0.12")]]
    >>> print(Grid(["system", "meteor"], runs).to_text(26))
    system     meteor
    …RUC_AIM3    0.35
    …RUCMM       0.12
    … stands for vtt20.en-en.
    >>> print(grid.to_markdown())
    | system | meteor |
    |---|---:|
    | human | **0.35** |
    | weak | 0.12\* |
    <BLANKLINE>
    Best in bold.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    names: int = 1
    notes: Sequence[str] = ()

    def to_text(self, width: int = 80, *, bold: bool = False) -> str:
        """Lay out for a terminal; columns that do not fit go into further blocks below.

        Where that saves a block, headings of several words take several lines; a no-break space
        keeps words together.

        Args:
            width: How many characters a line may have.
            bold: Emphasise the best and the second best numbers by terminal codes.
        """
        heads = [[heading.replace("\u00a0", " ")] for heading in self.columns]
        room, blocks = self._blocks(width, heads)
        if len(blocks) > 1:
            broken = [self._broken(k) for k in range(len(self.columns))]
            narrower, fewer = self._blocks(width, broken)
            if len(fewer) < len(blocks):
                heads, room, blocks = broken, narrower, fewer
        shared = self._shared_prefix(room)
        labels = self._labels(room, shared)
        table = "\n\n".join(self._block(labels, block, heads, bold) for block in blocks)
        if shared:
            table += "\n" + _paragraph(f"… stands for {legible(shared)}", width)
        notes = [_paragraph(note, width) for note in self.notes]
        return "\n".join([table, *([""] if notes else []), *notes])

    def _blocks(self, width: int, heads: Heads) -> tuple[int, list[list[int]]]:
        """Return the width of the names, and the columns of each block."""
        widths = {k: self._width(k, heads) + 2 for k in range(self.names, len(self.columns))}
        needed = sum(widths.values())
        least = _SHORTEST_NAME * self.names
        room = width - needed if width - needed >= least else width // 2
        label = self._labels(room, self._shared_prefix(room))[0]
        return room, even_blocks(widths, width - len(label)) or [[]]

    def _broken(self, k: int) -> list[str]:
        """Break a heading at its blanks, so that the column is as narrow as its numbers."""
        entries = [len(text) for row in self.rows for text in (row[k].text, row[k].under)]
        words = self.columns[k].replace(" ↓", "\u00a0↓")
        wide = max([1, *entries, *map(len, words.split(" "))])
        return [line.replace("\u00a0", " ") for line in textwrap.wrap(words, wide)] or [""]

    def _shared_prefix(self, room: int) -> str:
        """Return what all names begin with, where they are too long; it is said once then."""
        names = [row[0].text for row in self.rows]
        too_long = self.names == 1 and max(map(len, names), default=0) > room
        return common_prefix(names) if too_long else ""

    def _labels(self, room: int, shared: str) -> list[str]:
        """Return the names of each line, heading first, cut and padded to the same width."""
        rows = [[cell.text + cell.mark for cell in row[: self.names]] for row in self.rows]
        if shared:
            rows = [[name.replace(shared, "…")] for [name] in rows]
        lines = [list(self.columns[: self.names]), *rows]
        widest = [max(len(line[k]) for line in lines) for k in range(self.names)]
        share = max(1, room // self.names - 2)
        widths = [min(each, share) for each in widest]
        if self.names == 1:
            widths = [min(widest[0], room)]
        return [
            "  ".join(cut_within(text, w).ljust(w) for text, w in zip(line, widths, strict=True))
            for line in lines
        ]

    def _marks(self, k: int) -> int:
        return max((len(row[k].mark) for row in self.rows), default=0)

    def _width(self, k: int, heads: Heads) -> int:
        entries = [len(text) for row in self.rows for text in (row[k].text, row[k].under)]
        return max([*map(len, heads[k]), *entries]) + self._marks(k)

    def _block(self, labels: Sequence[str], block: Sequence[int], heads: Heads, bold: bool) -> str:
        # Numbers line up on the right; marks hang behind them in a column of their own.
        places = [(self._width(k, heads) - self._marks(k), self._marks(k)) for k in block]

        def line(label: str, cells: Sequence[Cell]) -> str:
            for (width, marks), cell in zip(places, cells, strict=True):
                text = _emphasised(cell) if bold else cell.text
                label += "  " + " " * (width - len(cell.text)) + text + cell.mark.ljust(marks)
            return label

        height = max((len(heads[k]) for k in block), default=1)
        lines = []
        for place in range(height, 0, -1):  # the last words of all headings stand in one line
            words = [Cell(heads[k][-place] if place <= len(heads[k]) else "") for k in block]
            lines.append(line(labels[0] if place == 1 else " " * len(labels[0]), words))
        for label, row in zip(labels[1:], self.rows, strict=True):
            cells = [row[k] for k in block]
            lines.append(line(label, cells))
            if any(cell.under for cell in cells):
                lines.append(line(" " * len(label), [Cell(cell.under) for cell in cells]))
        return "\n".join(line.rstrip() for line in lines)

    def to_markdown(self) -> str:
        """Return a Markdown table."""
        lines = [self.columns, ["---"] + ["---:"] * (len(self.columns) - 1)]
        lines += [
            [_MARKDOWN[c.best, c.second].format(_markdown(c.text)) + _beside(c) for c in row]
            for row in self.rows
        ]
        head, rule, *body = lines
        head = [_markdown(name) for name in head]
        text = ["| " + " | ".join(line) + " |" for line in (head, *body)]
        text.insert(1, "|" + "|".join(rule) + "|")
        notes = [*self._key("in italics"), *self.notes]
        return "\n".join(text) + "".join(f"\n\n{_markdown(note)}" for note in notes)

    def _key(self, second: str) -> list[str]:
        """Return what bold numbers, the second best and those behind ± are."""
        cells = [cell for row in self.rows for cell in row]
        kinds = {
            "best in bold": any(cell.best for cell in cells),
            f"second best {second}": any(cell.second for cell in cells),
            "± half of an interval": any(cell.under.startswith("±") for cell in cells),
        }
        text = ", ".join(kind for kind, there in kinds.items() if there)
        return [f"{text[0].upper()}{text[1:]}."] if text else []

    def to_latex(self) -> str:
        r"""Return a LaTeX table with booktabs rules; its caption explains marks and emphasis.

        >>> grid = Grid(["system", "METEOR"], [[Cell("a_b"), Cell("0.35", "*", best=True)]],
        ...             notes=["* p < 0.05."])
        >>> print(grid.to_latex())
        % needs \usepackage{booktabs}
        \begin{table}
        \centering
        \caption{Best in bold. * p \textless{} 0.05.}
        \begin{tabular}{lr}
        \toprule
        system & METEOR \\
        \midrule
        a\_b & \textbf{0.35}\textsuperscript{*} \\
        \bottomrule
        \end{tabular}
        \end{table}
        """

        def cell(each: Cell) -> str:
            text = latex_text(each.text)
            text = f"\\textbf{{{text}}}" if each.best else text
            text = f"\\underline{{{text}}}" if each.second else text
            mark = f"\\textsuperscript{{{latex_text(each.mark)}}}" if each.mark else ""
            under = f" {{\\scriptsize {latex_text(each.under)}}}" if each.under else ""
            return text + mark + under

        caption = " ".join(map(latex_text, [*self._key("underlined"), *self.notes]))
        names, numbers = "l" * self.names, "r" * (len(self.columns) - self.names)
        lines = [
            "% needs \\usepackage{booktabs}",
            "\\begin{table}",
            "\\centering",
            *([f"\\caption{{{caption}}}"] if caption else []),
            f"\\begin{{tabular}}{{{names}{numbers}}}",
            "\\toprule",
            " & ".join(map(latex_text, self.columns)) + " \\\\",
            "\\midrule",
            *(" & ".join(map(cell, row)) + " \\\\" for row in self.rows),
            "\\bottomrule",
            "\\end{tabular}",
            "\\end{table}",
        ]
        return "\n".join(lines)


def even_blocks(widths: Mapping[int, int], room: int) -> list[list[int]]:
    """Divide columns into as few blocks as there can be, of about the same width.

    A block has one column alone only where no other fits beside it.
    """

    def filled(limit: int) -> list[list[int]]:
        blocks: list[list[int]] = []
        left = 0
        for k, width in widths.items():
            if not blocks or width > left:
                blocks.append([])
                left = limit
            blocks[-1].append(k)
            left -= width
        return blocks

    blocks = filled(room)
    if len(blocks) < 2:
        return blocks
    blocks = next(each for limit in range(room + 1) if len(each := filled(limit)) <= len(blocks))
    for one, other in pairwise(blocks):
        if len(other) == 1 < len(one) - 1 and widths[one[-1]] + widths[other[0]] <= room:
            other.insert(0, one.pop())
        elif len(one) == 1 < len(other) - 1 and widths[one[0]] + widths[other[0]] <= room:
            one.append(other.pop(0))
    return blocks


def _paragraph(text: str, width: int) -> str:
    return textwrap.fill(text, width, subsequent_indent="  ")


def _emphasised(cell: Cell) -> str:
    code = 1 if cell.best else 4 if cell.second else 0
    return f"\x1b[{code}m{cell.text}\x1b[0m" if code else cell.text


# by whether a cell is the best, and whether it is the second
_MARKDOWN = {(False, False): "{}", (True, False): "**{}**", (False, True): "*{}*"}


def _markdown(text: str) -> str:
    return "".join(f"\\{c}" if c in "\\|*`<[" else c for c in legible(text))


def _beside(cell: Cell) -> str:
    return _markdown(cell.mark) + (f" {_markdown(cell.under)}" if cell.under else "")


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "–": "--",
    "…": r"\ldots{}",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "↓": r"$\downarrow$",
    "×": r"$\times$",
    "▲": r"$\bigtriangleup$",
    "▼": r"$\bigtriangledown$",
    # in LaTeX's oldest fonts these stand for other characters
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def latex_text(text: str) -> str:
    r"""Write a text for LaTeX.

    >>> print(latex_text("R&D_2"))
    R\&D\_2
    """
    return "".join(_LATEX.get(character, character) for character in legible(text))


def p_value(p: float) -> str:
    """Return a p-value with three decimals, without the leading zero.

    >>> p_value(0.0123), p_value(0.00001), p_value(1.0)
    ('.012', '<.001', '1.00')
    """
    if p < 0.001:
        return "<.001"
    text = f"{p:.3f}"
    return "1.00" if text.startswith("1") else text.removeprefix("0")
