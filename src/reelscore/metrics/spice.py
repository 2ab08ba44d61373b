"""SPICE: F-score of the facts that captions state (Anderson et al., 2016).

Scale 0–1, higher is better. Each caption becomes a scene graph of objects, attributes and
relations; the references of an item form one graph. A fact of the candidate is correct if the
references state it, in the same words or in words of one WordNet synset. The corpus score is the
mean over items.

Follows the official tool (SPICE 1.0, in Java) closely, not bit for bit. Facts are compared exactly
as there: the same facts give the same score to the last digit. Facts are read from parse trees by
rules that imitate the tool's; the trees come from a small parser that imitates CoreNLP, and that is
where the numbers differ. Differences between systems that are smaller than this disagreement tell
nothing: see docs/parser.md.

Sub-scores: spice_object, spice_attribute and spice_relation compare facts of one kind alone,
spice_cardinality, spice_colour and spice_size attributes that are numbers, colours or sizes. An
item counts for a kind if its references have facts of the kind. The lists of colours and sizes are
our own.

``tuples`` names a file of facts that were made elsewhere, for instance by the official tool: JSON
lines, each with ``test`` (a caption) and ``test_tuples``, ``refs`` (captions) and ``ref_tuples``,
or both. A tuple is a list of one to three strings, or ``{"tuple": [...]}``; ``/`` separates words
of one meaning. Then no parser is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, ClassVar, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from reelscore.data.json_documents import decode_json_line
from reelscore.data.source import Source
from reelscore.data.tables.scales import Scale
from reelscore.errors import DataError, check_choice
from reelscore.metrics.base import FloatArray, Metric, Reads, check_tokens
from reelscore.text.parser.facts import RULES, Fact
from reelscore.text.parser.networks import teacher_name
from reelscore.text.parser.scene_graph import (
    Concept,
    SceneGraph,
    caption_facts,
    match,
    read_concepts,
)
from reelscore.text.tokens import PENN_TREEBANK, Tokenizer, tokenize_packed
from reelscore.text.words import CaptionBatch, Captions, Pairing, pack

Texts = tuple[str, str]  # a caption as it was written, and its tokens: the file may have either


class TupleFile:
    """The tuples in a file, by caption and by list of references."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._captions: dict[str, list[Fact]] = {}
        self._references: dict[tuple[str, ...], list[Fact]] = {}
        with Source(path) as source:
            for number, line in source.lines():
                if not line.isspace():
                    self._read(decode_json_line(line, path, number), f"{path}:{number}")

    def of_caption(self, texts: Texts) -> list[Fact]:
        """The tuples of a caption; none of an empty one."""
        for text in texts:
            if text in self._captions:
                return self._captions[text]
        for text in texts:
            if (text,) in self._references:
                return self._references[(text,)]
        if not texts[0].strip():
            return []
        raise DataError(
            f"{self.path}: has no tuples of the caption {texts[0]!r}. Expected a line with it as "
            "'test' and its 'test_tuples', for every caption that is scored."
        )

    def of_references(self, texts: Sequence[Texts]) -> list[Fact]:
        """The tuples of an item's references together, merged here if the file has them apart."""
        for column in (0, 1):
            merged = self._references.get(tuple(each[column] for each in texts))
            if merged is not None:
                return merged
        facts = [fact for each in texts for fact in self.of_caption(each)]
        # words that the file has merged already stand for themselves
        spelled = [fact for each in facts for fact in product(*(part.split("/") for part in each))]
        return SceneGraph(spelled).tuples

    def _read(self, line: Any, place: str) -> None:
        if not isinstance(line, dict) or not ({"test_tuples", "ref_tuples"} & line.keys()):
            raise DataError(
                f"{place}: expected an object with 'test' and 'test_tuples', or with 'refs' and "
                "'ref_tuples'."
            )
        if "test_tuples" in line:
            caption = line.get("test")
            if not isinstance(caption, str):
                raise DataError(f"{place}: 'test' is {caption!r}; expected the caption.")
            self._captions[caption] = _tuples(line["test_tuples"], place)
        if "ref_tuples" in line:
            references = line.get("refs")
            if not isinstance(references, list) or not all(
                isinstance(each, str) for each in references
            ):
                raise DataError(f"{place}: 'refs' is {references!r}; expected a list of captions.")
            self._references[tuple(references)] = _tuples(line["ref_tuples"], place)


