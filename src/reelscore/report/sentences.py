"""Long captions sentence by sentence: what the references bear out, and what is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from reelscore._progress import Progress
from reelscore.data.tables.table import ScoreTable
from reelscore.errors import ReelscoreError
from reelscore.metrics.registry import rebuilt
from reelscore.metrics.sentences import CaptionMatches, ReadsSentences, SentenceMatch
from reelscore.report.html.explanations import reads_sentences
from reelscore.text.tokens import Tokenizer, thread_count, tokenize_packed
from reelscore.text.words import CaptionBatch, Captions, Pairing, pack

_AT_ONCE = 256  # captions between two signs of life


def sentence_matches(
    metric: ReadsSentences,
    tokenizer: Tokenizer,
    captions: Sequence[str],
    references: Sequence[Sequence[str]],
    progress: Progress | None = None,
) -> Iterator[CaptionMatches]:
    """Yield which sentences of captions and of their references bear out which."""
    threads = thread_count(None)
    for begin in range(0, len(captions), _AT_ONCE):
        own = captions[begin : begin + _AT_ONCE]
        beside = references[begin : begin + _AT_ONCE]
        ours = pack(list(own))
        theirs = pack([text for each in beside for text in each])
        known = Captions(
            tokenize_packed(theirs, tokenizer, threads=threads), raw=theirs, tokenizer=tokenizer
        )
        told = Captions(
            tokenize_packed(ours, tokenizer, threads=threads),
            known.vocabulary,
            ours,
            tokenizer=tokenizer,
        )
        offsets = np.concatenate([[0], np.cumsum([len(each) for each in beside])])
        pairing = Pairing(np.arange(len(own)), offsets)
        yield from metric.sentence_matches(CaptionBatch(told, known, pairing, threads))
        if progress is not None:
            progress(begin + len(own), len(captions))


@dataclass
class SentenceReasons:
    """What lies behind a score that was made sentence by sentence."""

    table: ScoreTable
    metric: ReadsSentences
    tokenizer: Tokenizer

    @classmethod
    def of(cls, table: ScoreTable, metrics: Iterable[str]) -> SentenceReasons | None:
        """Take a table; ``None`` if no metric reads sentences, or its texts are not there."""
        if not table.sources.captions or not table.sources.references:
            return None
        rows = [
            row[name].signature for row in table.results.values() for name in metrics if name in row
        ]
        for signature in filter(reads_sentences, rows):
            made = rebuilt(signature)
            if made is not None and isinstance(made[0], ReadsSentences):
                return cls(table, made[0], made[1])
        return None

    def of_caption(self, system: str, item: str) -> list[str]:
        """Return the sentences of a long caption, and what it leaves out of a reference."""
        sources = self.table.sources
        caption = sources.captions.get(system, {}).get(item)
        references = sources.references.get(item, ())
        if caption is None or not references or not self.metric.divides(caption, references):
            return []
        try:
            [found] = sentence_matches(self.metric, self.tokenizer, [caption], [references])
        except ReelscoreError as error:
            return [f"(no {self.metric.part}s: {error})"]
        least = self.metric.borne_out
        told = [_sentence_text(each, least, self.metric.beside) for each in found.told]
        missing = [each for each in found.asked if least is not None and each.score < least]
        why = self.metric.beside != "nearest"
        left_out = [f"left out: {each.text}{f' ({each.match})' if why else ''}" for each in missing]
        return [*told, *left_out]

    def of_references(self, systems: Sequence[str], item: str) -> list[str]:
        """Return nothing: references differ with the caption."""
        return []


def _sentence_text(match: SentenceMatch, least: float | None, beside: str) -> str:
    mark = "" if least is None else "✓ " if match.score >= least else "✗ "
    said = f"{beside}: {match.match}" if beside == "nearest" else match.match
    return f"{mark}{match.score:.2f} {match.text} ({said})"
