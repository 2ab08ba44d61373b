"""How the scores of a table are printed: which of them, in what order, with how many decimals."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from reelscore.data.captions.coverage import partial_scores
from reelscore.data.tables.table import ScoreTable
from reelscore.errors import DataError

SYSTEM = "system"  # the heading of the systems' names, by which rows can be sorted, too
_DECIMALS = 4  # of scores below 10


class NumberFormat(msgspec.Struct, frozen=True):
    """How the numbers of one column are written.

    Attributes:
        factor: What they are multiplied by.
        decimals: How many decimals they have.

    >>> NumberFormat(100, 1).text(0.3563), NumberFormat(1, 2).text(0.5, sign="+")
    ('35.6', '+0.50')
    >>> NumberFormat(1, 2).text(-0.001)
    '0.00'
    """

    factor: float
    decimals: int

    def text(self, value: float, sign: str = "-") -> str:
        """Write a number; ``sign="+"`` writes the sign of positive numbers too."""
        text = f"{self.factor * value:{sign}.{self.decimals}f}"
        return f"{0:{sign}.{self.decimals}f}" if float(text) == 0 else text  # not -0.00


def number_format(
    values: Iterable[float], factor: float = 1, digits: int | None = None
) -> NumberFormat:
    """Choose one format for the numbers of a column: by default, four decimals below 10.

    Args:
        values: The numbers.
        factor: What they are multiplied by when they are written.
        digits: How many decimals they get; whole numbers above 10, such as counts, get none.

    >>> number_format([0.1727, 0.25]).text(0.25), number_format([9, 140]).text(9)
    ('0.2500', '9')
    >>> number_format([7.2667, 14.3333]).text(7.2667), number_format([0.35], 100).text(0.35)
    ('7.27', '35.00')
    """
    finite = [abs(float(value)) for value in values if math.isfinite(value)]
    most = max(finite, default=0.0)
    if most >= 10 and all(map(float.is_integer, finite)):
        return NumberFormat(factor, 0)
    if digits is not None:
        return NumberFormat(factor, digits)
    if factor != 1:  # as many digits as without the factor
        return NumberFormat(factor, max(0, _DECIMALS - round(math.log10(abs(factor)))))
    return NumberFormat(factor, _DECIMALS if most < 10 else 2 if most < 1000 else 0)


class Layout(msgspec.Struct, frozen=True):
    """How to print a table of scores.

    Attributes:
        scale: What to multiply scores by that papers print as percentages: 1 or 100.
        digits: How many decimals to print; four below 10, unless said otherwise.
        sort: Sort the systems by this score, best first, or by name with ``system``.
        columns: Which scores to print, and in what order; all.

    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips
    >>> layout = Layout(columns="METEOR, CIDEr", sort="CIDEr")
    >>> table = layout.arranged(score_systems(*clips()))
    >>> table.metrics, table.systems
    (['meteor', 'cider'], ['human', 'strong', 'weak', 'broken'])
    """

    scale: float = 1
    digits: int | None = None
    sort: str | None = None
    columns: str | Sequence[str] | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise DataError(f"The scale is {self.scale}; expected a number above 0, such as 100.")
        if self.digits is not None and not 0 <= self.digits <= 17:
            raise DataError(f"{self.digits} digits; expected a number from 0 to 17.")

    def arranged(self, table: ScoreTable, people: Collection[str] = ()) -> ScoreTable:
        """Choose columns, and sort systems; those that are not comparable come last.

        Raises:
            UnknownNameError: If the table has no such score.
        """
        sort = self.sort
        order = sorted(table.systems) if sort == SYSTEM else table.systems
        if sort is not None and sort != SYSTEM:
            name = table.one_named(sort)
            partial = partial_scores(table, people)
            sign = table.scale(name).sign

            def place(system: str) -> tuple[bool, bool, float]:
                result = table[system].get(name)
                if result is None or math.isnan(result.score):
                    return True, True, 0.0
                unranked = system in table.bounds or (system, name) in partial
                return False, unranked, -sign * result.score

            order = sorted(table.systems, key=place)
        ordered = replace(table, results={system: table[system] for system in order})
        return ordered if self.columns is None else ordered.select(self.columns)

    def formats(self, table: ScoreTable) -> dict[str, NumberFormat]:
        """The format of each score of a table."""
        values = {
            name: [row[name].score for row in table.results.values() if name in row]
            for name in table.metrics
        }
        return {name: self._format(table, name, own) for name, own in values.items()}

    def item_formats(self, table: ScoreTable) -> dict[str, NumberFormat]:
        """The format of each score's items."""
        values: dict[str, list[float]] = {name: [] for name in table.metrics}
        for row in table.results.values():
            for name, result in row.items():
                values[name] += result.items.array.tolist()
        return {name: self._format(table, name, own) for name, own in values.items()}

    def _format(self, table: ScoreTable, name: str, values: Iterable[float]) -> NumberFormat:
        factor = self.scale if table.scale(name).percent else 1
        return number_format(values, factor, self.digits)

    def notes(self, table: ScoreTable) -> list[str]:
        """Return which scores were multiplied, and which were not.

        >>> from reelscore import score_systems
        >>> table = score_systems({"mine": {"v1": "a man"}}, {"v1": ["a man"]}, "rouge_l,diversity")
        >>> Layout(scale=100).notes(table.select("ROUGE-L, Length"))
        ['Scores × 100, except Length.']
        """
        if self.scale == 1:
            return []
        labels: Mapping[str, str] = table.labels
        plain = [label for name, label in labels.items() if not table.scale(name).percent]
        if len(plain) == len(labels):
            return [f"No score is printed × {self.scale:g}."]
        return [f"Scores × {self.scale:g}{', except ' if plain else ''}{', '.join(plain)}."]


PLAIN = Layout()