def _tuples(values: Any, place: str) -> list[Fact]:
    found: list[Fact] = []
    for value in values if isinstance(values, list) else [values]:
        words = value.get("tuple") if isinstance(value, dict) else value
        if (
            not isinstance(words, list)
            or not 1 <= len(words) <= 3
            or not all(isinstance(word, str) and word for word in words)
        ):
            raise DataError(
                f"{place}: {words!r} is no tuple; expected a list of one to three words, such as "
                '["man", "ride", "horse"].'
            )
        found.append(tuple(words))
    return found


SYNSETS = "meteor-1.5"

_NUMBER_WORDS = "one two three four five six seven eight nine ten"
_COLOUR_WORDS = (
    "amber apricot aqua aquamarine azure beige black blond blonde blue bronze brown burgundy "
    "charcoal cobalt copper coral cream crimson cyan emerald fuchsia ginger gold golden gray green "
    "grey indigo ivory khaki lavender lilac lime magenta maroon mauve mustard navy ochre olive "
    "orange peach pink plum purple red rose ruby salmon sapphire scarlet silver tan taupe teal "
    "turquoise vermilion violet white yellow"
)
_SIZE_WORDS = (
    "big bulky colossal enormous giant gigantic huge immense jumbo large little mammoth massive "
    "medium medium-sized micro microscopic mini miniature minuscule monumental oversize oversized "
    "petite puny sizable sizeable small teeny tiny undersized vast wee"
)
NUMBERS = frozenset(_NUMBER_WORDS.split())
COLOURS = frozenset(_COLOUR_WORDS.split())
SIZES = frozenset(_SIZE_WORDS.split())

Concepts = Sequence[tuple[Concept, ...]]


def _attributes(words: frozenset[str]) -> Callable[[tuple[Concept, ...]], bool]:
    return lambda concepts: len(concepts) == 2 and concepts[1].words.keys() <= words


KINDS: Mapping[str, Callable[[tuple[Concept, ...]], bool]] = {
    "object": lambda concepts: len(concepts) == 1,
    "attribute": lambda concepts: len(concepts) == 2,
    "relation": lambda concepts: len(concepts) == 3,
    "cardinality": _attributes(NUMBERS),
    "colour": _attributes(COLOURS),
    "size": _attributes(SIZES),
}


class TupleScore(NamedTuple):
    """How far the tuples of a candidate and of its references agree."""

    f: float  # the F-score; 0 where nothing matches
    precision: float  # correct tuples of all of the candidate's
    # correct tuples of all of the references'; above 1 where several of the candidate's match one
    # of the references'
    recall: float
    correct: int  # how many tuples of the candidate some tuple of the references matches
    candidate: int  # how many tuples the candidate has
    reference: int  # how many tuples the references have

    @classmethod
    def of(cls, correct: int, candidate: int, reference: int) -> TupleScore:
        """Work out the scores from the counts."""
        if correct == 0:
            return cls(0.0, 0.0, 0.0, 0, candidate, reference)
        precision, recall = correct / candidate, correct / reference
        f = 2 * precision * recall / (precision + recall)
        return cls(f, precision, recall, correct, candidate, reference)


def score_tuples(
    candidate: Iterable[Sequence[str]],
    references: Iterable[Sequence[str]],
    *,
    synsets: bool = True,
) -> TupleScore:
    """Compare tuples that are made and merged already; words of one meaning are joined by ``/``.

    Args:
        candidate: The tuples of a caption, of one to three strings each.
        references: The tuples of its references together.
        synsets: Whether words of one synset match; otherwise only equal words do.

    >>> score_tuples([("man",), ("horse",), ("man", "ride", "horse")],
    ...              [("person",), ("horse",), ("horse", "brown"), ("person", "ride", "horse")])
    TupleScore(f=0.28571428571428575, precision=0.3333333333333333, recall=0.25,
               correct=1, candidate=3, reference=4)
    """
    return _compare(
        read_concepts(candidate, synsets=synsets),
        read_concepts(references, synsets=synsets),
        synsets,
    )


def _compare(candidate: Concepts, reference: Concepts, synsets: bool) -> TupleScore:
    matches = match(candidate, reference, synsets=synsets)
    correct = sum(place is not None for place in matches)
    return TupleScore.of(correct, len(candidate), len(reference))


