"""What lies behind SPICE's score of a caption: its tuples, and those of its references."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isclose
from typing import cast

from reelscore.data.tables.table import ScoreTable
from reelscore.errors import ReelscoreError
from reelscore.metrics.registry import rebuilt
from reelscore.metrics.spice import Comparison, Spice
from reelscore.text.tokens import Tokenizer

_OTHER_TEXTS = "(no tuples: these captions and references do not give the table's score)"


@dataclass
class SpiceTuples:
    """The tuples of the captions and references of a table, worked out when they are asked for.

    Attributes:
        table: A table that has SPICE, with its captions and references.
        metric: SPICE as the table's signature has it.
        tokenizer: As the signature has it.
    """

    table: ScoreTable
    metric: Spice
    tokenizer: Tokenizer
    _by_caption: dict[tuple[str, str], Comparison | str] = field(default_factory=dict)

    @classmethod
    def of(cls, table: ScoreTable, metrics: Iterable[str]) -> SpiceTuples | None:
        """Take a table; ``None`` if none of the metrics is SPICE, or its texts are not there."""
        if not table.sources.captions or not table.sources.references:
            return None
        names = [name for name in metrics if name.split("_")[0] == Spice.name]
        for row in table.results.values():
            for name in names:
                if name in row and row[name].signature.startswith(f"{Spice.name}|"):
                    made = rebuilt(row[name].signature)
                    return made and cls(table, cast(Spice, made[0]), made[1])
        return None

    def stated(self, system: str, item: str) -> str:
        """The tuples of a caption; a ✓ has what matches, and behind it the other words, if any."""
        comparison = self._compared(system, item)
        if isinstance(comparison, str):
            return comparison
        return " · ".join(
            _tuple_text(ours)
            if place is None
            else f"✓\N{NO-BREAK SPACE}{_tuple_text(ours)}"
            + (
                f" = {_tuple_text(theirs)}"
                if (theirs := comparison.references[place]) != ours
                else ""
            )
            for ours, place in zip(comparison.candidate, comparison.matches, strict=True)
        )

    def stated_by_references(self, systems: Sequence[str], item: str) -> str:
        """The tuples of an item's references; a ✓ has what a caption of the systems matches."""
        compared = [self._compared(system, item) for system in systems]
        comparisons = [each for each in compared if not isinstance(each, str)]
        if not comparisons:
            return ""
        matched = {place for each in comparisons for place in each.matches}
        return " · ".join(
            ("✓\N{NO-BREAK SPACE}" if place in matched else "") + _tuple_text(each)
            for place, each in enumerate(comparisons[0].references)
        )

    def _compared(self, system: str, item: str) -> Comparison | str:
        """Compare a caption with its references; a sentence where that cannot be."""
        key = (system, item)
        if key not in self._by_caption:
            self._by_caption[key] = self._compare(system, item)
        return self._by_caption[key]

    def _compare(self, system: str, item: str) -> Comparison | str:
        sources = self.table.sources
        caption = sources.captions.get(system, {}).get(item)
        references = sources.references.get(item, ())
        if caption is None or not references:
            return ""
        try:
            comparison = self.metric.compare(caption, references, self.tokenizer)
        except ReelscoreError as error:
            return f"(no tuples: {error})"
        row = self.table[system]
        scores = row[Spice.name].items if Spice.name in row else {}
        same = item not in scores or isclose(scores[item], comparison.score.f, abs_tol=1e-9)
        return comparison if same else _OTHER_TEXTS


def _tuple_text(words: Sequence[str]) -> str:
    """One word, or several in brackets.

    >>> _tuple_text(("man",)), _tuple_text(("man", "ride", "horse"))
    ('man', '(man, ride, horse)')
    """
    return words[0] if len(words) == 1 else f"({', '.join(words)})"
