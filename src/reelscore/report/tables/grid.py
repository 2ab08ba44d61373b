"""A table of text cells, and the forms it can take."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from reelscore.report.safe_text import common_prefix, legible

_SHORTEST_NAME = 14  # names may be cut down to this, so that all columns fit side by side


@dataclass(frozen=True)
class Cell:
    """One entry: a number or words, and what stands beside it.

    Attributes:
        text: The entry itself.
        mark: A mark of significance, set as an exponent in LaTeX.
        under: A second, smaller line, such as the half-width of an interval.
        best: Whether to emphasise it.
    """

    text: str
    mark: str = ""
    under: str = ""
    best: bool = False


@dataclass(frozen=True)
class Grid:
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
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    names: int = 1
    notes: Sequence[str] = ()

    def to_text(self, width: int = 80, *, bold: bool = False) -> str:
        """Lay out for a terminal; columns that do not fit go into a further block below.

        Args:
            width: How many characters a line may have.
            bold: Emphasise the best numbers by terminal codes.
        """
        numbers = range(self.names, len(self.columns))
        needed = sum(self._width(k) + 2 for k in numbers)
        least = _SHORTEST_NAME * self.names
        room = width - needed if width - needed >= least else width // 2
        shared = self._shared_prefix(room)
        labels = self._labels(room, shared)
        blocks: list[list[int]] = []
        left = 0
        for k in numbers:
            if not blocks or self._width(k) + 2 > left:
                blocks.append([])
                left = width - len(labels[0])
            blocks[-1].append(k)
            left -= self._width(k) + 2
        table = "\n\n".join(self._block(labels, block, bold) for block in blocks or [[]])
        if shared:
            table += "\n" + _paragraph(f"… stands for {legible(shared)}", width)
        notes = [_paragraph(note, width) for note in self.notes]
        return "\n".join([table, *([""] if notes else []), *notes])

    def _shared_prefix(self, room: int) -> str:
        """What all names begin with, where they are too long; it is said once then."""
        names = [row[0].text for row in self.rows]
        too_long = self.names == 1 and max(map(len, names), default=0) > room
        return common_prefix(names) if too_long else ""

    def _labels(self, room: int, shared: str) -> list[str]:
        """The names of each line, heading first, cut and padded to the same width."""
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
            "  ".join(_fit(text, w).ljust(w) for text, w in zip(line, widths, strict=True))
            for line in lines
        ]

    def _marks(self, k: int) -> int:
        return max((len(row[k].mark) for row in self.rows), default=0)

    def _width(self, k: int) -> int:
        entries = [len(text) for row in self.rows for text in (row[k].text, row[k].under)]
        return max([len(self.columns[k]), *entries]) + self._marks(k)

    def _block(self, labels: Sequence[str], block: Sequence[int], bold: bool) -> str:
        # Numbers line up on the right; marks hang behind them in a column of their own.
        places = [(self._width(k) - self._marks(k), self._marks(k)) for k in block]

        def line(label: str, cells: Sequence[Cell]) -> str:
            for (width, marks), cell in zip(places, cells, strict=True):
                text = _bold(cell.text) if bold and cell.best else cell.text
                label += "  " + " " * (width - len(cell.text)) + text + cell.mark.ljust(marks)
            return label

        lines = [line(labels[0], [Cell(self.columns[k]) for k in block])]
        for label, row in zip(labels[1:], self.rows, strict=True):
            cells = [row[k] for k in block]
            lines.append(line(label, cells))
            if any(cell.under for cell in cells):
                lines.append(line(" " * len(label), [Cell(cell.under) for cell in cells]))
        return "\n".join(line.rstrip() for line in lines)

    def to_markdown(self) -> str:
        """Give a Markdown table."""
        lines = [self.columns, ["---"] + ["---:"] * (len(self.columns) - 1)]
        lines += [
            [
                (f"**{_markdown(c.text)}**" if c.best else _markdown(c.text)) + _beside(c)
                for c in row
            ]
            for row in self.rows
        ]
        head, rule, *body = lines
        head = [_markdown(name) for name in head]
        text = ["| " + " | ".join(line) + " |" for line in (head, *body)]
        text.insert(1, "|" + "|".join(rule) + "|")
        return "\n".join(text) + "".join(f"\n\n{_markdown(note)}" for note in self.notes)

    def to_latex(self) -> str:
        r"""Give a LaTeX table with booktabs rules.

        >>> print(Grid(["system", "meteor"], [[Cell("a_b"), Cell("0.35", "*")]]).to_latex())
        \begin{tabular}{lr}
        \toprule
        system & meteor \\
        \midrule
        a\_b & 0.35$^{*}$ \\
        \bottomrule
        \end{tabular}
        """

        def cell(each: Cell) -> str:
            text = _latex(each.text)
            text = f"\\textbf{{{text}}}" if each.best else text
            mark = f"$^{{{_latex(each.mark)}}}$" if each.mark else ""
            mark = mark.replace("{--}", "{\\textrm{--}}")  # in formulas, -- is two minus signs
            under = f" {{\\scriptsize {_latex(each.under)}}}" if each.under else ""
            return text + mark + under

        lines = [
            f"\\begin{{tabular}}{{l{'r' * (len(self.columns) - 1)}}}",
            "\\toprule",
            " & ".join(map(_latex, self.columns)) + " \\\\",
            "\\midrule",
            *(" & ".join(map(cell, row)) + " \\\\" for row in self.rows),
            "\\bottomrule",
            "\\end{tabular}",
            *(f"\\par{{\\footnotesize {_latex(note)}}}" for note in self.notes),
        ]
        return "\n".join(lines)


def _paragraph(text: str, width: int) -> str:
    return textwrap.fill(text, width, subsequent_indent="  ")


def _fit(name: str, width: int) -> str:
    """Cut a name that is too long, in the middle, where names of runs differ least."""
    if len(name) <= width:
        return name
    half = (width - 1) // 2
    return f"{name[: width - 1 - half]}…{name[len(name) - half :]}"


def _bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m"


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
    "↓": r"$\downarrow$",
    # in LaTeX's oldest fonts these stand for other characters
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in legible(text))
