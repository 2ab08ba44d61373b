"""A table of text cells, and the forms it can take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    r"""A heading for each column, and rows of cells; the first column holds names.

    >>> grid = Grid(["system", "meteor"], [[Cell("human"), Cell("0.35", best=True)],
    ...                                    [Cell("weak"), Cell("0.12", mark="*")]])
    >>> print(grid.to_text())
    system  meteor
    human   0.35
    weak    0.12*
    >>> print(grid.to_markdown())
    | system | meteor |
    |---|---:|
    | human | **0.35** |
    | weak | 0.12\* |
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def to_text(self, width: int = 80, *, bold: bool = False) -> str:
        """Lay out for a terminal; columns that do not fit go into a further block below.

        Args:
            width: How many characters a line may have.
            bold: Emphasise the best numbers by terminal codes.
        """
        needed = sum(self._column_width(k) + 2 for k in range(1, len(self.columns)))
        room = width - needed if width - needed >= _SHORTEST_NAME else width // 3
        names = _fit([self.columns[0], *(row[0].text for row in self.rows)], room)
        blocks: list[list[int]] = []
        left = 0
        for k in range(1, len(self.columns)):
            needed = self._column_width(k) + 2
            if not blocks or needed > left:
                blocks.append([])
                left = width - max(map(len, names))
            blocks[-1].append(k)
            left -= needed
        return "\n\n".join(self._block(names, block, bold) for block in blocks or [[]])

    def _column_width(self, k: int) -> int:
        cells = [row[k] for row in self.rows]
        entries = [len(cell.text) + len(cell.mark) for cell in cells]
        return max([len(self.columns[k]), *entries, *(len(cell.under) for cell in cells)])

    def _block(self, names: Sequence[str], block: Sequence[int], bold: bool) -> str:
        first = max(map(len, names))
        widths = {k: self._column_width(k) for k in block}
        # Numbers line up on the right; marks hang behind them in a column of their own.
        marks = {k: max((len(row[k].mark) for row in self.rows), default=0) for k in block}
        lines = [
            names[0].ljust(first)
            + "".join(
                "  " + self.columns[k].rjust(widths[k] - marks[k]).ljust(widths[k]) for k in block
            )
        ]
        for name, row in zip(names[1:], self.rows, strict=True):
            line = name.ljust(first)
            for k in block:
                cell = row[k]
                padding = " " * (widths[k] - marks[k] - len(cell.text))
                text = f"\x1b[1m{cell.text}\x1b[0m" if bold and cell.best else cell.text
                line += "  " + padding + text + cell.mark.ljust(marks[k])
            lines.append(line)
            if any(row[k].under for k in block):
                under = "".join(
                    "  " + row[k].under.rjust(widths[k] - marks[k]).ljust(widths[k]) for k in block
                )
                lines.append(" " * first + under)
        return "\n".join(line.rstrip() for line in lines)

    def to_markdown(self) -> str:
        """Give a Markdown table."""
        lines = [self.columns, ["---"] + ["---:"] * (len(self.columns) - 1)]
        lines += [
            [_markdown(f"**{c.text}**" if c.best else c.text) + _markdown_mark(c) for c in row]
            for row in self.rows
        ]
        head, rule, *body = lines
        text = ["| " + " | ".join(line) + " |" for line in (head, *body)]
        text.insert(1, "|" + "|".join(rule) + "|")
        return "\n".join(text)

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
        ]
        return "\n".join(lines)


def _fit(names: Sequence[str], width: int) -> list[str]:
    """Cut names that are too long, in the middle, where names of runs differ least."""
    half = (width - 1) // 2
    return [n if len(n) <= width else f"{n[: width - 1 - half]}…{n[-half:]}" for n in names]


def _markdown(text: str) -> str:
    return text.replace("|", "\\|")


def _markdown_mark(cell: Cell) -> str:
    under = f" {cell.under}" if cell.under else ""
    return cell.mark.replace("*", "\\*") + under


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
