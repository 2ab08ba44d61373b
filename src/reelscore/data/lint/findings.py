"""What is checked, and what checks find: what, how many, which captions, what to do about it."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import structs

from reelscore.data.captions.caption_files import References
from reelscore.data.checks import Problems, counted

Severity = Literal["error", "warning"]

_EXAMPLES = 10  # examples that a finding keeps
_SHOWN = 3  # examples of a finding in a text
_EXCERPT = 56  # characters of a caption in an example


class CheckedCaptions(msgspec.Struct, frozen=True, dict=True):
    """Captions in the order of their file; defects that scoring refuses are kept.

    >>> CheckedCaptions(["v1", "v1"], ["a man", "a person"]).several_each
    True
    """

    items: Sequence[str]  # the item id of each caption
    texts: Sequence[str]  # the captions
    # the references to compare with, by item id; ``None`` where there are none
    references: References | None = None
    # the records that hold no caption, or no id
    unusable: Problems = msgspec.field(default_factory=lambda: Problems("captions"))
    name: str = "captions"  # the file, or what else to call them
    timed: bool = False  # they are the captions of stories, several for each video
    in_order: bool = False  # their items are the numbers of their places in the file
    read_as: str = ""  # the format of the file in words, where it is a special one

    def finding(
        self,
        check: str,
        severity: Severity,
        places: Sequence[int] | Mapping[int, int],
        verb: tuple[str, str],
        rest: str,
        remedy: str,
    ) -> Iterator[Finding]:
        """Yield how many captions have a defect, and show the first few; nothing if none has."""
        if places:
            count = counted(len(places), f"caption {verb[0]}", f"captions {verb[1]}")
            message = f"{count} {rest}."
            yield Finding(check, severity, len(places), message, remedy, self.examples(places))

    def examples(self, places: Sequence[int] | Mapping[int, int]) -> tuple[Example, ...]:
        """Show the first few of some captions, each around the character it is about."""
        at = places if isinstance(places, Mapping) else dict.fromkeys(places, 0)
        return tuple(Example.of(self.items[k], self.texts[k], at[k]) for k in list(at)[:_EXAMPLES])

    @cached_property
    def small_letters(self) -> list[str]:
        """The captions in small letters."""
        return [text.lower() for text in self.texts]

    @cached_property
    def words(self) -> list[str]:
        """The words of each caption, in small letters, with the punctuation that touches them.

        There is a single blank between two words. Lists of words would take far more memory.
        """
        return [" ".join(text.split()) for text in self.small_letters]

    @cached_property
    def several_each(self) -> bool:
        """Whether they are references, or stories: most items have several captions."""
        counts = Counter(self.items)
        return self.timed or sum(count > 1 for count in counts.values()) * 2 > len(counts)


class Example(NamedTuple):
    """A caption, or the part of it that a finding is about.

    >>> print(Example.of("v1", "a man plays a <unk>", at=14))
    v1: a man plays a <unk>
    """

    item: str
    text: str

    @classmethod
    def of(cls, item: str, text: str, at: int = 0) -> Example:
        """Take from a caption the part around a place."""
        if len(text) <= _EXCERPT:
            return cls(item, text)
        begin = max(0, min(at - _EXCERPT // 3, len(text) - _EXCERPT))
        end = begin + _EXCERPT
        dots = ("…" if begin else "", "…" if end < len(text) else "")
        return cls(item, dots[0] + text[begin:end] + dots[1])

    def __str__(self) -> str:
        return f"{self.item}: {self.text}" if self.item else self.text


class Finding(msgspec.Struct, frozen=True):
    """One kind of defect in a file.

    Attributes:
        check: The name of the check.
        severity: An ``error`` makes scores wrong or unfair; a ``warning`` is worth a look.
        count: How many captions (or ids) have the defect.
        message: What was found, as a sentence.
        remedy: What to do about it, as a sentence.
        examples: The first few of them.

    >>> print(Finding("markers", "error", 1, "1 caption holds a marker.", "Remove it."))
    error markers: 1 caption holds a marker. Remove it.
    """

    check: str
    severity: Severity
    count: int
    message: str
    remedy: str
    examples: Sequence[Example] = ()

    def __str__(self) -> str:
        return f"{self.severity} {self.check}: {self.message} {self.remedy}"

    def to_text(self, width: int = 80) -> str:
        """Write it with its examples, in lines of some width."""
        indent = " " * 4
        head = f"{self.severity}: {self.message} [{self.check}]"
        lines = textwrap.wrap(head, width, initial_indent="  ", subsequent_indent=indent)
        names = [example.item for example in self.examples[:_SHOWN]]
        column = min(20, max(map(len, names), default=0))
        for item, text in self.examples[:_SHOWN]:
            line = f"{item:<{column}}  {_one_line(text)}" if item else _one_line(text)
            lines.append(f"{indent}  {line if len(line) <= width - 6 else line[: width - 7] + '…'}")
        lines += textwrap.wrap(self.remedy, width, initial_indent=indent, subsequent_indent=indent)
        return "\n".join(lines)


class Findings(Sequence[Finding]):
    """All that checks found in one file, the worst first.

    Attributes:
        name: The file, or what else to call the captions.
        captions: How many captions were checked.
        findings: The findings.

    >>> from reelscore import check
    >>> check({"v1": "a man rides a horse", "v2": "a man plays a <unk>"})
    captions: 2 captions, 1 error
      error: 1 caption holds a marker of a model, such as '<unk>'. [markers]
          v2  a man plays a <unk>
        Decode without special tokens; 'reelscore check --fix' removes those that do
        not stand for a word.
    """

    def __init__(self, name: str, captions: int, findings: tuple[Finding, ...]) -> None:
        self.name = name
        self.captions = captions
        self.findings = findings

    def __getitem__(self, place: Any) -> Any:
        return self.findings[place]

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    @property
    def errors(self) -> list[Finding]:
        """The findings of weight."""
        return [finding for finding in self.findings if finding.severity == "error"]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        findings = [
            {
                **structs.asdict(finding),
                "examples": [example._asdict() for example in finding.examples],
            }
            for finding in self.findings
        ]
        return {"file": self.name, "captions": self.captions, "findings": findings}

    def to_text(self, width: int = 80) -> str:
        """Write all findings, in lines of some width."""
        errors = len(self.errors)
        parts = [
            counted(self.captions, "caption"),
            *([counted(errors, "error")] if errors else []),
            *([counted(len(self) - errors, "warning")] if len(self) > errors else []),
            *([] if self.findings else ["nothing found"]),
        ]
        head = f"{self.name}: {', '.join(parts)}"
        if len(head) > width:
            head = f"{self.name}:\n  {', '.join(parts)}"
        return "\n".join([head, *(finding.to_text(width) for finding in self.findings)])

    def __repr__(self) -> str:
        return self.to_text()


def _one_line(text: str) -> str:
    """Spell out what would not show: line breaks, control characters, blanks at the ends."""
    spelled = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return repr(spelled) if spelled != spelled.strip() or not spelled else spelled
