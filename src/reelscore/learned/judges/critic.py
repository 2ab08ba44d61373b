"""CRITIC: does a description name the people whom the truth names (Han et al., 2024: AutoAD III)?

Scale 0–1, higher is better. Of each audio description, the people of the film's cast whom it names
are compared with those of the reference: their number in both, divided by their number in either.
Descriptions whose reference names nobody do not count; the score is the mean over the others.

The cast comes from a file: JSON with a list of names, or such a list for each film, or a name a
line. A person is named by the whole name, or by its first or last word where no one else of the
cast has it, written with a capital unless the text has none. Pronouns name nobody, where the paper
has a network find whom they mean: so put names into texts before, or read the score as that of
names alone.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reelscore.data.tables.scales import Scale
from reelscore.errors import DataError
from reelscore.learned.metrics.recall_within import film_of
from reelscore.metrics.base import FloatArray, Metric, Reads
from reelscore.text.names.cast import TITLES, word_set
from reelscore.text.words import CaptionBatch, Captions

_WORD = re.compile(r"[^\W_]+(?:['’-](?!s\b)[^\W_]+)*")
_NO_NAMES = TITLES | word_set("the a an of and first second third fourth old young")


@dataclass(frozen=True)
class Critic(Metric):
    r"""Whether the right people are named.

    Attributes:
        cast: The file of names, for all films or for each.

    >>> import tempfile
    >>> from reelscore import score
    >>> cast = Path(tempfile.mkdtemp(), "cast.txt")
    >>> _ = cast.write_text("Ada King\nBen King")
    >>> ours = {"v1": "Ada waves.", "v2": "Ben runs.", "v3": "She sits down."}
    >>> truth = {"v1": ["Ada waves to Ben."], "v2": ["Ben King runs."], "v3": ["She sits down."]}
    >>> score(ours, truth, Critic(str(cast)))["critic"].items.to_dict()
    {'v1': 0.5, 'v2': 1.0}
    """

    cast: str = ""
    name: ClassVar[str] = "critic"
    output_scale: ClassVar[Scale] = Scale("high", 0, 1, mean=True, label="CRITIC", percent=True)
    reads: ClassVar[Reads] = "any"

    def files(self) -> dict[str, str]:
        """The names."""
        return {"cast": self.cast} if self.cast else {}

    def prepare(self, references: Captions, reference_offsets: NDArray[np.int64]) -> list[str]:
        """Check that there are names; return the references."""
        if not self.cast:
            raise DataError("critic: whose names? Give a file of them: critic|cast:FILE.")
        return references.original.unpack()

    def statistics(self, batch: CaptionBatch, prepared: Sequence[str]) -> FloatArray:
        """Return the share of people in common, and 1; zeros where the reference names nobody."""
        films = read_cast(self.cast)
        offsets, rows = batch.reference_offsets.tolist(), []
        texts = batch.candidates.original.unpack()
        for text, item in zip(texts, batch.items.tolist(), strict=True):
            cast = films.get("") or films.get(film_of(batch.ids[item]) if batch.ids else "")
            if cast is None:
                raise DataError(
                    f"{self.cast}: no cast of the film {film_of(batch.ids[item])!r}, of item "
                    f"{batch.ids[item]!r}; there are {', '.join([*films][:5])}."
                )
            truths = [cast.named_in(each) for each in prepared[offsets[item] : offsets[item + 1]]]
            ours = cast.named_in(text)
            shares = [len(ours & truth) / len(ours | truth) for truth in truths if truth]
            rows.append([sum(shares) / len(shares), 1.0] if shares else [0.0, 0.0])
        return np.array(rows)

    def scores(self, totals: FloatArray) -> FloatArray:
        """Return the mean; NaN where nobody is named."""
        with np.errstate(invalid="ignore"):
            return totals[..., :-1] / totals[..., -1:]


class NamedPeople:
    """The people of a film, and how texts name them.

    >>> cast = NamedPeople(["Ada King", "Ben King", "First Guard"])
    >>> sorted(cast.named_in("Ben King sees ADA's dog.")), cast.named_in("The king is old.")
    (['Ada King', 'Ben King'], set())
    """

    def __init__(self, names: Iterable[str]) -> None:
        whole = {name: _words(name) for name in names}
        ends = {name: {own[0], own[-1]} - _NO_NAMES for name, own in whole.items() if own}
        counts = Counter(part for parts in ends.values() for part in parts)
        self._forms = {
            name: [whole[name], *([part] for part in parts if counts[part] == 1)]
            for name, parts in ends.items()
        }

    def named_in(self, text: str) -> set[str]:
        """Return who is named in a text."""
        words = _WORD.findall(text)
        if any(word[:1].isupper() for word in words):  # else the text has no capitals at all
            words = [word if word[:1].isupper() else "" for word in words]
        told = f" {' '.join(word.casefold() for word in words)} "
        return {
            name
            for name, forms in self._forms.items()
            if any(f" {' '.join(form)} " in told for form in forms)
        }


def read_cast(path: str) -> Mapping[str, NamedPeople]:
    """Read the people of each film; of all films under no name.

    Raises:
        DataError: If the file holds no names.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: the names cannot be read ({error}).") from None
    cast: Any = text.splitlines()
    if text.lstrip().startswith(("[", "{")):
        try:
            cast = json.loads(text)
        except ValueError as error:
            raise DataError(f"{path}: not JSON ({error}).") from None
    films = cast if isinstance(cast, dict) else {"": cast}
    for film, names in films.items():
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise DataError(f"{path}: film {film!r} has {names!r:.60}; expected a list of names.")
    people = {film: NamedPeople(filter(str.strip, names)) for film, names in films.items()}
    if not any(films.values()):
        raise DataError(f"{path}: there are no names; expected one at least.")
    return people


def _words(name: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(name) if word.casefold() not in TITLES]
