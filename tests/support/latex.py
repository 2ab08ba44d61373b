"""A strict reader of LaTeX tables: what it takes, LaTeX with booktabs takes too."""

from __future__ import annotations

import re
from typing import NamedTuple

# what the tables may use: LaTeX's own commands, and those of booktabs
_COMMANDS = {
    *("begin", "end", "centering", "caption", "toprule", "midrule", "bottomrule"),
    *("textbf", "underline", "textsuperscript", "scriptsize", "dag", "ldots"),
    *("textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater"),
    *("textbar", "textquotedbl"),
}
_MATH = {"pm", "downarrow", "times", "bigtriangleup", "bigtriangledown"}
_TOKEN = re.compile(r"\\([a-zA-Z]+)|\\([&%$#_{}])|(\\\\)|(%[^\n]*\n)|(\n)|([{}$&#_^~%])|([^\\\n])")


class Table(NamedTuple):
    """A table as LaTeX would set it."""

    caption: str
    rows: list[list[str]]


def read_tables(text: str) -> list[Table]:
    """Read LaTeX tables; anything that LaTeX would refuse, or set otherwise, is an error."""
    _check_tokens(text)
    tables = []
    for body in re.findall(r"\\begin\{table\}\n(.*?)\\end\{table\}", text, re.DOTALL):
        caption = re.search(r"\\caption\{(.*)\}\n", body)
        tabular = re.search(
            r"\\begin\{tabular\}\{([lr]+)\}\n\\toprule\n(.*)\n\\midrule\n(.*)\n\\bottomrule\n"
            r"\\end\{tabular\}\n",
            body,
            re.DOTALL,
        )
        assert tabular is not None, body
        columns, head, rows = tabular.groups()
        lines = [head, *rows.split("\n")]
        assert all(line.endswith(r" \\") for line in lines)
        cells = [re.split(r"(?<!\\) & ", line[:-3]) for line in lines]
        assert {len(row) for row in cells} == {len(columns)}
        tables.append(Table(caption[1] if caption else "", cells))
    return tables


def _check_tokens(text: str) -> None:
    place, depth, math = 0, 0, False
    environments: list[str] = []
    while place < len(text):
        match = _TOKEN.match(text, place)
        assert match is not None, text[place : place + 40]
        command, _, _, comment, _, special, plain = match.groups()
        place = match.end()
        if command:
            assert command in (_MATH if math else _COMMANDS), command
            if command in ("begin", "end"):
                name = re.match(r"\{(\w+)\}", text[place:])
                assert name is not None
                if command == "begin":
                    environments.append(name[1])
                else:
                    assert environments.pop() == name[1]
        elif special:
            assert special in "{}$&", f"{special!r} is not escaped"
            assert special != "&" or environments[-1:] == ["tabular"]
            depth += {"{": 1, "}": -1}.get(special, 0)
            assert depth >= 0
            math ^= special == "$"
        elif plain:
            assert plain.isascii(), plain
        assert not (comment and math)
    assert (depth, math, environments) == (0, False, [])
