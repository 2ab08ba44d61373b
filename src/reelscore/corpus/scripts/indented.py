"""Scripts as indented plain text, where the indent of a line says what it is."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from reelscore.corpus.project_files import Script
from reelscore.corpus.scripts.elements import TRANSITION, Collector, is_heading, is_name, split_name
from reelscore.corpus.scripts.fountain import parse_fountain

_LEAST_INDENT = 8  # of names
_MOST = 0.7  # of the lines with an indent, to say what it is for
_OFTEN = 3
_MANY = 20  # lines that tell how a script is spaced
_FEW = 0.05
_NUMBER = r"\*?\s*[A-Z]?\d{1,4}[A-Z]{0,2}\.?"
_PAGE_NUMBER = re.compile(r"(?:page\s+)?[-–(]?\s*\d{1,4}[A-Z]?\s*[-–).]?", re.IGNORECASE)
_MORE = re.compile(r"\(?\s*MORE\s*\)?")
_CONTINUED = re.compile(rf"(?:{_NUMBER}\s+)?\(?CONTINUED:?\)?:?(?:\s*\(\d+\))?(?:\s+{_NUMBER})?")
_LEADING = re.compile(rf"{_NUMBER}\s+(?=\S)")
_REVISION = re.compile(r"\s{2,}\*+\s*$|^\*(?=\s{2,})")
_ENDS_IN_NUMBER = re.compile(r"(?<=\S)\s{2,}\d{1,4}[A-Z]?\.?$")
_TRAILING = re.compile(rf"\s{{2,}}{_NUMBER}\s*\*?$")


@dataclass(frozen=True)
class _TypedLine:
    number: int
    indent: int
    text: str  # without its indent; empty for a blank line
    continued: bool = False  # whether (MORE) stood before it


@dataclass(frozen=True)
class _Layout:
    names: set[int]
    directions: set[int]
    speeches: set[int]


def parse_indented(text: str) -> Script:
    r"""Read a script in indented plain text."""
    lines = _without_pages(_numbered(text))
    layout = _layout(lines)
    if not layout.names:  # no indentation: names stand above what is said, as in Fountain
        return replace(parse_fountain(_as_text(lines)), format="text")
    return _parsed(lines, layout)


def is_typed(text: str) -> bool:
    r"""Return whether a script is as typists write it: names indented, or with marks of pages.

    >>> is_typed("ANNA\nDrive on.\n"), is_typed(3 * "          ANNA\n     Drive on.\n\n")
    (False, True)
    """
    lines = _numbered(text)
    marked = any(
        _MORE.fullmatch(line.text) or _heading(line.text) not in (None, line.text)
        for line in lines
        if "#" not in line.text
    )
    return marked or bool(_layout(lines).names)


def _numbered(text: str) -> list[_TypedLine]:
    lines = []
    for number, row in enumerate(text.split("\n"), start=1):
        for part in re.split(r"(\f)", row):
            plain = _REVISION.sub("", part.expandtabs(8)).rstrip()
            body = plain.lstrip()
            lines.append(_TypedLine(number, len(plain) - len(body), "\f" if part == "\f" else body))
    return _single_spaced(lines)


def _single_spaced(lines: list[_TypedLine]) -> list[_TypedLine]:
    """Leave out every second line of a script that is blank there throughout."""
    written = sum(bool(line.text) for line in lines)
    if written < _MANY or len(_pairs(lines)) > _FEW * written:
        return lines
    kept: list[_TypedLine] = []
    for before, line in pairwise([_TypedLine(0, 0, ""), *lines]):
        if line.text or not before.text:
            kept.append(line)
    return kept


def _without_pages(lines: Sequence[_TypedLine]) -> list[_TypedLine]:
    """Leave out page numbers, (MORE), CONTINUED and the headers of pages."""
    breaks = sorted(
        {place for place in range(len(lines)) if _is_page_break(lines, place)}
        | _numbered_headers(lines)
    )
    near = Counter(
        _header_key(lines[place].text)
        for place in {each for at in breaks for each in _neighbours(lines, at)}
    )
    headers = {key for key, times in near.items() if key and times >= _OFTEN}
    dropped = set(breaks)
    for at in breaks:
        near_by = _neighbours(lines, at)
        dropped |= {place for place in near_by if _header_key(lines[place].text) in headers}
    kept: list[_TypedLine] = []
    more = False
    for place, line in enumerate(lines):
        if _MORE.fullmatch(line.text):
            more = True
        elif place in dropped or _CONTINUED.fullmatch(line.text):
            pass  # the blank lines around it stay
        else:
            kept.append(_TypedLine(line.number, line.indent, line.text, more and bool(line.text)))
            more = more and not line.text
    return kept


def _is_page_break(lines: Sequence[_TypedLine], place: int) -> bool:
    text = lines[place].text
    if text == "\f":
        return True
    around = [lines[each].text for each in (place - 1, place + 1) if 0 <= each < len(lines)]
    return bool(_PAGE_NUMBER.fullmatch(text)) and all(each in ("", "\f") for each in around)


def _numbered_headers(lines: Sequence[_TypedLine]) -> set[int]:
    """Return the lines that stand alone and are the same but for a number at the end."""
    places: dict[str, set[int]] = defaultdict(set)
    texts: dict[str, set[str]] = defaultdict(set)
    for place in range(1, len(lines) - 1):
        text = lines[place].text
        alone = not lines[place - 1].text.strip() and not lines[place + 1].text.strip()
        if alone and _ENDS_IN_NUMBER.search(text) and not _heading(text):
            key = _ENDS_IN_NUMBER.sub("", text)
            places[key].add(place)
            texts[key].add(text)
    return {place for key in places if len(texts[key]) >= _OFTEN for place in places[key]}


def _neighbours(lines: Sequence[_TypedLine], at: int) -> list[int]:
    """Return the lines beside a page break that stand alone, as headers and footers do."""
    places = []
    for step in (-1, 1):
        place = at + step
        while 0 <= place < len(lines) and abs(place - at) <= 4 and not lines[place].text:
            place += step
        if 0 < place < len(lines) - 1 and abs(place - at) <= 4:
            text = lines[place].text
            alone = not lines[place - 1].text.strip() and not lines[place + 1].text.strip()
            if alone and not (TRANSITION.fullmatch(text) or _heading(text)):
                places.append(place)
    return places


def _header_key(text: str) -> str:
    return re.sub(r"[\d\s.\-]+", " ", text).strip()


def _heading(text: str) -> str | None:
    """Return a heading without the numbers on its margins; None if it is none."""
    body = text if is_heading(text) else _LEADING.sub("", text, count=1)
    return _TRAILING.sub("", body).strip() if is_heading(body) else None


def _layout(lines: Sequence[_TypedLine]) -> _Layout:
    """Find out what each indent is for."""
    plain = [
        line
        for line in lines
        if line.text.strip() and not (_heading(line.text) or TRANSITION.fullmatch(line.text))
    ]
    by_indent: dict[int, list[str]] = defaultdict(list)
    for line in plain:
        by_indent[line.indent].append(line.text)
    names, directions = set(), set()
    for indent, texts in by_indent.items():
        plain_texts = [text for text in texts if not text.startswith("(")]
        named = sum(map(is_name, plain_texts))
        if indent >= _LEAST_INDENT and named and named >= _MOST * len(plain_texts):
            names.add(indent)
        elif sum(text.startswith("(") for text in texts) >= _MOST * len(texts):
            directions.add(indent)
    after: Counter[int] = Counter()
    for line, following in _pairs(lines):
        speaking = (line.indent in names and is_name(line.text)) or line.indent in directions
        if speaking and following.indent not in names | directions:
            after[following.indent] += 1
    speeches = {indent for indent, times in after.items() if times >= _OFTEN}
    if not speeches:
        return _Layout(set(), set(), set())
    margin = Counter(line.indent for line in plain if line.indent not in names).most_common()
    left = min(indent for indent, times in margin if times >= 0.02 * len(plain))
    if len(speeches) > 1:
        speeches.discard(left)
    return _Layout(names, _wider(directions, names | speeches), _wider(speeches, names))


def _pairs(lines: Sequence[_TypedLine]) -> list[tuple[_TypedLine, _TypedLine]]:
    """Return the lines that follow each other without a blank line between."""
    return [
        (line, following)
        for line, following in pairwise(lines)
        if line.text.strip() and following.text.strip()
    ]


def _wider(indents: set[int], taken: set[int]) -> set[int]:
    """Add the columns beside, where nothing else is."""
    return indents | {each + step for each in indents for step in (-1, 1)} - taken


def _parsed(lines: Sequence[_TypedLine], layout: _Layout) -> Script:
    collector = Collector()
    was_blank, in_direction, has_begun = True, False, False
    for place, line in enumerate(lines):
        text, number = line.text.strip(), line.number
        if not text:
            was_blank, in_direction = True, False
            continue
        following = lines[place + 1].text.strip() if place + 1 < len(lines) else ""
        heading = _heading(text) if was_blank or collector.who is None else None
        begins = line.indent in layout.names and is_name(text) and bool(following)
        if heading:
            collector.add("heading", heading, number)
        elif TRANSITION.fullmatch(text):
            collector.add("transition", text, number)
        elif begins:
            _begin(collector, line)
        elif not has_begun and line.indent >= _LEAST_INDENT:
            collector.add("title", text, number)
        elif collector.who and (
            line.indent in layout.speeches | layout.directions or not was_blank
        ):
            if in_direction or text.startswith("("):
                collector.direct(text, number, goes_on=in_direction)
                in_direction = not text.endswith(")")
            else:
                collector.say(text, number)
                if line.indent not in layout.speeches:
                    collector.unsure.append(number)
        else:
            if line.indent in layout.names | layout.directions:
                collector.unsure.append(number)
            collector.describe(text, number, goes_on=not was_blank)
        has_begun = has_begun or bool(heading) or begins or bool(TRANSITION.fullmatch(text))
        was_blank = False
    return collector.script("text")


def _begin(collector: Collector, line: _TypedLine) -> None:
    """Begin a speech, or go on with one that a page break has parted."""
    who, _ = split_name(line.text)
    if not (_goes_on(line) and collector.who == who):
        collector.speak(line.text)


def _goes_on(line: _TypedLine) -> bool:
    """Return whether a name stands there only since a page break has parted a speech."""
    _, extensions = split_name(line.text)
    marks = {mark.upper().replace(".", "") for mark in extensions}
    return line.continued and bool(marks & {"CONT'D", "CONTD", "CONTINUED", "CONT"})


def _as_text(lines: Sequence[_TypedLine]) -> str:
    """Write lines as Fountain, each at its number in the file."""
    rows: list[str] = []
    for line in lines:
        if _goes_on(line):  # two spaces keep a speech going
            while rows and not rows[-1].strip():
                rows.pop()
            rows += ["  "] * (line.number - len(rows))
        else:
            rows += [""] * (line.number - len(rows))
            rows[-1] += _heading(line.text) or line.text.replace("\f", "")
    return "\n".join(rows)