class Comparison(NamedTuple):
    """The tuples of a candidate and of its references, and which match.

    Attributes:
        candidate: The candidate's tuples.
        references: The tuples of its references together.
        matches: For each of the candidate's the place of the one it matches, or ``None``.
    """

    candidate: list[Fact]
    references: list[Fact]
    matches: list[int | None]

    @property
    def score(self) -> TupleScore:
        """The score that these give."""
        correct = sum(place is not None for place in self.matches)
        return TupleScore.of(correct, len(self.candidate), len(self.references))


class SpiceReferences(NamedTuple):
    """What all systems share: the graphs of each item's references, and the tuples if given."""

    graphs: list[Concepts]
    tuples: TupleFile | None = None


@dataclass(frozen=True)
class Spice(Metric):
    """SPICE; the defaults are those of the official tool behind the COCO tools.

    Attributes:
        synsets: ``meteor-1.5``: words of one synset in METEOR's table match; ``None``: only equal
            words do.
        text: ``ptb``: captions as the tokenizer leaves them, which is what the COCO tools hand to
            the official tool; ``raw``: as they were written, with punctuation.
        kinds: ``all`` for the sub-scores too, ``None`` for the score alone.
        tuples: A file of tuples made elsewhere; then nothing is parsed.

    >>> from reelscore import score
    >>> references = {"v1": ["a man rides a brown horse"]}
    >>> results = score({"v1": "a man rides a horse"}, references, "spice")  # doctest: +SKIP
    >>> round(results["spice"].score, 4), results["spice_object"].score  # doctest: +SKIP
    (0.8571, 1.0)
    """

    synsets: str | None = SYNSETS
    text: str = "ptb"
    kinds: str | None = "all"
    tuples: str | None = None
    name: ClassVar[str] = "spice"
    slow: ClassVar[bool] = True
    reads: ClassVar[Reads] = "english"
    tokenizers: ClassVar[tuple[str, ...]] = PENN_TREEBANK
    output_scale: ClassVar[Scale] = Scale("high", 0, 1, mean=True, label="SPICE", percent=True)

    def __post_init__(self) -> None:
        check_choice("synsets of spice", self.synsets or "none", (SYNSETS, "none"))
        check_choice("text of spice", self.text, ("ptb", "raw"))
        check_choice("kinds of spice", self.kinds or "none", ("all", "none"))

    @property
    def outputs(self) -> tuple[str, ...]:
        """The score, and the sub-scores."""
        return (self.name, *(f"{self.name}_{kind}" for kind in self._kinds))

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """All alike, but for the labels."""
        labels = ("SPICE", *(f"SPICE {kind}" for kind in self._kinds))
        return tuple(replace(self.output_scale, label=label) for label in labels)

    @property
    def _kinds(self) -> tuple[str, ...]:
        return tuple(KINDS) if self.kinds == "all" else ()

    def files(self) -> dict[str, str]:
        """The file of tuples."""
        return {} if self.tuples is None else {"tuples": self.tuples}

    def signature(self, **context: object) -> str:
        """As of every metric; first the parser and the rules that made the tuples."""
        name, _, rest = super().signature(**context).partition("|")
        makers = f"parser:{teacher_name()}|rules:{RULES}|" if context and not self.tuples else ""
        return f"{name}|{makers}{rest}"

    def prepare(
        self, references: Captions, reference_offsets: NDArray[np.int64]
    ) -> SpiceReferences:
        """Build the scene graph of each item's references once."""
        bounds = reference_offsets.tolist()
        spans = list(pairwise(bounds))
        if self.tuples is not None:
            tuples = TupleFile(self.tuples)
            texts = _texts(references)
            merged = [tuples.of_references(texts[begin:end]) for begin, end in spans]
            return SpiceReferences([self._read(each) for each in merged], tuples)
        facts = self._facts(references)
        graphs = [
            self._graph(fact for each in facts[begin:end] for fact in each) for begin, end in spans
        ]
        return SpiceReferences(graphs)

    def statistics(self, batch: CaptionBatch, prepared: SpiceReferences) -> FloatArray:
        """F, precision, recall and the three counts; for each kind F, counts and 1; and 1.

        Where the references have no tuple of a kind, its F and its 1 are 0.
        """
        graphs = self._candidates(batch.candidates, prepared.tuples, batch.threads)
        rows = [
            self._row(graph, prepared.graphs[item])
            for graph, item in zip(graphs, batch.items.tolist(), strict=True)
        ]
        return np.array(rows, dtype=float).reshape(len(rows), 7 + 5 * len(self._kinds))

    def scores(self, totals: FloatArray) -> FloatArray:
        """Means over items; of a kind over the items that have it, NaN where there are none."""
        kinds = len(self._kinds)
        sums = np.concatenate([totals[..., :1], totals[..., 6 : 6 + 5 * kinds : 5]], axis=-1)
        counts = np.concatenate([totals[..., -1:], totals[..., 10 : 6 + 5 * kinds : 5]], axis=-1)
        means: FloatArray = np.full(sums.shape, np.nan)
        np.divide(sums, counts, out=means, where=counts > 0)
        return means

    def tuple_scores(self, row: FloatArray) -> dict[str, TupleScore]:
        """Read the statistics of an item: scores and counts of all tuples, and of each kind."""
        scores = {"all": TupleScore.of(*map(int, row[3:6]))}
        for k, kind in enumerate(self._kinds):
            scores[kind] = TupleScore.of(*map(int, row[7 + 5 * k : 10 + 5 * k]))
        return scores

    def compare(
        self, candidate: str, references: Sequence[str], tokenizer: Tokenizer = "ptb"
    ) -> Comparison:
        """Show the tuples of a caption and of its references, and which match.

        Args:
            candidate: A caption, as it was written.
            references: Its references.
            tokenizer: As in `reelscore.score`.
        """
        check_tokens([self], tokenizer)
        written = pack([candidate, *references])
        captions = Captions(tokenize_packed(written, tokenizer), raw=written)
        offsets = np.array([0, len(references)], dtype=np.int64)
        pairing = Pairing.in_order(offsets)
        batch = CaptionBatch(captions.slice(0, 1), captions.slice(1, captions.size), pairing)
        return self.comparisons(batch)[0]

    def comparisons(self, batch: CaptionBatch) -> list[Comparison]:
        """Show what `compare` shows, for many captions at once."""
        prepared = self.prepare(batch.references, batch.reference_offsets)
        graphs = self._candidates(batch.candidates, prepared.tuples, batch.threads)
        theirs = [[tuple(map(str, each)) for each in graph] for graph in prepared.graphs]
        return [
            Comparison(
                [tuple(map(str, each)) for each in ours],
                theirs[item],
                match(ours, prepared.graphs[item], synsets=self._merges),
            )
            for ours, item in zip(graphs, batch.items.tolist(), strict=True)
        ]

    @property
    def _merges(self) -> bool:
        return self.synsets is not None

    def _candidates(
        self, captions: Captions, tuples: TupleFile | None, threads: int | None = None
    ) -> list[Concepts]:
        if tuples is None:
            return [self._graph(facts) for facts in self._facts(captions, threads)]
        return [self._read(tuples.of_caption(each)) for each in _texts(captions)]

    def _facts(self, captions: Captions, threads: int | None = None) -> list[list[Fact]]:
        text = captions.text
        if self.text == "raw":
            text = tokenize_packed(captions.original, keep_punctuation=True)
        return caption_facts(text.unpack(), threads=threads)

    def _graph(self, facts: Iterable[Fact]) -> Concepts:
        return SceneGraph(facts, synsets=self._merges).concepts

    def _read(self, tuples: Sequence[Fact]) -> Concepts:
        return read_concepts(tuples, synsets=self._merges)

    def _row(self, candidate: Concepts, reference: Concepts) -> list[float]:
        row: list[float] = [*_compare(candidate, reference, self._merges)]
        for kind in self._kinds:
            is_kind = KINDS[kind]
            theirs = [each for each in reference if is_kind(each)]
            ours = [each for each in candidate if is_kind(each)]
            own = _compare(ours, theirs, self._merges)
            row += [own.f, own.correct, own.candidate, own.reference, bool(theirs)]
        return [*row, 1.0]


def _texts(captions: Captions) -> list[tuple[str, str]]:
    return list(zip(captions.original.unpack(), captions.text.unpack(), strict=True))
