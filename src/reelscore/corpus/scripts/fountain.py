"""Scripts in Fountain (syntax 1.1): plain text with few marks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from reelscore.corpus.project_files import Element, Script
from reelscore.corpus.scripts.elements import TRANSITION, Collector, is_heading, is_name, one_line

_TITLE_KEY = re.compile(
    r"(?:title|credit|authors?|source|notes|draft date|date|contact|copyright|revision|format)\s*:",
    re.IGNORECASE,
)
"""How a title page begins."""
_KEY = re.compile(r"\S[^:]{0,40}:")
_NOTE, _ASIDE = "\ue000", "\ue001"
_APART = re.compile(r"\[\[((?:(?!\n\n).)*?)\]\]|/\*(.*?)\*/", re.DOTALL)
_SCENE_NUMBER = re.compile(r"\s*#[^#\n]+#\s*$")
_EMPHASIS = re.compile(r"(?<![\\*])(\*{1,3}|(?<!\w)_)(?=\S)([^*_\n]*?[^*_\s\\])\1(?!\*)")
_MARKS = {"heading": ".", "description": "!", "transition": "> ", "lyric": "~"}
_ESCAPE = re.compile(r"\\([*_\\])")


@dataclass(frozen=True)
class _FountainLine:
    number: int
    text: str
    notes: tuple[str, ...]

    @property
    def is_blank(self) -> bool:
        """Whether nothing but perhaps spaces is there, and no note was."""
        return not self.text.strip() and not self.is_aside

    @property
    def is_aside(self) -> bool:
        """Whether only notes or what is crossed out were there."""
        return self.text == _ASIDE


def _lines(text: str) -> list[_FountainLine]:
    """Return the lines without notes and what is crossed out, with their numbers in the file."""
    asides: list[tuple[str | None, int]] = []

    def take(match: re.Match[str]) -> str:
        asides.append((match[1], match[0].count("\n")))
        return _NOTE

    plain = text.replace(_NOTE, "").replace(_ASIDE, "")
    marked = _APART.sub(take, plain)
    lines, number, taken = [], 1, 0
    for row in marked.split("\n"):
        here = asides[taken : taken + row.count(_NOTE)]
        taken += len(here)
        left = row.replace(_NOTE, "")
        # Lines that are crossed out leave a blank line; a note or a few words leave nothing.
        crossed_out = any(note is None and breaks for note, breaks in here)
        is_aside = bool(here) and not left.strip() and not crossed_out
        content = _ASIDE if is_aside else left.replace("\t", "    ")
        notes = tuple(one_line(note) for note, _ in here if note is not None)
        lines.append(_FountainLine(number, content.replace("\f", ""), notes))
        number += 1 + sum(breaks for _, breaks in here)
    return lines


def _plain(text: str) -> str:
    """Take the marks of emphasis off."""
    before = None
    while before != text:
        before, text = text, _EMPHASIS.sub(r"\2", text)
    return _ESCAPE.sub(r"\1", text)


def is_fountain(text: str) -> bool:
    """Return whether a script begins with a title page, as only Fountain has it."""
    return _TITLE_KEY.match(text.lstrip()) is not None


def parse_fountain(text: str) -> Script:
    r"""Read a script in Fountain."""
    lines = _lines(text)
    collector = Collector()
    start = _title_page(lines, collector)
    contents = lines[start:]
    was_blank, in_speech = True, False
    for place, line in enumerate(contents):
        if line.is_aside:
            pass
        elif line.is_blank:
            if not (in_speech and len(line.text) >= 2):
                was_blank, in_speech = True, False
                collector.close()
        elif in_speech:
            _speech_line(line, collector)
        else:
            is_last = _blank_after(contents, place)
            in_speech = _line(line, collector, was_blank=was_blank, is_last=is_last)
            was_blank = False
        for note in line.notes:
            collector.note(note, line.number)
    return collector.script("fountain")


def _title_page(lines: list[_FountainLine], collector: Collector) -> int:
    """Read the title page, and give the number of lines it takes."""
    start = next((place for place, line in enumerate(lines) if not line.is_blank), 0)
    if not _TITLE_KEY.match(lines[start].text):
        return 0
    entries: list[tuple[int, str]] = []
    end = start
    while end < len(lines) and not lines[end].is_blank:
        line = lines[end]
        end += 1
        if _KEY.match(line.text) or not entries:
            entries.append((line.number, line.text))
        elif not line.is_aside:
            entries[-1] = (entries[-1][0], f"{entries[-1][1]} {line.text}")
    for number, entry in entries:
        collector.add("title", _plain(entry), number)
    return end


def _blank_after(lines: list[_FountainLine], place: int) -> bool:
    following = next((line for line in lines[place + 1 :] if not line.is_aside), None)
    return following is None or following.is_blank


def _speech_line(line: _FountainLine, collector: Collector) -> None:
    text = line.text.strip()
    if text.startswith("(") and text.endswith(")"):
        collector.direct(_plain(text), line.number)
    elif text.startswith("~"):
        collector.sing(_plain(text[1:]), line.number)
    else:
        collector.say(_plain(text), line.number)


def _line(line: _FountainLine, collector: Collector, *, was_blank: bool, is_last: bool) -> bool:
    """Read a line outside speeches; tell whether a speech begins."""
    text, number = line.text.strip(), line.number
    if text.startswith("===") and not text.strip("="):
        collector.add("page", text, number)
    elif text.startswith(("#", "=")):
        collector.add("note", _plain(text.lstrip("#=").strip()), number)
    elif text.startswith("!"):
        collector.describe(_plain(text[1:]), number, goes_on=not was_blank)
    elif re.match(r"\.[^.]", text) or (was_blank and is_heading(text.upper())):
        collector.add("heading", _plain(_SCENE_NUMBER.sub("", text.removeprefix("."))), number)
    elif text.startswith("@") and text[1:].strip() and not is_last:
        collector.speak(_plain(text[1:].removesuffix("^")))
        return True
    elif text.startswith(">") and text.endswith("<") and len(text) > 1:
        collector.describe(_plain(text[1:-1]), number)
    elif text.startswith(">"):
        collector.add("transition", _plain(text[1:]), number)
    elif text.startswith("~"):
        collector.add("lyric", _plain(text[1:]), number)
    elif was_blank and is_last and TRANSITION.fullmatch(text):
        collector.add("transition", text, number)
    elif was_blank and not is_last and is_name(text.removesuffix("^")):
        collector.speak(_plain(text.removesuffix("^")))
        return True
    else:
        collector.describe(_plain(text), number, goes_on=not was_blank)
    return False


def write_fountain(elements: Iterable[Element]) -> str:
    """Write a script in Fountain, with a mark for every kind, so that it is read as it was.

    Args:
        elements: Its elements.

    >>> print(write_fountain([Element("e0", 1, "dialogue", "ANNA", "Drive on.", ("V.O.",))]))
    @ANNA (V.O.)
    Drive on.
    """
    blocks: list[str] = []
    last: Element | None = None
    for element in elements:
        text = _MARKS.get(element.kind, "") + _escaped(element.text)
        if element.kind == "note":
            blocks.append(f"[[{element.text}]]")
        elif last is not None and _same_block(last, element):
            blocks[-1] += f"\n{text}"
        elif element.who is not None:
            extensions = "".join(f" ({extension})" for extension in element.extensions)
            blocks.append(f"@{_escaped(element.who)}{extensions}\n{text}")
        else:
            blocks.append(text)
        last = element
    return "\n\n".join(blocks)


def _escaped(text: str) -> str:
    return re.sub(r"([*_\\])", r"\\\1", text)


def _same_block(last: Element, element: Element) -> bool:
    """Return whether no blank line parts two elements: two lines of dialogue are two speeches."""
    if element.kind == "title":
        return last.kind == "title"
    same_speech = (last.who, last.extensions, last.scene) == (
        element.who,
        element.extensions,
        element.scene,
    )
    return element.who is not None and same_speech and not (last.kind == element.kind == "dialogue")
