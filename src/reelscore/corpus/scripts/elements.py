"""What parsers of scripts share: reading text, names of speakers, and collecting elements."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from reelscore.corpus.project_files import Element, Kind, Remark, Script
from reelscore.errors import DataError

HEADING = re.compile(r"(?:INT|EXT|EST|I)\b\.?(?:\s?/\s?(?:INT|EXT|E)\b\.?)?(?:(?<=\.)|\s)\s*\S")
"""How headings begin: INT, EXT, EST, INT/EXT or I/E."""
TRANSITION = re.compile(
    r"(?:[A-Z][A-Z' ]* TO:|(?:FADE|IRIS|FADES) (?:IN|OUT|UP|TO [A-Z]+)\s?[:.]*"
    r"|(?:SMASH |MATCH |JUMP |HARD )?CUT TO(?: [A-Z]+)?[:.]*|DISSOLVE TO[:.]*|THE END\.?)"
)
_EXTENSION = re.compile(r"\s*\(([^()]*)\)\s*$")
_BARE_I = re.compile(r"I\b(?!\s?/)")
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def read_text(path: str | Path, encoding: str | None = None) -> str:
    """Read a text file: by its byte order mark, else as UTF-8 unless told otherwise."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from None
    if not content.strip():
        raise DataError(f"{path}: the file is empty.")
    if content.startswith(b"%PDF"):
        raise DataError(f"{path}: a PDF; convert it to text first (pdftotext -layout).")
    marked = next(((mark, name) for mark, name in _MARKS if content.startswith(mark)), None)
    mark, name = marked or (b"", encoding or "utf-8")
    try:
        text = content[len(mark) :].decode(name)
    except LookupError:
        raise DataError(f"--encoding {name!r} is not known; try cp1252 or latin-1.") from None
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise DataError(
            f"{path}:{line}: not {name} (byte 0x{content[len(mark) + error.start]:02x}); "
            "name its encoding, such as --encoding cp1252."
        ) from None
    if "\0" in text:
        raise DataError(f"{path}: not a text file.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_heading(line: str) -> bool:
    """Return whether a line begins as headings do.

    >>> [is_heading(line) for line in ("INT. CAR", "I/E CAR", "EST VIEW", "I SEE", "INTO IT")]
    [True, True, True, False, False]
    """
    return HEADING.match(line) is not None and not _BARE_I.match(line)


def is_name(line: str) -> bool:
    """Return whether a line could name a speaker: upper case, save in parentheses, and short.

    >>> [is_name(line) for line in ("HANS (on the radio)", "R2D2", "23", "He", "CUT TO:")]
    [True, True, False, False, False]
    """
    name, _ = split_name(line)
    letters = [letter for letter in name if letter.isalpha()]
    return (
        bool(letters)
        and len(name) <= 40
        and not any(letter.islower() for letter in letters)
        and any(letter.isupper() for letter in letters)
        and name[-1] not in ":!?,;-"
        and not (TRANSITION.fullmatch(name) or is_heading(name))
    )


def split_name(line: str) -> tuple[str, tuple[str, ...]]:
    """Part a speaker's name from its extensions.

    >>> split_name("ROSE (V.O.) (CONT'D)")
    ('ROSE', ('V.O.', "CONT'D"))
    """
    name, extensions = line.strip(), []
    while match := _EXTENSION.search(name):
        if not match.start():
            break
        extensions.append(match[1].strip().replace("’", "'"))
        name = name[: match.start()].strip()
    return name, tuple(reversed(extensions))


def one_line(text: str) -> str:
    """Write a text with single spaces.

    >>> one_line(" a   b ")
    'a b'
    """
    return " ".join(text.split())


def some(numbers: Sequence[int], most: int = 10) -> str:
    """Write the first of some numbers, and how many more there are."""
    shown = ", ".join(map(str, numbers[:most]))
    return shown if len(numbers) <= most else f"{shown} and {len(numbers) - most} more"


@dataclass
class Collector:
    """Collects the elements of a script, and knows whose speech it is in."""

    elements: list[Element] = field(default_factory=list)
    unsure: list[int] = field(default_factory=list)
    scene: int = 0
    who: str | None = None
    extensions: tuple[str, ...] = ()
    _open: bool = False  # whether more text belongs to the last element

    def add(self, kind: Kind, text: str, line: int | None) -> None:
        """Add an element outside speeches; a text without words is left out."""
        self.close()
        if kind == "heading":
            self.scene += 1
        self._put(kind, text, line)

    def describe(self, text: str, line: int | None, *, goes_on: bool = False) -> None:
        """Add a description, or a further line of the last one."""
        self.who = None
        if not (goes_on and self._joined("description", text)):
            self._put("description", text, line)
            self._open = True

    def speak(self, name: str) -> None:
        """Begin a speech."""
        self.who, self.extensions = split_name(name)
        self._open = False

    def say(self, text: str, line: int | None) -> None:
        """Add a line to the speech; what has no new name before it is one element."""
        if not self._joined("dialogue", text):
            self._put("dialogue", text, line)
            self._open = True

    def direct(self, text: str, line: int | None, *, goes_on: bool = False) -> None:
        """Add a parenthetical to the speech, or a further line of one."""
        self._open = goes_on
        if not (goes_on and self._joined("parenthetical", text)):
            self._put("parenthetical", text, line)
        self._open = False

    def sing(self, text: str, line: int | None) -> None:
        """Add a line of a song to the speech."""
        self._open = False
        self._put("lyric", text, line)

    def note(self, text: str, line: int | None) -> None:
        """Add a note, which does not end what it stands in."""
        last = self.elements.pop() if self._open and self.elements else None
        self._put("note", text, line)
        if last:
            self.elements.append(last)

    def close(self) -> None:
        """End the speech or the paragraph."""
        self.who, self.extensions, self._open = None, (), False

    def _joined(self, kind: Kind, text: str) -> bool:
        """Add to the last element if it is still open and of this kind."""
        if not (self._open and self.elements and self.elements[-1].kind == kind):
            return False
        last = self.elements[-1]
        self.elements[-1] = replace(last, text=one_line(f"{last.text} {text}"))
        return True

    def _put(self, kind: Kind, text: str, line: int | None) -> None:
        if not (text := one_line(text)):
            return
        spoken = kind in ("dialogue", "parenthetical", "lyric") and self.who is not None
        who, extensions = (self.who, self.extensions) if spoken else (None, ())
        element = Element("", self.scene, kind, who, text, extensions, line=line)
        self.elements.append(element)

    def script(self, format: str) -> Script:
        """Return the script, with numbered elements."""
        elements = [
            replace(element, id=f"e{number}") for number, element in enumerate(self.elements)
        ]
        counts = Counter(str(element.kind) for element in elements)
        remarks = []
        if self.unsure:
            details = tuple({"line": number} for number in self.unsure)
            words = f"Lines that the rules were unsure of: {some(self.unsure)}."
            remarks.append(Remark("unsure", words, details=details))
        if "dialogue" not in counts:
            words = "No line of dialogue was found: is --format right?"
            remarks.append(Remark("no-dialogue", words))
        return Script(
            format=format,
            counts=dict(counts),
            elements=tuple(elements),
            report=tuple(remarks),
        )
