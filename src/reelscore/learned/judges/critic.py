"""CRITIC: does a description name the people whom the truth names (Han et al., 2024: AutoAD III)?

Scale 0–1, higher is better. Of each audio description, the people of the film's cast whom it names
are compared with those of the reference: their number in both, divided by their number in either.
Descriptions whose reference names nobody do not count; the score is the mean over the others.

The cast comes from a file: JSON with a list of names, or such a list for each film, or a name a
line. A person is named by the whole name, or by its first or last word where no one else of the
cast has it, written with a capital unless the text has none. Pronouns then name nobody. In the
paper a network finds whom they mean; here a model behind an endpoint does, where one is named. It
reads a description with the five before it, by the same author and of the same film.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from reelscore._progress import Progress
from reelscore.data.tables.scales import Scale
from reelscore.endpoint.answers import AnswerForm
from reelscore.endpoint.prompts import MetricPrompt, Prompt, quoted
from reelscore.errors import DataError
from reelscore.learned.judges.endpoint_metric import Asked, EndpointMetric, Question, of_captions
from reelscore.learned.metrics.recall_within import film_of
from reelscore.metrics.base import FloatArray
from reelscore.text.names.cast import TITLES
from reelscore.text.parser.lexicon import word_set
from reelscore.text.words import CaptionBatch, Captions

_WORD = re.compile(r"[^\W_]+(?:['’-](?!s\b)[^\W_]+)*")
_NO_NAMES = TITLES | word_set("the a an of and first second third fourth old young")

_BEFORE = 5  # descriptions that a model reads before the one in question
PROMPT = MetricPrompt.read("people")


@dataclass(frozen=True)
class Critic(EndpointMetric):
    r"""Whether the right people are named; whom pronouns mean, a model says, if one is named.

    Attributes:
        cast: The file of names, for all films or for each.

    >>> import tempfile
    >>> from reelscore import score
    >>> cast = Path(tempfile.mkdtemp(), "cast.txt")
    >>> _ = cast.write_text("Ada King\nBen King")
    >>> ours = {"v1": "Ada waves.", "v2": "Ben runs.", "v3": "She sits down."}
    >>> truth = {"v1": ["Ada waves to Ben."], "v2": ["Ben King runs."], "v3": ["She sits down."]}
    >>> score(ours, truth, Critic(cast=str(cast)))["critic"].items.to_dict()
    {'v1': 0.5, 'v2': 1.0}
    """

    max_tokens: int = 200
    cast: str = ""
    name: ClassVar[str] = "critic"
    output_scale: ClassVar[Scale] = Scale("high", 0, 1, mean=True, label="CRITIC", percent=True)

    def parameters(self, *, changed: bool = False) -> dict[str, object]:
        """Return the names alone, where no model is asked."""
        own = super().parameters(changed=changed)
        return {key: value for key, value in own.items() if self.model or key == "cast"}

    @property
    def prompts(self) -> Sequence[Prompt]:
        """For whom a description tells of."""
        return [PROMPT] if self.model else []

    @property
    def one_process(self) -> bool:
        """Whether there is a journal."""
        return bool(self.model)

    def files(self) -> dict[str, str]:
        """The names."""
        return {"cast": self.cast} if self.cast else {}

    def prepare(self, references: Captions, reference_offsets: NDArray[np.int64]) -> Asked:
        """Check that there are names."""
        if not self.cast:
            raise DataError("critic: whose names? Give a file of them: critic|cast:FILE.")
        return Asked(references.original.unpack())

    def notes(self, prepared: Asked) -> list[str]:
        """What it took, where a model was asked."""
        return super().notes(prepared) if self.model else []

    def statistics(self, batch: CaptionBatch, prepared: Asked) -> FloatArray:
        """Return the share of people in common, and 1; zeros where the reference names nobody."""
        films, told = read_cast(self.cast), []
        captions, offsets = batch.candidates.original.unpack(), batch.reference_offsets.tolist()
        for caption, item in zip(captions, batch.items.tolist(), strict=True):
            name = batch.ids[item] if batch.ids else ""
            cast = films.get("") or films.get(film_of(name))
            if cast is None:
                raise DataError(
                    f"{self.cast}: no cast of the film {film_of(name)!r}, of item {name!r}; there "
                    f"are {', '.join([*films][:5])}."
                )
            texts = [caption, *prepared.references[offsets[item] : offsets[item + 1]]]
            told.append(_Told(name, cast, texts))
        if self.model:
            people = self._asked(told, prepared, batch.progress)
        else:
            people = [[each.cast.named_in(text) for text in each.texts] for each in told]
        rows = []
        for ours, *truths in people:
            shares = [len(ours & truth) / len(ours | truth) for truth in truths if truth]
            rows.append([sum(shares) / len(shares), 1.0] if shares else [0.0, 0.0])
        return np.array(rows)

    def _asked(
        self, told: Sequence[_Told], prepared: Asked, progress: Progress | None
    ) -> list[list[set[str]]]:
        """Ask of whom each text tells; an item with an answer that cannot be used names nobody."""
        questions: list[Question] = []
        before: dict[tuple[str, int], list[str]] = {}
        for item, cast, texts in told:
            for side, text in enumerate(texts):
                earlier = before.setdefault((film_of(item), side), [])
                fields = {
                    "cast": "\n".join(map(quoted, cast.names)),
                    "before": "\n".join(map(quoted, earlier[-_BEFORE:])) or "(none)",
                    "caption": quoted(text),
                }
                questions.append(self.question(PROMPT, fields, cast.form, item))
                earlier.append(text)
        with self.asking(prepared) as interview:
            answers = iter(interview.read(questions, of_captions(progress, len(told))))
        people: list[list[set[str]]] = []
        for each in told:
            own = [next(answers) for _ in each.texts]
            if None in own:
                prepared.leave_out("without a usable answer")
            people.append([set()] if None in own else [set(one.people) for one in own])
        return people


class _Told(NamedTuple):
    """An item, the people of its film, its description and behind it the references."""

    item: str
    cast: NamedPeople
    texts: list[str]


class NamedPeople:
    """The people of a film, and how texts name them.

    >>> cast = NamedPeople(["Ada King", "Ben King", "First Guard"])
    >>> sorted(cast.named_in("Ben King sees ADA's dog.")), cast.named_in("The king is old.")
    (['Ada King', 'Ben King'], set())
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = list(names)
        whole = {name: _words(name) for name in self.names}
        ends = {name: {own[0], own[-1]} - _NO_NAMES for name, own in whole.items() if own}
        counts = Counter(part for parts in ends.values() for part in parts)
        self._forms = {
            name: [whole[name], *([part] for part in parts if counts[part] == 1)]
            for name, parts in ends.items()
        }

    @cached_property
    def form(self) -> AnswerForm[Any]:
        """The form of an answer that names some of them."""
        known: Any = Literal.__getitem__(tuple(self.names))
        kind = msgspec.defstruct("People", [("people", list[known])], forbid_unknown_fields=True)
        return AnswerForm(kind)

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
